/* SPDX-License-Identifier: BSD-2-Clause */
/* The division into shards: disjoint, complete, balanced, the same everywhere. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/option/shard.h"
#include "tests/unit/suites.h"

Suite *shard_suite(void);

START_TEST(shards_are_named)
{
    static const char *const wrong[] = {"",    "1",   "/",    "1/",   "/1",     "0/1",     "2/1",  "0/0",
                                        "1/0", "a/b", "1/2x", " 1/2", "1/4097", "1/99999", "-1/2", "+1/2"};
    struct shard shard;
    struct iwarp_sentence error;
    char text[24];

    ck_assert_int_eq(shard_parse(&shard, "2/4", &error), 0);
    ck_assert_uint_eq(shard.index, 2);
    ck_assert_uint_eq(shard.of, 4);
    shard_label(&shard, text, sizeof(text));
    ck_assert_str_eq(text, "2/4");
    ck_assert_int_eq(shard_parse(&shard, "4096/4096", &error), 0);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        error.text[0] = '\0';
        ck_assert_msg(shard_parse(&shard, wrong[i], &error) == -1, "\"%s\" was taken", wrong[i]);
        ck_assert(strstr(error.text, "i/n was expected") != NULL);
    }
}
END_TEST

enum { UNITS = 500 };

START_TEST(shards_are_even)
{
    uint64_t weights[UNITS], loads[40], heaviest = 0;
    unsigned owner[UNITS], again[UNITS];

    srand((unsigned)_i);
    for (size_t i = 0; i < UNITS; i++) {
        weights[i] = (uint64_t)rand() % 1000;
        heaviest = weights[i] > heaviest ? weights[i] : heaviest;
    }
    for (unsigned of = 1; of < 40; of += 3) {
        uint64_t least = UINT64_MAX, most = 0;

        memset(loads, 0, sizeof(loads));
        ck_assert_int_eq(shard_assign(weights, UNITS, of, owner, NULL), 0);
        ck_assert_int_eq(shard_assign(weights, UNITS, of, again, NULL), 0);
        ck_assert_mem_eq(owner, again, sizeof(owner));
        for (size_t i = 0; i < UNITS; i++) {
            ck_assert(owner[i] >= 1 && owner[i] <= of); /* one owner each: disjoint and complete */
            loads[owner[i] - 1] += weights[i];
        }
        for (unsigned i = 0; i < of; i++) {
            least = loads[i] < least ? loads[i] : least;
            most = loads[i] > most ? loads[i] : most;
        }
        ck_assert_uint_le(most - least, heaviest);
    }
}
END_TEST

START_TEST(more_shards_than_units)
{
    static const uint64_t weights[] = {5, 5, 9};
    unsigned owner[3];

    ck_assert_int_eq(shard_assign(weights, 3, 100, owner, NULL), 0);
    ck_assert_uint_eq(owner[2], 1); /* the heaviest first, equals in their order */
    ck_assert_uint_eq(owner[0], 2);
    ck_assert_uint_eq(owner[1], 3);
    ck_assert_int_eq(shard_assign(NULL, 0, 7, NULL, NULL), 0);
}
END_TEST

START_TEST(digests_tell_apart)
{
    uint64_t ab_c = digest_text(digest_text(DIGEST_START, "ab"), "c");
    uint64_t a_bc = digest_text(digest_text(DIGEST_START, "a"), "bc");
    char text[SHARD_DIGEST_OCTETS];

    ck_assert(ab_c != a_bc);
    ck_assert(digest_number(DIGEST_START, 1) != digest_number(DIGEST_START, 256));
    shard_digest_show(10, text);
    ck_assert_str_eq(text, "000000000000000a");
}
END_TEST

Suite *shard_suite(void)
{
    Suite *suite = suite_create("shard");
    TCase *tcase = tcase_create("shard");

    tcase_add_test(tcase, shards_are_named);
    tcase_add_loop_test(tcase, shards_are_even, 0, 10);
    tcase_add_test(tcase, more_shards_than_units);
    tcase_add_test(tcase, digests_tell_apart);
    suite_add_tcase(suite, tcase);
    return suite;
}
