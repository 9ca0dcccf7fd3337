/* SPDX-License-Identifier: BSD-2-Clause */
/* Rules on MPA start-up (RFC 5044 7.1, RFC 6581): one case each. */
#include <string.h>

#include "tests/unit/rule_case.h"

static void close_both(struct conversation *c)
{
    conversation_close(c, 0, false);
    conversation_close(c, 1, false);
}

static void short_talk(struct conversation *c)
{
    conversation_send(c, 0, IWARP_RDMAP_SEND, 1, 0, true, 20);
    conversation_send(c, 1, IWARP_RDMAP_SEND, 1, 0, true, 20);
    close_both(c);
}

static void talk(struct conversation *c, const struct iwarp_mpa_start *request, const struct iwarp_mpa_start *reply)
{
    conversation_open(c, 1460);
    conversation_start(c, 0, request);
    conversation_start(c, 1, reply);
    short_talk(c);
}

static const uint8_t private_data[258] = {1, 2, 3};

static void private_conversation(struct conversation *c)
{
    struct iwarp_mpa_start request = plain_request;

    request.private_data = private_data;
    request.private_octets = sizeof(private_data);
    talk(c, &request, &plain_reply);
}

static void reply_first(struct conversation *c)
{
    conversation_open(c, 1460);
    conversation_start(c, 1, &plain_reply);
    conversation_start(c, 0, &plain_request);
    short_talk(c);
}

static void fpdu_before_reply(struct conversation *c)
{
    conversation_open(c, 1460);
    conversation_start(c, 0, &plain_request);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 1, 0, true, 20);
    conversation_start(c, 1, &plain_reply);
    conversation_send(c, 1, IWARP_RDMAP_SEND, 1, 0, true, 20);
    close_both(c);
}

static void responder_first(struct conversation *c)
{
    conversation_open(c, 1460);
    conversation_start(c, 0, &plain_request);
    conversation_start(c, 1, &plain_reply);
    conversation_send(c, 1, IWARP_RDMAP_SEND, 1, 0, true, 20);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 1, 0, true, 20);
    close_both(c);
}

static void responder_marker_first(struct conversation *c)
{
    struct iwarp_mpa_start request = plain_request;

    request.markers = true;
    conversation_open(c, 1460);
    conversation_start(c, 0, &request);
    conversation_start(c, 1, &plain_reply);
    conversation_send(c, 1, IWARP_RDMAP_SEND, 1, 0, true, 20);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 1, 0, true, 20);
    close_both(c);
}

static void plain_rev2(struct conversation *c)
{
    struct iwarp_mpa_start request = plain_request;

    request.revision = 2;
    talk(c, &request, &plain_reply);
}

static void plain_rev2_answered_enhanced(struct conversation *c)
{
    struct iwarp_mpa_start request = plain_request, reply = enhanced_reply;

    request.revision = 2;
    reply.peer_to_peer = reply.rtr_send = reply.rtr_write = reply.rtr_read = false;
    talk(c, &request, &reply);
}

static void plain_answered_enhanced(struct conversation *c)
{
    struct iwarp_mpa_start reply = enhanced_reply;

    reply.peer_to_peer = reply.rtr_send = reply.rtr_write = reply.rtr_read = false;
    talk(c, &plain_request, &reply);
}

static void not_negotiated(struct conversation *c)
{
    struct iwarp_mpa_start request = enhanced_request, reply = enhanced_reply;

    request.ird = request.ord = reply.ird = reply.ord = MPA_DEPTH_NOT_NEGOTIATED;
    conversation_open(c, 1460);
    conversation_start(c, 0, &request);
    conversation_start(c, 1, &reply);
    conversation_tagged(c, 0, IWARP_RDMAP_WRITE, 0, 0, true, 0);
    close_both(c);
}

static void client_server(struct conversation *c)
{
    struct iwarp_mpa_start request = enhanced_request, reply = enhanced_reply;

    request.peer_to_peer = request.rtr_send = request.rtr_write = request.rtr_read = false;
    reply.peer_to_peer = reply.rtr_send = reply.rtr_write = reply.rtr_read = false;
    talk(c, &request, &reply);
}

static void enhanced_start(struct conversation *c)
{
    conversation_open(c, 1460);
    conversation_start(c, 0, &enhanced_request);
    conversation_start(c, 1, &enhanced_reply);
}

static void no_rtr(struct conversation *c)
{
    enhanced_start(c);
    short_talk(c);
}

static void send_rtr(struct conversation *c)
{
    enhanced_start(c);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 1, 0, true, 0);
    conversation_send(c, 1, IWARP_RDMAP_SEND, 1, 0, true, 20);
    close_both(c);
}

static void read_rtr(struct conversation *c)
{
    enhanced_start(c);
    conversation_read(c, 0, 1, 0x11, 0x22, 0);
    conversation_tagged(c, 1, IWARP_RDMAP_READ_RESPONSE, 0x11, 0x22, true, 0);
    close_both(c);
}

static void reject(struct conversation *c)
{
    struct iwarp_mpa_start reply = plain_reply;

    reply.rejected = true;
    conversation_open(c, 1460);
    conversation_start(c, 0, &plain_request);
    conversation_start(c, 1, &reply);
}

static void rejected(struct conversation *c)
{
    reject(c);
    conversation_octets(c, 0, "the ULP's", 9);
    conversation_octets(c, 1, "own", 3);
    close_both(c);
}

static void rejected_twice(struct conversation *c)
{
    reject(c);
    conversation_start(c, 1, &plain_reply);
    short_talk(c);
}

static void rejected_and_begun_again(struct conversation *c)
{
    reject(c);
    conversation_start(c, 0, &plain_request);
    conversation_start(c, 1, &plain_reply);
    short_talk(c);
}

static void rejected_responder_sends(struct conversation *c)
{
    reject(c);
    conversation_send(c, 1, IWARP_RDMAP_SEND, 1, 0, true, 20);
    close_both(c);
}

static void rejected_initiator_sends(struct conversation *c)
{
    reject(c);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 1, 0, true, 20);
    close_both(c);
}

static void never_started(struct conversation *c)
{
    conversation_open(c, 1460);
    conversation_framing(c, 0, false, true);
    conversation_framing(c, 1, false, true);
    short_talk(c);
}

static void wrong_key(struct conversation *c, unsigned side)
{
    static const uint8_t frames[2][MPA_START_OCTETS] = {"MQA ID Req Frame\x40\1\0", "MQA ID Rep Frame\x40\1\0"};

    conversation_open(c, 1460);
    if (side == 0)
        conversation_octets(c, 0, frames[0], MPA_START_OCTETS);
    else
        conversation_start(c, 0, &plain_request);
    if (side == 1)
        conversation_octets(c, 1, frames[1], MPA_START_OCTETS);
    else
        conversation_start(c, 1, &plain_reply);
    conversation_framing(c, 0, false, true);
    conversation_framing(c, 1, false, true);
    short_talk(c);
}

static void wrong_request_key(struct conversation *c)
{
    wrong_key(c, 0);
}

static void wrong_reply_key(struct conversation *c)
{
    wrong_key(c, 1);
}

const struct rule_case rules_startup_cases[] = {
    {"MPA-7.1.1-01", plain_conversation, NULL, CONTENT(0, 12, 'f'), RULE_FAIL, "MPA-7.1.2-04", 0, NULL},
    {"MPA-7.1.1-04", plain_conversation, NULL, CONTENT(1, 10, 0x71), RULE_FAIL, NULL, 0, NULL},
    {"MPA-7.1.1-01", plain_conversation, wrong_request_key, NO_CHANGE, RULE_FAIL, "MPA-7.1.2-04", 0, NULL},
    {"MPA-7.1.1-04", plain_conversation, wrong_reply_key, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"MPA-7.1.2-01", plain_conversation, never_started, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"MPA-7.1.2-07", rejected, rejected_twice, NO_CHANGE, RULE_FAIL, NULL, RULE_VERDICTS, NULL},
    {"MPA-7.1.2-07", rejected_and_begun_again, rejected_responder_sends, NO_CHANGE, RULE_FAIL, NULL, RULE_VERDICTS,
     NULL},
    {"MPA-7.1.2-15", rejected, rejected_initiator_sends, NO_CHANGE, RULE_FAIL, NULL, RULE_VERDICTS, NULL},
    {"MPA-7.1.1-16", plain_conversation, NULL, CONTENT(0, 16, 0x60), RULE_FAIL, NULL, 0, NULL},
    {"MPA-7.1.1-19", plain_conversation, NULL, CONTENT(1, 16, 0x48), RULE_FAIL, NULL, 0, NULL},
    {"MPA-7.1.1-21", plain_conversation, NULL, CONTENT(1, 17, 2), RULE_FAIL, NULL, 0, NULL},
    {"MPA-7.1.1-21", plain_conversation, NULL, CONTENT(0, 16, 0, 0), RULE_FAIL, NULL, 0, NULL},
    {"MPA-7.1.1-26", private_conversation, NULL, CONTENT(0, 18, 0x02, 0x01), RULE_FAIL, "MPA-7.1.1-32 MPA-7.1.2-04", 0,
     NULL},
    {"MPA-7.1.1-32", plain_conversation, NULL, CONTENT(0, 18, 0x02, 0x01), RULE_FAIL, "MPA-7.1.2-04", 0, NULL},
    {"MPA-7.1.2-03", plain_conversation, reply_first, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"MPA-7.1.2-04", plain_conversation, NULL, CONTENT(0, 12, 'f'), RULE_FAIL, "MPA-7.1.1-01", 0, NULL},
    {"MPA-7.1.2-12", plain_conversation, fpdu_before_reply, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"MPA-7.1.2-17", plain_conversation, responder_first, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"MPA-7.1.2-18", marked_conversation, responder_marker_first, NO_CHANGE, RULE_FAIL, "MPA-7.1.2-17", 0, NULL},
    {"EMPA-6-03", enhanced_conversation, NULL, CONTENT(0, 16, 0x58), RULE_FAIL, NULL, 0, NULL},
    {"EMPA-6-06", enhanced_conversation, NULL, CONTENT(0, 17, 1), RULE_FAIL, "MPA-7.1.1-19", 0, NULL},
    {"EMPA-6-07", enhanced_conversation, NULL, CONTENT(1, 17, 1), RULE_FAIL, "MPA-7.1.1-19", 0, NULL},
    {"EMPA-6-11", enhanced_conversation, NULL, CONTENT(0, 18, 0, 3), RULE_FAIL, "EMPA-6-12", 0, NULL},
    {"EMPA-6-12", enhanced_conversation, NULL, CONTENT(0, 18, 0, 3), RULE_FAIL, "EMPA-6-11", 0, NULL},
    {"EMPA-6-15", plain_rev2, plain_rev2_answered_enhanced, NO_CHANGE, RULE_FAIL, "EMPA-10-02", RULE_AMBIGUOUS, NULL},
    {"EMPA-9.1-04", enhanced_conversation, NULL, CONTENT(1, 20, 0xC0, 1), RULE_WARN, "EMPA-9.1-06", 0, NULL},
    {"EMPA-9.1-12", enhanced_conversation, NULL, CONTENT(1, 22, 0xC0, 3), RULE_FAIL, NULL, 0, NULL},
    {"EMPA-9.1-26", not_negotiated, NULL, CONTENT(1, 20, 0xC0, 5), RULE_FAIL, NULL, 0, NULL},
    {"EMPA-9.1-29", not_negotiated, NULL, CONTENT(1, 22, 0xC0, 5), RULE_FAIL, NULL, 0, NULL},
    {"EMPA-9.1-31", enhanced_conversation, NULL, CONTENT(1, 20, 0xFF, 0xFF), RULE_WARN, NULL, 0, NULL},
    {"EMPA-9.2-11", enhanced_conversation, NULL, CONTENT(0, 20, 0x80, 2, 0, 2), RULE_AMBIGUOUS, NULL, 0, NULL},
    {"EMPA-9.2-12", enhanced_conversation, NULL, CONTENT(1, 20, 0x80, 2, 0, 2), RULE_FAIL, "EMPA-9.2-20", 0, NULL},
    {"EMPA-9.2-13", enhanced_conversation, NULL, CONTENT(1, 20, 0, 2, 0, 2), RULE_FAIL, NULL, 0, NULL},
    {"EMPA-9.2-26", client_server, NULL, CONTENT(1, 20, 0x80, 2, 0x80, 2), RULE_FAIL, NULL, 0, NULL},
    {"EMPA-9.2-27", client_server, NULL, CONTENT(0, 20, 0x40, 2), RULE_FAIL, NULL, 0, NULL},
    {"EMPA-9.2-28", client_server, NULL, CONTENT(1, 22, 0x80, 2), RULE_FAIL, NULL, 0, NULL},
    {"EMPA-10-01", enhanced_conversation, NULL, CONTENT(1, 16, 0x40), RULE_FAIL, NULL, 0, NULL},
    {"EMPA-10-02", plain_conversation, plain_answered_enhanced, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"EMPA-5-02", enhanced_conversation, no_rtr, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"EMPA-9.2-02", send_rtr, NULL, CONTENT(2, 13, 2), RULE_FAIL, "DDP-4.3-12", 0, NULL},
    {"EMPA-9.2-03", enhanced_conversation, NULL, CONTENT(2, 0, 0x81), RULE_FAIL, "DDP-4.2-06", 0, NULL},
    {"EMPA-9.2-04", read_rtr, NULL, CONTENT(2, 13, 2), RULE_FAIL, "DDP-4.3-12", 0, NULL},
    {"EMPA-9.2-20", enhanced_conversation, NULL, CONTENT(1, 20, 0xC0, 2, 0, 2), RULE_FAIL, NULL, 0, NULL},
    {NULL, NULL, NULL, NO_CHANGE, 0, NULL, 0, NULL},
};

START_TEST(case_of_the_startup_rules)
{
    rule_case_run(&rules_startup_cases[_i]);
}
END_TEST

/* A revision of somebody's own is named. */
START_TEST(a_request_of_erdma_is_named)
{
    struct conversation *conversation = conversation_create(NULL);
    const struct rule *rule = rule_find("MPA-7.1.1-21");
    struct iwarp_mpa_start request = plain_request;
    static struct verdicts verdicts;

    request.revision = MPA_REV_ERDMA;
    talk(conversation, &request, &plain_reply);
    rule_case_judge(conversation, &verdicts);
    ck_assert_int_eq(verdicts.verdict[rule->index], RULE_FAIL);
    ck_assert_ptr_nonnull(strstr(verdicts.message[rule->index], "erdma"));
    conversation_free(conversation);
}
END_TEST

Suite *rules_startup_suite(void);

Suite *rules_startup_suite(void)
{
    Suite *suite = suite_create("rules_startup");
    TCase *cases = tcase_create("cases");

    tcase_add_loop_test(cases, case_of_the_startup_rules, 0,
                        (int)(sizeof(rules_startup_cases) / sizeof(rules_startup_cases[0])) - 1);
    tcase_add_test(cases, a_request_of_erdma_is_named);
    suite_add_tcase(suite, cases);
    return suite;
}
