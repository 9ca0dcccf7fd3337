/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cases of the rules on DDP stream sessions over SCTP: RFC 5043's and RFC 6581's messages, their order, and their ends.
 */
#include <string.h>

#include "tests/unit/rule_case.h"
#include "tests/unit/sctp_sessions.h"
#include "tests/unit/sctp_talk.h"

Suite *rules_session_suite(void);

static void no_session(struct conversation *c)
{
    open_5043(c);
    sctp_talk_send(&talk, 0, 1, 10);
}

static void same_ssn(struct conversation *c)
{
    open_session(c);
    sctp_talk_send(&talk, 0, 1, 10);
    talk.ssn[0][1]--;
    sctp_talk_write(&talk, 0, 1, 10);
}

static void skipped_ssn(struct conversation *c)
{
    open_session(c);
    sctp_talk_write(&talk, 0, 1, 10);
    talk.ssn[0][1]++;
    sctp_talk_write(&talk, 0, 1, 10);
}

static void exchanged_codes(struct conversation *c)
{
    open_session(c);
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_REJECT, "");
}

static void unknown_code(struct conversation *c)
{
    open_session(c);
    sctp_talk_control(&talk, 0, 1, 9, "");
}

static void terminate_with_reason(struct conversation *c)
{
    open_session(c);
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_TERMINATE, "why");
}

static void enhanced_terminate_with_reason(struct conversation *c)
{
    open_5043(c);
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_ENHANCED_INITIATE, "");
    sctp_talk_control(&talk, 1, 1, DDP_SCTP_ENHANCED_ACCEPT, "");
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_TERMINATE, "why");
}

/* The Initiate has DDP-SSN 1, as by the draft. */
static void initiate_at_one(struct conversation *c)
{
    open_5043(c);
    sctp_talk_user(&talk, 0, 1, DDP_SCTP_PPID_CONTROL, "\0\1\0\1", 4);
}

static void reject_then_segments(struct conversation *c)
{
    open_5043(c);
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_INITIATE, "");
    sctp_talk_control(&talk, 1, 1, DDP_SCTP_REJECT, "");
    sctp_talk_send(&talk, 1, 1, 10);
}

static void two_accepts(struct conversation *c)
{
    open_session(c);
    sctp_talk_control(&talk, 1, 1, DDP_SCTP_ACCEPT, "");
}

/* The first segment leaves a DDP-SSN out. */
static void first_segment_late(struct conversation *c)
{
    open_session(c);
    talk.ssn[0][1]++;
    sctp_talk_send(&talk, 0, 1, 10);
}

static void wordless(struct conversation *c)
{
    open_5043(c);
    sctp_talk_user(&talk, 0, 1, DDP_SCTP_PPID_CONTROL, "\0\0\0\5\1", 5);
}

static void enhanced_answer_to_plain(struct conversation *c)
{
    open_5043(c);
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_INITIATE, "");
    sctp_talk_control(&talk, 1, 1, DDP_SCTP_ENHANCED_ACCEPT, "");
}

static void too_much_data(struct conversation *c)
{
    char data[510];

    memset(data, 'x', sizeof(data) - 1);
    data[sizeof(data) - 1] = '\0';
    open_5043(c);
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_ENHANCED_INITIATE, data);
}

static void too_much_plain_data(struct conversation *c)
{
    char data[514];

    memset(data, 'x', sizeof(data) - 1);
    data[sizeof(data) - 1] = '\0';
    open_5043(c);
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_INITIATE, data);
}

/* The first message of the active side has a code that nobody has assigned. */
static void opens_with_another(struct conversation *c)
{
    open_5043(c);
    sctp_talk_control(&talk, 0, 1, 9, "");
}

static void acknowledge_both(void)
{
    sctp_talk_sack(&talk, 0);
    sctp_talk_sack(&talk, 1);
}

static void left_without_terminate(struct conversation *c)
{
    open_session(c);
    messages();
    acknowledge_both();
    sctp_talk_shutdown(&talk);
}

static void left_for_another(struct conversation *c)
{
    open_session(c);
    messages();
    acknowledge_both();
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_INITIATE, "");
    sctp_talk_control(&talk, 1, 1, DDP_SCTP_ACCEPT, "");
    end_both();
    acknowledge_both();
}

/* The active side acknowledges the refusal, and sends segments all the same; the passive one answers. */
static void refused_goes_on(struct conversation *c, uint32_t refusal)
{
    open_5043(c);
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_INITIATE, "");
    sctp_talk_control(&talk, 1, 1, refusal, NULL);
    acknowledge_both();
    sctp_talk_send(&talk, 0, 1, 10);
    sctp_talk_send(&talk, 0, 1, 11);
    sctp_talk_send(&talk, 1, 1, 12);
}

static void rejected_goes_on(struct conversation *c)
{
    refused_goes_on(c, DDP_SCTP_REJECT);
}

static void terminated_goes_on(struct conversation *c)
{
    refused_goes_on(c, DDP_SCTP_TERMINATE);
}

static void crossing(struct conversation *c, uint32_t answer)
{
    open_5043(c);
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_INITIATE, "");
    sctp_talk_control(&talk, 1, 1, DDP_SCTP_INITIATE, "");
    talk.ssn[0][1] = talk.ssn[1][1] = 1;
    sctp_talk_control(&talk, 0, 1, answer, NULL);
}

static void crossing_ends(struct conversation *c)
{
    crossing(c, DDP_SCTP_TERMINATE);
}

static void crossing_accepted(struct conversation *c)
{
    crossing(c, DDP_SCTP_ACCEPT);
}

/* The passive side has the Initiate, as its SACK says, and sends one of its own. */
static void answered_by_initiate(struct conversation *c)
{
    open_5043(c);
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_INITIATE, "");
    sctp_talk_sack(&talk, 1);
    sctp_talk_control(&talk, 1, 1, DDP_SCTP_INITIATE, "");
}

static void bundled_with_initiate(struct conversation *c)
{
    open_5043(c);
    talk.bundling = true;
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_INITIATE, "");
    sctp_talk_send(&talk, 0, 1, 10);
    sctp_talk_flush(&talk);
    talk.bundling = false;
    sctp_talk_sack(&talk, 1);
}

static void before_the_sack(struct conversation *c)
{
    open_5043(c);
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_INITIATE, "");
    sctp_talk_send(&talk, 0, 1, 10);
    sctp_talk_sack(&talk, 1);
    sctp_talk_control(&talk, 1, 1, DDP_SCTP_ACCEPT, "");
}

/* A SACK of the segment alone: the Initiate has not come. */
static void overtaken_initiate(struct conversation *c)
{
    uint8_t sack[16] = {0};

    open_5043(c);
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_INITIATE, "");
    sctp_talk_send(&talk, 0, 1, 10);
    octets_put32(sack, talk.tsn[0] - 3); /* what was before the Initiate, and one block */
    octets_put16(sack + 8, 1);
    octets_put32(sack + 12, 0x00020002);
    sctp_talk_chunk(&talk, 1, SCTP_SACK, sack, sizeof(sack));
    sctp_talk_sack(&talk, 1);
    sctp_talk_control(&talk, 1, 1, DDP_SCTP_ACCEPT, "");
}

const struct rule_case rules_session_cases[] = {
    {"SCTP5043-2-01", sessions, no_session, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"SCTP5043-5.2.1-02", sessions, same_ssn, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"SCTP5043-5.2.3-02", sessions, exchanged_codes, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"SCTP5043-5.2.3-02", sessions, unknown_code, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"SCTP5043-5.2.3-02", sessions, answered_by_initiate, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"SCTP5043-5.2.3-07", sessions, too_much_plain_data, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"SCTP5043-5.2.3-09", sessions, terminate_with_reason, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"SCTP5043-6-03", sessions, skipped_ssn, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"SCTP5043-6.1-01", sessions, initiate_at_one, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"SCTP5043-6.1-02", sessions, reject_then_segments, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"SCTP5043-6.1-02", sessions, two_accepts, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"SCTP5043-6.1-02", sessions, rejected_goes_on, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"SCTP5043-6.1-02", sessions, terminated_goes_on, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"SCTP5043-6.2-01", sessions, opens_with_another, NO_CHANGE, RULE_FAIL, "SCTP5043-5.2.3-02", 0, NULL},
    {"SCTP5043-6.2-05", sessions, left_without_terminate, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"SCTP5043-6.2-05", sessions, left_for_another, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"SCTP5043-6.4-05", sessions, crossing_ends, NO_CHANGE, RULE_AMBIGUOUS, NULL, RULE_VERDICTS, NULL},
    {"SCTP5043-6.4-05", sessions, crossing_accepted, NO_CHANGE, RULE_AMBIGUOUS, NULL, RULE_VERDICTS, NULL},
    {"SCTP5043-6.6-02", sessions, bundled_with_initiate, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"SCTP5043-6.6-02", sessions, before_the_sack, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"SCTP5043-6.6-02", sessions, overtaken_initiate, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"SCTP5043-6.2-03", sessions, first_segment_late, NO_CHANGE, RULE_FAIL, "SCTP5043-6-03", 0, NULL},
    {"EMPA-7-01", sessions, wordless, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"EMPA-7-02", sessions, enhanced_answer_to_plain, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"EMPA-7-11", sessions, too_much_data, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"EMPA-7-13", sessions, enhanced_terminate_with_reason, NO_CHANGE, RULE_FAIL, "SCTP5043-5.2.3-09", 0, NULL},
    {NULL, NULL, NULL, NO_CHANGE, RULE_PASS, NULL, 0, NULL},
};

START_TEST(case_of_the_session_rules)
{
    rule_case_run(&rules_session_cases[_i]);
}
END_TEST

Suite *rules_session_suite(void)
{
    Suite *suite = suite_create("rules_session");
    TCase *tcase = tcase_create("cases");

    tcase_add_loop_test(tcase, case_of_the_session_rules, 0,
                        (int)(sizeof(rules_session_cases) / sizeof(rules_session_cases[0])) - 1);
    suite_add_tcase(suite, tcase);
    return suite;
}
