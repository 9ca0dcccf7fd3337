/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tester's CM endpoint (generator/cm) and hostile MADs. Steps of an octet each, with what they need: a MAD that is
 * raw or answers an exchange, an exchange that is opened, taken, sent on or released, and time. What holds for every
 * input: IDs that no other exchange has, no more REQs on offer than there may be, and an endpoint that comes to rest
 * when it is left alone.
 */
#include "generator/cm/cm_endpoint.h"
#include "generator/cm/roce_frame.h"
#include "tests/fuzz/fuzz.h"

enum { HELD = 6, STEPS = 96 };

struct game {
    const uint8_t *at, *end;
    struct cm_endpoint *endpoint;
    struct cm_exchange *held[HELD];
    uint64_t now;
};

static uint8_t next(struct game *game)
{
    return game->at < game->end ? *game->at++ : 0;
}

static void emit(void *context, const struct net_address *to, const uint8_t mad[MAD_OCTETS], uint32_t flip)
{
    struct roce_ends ends = {.source = *to, .destination = *to, .icrc_flip = flip};
    uint8_t frame[ROCE_FRAME_MAX];
    struct roce_frame read;
    size_t count = roce_frame_build(frame, sizeof(frame), &ends, mad);

    (void)context;
    FUZZ_HOLDS(count != 0 && roce_frame_parse(&read, frame, count) && read.icrc_good == (flip == 0));
}

static void give(struct game *game, struct cm_exchange *answered)
{
    struct net_address from = {4, {10, 0, 0, next(game) & 1}};
    struct cm_exchange_status status;
    uint8_t mad[MAD_OCTETS];

    cm_begin(mad, (enum cm_attribute)(0x10 + next(game) % 11), next(game));
    for (size_t i = MAD_HEADER_OCTETS; i < MAD_OCTETS && game->at < game->end && i < 80; i++)
        mad[i] = next(game);
    if (answered != NULL) {
        cm_exchange_status(answered, &status);
        from = status.peer;
        cm_ids_set_RemoteID(mad + MAD_HEADER_OCTETS, status.local_id);
    }
    cm_endpoint_input(game->endpoint, &from, mad, true, game->now);
}

static void step(struct game *game)
{
    struct net_address peer = {4, {10, 0, 0, 1}};
    struct cm_exchange **held = &game->held[next(game) % HELD];
    uint8_t mad[MAD_OCTETS];
    struct cm_received received;

    switch (next(game) % 7) {
    case 0:
        if (*held == NULL)
            *held = cm_exchange_open(game->endpoint, &peer, NULL);
        break;
    case 1:
        if (*held == NULL)
            *held = cm_endpoint_accept(game->endpoint);
        break;
    case 2:
        if (*held != NULL) {
            struct cm_sending sending = {next(game) % 4, UINT64_C(1000000) * next(game), next(game)};

            cm_begin_answer(mad, (enum cm_attribute)(0x10 + next(game) % 11), 1, next(game), next(game));
            cm_exchange_send(*held, mad, &sending);
        }
        break;
    case 3: give(game, *held); break;
    case 4: give(game, NULL); break;
    case 5:
        while (*held != NULL && cm_exchange_next(*held, &received))
            FUZZ_HOLDS(mad_get_MgmtClass(received.mad) == MAD_CLASS_CM);
        if (*held != NULL)
            cm_exchange_release(*held);
        *held = NULL;
        break;
    default:
        game->now += UINT64_C(10000000) * next(game);
        cm_endpoint_tick(game->endpoint, game->now);
        FUZZ_HOLDS(cm_endpoint_deadline(game->endpoint) > game->now);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct game game = {.at = data, .end = data + size, .now = 1};
    struct cm_endpoint_config config = {.seed = size, .emit = emit};
    unsigned offered = 0;
    struct roce_frame frame;

    (void)roce_frame_parse(&frame, data, size);
    game.endpoint = cm_endpoint_new(&config, NULL);
    if (game.endpoint == NULL)
        return 0;
    for (unsigned i = 0; i < STEPS && game.at < game.end; i++)
        step(&game);
    for (unsigned i = 0; i < HELD; i++)
        if (game.held[i] != NULL)
            cm_exchange_release(game.held[i]);
    for (struct cm_exchange *exchange; (exchange = cm_endpoint_accept(game.endpoint)) != NULL; offered++)
        cm_exchange_release(exchange);
    FUZZ_HOLDS(offered <= CM_ENDPOINT_ACCEPTS);
    for (unsigned i = 0; i < 1000 && cm_endpoint_deadline(game.endpoint) != CM_ENDPOINT_NEVER; i++)
        cm_endpoint_tick(game.endpoint, cm_endpoint_deadline(game.endpoint));
    FUZZ_HOLDS(cm_endpoint_deadline(game.endpoint) == CM_ENDPOINT_NEVER);
    cm_endpoint_free(game.endpoint);
    return 0;
}
