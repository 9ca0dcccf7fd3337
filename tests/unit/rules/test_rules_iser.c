/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules on iSER (RFC 7145): one case each. Payload of a Send begins at octet 18 of the ULPDU. Units of the healthy
 * conversation: 2 and 3 Hello and HelloReply, 4 a SCSI Read of 600 octets, 5 its RDMA Write, 6 its SCSI Response, which
 * invalidates, 7 a SCSI Write of 700 octets, 8 and 9 the Read of it, 10 its SCSI Response, 11 and 12 a ping and its
 * answer. Of the one with a login in Sends: 2 and 3 the login, 4 and 5 Hello and HelloReply, 6 a SCSI Write with
 * immediate data, 7 its SCSI Response, 8 and 9 immediate pings, 10 and 11 pings of the target.
 */
#include <string.h>

#include "conformance/flow/ulp/flow_iser.h"
#include "tests/unit/rule_case.h"

enum {
    P = DDP_UNTAGGED_OCTETS,
    BHS = P + ISER_HEADER_OCTETS,
    READ_STAG = 0xA1,
    WRITE_STAG = 0xB1,
    FINAL = 0x80,
    READS = 0x40,
    WRITES = 0x20,
    ROOM = 2048,
};
static const uint64_t offset = 0x10000;

/* ---- messages ---------------------------------------------------------------------------------------------------- */

/* What a PDU is made of. */
struct pdu {
    uint8_t opcode, flags;
    uint32_t task, word, number, expected;
    uint32_t read_stag, write_stag; /* 0: not valid */
    const char *text;               /* its data segment, or NULL: */
    size_t data;                    /* so many octets */
    uint32_t invalidates;           /* 0: a Send without Invalidate */
};

static void send(struct conversation *c, unsigned direction, uint32_t msn, const void *octets, size_t count)
{
    struct ddp_segment ddp = {.last = true, .version = DDP_VERSION, .control = 0x43, .msn = msn};

    conversation_segment(c, direction, &ddp, octets, count);
}

static size_t pack(const struct pdu *pdu, uint8_t *octets)
{
    uint8_t *bhs = octets + ISER_HEADER_OCTETS;

    memset(octets, 0, ROOM);
    iser_control_set_Opcode(octets, ISER_CONTROL);
    iser_control_set_WSV(octets, pdu->write_stag != 0);
    iser_control_set_RSV(octets, pdu->read_stag != 0);
    iser_control_set_WriteSTag(octets, pdu->write_stag);
    iser_control_set_ReadSTag(octets, pdu->read_stag);
    iser_control_set_WriteBaseOffset(octets, pdu->write_stag != 0 ? offset : 0);
    iser_control_set_ReadBaseOffset(octets, pdu->read_stag != 0 ? offset : 0);
    bhs[0] = pdu->opcode;
    bhs[1] = pdu->flags;
    iscsi_request_set_DataSegmentLength(bhs, pdu->data);
    iscsi_request_set_InitiatorTaskTag(bhs, pdu->task);
    iscsi_request_set_ExpectedLength(bhs, pdu->word);
    iscsi_request_set_CmdSN(bhs, pdu->number);
    iscsi_request_set_ExpStatSN(bhs, pdu->expected);
    if (pdu->text != NULL)
        memcpy(octets + ISER_PDU_OCTETS, pdu->text, pdu->data);
    return ISER_PDU_OCTETS + pdu->data;
}

static void say(struct conversation *c, unsigned direction, uint32_t msn, const struct pdu *pdu)
{
    struct ddp_segment ddp = {.last = true, .version = DDP_VERSION, .control = 0x43, .msn = msn};
    uint8_t octets[ROOM];
    size_t count = pack(pdu, octets);

    if (pdu->invalidates != 0) {
        ddp.control = 0x44;
        ddp.ulp_word = pdu->invalidates;
    }
    conversation_segment(c, direction, &ddp, octets, count);
}

static void hello(struct conversation *c, unsigned direction, uint32_t msn, size_t more)
{
    uint8_t octets[ISER_HEADER_OCTETS + 8] = {0};

    iser_hello_set_Opcode(octets, direction == 0 ? ISER_HELLO : ISER_HELLO_REPLY);
    iser_hello_set_MaxVer(octets, ISER_VERSION);
    iser_hello_set_MinVer(octets, ISER_VERSION);
    iser_hello_set_IRD(octets, 4);
    send(c, direction, msn, octets, ISER_HEADER_OCTETS + more);
}

static void scsi_read(struct conversation *c, uint32_t msn, uint32_t task)
{
    struct pdu pdu = {ISCSI_COMMAND, FINAL | READS, task, 600, msn, 1, .read_stag = READ_STAG};

    say(c, 0, msn, &pdu);
}

static void scsi_response(struct conversation *c, uint32_t msn, uint32_t task, uint32_t invalidates)
{
    struct pdu pdu = {ISCSI_RESPONSE, FINAL, task, 0, msn, msn + 2, .invalidates = invalidates};

    say(c, 1, msn, &pdu);
}

static void write(struct conversation *c, unsigned direction, uint32_t stag, size_t octets)
{
    conversation_tagged(c, direction, IWARP_RDMAP_WRITE, stag, offset, true, octets);
}

static void read(struct conversation *c, unsigned direction, uint32_t msn, uint32_t octets)
{
    struct ddp_segment ddp = {.last = true,
                              .version = DDP_VERSION,
                              .control = rdmap_control(IWARP_RDMAP_READ_REQUEST),
                              .qn = DDP_QN_READ_REQUEST,
                              .msn = msn};
    struct read_request request = {0x51, 0x2000, octets, WRITE_STAG, offset};
    uint8_t packed[READ_REQUEST_OCTETS];

    read_request_pack(&request, packed);
    conversation_segment(c, direction, &ddp, packed, sizeof(packed));
    conversation_tagged(c, 1 - direction, IWARP_RDMAP_READ_RESPONSE, 0x51, 0x2000, true, octets);
}

/* ---- conversations ----------------------------------------------------------------------------------------------- */

static void begin(struct conversation *c)
{
    conversation_open(c, 1460);
    conversation_start(c, 0, &plain_request); /* 0 */
    conversation_start(c, 1, &plain_reply);   /* 1 */
}

static void end(struct conversation *c)
{
    conversation_close(c, 0, false);
    conversation_close(c, 1, false);
}

static void exchanges(struct conversation *c)
{
    struct pdu writes = {ISCSI_COMMAND, FINAL | WRITES, 2, 700, 3, 1, .write_stag = WRITE_STAG};
    struct pdu ping = {ISCSI_NOP_OUT, FINAL, 3, (uint32_t)ISCSI_TAG_NONE, 4, 1, .data = 0};
    struct pdu pong = {ISCSI_NOP_IN, FINAL, 3, (uint32_t)ISCSI_TAG_NONE, 4, 5, .data = 0};

    begin(c);
    hello(c, 0, 1, 0);                 /* 2 */
    hello(c, 1, 1, 0);                 /* 3 */
    scsi_read(c, 2, 1);                /* 4 */
    write(c, 1, READ_STAG, 600);       /* 5 */
    scsi_response(c, 2, 1, READ_STAG); /* 6 */
    say(c, 0, 3, &writes);             /* 7 */
    read(c, 1, 1, 700);                /* 8, 9 */
    scsi_response(c, 3, 2, 0);         /* 10 */
    say(c, 0, 4, &ping);               /* 11 */
    say(c, 1, 4, &pong);               /* 12 */
}

static void healthy(struct conversation *c)
{
    exchanges(c);
    end(c);
}

static void late_write(struct conversation *c)
{
    exchanges(c);
    write(c, 1, READ_STAG, 600);
    end(c);
}

static void write_by_the_initiator(struct conversation *c)
{
    exchanges(c);
    write(c, 0, READ_STAG, 600);
    end(c);
}

static void read_by_the_initiator(struct conversation *c)
{
    exchanges(c);
    read(c, 0, 1, 600);
    end(c);
}

static void unanswered(struct conversation *c)
{
    struct pdu ping = {ISCSI_NOP_IN, FINAL, (uint32_t)ISCSI_TAG_NONE, 0, 1, 1, .data = 0};

    begin(c);
    hello(c, 0, 1, 0);
    say(c, 1, 1, &ping);
    end(c);
}

static void late_hello(struct conversation *c)
{
    exchanges(c);
    hello(c, 0, 5, 0);
    end(c);
}

static void short_message(struct conversation *c)
{
    exchanges(c);
    send(c, 0, 5, "ping", 4);
    end(c);
}

static void long_reply(struct conversation *c)
{
    begin(c);
    hello(c, 0, 1, 0);
    hello(c, 1, 1, 4);
    end(c);
}

static void log_in(struct conversation *c, const char *keys, size_t count)
{
    struct pdu request = {ISCSI_LOGIN_REQUEST | 0x40, 0x87, 0x70, 0, 1, 0, .text = keys, .data = count};
    struct pdu response = {ISCSI_LOGIN_RESPONSE, 0x87, 0x70, 0, 0, 1, .text = keys, .data = count};

    begin(c);
    say(c, 0, 1, &request);  /* 2 */
    say(c, 1, 1, &response); /* 3 */
}

/* A login with keys, a Hello with `more` octets, a SCSI Write, and pings: two of each side without an answer. */
static void linux_like(struct conversation *c, size_t more)
{
    static const char keys[] = "TargetRecvDataSegmentLength=1024\0InitiatorRecvDataSegmentLength=0x400\0"
                               "MaxOutstandingUnexpectedPDUs=2";
    struct pdu writes = {ISCSI_COMMAND, FINAL | WRITES, 1, 512, 1, 1, .data = 512};
    struct pdu ping = {ISCSI_NOP_OUT | 0x40, FINAL, 2, (uint32_t)ISCSI_TAG_NONE, 2, 1, .data = 0};
    struct pdu pong = {ISCSI_NOP_IN, FINAL, (uint32_t)ISCSI_TAG_NONE, 0, 2, 2, .data = 0};

    log_in(c, keys, sizeof(keys));
    hello(c, 0, 2, more);      /* 4 */
    hello(c, 1, 2, 0);         /* 5 */
    say(c, 0, 3, &writes);     /* 6 */
    scsi_response(c, 3, 1, 0); /* 7 */
    say(c, 0, 4, &ping);       /* 8 */
    say(c, 0, 5, &ping);       /* 9 */
    say(c, 1, 4, &pong);       /* 10 */
    say(c, 1, 5, &pong);       /* 11 */
}

static void logged_in(struct conversation *c)
{
    linux_like(c, 0);
    end(c);
}

static void long_hello(struct conversation *c)
{
    linux_like(c, 4);
    end(c);
}

/* The next one of `side` is beyond what was agreed. */
static void third_ping(struct conversation *c, unsigned side)
{
    struct pdu ping = {ISCSI_NOP_OUT | 0x40, FINAL, 3, (uint32_t)ISCSI_TAG_NONE, 2, 1, .data = 0};
    struct pdu pong = {ISCSI_NOP_IN, FINAL, (uint32_t)ISCSI_TAG_NONE, 0, 2, 2, .data = 0};

    linux_like(c, 0);
    say(c, side, 6, side == 0 ? &ping : &pong);
    end(c);
}

static void third_of_the_initiator(struct conversation *c)
{
    third_ping(c, 0);
}

static void third_of_the_target(struct conversation *c)
{
    third_ping(c, 1);
}

static void long_data(struct conversation *c, unsigned side)
{
    struct pdu request = {ISCSI_TEXT_REQUEST, FINAL, 3, (uint32_t)ISCSI_TAG_NONE, 2, 3, .data = 1025};
    struct pdu response = {ISCSI_TEXT_RESPONSE, FINAL, 3, (uint32_t)ISCSI_TAG_NONE, 3, 3, .data = 1025};

    linux_like(c, 0);
    say(c, side, 6, side == 0 ? &request : &response);
    end(c);
}

static void long_data_of_the_initiator(struct conversation *c)
{
    long_data(c, 0);
}

static void long_data_of_the_target(struct conversation *c)
{
    long_data(c, 1);
}

/* clang-format off */
const struct rule_case rules_iser_cases[] = {
    {"ISER-1.5.3-01",   healthy, write_by_the_initiator, NO_CHANGE, RULE_FAIL, "", RULE_PASS, ""},
    {"ISER-1.5.4-01",   healthy, read_by_the_initiator, NO_CHANGE, RULE_FAIL, "", RULE_PASS, ""},
    {"ISER-5.1.2-01",   healthy, logged_in, NO_CHANGE, RULE_WARN, "", RULE_PASS, ""},
    {"ISER-5.1.3-01",   healthy, unanswered, NO_CHANGE, RULE_FAIL, "", RULE_PASS, ""},
    {"ISER-5.1.3-02",   healthy, late_hello, NO_CHANGE, RULE_FAIL, "", RULE_PASS, ""},
    {"ISER-5.1.3-03",   healthy, NULL, CONTENT(3, P + 2, 0, 9), RULE_FAIL, "", RULE_PASS, ""},
    {"ISER-6.4-01",     logged_in, long_data_of_the_initiator, NO_CHANGE, RULE_FAIL, "", RULE_PASS, "ISER-5.1.2-01"},
    {"ISER-6.5-01",     logged_in, long_data_of_the_target, NO_CHANGE, RULE_FAIL, "", RULE_PASS, "ISER-5.1.2-01"},
    {"ISER-7.3.1-01",   healthy, NULL, CONTENT(4, P, 0x10), RULE_FAIL, "ISER-9.2-02 ISER-7.3.5-01 ISER-7.3.2-02", RULE_PASS, ""},
    {"ISER-7.3.1-02",   healthy, NULL, CONTENT(7, P, 0x10), RULE_FAIL, "ISER-9.2-01 ISER-7.3.6-01", RULE_PASS, ""},
    {"ISER-7.3.2-01",   healthy, late_write, NO_CHANGE, RULE_FAIL, "", RULE_PASS, ""},
    {"ISER-7.3.2-02",   healthy, NULL, CONTENT(6, 5, 9), RULE_FAIL, "", RULE_PASS, ""},
    {"ISER-7.3.5-01",   healthy, NULL, CONTENT(5, 5, 9), RULE_FAIL, "", RULE_PASS, ""},
    {"ISER-7.3.5-02",   healthy, NULL, CONTENT(5, 13, 200), RULE_FAIL, "", RULE_PASS, ""},
    {"ISER-7.3.5-03",   healthy, NULL, CONTENT(12, BHS, ISCSI_DATA_IN), RULE_FAIL, "", RULE_PASS, ""},
    {"ISER-7.3.6-01",   healthy, NULL, CONTENT(8, P + 19, 9), RULE_FAIL, "", RULE_PASS, ""},
    {"ISER-7.3.6-02",   healthy, NULL, CONTENT(8, P + 27, 200), RULE_FAIL, "", RULE_PASS, ""},
    {"ISER-7.3.6-03",   healthy, NULL, CONTENT(12, BHS, ISCSI_R2T), RULE_FAIL, "", RULE_PASS, ""},
    {"ISER-7.3.9-01",   healthy, NULL, CONTENT(11, BHS, ISCSI_LOGIN_REQUEST | 0x40), RULE_FAIL, "", RULE_PASS, ""},
    {"ISER-7.3.11-01",  healthy, NULL, CONTENT(11, BHS, ISCSI_SNACK), RULE_FAIL, "", RULE_PASS, ""},
    {"ISER-8.1.1.3-01", logged_in, third_of_the_initiator, NO_CHANGE, RULE_FAIL, "", RULE_PASS, "ISER-5.1.2-01"},
    {"ISER-8.1.2-01",   logged_in, third_of_the_target, NO_CHANGE, RULE_FAIL, "", RULE_PASS, "ISER-5.1.2-01"},
    {"ISER-8.2-01",     healthy, NULL, CONTENT(3, P + 2, 0, 0), RULE_FAIL, "", RULE_PASS, ""},
    {"ISER-9.1-01",     healthy, short_message, NO_CHANGE, RULE_FAIL, "", RULE_PASS, ""},
    {"ISER-9.1-02",     healthy, NULL, CONTENT(11, P, 0x40), RULE_FAIL, "", RULE_PASS, ""},
    {"ISER-9.2-01",     healthy, NULL, CONTENT(4, P + 7, 9), RULE_FAIL, "", RULE_PASS, ""},
    {"ISER-9.2-02",     healthy, NULL, CONTENT(6, P + 19, 9), RULE_FAIL, "", RULE_PASS, ""},
    {"ISER-9.2-03",     healthy, NULL, CONTENT(11, P + 3, 1), RULE_FAIL, "", RULE_PASS, ""},
    {"ISER-9.2-04",     healthy, NULL, CONTENT(11, BHS + 7, 9), RULE_FAIL, "", RULE_PASS, ""},
    {"ISER-9.3-01",     logged_in, long_hello, NO_CHANGE, RULE_FAIL, "", RULE_PASS, "ISER-5.1.2-01"},
    {"ISER-9.3-02",     logged_in, NULL, CONTENT(4, P + 1, 0xA9), RULE_FAIL, "", RULE_PASS, "ISER-5.1.2-01"},
    {"ISER-9.3-03",     logged_in, NULL, CONTENT(4, P, 0x21), RULE_FAIL, "", RULE_PASS, "ISER-5.1.2-01"},
    {"ISER-9.4-01",     healthy, long_reply, NO_CHANGE, RULE_FAIL, "", RULE_PASS, ""},
    {"ISER-9.4-02",     healthy, NULL, CONTENT(3, P + 1, 0xA9), RULE_FAIL, "", RULE_PASS, ""},
    {"ISER-9.4-03",     healthy, NULL, CONTENT(3, P + 27, 1), RULE_FAIL, "", RULE_PASS, ""},
    {.id = NULL},
};
/* clang-format on */

START_TEST(case_of_the_iser_rules)
{
    rule_case_run(&rules_iser_cases[_i]);
}
END_TEST

/* ---- recognition ------------------------------------------------------------------------------------------------- */

/* One octet of the first SCSI Command that is otherwise: nothing is recognised by it. */
START_TEST(a_command_with_another_octet_is_not_iser)
{
    static const uint8_t at[][2] = {{P, 0x34},    {P, 0x1C},    {P + 3, 1},      {P + 7, 1},      {P + 15, 1},
                                    {BHS, 0x81},  {BHS, 0x07},  {BHS + 1, 0xC8}, {BHS + 1, 0xC7}, {BHS + 3, 1},
                                    {BHS + 4, 1}, {BHS + 7, 1}, {BHS + 1, 0xE0}, {BHS + 1, 0xA0}};
    struct conversation_change change = CONTENT(2, 0, 0);
    struct conversation *c;

    change.offset = at[_i][0];
    change.octets[0] = at[_i][1];
    c = conversation_create(&change);
    begin(c);
    scsi_read(c, 1, 1);
    scsi_response(c, 1, 9, 0x99);
    end(c);
    ck_assert_uint_eq(rule_case_exercised(c, "ISER"), 0);
    conversation_free(c);
}
END_TEST

/* A message of 28 octets that begins as a Hello, and a target that answers by something else. */
START_TEST(a_hello_without_an_iser_answer_is_none)
{
    struct conversation *c = conversation_create(NULL);

    begin(c);
    hello(c, 0, 1, 0);
    send(c, 1, 1, "something else, of another protocol", 36);
    send(c, 0, 2, "and so on, without any iSER header", 35);
    end(c);
    ck_assert(!rule_case_fails(c, "ISER-9.1-02"));
    ck_assert(!rule_case_fails(c, "ISER-5.1.3-01"));
    conversation_free(c);
}
END_TEST

/* Buffers are not judged where the first command is not the first message; headers are. */
START_TEST(buffers_are_not_judged_in_mid_stream)
{
    struct conversation *c = conversation_create(NULL);

    begin(c);
    for (uint32_t msn = 1; msn < 4; msn++)
        conversation_send(c, 0, IWARP_RDMAP_SEND, msn, 0, true, 40);
    scsi_read(c, 4, 1);
    write(c, 1, 0x77, 100);
    send(c, 1, 1, "ping", 4);
    end(c);
    ck_assert(rule_case_fails(c, "ISER-9.1-01")); /* it is recognised */
    ck_assert_uint_eq(rule_case_exercised(c, "ISER-7.3.5-01"), 0);
    conversation_free(c);
}
END_TEST

/* The command that the capture lacks may have advertised what is written. */
START_TEST(buffers_are_not_judged_after_a_loss)
{
    struct conversation *c = conversation_create(NULL);

    begin(c);
    hello(c, 0, 1, 0);
    hello(c, 1, 1, 0);
    scsi_read(c, 2, 1);
    write(c, 1, READ_STAG, 600);
    end(c);
    ck_assert(conversation_drop(c, 4));
    ck_assert(!rule_case_fails(c, "ISER-7.3.5-01"));
    conversation_free(c);
}
END_TEST

/* The Read buffer of a bidirectional command has a length of its own, in an Additional Header Segment. */
START_TEST(a_bidirectional_command_has_two_lengths)
{
    struct pdu both = {ISCSI_COMMAND, FINAL | READS | WRITES, 1, 100, 2, 1, READ_STAG, WRITE_STAG, .data = 0};
    struct conversation *c = conversation_create(NULL);
    uint8_t octets[ROOM];
    size_t count;

    begin(c);
    hello(c, 0, 1, 0);
    hello(c, 1, 1, 0);
    count = pack(&both, octets);
    iscsi_request_set_TotalAHSLength(octets + ISER_HEADER_OCTETS, 2);
    octets_put16(octets + count, 5);
    octets[count + 2] = 2;
    octets_put32(octets + count + 4, 600);
    send(c, 0, 2, octets, count + 8);
    write(c, 1, READ_STAG, 600);
    write(c, 1, READ_STAG, 601);
    read(c, 1, 1, 101);
    end(c);
    ck_assert(rule_case_fails(c, "ISER-7.3.5-02"));
    ck_assert(rule_case_fails(c, "ISER-7.3.6-02"));
    ck_assert(!rule_case_fails(c, "ISER-7.3.5-01"));
    conversation_free(c);
}
END_TEST

/* What both sides have said anew is admitted: the other side's numbers retire what stood. */
START_TEST(unexpected_pdus_are_retired_by_the_other_sides_numbers)
{
    struct pdu command = {ISCSI_NOP_OUT, FINAL, 9, (uint32_t)ISCSI_TAG_NONE, 2, 3, .data = 0};
    struct pdu answer = {ISCSI_NOP_IN, FINAL, 9, (uint32_t)ISCSI_TAG_NONE, 3, 3, .data = 0};
    struct pdu ping = {ISCSI_NOP_OUT | 0x40, FINAL, 3, (uint32_t)ISCSI_TAG_NONE, 3, 4, .data = 0};
    struct pdu pong = {ISCSI_NOP_IN, FINAL, (uint32_t)ISCSI_TAG_NONE, 0, 4, 4, .data = 0};
    struct conversation *c = conversation_create(NULL);

    linux_like(c, 0);
    say(c, 0, 6, &command);
    say(c, 1, 6, &answer);
    say(c, 0, 7, &ping);
    say(c, 1, 7, &pong);
    end(c);
    ck_assert(!rule_case_fails(c, "ISER-8.1.1.3-01"));
    ck_assert(!rule_case_fails(c, "ISER-8.1.2-01"));
    conversation_free(c);
}
END_TEST

Suite *rules_iser_suite(void);

Suite *rules_iser_suite(void)
{
    Suite *suite = suite_create("rules_iser");
    TCase *cases = tcase_create("cases");

    tcase_add_loop_test(cases, case_of_the_iser_rules, 0,
                        (int)(sizeof(rules_iser_cases) / sizeof(rules_iser_cases[0])) - 1);
    tcase_add_loop_test(cases, a_command_with_another_octet_is_not_iser, 0, 14);
    tcase_add_test(cases, a_hello_without_an_iser_answer_is_none);
    tcase_add_test(cases, buffers_are_not_judged_in_mid_stream);
    tcase_add_test(cases, buffers_are_not_judged_after_a_loss);
    tcase_add_test(cases, a_bidirectional_command_has_two_lengths);
    tcase_add_test(cases, unexpected_pdus_are_retired_by_the_other_sides_numbers);
    suite_add_tcase(suite, cases);
    return suite;
}
