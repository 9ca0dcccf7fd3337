/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The CM agent's defects: each row of defects-cm.tsv shows in what an agent sends or reports, and the correct agent has
 * none of it.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "generator/cm/mad.h"
#include "reference-stack/defects/defect.h"
#include "tests/unit/cm_pair.h"
#include "tests/unit/suites.h"

Suite *cm_defects_suite(void);

enum { ACCEPT_PORT = 3260, ASK_PORT, ULP_PORT, UNSPECIFIED_PORT, NOBODY_PORT, TRANSCRIPT = 65536 };

/* What agents have sent and reported, one after the other. */
struct transcript {
    uint8_t octets[TRANSCRIPT];
    size_t count;
};

static void note(struct transcript *transcript, const void *octets, size_t count)
{
    ck_assert_uint_le(transcript->count + count, TRANSCRIPT);
    memcpy(transcript->octets + transcript->count, octets, count);
    transcript->count += count;
}

static void note_agent(struct transcript *transcript, struct cm_agent *agent)
{
    struct cm_output output;
    struct cm_event event;

    while (cm_agent_output(agent, &output))
        note(transcript, output.mad, MAD_OCTETS);
    while (cm_agent_poll(agent, &event)) {
        uint8_t reported[] = {(uint8_t)event.kind, (uint8_t)event.reason, event.code, event.minor,
                              event.service_proven};

        note(transcript, reported, sizeof(reported));
        note(transcript, &event.tuple.source_port, sizeof(event.tuple.source_port));
        note(transcript, event.data, event.octets);
    }
}

static void listen_all(struct cm_agent *agent)
{
    struct cm_listener listeners[] = {cm_pair_listener(ACCEPT_PORT, CM_ANSWER_ACCEPT),
                                      cm_pair_listener(ASK_PORT, CM_ANSWER_ASK),
                                      cm_pair_listener(ULP_PORT, CM_ANSWER_REJECT),
                                      cm_pair_listener(UNSPECIFIED_PORT, CM_ANSWER_REJECT),
                                      {.plain = true, .service_id = 0x77, .answer = CM_ANSWER_ASK}};

    listeners[2].refusal =
        (struct cm_refusal){.reason = CM_REASON_CONSUMER, .layer = IP_CM_LAYER_ULP, .info = "why", .info_octets = 3};
    listeners[3].refusal.reason = CM_REASON_CONSUMER;
    for (size_t i = 0; i < sizeof(listeners) / sizeof(listeners[0]); i++)
        ck_assert_int_eq(cm_agent_listen(agent, &listeners[i], NULL), 0);
}

/* REQs to a server: the port, then octets that are changed. */
static const struct {
    uint16_t port;
    struct {
        uint8_t at, value;
    } patch[4];
} requests[] = {
    {ACCEPT_PORT, {{0, 0}}},
    {ACCEPT_PORT, {{164, 1}}},
    {ACCEPT_PORT, {{164, 2}}},
    {ASK_PORT, {{0, 0}}},
    {ASK_PORT, {{204, 0}, {205, 0}, {206, 0}, {207, 0}}}, /* less consumer data */
    {ASK_PORT, {{167, 9}}},                               /* another source port */
    {ULP_PORT, {{0, 0}}},
    {UNSPECIFIED_PORT, {{0, 0}}},
    {NOBODY_PORT, {{0, 0}}},
    {ACCEPT_PORT, {{37, 17}}},
    {ACCEPT_PORT, {{38, 0xBC}, {39, 0x0C}}},
    {ACCEPT_PORT, {{164, 0x10}}},
    {ACCEPT_PORT, {{164, 3}}},
    {ACCEPT_PORT, {{165, 0x50}}},
    {ACCEPT_PORT, {{165, 0x4F}}},
    {ACCEPT_PORT, {{165, 0}, {180, 0}, {196, 0}}},
    {ACCEPT_PORT, {{170, 1}}},
    {ACCEPT_PORT, {{190, 1}}},
    {ACCEPT_PORT, {{196, 1}}},
    {ACCEPT_PORT, {{164, 0x10}, {165, 0x50}}},
    {0x77, {{36, 0}, {37, 0}}},
};

static void serve(struct transcript *transcript, const struct cm_agent_config *config)
{
    struct cm_agent *agent = cm_agent_new(config, NULL);
    static const struct cm_place from = {.family = 4, .address = {192, 0, 2, 1}};

    ck_assert_ptr_nonnull(agent);
    listen_all(agent);
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        struct ip_cm_request fields = {.local_id = (uint32_t)i + 1,
                                       .transaction = i,
                                       .source_port = 49153,
                                       .destination_port = requests[i].port,
                                       .protocol = 6,
                                       .consumer = (const uint8_t *)"consumer",
                                       .consumer_octets = 8};
        uint8_t mad[MAD_OCTETS];

        net_address_parse(&fields.source, "192.0.2.1");
        net_address_parse(&fields.destination, "192.0.2.2");
        mad_ip_request(mad, &fields);
        for (size_t p = 0; p < 4 && requests[i].patch[p].at != 0; p++)
            mad[requests[i].patch[p].at] = requests[i].patch[p].value;
        for (int copies = 0; copies < 2; copies++) { /* the answer to the first one is lost */
            cm_agent_input(agent, &from, mad, sizeof(mad), i);
            note_agent(transcript, agent);
        }
    }
    cm_agent_free(agent);
}

/* What one agent has sent goes to the other, until both are silent. */
static void carry(struct transcript *transcript, struct cm_agent *agents[2], const struct cm_place places[2])
{
    struct cm_output output;
    bool more = true;

    while (more) {
        more = false;
        for (int side = 0; side < 2; side++)
            while (cm_agent_output(agents[side], &output)) {
                note(transcript, output.mad, MAD_OCTETS);
                cm_agent_input(agents[1 - side], &places[side], output.mad, MAD_OCTETS, 1);
                more = true;
            }
    }
    note_agent(transcript, agents[0]);
    note_agent(transcript, agents[1]);
}

/* Exchanges of the same two agents, each with other ports, another protocol and less data than the one before. */
static void converse(struct transcript *transcript, const struct cm_agent_config *config)
{
    static const struct cm_place places[2] = {{.family = 4, .address = {192, 0, 2, 2}},
                                              {.family = 4, .address = {192, 0, 2, 1}}};
    static const struct {
        uint8_t protocol, family, data_octets, reply_octets;
    } exchanges[] = {{6, 4, 20, 30}, {17, 4, 5, 7}, {132, 6, 0, 0}};
    struct cm_agent_config other = *config;
    struct cm_agent *agents[2];

    other.seed = config->seed + 1;
    agents[0] = cm_agent_new(config, NULL);
    agents[1] = cm_agent_new(&other, NULL);
    ck_assert(agents[0] != NULL && agents[1] != NULL);
    for (size_t i = 0; i < sizeof(exchanges) / sizeof(exchanges[0]); i++) {
        struct cm_listener listener = {
            .protocol = exchanges[i].protocol, .port = ACCEPT_PORT, .answer = CM_ANSWER_ACCEPT};
        struct cm_connect connect = {.to = places[0],
                                     .from = {.family = 4, .octets = {192, 0, 2, 1}},
                                     .tuple = {.protocol = exchanges[i].protocol,
                                               .source_port = (uint16_t)(49153 + i),
                                               .destination_port = ACCEPT_PORT},
                                     .data = (const uint8_t *)"less and less of data",
                                     .octets = exchanges[i].data_octets};
        uint32_t id;

        memset(listener.reply, 'r', exchanges[i].reply_octets);
        listener.reply_octets = exchanges[i].reply_octets;
        ck_assert_int_eq(cm_agent_listen(agents[0], &listener, NULL), 0);
        connect.tuple.source = (struct cm_address){exchanges[i].family, {192, 0, 2, 1}};
        connect.tuple.destination = (struct cm_address){exchanges[i].family, {192, 0, 2, 2}};
        ck_assert_int_eq(cm_agent_connect(agents[1], &connect, 1, &id, NULL), 0);
        carry(transcript, agents, places);
    }
    cm_agent_free(agents[0]);
    cm_agent_free(agents[1]);
}

/* A REQ of a client, and what it makes of REJ 28 with ARI 00 00. */
static void ask(struct transcript *transcript, const struct cm_agent_config *config, uint8_t family, uint8_t protocol)
{
    struct cm_agent *agent = cm_agent_new(config, NULL);
    struct cm_connect connect = {.to = {.family = family, .address = {9, 1}},
                                 .from = {.family = family},
                                 .tuple = {.protocol = protocol, .source_port = 49153, .destination_port = 2049},
                                 .data = (const uint8_t *)"consumer",
                                 .octets = 8};
    struct cm_output output;
    uint8_t mad[MAD_OCTETS];
    uint32_t id;

    ck_assert_ptr_nonnull(agent);
    connect.tuple.source = (struct cm_address){family, {192, 0, 2, 1}};
    connect.tuple.destination = (struct cm_address){family, {192, 0, 2, 2}};
    ck_assert_int_eq(cm_agent_connect(agent, &connect, 1, &id, NULL), 0);
    ck_assert(cm_agent_output(agent, &output));
    note(transcript, output.mad, MAD_OCTETS);
    mad_reject(mad, octets_get64(output.mad + 8), id, CM_REASON_CONSUMER, (const uint8_t[4]){0}, 4);
    cm_agent_input(agent, &connect.to, mad, sizeof(mad), 2);
    note_agent(transcript, agent);
    cm_agent_free(agent);
}

static void play(struct transcript *transcript, const struct defect_set *defects)
{
    static const struct cm_address own = {4, {192, 0, 2, 2}};
    struct cm_agent_config config;

    transcript->count = 0;
    cm_agent_config_default(&config);
    config.faults = defect_set_cm_faults(defects);
    config.own = &own;
    config.own_count = 1;
    config.suggest = true;
    config.minor = 2;
    serve(transcript, &config);
    converse(transcript, &config);
    config.minor = 0;
    serve(transcript, &config);
    config.service = false;
    serve(transcript, &config);
    ask(transcript, &config, 4, 132);
    ask(transcript, &config, 6, 132);
    ask(transcript, &config, 4, 0x3F);
}

START_TEST(each_row_shows)
{
    struct iwarp_sentence why = {""};
    struct defect_list *list = defect_list_embedded_cm(&why);
    struct transcript *good = calloc(1, sizeof(*good)), *bad = calloc(1, sizeof(*bad));
    unsigned alike = 0;

    ck_assert_msg(list != NULL, "%s", why.text);
    ck_assert(good != NULL && bad != NULL);
    ck_assert_uint_ge(defect_list_count(list), 45);
    for (size_t i = 0; i < defect_list_count(list); i++) {
        const char *id = defect_list_at(list, i)->id;
        struct defect_set *set = defect_set_new(list, &id, 1, &why);

        ck_assert_msg(set != NULL, "%s: %s", id, why.text);
        play(good, NULL);
        play(bad, set);
        defect_set_free(set);
        if (good->count == bad->count && memcmp(good->octets, bad->octets, good->count) == 0) {
            fprintf(stderr, "%s: nothing is different\n", id);
            alike++;
        }
    }
    ck_assert_uint_eq(alike, 0);
    defect_list_free(list);
    free(good);
    free(bad);
}
END_TEST

/* A set that breaks something else leaves the agent as it is, hooks and all. */
START_TEST(other_defects_change_nothing)
{
    static const char text[] = "x\tR\tbehaviour\tno-terminate\ton\n", *const ids[] = {"x"};
    struct defect_list *list = defect_list_parse(text, strlen(text), NULL);
    struct defect_set *set = defect_set_new(list, ids, 1, NULL);
    struct transcript *good = calloc(1, sizeof(*good)), *bad = calloc(1, sizeof(*bad));

    ck_assert(set != NULL && good != NULL && bad != NULL);
    play(good, NULL);
    play(bad, set);
    ck_assert_uint_eq(good->count, bad->count);
    ck_assert_mem_eq(good->octets, bad->octets, good->count);
    ck_assert_uint_gt(good->count, 40 * MAD_OCTETS);
    defect_set_free(set);
    defect_list_free(list);
    free(good);
    free(bad);
}
END_TEST

static const struct {
    const char *text, *word;
} wrong_rows[] = {
    {"x\tR\tvalidate\tmajor\tterminate\n", "off, ignore, reason or code"},
    {"x\tR\tvalidate\tmajor\treason\tmany\n", "many"},
    {"x\tR\tvalidate\tmajor\tcode\t256\n", "256"},
    {"x\tR\tvalidate\tCA11-99\toff\n", "CA11-99"},
    {"x\tR\ttransmit\tcm_req.Nothing\tset\t1\n", "Nothing"},
    {"x\tR\ttransmit\tcm_req.PrimaryLocalGID\tset\t1\n", "PrimaryLocalGID"},
};

START_TEST(wrong_row_of_a_cm_defect_is_refused)
{
    struct iwarp_sentence why = {""};

    ck_assert_ptr_null(defect_list_parse(wrong_rows[_i].text, strlen(wrong_rows[_i].text), &why));
    ck_assert_msg(strstr(why.text, "line 1") != NULL && strstr(why.text, wrong_rows[_i].word) != NULL, "%s", why.text);
}
END_TEST

Suite *cm_defects_suite(void)
{
    Suite *suite = suite_create("cm_defects");
    TCase *tcase = tcase_create("defects");

    tcase_add_test(tcase, each_row_shows);
    tcase_add_test(tcase, other_defects_change_nothing);
    tcase_add_loop_test(tcase, wrong_row_of_a_cm_defect_is_refused, 0, sizeof(wrong_rows) / sizeof(wrong_rows[0]));
    suite_add_tcase(suite, tcase);
    return suite;
}
