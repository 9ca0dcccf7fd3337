/* SPDX-License-Identifier: BSD-2-Clause */
/* Why a flow ended, as a line of results.jsonl. */
#include <check.h>

#include "reports/results/end_line.h"
#include "tests/unit/suites.h"

Suite *end_line_suite(void);

static const struct end_line whole = {.file = "a.pcap",
                                      .flow = "10.0.0.1:1>10.0.0.2:2",
                                      .kind = "terminate",
                                      .role = "responder",
                                      .error = "DDP / Tagged Buffer Error / Invalid STag (0x1100)",
                                      .quotes = "RDMA Write",
                                      .negotiated = "MPA Rev 1, CRC, no Markers",
                                      .broke = "DDP-5.2-01",
                                      .broke_role = "initiator",
                                      .why = "The responder's Terminate ...",
                                      .frame = 9,
                                      .quotes_first = 7,
                                      .quotes_last = 8,
                                      .broke_frame = 6};

START_TEST(an_end_is_read_as_it_was_written)
{
    json_t *object = end_line_to_json(&whole);
    struct end_line read;

    ck_assert_ptr_nonnull(object);
    ck_assert_int_eq(end_line_from_json(object, &read), 0);
    ck_assert_str_eq(read.file, whole.file);
    ck_assert_str_eq(read.flow, whole.flow);
    ck_assert_str_eq(read.kind, whole.kind);
    ck_assert_str_eq(read.role, whole.role);
    ck_assert_str_eq(read.error, whole.error);
    ck_assert_str_eq(read.quotes, whole.quotes);
    ck_assert_str_eq(read.negotiated, whole.negotiated);
    ck_assert_str_eq(read.broke, whole.broke);
    ck_assert_str_eq(read.broke_role, whole.broke_role);
    ck_assert_str_eq(read.why, whole.why);
    ck_assert_uint_eq(read.frame, 9);
    ck_assert_uint_eq(read.quotes_first, 7);
    ck_assert_uint_eq(read.quotes_last, 8);
    ck_assert_uint_eq(read.broke_frame, 6);
    json_decref(object);
}
END_TEST

START_TEST(an_end_needs_a_capture_a_kind_and_a_reason)
{
    static const char *const needed[] = {"file", "kind", "why"};

    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        json_t *object = end_line_to_json(&whole);
        struct end_line read;

        ck_assert_ptr_nonnull(object);
        ck_assert_int_eq(json_object_del(object, needed[i]), 0);
        ck_assert_int_eq(end_line_from_json(object, &read), -1);
        json_decref(object);
    }
}
END_TEST

Suite *end_line_suite(void)
{
    Suite *suite = suite_create("end_line");
    TCase *lines = tcase_create("lines");

    tcase_add_test(lines, an_end_is_read_as_it_was_written);
    tcase_add_test(lines, an_end_needs_a_capture_a_kind_and_a_reason);
    suite_add_tcase(suite, lines);
    return suite;
}
