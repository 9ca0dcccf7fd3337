/* SPDX-License-Identifier: BSD-2-Clause */
/* Rules on Atomic Operations and Immediate Data (RFC 7306): one case each. */
#include "tests/unit/rule_case.h"

enum { FIRST_ID = 0x11, SECOND_ID = 0x22 };

static void untagged(struct conversation *c, unsigned direction, enum iwarp_rdmap_opcode opcode, uint32_t msn,
                     const void *body, size_t octets)
{
    struct ddp_segment header = {.last = true,
                                 .version = DDP_VERSION,
                                 .control = rdmap_control(opcode),
                                 .qn = rdmap_opcode_rows[opcode].qn,
                                 .msn = msn};

    conversation_segment(c, direction, &header, body, octets);
}

static void request(struct conversation *c, unsigned direction, uint32_t msn, enum iwarp_atomic_opcode operation,
                    uint32_t id)
{
    struct atomic_request fields = {.opcode = (uint8_t)operation,
                                    .id = id,
                                    .stag = 7,
                                    .to = 0x1000,
                                    .data = 1,
                                    .compare_data = operation == IWARP_ATOMIC_COMPARE_SWAP ? 5 : 0,
                                    .compare_mask = UINT64_MAX};
    uint8_t header[ATOMIC_REQUEST_OCTETS];

    atomic_request_pack(&fields, header);
    untagged(c, direction, IWARP_RDMAP_ATOMIC_REQUEST, msn, header, sizeof(header));
}

static void response_of(struct conversation *c, unsigned direction, uint32_t msn, uint32_t id, size_t octets)
{
    struct atomic_response fields = {.id = id, .value = 0x0102030405060708};
    uint8_t header[32] = {0};

    atomic_response_pack(&fields, header);
    untagged(c, direction, IWARP_RDMAP_ATOMIC_RESPONSE, msn, header, octets);
}

static void begin(struct conversation *c)
{
    conversation_open(c, 1460);
    conversation_start(c, 0, &plain_request);
    conversation_start(c, 1, &plain_reply);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 1, 0, true, 20); /* 2 */
    conversation_send(c, 1, IWARP_RDMAP_SEND, 1, 0, true, 20); /* 3 */
}

/* Both sides ask, Reads among it, and all is answered in order. */
static void extensions(struct conversation *c)
{
    static const uint8_t eight[IWARP_IMMEDIATE_OCTETS] = {1, 2, 3, 4, 5, 6, 7, 8};

    begin(c);
    request(c, 0, 1, IWARP_ATOMIC_FETCH_ADD, FIRST_ID);                             /* 4 */
    conversation_read(c, 0, 2, 0x1111, 0x2000, 10);                                 /* 5 */
    request(c, 0, 3, IWARP_ATOMIC_COMPARE_SWAP, SECOND_ID);                         /* 6 */
    response_of(c, 1, 1, FIRST_ID, ATOMIC_RESPONSE_OCTETS);                         /* 7 */
    conversation_tagged(c, 1, IWARP_RDMAP_READ_RESPONSE, 0x1111, 0x2000, true, 10); /* 8 */
    response_of(c, 1, 2, SECOND_ID, ATOMIC_RESPONSE_OCTETS);                        /* 9 */
    untagged(c, 0, IWARP_RDMAP_IMMEDIATE, 2, eight, sizeof(eight));                 /* 10 */
    untagged(c, 0, IWARP_RDMAP_IMMEDIATE_SE, 3, eight, sizeof(eight));              /* 11 */
    conversation_send(c, 0, IWARP_RDMAP_SEND, 4, 0, true, 20);                      /* 12 */
    request(c, 1, 1, IWARP_ATOMIC_SWAP, 0);                                         /* 13 */
    request(c, 1, 2, IWARP_ATOMIC_FETCH_ADD, 0);                                    /* 14: the same identifier */
    response_of(c, 0, 1, 0, ATOMIC_RESPONSE_OCTETS);                                /* 15 */
    response_of(c, 0, 2, 0, ATOMIC_RESPONSE_OCTETS);                                /* 16 */
}

static void short_request(struct conversation *c)
{
    static const uint8_t header[ATOMIC_REQUEST_OCTETS];

    begin(c);
    untagged(c, 0, IWARP_RDMAP_ATOMIC_REQUEST, 1, header, sizeof(header) - 1);
}

static void long_response(struct conversation *c)
{
    begin(c);
    request(c, 0, 1, IWARP_ATOMIC_FETCH_ADD, FIRST_ID);
    response_of(c, 1, 1, FIRST_ID, 16);
}

static void longer_response(struct conversation *c)
{
    begin(c);
    request(c, 0, 1, IWARP_ATOMIC_FETCH_ADD, FIRST_ID);
    response_of(c, 1, 1, FIRST_ID, 32);
}

static void long_immediate(struct conversation *c)
{
    static const uint8_t twelve[12];

    begin(c);
    untagged(c, 0, IWARP_RDMAP_IMMEDIATE, 2, twelve, sizeof(twelve));
}

static void tagged(struct conversation *c, unsigned direction, enum iwarp_rdmap_opcode opcode)
{
    struct ddp_segment header = {
        .tagged = true, .last = true, .version = DDP_VERSION, .control = rdmap_control(opcode), .stag = 7};

    conversation_segment(c, direction, &header, NULL, rdmap_opcode_rows[opcode].header_octets);
}

static void tagged_request(struct conversation *c)
{
    begin(c);
    tagged(c, 0, IWARP_RDMAP_ATOMIC_REQUEST);
}

static void tagged_response(struct conversation *c)
{
    begin(c);
    tagged(c, 1, IWARP_RDMAP_ATOMIC_RESPONSE);
}

static void tagged_immediate(struct conversation *c)
{
    begin(c);
    tagged(c, 0, IWARP_RDMAP_IMMEDIATE);
}

/* One message on another queue than its own, as the first there. */
static void misplaced(struct conversation *c, unsigned direction, enum iwarp_rdmap_opcode opcode, uint32_t qn)
{
    struct ddp_segment header = {
        .last = true, .version = DDP_VERSION, .control = rdmap_control(opcode), .qn = qn, .msn = 1};
    struct atomic_request fields = {.compare_mask = UINT64_MAX};
    uint8_t body[ATOMIC_REQUEST_OCTETS];

    begin(c);
    atomic_request_pack(&fields, body);
    conversation_segment(c, direction, &header, body, rdmap_opcode_rows[opcode].header_octets);
}

static void misplaced_request(struct conversation *c)
{
    misplaced(c, 0, IWARP_RDMAP_ATOMIC_REQUEST, 3);
}

static void misplaced_response(struct conversation *c)
{
    misplaced(c, 1, IWARP_RDMAP_ATOMIC_RESPONSE, 1);
}

static void misplaced_immediate(struct conversation *c)
{
    misplaced(c, 0, IWARP_RDMAP_IMMEDIATE, 3);
}

static void overtaking(struct conversation *c)
{
    begin(c);
    request(c, 0, 1, IWARP_ATOMIC_FETCH_ADD, FIRST_ID);
    request(c, 0, 2, IWARP_ATOMIC_FETCH_ADD, SECOND_ID);
    response_of(c, 1, 1, SECOND_ID, ATOMIC_RESPONSE_OCTETS);
    response_of(c, 1, 2, FIRST_ID, ATOMIC_RESPONSE_OCTETS);
}

#define QUEUES_REQUEST  "ATOM-4.1-04 ATOM-5.2.1-21 ATOM7306-5.2-01"
#define QUEUES_RESPONSE "ATOM-4.1-04 ATOM-5.2.2-06 ATOM7306-5.2-02 ATOM7306-5-06"
#define MODEL_RESPONSE  "ATOM-4.1-04 ATOM-5.2.2-04 ATOM7306-5-06"

/* Offsets in a ULPDU: 0 DDP control, 1 RDMAP control, 2 Invalidate STag, 6 QN, 10 MSN, 14 MO, 18 the header. */
const struct rule_case rules_atomic_cases[] = {
    {"ATOM-4.1-02", extensions, NULL, CONTENT(7, 1, 0x6B), RULE_FAIL, "ATOM-4.1-08 RDMAP-4.1-19", 0, NULL},
    {"ATOM-4.1-04", extensions, misplaced_request, NO_CHANGE, RULE_FAIL, QUEUES_REQUEST, 0, NULL},
    {"ATOM-4.1-05", extensions, NULL, CONTENT(7, 1, 0x8B), RULE_FAIL, "ATOM-4.1-02 RDMAP-4.1-17 MPA-3-15 MPA-C.1-01", 0,
     NULL},
    {"ATOM-4.1-06", extensions, NULL, CONTENT(10, 2, 0xDE, 0xAD), RULE_FAIL, NULL, 0, NULL},
    {"ATOM-4.1-08", extensions, NULL, CONTENT(11, 0, 0x7D), RULE_FAIL, "DDP-4.1-10", 0, NULL},
    {"ATOM-4.2-01", extensions, short_request, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"ATOM-4.2-02", extensions, long_response, NO_CHANGE, RULE_FAIL, "ATOM-5.2.2-01", 0, NULL},
    {"ATOM-5.2.1-02", extensions, NULL, CONTENT(4, 18, 0x10), RULE_FAIL, NULL, 0, NULL},
    {"ATOM-5.2.1-04", extensions, NULL, CONTENT(4, 21, 7), RULE_FAIL, NULL, 0, NULL},
    {"ATOM-5.2.1-11", extensions, NULL, CONTENT(13, 54, 0xA5), RULE_FAIL, NULL, 0, NULL},
    {"ATOM-5.2.1-13", extensions, NULL, CONTENT(4, 69, 0x00), RULE_WARN, NULL, 0, NULL},
    {"ATOM-5.2.1-16", extensions, tagged_request, NO_CHANGE, RULE_FAIL, "ATOM-4.1-04", 0, NULL},
    {"ATOM-5.2.1-17", extensions, NULL, CONTENT(6, 13, 4), RULE_FAIL, "DDP-4.3-11", 0, NULL},
    {"ATOM-5.2.1-21", extensions, misplaced_request, NO_CHANGE, RULE_FAIL, QUEUES_REQUEST, 0, NULL},
    {"ATOM7306-5.2-01", extensions, misplaced_request, NO_CHANGE, RULE_FAIL, QUEUES_REQUEST, 0, NULL},
    {"ATOM-5.2.2-01", extensions, long_response, NO_CHANGE, RULE_FAIL, "ATOM-4.2-02", 0, NULL},
    {"ATOM7306-4-01", extensions, longer_response, NO_CHANGE, RULE_FAIL, "ATOM-4.2-02 ATOM-5.2.2-01", 0, NULL},
    {"ATOM-5.2.2-02", extensions, NULL, CONTENT(7, 18, 0x80), RULE_FAIL, NULL, 0, NULL},
    {"ATOM-5.2.2-04", extensions, tagged_response, NO_CHANGE, RULE_FAIL, MODEL_RESPONSE, 0, NULL},
    {"ATOM-5.2.2-05", extensions, NULL, CONTENT(9, 13, 3), RULE_FAIL, "DDP-4.3-11", 0, NULL},
    {"ATOM-5.2.2-06", extensions, misplaced_response, NO_CHANGE, RULE_FAIL, QUEUES_RESPONSE, 0, NULL},
    {"ATOM7306-5-06", extensions, misplaced_response, NO_CHANGE, RULE_FAIL, QUEUES_RESPONSE, 0, NULL},
    {"ATOM7306-5.2-02", extensions, misplaced_response, NO_CHANGE, RULE_FAIL, QUEUES_RESPONSE, 0, NULL},
    {"ATOM-5.2.2-10", extensions, overtaking, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"ATOM-6.3-01", extensions, tagged_immediate, NO_CHANGE, RULE_FAIL, "ATOM-4.1-04", 0, NULL},
    {"ATOM-6.3-04", extensions, misplaced_immediate, NO_CHANGE, RULE_FAIL, "ATOM-4.1-04", 0, NULL},
    {"ATOM-6.3-05", extensions, long_immediate, NO_CHANGE, RULE_FAIL, "ATOM-4.2-02", 0, NULL},
    {NULL, NULL, NULL, NO_CHANGE, RULE_PASS, NULL, 0, NULL},
};

START_TEST(case_of_the_atomic_rules)
{
    rule_case_run(&rules_atomic_cases[_i]);
}
END_TEST

Suite *rules_atomic_suite(void);

Suite *rules_atomic_suite(void)
{
    Suite *suite = suite_create("rules_atomic");
    TCase *cases = tcase_create("cases");

    tcase_add_loop_test(cases, case_of_the_atomic_rules, 0,
                        (int)(sizeof(rules_atomic_cases) / sizeof(rules_atomic_cases[0])) - 1);
    suite_add_tcase(suite, cases);
    return suite;
}
