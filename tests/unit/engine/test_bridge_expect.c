/* SPDX-License-Identifier: BSD-2-Clause */
/* What a device may do on a stream that was impaired: a verdict needs what it is about. */
#include <check.h>
#include <string.h>

#include "conformance/engine/bridge/bridge_expect.h"
#include "tests/unit/suites.h"

Suite *bridge_expect_suite(void);

static enum verdict judge(const char *name, struct bridge_seen seen)
{
    struct bridge_expect expect = {0};
    struct iwarp_sentence actual;

    ck_assert(bridge_expect_add(&expect, name));
    return bridge_expect_judge(&expect, &seen, &actual);
}

START_TEST(terminate_is_one_of_those_that_are_allowed)
{
    struct bridge_expect expect = {0};
    struct iwarp_sentence text;

    ck_assert(bridge_expect_is_none(&expect));
    ck_assert(bridge_expect_add(&expect, "DDP_NO_BUFFER"));
    ck_assert(bridge_expect_add(&expect, "DDP_MSN_RANGE"));
    ck_assert(!bridge_expect_add(&expect, "DDP_NO_BUFER"));
    ck_assert(!bridge_expect_is_none(&expect));
    ck_assert_ptr_nonnull(strstr(bridge_expect_text(&expect, &text), "(0x1202) or Terminate"));
    ck_assert_int_eq(
        judge("DDP_MSN_RANGE", (struct bridge_seen){.receiver_terminates = true, .triple = TERM_DDP_MSN_RANGE}),
        VERDICT_PASS);
    ck_assert_int_eq(
        judge("DDP_MSN_RANGE", (struct bridge_seen){.receiver_terminates = true, .triple = TERM_DDP_NO_BUFFER}),
        VERDICT_FAIL);
    ck_assert_int_eq(judge("survives", (struct bridge_seen){.receiver_terminates = true, .triple = TERM_DDP_NO_BUFFER}),
                     VERDICT_FAIL);
}
END_TEST

START_TEST(terminate_of_swapped_nibbles_is_read_as_meant)
{
    ck_assert_uint_eq(bridge_expect_meant(IWARP_TERMINATE_TRIPLE(2, 1, 2)), TERM_DDP_NO_BUFFER);
    ck_assert_uint_eq(bridge_expect_meant(IWARP_TERMINATE_TRIPLE(0, 2, 2)), TERM_MPA_CRC);
    ck_assert_uint_eq(bridge_expect_meant(TERM_DDP_BOUNDS), TERM_DDP_BOUNDS);
}
END_TEST

START_TEST(bare_close_is_no_report)
{
    struct bridge_seen finished = {.finished = {true, true}}, reset = {.reset = {false, true}};

    ck_assert_int_eq(judge("MPA_CRC", finished), VERDICT_FAIL);
    ck_assert_int_eq(judge("MPA_CRC", reset), VERDICT_FAIL);
    ck_assert_int_eq(judge("closes", reset), VERDICT_PASS);
    ck_assert_int_eq(judge("closes", (struct bridge_seen){.finished = {false, true}}), VERDICT_PASS);
    ck_assert_int_eq(judge("survives", finished), VERDICT_PASS);
    ck_assert_int_eq(judge("survives", reset), VERDICT_FAIL);
}
END_TEST

START_TEST(stream_that_goes_on_is_not_judged)
{
    ck_assert_int_eq(judge("survives", (struct bridge_seen){.stream = 1}), VERDICT_INCONCLUSIVE);
    ck_assert_int_eq(judge("MPA_CRC", (struct bridge_seen){.finished = {true, false}}), VERDICT_INCONCLUSIVE);
    ck_assert_int_eq(judge("MPA_CRC", (struct bridge_seen){.finished = {false, true}}), VERDICT_INCONCLUSIVE);
}
END_TEST

START_TEST(what_the_sender_does_is_not_the_receivers_fault)
{
    struct bridge_seen reset = {.reset = {true, false}};
    struct bridge_seen terminates = {.sender_terminates = true, .sender_triple = TERM_MPA_CRC};

    ck_assert_int_eq(judge("MPA_CRC", reset), VERDICT_INCONCLUSIVE);
    ck_assert_int_eq(judge("MPA_CRC", terminates), VERDICT_INCONCLUSIVE);
    ck_assert_int_eq(judge("survives", terminates), VERDICT_FAIL); /* nobody had a reason to */
}
END_TEST

Suite *bridge_expect_suite(void)
{
    Suite *suite = suite_create("bridge_expect");
    TCase *cases = tcase_create("bridge_expect");

    tcase_add_test(cases, terminate_is_one_of_those_that_are_allowed);
    tcase_add_test(cases, terminate_of_swapped_nibbles_is_read_as_meant);
    tcase_add_test(cases, bare_close_is_no_report);
    tcase_add_test(cases, stream_that_goes_on_is_not_judged);
    tcase_add_test(cases, what_the_sender_does_is_not_the_receivers_fault);
    suite_add_tcase(suite, cases);
    return suite;
}
