/* SPDX-License-Identifier: BSD-2-Clause */
/* Rules on DDP stream sessions (RFC 5043 6, RFC 6581 7), counted. */
#include <string.h>

#include "tests/unit/count_case.h"
#include "tests/unit/sctp_sessions.h"
#include "tests/unit/sctp_talk.h"

Suite *rules_session_counts_suite(void);

static void acknowledge_both(void)
{
    sctp_talk_sack(&talk, 0);
    sctp_talk_sack(&talk, 1);
}

static void private_data(unsigned from, uint32_t code, size_t octets)
{
    char data[600];

    memset(data, 'x', octets);
    data[octets] = '\0';
    sctp_talk_control(&talk, from, 1, code, data);
}

/*
 * ---- RFC 5043 6: a session as it should be ------------------------------------------------------------------------
 */

static void whole_session(struct conversation *c)
{
    open_session(c);
    acknowledge_both();
    messages();
    acknowledge_both();
    end_both();
}

static void without_segments(struct conversation *c)
{
    open_session(c);
    acknowledge_both();
    end_both();
}

/* RFC 5043 6.6: the SACK of the Initiate is enough for the active side to go on. */
static void segment_after_sack(struct conversation *c)
{
    open_5043(c);
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_INITIATE, "");
    sctp_talk_sack(&talk, 1);
    sctp_talk_send(&talk, 0, 1, 10);
    sctp_talk_control(&talk, 1, 1, DDP_SCTP_ACCEPT, "");
}

static void segment_before_sack(struct conversation *c)
{
    open_5043(c);
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_INITIATE, "");
    sctp_talk_send(&talk, 0, 1, 10);
    sctp_talk_sack(&talk, 1);
    sctp_talk_control(&talk, 1, 1, DDP_SCTP_ACCEPT, "");
}

/* What was opened by no Initiate is another rule's. */
static void segment_after_another_opening(struct conversation *c)
{
    open_5043(c);
    sctp_talk_control(&talk, 0, 1, 9, "");
    sctp_talk_control(&talk, 1, 1, DDP_SCTP_ACCEPT, "");
    sctp_talk_send(&talk, 0, 1, 10);
}

/*
 * ---- RFC 5043 6.2: the end ----------------------------------------------------------------------------------------
 */

static void one_terminate(struct conversation *c, unsigned from)
{
    open_session(c);
    messages();
    sctp_talk_control(&talk, from, 1, DDP_SCTP_TERMINATE, NULL);
    acknowledge_both();
    sctp_talk_shutdown(&talk);
}

static void active_terminates(struct conversation *c)
{
    one_terminate(c, 0);
}

static void passive_terminates(struct conversation *c)
{
    one_terminate(c, 1);
}

static void passive_out_of_pattern(struct conversation *c)
{
    open_session(c);
    sctp_talk_control(&talk, 1, 1, DDP_SCTP_ACCEPT, "");
    acknowledge_both();
    sctp_talk_shutdown(&talk);
}

static void active_out_of_pattern(struct conversation *c)
{
    open_session(c);
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_REJECT, "");
    acknowledge_both();
    sctp_talk_shutdown(&talk);
}

static void terminates_twice(struct conversation *c)
{
    open_session(c);
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_TERMINATE, NULL);
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_TERMINATE, NULL);
}

/*
 * ---- RFC 5043 6.1, 6.3: patterns ----------------------------------------------------------------------------------
 */

static void opens_with_terminate(struct conversation *c)
{
    open_5043(c);
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_TERMINATE, NULL);
    acknowledge_both();
}

static void answers_nothing(struct conversation *c)
{
    open_5043(c);
    sctp_talk_control(&talk, 1, 1, DDP_SCTP_ACCEPT, "");
    acknowledge_both();
}

static void rejects_nothing(struct conversation *c)
{
    open_5043(c);
    sctp_talk_control(&talk, 1, 1, DDP_SCTP_ENHANCED_REJECT, "");
    acknowledge_both();
}

/* Neither side has opened: the active one, which an Accept identifies, ends. */
static void ends_what_was_not_opened(struct conversation *c)
{
    open_5043(c);
    sctp_talk_control(&talk, 1, 1, DDP_SCTP_ACCEPT, "");
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_TERMINATE, NULL);
}

static void segment_in_place_of_answer(struct conversation *c)
{
    open_5043(c);
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_INITIATE, "");
    sctp_talk_send(&talk, 1, 1, 10);
}

/* Both sides know of the other one's Initiate: what follows fits no pattern, and is neither one's fault. */
static void crossing_is_known(struct conversation *c)
{
    open_5043(c);
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_INITIATE, "");
    sctp_talk_control(&talk, 1, 1, DDP_SCTP_INITIATE, "");
    acknowledge_both();
    talk.ssn[0][1] = talk.ssn[1][1] = 1;
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_TERMINATE, NULL);
    sctp_talk_control(&talk, 1, 1, DDP_SCTP_ACCEPT, "");
}

static void two_without_session(struct conversation *c)
{
    open_5043(c);
    sctp_talk_send(&talk, 0, 1, 10);
    sctp_talk_send(&talk, 0, 1, 11);
}

static void rejected(struct conversation *c)
{
    open_5043(c);
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_INITIATE, "");
    sctp_talk_sack(&talk, 1);
    sctp_talk_control(&talk, 1, 1, DDP_SCTP_REJECT, "");
}

/* A segment that crossed the Reject, and the Terminate that RFC 5043 6.1 has it answered by. */
static void surplus_is_terminated(struct conversation *c)
{
    rejected(c);
    sctp_talk_send(&talk, 0, 1, 10);
    sctp_talk_control(&talk, 1, 1, DDP_SCTP_TERMINATE, NULL);
}

static void nothing_to_terminate(struct conversation *c)
{
    rejected(c);
    sctp_talk_control(&talk, 1, 1, DDP_SCTP_TERMINATE, NULL);
}

static void surplus_is_answered(struct conversation *c)
{
    rejected(c);
    sctp_talk_send(&talk, 0, 1, 10);
    sctp_talk_send(&talk, 1, 1, 11);
}

static void accepted_and_terminated_twice(struct conversation *c)
{
    open_session(c);
    sctp_talk_send(&talk, 0, 1, 10);
    sctp_talk_control(&talk, 1, 1, DDP_SCTP_TERMINATE, NULL);
    sctp_talk_control(&talk, 1, 1, DDP_SCTP_TERMINATE, NULL);
}

/* The active side knows of the Reject and goes on; what the passive one says to that is not judged. */
static void goes_on_after_reject(struct conversation *c)
{
    rejected(c);
    acknowledge_both();
    sctp_talk_send(&talk, 0, 1, 10);
    sctp_talk_send(&talk, 0, 1, 11);
    sctp_talk_send(&talk, 1, 1, 12);
}

/*
 * ---- RFC 5043 5.2.2: the segment's place ----------------------------------------------------------------------------
 */

/* 14 octets: the header alone. */
static void empty_write(struct conversation *c)
{
    open_session(c);
    sctp_talk_write(&talk, 0, 1, 0);
}

/* Another version is no pad, whatever follows it looks like. */
static void other_version(struct conversation *c, uint8_t second)
{
    uint8_t octets[40] = {0, 1, 0x42, second, 0x41};

    open_session(c);
    sctp_talk_user(&talk, 0, 1, DDP_SCTP_PPID_SEGMENT, octets, sizeof(octets));
}

static void version_two(struct conversation *c)
{
    other_version(c, 0x43);
}

static void version_two_after_pad(struct conversation *c)
{
    other_version(c, 0);
}

/*
 * ---- RFC 5043 5.2.3, RFC 6581 7: 512 octets ------------------------------------------------------------------------
 */

static void longest_data(struct conversation *c)
{
    open_5043(c);
    private_data(0, DDP_SCTP_INITIATE, 512);
}

static void longest_enhanced_data(struct conversation *c)
{
    open_5043(c);
    private_data(0, DDP_SCTP_ENHANCED_INITIATE, 508); /* and the word of 4 */
}

static void too_long_reject(struct conversation *c)
{
    open_5043(c);
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_ENHANCED_INITIATE, "");
    private_data(1, DDP_SCTP_ENHANCED_REJECT, 513); /* it has no word */
}

/* clang-format off */
static const struct count_case cases[] = {
    /* messages: active 1 + 3 + 1, passive 1 + 2 + 1 */
    {whole_session, "SCTP5043-2-01", RULE_PASS, 5, 0, 0, NULL},
    {whole_session, "SCTP5043-5.2.1-02", RULE_PASS, 7, 0, 0, NULL},
    {whole_session, "SCTP5043-5.2.2-01", RULE_PASS, 5, 0, 0, NULL},
    {whole_session, "SCTP5043-5.2.3-02", RULE_PASS, 4, 0, 0, NULL},
    {whole_session, "SCTP5043-5.2.3-07", RULE_PASS, 2, 0, 0, NULL},
    {whole_session, "SCTP5043-5.2.3-09", RULE_PASS, 2, 0, 0, NULL},
    {whole_session, "SCTP5043-6-03", RULE_PASS, 7, 0, 0, NULL},
    {whole_session, "SCTP5043-6.1-01", RULE_PASS, 2, 0, 0, NULL},
    {whole_session, "SCTP5043-6.1-02", RULE_PASS, 9, 0, 0, NULL},
    {whole_session, "SCTP5043-6.2-01", RULE_PASS, 1, 0, 0, NULL},
    {whole_session, "SCTP5043-6.2-03", RULE_PASS, 2, 0, 0, NULL},
    {whole_session, "SCTP5043-6.2-05", RULE_PASS, 2, 0, 0, NULL},
    {whole_session, "SCTP5043-6.4-05", SILENT, 0, 0, 0, NULL},
    {whole_session, "SCTP5043-6.6-02", RULE_PASS, 1, 0, 0, NULL},
    {whole_session, "SCTP5043-5.1-01", RULE_PASS, 9, 0, 0, NULL},
    {whole_session, "SCTP5043-5.1-05", RULE_PASS, 9, 0, 0, NULL},
    {whole_session, "SCTP5043-5.2-01", RULE_PASS, 9, 0, 0, NULL},
    {whole_session, "SCTP5043-7.2-02", RULE_PASS, 2, 0, 0, NULL},
    {whole_session, "SCTP5043-8-03", RULE_PASS, 2, 0, 0, NULL},
    {whole_session, "SCTP5043-9-05", RULE_PASS, 9, 0, 0, NULL},
    {whole_session, "SCTP5043-10-01", RULE_PASS, 9, 0, 0, NULL},
    {without_segments, "SCTP5043-6.6-02", SILENT, 0, 0, 0, NULL},
    {without_segments, "SCTP5043-2-01", SILENT, 0, 0, 0, NULL},
    {segment_after_sack, "SCTP5043-2-01", RULE_PASS, 1, 0, 0, NULL},
    {segment_after_sack, "SCTP5043-6.1-02", RULE_PASS, 3, 0, 0, NULL},
    {segment_after_sack, "SCTP5043-6.6-02", RULE_PASS, 1, 0, 0, NULL},
    {segment_before_sack, "SCTP5043-6.6-02", RULE_FAIL, 0, 1, ACTIVE, NULL},
    {segment_after_another_opening, "SCTP5043-6.6-02", SILENT, 0, 0, 0, "*"},
    {active_terminates, "SCTP5043-6.2-05", RULE_PASS, 1, 0, 0, NULL},
    {passive_terminates, "SCTP5043-6.2-05", RULE_PASS, 1, 0, 0, NULL},
    {passive_out_of_pattern, "SCTP5043-6.1-02", RULE_FAIL, 2, 1, PASSIVE, NULL},
    {active_out_of_pattern, "SCTP5043-5.2.3-02", RULE_FAIL, 2, 1, ACTIVE, NULL},
    {terminates_twice, "SCTP5043-6.1-02", RULE_FAIL, 3, 1, ACTIVE, NULL},
    {opens_with_terminate, "SCTP5043-6.1-02", RULE_FAIL, 1, 1, PASSIVE, NULL},
    {answers_nothing, "SCTP5043-6.1-02", RULE_FAIL, 1, 1, PASSIVE, NULL},
    {rejects_nothing, "SCTP5043-6.1-02", RULE_FAIL, 1, 1, PASSIVE, NULL},
    {ends_what_was_not_opened, "SCTP5043-6.2-01", RULE_FAIL, 0, 1, ACTIVE, NULL},
    {segment_in_place_of_answer, "SCTP5043-6.1-02", RULE_FAIL, 1, 1, PASSIVE, NULL},
    {crossing_is_known, "SCTP5043-6.1-02", RULE_PASS, 1, 0, 0, NULL},
    {crossing_is_known, "SCTP5043-5.2.3-02", RULE_PASS, 1, 0, 0, NULL},
    {rejected, "SCTP5043-5.2.1-02", SILENT, 0, 0, 0, NULL},
    {rejected, "SCTP5043-6-03", SILENT, 0, 0, 0, NULL},
    {rejected, "SCTP5043-6.2-05", SILENT, 0, 0, 0, NULL},
    {empty_write, "SCTP5043-5.2.2-01", RULE_PASS, 1, 0, 0, NULL},
    {version_two, "SCTP5043-5.2.2-01", SILENT, 0, 0, 0, "*"},
    {version_two_after_pad, "SCTP5043-5.2.2-01", SILENT, 0, 0, 0, "*"},
    {two_without_session, "SCTP5043-2-01", RULE_FAIL, 0, 2, ACTIVE, NULL},
    {surplus_is_terminated, "SCTP5043-6.1-02", RULE_PASS, 2, 0, 0, NULL},
    {nothing_to_terminate, "SCTP5043-6.1-02", RULE_FAIL, 2, 1, PASSIVE, NULL},
    {surplus_is_answered, "SCTP5043-6.1-02", RULE_FAIL, 2, 1, PASSIVE, NULL},
    {accepted_and_terminated_twice, "SCTP5043-6.1-02", RULE_FAIL, 4, 1, PASSIVE, NULL},
    {goes_on_after_reject, "SCTP5043-6.1-02", RULE_FAIL, 2, 2, ACTIVE, NULL},
    {longest_data, "SCTP5043-5.2.3-07", RULE_PASS, 1, 0, 0, NULL},
    {longest_data, "EMPA-7-11", SILENT, 0, 0, 0, NULL},
    {longest_enhanced_data, "EMPA-7-11", RULE_PASS, 1, 0, 0, NULL},
    {longest_enhanced_data, "SCTP5043-5.2.3-07", SILENT, 0, 0, 0, NULL},
    {too_long_reject, "EMPA-7-11", RULE_FAIL, 1, 1, PASSIVE, NULL},
    {too_long_reject, "EMPA-7-02", RULE_PASS, 2, 0, 0, "EMPA-7-11"},
};
/* clang-format on */

/* Loop: each case. */
START_TEST(session_rules_count_what_they_judged)
{
    count_case_run(&cases[_i]);
}
END_TEST

static void unacknowledged(struct conversation *c)
{
    open_session(c);
    messages();
    end_both();
}

/*
 * A session of which something was not captured fits no pattern for certain: from there on none is asked for. Loop:
 * whether the capture has SACKs.
 */
START_TEST(patterns_end_with_a_loss)
{
    struct conversation *conversation = conversation_create(NULL);
    size_t rule = rule_find("SCTP5043-6.1-02")->index;
    static struct verdicts verdicts;

    (_i == 0 ? whole_session : unacknowledged)(conversation);
    /* INIT to COOKIE ACK, Initiate, Accept, SACKs or none: then the first Send of five messages and two Terminates */
    ck_assert(conversation_drop(conversation, _i == 0 ? 8 : 6));
    rule_case_judge(conversation, &verdicts);
    conversation_free(conversation);
    rule_case_quiet(&verdicts, NULL, "a loss");
    ck_assert_int_eq(verdicts.verdict[rule], RULE_PASS);
    ck_assert_uint_eq(verdicts.passes[rule],
                      9 - 1 - 5); /* not of the one that is lost, and of what both sides sent after it */
}
END_TEST

/* The finding is of the segment's frame, though the SACK shows it later. */
START_TEST(early_segment_has_its_frame)
{
    struct conversation *conversation = conversation_create(NULL);
    static struct verdicts verdicts;

    segment_before_sack(conversation); /* INIT, INIT ACK, COOKIE ECHO, COOKIE ACK, Initiate, segment */
    rule_case_judge(conversation, &verdicts);
    conversation_free(conversation);
    ck_assert_uint_eq(verdicts.frame[rule_find("SCTP5043-6.6-02")->index], 6);
}
END_TEST

Suite *rules_session_counts_suite(void)
{
    Suite *suite = suite_create("rules_session_counts");
    TCase *tcase = tcase_create("cases");

    tcase_add_loop_test(tcase, session_rules_count_what_they_judged, 0, (int)(sizeof(cases) / sizeof(cases[0])));
    tcase_add_loop_test(tcase, patterns_end_with_a_loss, 0, 2);
    tcase_add_test(tcase, early_segment_has_its_frame);
    suite_add_tcase(suite, tcase);
    return suite;
}
