/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules on NVMe over RDMA: one case each. Payload of a Send begins at octet 18 of the ULPDU. Units of the healthy
 * conversation: 2 and 3 Connect to a queue of four entries and its response, 4 a read of 600 octets whose key is to be
 * invalidated, 5 its RDMA Write, 6 its response, which does, 7 a write of 700 octets, 8 and 9 the Read of it, 10 its
 * response.
 */
#include <string.h>

#include "conformance/flow/ulp/flow_nvme.h"
#include "tests/unit/rule_case.h"

enum { P = DDP_UNTAGGED_OCTETS, KEY = 0xA1, WRITES = 0x01, READS = 0x02, ENTRIES = 4, QUEUE = 3, PRIVATE = 20 };
static const uint64_t offset = 0x10000;

/* ---- capsules ---------------------------------------------------------------------------------------------------- */

static void send(struct conversation *c, unsigned direction, uint32_t msn, const uint8_t *octets, size_t count,
                 uint32_t invalidates)
{
    struct ddp_segment ddp = {.last = true,
                              .version = DDP_VERSION,
                              .control = invalidates != 0 ? 0x44 : 0x43,
                              .msn = msn,
                              .ulp_word = invalidates};

    conversation_segment(c, direction, &ddp, octets, count);
}

static void pack(uint8_t *octets, uint8_t opcode, uint16_t cid, uint32_t length, uint8_t type)
{
    memset(octets, 0, NVME_COMMAND_OCTETS);
    nvme_command_set_Opcode(octets, opcode);
    nvme_command_set_Flags(octets, NVME_PSDT_SGL);
    nvme_command_set_CID(octets, cid);
    nvme_command_set_NSID(octets, 1);
    nvme_command_set_Address(octets, length != 0 ? offset : 0);
    nvme_command_set_Length(octets, length);
    nvme_command_set_Key(octets, length != 0 ? KEY : 0);
    nvme_command_set_Type(octets, type);
}

static void command(struct conversation *c, uint32_t msn, uint8_t opcode, uint32_t length, uint8_t type)
{
    uint8_t octets[NVME_COMMAND_OCTETS];

    pack(octets, opcode, (uint16_t)msn, length, type);
    send(c, 0, msn, octets, sizeof(octets), 0);
}

static void respond(struct conversation *c, uint32_t msn, uint16_t cid, uint16_t head, uint32_t invalidates)
{
    uint8_t octets[NVME_RESPONSE_OCTETS] = {0};

    nvme_response_set_SQHD(octets, head);
    nvme_response_set_CID(octets, cid);
    send(c, 1, msn, octets, sizeof(octets), invalidates);
}

static void write(struct conversation *c, unsigned direction, size_t octets)
{
    conversation_tagged(c, direction, IWARP_RDMAP_WRITE, KEY, offset, true, octets);
}

static void read(struct conversation *c, uint32_t msn, uint32_t octets)
{
    struct ddp_segment ddp = {.last = true,
                              .version = DDP_VERSION,
                              .control = rdmap_control(IWARP_RDMAP_READ_REQUEST),
                              .qn = DDP_QN_READ_REQUEST,
                              .msn = msn};
    struct read_request request = {0x51, 0x2000, octets, KEY, offset};
    uint8_t packed[READ_REQUEST_OCTETS];

    read_request_pack(&request, packed);
    conversation_segment(c, 1, &ddp, packed, sizeof(packed));
    conversation_tagged(c, 0, IWARP_RDMAP_READ_RESPONSE, 0x51, 0x2000, true, octets);
}

/* ---- conversations ----------------------------------------------------------------------------------------------- */

static void begin(struct conversation *c, uint8_t attributes)
{
    static const uint8_t said[NVME_PRIVATE_OCTETS] = {0, 0, QUEUE, 0, ENTRIES, 0, ENTRIES - 1};
    struct iwarp_mpa_start request = plain_request, reply = plain_reply;
    uint8_t connect[NVME_COMMAND_OCTETS + NVME_CONNECT_DATA] = {0};

    request.private_data = said;
    request.private_octets = sizeof(said);
    conversation_open(c, 1460);
    conversation_start(c, 0, &request); /* 0 */
    conversation_start(c, 1, &reply);   /* 1 */
    pack(connect, NVME_FABRICS, 1, NVME_CONNECT_DATA, NVME_SGL_OFFSET);
    connect[42] = QUEUE;
    connect[44] = ENTRIES - 1;
    connect[46] = attributes;
    send(c, 0, 1, connect, sizeof(connect), 0); /* 2 */
    respond(c, 1, 1, 1, 0);                     /* 3 */
}

static void end(struct conversation *c)
{
    conversation_close(c, 0, false);
    conversation_close(c, 1, false);
}

static void exchanges(struct conversation *c)
{
    begin(c, 0);
    command(c, 2, READS, 600, 0x4F);  /* 4 */
    write(c, 1, 600);                 /* 5 */
    respond(c, 2, 2, 2, KEY);         /* 6 */
    command(c, 3, WRITES, 700, 0x40); /* 7 */
    read(c, 1, 700);                  /* 8, 9 */
    respond(c, 3, 3, 3, 0);           /* 10 */
}

static void healthy(struct conversation *c)
{
    exchanges(c);
    end(c);
}

static void short_command(struct conversation *c)
{
    static const uint8_t zeros[60];

    exchanges(c);
    send(c, 0, 4, zeros, sizeof(zeros), 0);
    end(c);
}

static void long_response(struct conversation *c)
{
    static const uint8_t zeros[17] = {[8] = 0, [12] = 4};

    exchanges(c);
    command(c, 4, 0, 0, 0x40);
    send(c, 1, 4, zeros, sizeof(zeros), 0);
    end(c);
}

/* So many commands without a response. */
static void commands(struct conversation *c, unsigned count)
{
    exchanges(c);
    for (uint32_t i = 0; i < count; i++)
        command(c, 4 + i, 0, 0, 0x40);
    end(c);
}

static void five_commands(struct conversation *c)
{
    commands(c, ENTRIES + 1);
}

static void second_response(struct conversation *c)
{
    exchanges(c);
    respond(c, 4, 3, 3, 0);
    end(c);
}

static void write_by_the_host(struct conversation *c)
{
    exchanges(c);
    write(c, 0, 600);
    end(c);
}

static void late_write(struct conversation *c)
{
    exchanges(c);
    write(c, 1, 600);
    end(c);
}

/* clang-format off */
const struct rule_case rules_nvme_cases[] = {
    {"NVMEOF-7.3-01", healthy, short_command, NO_CHANGE, RULE_FAIL, "", RULE_PASS, ""},
    {"NVMEOF-7.3-02", healthy, long_response, NO_CHANGE, RULE_FAIL, "", RULE_PASS, ""},
    {"NVMEOF-7.3-03", healthy, NULL, CONTENT(4, P + 1, 0), RULE_FAIL, "", RULE_PASS, ""},
    {"NVMEOF-7.3-04", healthy, NULL, CONTENT(7, P + 39, 0x41), RULE_FAIL, "", RULE_PASS, ""},
    {"NVMEOF-7.3-05", healthy, five_commands, NO_CHANGE, RULE_FAIL, "", RULE_PASS, ""},
    {"NVMEOF-7.3-06", healthy, second_response, NO_CHANGE, RULE_FAIL, "", RULE_PASS, ""},
    {"NVMEOF-7.3-07", healthy, NULL, CONTENT(4, P + 39, 0x40), RULE_FAIL, "", RULE_PASS, ""},
    {"NVMEOF-7.3-08", healthy, write_by_the_host, NO_CHANGE, RULE_FAIL, "", RULE_PASS, ""},
    {"NVMEOF-7.3-09", healthy, NULL, CONTENT(5, 5, 9), RULE_FAIL, "", RULE_PASS, ""},
    {"NVMEOF-7.3-10", healthy, NULL, CONTENT(5, 13, 200), RULE_FAIL, "", RULE_PASS, ""},
    {"NVMEOF-7.3-11", healthy, late_write, NO_CHANGE, RULE_FAIL, "", RULE_PASS, ""},
    {.id = NULL},
};
/* clang-format on */

START_TEST(case_of_the_nvme_rules)
{
    rule_case_run(&rules_nvme_cases[_i]);
}
END_TEST

/* ---- recognition and the queue ----------------------------------------------------------------------------------- */

/* One octet of Private Data or Connect that is otherwise: nothing is recognised by it. */
START_TEST(another_octet_of_connect_or_private_data_is_not_nvme)
{
    static const uint8_t at[][3] = {
        {0, PRIVATE, 1},      {0, PRIVATE + 2, 9}, {0, PRIVATE + 4, 0}, {0, PRIVATE + 6, 0}, {0, PRIVATE + 10, 1},
        {0, PRIVATE + 31, 1}, {2, P, 0x7E},        {2, P + 1, 0},       {2, P + 4, 2},       {2, P + 23, 1},
        {2, P + 33, 5},       {2, P + 39, 0x20},   {2, P + 40, 1},      {2, P + 42, 4},      {2, P + 44, 0}};
    struct conversation_change change = CONTENT(0, 0, 0);
    struct conversation *c;

    change.unit = at[_i][0];
    change.offset = at[_i][1];
    change.octets[0] = at[_i][2];
    c = conversation_create(&change);
    late_write(c);
    ck_assert_uint_eq(rule_case_exercised(c, "NVMEOF"), 0);
    conversation_free(c);
}
END_TEST

static unsigned verdict_of(build_function *build, const char *id)
{
    static struct verdicts verdicts;
    struct conversation *c = conversation_create(NULL);

    build(c);
    rule_case_judge(c, &verdicts);
    conversation_free(c);
    return (unsigned)verdicts.verdict[rule_find(id)->index];
}

static void four_commands(struct conversation *c)
{
    commands(c, ENTRIES);
}

/* SQHD frees what was sent before, in whatever order commands end. */
static void heads(struct conversation *c)
{
    begin(c, 0);
    for (uint32_t i = 0; i < 8; i += 2) {
        command(c, 2 + i, 0, 0, 0x40);
        command(c, 3 + i, 0, 0, 0x40);
        respond(c, 2 + i, (uint16_t)(3 + i), (uint16_t)((3 + i) % ENTRIES), 0);
        respond(c, 3 + i, (uint16_t)(2 + i), (uint16_t)((3 + i) % ENTRIES), 0);
    }
    end(c);
}

/* Without flow control SQHD has no meaning, and each response frees an entry. */
static void no_heads(struct conversation *c)
{
    begin(c, NVME_FLOW_CONTROL_OFF);
    for (uint32_t i = 0; i < 8; i++) {
        command(c, 2 + i, 0, 0, 0x40);
        respond(c, 2 + i, (uint16_t)(2 + i), 0xFFFF, 0);
    }
    end(c);
}

START_TEST(the_queue_is_counted_by_heads_or_responses)
{
    ck_assert_uint_eq(verdict_of(four_commands, "NVMEOF-7.3-05"), RULE_WARN);
    ck_assert_uint_eq(verdict_of(heads, "NVMEOF-7.3-05"), RULE_PASS);
    ck_assert_uint_eq(verdict_of(no_heads, "NVMEOF-7.3-05"), RULE_PASS);
}
END_TEST

/* A response that the capture lacks may have freed entries, and a command it lacks may have given memory. */
START_TEST(nothing_is_counted_after_a_loss)
{
    for (int unit = 4; unit <= 6; unit += 2) {
        struct conversation *c = conversation_create(NULL);

        exchanges(c);
        for (uint32_t i = 0; i <= ENTRIES; i++)
            command(c, 4 + i, 0, 0, 0x40);
        write(c, 1, 100);
        end(c);
        ck_assert(conversation_drop(c, unit));
        ck_assert(!rule_case_fails(c, "NVMEOF-7.3-05"));
        ck_assert(!rule_case_fails(c, "NVMEOF-7.3-09"));
        ck_assert(!rule_case_fails(c, "NVMEOF-7.3-11"));
        conversation_free(c);
    }
}
END_TEST

Suite *rules_nvme_suite(void);

Suite *rules_nvme_suite(void)
{
    Suite *suite = suite_create("rules_nvme");
    TCase *cases = tcase_create("cases");

    tcase_add_loop_test(cases, case_of_the_nvme_rules, 0,
                        (int)(sizeof(rules_nvme_cases) / sizeof(rules_nvme_cases[0])) - 1);
    tcase_add_loop_test(cases, another_octet_of_connect_or_private_data_is_not_nvme, 0, 15);
    tcase_add_test(cases, the_queue_is_counted_by_heads_or_responses);
    tcase_add_test(cases, nothing_is_counted_after_a_loss);
    suite_add_tcase(suite, cases);
    return suite;
}
