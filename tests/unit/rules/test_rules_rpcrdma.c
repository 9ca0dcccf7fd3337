/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules on RPC-over-RDMA (RFC 8166, RFC 8797): one case each. Payload of a Send begins at octet 18 of the ULPDU. Units
 * of the healthy conversation: 2 and 3 a first Call and a Reply that grants two credits, 4 a Call with a read segment, a
 * Write chunk and a Reply chunk, 5 a Call by RDMA_NOMSG, 6 to 9 Reads of both, 10 and 11 Writes, 12 the Reply to 4, by
 * RDMA_NOMSG, 13 an RDMA_ERROR that ends 5.
 */
#include <string.h>

#include "conformance/flow/ulp/flow_rpcrdma.h"
#include "tests/unit/rule_case.h"

enum { P = DDP_UNTAGGED_OCTETS, READ_STAG = 0xA1, WRITE_STAG = 0xB1, REPLY_STAG = 0xC1, LONG_STAG = 0xD1 };
static const uint64_t offset = 0x10000;

/* ---- messages ---------------------------------------------------------------------------------------------------- */

struct octets {
    size_t count;
    uint8_t octet[2048];
};

static void word(struct octets *out, uint32_t value)
{
    octets_put32(out->octet + out->count, value);
    out->count += 4;
}

static void segment(struct octets *out, uint32_t stag, uint32_t octets)
{
    word(out, stag);
    word(out, octets);
    word(out, 0);
    word(out, (uint32_t)offset);
}

static struct octets header(uint32_t xid, uint32_t credits, uint32_t procedure)
{
    struct octets out = {0};

    word(&out, xid);
    word(&out, RPCRDMA_VERSION);
    word(&out, credits);
    word(&out, procedure);
    return out;
}

static void no_lists(struct octets *out)
{
    for (unsigned i = 0; i < RPCRDMA_LISTS; i++)
        word(out, 0);
}

/* An RPC header: a Call of NFS, or a Reply; with so many octets after it. */
static void rpc(struct octets *out, uint32_t xid, uint32_t type, size_t more)
{
    word(out, xid);
    word(out, type);
    word(out, type == RPCRDMA_RPC_CALL ? RPCRDMA_RPC_VERSION : 0);
    memset(out->octet + out->count, 0, more);
    out->count += more;
}

static void send(struct conversation *c, unsigned direction, uint32_t msn, const struct octets *octets)
{
    struct ddp_segment ddp = {.last = true, .version = DDP_VERSION, .control = 0x43, .msn = msn};

    conversation_segment(c, direction, &ddp, octets->octet, octets->count);
}

static void simple(struct conversation *c, unsigned direction, uint32_t msn, uint32_t xid, uint32_t credits)
{
    struct octets out = header(xid, credits, RPCRDMA_MSG);

    no_lists(&out);
    rpc(&out, xid, direction, 40);
    send(c, direction, msn, &out);
}

static void read(struct conversation *c, uint32_t msn, uint32_t stag, uint32_t octets)
{
    struct ddp_segment ddp = {.last = true,
                              .version = DDP_VERSION,
                              .control = rdmap_control(IWARP_RDMAP_READ_REQUEST),
                              .qn = DDP_QN_READ_REQUEST,
                              .msn = msn};
    struct read_request request = {0x51, 0x2000, octets, stag, offset};
    uint8_t packed[READ_REQUEST_OCTETS];

    read_request_pack(&request, packed);
    conversation_segment(c, 1, &ddp, packed, sizeof(packed));
    conversation_tagged(c, 0, IWARP_RDMAP_READ_RESPONSE, 0x51, 0x2000, true, octets);
}

static void write(struct conversation *c, uint32_t stag, size_t octets)
{
    conversation_tagged(c, 1, IWARP_RDMAP_WRITE, stag, offset, true, octets);
}

/* ---- conversations ----------------------------------------------------------------------------------------------- */

static void begin(struct conversation *c)
{
    conversation_open(c, 1460);
    conversation_start(c, 0, &plain_request); /* 0 */
    conversation_start(c, 1, &plain_reply);   /* 1 */
    simple(c, 0, 1, 0x70, 8);                 /* 2 */
    simple(c, 1, 1, 0x70, 2);                 /* 3 */
}

static void end(struct conversation *c)
{
    conversation_close(c, 0, false);
    conversation_close(c, 1, false);
}

static void calls(struct conversation *c)
{
    struct octets out = header(1, 8, RPCRDMA_MSG);

    word(&out, 1); /* Read list: at octet 16 */
    word(&out, 40);
    segment(&out, READ_STAG, 300);
    word(&out, 0); /* 40 */
    word(&out, 1); /* Write list */
    word(&out, 1);
    segment(&out, WRITE_STAG, 700);
    word(&out, 0);
    word(&out, 1); /* Reply chunk: 72 */
    word(&out, 1);
    segment(&out, REPLY_STAG, 4096);
    rpc(&out, 1, RPCRDMA_RPC_CALL, 40); /* 96 */
    send(c, 0, 2, &out);                /* 4 */
    out = header(2, 8, RPCRDMA_NOMSG);
    word(&out, 1);
    word(&out, 0);
    segment(&out, LONG_STAG, 700);
    no_lists(&out);
    send(c, 0, 3, &out); /* 5 */
}

static void long_reply(struct conversation *c, bool reads)
{
    struct octets out = header(1, 2, RPCRDMA_NOMSG);

    if (reads) {
        word(&out, 1);
        word(&out, 40);
        segment(&out, READ_STAG, 300);
    }
    word(&out, 0);
    word(&out, 1); /* Write list: at octet 20 */
    word(&out, 1);
    segment(&out, WRITE_STAG, 600);
    word(&out, 0);
    word(&out, 1); /* Reply chunk: 48 */
    word(&out, 1);
    segment(&out, REPLY_STAG, 500);
    send(c, 1, 2, &out);
}

static void failure(struct conversation *c, unsigned direction, uint32_t msn, uint32_t xid)
{
    struct octets out = header(xid, 2, RPCRDMA_ERROR);

    word(&out, RPCRDMA_ERR_CHUNK);
    send(c, direction, msn, &out);
}

static void exchanges(struct conversation *c, bool reads_in_reply)
{
    begin(c);
    calls(c);
    read(c, 1, READ_STAG, 300);    /* 6, 7 */
    read(c, 2, LONG_STAG, 700);    /* 8, 9 */
    write(c, WRITE_STAG, 600);     /* 10 */
    write(c, REPLY_STAG, 500);     /* 11 */
    long_reply(c, reads_in_reply); /* 12 */
    failure(c, 1, 3, 2);           /* 13 */
}

static void healthy(struct conversation *c)
{
    exchanges(c, false);
    end(c);
}

static void reply_with_reads(struct conversation *c)
{
    exchanges(c, true);
    end(c);
}

static void late_read(struct conversation *c)
{
    exchanges(c, false);
    read(c, 3, READ_STAG, 300);
    end(c);
}

static void late_write(struct conversation *c)
{
    exchanges(c, false);
    write(c, WRITE_STAG, 600);
    end(c);
}

static void error_of_the_requester(struct conversation *c)
{
    exchanges(c, false);
    failure(c, 0, 4, 1);
    end(c);
}

static void eager(struct conversation *c)
{
    conversation_open(c, 1460);
    conversation_start(c, 0, &plain_request);
    conversation_start(c, 1, &plain_reply);
    simple(c, 0, 1, 0x70, 8);
    simple(c, 0, 2, 0x71, 8);
    simple(c, 1, 1, 0x70, 8);
    simple(c, 1, 2, 0x71, 8);
    end(c);
}

static void long_call(struct conversation *c, uint32_t msn, bool chunk)
{
    struct octets out = header(3, 8, RPCRDMA_MSG);

    word(&out, 0);
    word(&out, 0);
    word(&out, chunk);
    if (chunk) {
        word(&out, 1);
        segment(&out, REPLY_STAG, 4096);
    }
    rpc(&out, 3, RPCRDMA_RPC_CALL, 1100);
    send(c, 0, msn, &out);
}

static void too_long(struct conversation *c)
{
    exchanges(c, false);
    long_call(c, 4, false);
    end(c);
}

/* Both say that they send and receive 4096 octets, and support remote invalidation. Octet 20 of a start-up frame on. */
static void agreed(struct conversation *c)
{
    static const uint8_t said[] = {0xF6, 0xAB, 0x0E, 0x18, 1, 1, 3, 3};
    struct iwarp_mpa_start request = plain_request, reply = plain_reply;
    struct ddp_segment ddp = {.last = true, .version = DDP_VERSION, .control = 0x44, .msn = 1, .ulp_word = REPLY_STAG};
    struct octets out = header(3, 8, RPCRDMA_MSG);

    request.private_data = reply.private_data = said;
    request.private_octets = reply.private_octets = sizeof(said);
    conversation_open(c, 1460);
    conversation_start(c, 0, &request); /* 0 */
    conversation_start(c, 1, &reply);   /* 1 */
    long_call(c, 1, true);              /* 2 */
    word(&out, 0);
    word(&out, 0);
    word(&out, 1);
    word(&out, 1);
    segment(&out, REPLY_STAG, 0);
    rpc(&out, 3, RPCRDMA_RPC_REPLY, 12);
    conversation_segment(c, 1, &ddp, out.octet, out.count); /* 3 */
    end(c);
}

/* clang-format off */
const struct rule_case rules_rpcrdma_cases[] = {
    {"RPCRDMA-3.3.1-01",   healthy, NULL, CONTENT(3, P + 11, 1), RULE_FAIL, "", RULE_PASS, ""},
    {"RPCRDMA-3.3.1-02",   healthy, NULL, CONTENT(3, P + 11, 0), RULE_FAIL, "RPCRDMA-3.3.1-01", RULE_PASS, ""},
    {"RPCRDMA-3.3.3-01",   healthy, eager, NO_CHANGE, RULE_FAIL, "", RULE_PASS, ""},
    {"RPCRDMA-3.3.3-02",   healthy, too_long, NO_CHANGE, RULE_WARN, "", RULE_PASS, ""},
    {"RPCRDMA-3.4.3-01",   healthy, NULL, CONTENT(10, 2, 0, 0, 0, 9), RULE_FAIL, "RPCRDMA-3.4.6-02", RULE_PASS, ""},
    {"RPCRDMA-3.4.3-02",   healthy, NULL, CONTENT(10, 13, 200), RULE_FAIL, "RPCRDMA-3.4.6-02", RULE_PASS, ""},
    {"RPCRDMA-3.4.5-01",   healthy, NULL, CONTENT(4, P + 23, 41), RULE_FAIL, "", RULE_PASS, ""},
    {"RPCRDMA-3.4.5.1-01", healthy, late_read, NO_CHANGE, RULE_FAIL, "", RULE_PASS, ""},
    {"RPCRDMA-3.4.6-01",   healthy, NULL, CONTENT(12, P + 31, 9), RULE_FAIL, "", RULE_PASS, ""},
    {"RPCRDMA-3.4.6-02",   healthy, NULL, CONTENT(12, P + 35, 0x59), RULE_FAIL, "", RULE_PASS, ""},
    {"RPCRDMA-3.5.2-01",   healthy, late_write, NO_CHANGE, RULE_FAIL, "", RULE_PASS, ""},
    {"RPCRDMA-4-01",       healthy, NULL, CONTENT(4, P + 43, 7), RULE_FAIL, "", RULE_PASS, ""},
    {"RPCRDMA-4.1.2-01",   healthy, NULL, CONTENT(5, P + 15, 9), RULE_FAIL, "", RULE_PASS, ""},
    {"RPCRDMA-4.2.1-01",   healthy, NULL, CONTENT(4, P + 99, 9), RULE_FAIL, "", RULE_PASS, ""},
    {"RPCRDMA-4.2.2-01",   healthy, NULL, CONTENT(4, P + 7, 2), RULE_FAIL, "", RULE_PASS, ""},
    {"RPCRDMA-4.2.4-01",   healthy, NULL, CONTENT(5, P + 23, 4), RULE_FAIL, "", RULE_PASS, ""},
    {"RPCRDMA-4.2.4-02",   healthy, error_of_the_requester, NO_CHANGE, RULE_FAIL, "", RULE_PASS, ""},
    {"RPCRDMA-4.3.1-01",   healthy, reply_with_reads, NO_CHANGE, RULE_FAIL, "", RULE_PASS, ""},
    {"RPCRDMA-4.3.3-01",   healthy, NULL, CONTENT(12, P + 59, 9), RULE_FAIL, "", RULE_PASS, ""},
    {"RPCRDMA-4.3.3-02",   healthy, NULL, CONTENT(12, P + 63, 0xF5), RULE_FAIL, "", RULE_PASS, ""},
    {"RPCRDMA-4.5-01",     healthy, NULL, CONTENT(13, P + 7, 2), RULE_FAIL, "", RULE_PASS, ""},
    {"RPCRDMA-4.5-02",     healthy, NULL, CONTENT(13, P + 19, 22), RULE_FAIL, "", RULE_PASS, ""},
    {"RPCRDMA-4.6.1-01",   healthy, NULL, CONTENT(5, P + 15, 2), RULE_FAIL, "", RULE_PASS, ""},
    {"RPCRDMA-4.6.2-01",   healthy, NULL, CONTENT(5, P + 15, 3), RULE_FAIL, "", RULE_PASS, ""},
    {"RPCRDMA8797-4-01",   agreed, NULL, CONTENT(0, 25, 3), RULE_FAIL, "", RULE_PASS, ""},
    {"RPCRDMA8797-4.1-01", agreed, NULL, CONTENT(3, 5, 9), RULE_FAIL, "", RULE_PASS, ""},
    {"RPCRDMA8797-4.1-02", agreed, NULL, CONTENT(0, 25, 0), RULE_FAIL, "", RULE_VERDICTS, ""},
    {"RPCRDMA8797-4.2-01", agreed, NULL, CONTENT(1, 27, 0), RULE_FAIL, "", RULE_PASS, ""},
    {.id = NULL},
};
/* clang-format on */

START_TEST(case_of_the_rpc_over_rdma_rules)
{
    rule_case_run(&rules_rpcrdma_cases[_i]);
}
END_TEST

/* ---- recognition ------------------------------------------------------------------------------------------------- */

/* One word of the first Call that is otherwise: nothing is recognised by it. */
START_TEST(a_call_with_another_word_is_not_rpc_over_rdma)
{
    static const unsigned at[] = {7 /* version */,    11 /* credits */,    15 /* procedure */,
                                  19 /* Read list */, 23 /* Write list */, 27 /* Reply chunk */,
                                  31 /* RPC's XID */, 35 /* type */,       39 /* RPC version */};
    struct conversation_change change = CONTENT(2, 0, 9);
    struct conversation *c;
    bool credits = at[_i] == 11;

    change.offset = P + at[_i];
    change.octets[0] = credits ? 0 : 9;
    c = conversation_create(&change);
    conversation_open(c, 1460);
    conversation_start(c, 0, &plain_request);
    conversation_start(c, 1, &plain_reply);
    simple(c, 0, 1, 0x70, 8);
    simple(c, 1, 1, 0x70, 0);
    end(c);
    ck_assert_uint_eq(rule_case_exercised(c, "RPCRDMA"), 0);
    conversation_free(c);
}
END_TEST

/* What depends on the messages before is not judged where the first Call is not the first message. */
START_TEST(credits_and_buffers_are_not_judged_in_mid_stream)
{
    struct conversation *c = conversation_create(NULL);

    conversation_open(c, 1460);
    conversation_start(c, 0, &plain_request);
    conversation_start(c, 1, &plain_reply);
    for (uint32_t msn = 1; msn < 4; msn++)
        conversation_send(c, 0, IWARP_RDMAP_SEND, msn, 0, true, 40);
    for (uint32_t msn = 4; msn < 9; msn++)
        simple(c, 0, msn, msn, 8);
    write(c, WRITE_STAG, 100);
    simple(c, 1, 1, 4, 0);
    end(c);
    ck_assert(rule_case_fails(c, "RPCRDMA-3.3.1-02")); /* it is recognised */
    ck_assert_uint_eq(rule_case_exercised(c, "RPCRDMA-3.3.1-01"), 0);
    ck_assert_uint_eq(rule_case_exercised(c, "RPCRDMA-3.3.3-01"), 0);
    ck_assert_uint_eq(rule_case_exercised(c, "RPCRDMA-3.4.3"), 0);
    conversation_free(c);
}
END_TEST

/* A Reply that the capture lacks may have granted more, and ended what waits. */
START_TEST(calls_are_not_counted_after_a_loss)
{
    struct conversation *c = conversation_create(NULL);

    begin(c);
    simple(c, 0, 2, 1, 8);
    simple(c, 1, 2, 1, 8);
    for (uint32_t msn = 3; msn < 9; msn++)
        simple(c, 0, msn, msn, 8);
    end(c);
    ck_assert(conversation_drop(c, 8)); /* the second Reply */
    ck_assert(!rule_case_fails(c, "RPCRDMA-3.3.1-01"));
    conversation_free(c);
}
END_TEST

/* Two chunks side by side with one STag: an access may go through both. */
/* A Write without octets is no access: the short way of the engine does not count it as one among others that are. */
START_TEST(a_write_without_octets_is_counted_by_no_rule)
{
    struct conversation *c = conversation_create(NULL);
    static struct verdicts verdicts;

    begin(c);
    calls(c);
    for (unsigned i = 0; i < 6; i++)
        write(c, WRITE_STAG, i % 2 == 0 ? 100 : 0);
    end(c);
    rule_case_judge(c, &verdicts);
    ck_assert_int_eq(verdicts.verdict[rule_find("RPCRDMA-3.4.3-01")->index], RULE_PASS);
    conversation_free(c);
}
END_TEST

START_TEST(an_access_may_go_through_segments_side_by_side)
{
    struct conversation *c = conversation_create(NULL);
    struct octets out = header(1, 8, RPCRDMA_MSG);

    begin(c);
    word(&out, 0);
    word(&out, 1);
    word(&out, 2);
    segment(&out, WRITE_STAG, 256);
    segment(&out, WRITE_STAG, 256);
    octets_put32(out.octet + out.count - 4, (uint32_t)offset + 256);
    word(&out, 0);
    word(&out, 0);
    rpc(&out, 1, RPCRDMA_RPC_CALL, 40);
    send(c, 0, 2, &out);
    write(c, WRITE_STAG, 512);
    write(c, WRITE_STAG, 513);
    end(c);
    ck_assert(rule_case_fails(c, "RPCRDMA-3.4.3-02"));
    ck_assert_uint_eq(rule_case_exercised(c, "RPCRDMA-3.5.2-01"), 1);
    conversation_free(c);
}
END_TEST

Suite *rules_rpcrdma_suite(void);

Suite *rules_rpcrdma_suite(void)
{
    Suite *suite = suite_create("rules_rpcrdma");
    TCase *cases = tcase_create("cases");

    tcase_add_loop_test(cases, case_of_the_rpc_over_rdma_rules, 0,
                        (int)(sizeof(rules_rpcrdma_cases) / sizeof(rules_rpcrdma_cases[0])) - 1);
    tcase_add_loop_test(cases, a_call_with_another_word_is_not_rpc_over_rdma, 0, 9);
    tcase_add_test(cases, credits_and_buffers_are_not_judged_in_mid_stream);
    tcase_add_test(cases, calls_are_not_counted_after_a_loss);
    tcase_add_test(cases, a_write_without_octets_is_counted_by_no_rule);
    tcase_add_test(cases, an_access_may_go_through_segments_side_by_side);
    suite_add_tcase(suite, cases);
    return suite;
}
