/* SPDX-License-Identifier: BSD-2-Clause */
/* What can still be compared after a finding, or after a loss, is compared, and the first fault is not found twice. */
#include <stdio.h>
#include <string.h>

#include "tests/unit/rule_case.h"

Suite *rules_after_suite(void);

static void begin(struct conversation *c)
{
    conversation_open(c, 1460);
    conversation_start(c, 0, &plain_request);
    conversation_start(c, 1, &plain_reply);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 1, 0, true, 20);
    conversation_send(c, 1, IWARP_RDMAP_SEND, 1, 0, true, 20);
}

/* ---- Reads ------------------------------------------------------------------------------------------------------- */

enum wrong_msn { MSN_RIGHT, MSN_SECOND_FIRST, MSN_SKIPPED, MSN_AGAIN, MSN_KINDS };

/* Three Reads, whose MSNs are wrong in that way; the answers are those of a responder who pays no heed to it. */
static void three_reads(struct conversation *c, enum wrong_msn wrong, uint32_t stag, uint64_t to, size_t octets)
{
    static const uint32_t msn[MSN_KINDS][3] = {{1, 2, 3}, {2, 3, 4}, {1, 3, 4}, {1, 1, 2}};

    begin(c);
    for (uint32_t i = 0; i < 3; i++)
        conversation_read(c, 0, msn[wrong][i], 0x1111 + i, 0x2000 * i, 20);
    conversation_tagged(c, 1, IWARP_RDMAP_READ_RESPONSE, 0x1111, 0, true, 20);
    conversation_tagged(c, 1, IWARP_RDMAP_READ_RESPONSE, stag, to, true, octets);
    conversation_tagged(c, 1, IWARP_RDMAP_READ_RESPONSE, 0x1113, 0x4000, true, 20);
}

static void right_reads(struct conversation *c)
{
    three_reads(c, MSN_RIGHT, 0x1112, 0x2000, 20);
}

/* Loop: each kind of wrong MSN, and each fault of a response. */
START_TEST(wrong_msn_masks_nothing)
{
    static const struct {
        const char *id;
        uint32_t stag;
        uint64_t to;
        size_t octets;
    } faults[] = {{"RDMAP-4.4-03", 0x1115, 0x2000, 20},
                  {"RDMAP-4.4-04", 0x1112, 0x2004, 20},
                  {"RDMAP-4.5-01", 0x1112, 0x2000, 24}};
    struct conversation *conversation = conversation_create(NULL);
    static struct verdicts verdicts;
    char allowed[64];

    three_reads(conversation, 1 + _i % 3, faults[_i / 3].stag, faults[_i / 3].to, faults[_i / 3].octets);
    rule_case_judge(conversation, &verdicts);
    conversation_free(conversation);
    (void)snprintf(allowed, sizeof(allowed), "%s %s", faults[_i / 3].id, _i % 3 == 0 ? "DDP-4.3-12" : "DDP-4.3-11");
    rule_case_quiet(&verdicts, allowed, "a wrong MSN");
    ck_assert_int_eq(verdicts.verdict[rule_find(faults[_i / 3].id)->index], RULE_FAIL);
    ck_assert_uint_eq(verdicts.findings[rule_find(faults[_i / 3].id)->index], 1);
}
END_TEST

/*
 * A response has all its octets and no L = 1, and another one begins, of whatever STag and TO: no request waits for it.
 * Loop: where it goes, and whether the first one went to the sink.
 */
START_TEST(response_after_one_without_an_end)
{
    static const struct {
        uint32_t stag;
        uint64_t to;
    } goes[] = {{0x1111, 0x9000}, {0x2222, 0x2000}, {0x2222, 0}, {0x3333, 0x9000}};
    struct conversation *conversation = conversation_create(NULL);
    static struct verdicts verdicts;
    bool sink = _i % 2 == 0;

    begin(conversation);
    conversation_read(conversation, 0, 1, 0x1111, 0, 8);
    conversation_tagged(conversation, 1, IWARP_RDMAP_READ_RESPONSE, sink ? 0x1111 : 0x4444, sink ? 0 : 0x7000, false,
                        8);
    conversation_tagged(conversation, 1, IWARP_RDMAP_READ_RESPONSE, goes[_i / 2].stag, goes[_i / 2].to, false, 8);
    conversation_tagged(conversation, 1, IWARP_RDMAP_READ_RESPONSE, goes[_i / 2].stag, goes[_i / 2].to + 8, true, 8);
    rule_case_judge(conversation, &verdicts);
    conversation_free(conversation);
    ck_assert_int_eq(verdicts.verdict[rule_find("RDMAP-5.2-01")->index], RULE_FAIL);
    ck_assert_uint_eq(verdicts.findings[rule_find("RDMAP-5.2-01")->index], 1);
}
END_TEST

/* The responder drops the Read with the wrong MSN, and answers the others. */
START_TEST(dropped_read_is_no_fault_of_others)
{
    struct conversation *conversation = conversation_create(NULL);
    static struct verdicts verdicts;

    begin(conversation);
    conversation_read(conversation, 0, 3, 0x1111, 0, 20);
    conversation_read(conversation, 0, 1, 0x1112, 0, 20);
    conversation_tagged(conversation, 1, IWARP_RDMAP_READ_RESPONSE, 0x1112, 0, true, 20);
    rule_case_judge(conversation, &verdicts);
    conversation_free(conversation);
    rule_case_quiet(&verdicts, "DDP-4.3-11 DDP-4.3-12", "a Read that is dropped");
}
END_TEST

/* ---- octets in reverse order ------------------------------------------------------------------------------------- */

static int verdict_of(const struct verdicts *verdicts, const char *id)
{
    return verdicts->verdict[rule_find(id)->index];
}

static const char *cause_of(const struct verdicts *verdicts, const char *id)
{
    const char *cause = verdicts->cause[rule_find(id)->index];

    return cause != NULL ? cause : "";
}

/* Two Reads whose requester does not turn its fields, the second one answered in two segments. */
static void reversed_requests(struct conversation *c)
{
    begin(c);
    for (uint32_t i = 0; i < 2; i++)
        conversation_read(c, 0, i + 1, 0x11110000, 0x0010000000000000, 0x14000000);
    conversation_tagged(c, 1, IWARP_RDMAP_READ_RESPONSE, 0x1111, 0x1000, true, 20);
    conversation_tagged(c, 1, IWARP_RDMAP_READ_RESPONSE, 0x1111, 0x1000, false, 16);
    conversation_tagged(c, 1, IWARP_RDMAP_READ_RESPONSE, 0x1111, 0x1010, true, 4);
}

/* RFC 5040 4.4: the requester's fault, once for each request; what the responder sent is right. */
START_TEST(reversed_request_is_the_requesters)
{
    enum { FIRST_FRAME = 8 }; /* after three of TCP, two of MPA and two Sends */
    struct conversation *conversation = conversation_create(NULL);
    size_t rule = rule_find("RDMAP-4.4-01")->index;
    static struct verdicts verdicts;

    reversed_requests(conversation);
    rule_case_judge(conversation, &verdicts);
    conversation_free(conversation);
    rule_case_quiet(&verdicts, "RDMAP-4.4-01", "a reversed Read Request");
    ck_assert_int_eq(verdicts.verdict[rule], RULE_FAIL);
    ck_assert_uint_eq(verdicts.findings[rule], 2);
    ck_assert_int_eq(verdicts.direction[rule], FLOW_FROM_INITIATOR);
    ck_assert_str_eq(verdicts.cause[rule], "read-request-reversed");
    ck_assert_uint_eq(verdicts.frame[rule], FIRST_FRAME); /* of the first request, not of its response */
    ck_assert_int_eq(verdict_of(&verdicts, "RDMAP-4.4-03"), RULE_PASS);
    ck_assert_int_eq(verdict_of(&verdicts, "RDMAP-4.4-04"), RULE_PASS);
    ck_assert_int_eq(verdict_of(&verdicts, "RDMAP-4.5-01"), RULE_PASS);
}
END_TEST

/* What the response lacks of the meant octets is still found. Loop: too few, too many; a wrong sink. */
START_TEST(reversed_request_masks_nothing)
{
    static const struct {
        const char *id;
        uint32_t stag;
        size_t first, second;
    } faults[] = {{"RDMAP-4.5-01", 0x1111, 16, 3}, {"RDMAP-4.5-01", 0x1111, 16, 5}, {"RDMAP-4.4-03", 0x1112, 16, 4}};
    struct conversation *conversation = conversation_create(NULL);
    static struct verdicts verdicts;

    begin(conversation);
    conversation_read(conversation, 0, 1, 0x11110000, 0x0010000000000000, 0x14000000);
    conversation_tagged(conversation, 1, IWARP_RDMAP_READ_RESPONSE, faults[_i].stag, 0x1000, false, faults[_i].first);
    conversation_tagged(conversation, 1, IWARP_RDMAP_READ_RESPONSE, faults[_i].stag, 0x1000 + faults[_i].first, true,
                        faults[_i].second);
    rule_case_judge(conversation, &verdicts);
    conversation_free(conversation);
    ck_assert_int_eq(verdict_of(&verdicts, faults[_i].id), RULE_FAIL);
    ck_assert_int_eq(verdicts.direction[rule_find(faults[_i].id)->index], FLOW_FROM_RESPONDER);
}
END_TEST

/* The request is right, and the response has what it copies reversed: the responder's fault, of one cause. */
START_TEST(reversed_response_is_the_responders)
{
    struct conversation *conversation = conversation_create(NULL);
    static struct verdicts verdicts;

    begin(conversation);
    conversation_read(conversation, 0, 1, 0x1111, 0x1000, 20);
    conversation_tagged(conversation, 1, IWARP_RDMAP_READ_RESPONSE, 0x11110000, 0x0010000000000000, true, 20);
    rule_case_judge(conversation, &verdicts);
    conversation_free(conversation);
    rule_case_quiet(&verdicts, "RDMAP-4.4-03 RDMAP-4.4-04", "a reversed Read Response");
    ck_assert_int_eq(verdict_of(&verdicts, "RDMAP-4.4-03"), RULE_FAIL);
    ck_assert_str_eq(cause_of(&verdicts, "RDMAP-4.4-03"), "field-octets-reversed");
    ck_assert_str_eq(cause_of(&verdicts, "RDMAP-4.4-04"), "field-octets-reversed");
}
END_TEST

/* RFC 5041 4.3: one counter for all queues is one fault. Loop: another fault of MSNs is not it. */
START_TEST(shared_msn_is_one_cause)
{
    static const uint32_t msn[][3] = {{1, 2, 3}, {2, 2, 3}, {1, 3, 3}};
    struct conversation *conversation = conversation_create(NULL);
    static struct verdicts verdicts;
    bool first, later;

    conversation_open(conversation, 1460);
    conversation_start(conversation, 0, &plain_request);
    conversation_start(conversation, 1, &plain_reply);
    conversation_send(conversation, 0, IWARP_RDMAP_SEND, msn[_i][0], 0, true, 20);
    conversation_read(conversation, 0, msn[_i][1], 0x1111, 0, 20);
    conversation_send(conversation, 0, IWARP_RDMAP_SEND, msn[_i][2], 0, true, 20);
    rule_case_judge(conversation, &verdicts);
    conversation_free(conversation);
    first = strcmp(cause_of(&verdicts, "DDP-4.3-12"), "msn-shared") == 0;
    later = strcmp(cause_of(&verdicts, "DDP-4.3-11"), "msn-shared") == 0;
    ck_assert_int_eq(verdict_of(&verdicts, "DDP-4.3-12"), RULE_FAIL);
    ck_assert_int_eq(first, _i == 0);
    ck_assert_int_eq(later, _i == 0);
}
END_TEST

/* ---- what follows a wrong response ------------------------------------------------------------------------------- */

/* After a wrong response the next ones are compared, each with its own request. */
static void second_wrong_too(struct conversation *c)
{
    begin(c);
    for (uint32_t i = 0; i < 3; i++)
        conversation_read(c, 0, 1 + i, 0x1111 + i, 0x2000 * i, 20);
    conversation_tagged(c, 1, IWARP_RDMAP_READ_RESPONSE, 0x1111, 8, true, 20);
    conversation_tagged(c, 1, IWARP_RDMAP_READ_RESPONSE, 0x1112, 0x2000, true, 21);
    conversation_tagged(c, 1, IWARP_RDMAP_READ_RESPONSE, 0x1113, 0x4000, true, 20);
}

/* Once overtaken is one fault: what comes after is where it belongs. */
static void overtaken(struct conversation *c)
{
    begin(c);
    for (uint32_t i = 0; i < 4; i++)
        conversation_read(c, 0, 1 + i, 0x1111 + i, 0x2000 * i, 20 + i);
    for (unsigned i = 0; i < 4; i++) {
        static const uint32_t order[] = {1, 0, 2, 3};

        conversation_tagged(c, 1, IWARP_RDMAP_READ_RESPONSE, 0x1111 + order[i], 0x2000 * order[i], true, 20 + order[i]);
    }
}

/* L = 1 before the end: the rest looks like another response, and answers nothing else. */
static void ends_early(struct conversation *c)
{
    begin(c);
    conversation_read(c, 0, 1, 0x1111, 0, 40);
    conversation_read(c, 0, 2, 0x1112, 0, 30);
    conversation_tagged(c, 1, IWARP_RDMAP_READ_RESPONSE, 0x1111, 0, true, 20);
    conversation_tagged(c, 1, IWARP_RDMAP_READ_RESPONSE, 0x1111, 20, true, 20);
    conversation_tagged(c, 1, IWARP_RDMAP_READ_RESPONSE, 0x1112, 0, true, 30);
}

/* L = 0 at the end: the next response begins all the same. */
static void never_ends(struct conversation *c)
{
    begin(c);
    conversation_read(c, 0, 1, 0x1111, 0, 40);
    conversation_read(c, 0, 2, 0x1112, 0x100, 30);
    conversation_read(c, 0, 3, 0x1113, 0x200, 30);
    conversation_tagged(c, 1, IWARP_RDMAP_READ_RESPONSE, 0x1111, 0, false, 40);
    conversation_tagged(c, 1, IWARP_RDMAP_READ_RESPONSE, 0x1112, 0x100, true, 30);
    conversation_tagged(c, 1, IWARP_RDMAP_READ_RESPONSE, 0x1113, 0x200, true, 30);
}

/* An answer without T answers something; the next ones are compared. */
static void untagged_answer(struct conversation *c)
{
    struct ddp_segment header = {
        .last = true, .version = DDP_VERSION, .control = rdmap_control(IWARP_RDMAP_READ_RESPONSE), .qn = 0, .msn = 2};

    begin(c);
    for (uint32_t i = 0; i < 3; i++)
        conversation_read(c, 0, 1 + i, 0x1111 + i, 0x2000 * i, 20);
    conversation_segment(c, 1, &header, NULL, 20);
    conversation_tagged(c, 1, IWARP_RDMAP_READ_RESPONSE, 0x1112, 0x2000, true, 20);
    conversation_tagged(c, 1, IWARP_RDMAP_READ_RESPONSE, 0x1113, 0x4000, true, 23);
}

/* ---- after a loss ------------------------------------------------------------------------------------------------ */

/* A healthy beginning, of which a frame is left out, or spoilt by a wrong CRC; then a message of several segments. */
static void long_talk(struct conversation *c, unsigned units)
{
    begin(c);
    for (uint32_t i = 0; i < units; i++)
        conversation_send(c, 0, IWARP_RDMAP_SEND, 2 + i, 0, true, 20);
}

static void wrong_msn(struct conversation *c)
{
    long_talk(c, 4);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 7, 0, true, 20);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 8, 0, true, 20);
}

static void wrong_mo(struct conversation *c)
{
    long_talk(c, 4);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 6, 0, false, 20);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 6, 30, true, 20);
}

static void wrong_stag(struct conversation *c)
{
    long_talk(c, 4);
    conversation_tagged(c, 0, IWARP_RDMAP_WRITE, 7, 0, true, 20);
    conversation_tagged(c, 0, IWARP_RDMAP_WRITE, 7, 0x100, false, 20);
    conversation_tagged(c, 0, IWARP_RDMAP_WRITE, 8, 0x114, true, 20);
}

static void spoil_crc(uint8_t *fpdu, size_t octets, uint32_t position)
{
    (void)position;
    fpdu[octets - 1] ^= 1;
}

static const struct {
    const char *id;
    build_function *build;
} later_faults[] = {{"DDP-4.3-11", wrong_msn}, {"DDP-5.2-06", wrong_mo}, {"DDP-4.2-11", wrong_stag}};

/* Loop: what is wrong; after a frame that was not captured, and after an FPDU with a wrong CRC. */
START_TEST(judged_after_a_loss)
{
    enum { FRAMES_BEFORE = 3, LOST = 5 };
    const struct rule *rule = rule_find(later_faults[_i / 2].id);
    struct conversation *conversation = conversation_create(NULL);
    static struct verdicts verdicts;

    later_faults[_i / 2].build(conversation);
    if (_i % 2 == 0)
        ck_assert(conversation_drop(conversation, FRAMES_BEFORE + LOST));
    else
        conversation_spoil(conversation, LOST, spoil_crc);
    rule_case_judge(conversation, &verdicts);
    conversation_free(conversation);
    rule_case_quiet(&verdicts,
                    _i % 2 == 0                       ? rule->id
                    : rule == rule_find("DDP-4.3-11") ? "DDP-4.3-11 MPA-4.4-04 MPA-4.4-01"
                                                      : "DDP-5.2-06 DDP-4.2-11 MPA-4.4-01 MPA-4.4-04",
                    "after a loss");
    ck_assert_msg(verdicts.verdict[rule->index] == RULE_FAIL, "%s", rule->id);
}
END_TEST

/* Loop: each frame of a healthy conversation left out, and each unit with a wrong CRC: no other rule says anything. */
START_TEST(loss_is_no_fault)
{
    struct conversation *conversation = conversation_create(NULL);
    static struct verdicts verdicts;

    (_i % 2 == 0 ? plain_conversation : enhanced_conversation)(conversation);
    if (!conversation_drop(conversation, (size_t)_i / 2)) {
        conversation_free(conversation);
        return;
    }
    rule_case_judge(conversation, &verdicts);
    conversation_free(conversation);
    rule_case_quiet(&verdicts, NULL, "a frame left out");
}
END_TEST

/* A Read Request in two segments, against RFC 5040 4.4: one message is one request, and one response answers it. */
START_TEST(begun_request_is_one)
{
    struct ddp_segment segment = {.version = DDP_VERSION,
                                  .control = rdmap_control(IWARP_RDMAP_READ_REQUEST),
                                  .qn = DDP_QN_READ_REQUEST,
                                  .msn = DDP_FIRST_MSN};
    struct read_request request = {0x1111, 0, 20, 0xABCD0001, 0x4000};
    struct conversation *conversation = conversation_create(NULL);
    const struct rule *rule = rule_find("RDMAP-5.2.2-08");
    uint8_t header[READ_REQUEST_OCTETS];
    static struct verdicts verdicts;

    begin(conversation);
    read_request_pack(&request, header);
    conversation_segment(conversation, 0, &segment, header, sizeof(header));
    conversation_read(conversation, 0, 1, 0x1111, 0, 20);
    conversation_tagged(conversation, 1, IWARP_RDMAP_READ_RESPONSE, 0x1111, 0, true, 20);
    conversation_read(conversation, 0, 2, 0x1112, 0, 20);
    conversation_tagged(conversation, 1, IWARP_RDMAP_READ_RESPONSE, 0x1112, 0, true, 20);
    rule_case_judge(conversation, &verdicts);
    conversation_free(conversation);
    ck_assert_msg(verdicts.verdict[rule->index] != (int)RULE_FAIL, "%s", verdicts.message[rule->index]);
}
END_TEST

const struct rule_case rules_after_cases[] = {
    {"RDMAP-4.4-04", right_reads, second_wrong_too, NO_CHANGE, RULE_FAIL, "RDMAP-4.5-01", 0, NULL},
    {"RDMAP-4.5-01", right_reads, second_wrong_too, NO_CHANGE, RULE_FAIL, "RDMAP-4.4-04", 0, NULL},
    {"RDMAP-5.2.2-08", right_reads, overtaken, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"RDMAP-4.5-01", right_reads, ends_early, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"DDP-4.2-11", plain_conversation, never_ends, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"RDMAP-4.5-01", right_reads, untagged_answer, NO_CHANGE, RULE_FAIL, "RDMAP-5.2.2-03", 0, NULL},
    {"RDMAP-4.4-01", right_reads, reversed_requests, NO_CHANGE, RULE_FAIL, NULL, RULE_VERDICTS, NULL},
    {NULL, NULL, NULL, NO_CHANGE, RULE_PASS, NULL, 0, NULL},
};

START_TEST(case_of_the_rules_after_a_fault)
{
    rule_case_run(&rules_after_cases[_i]);
}
END_TEST

Suite *rules_after_suite(void)
{
    Suite *suite = suite_create("rules_after");
    TCase *tcase = tcase_create("cases");

    tcase_add_loop_test(tcase, case_of_the_rules_after_a_fault, 0,
                        (int)(sizeof(rules_after_cases) / sizeof(rules_after_cases[0])) - 1);
    tcase_add_loop_test(tcase, wrong_msn_masks_nothing, 0, 9);
    tcase_add_loop_test(tcase, response_after_one_without_an_end, 0, 8);
    tcase_add_test(tcase, dropped_read_is_no_fault_of_others);
    tcase_add_test(tcase, reversed_request_is_the_requesters);
    tcase_add_test(tcase, begun_request_is_one);
    tcase_add_loop_test(tcase, reversed_request_masks_nothing, 0, 3);
    tcase_add_test(tcase, reversed_response_is_the_responders);
    tcase_add_loop_test(tcase, shared_msn_is_one_cause, 0, 3);
    tcase_add_loop_test(tcase, judged_after_a_loss, 0, 6);
    tcase_add_loop_test(tcase, loss_is_no_fault, 0, 80);
    suite_add_tcase(suite, tcase);
    return suite;
}
