/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the rules on SCTP find, and how often each is exercised, counted by hand from RFC 5043, RFC 6581 7 and the
 * draft: limits at their value and one beyond it, conditions of which one holds and the other does not. A rule that
 * passes what it should not look at is seen by its count.
 */
#include <stdio.h>
#include <string.h>

#include "tests/unit/rule_case.h"
#include "tests/unit/sctp_sessions.h"
#include "tests/unit/sctp_talk.h"

Suite *rules_session_counts_suite(void);

enum { SILENT = -1, ACTIVE = 0, PASSIVE = 1 };

struct count_case {
    build_function *build;
    const char *id;
    int verdict; /* SILENT: the rule was not exercised */
    uint64_t passes, findings;
    int direction;    /* of the findings */
    const char *also; /* what other rules find; "*": whatever it is */
};

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

/* ---- RFC 5043 6: a session as it should be ------------------------------------------------------------------------ */

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

/* ---- RFC 5043 6.2: the end ---------------------------------------------------------------------------------------- */

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

/* ---- RFC 5043 6.1, 6.3: patterns ---------------------------------------------------------------------------------- */

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

/* ---- RFC 5043 5.2.3, RFC 6581 7: 512 octets ------------------------------------------------------------------------ */

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

/* ---- associations -------------------------------------------------------------------------------------------------- */

static void init_ack_streams(struct conversation *c, uint16_t outbound, uint16_t inbound)
{
    struct sctp_init init;

    begin(c, false);
    init = sctp_talk_init_of(&talk, 0, 1);
    sctp_talk_init(&talk, 0, &init);
    init = sctp_talk_init_of(&talk, 1, 1);
    init.outbound = outbound;
    init.inbound = inbound;
    sctp_talk_init(&talk, 1, &init);
}

/* The initiator has 4 of each: more in one direction of the answer cannot be used (RFC 9260 5.1.1). */
static void more_inbound_than_used(struct conversation *c)
{
    init_ack_streams(c, 4, 9);
}

static void more_outbound_than_used(struct conversation *c)
{
    init_ack_streams(c, 9, 4);
}

static void other_user_ppid(struct conversation *c)
{
    open_session(c);
    sctp_talk_user(&talk, 0, 2, 0x10000005, "plain", 5);
}

static void fragmented(struct conversation *c)
{
    open_session(c);
    talk.mtu = 50;
    sctp_talk_send(&talk, 0, 1, 100);
}

static void foreign_data(struct conversation *c)
{
    open_session(c);
    sctp_talk_user(&talk, 0, 2, 99, "plain", 5);
}

static void fragment(size_t beside, bool first)
{
    static const uint8_t octets[40] = {0, 1, 0x41, 0x43};
    static const uint8_t info[64] = {0, 1, 0, 36};
    struct sctp_data data = {.unordered = true,
                             .first = first,
                             .last = !first,
                             .sid = 1,
                             .ppid = DDP_SCTP_PPID_SEGMENT,
                             .user = octets,
                             .user_octets = sizeof(octets)};

    talk.bundling = true;
    sctp_talk_chunk(&talk, 0, SCTP_HEARTBEAT, info, beside);
    data.tsn = talk.tsn[0]++;
    sctp_packet_data(&talk.packet, &data);
    sctp_talk_flush(&talk);
    talk.bundling = false;
}

/* A message of 80 octets is 128 with IP's, SCTP's and the chunk's headers; the first fragment's packet has 92 and `beside`. */
static void beside_heartbeat(struct conversation *c, size_t beside)
{
    open_session(c);
    fragment(beside, true);
    fragment(4, false);
}

static void fits_exactly(struct conversation *c)
{
    beside_heartbeat(c, 36);
}

static void fits_not(struct conversation *c)
{
    beside_heartbeat(c, 32);
}

/* ---- the draft ----------------------------------------------------------------------------------------------------- */

static void draft_five(struct conversation *c)
{
    open_draft(c);
    messages();
}

static void draft_same_ssn(struct conversation *c)
{
    open_draft(c);
    sctp_talk_send(&talk, 0, 1, 10);
    talk.ssn[0][1]--;
    sctp_talk_write(&talk, 0, 1, 10);
}

static void draft_reset(struct conversation *c)
{
    open_draft(c);
    sctp_talk_send(&talk, 0, 1, 10);
    sctp_talk_reset(&talk, 0, 1, DDP_SCTP_PPID_DRAFT_CONTROL);
}

/* Only the first untagged message of a queue says whether MSNs restarted. */
static void draft_after_reset(struct conversation *c)
{
    draft_reset(c);
    sctp_talk_write(&talk, 0, 1, 10);
    sctp_talk_send(&talk, 0, 1, 10);
    sctp_talk_send(&talk, 0, 1, 10);
}

static void draft_other_queue(struct conversation *c)
{
    struct ddp_segment header = {
        .last = true, .version = DDP_VERSION, .control = rdmap_control(RDMAP_SEND), .qn = FLOW_QUEUES, .msn = 9};

    draft_reset(c);
    sctp_talk_segment(&talk, 0, 1, &header, NULL, 20);
}

static void draft_turned_indication(struct conversation *c)
{
    struct sctp_init init;

    begin(c, true);
    init = sctp_talk_init_of(&talk, 0, 2);
    sctp_talk_init(&talk, 0, &init);
    init = sctp_talk_init_of(&talk, 1, 0x01000000);
    sctp_talk_init(&talk, 1, &init);
}

/* The parameter has 12 octets. */
static void draft_long_indication(struct conversation *c)
{
    static const uint8_t value[] = {0xAB, 0xCD, 0,    1, 0, 1,  0, 0, 0, 4, 0, 4, 0, 0,
                                    0,    1,    0xC0, 6, 0, 12, 0, 0, 0, 1, 0, 0, 0, 0};
    struct sctp_init init;

    begin(c, true);
    init = sctp_talk_init_of(&talk, 0, 2);
    sctp_talk_init(&talk, 0, &init);
    sctp_talk_chunk(&talk, 1, SCTP_INIT_ACK, value, sizeof(value));
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
    {more_inbound_than_used, "SCTP5043-8-03", RULE_PASS, 2, 0, 0, NULL},
    {more_outbound_than_used, "SCTP5043-8-03", RULE_PASS, 2, 0, 0, NULL},
    {other_user_ppid, "SCTP5043-5.1-01", RULE_FAIL, 2, 1, ACTIVE, NULL},
    {other_user_ppid, "SCTP5043-5.2-01", RULE_PASS, 2, 0, 0, "SCTP5043-5.1-01"},
    {fragmented, "SCTP5043-5.1-01", RULE_PASS, 3, 0, 0, NULL},
    {fragmented, "SCTP5043-5.1-05", RULE_PASS, 3, 0, 0, NULL},
    {fragmented, "SCTP5043-5.2-01", RULE_PASS, 3, 0, 0, NULL},
    {fragmented, "SCTP5043-9-05", RULE_PASS, 2, 0, 0, NULL},
    {foreign_data, "SCTP5043-5.1-05", RULE_PASS, 2, 0, 0, "SCTP5043-5.1-01"},
    {fits_exactly, "SCTP5043-9-05", RULE_FAIL, 2, 1, ACTIVE, "*"},
    {fits_not, "SCTP5043-9-05", RULE_PASS, 2, 0, 0, "*"},
    {draft_five, "SCTP-6-04", RULE_PASS, 3, 0, 0, NULL},
    {draft_five, "SCTP-6-03", RULE_PASS, 2, 0, 0, NULL},
    {draft_five, "SCTP-6-02", RULE_PASS, 5, 0, 0, NULL},
    {draft_five, "SCTP-6-05", RULE_PASS, 5, 0, 0, NULL},
    {draft_five, "SCTP-5-01", RULE_PASS, 5, 0, 0, NULL},
    {draft_five, "SCTP-2.1-01", RULE_PASS, 5, 0, 0, NULL},
    {draft_five, "SCTP-2.1-03", RULE_PASS, 2, 0, 0, NULL},
    {draft_five, "SCTP-2.1-05", RULE_PASS, 5, 0, 0, NULL},
    {draft_five, "SCTP-2.2-01", RULE_PASS, 5, 0, 0, NULL},
    {draft_five, "SCTP-2.2-08", RULE_PASS, 5, 0, 0, NULL},
    {draft_five, "SCTP-7.2-14", SILENT, 0, 0, 0, NULL},
    {draft_same_ssn, "SCTP-6-04", RULE_FAIL, 0, 1, ACTIVE, NULL},
    {draft_reset, "SCTP-2.2-03", RULE_PASS, 1, 0, 0, NULL},
    {draft_reset, "SCTP-2.2-05", RULE_PASS, 1, 0, 0, NULL},
    {draft_after_reset, "SCTP-7.2-14", RULE_PASS, 1, 0, 0, NULL},
    {draft_other_queue, "SCTP-7.2-14", SILENT, 0, 0, 0, "*"},
    {draft_turned_indication, "SCTP-2.1-03", RULE_FAIL, 1, 1, PASSIVE, NULL},
    {draft_long_indication, "SCTP-2.1-03", RULE_FAIL, 1, 1, PASSIVE, "*"},
};
/* clang-format on */

/* Loop: each case. */
START_TEST(counted)
{
    const struct count_case *tried = &cases[_i];
    struct conversation *conversation = conversation_create(NULL);
    size_t rule = rule_find(tried->id)->index;
    static struct verdicts verdicts;
    char allowed[128];

    tried->build(conversation);
    rule_case_judge(conversation, &verdicts);
    conversation_free(conversation);
    (void)snprintf(allowed, sizeof(allowed), "%s %s", tried->id, tried->also != NULL ? tried->also : "");
    if (tried->also == NULL || strcmp(tried->also, "*") != 0)
        rule_case_quiet(&verdicts, allowed, tried->id);
    ck_assert_msg(verdicts.verdict[rule] == tried->verdict, "%s: verdict %d, due %d: %s", tried->id,
                  verdicts.verdict[rule], tried->verdict, verdicts.message[rule]);
    ck_assert_msg(verdicts.passes[rule] == tried->passes && verdicts.findings[rule] == tried->findings,
                  "%s: %llu passes, %llu findings; due %llu, %llu", tried->id,
                  (unsigned long long)verdicts.passes[rule], (unsigned long long)verdicts.findings[rule],
                  (unsigned long long)tried->passes, (unsigned long long)tried->findings);
    if (tried->findings != 0)
        ck_assert_int_eq(verdicts.direction[rule], tried->direction);
}
END_TEST

/* Loop: rules of the one profile have nothing to say of an association by the other. */
START_TEST(each_profile_alone)
{
    struct conversation *conversation = conversation_create(NULL);
    const char *other = _i == 0 ? "SCTP-" : "SCTP5043-";
    static struct verdicts verdicts;

    (_i == 0 ? sessions : drafts)(conversation);
    rule_case_judge(conversation, &verdicts);
    conversation_free(conversation);
    for (size_t i = 0; i < rule_count(); i++)
        ck_assert_msg(strncmp(rule_at(i)->id, other, strlen(other)) != 0 || verdicts.verdict[i] == SILENT, "%s: %d",
                      rule_at(i)->id, verdicts.verdict[i]);
}
END_TEST

/* The finding is of the segment's frame, though the SACK tells of it later. */
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

/* Loop: a capture that begins in the session, of each profile: DDP-SSNs are not judged from its beginning. */
START_TEST(late_session_is_not_counted)
{
    static const char *const ids[][4] = {{"SCTP5043-5.2.1-02", "SCTP5043-6-03", "SCTP5043-6.1-01", "SCTP5043-6.1-02"},
                                         {"SCTP-6-03", "SCTP-6-04", "SCTP-7.2-14", "SCTP-6-04"}};
    struct conversation *conversation = conversation_create(NULL);
    static struct verdicts verdicts;

    (_i == 0 ? whole_session : draft_five)(conversation);
    conversation_drop_first(conversation, _i == 0 ? 6 : 5);
    rule_case_judge(conversation, &verdicts);
    conversation_free(conversation);
    for (size_t i = 0; i < 4; i++)
        ck_assert_msg(verdicts.verdict[rule_find(ids[_i][i])->index] == SILENT, "%s", ids[_i][i]);
}
END_TEST

Suite *rules_session_counts_suite(void)
{
    Suite *suite = suite_create("rules_session_counts");
    TCase *tcase = tcase_create("cases");

    tcase_add_loop_test(tcase, counted, 0, (int)(sizeof(cases) / sizeof(cases[0])));
    tcase_add_loop_test(tcase, each_profile_alone, 0, 2);
    tcase_add_test(tcase, early_segment_has_its_frame);
    tcase_add_loop_test(tcase, late_session_is_not_counted, 0, 2);
    suite_add_tcase(suite, tcase);
    return suite;
}
