/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What two CM agents say to one another, as a capture before the rules: the correct agents draw no finding, in all that
 * the annex allows; an agent with a defect draws one of each requirement that the defect's row names and that a rule
 * decides, and no other.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "generator/cm/mad.h"
#include "reference-stack/cm/cm_agent.h"
#include "reference-stack/defects/defect.h"
#include "tests/unit/rule_case.h"

Suite *cm_agent_rules_suite(void);

enum { PORT = 3260, IDLE = 64 };

/* Raw IP frames of both agents, the client's from 192.0.2.1, whatever the addresses in the Private Data are. */
static void give(struct conversation *conversation, unsigned from, const uint8_t mad[MAD_OCTETS])
{
    struct mad_ends ends = {0};
    uint8_t frame[512];
    size_t count;

    net_address_parse(&ends.source, from == 0 ? "192.0.2.1" : "192.0.2.2");
    net_address_parse(&ends.destination, from == 0 ? "192.0.2.2" : "192.0.2.1");
    count = mad_packet(frame, sizeof(frame), MAD_ROCE_V2, &ends, mad);
    conversation_frame(conversation, from, frame + PACKET_ETHERNET_OCTETS, count - PACKET_ETHERNET_OCTETS);
}

/* 0 the client, 1 the server. The client ends what is established. */
static void talk(struct conversation *conversation, struct cm_agent *agent[2])
{
    static const struct cm_place places[2] = {{.family = 4, .address = {192, 0, 2, 1}},
                                              {.family = 4, .address = {192, 0, 2, 2}}};
    struct cm_output output;
    struct cm_event event;

    for (unsigned round = 0; round < IDLE; round++) {
        for (unsigned i = 0; i < 2; i++) {
            while (cm_agent_output(agent[i], &output)) {
                give(conversation, i, output.mad);
                cm_agent_input(agent[1 - i], &places[i], output.mad, MAD_OCTETS, 1);
            }
            while (cm_agent_poll(agent[i], &event))
                if (i == 0 && event.kind == CM_EVENT_ESTABLISHED)
                    (void)cm_agent_disconnect(agent[0], event.id, 1, NULL);
        }
    }
}

static void connect_to(struct cm_agent *client, uint8_t family, uint8_t protocol, uint16_t port)
{
    struct cm_connect connect = {.to = {.family = 4, .address = {192, 0, 2, 2}},
                                 .from = {.family = 4, .octets = {192, 0, 2, 1}},
                                 .tuple = {.protocol = protocol, .source_port = 49153, .destination_port = port},
                                 .data = (const uint8_t *)"consumer",
                                 .octets = 8};
    uint32_t id;

    connect.tuple.source = (struct cm_address){family, {192, 0, 2, 1}};
    connect.tuple.destination = (struct cm_address){family, {192, 0, 2, 2}};
    ck_assert_int_eq(cm_agent_connect(client, &connect, 1, &id, NULL), 0);
}

/* Accepted over IPv4 and IPv6, rejected because there is no listener, and by the ULP. */
static void converse(struct conversation *conversation, const struct cm_agent_config *config)
{
    struct cm_listener listener = {.protocol = 6, .port = PORT, .answer = CM_ANSWER_ACCEPT};
    struct cm_listener rejecting = {.protocol = 132, .port = PORT, .answer = CM_ANSWER_REJECT};
    struct cm_agent_config other = *config;
    struct cm_agent *agent[2];

    other.seed = config->seed + 1;
    agent[0] = cm_agent_new(config, NULL);
    agent[1] = cm_agent_new(&other, NULL);
    ck_assert(agent[0] != NULL && agent[1] != NULL);
    rejecting.refusal = (struct cm_refusal){.reason = CM_REASON_CONSUMER, .layer = IP_CM_LAYER_ULP, .info_octets = 1};
    memcpy(listener.reply, "welcome", 7);
    listener.reply_octets = 7;
    ck_assert_int_eq(cm_agent_listen(agent[1], &listener, NULL), 0);
    ck_assert_int_eq(cm_agent_listen(agent[1], &rejecting, NULL), 0);
    connect_to(agent[0], 4, 6, PORT);
    connect_to(agent[0], 6, 6, PORT);
    connect_to(agent[0], 4, 17, PORT);
    connect_to(agent[0], 4, 132, PORT);
    talk(conversation, agent);
    cm_agent_free(agent[0]);
    cm_agent_free(agent[1]);
}

static void judge(const struct cm_agent_config *config, struct verdicts *verdicts)
{
    struct conversation *conversation = conversation_create(NULL);

    converse(conversation, config);
    rule_case_judge(conversation, verdicts);
    conversation_free(conversation);
}

/* Loop: bits of what the annex leaves open. */
START_TEST(correct_cm_agents_draw_no_finding)
{
    static struct verdicts verdicts;
    struct cm_agent_config config;
    size_t passed = 0;

    cm_agent_config_default(&config);
    config.seed = (uint64_t)_i + 1;
    config.mra_first = (_i & 1) != 0;
    config.suggest = (_i & 2) != 0;
    config.own_id_in_rejections = (_i & 4) != 0;
    config.info_length = (enum cm_info_length)(_i >> 3 & 3);
    config.check_destination = (_i & 32) == 0;
    config.service = (_i & 64) == 0;
    judge(&config, &verdicts);
    rule_case_quiet(&verdicts, NULL, "correct agents");
    for (size_t i = 0; i < rule_count(); i++)
        passed += verdicts.verdict[i] == RULE_PASS;
    ck_assert_uint_ge(passed, config.service ? 12 : 11); /* without the service nothing is accepted: no REP */
}
END_TEST

/* Another port, protocol, address or data: only who asked for the exchange can tell, and a check does. */
static bool looks_right(const struct defect *defect, const struct rule *rule)
{
    static const char *const untold[][2] = {
        {"cm-source-port-host-order", "A11-TXT-12"}, {"cm-addresses-swapped", "A11-TXT-13"},
        {"cm-protocol-as-tcp", "A11-TXT-15"},        {"cm-reply-told-stays", "A11-TXT-04"},
        {"cm-client-data-stays", "CA11-1"},          {"cm-protocol-stays", "A11-TXT-15"},
        {"cm-source-port-stays", "A11-TXT-12"},      {"cm-reply-data-stays", "A11-TXT-04"},
    };

    for (size_t i = 0; i < sizeof(untold) / sizeof(untold[0]); i++)
        if (strcmp(defect->id, untold[i][0]) == 0 && strcmp(rule->id, untold[i][1]) == 0)
            return true;
    return false;
}

START_TEST(defects_of_the_cm_agent_are_caught)
{
    static struct verdicts verdicts;
    struct defect_list *list = defect_list_embedded_cm(NULL);
    unsigned wrong = 0, caught = 0;

    ck_assert_ptr_nonnull(list);
    for (size_t i = 0; i < defect_list_count(list); i++) {
        const struct defect *defect = defect_list_at(list, i);
        struct defect_set *set = defect_set_new(list, &defect->id, 1, NULL);
        struct cm_agent_config config;

        ck_assert_ptr_nonnull(set);
        cm_agent_config_default(&config);
        config.faults = defect_set_cm_faults(set);
        judge(&config, &verdicts);
        defect_set_free(set);
        for (size_t r = 0; r < rule_count(); r++) {
            bool fails = verdicts.verdict[r] > RULE_AMBIGUOUS, named = defect_breaks(defect, rule_at(r)->id);

            caught += fails && named;
            if (fails == (named && !looks_right(defect, rule_at(r))))
                continue;
            fprintf(stderr, "%s: %s %s\n", defect->id, rule_at(r)->id, fails ? "says something" : "says nothing");
            wrong++;
        }
    }
    ck_assert_uint_eq(wrong, 0);
    ck_assert_uint_ge(caught, 12);
    defect_list_free(list);
}
END_TEST

Suite *cm_agent_rules_suite(void)
{
    Suite *suite = suite_create("cm_agent_rules");
    TCase *tcase = tcase_create("agents");

    tcase_add_loop_test(tcase, correct_cm_agents_draw_no_finding, 0, 128);
    tcase_add_test(tcase, defects_of_the_cm_agent_are_caught);
    suite_add_tcase(suite, tcase);
    return suite;
}
