/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/stack_sim.h"

#include <stdlib.h>
#include <string.h>

#include "generator/link/link_sim.h"
#include "generator/tcp/tcp_link.h"
#include "iwarp/stream.h"
#include "tests/unit/sim_traffic.h"
#include "wire/fpdu.h"

enum {
    SIM_PORT = 7174,
    PIECES_MAX = 64,
    SIM_HOUR_S = 3600,
};

#define SECOND_NS UINT64_C(1000000000)

/* One end of the wire. */
struct side {
    struct world *world;
    int index;
    struct tcp_stack *tcp;
    struct tcp_connection *connection;
    struct traffic_end *end;
    bool shut;
    uint8_t input[65536];
};

struct world {
    struct sim *sim;
    struct sim_traffic traffic;
    struct side side[SIM_SIDES]; /* 0 responder, 1 initiator */
    bool early;                  /* TCP passes MPA what it holds after a gap */
    struct stack_sim_taps taps;
};

static uint64_t draw(struct world *world, uint64_t below)
{
    return sim_draw(&world->traffic, below);
}

/* --- Between stream and TCP -------------------------------------------------------------------------------------- */

/* A piece as TCP likes it, or cut into segments as the seed likes it. */
static void send_piece(struct side *side, const uint8_t *octets, size_t count)
{
    struct world *world = side->world;
    size_t lengths[PIECES_MAX];
    size_t segments = 0;
    size_t mss = tcp_status(side->connection)->mss;
    size_t left = count;
    int result;

    if (draw(world, 2) != 0) {
        result = tcp_send(side->connection, octets, count);
    } else {
        while (left != 0 && segments + 1 < PIECES_MAX) {
            size_t cut = 1 + draw(world, draw(world, 4) == 0 ? 8 : mss);

            cut = cut < left ? cut : left;
            lengths[segments++] = cut;
            left -= cut;
        }
        result = tcp_send_segments(side->connection, octets, count - left, lengths, segments);
        if (result == 0 && left != 0)
            result = tcp_send(side->connection, octets + (count - left), left);
    }
    if (result != 0)
        sim_complain(side->end, side->end->done, "TCP does not take a piece of %zu octets", count);
}

static void pump(struct side *side)
{
    struct iwarp_output output;
    uint8_t piece[FPDU_OCTETS_MAX];

    if (side->end->stream == NULL)
        return;
    while (iwarp_stream_output(side->end->stream, &output) != 0) {
        size_t count = 0;

        for (size_t i = 0; i < output.span_count; count += output.spans[i++].count)
            memcpy(piece + count, output.spans[i].octets, output.spans[i].count);
        /* Not always all of it at once. */
        if (count > 1 && draw(side->world, 8) == 0)
            count = 1 + draw(side->world, count - 1);
        send_piece(side, piece, count);
        iwarp_stream_output_done(side->end->stream, count, sim_now(side->world->sim));
    }
    sim_take_events(side->end, sim_now(side->world->sim));
    /* The initiator ends it, once nothing of either side is under way: that much the test's two ends know. */
    if (side->index == 1 && sim_all_done(&side->world->traffic))
        iwarp_stream_disconnect(side->end->stream, sim_now(side->world->sim));
    if (iwarp_stream_wants(side->end->stream) == IWARP_WANT_ABORT)
        sim_complain(side->end, side->end->done, "the stream wants a reset");
    if (iwarp_stream_wants(side->end->stream) == IWARP_WANT_CLOSE && !side->shut) {
        side->shut = true;
        (void)tcp_shutdown(side->connection);
    }
}

static void begin(struct side *side, struct tcp_connection *connection);

static void on_event(void *context, struct tcp_connection *connection, enum tcp_event event)
{
    struct side *side = context;
    uint64_t now = sim_now(side->world->sim);
    const uint8_t *octets;
    size_t count;

    if (event == TCP_EVENT_ESTABLISHED) {
        begin(side, side->index == 0 ? tcp_accept(side->tcp, SIM_PORT) : connection);
    } else if (event == TCP_EVENT_DATA) {
        while (tcp_received(connection, &octets, &count) != 0) {
            /* In portions that need not be segments. */
            if (draw(side->world, 3) == 0)
                count = 1 + draw(side->world, count);
            count = count < sizeof(side->input) ? count : sizeof(side->input);
            memcpy(side->input, octets, count);
            tcp_consume(connection, count);
            iwarp_stream_input(side->end->stream, side->input, count, now);
        }
    } else if (event == TCP_EVENT_EARLY && side->world->early) {
        size_t gap;

        for (unsigned i = 0; tcp_early(connection, i, &gap, &octets, &count) != 0; i++)
            iwarp_stream_input_early(side->end->stream, gap, octets, count, false, now);
    } else if (event == TCP_EVENT_PEER_FIN) {
        iwarp_stream_input_fin(side->end->stream, now);
    } else if (event == TCP_EVENT_CLOSED && !side->end->closed) {
        sim_complain(side->end, side->end->done, "TCP ended: %s", tcp_cause_name(tcp_status(connection)->cause));
    }
    pump(side);
    /* The other side may have been waited for. */
    if (sim_all_done(&side->world->traffic))
        pump(&side->world->side[1]);
}

/* --- The world --------------------------------------------------------------------------------------------------- */

static void set_up(struct world *world, struct iwarp_stream_config *config, int index, uint64_t shape)
{
    iwarp_stream_config_default(config, index == 0 ? IWARP_RESPONDER : IWARP_INITIATOR);
    config->number = 1;
    config->revision = shape & 1 ? 1 : 2;
    config->enhanced = (shape & 1) == 0;
    config->peer_to_peer = config->enhanced && (shape & 2) != 0 && index == 1;
    config->rtr = 1u << (shape >> 2) % 3;
    config->crc = (shape & 16) == 0;
    config->markers = draw(world, 3) == 0;
    config->ird = (uint16_t)(2 + draw(world, 6));
    config->ord = (uint16_t)(1 + draw(world, 2)); /* Rev 1 negotiates nothing: no more than the peer serves */
    config->startup_limit = config->linger_limit = 0;
}

static void begin(struct side *side, struct tcp_connection *connection)
{
    side->connection = connection;
    iwarp_stream_set_emss(side->end->stream, tcp_status(connection)->mss);
}

static void emit(void *context, const uint8_t *frame, size_t octets)
{
    struct side *side = context;
    const struct stack_sim_taps *taps = &side->world->taps;

    if (taps->sent != NULL)
        taps->sent(taps->context, frame, octets, sim_now(side->world->sim), side->index != 0);
    (void)sim_send(side->world->sim, side->index == 0 ? SIM_END_A : SIM_END_B, frame, octets);
}

static int side_new(struct world *world, int index, uint64_t shape)
{
    static const uint8_t macs[SIM_SIDES][6] = {{2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}};
    struct side *side = &world->side[index];
    struct tcp_stack_config tcp = {
        .seed = draw(world, UINT64_MAX), .now = sim_now(world->sim), .emit = emit, .event = on_event, .context = side};
    struct iwarp_device_config device = {.seed = draw(world, UINT64_MAX) | 1};
    struct iwarp_stream_config config;

    side->world = world;
    side->index = index;
    memcpy(tcp.mac, macs[index], sizeof(tcp.mac));
    (void)net_address_parse(&tcp.ipv4, index == 0 ? "10.0.0.1" : "10.0.0.2");
    side->end = &world->traffic.end[index];
    side->tcp = tcp_stack_new(&tcp, world->traffic.sentence);
    side->end->device = iwarp_device_new(&device);
    if (side->end->device == NULL || side->tcp == NULL || sim_plan(&world->traffic, index, side->end->device) != 0)
        return -1;
    set_up(world, &config, index, shape);
    side->end->stream = iwarp_stream_new(side->end->device, &config, sim_now(world->sim), world->traffic.sentence);
    return side->end->stream == NULL ? -1 : 0;
}

static void impair(struct world *world, struct sim_impairment *impairment)
{
    impairment->loss = (double)draw(world, 8) / 100;
    impairment->duplicate = (double)draw(world, 8) / 100;
    impairment->reorder = (double)draw(world, 20) / 100;
    impairment->reorder_delay_ns = draw(world, 2000000);
}

static bool both_closed(void *context)
{
    const struct world *world = context;

    return world->traffic.wrong || (world->traffic.end[0].closed && world->traffic.end[1].closed);
}

static int run(struct world *world, uint64_t seed)
{
    struct sim_config config = {.seed = seed};
    struct tcp_options options = {.attempts = 30};
    struct net_address to;
    uint64_t shape = draw(world, 1 << 16);

    options.mss = (uint16_t)(draw(world, 3) == 0 ? 1460 : 200 + draw(world, 1260));
    world->early = (shape & 256) != 0;
    impair(world, &config.a_to_b);
    impair(world, &config.b_to_a);
    world->sim = sim_new(&config);
    if (world->sim == NULL)
        return iwarp_sentence_set(world->traffic.sentence, "no world");
    sim_tap(world->sim, world->taps.delivered, world->taps.context);
    for (int i = 0; i < SIM_SIDES; i++)
        if (side_new(world, i, shape) != 0)
            return -1;
    for (int i = 0; i < SIM_SIDES; i++)
        sim_post(&world->traffic.end[i]);
    sim_attach(world->sim, SIM_END_A, &tcp_sim_node_ops, world->side[0].tcp);
    sim_attach(world->sim, SIM_END_B, &tcp_sim_node_ops, world->side[1].tcp);
    (void)net_address_parse(&to, "10.0.0.1");
    if (tcp_listen(world->side[0].tcp, SIM_PORT, &options, world->traffic.sentence) != 0 ||
        tcp_connect(world->side[1].tcp, &to, SIM_PORT, &options, world->traffic.sentence) == NULL)
        return -1;
    if (sim_run_until(world->sim, sim_now(world->sim) + SIM_HOUR_S * SECOND_NS, both_closed, world) < 0)
        return iwarp_sentence_set(world->traffic.sentence, "the world stands still");
    sim_judge(&world->traffic);
    return world->traffic.wrong ? -1 : 0;
}

static int run_world(uint64_t seed, uint64_t *early, const struct stack_sim_taps *taps, struct iwarp_sentence *sentence)
{
    struct world *world = calloc(1, sizeof(*world));
    int result;

    if (world == NULL)
        return iwarp_sentence_set(sentence, "out of memory");
    world->traffic.state = seed;
    world->traffic.sentence = sentence;
    if (taps != NULL)
        world->taps = *taps;
    result = run(world, seed);
    for (int i = 0; i < SIM_SIDES; i++) {
        if (early != NULL && world->traffic.end[i].stream != NULL)
            *early += iwarp_stream_counters(world->traffic.end[i].stream)->segments_early;
        tcp_stack_free(world->side[i].tcp);
        iwarp_stream_free(world->traffic.end[i].stream);
        iwarp_device_free(world->traffic.end[i].device);
    }
    sim_free(world->sim);
    free(world);
    return result;
}

int stack_sim_run(uint64_t seed, uint64_t *early, struct iwarp_sentence *sentence)
{
    return run_world(seed, early, NULL, sentence);
}

int stack_sim_run_tapped(uint64_t seed, const struct stack_sim_taps *taps, struct iwarp_sentence *sentence)
{
    return run_world(seed, NULL, taps, sentence);
}
