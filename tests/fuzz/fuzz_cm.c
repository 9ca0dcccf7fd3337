/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A CM agent (reference-stack/cm) in a network of strangers. Octet 0 configures it; then come steps: an octet that says
 * what happens, and what it needs. MADs are raw, or made for an exchange that is there and changed at some places, so
 * that the states after the first message are reached. What holds for every input: no more exchanges than there may be,
 * no ID 0, MADs of the CM alone, and an agent that is left alone comes to rest.
 */
#include "reference-stack/cm/cm_agent.h"
#include "reference-stack/defects/defect.h"
#include "tests/fuzz/fuzz.h"

enum { EXCHANGES = 6, IDS = 8, STEPS = 64, PATCHES = 4 };

struct game {
    struct cm_agent *agent;
    const uint8_t *at, *end;
    uint64_t now;
    uint32_t id[IDS]; /* exchanges that were reported to the ULP */
    unsigned ids;
    uint8_t heard[MAD_OCTETS]; /* what the agent said last */
};

static uint8_t next(struct game *game)
{
    return game->at < game->end ? *game->at++ : 0;
}

static void drain(struct game *game)
{
    struct cm_agent_counts counts;
    struct cm_output output;
    struct cm_event event;

    while (cm_agent_output(game->agent, &output)) {
        struct cm_message message;

        FUZZ_HOLDS(cm_parse(output.mad, MAD_OCTETS, &message) == WIRE_OK && message.row->name != NULL);
        memcpy(game->heard, output.mad, MAD_OCTETS);
    }
    while (cm_agent_poll(game->agent, &event)) {
        FUZZ_HOLDS((event.kind == CM_EVENT_REFUSED) == (event.id == 0));
        FUZZ_HOLDS(event.octets <= sizeof(event.data) && event.info_octets <= sizeof(event.info));
        FUZZ_HOLDS(!event.service_proven || event.reason == CM_REASON_CONSUMER);
        if (event.id != 0)
            game->id[game->ids++ % IDS] = event.id;
    }
    cm_agent_counts(game->agent, &counts);
    FUZZ_HOLDS(counts.exchanges <= EXCHANGES && counts.established <= counts.exchanges);
    FUZZ_HOLDS(cm_agent_deadline(game->agent) > game->now || counts.exchanges == 0);
}

static struct cm_place place_of(uint8_t choice)
{
    return (struct cm_place){.family = choice & 1 ? 6 : 4, .address = {10, choice >> 1 & 3}, .port = 4791};
}

/* Octets of the input as a MAD of any length. */
static void give_raw(struct game *game)
{
    struct cm_place from = place_of(next(game));
    size_t left = (size_t)(game->end - game->at), count = left < MAD_OCTETS ? left : MAD_OCTETS;
    uint8_t *copy = fuzz_copy(game->at, count);

    game->at += count;
    cm_agent_input(game->agent, &from, copy, count, game->now);
    free(copy);
}

/* A message of some kind about what the agent said last, with a few octets changed. */
static void give_answer(struct game *game)
{
    struct cm_place from = place_of(next(game));
    enum cm_attribute attribute = (enum cm_attribute)(CM_REQ + next(game) % 11);
    uint8_t mad[MAD_OCTETS];
    unsigned patches = next(game) % PATCHES;

    cm_begin_answer(mad, attribute, octets_get64(game->heard + 8), octets_get32(game->heard + 28),
                    octets_get32(game->heard + 24));
    if (attribute == CM_REQ) {
        octets_put32(mad + 24, next(game));
        octets_put32(mad + 28, 0);
        octets_put64(mad + 32, ip_cm_service_id(6, next(game) & 7));
        mad[165] = 0x40;
    }
    for (unsigned i = 0; i < patches; i++) {
        uint8_t at = next(game);

        mad[at] = next(game);
    }
    cm_agent_input(game->agent, &from, mad, sizeof(mad), game->now);
}

static void connect(struct game *game)
{
    uint8_t choice = next(game), data[IP_CM_CONSUMER_OCTETS] = {choice};
    struct cm_connect connect = {.to = place_of(choice),
                                 .plain = (choice & 16) != 0,
                                 .tuple = {.protocol = 6, .destination_port = choice},
                                 .data = data,
                                 .octets = next(game)};
    uint32_t id;

    connect.tuple.source.family = connect.tuple.destination.family = choice & 32 ? 6 : 4;
    connect.from.family = connect.tuple.source.family;
    if (connect.octets <= sizeof(data) && cm_agent_connect(game->agent, &connect, game->now, &id, NULL) == 0)
        game->id[game->ids++ % IDS] = id;
}

static void decide(struct game *game, unsigned how)
{
    uint32_t id = game->id[next(game) % IDS];
    struct cm_refusal refusal = {.reason = next(game), .layer = next(game) & 1, .info_octets = next(game)};

    if (how == 0)
        (void)cm_agent_accept(game->agent, id, game->heard, refusal.info_octets, game->now, NULL);
    else if (how == 1)
        (void)cm_agent_reject(game->agent, id, &refusal, game->now, NULL);
    else if (how == 2)
        (void)cm_agent_delay(game->agent, id, refusal.reason & 31, game->now, NULL);
    else
        (void)cm_agent_disconnect(game->agent, id, game->now, NULL);
}

static void step(struct game *game)
{
    uint8_t what = next(game);

    switch (what & 7) {
    case 0: give_raw(game); break;
    case 1:
    case 2: give_answer(game); break;
    case 3: connect(game); break;
    case 4: game->now += UINT64_C(1) << next(game) % 40; break;
    case 5: cm_agent_tick(game->agent, game->now); break;
    default: decide(game, what >> 3 & 3); break;
    }
    cm_agent_tick(game->agent, game->now);
    drain(game);
}

static void listen_all(struct cm_agent *agent)
{
    for (unsigned i = 0; i < 5; i++) {
        struct cm_listener listener = {.protocol = 6, .port = (uint16_t)i, .answer = (enum cm_answer)(i % 4)};

        listener.plain = i == 4;
        listener.service_id = i == 4 ? 0x77 : 0;
        listener.refusal.reason = CM_REASON_CONSUMER;
        listener.refusal.layer = IP_CM_LAYER_ULP;
        FUZZ_HOLDS(cm_agent_listen(agent, &listener, NULL) == 0);
    }
}

/* Each row of the table on its own, chosen by an octet; none for the most. */
static struct defect_set *defects_of(uint8_t choice)
{
    static struct defect_list *list;
    struct defect_set *set;
    const char *id;

    if (list == NULL) {
        fuzz_keep_begin();
        list = defect_list_embedded_cm(NULL);
        fuzz_keep_end();
        FUZZ_HOLDS(list != NULL);
    }
    if (choice >= defect_list_count(list))
        return NULL;
    id = defect_list_at(list, choice)->id;
    set = defect_set_new(list, &id, 1, NULL);
    FUZZ_HOLDS(set != NULL);
    return set;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct cm_address own = {4, {0}};
    struct game game = {.at = data, .end = data + size, .now = 1};
    struct cm_agent_config config;
    struct defect_set *defects;
    uint8_t bits;

    cm_agent_config_default(&config);
    bits = next(&game);
    config.service = (bits & 1) == 0;
    config.suggest = (bits & 2) != 0;
    config.mra_first = (bits & 4) != 0;
    config.own_id_in_rejections = (bits & 8) != 0;
    config.fields_first = config.last_reason = config.strict_ipv6 = (bits & 16) != 0;
    config.info_length = (enum cm_info_length)(bits >> 5 & 3);
    config.own = &own;
    config.own_count = bits >> 7;
    config.exchanges_max = config.outputs_max = config.events_max = EXCHANGES;
    defects = defects_of(next(&game));
    config.faults = defect_set_cm_faults(defects);
    game.agent = cm_agent_new(&config, NULL);
    FUZZ_HOLDS(game.agent != NULL);
    listen_all(game.agent);
    for (unsigned i = 0; i < STEPS && game.at < game.end; i++)
        step(&game);
    while (cm_agent_deadline(game.agent) != UINT64_MAX) {
        game.now = cm_agent_deadline(game.agent);
        cm_agent_tick(game.agent, game.now);
        drain(&game);
    }
    cm_agent_free(game.agent);
    defect_set_free(defects);
    return 0;
}
