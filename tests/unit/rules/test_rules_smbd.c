/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules on SMB Direct ([MS-SMBD]): one case each. The messages are Sends; their payload begins at octet 18 of the
 * ULPDU. Units: 2 Negotiate Request, 3 Response, which grants two credits, 4 an empty Data Transfer that grants, 5 one
 * with 200 octets of data, which uses the Initiator's last credit and grants one, 6 and 7 answers.
 */
#include <string.h>

#include "base/octets.h"
#include "conformance/flow/ulp/flow_smbd.h"
#include "tests/unit/guard.h"
#include "tests/unit/rule_case.h"
#include "wire/smb2.h"

enum { PAYLOAD = DDP_UNTAGGED_OCTETS, DATA = 200, DATA_AT = 24, FIXED = 48, TOKEN = 0x52, ASKED = 600 };
static const uint64_t memory = 0x10000;

static void send_invalidate(struct conversation *c, unsigned direction, uint32_t msn, const void *octets, size_t count,
                            uint32_t invalidates)
{
    struct ddp_segment segment = {.last = true,
                                  .version = DDP_VERSION,
                                  .control = invalidates != 0 ? 0x44 : 0x43,
                                  .msn = msn,
                                  .ulp_word = invalidates};

    conversation_segment(c, direction, &segment, octets, count);
}

static void send(struct conversation *c, unsigned direction, uint32_t msn, const void *octets, size_t count)
{
    send_invalidate(c, direction, msn, octets, count, 0);
}

static void negotiate_with(struct conversation *c, const struct iwarp_mpa_start *asked,
                           const struct iwarp_mpa_start *granted)
{
    uint8_t request[SMBD_REQUEST_OCTETS] = {0}, response[SMBD_RESPONSE_OCTETS] = {0};

    smbd_request_set_MinVersion(request, SMBD_VERSION);
    smbd_request_set_MaxVersion(request, SMBD_VERSION);
    smbd_request_set_CreditsRequested(request, 10);
    smbd_request_set_PreferredSendSize(request, 1024);
    smbd_request_set_MaxReceiveSize(request, 2048);
    smbd_request_set_MaxFragmentedSize(request, 1 << 20);
    smbd_response_set_MinVersion(response, SMBD_VERSION);
    smbd_response_set_MaxVersion(response, SMBD_VERSION);
    smbd_response_set_NegotiatedVersion(response, SMBD_VERSION);
    smbd_response_set_CreditsRequested(response, 10);
    smbd_response_set_CreditsGranted(response, 2);
    smbd_response_set_MaxReadWriteSize(response, 1 << 20);
    smbd_response_set_PreferredSendSize(response, 1024);
    smbd_response_set_MaxReceiveSize(response, 1024);
    smbd_response_set_MaxFragmentedSize(response, 1 << 20);
    conversation_open(c, 1460);
    conversation_start(c, 0, asked);           /* 0 */
    conversation_start(c, 1, granted);         /* 1 */
    send(c, 0, 1, request, sizeof(request));   /* 2 */
    send(c, 1, 1, response, sizeof(response)); /* 3 */
}

static void negotiate(struct conversation *c)
{
    negotiate_with(c, &plain_request, &plain_reply);
}

static void transfer(struct conversation *c, unsigned direction, uint32_t msn, unsigned granted, size_t data)
{
    uint8_t octets[DATA_AT + DATA] = {0};

    smbd_data_set_CreditsRequested(octets, 10);
    smbd_data_set_CreditsGranted(octets, granted);
    smbd_data_set_DataOffset(octets, data != 0 ? DATA_AT : 0);
    smbd_data_set_DataLength(octets, data);
    send(c, direction, msn, octets, data != 0 ? DATA_AT + data : SMBD_DATA_OCTETS);
}

static void end(struct conversation *c)
{
    conversation_close(c, 0, false);
    conversation_close(c, 1, false);
}

/* ---- SMB2 -------------------------------------------------------------------------------------------------------- */

/* An SMB2 READ or WRITE request of the Initiator behind the header of a Data Transfer, or the answer to one. */
struct smb2_case {
    unsigned command, channel; /* channel: of a request */
    bool response;
    uint32_t status; /* of a response */
    uint32_t invalidates;
};

static void smb2(struct conversation *c, uint32_t msn, const struct smb2_case *said)
{
    uint8_t octets[DATA_AT + SMB2_HEADER_OCTETS + FIXED + SMBD_DESCRIPTOR_OCTETS] = {0};
    uint8_t *header = octets + DATA_AT, *descriptor = header + SMB2_HEADER_OCTETS + FIXED;
    size_t count = SMB2_HEADER_OCTETS + (said->response ? 16 : FIXED + SMBD_DESCRIPTOR_OCTETS);
    size_t info = said->command == SMB2_READ ? 108 : 104;

    smbd_data_set_CreditsRequested(octets, 10);
    smbd_data_set_CreditsGranted(octets, 4);
    smbd_data_set_DataOffset(octets, DATA_AT);
    smbd_data_set_DataLength(octets, count);
    memcpy(header, "\xFESMB\x40", 5);
    octets_put32_little(header + 8, said->status);
    header[12] = (uint8_t)said->command;
    header[16] = said->response;
    header[24] = (uint8_t)said->command; /* MessageId */
    if (!said->response) {
        header[said->command == SMB2_READ ? 100 : 96] = (uint8_t)said->channel;
        header[info] = SMB2_HEADER_OCTETS + FIXED;
        header[info + 2] = SMBD_DESCRIPTOR_OCTETS;
        smbd_descriptor_set_Offset(descriptor, memory);
        smbd_descriptor_set_Token(descriptor, TOKEN + said->command);
        smbd_descriptor_set_Length(descriptor, ASKED);
    }
    send_invalidate(c, said->response, msn, octets, DATA_AT + count, said->invalidates);
}

static void written(struct conversation *c, unsigned direction)
{
    conversation_tagged(c, direction, IWARP_RDMAP_WRITE, TOKEN + SMB2_READ, memory, true, ASKED);
}

/* A Read of the Responder; its Response brings `count` octets. */
static void read_from(struct conversation *c, uint32_t msn, uint32_t stag, uint32_t count, bool answered)
{
    struct ddp_segment segment = {.last = true,
                                  .version = DDP_VERSION,
                                  .control = rdmap_control(IWARP_RDMAP_READ_REQUEST),
                                  .qn = DDP_QN_READ_REQUEST,
                                  .msn = msn};
    struct read_request read = {0x51, UINT64_C(0x1000) * msn, count, stag, memory};
    uint8_t octets[READ_REQUEST_OCTETS];

    read_request_pack(&read, octets);
    conversation_segment(c, 1, &segment, octets, sizeof(octets));
    if (answered)
        conversation_tagged(c, 0, IWARP_RDMAP_READ_RESPONSE, 0x51, UINT64_C(0x1000) * msn, true, count);
}

static void shares(struct conversation *c, unsigned channel)
{
    negotiate(c);
    smb2(c, 2, &(struct smb2_case){SMB2_READ, channel, false, 0, 0}); /* 4 */
    written(c, 1);                                                    /* 5 */
    smb2(c, 2, &(struct smb2_case){SMB2_READ, 0, true, SMB2_STATUS_PENDING, 0});
    smb2(c, 3, &(struct smb2_case){SMB2_READ, 0, true, 0, channel == SMB2_CHANNEL_INVALIDATE ? TOKEN + SMB2_READ : 0});
    smb2(c, 3, &(struct smb2_case){SMB2_WRITE, SMB2_CHANNEL_RDMA, false, 0, 0}); /* 8 */
    read_from(c, 1, TOKEN + SMB2_WRITE, ASKED, true);                            /* 9, 10 */
    smb2(c, 4, &(struct smb2_case){SMB2_WRITE, 0, true, 0, 0});                  /* 11 */
}

static void shared(struct conversation *c)
{
    shares(c, SMB2_CHANNEL_INVALIDATE);
    end(c);
}

static void written_late(struct conversation *c)
{
    shares(c, SMB2_CHANNEL_RDMA);
    written(c, 1);
    end(c);
}

static void written_after_pending(struct conversation *c)
{
    negotiate(c);
    smb2(c, 2, &(struct smb2_case){SMB2_READ, SMB2_CHANNEL_RDMA, false, 0, 0});
    smb2(c, 2, &(struct smb2_case){SMB2_READ, 0, true, SMB2_STATUS_PENDING, 0});
    written(c, 1);
    smb2(c, 3, &(struct smb2_case){SMB2_READ, 0, true, 0, 0});
    end(c);
}

static void written_by_the_client(struct conversation *c)
{
    shares(c, SMB2_CHANNEL_RDMA);
    written(c, 0);
    end(c);
}

/* Memory that a WRITE request has named is written, not read. */
static void written_where_read(struct conversation *c)
{
    negotiate(c);
    smb2(c, 2, &(struct smb2_case){SMB2_WRITE, SMB2_CHANNEL_RDMA, false, 0, 0});
    conversation_tagged(c, 1, IWARP_RDMAP_WRITE, TOKEN + SMB2_WRITE, memory, true, ASKED);
    end(c);
}

/* ---- conversations ----------------------------------------------------------------------------------------------- */

static void healthy(struct conversation *c)
{
    negotiate(c);
    transfer(c, 0, 2, 3, 0);    /* 4 */
    transfer(c, 0, 3, 1, DATA); /* 5 */
    transfer(c, 1, 2, 5, DATA); /* 6 */
    transfer(c, 1, 3, 0, 8);    /* 7 */
    end(c);
}

/* The second message has no header. */
static void short_message(struct conversation *c)
{
    static const uint8_t octets[12];

    negotiate(c);
    transfer(c, 0, 2, 3, 0);
    send(c, 0, 3, octets, sizeof(octets));
    transfer(c, 1, 2, 5, DATA);
    transfer(c, 1, 3, 0, 8);
    end(c);
}

/*
 * IRD 2 and ORD 1 of the Initiator, in network order; IRD 1 and ORD 2 of the Responder, least octet first. The Responder
 * has so many Reads open.
 */
static void reads_open(struct conversation *c, const struct iwarp_mpa_start *asked,
                       const struct iwarp_mpa_start *granted, uint32_t count)
{
    static const uint8_t asks[] = {0, 0, 0, 2, 0, 0, 0, 1}, grants[] = {1, 0, 0, 0, 2, 0, 0, 0};
    struct iwarp_mpa_start request = *asked, reply = *granted;

    request.private_data = asks;
    request.private_octets = sizeof(asks);
    reply.private_data = grants;
    reply.private_octets = sizeof(grants);
    negotiate_with(c, &request, &reply);
    smb2(c, 2, &(struct smb2_case){SMB2_WRITE, SMB2_CHANNEL_RDMA, false, 0, 0});
    for (uint32_t msn = 1; msn <= count; msn++)
        read_from(c, msn, TOKEN + SMB2_WRITE, 16, false);
    end(c);
}

static void depths_kept(struct conversation *c)
{
    reads_open(c, &plain_request, &plain_reply, 2);
}

static void depths_exceeded(struct conversation *c)
{
    reads_open(c, &plain_request, &plain_reply, 3);
}

/* clang-format off */
const struct rule_case rules_smbd_cases[] = {
    {"SMBD-2.2.3-01",   healthy, NULL, CONTENT(5, PAYLOAD + 4, 2), RULE_FAIL, "", RULE_PASS, ""},
    {"SMBD-2.2.3.1-01", shared,  NULL, CONTENT(5, 5, 9), RULE_FAIL, "", RULE_PASS, ""},
    {"SMBD-2.2.3.1-01", shared,  written_by_the_client, NO_CHANGE, RULE_FAIL, "", RULE_PASS, ""},
    {"SMBD-2.2.3.1-01", shared,  written_where_read, NO_CHANGE, RULE_FAIL, "", RULE_PASS, ""},
    {"SMBD-2.2.3.1-02", shared,  NULL, CONTENT(5, 13, 200), RULE_FAIL, "", RULE_PASS, ""},
    {"SMBD-3.1.4.2-01", shared,  NULL, CONTENT(4, PAYLOAD + DATA_AT + 100, 1), RULE_FAIL, "", RULE_PASS, ""},
    {"SMBD-3.1.4.4-01", written_after_pending, written_late, NO_CHANGE, RULE_FAIL, "", RULE_PASS, ""},
    {"SMBD-3.1.5.1-01", healthy, NULL, CONTENT(3, PAYLOAD + 10, 1), RULE_FAIL, "", RULE_PASS, ""},
    {"SMBD-3.1.5.1-02", healthy, NULL, CONTENT(5, PAYLOAD + 2, 0), RULE_FAIL, "", RULE_PASS, ""},
    {"SMBD-3.1.5.1-03", healthy, NULL, CONTENT(3, PAYLOAD + 24, 0x80, 0), RULE_FAIL, "", RULE_PASS, ""},
    {"SMBD-3.1.5.6-01", healthy, NULL, CONTENT(2, PAYLOAD + 6, 0), RULE_FAIL, "", RULE_PASS, ""},
    {"SMBD-3.1.5.6-02", healthy, NULL, CONTENT(2, PAYLOAD + 12, 0x7F, 0), RULE_FAIL, "SMBD-3.1.5.7-06 SMBD-3.1.5.1-03", RULE_PASS, ""},
    {"SMBD-3.1.5.6-03", healthy, NULL, CONTENT(2, PAYLOAD + 16, 0, 0, 1), RULE_FAIL, "", RULE_PASS, ""},
    {"SMBD-3.1.5.7-01", healthy, NULL, CONTENT(3, PAYLOAD + 4, 0, 0), RULE_FAIL, "", RULE_PASS, ""},
    {"SMBD-3.1.5.7-02", healthy, NULL, CONTENT(3, PAYLOAD + 24, 0x7F, 0), RULE_FAIL, "SMBD-3.1.5.1-03", RULE_PASS, ""},
    {"SMBD-3.1.5.7-03", healthy, NULL, CONTENT(3, PAYLOAD + 28, 0, 0, 1), RULE_FAIL, "", RULE_PASS, ""},
    {"SMBD-3.1.5.7-04", healthy, NULL, CONTENT(3, PAYLOAD + 10, 0), RULE_FAIL, "SMBD-3.1.5.1-01", RULE_PASS, ""},
    {"SMBD-3.1.5.7-05", healthy, NULL, CONTENT(3, PAYLOAD + 8, 0), RULE_FAIL, "", RULE_PASS, ""},
    {"SMBD-3.1.5.7-06", healthy, NULL, CONTENT(3, PAYLOAD + 20, 0, 0x10), RULE_FAIL, "", RULE_PASS, ""},
    {"SMBD-3.1.5.8-01", healthy, short_message, NO_CHANGE, RULE_FAIL, "", RULE_PASS, ""},
    {"SMBD-3.1.5.8-02", healthy, NULL, CONTENT(5, PAYLOAD + 0, 0), RULE_FAIL, "", RULE_PASS, ""},
    {"SMBD-3.1.5.8-03", healthy, NULL, CONTENT(5, PAYLOAD + 12, 20), RULE_FAIL, "", RULE_PASS, ""},
    {"SMBD-3.1.5.8-04", healthy, NULL, CONTENT(5, PAYLOAD + 16, DATA + 1), RULE_FAIL, "", RULE_PASS, ""},
    {"SMBD-3.1.5.8-05", healthy, NULL, CONTENT(5, PAYLOAD + 8, 0, 0, 0x10), RULE_FAIL, "", RULE_PASS, ""},
    {"SMBD-A-01",       depths_kept, depths_exceeded, NO_CHANGE, RULE_WARN, "", RULE_PASS, ""},
    {.id = NULL},
};
/* clang-format on */

START_TEST(case_of_the_smb_direct_rules)
{
    rule_case_run(&rules_smbd_cases[_i]);
}
END_TEST

/* ---- recognition ------------------------------------------------------------------------------------------------- */

static unsigned exercised(const struct conversation *conversation)
{
    static struct verdicts verdicts;
    unsigned count = 0;

    rule_case_judge(conversation, &verdicts);
    for (size_t i = 0; i < rule_count(); i++)
        count += strncmp(rule_at(i)->id, "SMBD-", 5) == 0 && verdicts.verdict[i] >= 0;
    return count;
}

START_TEST(depths_are_two_small_numbers)
{
    static const struct {
        size_t count;
        uint8_t octets[9];
        bool are, little;
        uint16_t ird, ord;
    } cases[] = {
        {8, {0, 0, 0, 16, 0, 0, 0, 1}, true, false, 16, 1},
        {8, {0, 0, 0x3F, 0xFE, 0, 0, 0, 0}, true, false, 0x3FFE, 0},
        {8, {16, 0, 0, 0, 1, 0, 0, 0}, true, true, 16, 1},
        {8, {0xFE, 0x3F, 0, 0, 0, 0, 0, 0}, true, true, 0x3FFE, 0},
        {8, {0, 0, 0x3F, 0xFF, 0, 0, 0, 1}, false, false, 0, 0},
        {8, {0xFF, 0x3F, 0, 0, 1, 0, 0, 0}, false, false, 0, 0},
        {8, {0, 0, 0, 0, 0, 0, 0, 0}, false, false, 0, 0},
        {8, {0xF6, 0xAB, 0x0E, 0x18, 1, 0, 3, 3}, false, false, 0, 0}, /* RFC 8797 */
        {7, {0, 0, 0, 16, 0, 0, 0}, false, false, 0, 0},
        {9, {0, 0, 0, 16, 0, 0, 0, 1, 0}, false, false, 0, 0},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint8_t *placed = guard_place(cases[i].octets, cases[i].count);
        struct smbd_depths depths = {0};
        bool are = smbd_depths_read(placed, cases[i].count, &depths);

        ck_assert_msg(are == cases[i].are, "%zu", i);
        ck_assert_msg(
            !are || (depths.little == cases[i].little && depths.ird == cases[i].ird && depths.ord == cases[i].ord),
            "%zu", i);
        guard_free(placed, cases[i].count);
    }
}
END_TEST

/* With RFC 6581's word in one frame, what stands behind it is the ULP's. Loop: in whose. */
START_TEST(depths_count_where_there_is_no_word)
{
    struct iwarp_mpa_start word = _i == 0 ? enhanced_request : enhanced_reply;
    struct conversation *c = conversation_create(NULL);
    static struct verdicts verdicts;

    word.peer_to_peer = word.rtr_write = false;
    reads_open(c, _i == 0 ? &word : &plain_request, _i == 1 ? &word : &plain_reply, 3);
    rule_case_judge(c, &verdicts);
    ck_assert_int_ge(verdicts.verdict[rule_find("SMBD-3.1.5.6-01")->index], 0); /* it is SMB Direct all the same */
    ck_assert_int_lt(verdicts.verdict[rule_find("SMBD-A-01")->index], 0);
    conversation_free(c);
}
END_TEST

START_TEST(another_version_is_not_smb_direct)
{
    const struct conversation_change change = CONTENT(2, PAYLOAD + 2, 1, 1);
    struct conversation *c = conversation_create(&change);

    healthy(c);
    ck_assert_uint_eq(exercised(c), 0);
    conversation_free(c);
}
END_TEST

/* What answers is no Response: rules on the Request have spoken, those on Data Transfers never do. */
START_TEST(another_answer_is_not_smb_direct)
{
    const struct conversation_change change = CONTENT(3, PAYLOAD + 0, 7);
    struct conversation *c = conversation_create(&change);

    healthy(c);
    ck_assert_uint_eq(exercised(c), 3);
    conversation_free(c);
}
END_TEST

START_TEST(a_refusal_establishes_nothing)
{
    const struct conversation_change change = CONTENT(3, PAYLOAD + 12, 0xBB, 0, 0, 0xC0);
    struct conversation *c = conversation_create(&change);

    healthy(c);
    ck_assert_uint_eq(exercised(c), 3);
    conversation_free(c);
}
END_TEST

/* A grant that the capture lacks may have come: who holds which credits is not known. */
START_TEST(credits_are_not_judged_after_a_loss)
{
    struct conversation *c = conversation_create(NULL);
    static struct verdicts verdicts;

    negotiate(c);
    transfer(c, 0, 2, 3, 0);
    transfer(c, 1, 2, 5, DATA);
    for (uint32_t msn = 3; msn < 9; msn++)
        transfer(c, 0, msn, 1, 8);
    end(c);
    ck_assert(conversation_drop(c, 8)); /* the Responder's message */
    rule_case_judge(c, &verdicts);
    ck_assert_int_ne(verdicts.verdict[rule_find("SMBD-3.1.5.1-01")->index], RULE_FAIL);
    conversation_free(c);
}
END_TEST

/* What cannot be read may have advertised anything: a Write to no known buffer is then none of these rules'. */
START_TEST(buffers_are_not_judged_where_smb2_cannot_be_read)
{
    static const struct conversation_change changes[] = {
        CONTENT(8, PAYLOAD + DATA_AT + 0, 0xFD),  /* encrypted */
        CONTENT(8, PAYLOAD + DATA_AT + 0, 0xFC),  /* compressed */
        CONTENT(8, PAYLOAD + DATA_AT + 4, 0x41),  /* another header */
        CONTENT(8, PAYLOAD + DATA_AT + 20, 0xFF), /* the next message of a compound is in another segment */
        CONTENT(8, PAYLOAD + DATA_AT + 96, 3),    /* transformed */
    };
    struct conversation *c = conversation_create(&changes[_i]);
    static struct verdicts verdicts;

    written_by_the_client(c);
    rule_case_judge(c, &verdicts);
    ck_assert_int_ne(verdicts.verdict[rule_find("SMBD-2.2.3.1-01")->index], RULE_FAIL);
    ck_assert_int_ge(verdicts.verdict[rule_find("SMBD-3.1.5.8-01")->index], 0);
    conversation_free(c);
}
END_TEST

Suite *rules_smbd_suite(void);

Suite *rules_smbd_suite(void)
{
    Suite *suite = suite_create("rules_smbd");
    TCase *cases = tcase_create("cases");

    tcase_add_loop_test(cases, case_of_the_smb_direct_rules, 0,
                        (int)(sizeof(rules_smbd_cases) / sizeof(rules_smbd_cases[0])) - 1);
    tcase_add_test(cases, depths_are_two_small_numbers);
    tcase_add_loop_test(cases, depths_count_where_there_is_no_word, 0, 2);
    tcase_add_test(cases, another_version_is_not_smb_direct);
    tcase_add_test(cases, another_answer_is_not_smb_direct);
    tcase_add_test(cases, a_refusal_establishes_nothing);
    tcase_add_test(cases, credits_are_not_judged_after_a_loss);
    tcase_add_loop_test(cases, buffers_are_not_judged_where_smb2_cannot_be_read, 0, 5);
    suite_add_tcase(suite, cases);
    return suite;
}
