/* SPDX-License-Identifier: BSD-2-Clause */
/* Rules on DDP Segments (RFC 5041 4 and 5): one case each. */
#include "tests/unit/rule_case.h"

static void begin(struct conversation *c)
{
    conversation_open(c, 1460);
    conversation_start(c, 0, &plain_request);
    conversation_start(c, 1, &plain_reply);
}

static void end(struct conversation *c)
{
    conversation_send(c, 0, IWARP_RDMAP_SEND, 2, 0, true, 20);
    conversation_close(c, 0, false);
    conversation_close(c, 1, false);
}

static void last_in_the_middle(struct conversation *c)
{
    begin(c);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 1, 0, false, 100);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 1, 200, false, 100);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 1, 100, true, 100);
    end(c);
}

static void mo_out_of_order(struct conversation *c)
{
    begin(c);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 1, 0, false, 100);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 1, 200, false, 50);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 1, 100, false, 100);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 1, 250, true, 10);
    end(c);
}

static void to_out_of_order(struct conversation *c)
{
    begin(c);
    conversation_tagged(c, 0, IWARP_RDMAP_WRITE, 0x77, UINT64_MAX - 49, false,
                        100); /* wraps: that is for the sink to find */
    conversation_tagged(c, 0, IWARP_RDMAP_WRITE, 0x77, 150, false, 50);
    conversation_tagged(c, 0, IWARP_RDMAP_WRITE, 0x77, 50, false, 100);
    conversation_tagged(c, 0, IWARP_RDMAP_WRITE, 0x77, 200, true, 10);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 1, 0, true, 20);
    end(c);
}

static void empty_in_two(struct conversation *c)
{
    begin(c);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 1, 0, false, 0);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 1, 0, true, 0);
    end(c);
}

static void short_segment(struct conversation *c)
{
    static const uint8_t octets[16] = {0x41, 0x43};

    begin(c);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 1, 0, true, 20);
    conversation_ulpdu(c, 0, octets, sizeof(octets));
    end(c);
}

const struct rule_case rules_ddp_cases[] = {
    {"DDP-4.1-04", plain_conversation, NULL, CONTENT(2, 0, 0x01), RULE_FAIL, NULL, 0, NULL},
    {"DDP-4.1-06", plain_conversation, NULL, CONTENT(5, 0, 0x41), RULE_FAIL, NULL, 0, NULL},
    {"DDP-4.1-07", plain_conversation, last_in_the_middle, NO_CHANGE, RULE_FAIL, "DDP-5.3-03", 0, NULL},
    {"DDP-4.1-10", plain_conversation, NULL, CONTENT(3, 0, 0x45), RULE_FAIL, NULL, 0, NULL},
    {"DDP-4.1-12", plain_conversation, NULL, CONTENT(21, 0, 0x42), RULE_FAIL, "DDP-4.1-13 MPA-3-15 MPA-C.1-01", 0,
     NULL},
    {"DDP-4.1-13", plain_conversation, NULL, CONTENT(21, 0, 0x42), RULE_FAIL, "DDP-4.1-12 MPA-3-15 MPA-C.1-01", 0,
     NULL},
    {"MPA-3-15", plain_conversation, NULL, CONTENT(21, 0, 0x42), RULE_FAIL, "DDP-4.1-12 DDP-4.1-13 MPA-C.1-01", 0,
     NULL},
    {"MPA-C.1-01", plain_conversation, NULL, CONTENT(21, 0, 0x42), RULE_FAIL, "DDP-4.1-12 DDP-4.1-13 MPA-3-15", 0,
     NULL},
    {"DDP-4.2-06", plain_conversation, NULL, CONTENT(9, 1, 0x50), RULE_FAIL, "RDMAP-4.1-19", 0, NULL},
    {"DDP-4.2-11", plain_conversation, NULL, CONTENT(9, 5, 0x78), RULE_FAIL, NULL, 0, NULL},
    {"DDP-4.3-05", plain_conversation, NULL, CONTENT(13, 5, 0x79), RULE_FAIL, NULL, 0, NULL},
    {"DDP-4.3-11", plain_conversation, NULL, CONTENT(21, 13, 5), RULE_FAIL, NULL, 0, NULL},
    {"DDP-4.3-12", plain_conversation, NULL, CONTENT(3, 13, 0), RULE_FAIL, "DDP-4.3-11", 0, NULL},
    {"DDP-4.3-14", plain_conversation, NULL, CONTENT(5, 13, 9), RULE_FAIL, NULL, 0, NULL},
    {"DDP-4.3-16", plain_conversation, NULL, CONTENT(3, 17, 4), RULE_FAIL, NULL, 0, NULL},
    {"DDP-4.4-01", plain_conversation, short_segment, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"DDP-5.2-06", plain_conversation, NULL, CONTENT(6, 17, 210), RULE_FAIL, NULL, 0, NULL},
    {"DDP-5.2-08", plain_conversation, NULL, CONTENT(10, 13, 0xCC), RULE_FAIL, NULL, 0, NULL},
    {"DDP-5.2-10", plain_conversation, empty_in_two, NO_CHANGE, RULE_FAIL, NULL, 0, NULL},
    {"DDP-5.3-03", plain_conversation, mo_out_of_order, NO_CHANGE, RULE_WARN, NULL, 0, NULL},
    {"DDP-5.3-04", plain_conversation, to_out_of_order, NO_CHANGE, RULE_WARN, NULL, 0, NULL},
    {NULL, NULL, NULL, NO_CHANGE, 0, NULL, 0, NULL},
};

START_TEST(case_of_the_ddp_rules)
{
    rule_case_run(&rules_ddp_cases[_i]);
}
END_TEST

/* As far apart as 64 bits allow: more than the sums hold. */
static void to_far_apart(struct conversation *c)
{
    begin(c);
    conversation_tagged(c, 0, IWARP_RDMAP_WRITE, 0x77, 0, false, 100);
    conversation_tagged(c, 0, IWARP_RDMAP_WRITE, 0x77, INT64_MAX, false, 100);
    conversation_tagged(c, 0, IWARP_RDMAP_WRITE, 0x77, (uint64_t)INT64_MAX + 1, false, 100);
    conversation_tagged(c, 0, IWARP_RDMAP_WRITE, 0x77, UINT64_MAX / 4, true, 10);
    conversation_send(c, 0, IWARP_RDMAP_SEND, 1, 0, true, 20);
    conversation_close(c, 0, false);
    conversation_close(c, 1, false);
}

START_TEST(offsets_of_64_bits)
{
    struct conversation *conversation = conversation_create(NULL);
    static struct verdicts verdicts;

    to_far_apart(conversation);
    rule_case_judge(conversation, &verdicts);
    conversation_free(conversation);
    ck_assert_int_eq(verdicts.verdict[rule_find("DDP-5.2-08")->index], RULE_FAIL);
    rule_case_quiet(&verdicts, "DDP-5.2-08 DDP-5.3-04", "far apart");
}
END_TEST

Suite *rules_ddp_suite(void);

Suite *rules_ddp_suite(void)
{
    Suite *suite = suite_create("rules_ddp");
    TCase *cases = tcase_create("cases");

    tcase_add_loop_test(cases, case_of_the_ddp_rules, 0,
                        (int)(sizeof(rules_ddp_cases) / sizeof(rules_ddp_cases[0])) - 1);
    tcase_add_test(cases, offsets_of_64_bits);
    suite_add_tcase(suite, cases);
    return suite;
}
