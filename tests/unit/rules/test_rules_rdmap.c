/* SPDX-License-Identifier: BSD-2-Clause */
/* Rules on RDMAP's octets and on RDMA Reads (RFC 5040 4 and 5): one case each. */
#include "tests/unit/rule_case.h"

static void begin(struct conversation *c)
{
    conversation_open(c, 1460);
    conversation_start(c, 0, &plain_request);
    conversation_start(c, 1, &plain_reply);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 1, 0, true, 20);
    conversation_send(c, 1, IWARP_RDMAP_SEND, 1, 0, true, 20);
}

static void segment(struct conversation *c, unsigned direction, bool tagged, enum iwarp_rdmap_opcode opcode,
                    uint32_t qn, uint32_t msn, bool last, uint32_t mo, size_t octets)
{
    struct ddp_segment header = {.tagged = tagged,
                                 .last = last,
                                 .version = DDP_VERSION,
                                 .control = rdmap_control(opcode),
                                 .qn = qn,
                                 .msn = msn,
                                 .mo = mo,
                                 .stag = 7};

    conversation_segment(c, direction, &header, NULL, octets);
}

static void untagged_write(struct conversation *c)
{
    begin(c);
    segment(c, 0, false, IWARP_RDMAP_WRITE, 0, 2, true, 0, 20);
}

static void tagged_read_request(struct conversation *c)
{
    begin(c);
    segment(c, 0, true, IWARP_RDMAP_READ_REQUEST, 0, 0, true, 0, 28);
}

static void untagged_response(struct conversation *c)
{
    begin(c);
    segment(c, 1, false, IWARP_RDMAP_READ_RESPONSE, 0, 2, true, 0, 20);
}

static void tagged_send(struct conversation *c)
{
    begin(c);
    segment(c, 0, true, IWARP_RDMAP_SEND, 0, 0, true, 0, 20);
}

static const struct terminate crc_error = {.triple = TERM_MPA_CRC};

static void terminated(struct conversation *c)
{
    begin(c);
    conversation_terminate(c, 1, &crc_error);
    conversation_close(c, 1, false);
}

static void tagged_terminate(struct conversation *c)
{
    begin(c);
    segment(c, 1, true, IWARP_RDMAP_TERMINATE, 0, 0, true, 0, 4);
}

static void terminate_on_queue_0(struct conversation *c)
{
    static const uint8_t control[4] = {0x20, 0x02};
    struct ddp_segment header = {
        .last = true, .version = DDP_VERSION, .control = rdmap_control(IWARP_RDMAP_TERMINATE), .qn = 0, .msn = 2};

    begin(c);
    conversation_segment(c, 1, &header, control, sizeof(control));
}

static void talks_on(struct conversation *c)
{
    begin(c);
    conversation_terminate(c, 1, &crc_error);
    conversation_send(c, 1, IWARP_RDMAP_SEND, 2, 0, true, 20);
}

static void short_read_request(struct conversation *c)
{
    begin(c);
    segment(c, 0, false, IWARP_RDMAP_READ_REQUEST, 1, 1, true, 0, 27);
}

static void long_read_request(struct conversation *c)
{
    begin(c);
    segment(c, 0, false, IWARP_RDMAP_READ_REQUEST, 1, 1, true, 0, 32);
}

static void split_read_request(struct conversation *c)
{
    begin(c);
    segment(c, 0, false, IWARP_RDMAP_READ_REQUEST, 1, 1, false, 0, 12);
    segment(c, 0, false, IWARP_RDMAP_READ_REQUEST, 1, 1, true, 12, 16);
}

static void too_many_reads(struct conversation *c, unsigned direction)
{
    conversation_open(c, 1460);
    conversation_start(c, 0, &enhanced_request);
    conversation_start(c, 1, &enhanced_reply);
    conversation_tagged(c, 0, IWARP_RDMAP_WRITE, 0, 0, true, 0);
    for (uint32_t msn = 1; msn < 4; msn++)
        conversation_read(c, direction, msn, 0x1111, 0x2000 * msn, 10);
}

static void initiator_reads(struct conversation *c)
{
    too_many_reads(c, 0);
}

static void responder_reads(struct conversation *c)
{
    too_many_reads(c, 1);
}

static void unrequested_response(struct conversation *c)
{
    begin(c);
    conversation_tagged(c, 1, IWARP_RDMAP_READ_RESPONSE, 0x1111, 0x2000, true, 20);
}

static void responses_exchanged(struct conversation *c)
{
    begin(c);
    conversation_read(c, 0, 1, 0x1111, 0x2000, 20);
    conversation_read(c, 0, 2, 0x2222, 0x3000, 30);
    conversation_tagged(c, 1, IWARP_RDMAP_READ_RESPONSE, 0x2222, 0x3000, true, 30);
    conversation_tagged(c, 1, IWARP_RDMAP_READ_RESPONSE, 0x1111, 0x2000, true, 20);
}

/* A Read Response in falling order of its segments: what counts is its lowest TO. */
static void falling_response(struct conversation *c, uint64_t to)
{
    begin(c);
    conversation_read(c, 0, 1, 0x1111, 0x2000, 150);
    conversation_tagged(c, 1, IWARP_RDMAP_READ_RESPONSE, 0x1111, to + 50, false, 100);
    conversation_tagged(c, 1, IWARP_RDMAP_READ_RESPONSE, 0x1111, to, true, 50);
}

static void falling(struct conversation *c)
{
    falling_response(c, 0x2000);
}

static void falling_beyond(struct conversation *c)
{
    falling_response(c, 0x2008);
}

const struct rule_case rules_rdmap_cases[] = {
    {"RDMAP-4.1-17", plain_conversation, NULL, CONTENT(21, 1, 0x03), RULE_FAIL, "MPA-3-15 MPA-C.1-01", 0, NULL},
    {"RDMAP-4.1-19", plain_conversation, NULL, CONTENT(21, 1, 0x53), RULE_FAIL, NULL, 0, NULL},
    {"RDMAP-4.1-21", plain_conversation, NULL, CONTENT(21, 5, 1), RULE_FAIL, NULL, 0, NULL},
    {"RDMAP-6580.3.4-01", plain_conversation, NULL, CONTENT(21, 1, 0x4D), RULE_FAIL, NULL, 0, NULL},
    {"RDMAP-5.1-02", plain_conversation, untagged_write, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"RDMAP-5.2.1-02", plain_conversation, tagged_read_request, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"RDMAP-5.2.2-03", plain_conversation, untagged_response, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"RDMAP-5.3-02", plain_conversation, tagged_send, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"RDMAP-5.4-02", terminated, tagged_terminate, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"RDMAP-5.2.1-08", plain_conversation, NULL, CONTENT(15, 9, 0), RULE_FAIL, "DDP-4.3-11", 0, NULL},
    {"RDMAP-5.3-11", plain_conversation, NULL, CONTENT(21, 9, 1), RULE_FAIL, NULL, 0, NULL},
    {"RDMAP-5.4-03", terminated, terminate_on_queue_0, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"RDMAP-5.4-10", terminated, talks_on, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"RDMAP-4.2-01", plain_conversation, short_read_request, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"RDMAP-4.2-04", plain_conversation, long_read_request, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"RDMAP-5.2.1-21", plain_conversation, split_read_request, NO_CHANGE, RULE_AMBIGUOUS, NULL, 0, NULL},
    {"EMPA-9.1-06", enhanced_conversation, initiator_reads, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"EMPA-9.1-07", enhanced_conversation, responder_reads, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"RDMAP-4.4-03", plain_conversation, NULL, CONTENT(18, 5, 0x23), RULE_FAIL, NULL, 0, NULL},
    {"RDMAP-4.4-04", plain_conversation, NULL, CONTENT(18, 13, 1), RULE_FAIL, NULL, 0, NULL},
    {"RDMAP-4.4-04", falling, falling_beyond, NO_CHANGE, RULE_FAIL, NULL, 0, "DDP-5.3-04"},
    {"RDMAP-4.5-01", plain_conversation, NULL, CONTENT(15, 33, 11), RULE_FAIL, NULL, 0, NULL},
    {"RDMAP-5.2-01", plain_conversation, unrequested_response, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"RDMAP-5.2.1-20", plain_conversation, NULL, CONTENT(15, 33, 0), RULE_FAIL, NULL, 0, NULL},
    {"RDMAP-5.2.2-08", plain_conversation, responses_exchanged, NO_CHANGE, RULE_FAIL, "RDMAP-4.5-01", 0, NULL},
    {"RDMAP-5.2.2-12", plain_conversation, NULL, CONTENT(20, 5, 1), RULE_AMBIGUOUS, NULL, 0, NULL},
    {NULL, NULL, NULL, NO_CHANGE, 0, NULL, 0, NULL},
};

START_TEST(case_of_the_rdmap_rules)
{
    rule_case_run(&rules_rdmap_cases[_i]);
}
END_TEST

Suite *rules_rdmap_suite(void);

Suite *rules_rdmap_suite(void)
{
    Suite *suite = suite_create("rules_rdmap");
    TCase *cases = tcase_create("cases");

    tcase_add_loop_test(cases, case_of_the_rdmap_rules, 0,
                        (int)(sizeof(rules_rdmap_cases) / sizeof(rules_rdmap_cases[0])) - 1);
    suite_add_tcase(suite, cases);
    return suite;
}
