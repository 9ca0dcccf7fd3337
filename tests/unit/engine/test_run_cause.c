/* SPDX-License-Identifier: BSD-2-Clause */
/* One fault, one finding: which of the rules' causes a check takes, and which the rules share. */
#include <check.h>
#include <string.h>

#include "conformance/engine/run/run_cause.h"
#include "tests/unit/suites.h"

Suite *run_cause_suite(void);

/* Rules below framing, of frames and of start-up: any will do. */
static const char fpdus[] = "MPA-4.4-14", segments[] = "DDP-4.1-04", start[] = "MPA-7.1.1-19";

static struct tally *tally;
static struct flow flow;
static struct run_services services;

static void setup(void)
{
    tally = tally_new();
    ck_assert_ptr_nonnull(tally);
    memset(&flow, 0, sizeof(flow));
    flow.roles_known = true;
    memset(&services, 0, sizeof(services));
}

static void teardown(void)
{
    tally_free(tally);
}

/* The responder's, in this frame. */
static void find(const char *rule, const char *cause, uint64_t frame, bool known)
{
    const struct rule_finding finding = {.rule = rule_find(rule),
                                         .flow = &flow,
                                         .direction = FLOW_FROM_RESPONDER,
                                         .verdict = RULE_FAIL,
                                         .frame = frame,
                                         .cause = cause,
                                         .hint = cause,
                                         .count = 1};

    ck_assert_msg(finding.rule != NULL, "%s has no rule", rule);
    tally_finding(tally, &finding, known);
}

static const char *cause_of(const char *rule)
{
    const struct tally_entry *entry;

    for (size_t i = 0; (entry = tally_at(tally, i)) != NULL; i++)
        if (entry->exercised && entry->rule == rule_find(rule))
            return entry->cause;
    ck_abort_msg("%s found nothing", rule);
    return NULL;
}

/* What a check says, the rule's cause, and the cause that the check has then. */
static const struct {
    const char *what;
    const char *cause, *actual, *rule;
    bool known;
    const char *role;
    const char *then;
} adopted[] = {
    {"octets miss where segments are put together wrongly", "octets-missing", NULL, "send-mo", false, "responder",
     "send-mo"},
    {"nothing comes where segments are put together wrongly", "silence-for-segment", NULL, "read-response-l", false,
     "responder", "read-response-l"},
    {"a field that puts nothing together", "octets-missing", NULL, "send-rsvdulp", false, "responder",
     "octets-missing"},
    {"a field of the frame that came", NULL, "MPA Reply S 0 M 1", "reply-ird", false, "responder", "reply-ird"},
    {"a field of a frame of another kind", NULL, "MPA Reply S 0 M 1", "send-l", false, "responder", NULL},
    {"a known deviation", "octets-missing", NULL, "send-mo", true, "responder", "octets-missing"},
    {"the other role", "octets-missing", NULL, "send-mo", false, "initiator", "octets-missing"},
    {"a check that names the mistake itself", "send-l", "Send qn 0", "send-mo", false, "responder", "send-l"},
    {"a rule that saw what comes of something", "silence-for-segment", "Send qn 0", "octets-missing", false,
     "responder", "silence-for-segment"},
    {"framing that can be read otherwise", "octets-missing", NULL, "pad-length", false, "responder", "pad-length"},
    {"the queue, where the check found its MSN wrong", "send-msn", "1", "send-qn", false, "responder", "send-qn"},
    {"the end of a message, where the next one's MSN is wrong", "send-msn", "1", "send-l", false, "responder",
     "send-l"},
    {"an FPDU of a device that goes on after an error", "goes-on-after-error", "1", "crc-not-computed", false,
     "responder", "goes-on-after-error"},
    {"a header that is cut, where the next MSN is wrong", "send-msn", "1", "ddp-header-cut", false, "responder",
     "ddp-header-cut"},
    {"a T bit, where untagged fields are wrong", "send-qn", "1", "model-wrong", false, "responder", "model-wrong"},
    {"a place in a message, where its queue is wrong", "send-qn", "1", "send-mo", false, "responder", "send-qn"},
    {"a queue, where a start-up frame is wrong", "reply-ird", "1", "send-qn", false, "responder", "reply-ird"},
    {"numbers that nobody names, where segments are put together wrongly", NULL, "7", "send-mo", false, "responder",
     "send-mo"},
};

START_TEST(check_takes_the_cause_of_which_its_own_comes)
{
    struct outcome outcome = {.verdict = VERDICT_FAIL, .cause = adopted[_i].cause, .actual = adopted[_i].actual};

    find(segments, adopted[_i].rule, 5, adopted[_i].known);
    run_cause_adopt(&outcome, tally, adopted[_i].role, &services);
    ck_assert_msg(adopted[_i].then == NULL ? outcome.cause == NULL
                                           : outcome.cause != NULL && strcmp(outcome.cause, adopted[_i].then) == 0,
                  "%s: %s", adopted[_i].what, outcome.cause != NULL ? outcome.cause : "no cause");
}
END_TEST

START_TEST(first_of_several_fields_is_the_cause)
{
    struct outcome outcome = {.verdict = VERDICT_FAIL, .cause = "octets-missing"};

    find(segments, "send-mo", 9, false);
    find(fpdus, "send-l", 7, false);
    run_cause_adopt(&outcome, tally, "responder", &services);
    ck_assert_str_eq(outcome.cause, "send-l");
}
END_TEST

START_TEST(verdict_that_is_no_failure_has_no_cause_of_rules)
{
    struct outcome outcome = {.verdict = VERDICT_INCONCLUSIVE, .actual = "Send qn 0"};

    find(segments, "send-mo", 5, false);
    run_cause_adopt(&outcome, tally, "responder", &services);
    ck_assert_ptr_null(outcome.cause);
}
END_TEST

/* Start-up frames were read before the first FPDU. */
START_TEST(rules_below_unreadable_framing_share_its_cause)
{
    const struct outcome outcome = {.verdict = VERDICT_FAIL, .cause = "pad-length", .hint = "pad"};

    find(segments, "send-mo", 5, false);
    find(start, "reply-res", 4, false);
    run_cause_share(tally, "responder", &outcome, &services);
    ck_assert_str_eq(cause_of(segments), "pad-length");
    ck_assert_str_eq(cause_of(start), "reply-res");
}
END_TEST

START_TEST(rules_share_that_a_device_goes_on_after_an_error)
{
    const struct outcome outcome = {.verdict = VERDICT_FAIL, .cause = "goes-on-after-error", .hint = "goes on"};

    find(fpdus, "crc-not-computed", 5, false);
    find(start, "reply-key", 4, false);
    find(segments, "send-mo", 6, false);
    run_cause_share(tally, "initiator", &outcome, &services);
    ck_assert_str_eq(cause_of(fpdus), "crc-not-computed");
    run_cause_share(tally, "responder", &outcome, &services);
    ck_assert_str_eq(cause_of(fpdus), "goes-on-after-error");
    ck_assert_str_eq(cause_of(start), "goes-on-after-error");
    ck_assert_str_eq(cause_of(segments), "send-mo");
}
END_TEST

START_TEST(rules_of_the_tester_share_nothing)
{
    const struct outcome outcome = {.verdict = VERDICT_FAIL, .cause = "pad-length", .hint = "pad"};

    find(segments, "send-mo", 5, false);
    run_cause_share(tally, "initiator", &outcome, &services);
    ck_assert_str_eq(cause_of(segments), "send-mo");
}
END_TEST

START_TEST(rule_without_a_cause_has_that_of_the_same_frame)
{
    const struct outcome outcome = {.verdict = VERDICT_PASS};

    find(segments, NULL, 5, false);
    find(fpdus, "send-qn", 5, false);
    run_cause_share(tally, "responder", &outcome, &services);
    ck_assert_str_eq(cause_of(segments), "send-qn");
    tally_clear(tally);
    find(segments, NULL, 6, false);
    find(fpdus, "send-qn", 5, false);
    run_cause_share(tally, "responder", &outcome, &services);
    ck_assert_ptr_null(cause_of(segments));
}
END_TEST

/* A field makes those untrusted that come after it, or that it says the meaning of. */
START_TEST(rule_has_the_cause_of_a_field_with_more_weight)
{
    static const struct {
        const char *first, *second, *then;
        uint64_t frame;
    } pairs[] = {{"send-qn", "send-msn", "send-qn", 5},  {"send-l", "send-qn", "send-qn", 6},
                 {"send-l", "send-opcode", "send-l", 6}, {"send-l", "send-mo", "send-mo", 5},
                 {"send-mo", "send-l", "send-l", 6},     {"model-wrong", "send-msn", "model-wrong", 6}};
    const struct outcome outcome = {.verdict = VERDICT_PASS};

    find(fpdus, pairs[_i].first, 5, false);
    find(segments, pairs[_i].second, pairs[_i].frame, false);
    run_cause_share(tally, "responder", &outcome, &services);
    ck_assert_str_eq(cause_of(segments), pairs[_i].then);
}
END_TEST

START_TEST(rule_has_the_cause_of_the_checks_field_with_more_weight)
{
    struct outcome outcome = {.verdict = VERDICT_FAIL, .cause = "model-wrong", .hint = "T"};

    find(segments, "send-msn", 5, false);
    run_cause_share(tally, "initiator", &outcome, &services);
    ck_assert_str_eq(cause_of(segments), "send-msn");
    run_cause_share(tally, "responder", &outcome, &services);
    ck_assert_str_eq(cause_of(segments), "model-wrong");
}
END_TEST

Suite *run_cause_suite(void)
{
    Suite *suite = suite_create("run_cause");
    TCase *tests = tcase_create("run_cause");

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, check_takes_the_cause_of_which_its_own_comes, 0, sizeof(adopted) / sizeof(adopted[0]));
    tcase_add_test(tests, first_of_several_fields_is_the_cause);
    tcase_add_test(tests, verdict_that_is_no_failure_has_no_cause_of_rules);
    tcase_add_test(tests, rules_below_unreadable_framing_share_its_cause);
    tcase_add_test(tests, rules_share_that_a_device_goes_on_after_an_error);
    tcase_add_test(tests, rules_of_the_tester_share_nothing);
    tcase_add_loop_test(tests, rule_has_the_cause_of_a_field_with_more_weight, 0, 6);
    tcase_add_test(tests, rule_has_the_cause_of_the_checks_field_with_more_weight);
    tcase_add_test(tests, rule_without_a_cause_has_that_of_the_same_frame);
    suite_add_tcase(suite, tests);
    return suite;
}
