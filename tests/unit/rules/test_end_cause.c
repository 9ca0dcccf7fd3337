/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why flows end. tests/e2e/why.sh holds the sentences to captures of each situation; here are what is kept, what is
 * quoted, and the order of what was broken.
 */
#include <string.h>

#include "conformance/rules/end_cause.h"
#include "tests/unit/rule_case.h"
#include "tests/unit/suites.h"

Suite *end_cause_suite(void);

enum { KEPT = 8 };

struct seen {
    unsigned count;
    struct end_cause cause[KEPT];
    char why[KEPT][END_CAUSE_TEXT];
    char cut[KEPT][40]; /* the sentence in too little room */
    const char *id[KEPT];
};

static void take(const struct flow *flow, const struct end_cause *cause, void *argument)
{
    struct seen *seen = argument;

    ck_assert_uint_lt(seen->count, KEPT);
    seen->cause[seen->count] = *cause;
    seen->id[seen->count] = cause->broken.rule != NULL ? cause->broken.rule->id : "none";
    (void)end_cause_text(flow, cause, seen->why[seen->count], END_CAUSE_TEXT);
    (void)end_cause_text(flow, cause, seen->cut[seen->count], sizeof(seen->cut[0]));
    seen->count++;
}

static bool nothing(const char *id, void *argument)
{
    (void)id;
    (void)argument;
    return false;
}

static void judge(build_function *build, struct rule_config config, struct seen *seen)
{
    struct conversation *conversation = conversation_create(NULL);
    struct verdicts verdicts;

    *seen = (struct seen){0};
    config.end = take;
    config.argument = seen;
    build(conversation);
    conversation_judge_with(conversation, &config, &verdicts);
    conversation_free(conversation);
}

static void quote(struct conversation *c, wire_result triple)
{
    struct terminate terminate = {.triple = triple, .m = true, .d = true};
    size_t length;

    terminate.ddp_header = conversation_quote(c, &length);
    terminate.ddp_header_octets = terminate.ddp_header[0] & 0x80 ? DDP_TAGGED_OCTETS : DDP_UNTAGGED_OCTETS;
    terminate.ddp_segment_length = (uint16_t)length;
    conversation_terminate(c, 1, &terminate);
}

static void begin(struct conversation *c)
{
    conversation_open(c, 1460);
    conversation_start(c, 0, &plain_request);
    conversation_start(c, 1, &plain_reply);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 1, 0, true, 20);
}

/* ---- what is quoted ---------------------------------------------------------------------------------------------- */

static void three_segments(struct conversation *c)
{
    begin(c);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 2, 0, false, 100);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 2, 100, false, 100);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 2, 200, true, 50);
    quote(c, TERM_DDP_TOO_LONG);
}

START_TEST(a_terminate_quotes_the_whole_message_of_its_segment)
{
    struct seen seen;
    const struct end_quoted *quoted = &seen.cause[0].quoted;

    judge(three_segments, (struct rule_config){0}, &seen);
    ck_assert_uint_eq(seen.count, 1);
    ck_assert_int_eq(seen.cause[0].quote, END_QUOTES_SENT);
    ck_assert_str_eq(quoted->message, "Send");
    ck_assert_uint_eq(quoted->segments, 3);
    ck_assert_uint_eq(quoted->octets, 250);
    ck_assert_uint_eq(quoted->frame - quoted->first_frame, 2);
    ck_assert_uint_eq(quoted->segment_frame, quoted->frame);
    ck_assert(quoted->whole);
    ck_assert_uint_lt(strlen(seen.cut[0]), sizeof(seen.cut[0]));
    ck_assert_int_eq(strncmp(seen.cut[0], seen.why[0], strlen(seen.cut[0])), 0);
}
END_TEST

static void two_writes(struct conversation *c)
{
    begin(c);
    conversation_tagged(c, 0, IWARP_RDMAP_WRITE, 0x4711, 0x1000, true, 100);
    conversation_tagged(c, 0, IWARP_RDMAP_WRITE, 0x4711, 0x1000, false, 60);
    quote(c, TERM_DDP_BOUNDS);
}

START_TEST(a_message_before_with_the_same_stag_is_not_quoted)
{
    struct seen seen;

    judge(two_writes, (struct rule_config){0}, &seen);
    ck_assert_uint_eq(seen.count, 1);
    ck_assert_uint_eq(seen.cause[0].quoted.segments, 1);
    ck_assert_uint_eq(seen.cause[0].quoted.octets, 60);
    ck_assert(!seen.cause[0].quoted.whole);
    ck_assert_ptr_nonnull(strstr(seen.why[0], "60 octets so far"));
}
END_TEST

static void two_kinds(struct conversation *c)
{
    begin(c);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 2, 0, false, 100);
    conversation_send(c, 0, IWARP_RDMAP_SEND_SE, 2, 0, true, 30);
    quote(c, TERM_DDP_TOO_LONG);
}

START_TEST(segments_of_another_opcode_are_of_another_message)
{
    struct seen seen;

    judge(two_kinds, (struct rule_config){0}, &seen);
    ck_assert_uint_eq(seen.count, 1);
    ck_assert_uint_eq(seen.cause[0].quoted.segments, 1);
    ck_assert_uint_eq(seen.cause[0].quoted.octets, 30);
}
END_TEST

/* ---- what is kept ------------------------------------------------------------------------------------------------ */

static void many_terminates(struct conversation *c)
{
    begin(c);
    for (unsigned i = 0; i < 3 * END_CAUSES_MAX; i++)
        quote(c, TERM_DDP_TOO_LONG);
}

START_TEST(a_flow_keeps_its_first_ends)
{
    struct seen seen;

    judge(many_terminates, (struct rule_config){0}, &seen);
    ck_assert_uint_eq(seen.count, END_CAUSES_MAX);
    ck_assert(!seen.cause[0].after);
    ck_assert(seen.cause[1].after);
    ck_assert_int_eq(seen.cause[1].after_kind, END_TERMINATE);
    ck_assert_uint_lt(seen.cause[0].frame, seen.cause[1].frame);
}
END_TEST

static void orderly(struct conversation *c)
{
    begin(c);
    conversation_close(c, 0, false);
    conversation_close(c, 1, false);
}

START_TEST(an_orderly_close_is_no_end_to_explain)
{
    struct seen seen;

    judge(orderly, (struct rule_config){0}, &seen);
    ck_assert_uint_eq(seen.count, 0);
}
END_TEST

/* ---- what was broken first --------------------------------------------------------------------------------------- */

/*
 * MSN 1 comes twice, then MO does not follow: the first of the two is named, by the quick way and by the thorough one.
 */
static void two_faults(struct conversation *c)
{
    begin(c);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 9, 0, true, 20);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 10, 7, true, 20);
    conversation_close(c, 1, true);
}

START_TEST(the_first_broken_rule_is_named)
{
    struct seen quick, thorough;

    judge(two_faults, (struct rule_config){0}, &quick);
    judge(two_faults, (struct rule_config){.thorough = true}, &thorough);
    ck_assert_uint_eq(quick.count, 1);
    ck_assert_uint_eq(thorough.count, 1);
    ck_assert_str_eq(quick.why[0], thorough.why[0]);
    ck_assert_uint_eq(quick.cause[0].broken.frame, 7);
    ck_assert_int_eq(quick.cause[0].broken.direction, FLOW_FROM_INITIATOR);
    ck_assert_int_eq(strncmp(quick.id[0], "DDP-", 4), 0);
}
END_TEST

/* The Terminate's own fault is not before it: it is before the reset after it. */
static void own_fault(struct conversation *c)
{
    struct terminate terminate = {.triple = IWARP_TERMINATE_TRIPLE(1, 1, 0x77)};

    begin(c);
    conversation_terminate(c, 1, &terminate);
    conversation_close(c, 1, true);
}

START_TEST(a_fault_of_the_end_itself_is_not_before_it)
{
    struct seen seen;

    judge(own_fault, (struct rule_config){0}, &seen);
    ck_assert_uint_eq(seen.count, 2);
    ck_assert_str_eq(seen.id[0], "none");
    ck_assert_str_ne(seen.id[1], "none");
    ck_assert_int_eq(seen.cause[1].broken.direction, FLOW_FROM_RESPONDER);
}
END_TEST

START_TEST(rules_that_are_not_selected_are_not_said_to_be_kept)
{
    struct seen seen;

    judge(two_faults, (struct rule_config){.selected = nothing}, &seen);
    ck_assert_uint_eq(seen.count, 1);
    ck_assert_str_eq(seen.id[0], "none");
    ck_assert_ptr_nonnull(strstr(seen.why[0], "no selected rule was broken"));
}
END_TEST

Suite *end_cause_suite(void)
{
    Suite *suite = suite_create("end_cause");
    TCase *ends = tcase_create("ends");

    tcase_add_test(ends, a_terminate_quotes_the_whole_message_of_its_segment);
    tcase_add_test(ends, a_message_before_with_the_same_stag_is_not_quoted);
    tcase_add_test(ends, segments_of_another_opcode_are_of_another_message);
    tcase_add_test(ends, a_flow_keeps_its_first_ends);
    tcase_add_test(ends, an_orderly_close_is_no_end_to_explain);
    tcase_add_test(ends, the_first_broken_rule_is_named);
    tcase_add_test(ends, a_fault_of_the_end_itself_is_not_before_it);
    tcase_add_test(ends, rules_that_are_not_selected_are_not_said_to_be_kept);
    suite_add_tcase(suite, ends);
    return suite;
}
