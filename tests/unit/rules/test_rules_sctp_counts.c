/* SPDX-License-Identifier: BSD-2-Clause */
/* Rules on associations, and those of the draft, counted; what each profile leaves to the other. */
#include <string.h>

#include "tests/unit/count_case.h"
#include "tests/unit/sctp_sessions.h"
#include "tests/unit/sctp_talk.h"

Suite *rules_sctp_counts_suite(void);

/*
 * ---- associations --------------------------------------------------------------------------------------------------
 */

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

/* The INIT is at fault; what it may be answered with is free. */
static void unequal_init(struct conversation *c)
{
    struct sctp_init init;

    begin(c, false);
    init = sctp_talk_init_of(&talk, 0, 1);
    init.inbound = 9;
    sctp_talk_init(&talk, 0, &init);
    init = sctp_talk_init_of(&talk, 1, 1);
    sctp_talk_init(&talk, 1, &init);
}

static void init_ack_alone(struct conversation *c)
{
    struct sctp_init init;

    begin(c, false);
    init = sctp_talk_init_of(&talk, 1, 1);
    sctp_talk_init(&talk, 1, &init);
}

static void one_address_each(struct conversation *c)
{
    struct sctp_init init;

    begin(c, false);
    init = sctp_talk_init_of(&talk, 0, 1);
    init.addresses = 1;
    init.address[0].family = 4;
    init.address[0].octets = (const uint8_t *)"\x0A\0\0\1";
    sctp_talk_init(&talk, 0, &init);
}

/* The indication is there, and is none. */
static void indication_zero(struct conversation *c)
{
    struct sctp_init init;

    begin(c, false);
    init = sctp_talk_init_of(&talk, 0, 1);
    init.adaptation = 0;
    sctp_talk_init(&talk, 0, &init);
    init = sctp_talk_init_of(&talk, 1, 1);
    sctp_talk_init(&talk, 1, &init);
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_INITIATE, "");
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

/*
 * A message of 80 octets is 128 with IP's, SCTP's and the chunk's headers; the first fragment's packet has 92 and
 * `beside`.
 */
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

/*
 * ---- the draft -----------------------------------------------------------------------------------------------------
 */

static void draft_five(struct conversation *c)
{
    open_draft(c);
    messages();
}

static void draft_two_fragments(struct conversation *c)
{
    open_draft(c);
    talk.mtu = 80;
    sctp_talk_send(&talk, 0, 1, 100);
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
        .last = true, .version = DDP_VERSION, .control = rdmap_control(IWARP_RDMAP_SEND), .qn = FLOW_QUEUES, .msn = 9};

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
    {draft_two_fragments, "SCTP-5-01", RULE_FAIL, 0, 2, ACTIVE, NULL},
    {unequal_init, "SCTP5043-8-03", RULE_FAIL, 0, 1, ACTIVE, NULL},
    {init_ack_alone, "SCTP5043-8-03", SILENT, 0, 0, 0, NULL},
    {one_address_each, "SCTP5043-7.2-02", RULE_PASS, 1, 0, 0, NULL},
    {indication_zero, "SCTP5043-5.1-05", RULE_FAIL, 0, 1, ACTIVE, NULL},
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
START_TEST(sctp_rules_count_what_they_judged)
{
    count_case_run(&cases[_i]);
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

static void session(struct conversation *c)
{
    open_session(c);
    messages();
    end_both();
}

/* Loop: a capture that begins in the session, of each profile: DDP-SSNs are not judged from its beginning. */
START_TEST(late_session_is_not_counted)
{
    static const char *const ids[][4] = {{"SCTP5043-5.2.1-02", "SCTP5043-6-03", "SCTP5043-6.1-01", "SCTP5043-6.1-02"},
                                         {"SCTP-6-03", "SCTP-6-04", "SCTP-7.2-14", "SCTP-6-04"}};
    struct conversation *conversation = conversation_create(NULL);
    static struct verdicts verdicts;

    (_i == 0 ? session : draft_five)(conversation);
    conversation_drop_first(conversation, _i == 0 ? 6 : 5);
    rule_case_judge(conversation, &verdicts);
    conversation_free(conversation);
    for (size_t i = 0; i < 4; i++)
        ck_assert_msg(verdicts.verdict[rule_find(ids[_i][i])->index] == SILENT, "%s", ids[_i][i]);
}
END_TEST

Suite *rules_sctp_counts_suite(void)
{
    Suite *suite = suite_create("rules_sctp_counts");
    TCase *tcase = tcase_create("cases");

    tcase_add_loop_test(tcase, sctp_rules_count_what_they_judged, 0, (int)(sizeof(cases) / sizeof(cases[0])));
    tcase_add_loop_test(tcase, each_profile_alone, 0, 2);
    tcase_add_loop_test(tcase, late_session_is_not_counted, 0, 2);
    suite_add_tcase(suite, tcase);
    return suite;
}
