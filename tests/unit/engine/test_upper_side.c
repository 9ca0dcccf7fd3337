/* SPDX-License-Identifier: BSD-2-Clause */
/* Events of one side, its memory's addresses, and how long it is waited for; commands themselves are test_control.c's. */
#include <check.h>
#include <stdint.h>
#include <stdlib.h>

#include "conformance/engine/device/upper_side.h"

Suite *upper_side_suite(void);

static const char *const done[] = {"read_done", "write_done", NULL};

static struct upper_side side_with(const char *events)
{
    struct upper_side side = {.events = json_loads(events, 0, NULL)};

    ck_assert(json_is_array(side.events));
    return side;
}

START_TEST(event_is_found_by_name_id_and_stream)
{
    struct upper_side side =
        side_with("[{\"event\":\"closed\",\"stream\":1}, {\"event\":\"read_done\",\"stream\":1,\"id\":5},"
                  "{\"event\":\"write_done\",\"stream\":2,\"id\":5}, {\"stream\":2}, {}]");

    ck_assert_uint_eq(upper_side_find(&side, done, 0), 1);
    ck_assert_uint_eq(upper_side_find(&side, done, 5), 1);
    ck_assert_uint_eq(upper_side_find(&side, done, 6), SIZE_MAX);
    side.stream = 2;
    ck_assert_uint_eq(upper_side_find(&side, done, 0), 2);
    side.stream = 3;
    ck_assert_uint_eq(upper_side_find(&side, done, 0), SIZE_MAX);
    json_decref(side.events);
}
END_TEST

START_TEST(region_is_read_with_a_base_of_either_kind)
{
    static const char *const answers[] = {"{\"stag\":7,\"base\":\"0x1000\"}", "{\"stag\":7,\"base\":\"4096\"}"};

    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        json_t *answer = json_loads(answers[i], 0, NULL), *to;
        struct upper_region region;

        upper_region_read(&region, answer);
        ck_assert_int_eq(region.stag, 7);
        to = upper_region_to(&region, 16);
        ck_assert_str_eq(json_string_value(to), "0x1010");
        json_decref(to);
        json_decref(answer);
    }
}
END_TEST

START_TEST(commands_name_stream_regions_and_offset)
{
    struct upper_side side = {.stream = 3};
    struct upper_region source = {.stag = 1, .base = 0x1000}, sink = {.stag = 2, .base = 0x2000};
    json_t *read = upper_side_read(&side, &source, &sink, 8, 100), *write = upper_side_write(&side, &sink, 4);
    json_t *wanted = json_loads(
        "[{\"verb\":\"read\",\"stream\":3,\"source_stag\":1,\"source_to\":\"0x1008\",\"sink_stag\":2,"
        "\"sink_to\":\"0x2008\",\"length\":100}, {\"verb\":\"write\",\"stream\":3,\"stag\":2,\"to\":\"0x2004\"}]",
        0, NULL);

    ck_assert(json_equal(read, json_array_get(wanted, 0)));
    ck_assert(json_equal(write, json_array_get(wanted, 1)));
    json_decref(wanted);
    json_decref(write);
    json_decref(read);
}
END_TEST

static int count_down(void *user, bool *any)
{
    unsigned *left = user;

    *any = true;
    return --*left == 0 ? 42 : 0;
}

START_TEST(waiting_ends_with_what_was_seen_or_with_its_time)
{
    unsigned left = 3;

    ck_assert_int_eq(upper_side_wait(60, count_down, &left), 42);
    ck_assert_uint_eq(left, 0);
    left = 2;
    ck_assert_int_eq(upper_side_wait(0, count_down, &left), 0); /* one look, all the same */
    ck_assert_uint_eq(left, 1);
}
END_TEST

Suite *upper_side_suite(void)
{
    Suite *suite = suite_create("upper_side");
    TCase *tests = tcase_create("side");

    tcase_add_test(tests, event_is_found_by_name_id_and_stream);
    tcase_add_test(tests, region_is_read_with_a_base_of_either_kind);
    tcase_add_test(tests, commands_name_stream_regions_and_offset);
    tcase_add_test(tests, waiting_ends_with_what_was_seen_or_with_its_time);
    suite_add_tcase(suite, tests);
    return suite;
}
