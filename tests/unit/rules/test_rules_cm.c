/* SPDX-License-Identifier: BSD-2-Clause */
/* Cases of the rules on the RDMA IP CM Service. Each broken REQ differs from the healthy one in a few octets. */
#include <string.h>

#include "generator/cm/mad.h"
#include "tests/unit/rule_case.h"

Suite *rules_cm_suite(void);

static void give(struct conversation *c, unsigned from, const uint8_t *mad)
{
    struct mad_ends ends = {0};
    uint8_t frame[512];
    size_t count;

    net_address_parse(&ends.source, from == 0 ? "192.0.2.1" : "192.0.2.2");
    net_address_parse(&ends.destination, from == 0 ? "192.0.2.2" : "192.0.2.1");
    count = mad_packet(frame, sizeof(frame), MAD_ROCE_V2, &ends, mad);
    conversation_frame(c, from, frame + PACKET_ETHERNET_OCTETS, count - PACKET_ETHERNET_OCTETS);
}

static void request_of(uint8_t mad[MAD_OCTETS], uint32_t id)
{
    struct ip_cm_request request = {
        .local_id = id, .transaction = id, .source_port = 49153, .destination_port = 3260, .protocol = 6};

    net_address_parse(&request.source, "192.0.2.1");
    net_address_parse(&request.destination, "192.0.2.2");
    mad_ip_request(mad, &request);
}

static void healthy(struct conversation *c)
{
    uint8_t mad[MAD_OCTETS];

    request_of(mad, 1);
    give(c, 0, mad);
    cm_begin_answer(mad, CM_REP, 1, 9, 1);
    give(c, 1, mad);
    cm_begin_answer(mad, CM_RTU, 1, 1, 9);
    give(c, 0, mad);
    /* another range of Service IDs: no rule applies */
    request_of(mad, 2);
    mad[32] = 0x10;
    memset(mad + 164, 0xEE, 92);
    give(c, 0, mad);
}

/* The octets [at, at + count) of a REQ replaced. */
static void changed(struct conversation *c, size_t at, const void *octets, size_t count)
{
    uint8_t mad[MAD_OCTETS];

    request_of(mad, 1);
    memcpy(mad + at, octets, count);
    give(c, 0, mad);
}

#define CHANGED(name, at, octets)                                                                                      \
    static void name(struct conversation *c)                                                                           \
    {                                                                                                                  \
        changed(c, at, octets, sizeof(octets) - 1);                                                                    \
    }

CHANGED(other_prefix, 32, "\0\0\0\0\x10")
CHANGED(next_prefix, 32, "\0\0\0\0\x02")
CHANGED(prefix_in_front, 32, "\x01\0\0\0\0")
CHANGED(turned_service, 32, "\xBC\x0C\x06\x01\0\0\0\0")
CHANGED(protocol_last, 32, "\0\0\0\0\x01\x0C\xBC\x06")
CHANGED(nibbles, 165, "\x04")
CHANGED(major, 164, "\x10")
CHANGED(minor, 164, "\x01")
CHANGED(reserved_version, 165, "\x50")
CHANGED(reserved_set, 165, "\x46")
CHANGED(exchanged, 180, "\xC0\0\x02\x02\0\0\0\0\0\0\0\0\0\0\0\0\xC0\0\x02\x01")
CHANGED(left_aligned, 168, "\xC0\0\x02\x01\0\0\0\0\0\0\0\0\0\0\0\0")
CHANGED(no_port, 166, "\0\0")
CHANGED(no_source, 180, "\0\0\0\0")
CHANGED(group, 196, "\xE0\0\0\x05")
CHANGED(all_hosts, 196, "\xFF\xFF\xFF\xFF")
CHANGED(gids, 165, "\x60\xC0\x01\0\0\0\0\0\0\0\0\0\0\xFF\xFF\xC0\0\x02\x01\0\0\0\0\0\0\0\0\0\0\xFF\xFF\xC0\0\x02\x02")
CHANGED(vendor_service, 32, "\x10\0\x0C\xC5\0\0\x0C\xBC")
CHANGED(mapped, 178, "\xFF\xFF")

static void header_in_reply(struct conversation *c)
{
    uint8_t mad[MAD_OCTETS], reply[MAD_OCTETS];

    request_of(mad, 1);
    give(c, 0, mad);
    cm_begin_answer(reply, CM_REP, 1, 9, 1);
    memcpy(reply + 60, mad + 164, IP_CM_PRIVATE_OCTETS);
    give(c, 1, reply);
}

const struct rule_case rules_cm_cases[] = {
    {"A11-TXT-02", healthy, other_prefix, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"A11-TXT-02", healthy, next_prefix, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"A11-TXT-02", healthy, prefix_in_front, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"A11-TXT-03", healthy, nibbles, NO_CHANGE, RULE_FAIL, "A11-TXT-09 A11-TXT-10", 0, NULL},
    {"A11-TXT-04", healthy, header_in_reply, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"CA11-1", healthy, exchanged, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"A11-TXT-07", healthy, major, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"A11-TXT-08", healthy, minor, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"A11-TXT-09", healthy, reserved_version, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"A11-TXT-10", healthy, reserved_set, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"CA11-5", healthy, left_aligned, NO_CHANGE, RULE_FAIL, "CA11-5-02", 0, NULL},
    {"CA11-5-02", healthy, mapped, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"A11-TXT-14", healthy, turned_service, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"CA11-6", healthy, protocol_last, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"A11-TXT-12", healthy, no_port, NO_CHANGE, RULE_FAIL, NULL, RULE_VERDICTS, NULL},
    {"A11-TXT-13", healthy, no_source, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"A11-TXT-13", healthy, group, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"A11-TXT-13", healthy, all_hosts, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"A11-TXT-13", healthy, gids, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"A11-TXT-15", healthy, vendor_service, NO_CHANGE, RULE_WARN, NULL, 0, NULL},
    {NULL, NULL, NULL, NO_CHANGE, RULE_PASS, NULL, 0, NULL},
};

START_TEST(case_of_the_cm_rules)
{
    rule_case_run(&rules_cm_cases[_i]);
}
END_TEST

CHANGED(both_the_destination, 180, "\xC0\0\x02\x02")
CHANGED(both_the_source, 196, "\xC0\0\x02\x01")

/* A11.4: where both name one side the addresses are wrong, but nobody has exchanged them. Loop: which side. */
START_TEST(one_wrong_address_is_no_exchange)
{
    struct conversation *conversation = conversation_create(NULL);
    static struct verdicts verdicts;

    (_i == 0 ? both_the_destination : both_the_source)(conversation);
    rule_case_judge(conversation, &verdicts);
    conversation_free(conversation);
    ck_assert_int_eq(verdicts.verdict[rule_find("CA11-1")->index], -1);
}
END_TEST

Suite *rules_cm_suite(void)
{
    Suite *suite = suite_create("rules_cm");
    TCase *tcase = tcase_create("cases");

    tcase_add_loop_test(tcase, case_of_the_cm_rules, 0, (int)(sizeof(rules_cm_cases) / sizeof(rules_cm_cases[0])) - 1);
    tcase_add_loop_test(tcase, one_wrong_address_is_no_exchange, 0, 2);
    suite_add_tcase(suite, tcase);
    return suite;
}
