/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules on the Terminate Message (RFC 5040 4.8): one case each. Unit 4 is the Terminate; its payload begins at
 * octet 18.
 */
#include <string.h>

#include "tests/unit/rule_case.h"

enum { PAYLOAD = DDP_UNTAGGED_OCTETS };

static void begin(struct conversation *c)
{
    conversation_open(c, 1460);
    conversation_start(c, 0, &plain_request);                  /* 0 */
    conversation_start(c, 1, &plain_reply);                    /* 1 */
    conversation_send(c, 0, IWARP_RDMAP_SEND, 1, 0, true, 20); /* 2 */
}

static void end(struct conversation *c)
{
    conversation_close(c, 1, false);
    conversation_close(c, 0, false);
}

/* A Terminate of the Responder that quotes the last segment as far as m, d and r say. */
static void answer(struct conversation *c, wire_result triple, bool m, bool d, bool r, size_t excess)
{
    struct terminate terminate = {.triple = triple, .m = m, .d = d, .r = r, .excess = excess};
    struct read_request request = {0x1111, 0x2000, 250, 0xABCD0001, 0x4000};
    uint8_t header[READ_REQUEST_OCTETS];
    size_t length;

    read_request_pack(&request, header);
    terminate.ddp_header = conversation_quote(c, &length);
    terminate.ddp_header_octets = terminate.ddp_header[0] & 0x80 ? DDP_TAGGED_OCTETS : DDP_UNTAGGED_OCTETS;
    terminate.ddp_segment_length = (uint16_t)length;
    terminate.rdmap_header = header;
    terminate.rdmap_header_octets = sizeof(header);
    conversation_terminate(c, 1, &terminate);
    end(c);
}

static void write_then(struct conversation *c, wire_result triple, bool m, bool d, bool r, size_t excess)
{
    begin(c);
    conversation_tagged(c, 0, IWARP_RDMAP_WRITE, 0x4711, 0x1000, true, 100); /* 3 */
    answer(c, triple, m, d, r, excess);                                      /* 4 */
}

static void send_then(struct conversation *c, wire_result triple, bool m, bool d, bool r)
{
    begin(c);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 2, 0, true, 100);
    answer(c, triple, m, d, r, 0);
}

static void read_then(struct conversation *c, wire_result triple, bool m, bool d, bool r)
{
    begin(c);
    conversation_read(c, 0, 1, 0x1111, 0x2000, 250);
    answer(c, triple, m, d, r, 0);
}

/* Healthy ones, by layer. */
static void ddp_error(struct conversation *c)
{
    write_then(c, TERM_DDP_INVALID_STAG, true, true, false, 0);
}

static void protection_error(struct conversation *c)
{
    read_then(c, TERM_RDMAP_INVALID_STAG, true, true, true);
}

static void operation_error(struct conversation *c)
{
    send_then(c, TERM_RDMAP_OPERATION_OTHER, true, true, false);
}

static void operation_error_on_read(struct conversation *c)
{
    read_then(c, TERM_RDMAP_OPERATION_OTHER, true, true, false);
}

static void llp_error(struct conversation *c)
{
    write_then(c, TERM_MPA_CRC, false, false, false, 0);
}

static void catastrophic(struct conversation *c)
{
    write_then(c, TERM_RDMAP_CATASTROPHIC, false, false, false, 0);
}

static void startup_error(struct conversation *c)
{
    conversation_open(c, 1460);
    conversation_start(c, 0, &enhanced_request);                 /* 0 */
    conversation_start(c, 1, &enhanced_reply);                   /* 1 */
    conversation_tagged(c, 0, IWARP_RDMAP_WRITE, 0, 0, true, 0); /* 2 */
    answer(c, TERM_MPA_CATASTROPHIC, false, false, false, 0);
}

/* The Initiator sends RV 0, and that is reported. */
static void version_error(struct conversation *c)
{
    struct ddp_segment segment = {.last = true, .version = DDP_VERSION, .control = IWARP_RDMAP_SEND, .msn = 2};

    begin(c);
    conversation_segment(c, 0, &segment, NULL, 20);
    answer(c, TERM_RDMAP_VERSION, true, true, false, 0);
}

/* A Read that fails when 100 of its 250 octets are sent. */
static void failed_read(struct conversation *c, uint64_t sink_to, uint32_t octets)
{
    struct terminate terminate = {.triple = TERM_RDMAP_BOUNDS, .m = true, .d = true, .r = true};
    struct read_request request = {0x1111, sink_to, octets, 0xABCD0001, 0x4064};
    uint8_t header[READ_REQUEST_OCTETS], quote[DDP_UNTAGGED_OCTETS];
    size_t length;

    begin(c);
    conversation_read(c, 0, 1, 0x1111, 0x2000, 250);
    memcpy(quote, conversation_quote(c, &length), sizeof(quote));
    conversation_tagged(c, 1, IWARP_RDMAP_READ_RESPONSE, 0x1111, 0x2000, false, 100);
    read_request_pack(&request, header);
    terminate.ddp_header = quote;
    terminate.ddp_header_octets = sizeof(quote);
    terminate.ddp_segment_length = (uint16_t)length;
    terminate.rdmap_header = header;
    terminate.rdmap_header_octets = sizeof(header);
    conversation_terminate(c, 1, &terminate);
    end(c);
}

static void read_fails(struct conversation *c)
{
    failed_read(c, 0x2064, 150);
}

/* Broken ones. */
static void raw_terminate(struct conversation *c, const uint8_t *payload, size_t octets)
{
    struct ddp_segment segment = {.last = true,
                                  .version = DDP_VERSION,
                                  .control = rdmap_control(IWARP_RDMAP_TERMINATE),
                                  .qn = DDP_QN_TERMINATE,
                                  .msn = DDP_FIRST_MSN};

    begin(c);
    conversation_segment(c, 1, &segment, payload, octets);
    end(c);
}

static void two_octets(struct conversation *c)
{
    raw_terminate(c, (const uint8_t[]){0x20, 0x02}, 2);
}

static void with_payload(struct conversation *c)
{
    raw_terminate(c, (const uint8_t[]){0x20, 0x02, 0, 0, 1, 2, 3, 4}, 8);
}

static void header_cut(struct conversation *c)
{
    raw_terminate(c, (const uint8_t[]){0x11, 0x00, 0xC0, 0, 0, 30, 0xC1, 0x40}, 8);
}

static void rdma_header_cut(struct conversation *c)
{
    raw_terminate(c, (const uint8_t[]){0x01, 0x00, 0x20, 0, 1, 2, 3, 4}, 8);
}

/* The DDP header right after the control word. */
static void length_missing(struct conversation *c)
{
    uint8_t payload[4 + 18 + 6] = {0x12, 0x05, 0xC0};
    struct ddp_segment segment = {
        .last = true, .version = DDP_VERSION, .control = rdmap_control(IWARP_RDMAP_SEND), .msn = 1};

    (void)ddp_pack_header(&segment, payload + 4);
    raw_terminate(c, payload, sizeof(payload));
}

static void catastrophic_with_parts(struct conversation *c)
{
    write_then(c, TERM_RDMAP_CATASTROPHIC, true, true, false, 0);
}

static void protection_without_rdma_header(struct conversation *c)
{
    read_then(c, TERM_RDMAP_INVALID_STAG, true, true, false);
}

static void protection_by_send(struct conversation *c)
{
    send_then(c, TERM_RDMAP_BOUNDS, true, true, false);
}

static void operation_with_rdma_header(struct conversation *c)
{
    send_then(c, TERM_RDMAP_OPERATION_OTHER, true, true, true);
}

static void ddp_without_parts(struct conversation *c)
{
    write_then(c, TERM_DDP_INVALID_STAG, false, false, false, 0);
}

static void llp_with_parts(struct conversation *c)
{
    write_then(c, TERM_MPA_CRC, true, true, false, 0);
}

static void startup_with_parts(struct conversation *c)
{
    conversation_open(c, 1460);
    conversation_start(c, 0, &enhanced_request);
    conversation_start(c, 1, &enhanced_reply);
    conversation_tagged(c, 0, IWARP_RDMAP_WRITE, 0, 0, true, 0);
    answer(c, TERM_MPA_CATASTROPHIC, true, true, false, 0);
}

static void d_without_m(struct conversation *c)
{
    send_then(c, TERM_RDMAP_OPERATION_OTHER, false, true, false);
}

static void zero_filled(struct conversation *c)
{
    write_then(c, TERM_MPA_CRC, false, false, false, 48);
}

static void false_version_error(struct conversation *c)
{
    send_then(c, TERM_RDMAP_VERSION, true, true, false);
}

static void false_ddp_version_error(struct conversation *c)
{
    send_then(c, TERM_DDP_UNTAGGED_VERSION, true, true, false);
}

static void false_queue_error(struct conversation *c)
{
    send_then(c, TERM_DDP_INVALID_QN, true, true, false);
}

static void insufficient_ird(struct conversation *c)
{
    struct terminate terminate = {.triple = TERM_MPA_INSUFFICIENT_IRD};

    conversation_open(c, 1460);
    conversation_start(c, 0, &plain_request);
    conversation_start(c, 1, &plain_reply);
    conversation_terminate(c, 1, &terminate);
    end(c);
}

/* 2/0/06 after an FPDU: it may be 0/2/06 in the order of a little-endian host. */
static void swapped_unknown_opcode(struct conversation *c)
{
    write_then(c, TERM_MPA_INSUFFICIENT_IRD, false, false, false, 0);
}

static void read_fails_old_to(struct conversation *c)
{
    failed_read(c, 0x2000, 150);
}

static void read_fails_old_size(struct conversation *c)
{
    failed_read(c, 0x2064, 250);
}

#define BITS(octet, ...) CONTENT(4, PAYLOAD + (octet), __VA_ARGS__)

const struct rule_case rules_terminate_cases[] = {
    {"RDMAP-4.2-02", llp_error, two_octets, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"RDMAP-4.2-05", llp_error, with_payload, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"RDMAP-4.8-02", ddp_error, NULL, BITS(0, 0x11, 0x00, 0x03, 0x00), RULE_FAIL, NULL, 0, NULL},
    /* As it stands it is 2/0/07 with parts that no LLP error has: 0/2/07 of a little-endian host. */
    {"RDMAP-4.8-02", operation_error, NULL, BITS(0, 0x20, 0x07, 0x03, 0x00), RULE_FAIL, NULL, 0, NULL},
    {"RDMAP-4.8-03", ddp_error, NULL, BITS(1, 0x77), RULE_FAIL, "RDMAP-6580.3.2-01", 0, NULL},
    {"RDMAP-4.8-10", catastrophic, catastrophic_with_parts, NO_CHANGE, RULE_WARN, NULL, 0, NULL},
    {"RDMAP-4.8-11", protection_error, protection_without_rdma_header, NO_CHANGE, RULE_WARN, NULL, 0, NULL},
    {"RDMAP-4.8-12", operation_error, operation_with_rdma_header, NO_CHANGE, RULE_WARN, "RDMAP-4.8-40", 0, NULL},
    {"RDMAP-4.8-13", ddp_error, ddp_without_parts, NO_CHANGE, RULE_WARN, NULL, 0, NULL},
    {"RDMAP-4.8-14", llp_error, llp_with_parts, NO_CHANGE, RULE_WARN, NULL, 0, NULL},
    {"RDMAP-4.8-15", protection_error, protection_by_send, NO_CHANGE, RULE_WARN, NULL, 0, NULL},
    {"RDMAP-4.8-16", operation_error, d_without_m, NO_CHANGE, RULE_AMBIGUOUS, "RDMAP-4.8-12", 0, NULL},
    {"RDMAP-4.8-32", ddp_error, NULL, BITS(3, 0x01), RULE_FAIL, NULL, 0, NULL},
    {"RDMAP-4.8-43", operation_error_on_read, operation_error_on_read, NO_CHANGE, RULE_AMBIGUOUS, NULL, RULE_AMBIGUOUS,
     NULL},
    {"RDMAP-7.1-03", llp_error, zero_filled, NO_CHANGE, RULE_AMBIGUOUS, NULL, 0, NULL},
    {"RDMAP-6580.3.1-01", protection_error, NULL, BITS(1, 0x05), RULE_FAIL, "RDMAP-4.8-03", 0, NULL},
    {"RDMAP-6580.3.2-01", ddp_error, NULL, BITS(1, 0x05), RULE_FAIL, "RDMAP-4.8-03", 0, NULL},
    {"RDMAP-6580.3.3-01", llp_error, NULL, BITS(1, 0x08), RULE_FAIL, "RDMAP-4.8-03", 0, NULL},
    {"EMPA-8-02", startup_error, insufficient_ird, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"EMPA-8-02", startup_error, swapped_unknown_opcode, NO_CHANGE, RULE_AMBIGUOUS, NULL, 0, NULL},
    {"EMPA-8-03", startup_error, startup_with_parts, NO_CHANGE, RULE_FAIL, "RDMAP-4.8-14", 0, NULL},
    {"RDMAP-4.8-34", ddp_error, NULL, BITS(4, 0, 3), RULE_FAIL, NULL, 0, NULL},
    {"RDMAP-4.8-35", ddp_error, NULL, BITS(4, 0, 100), RULE_AMBIGUOUS, NULL, 0, NULL},
    {"RDMAP-4.8-36", ddp_error, length_missing, NO_CHANGE, RULE_FAIL, "RDMAP-4.2-05 RDMAP-4.8-37", 0, NULL},
    {"RDMAP-4.8-37", ddp_error, NULL, BITS(8, 0xFF), RULE_FAIL, NULL, 0, NULL},
    {"RDMAP-4.8-39", ddp_error, header_cut, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"RDMAP-4.8-40", protection_error, operation_with_rdma_header, NO_CHANGE, RULE_FAIL, "RDMAP-4.8-12", 0, NULL},
    {"RDMAP-4.8-41", protection_error, rdma_header_cut, NO_CHANGE, RULE_FAIL, "RDMAP-4.8-11", 0, NULL},
    {"RDMAP-4.8-44", protection_error, NULL, BITS(24, 0xEE), RULE_FAIL, NULL, 0, NULL},
    {"RDMAP-4.8-46", read_fails, read_fails_old_to, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"RDMAP-4.8-47", read_fails, read_fails_old_size, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"DDP-7.1-23", ddp_error, false_ddp_version_error, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"DDP-7.1-23", ddp_error, false_queue_error, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"RDMAP-4.8-25", version_error, false_version_error, NO_CHANGE, RULE_FAIL, NULL, 0,
     "RDMAP-4.1-17 MPA-3-15 MPA-C.1-01"},
    {NULL, NULL, NULL, NO_CHANGE, 0, NULL, 0, NULL},
};

START_TEST(case_of_the_terminate_rules)
{
    rule_case_run(&rules_terminate_cases[_i]);
}
END_TEST

/* A receiver that places as octets come quotes the header of an FPDU of which the rest is under way still. */
START_TEST(quoted_before_it_is_whole)
{
    struct conversation *c = conversation_create(NULL);
    const struct rule *rule = rule_find("RDMAP-4.8-37");
    struct verdicts verdicts;
    size_t frames = 0;

    begin(c);
    conversation_pieces(c, 40);
    conversation_tagged(c, 0, IWARP_RDMAP_WRITE, 0x4711, 0x1000, true, 100);
    conversation_pieces(c, 0);
    answer(c, TERM_DDP_INVALID_STAG, true, true, false, 0);
    for (size_t frame = 6; frames == 0;
         frame++) /* after open, start-up and the Send: the last piece and the Terminate */
        frames = conversation_cross(c, frame) ? frame : 0;
    ck_assert_uint_ge(frames, 8); /* three pieces at least */
    conversation_judge(c, false, &verdicts);
    ck_assert_uint_eq(verdicts.flows, 1);
    ck_assert_msg(verdicts.verdict[rule->index] != (int)RULE_FAIL, "%s", verdicts.message[rule->index]);
    conversation_free(c);
}
END_TEST

/* A device without the extensions has no queue 3 (RFC 7306 5), and says so of an Atomic Response. */
START_TEST(queue_of_the_extensions_may_be_absent)
{
    struct ddp_segment segment = {.last = true,
                                  .version = DDP_VERSION,
                                  .control = rdmap_control(IWARP_RDMAP_ATOMIC_RESPONSE),
                                  .qn = DDP_QN_ATOMIC_RESPONSE,
                                  .msn = DDP_FIRST_MSN};
    struct conversation *c = conversation_create(NULL);
    const struct rule *rule = rule_find("DDP-7.1-23");
    static const uint8_t response[12];
    static struct verdicts verdicts;

    begin(c);
    conversation_segment(c, 0, &segment, response, sizeof(response));
    answer(c, TERM_DDP_INVALID_QN, true, true, false, 0);
    rule_case_judge(c, &verdicts);
    conversation_free(c);
    ck_assert_msg(verdicts.verdict[rule->index] != (int)RULE_FAIL, "%s", verdicts.message[rule->index]);
}
END_TEST

Suite *rules_terminate_suite(void);

Suite *rules_terminate_suite(void)
{
    Suite *suite = suite_create("rules_terminate");
    TCase *cases = tcase_create("cases");

    tcase_add_loop_test(cases, case_of_the_terminate_rules, 0,
                        (int)(sizeof(rules_terminate_cases) / sizeof(rules_terminate_cases[0])) - 1);
    tcase_add_test(cases, quoted_before_it_is_whole);
    tcase_add_test(cases, queue_of_the_extensions_may_be_absent);
    suite_add_tcase(suite, cases);
    return suite;
}
