/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory runs out for what keeps tables (base/hash.h) and writes texts (base/text_stream.h): an error each time,
 * nothing left behind, and never the end of the program, which uthash is at by itself. What whole programs do is in
 * tests/e2e/out-of-memory.sh.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "reports/results/rule_pool.h"
#include "tests/unit/short_memory.h"
#include "base/hash.h"
#include "base/text_stream.h"

Suite *out_of_memory_suite(void);

struct item {
    int key;
    UT_hash_handle hh;
};

/* How many of the items the table has. */
static unsigned fill(struct item *items, unsigned count, long n)
{
    struct item *table = NULL;
    unsigned inside;

    for (unsigned i = 0; i < count; i++) {
        struct item *found = NULL;
        int key = (int)i;

        items[i].key = key;
        SHORT(n, HASH_ADD_INT(table, key, &items[i]));
        if (table != NULL)
            HASH_FIND_INT(table, &key, found);
        ck_assert_msg((found == NULL) == hash_lost(&items[i]), "item %u", i);
    }
    inside = HASH_COUNT(table);
    HASH_CLEAR(hh, table);
    return inside;
}

/* An item for which the table cannot grow is left out; those before and after it are found. */
START_TEST(hash_table_short_of_memory_drops_one_item)
{
    enum { ITEMS = 2000 };
    static struct item items[ITEMS];

    ck_assert_uint_eq(fill(items, ITEMS, 0), ITEMS);
#if OWN_ALLOCATOR
    long before = short_live, n = 0;

    do {
        short_failed = false;
        ck_assert_uint_eq(fill(items, ITEMS, ++n), short_failed ? ITEMS - 1 : ITEMS);
        ck_assert_int_eq(short_live, before);
    } while (short_failed);
    ck_assert_int_gt(n, 3); /* the table, its buckets, and their growth */
    ck_assert(out_of_memory_noted());
#endif
}
END_TEST

static int pool_fill(struct rule_pool *pool, unsigned rules)
{
    for (unsigned i = 0; i < rules; i++) {
        char id[16];
        struct journal journal = {.id = id, .found = VERDICT_FAIL, .role = "responder"};

        (void)snprintf(id, sizeof(id), "DDP-%u", i);
        if (rule_pool_add(pool, &journal, false) != 0)
            return -1;
    }
    return 0;
}

/* A pool that cannot grow says so. */
START_TEST(pool_that_cannot_grow_says_so)
{
    enum { RULES = 600 };
    struct rule_pool *pool = rule_pool_new();

    ck_assert_int_eq(pool_fill(pool, RULES), 0);
    rule_pool_free(pool);
#if OWN_ALLOCATOR
    long n = 0;

    do {
        long left = ++n, before = short_live;
        int rc = 0;

        short_failed = false;
        pool = rule_pool_new();
        SHORT(left, rc = pool_fill(pool, RULES));
        ck_assert_int_eq(rc, short_failed ? -1 : 0);
        rule_pool_free(pool);
        ck_assert_int_eq(short_live, before);
    } while (short_failed);
    ck_assert_int_gt(n, RULES);
#endif
}
END_TEST

static char *written(unsigned lines, long n)
{
    char *text = NULL;
    size_t octets = 0;
    FILE *stream;

    SHORT(n, stream = text_stream_open(&text, &octets));
    if (stream == NULL)
        return NULL;
    for (unsigned i = 0; i < lines; i++)
        SHORT(n, (void)fputs("0123456789abcdef\n", stream));
    SHORT(n, (void)text_stream_close(stream, &text));
    return text;
}

/* The text is whole, or there is none. */
START_TEST(text_stream_is_whole_or_absent)
{
    enum { LINES = 2000, LINE = 17 };
    char *text = written(LINES, 0);

    ck_assert_uint_eq(strlen(text), LINES * LINE);
    free(text);
#if OWN_ALLOCATOR
    long n = 0;

    do {
        short_failed = false;
        text = written(LINES, ++n);
        ck_assert_msg(text == NULL ? short_failed : strlen(text) == LINES * LINE, "allocation %ld", n);
        free(text);
    } while (short_failed);
    ck_assert_int_gt(n, 3);
#endif
}
END_TEST

Suite *out_of_memory_suite(void)
{
    Suite *suite = suite_create("out_of_memory");
    TCase *tcase = tcase_create("out of memory");

    tcase_add_test(tcase, hash_table_short_of_memory_drops_one_item);
    tcase_add_test(tcase, pool_that_cannot_grow_says_so);
    tcase_add_test(tcase, text_stream_is_whole_or_absent);
    suite_add_tcase(suite, tcase);
    return suite;
}
