/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/stack_sim.h"

#include <stdlib.h>
#include <string.h>

#include "generator/link/link_sim.h"
#include "generator/tcp/tcp_link.h"
#include "iwarp/stream.h"
#include "tests/unit/cut_work.h"
#include "wire/fpdu.h"

enum {
    SIDES = 2,
    WORKS_MAX = 24,
    MESSAGE_MAX = 6000,
    REGION = 32768,
    SIM_PORT = 7174,
    PIECES_MAX = 64,
    SIM_HOUR_S = 3600,
};

#define SECOND_NS UINT64_C(1000000000)

struct work {
    enum iwarp_work kind;
    uint8_t octets[MESSAGE_MAX];
    uint32_t count;
    uint32_t at; /* offset in the region that it is about */
    bool solicited;
};

/* One end: regions are `written` (by the peer), `source` (the peer reads it), `sink` (of own Reads). */
struct side {
    struct world *world;
    int index;
    struct tcp_stack *tcp;
    struct tcp_connection *connection;
    struct iwarp_device *device;
    struct iwarp_stream *stream;
    struct iwarp_region written, source, sink;
    uint8_t model[REGION]; /* what `written` must hold in the end */
    struct work works[WORKS_MAX];
    size_t work_count, done;
    uint8_t receives[WORKS_MAX][MESSAGE_MAX];
    size_t received;
    bool shut, closed;
    uint8_t input[65536];
};

struct world {
    struct sim *sim;
    struct side side[SIDES]; /* 0 responder, 1 initiator */
    uint64_t state;
    struct sentence *sentence;
    bool wrong;
    bool early; /* TCP tells MPA of what it holds ahead of a gap */
    struct stack_sim_taps taps;
};

static uint64_t draw(struct world *world, uint64_t below)
{
    uint64_t z = world->state += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return (z ^ z >> 31) % below;
}

__attribute__((format(printf, 3, 4))) static void complain(struct side *side, uint64_t number, const char *format, ...)
{
    char text[256];
    va_list arguments;

    if (side->world->wrong)
        return;
    side->world->wrong = true;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    (void)sentence_set(side->world->sentence, "%s, message %llu: %s", side->index == 0 ? "responder" : "initiator",
                       (unsigned long long)number, text);
}

/* --- What is expected -------------------------------------------------------------------------------------------- */

/* The n-th Send of the other side. */
static const struct work *nth_send(const struct side *from, size_t n)
{
    for (size_t i = 0; i < from->work_count; i++)
        if (from->works[i].kind == IWARP_WORK_SEND && n-- == 0)
            return &from->works[i];
    return NULL;
}

static void take_receive(struct side *side, const struct iwarp_event *event)
{
    const struct work *sent = nth_send(&side->world->side[1 - side->index], side->received);

    if (sent == NULL || event->id != side->received || event->octets != sent->count ||
        event->solicited != sent->solicited)
        complain(side, side->received, "a Send of %zu octets to receive %llu", event->octets,
                 (unsigned long long)event->id);
    else if (memcmp(side->receives[event->id], sent->octets, sent->count) != 0)
        complain(side, side->received, "a Send has other octets than were sent");
    side->received++;
}

static void take_done(struct side *side, const struct iwarp_event *event, enum iwarp_work kind)
{
    const struct work *work = &side->works[side->done];

    if (side->done >= side->work_count || event->id != side->done || work->kind != kind || event->octets != work->count)
        complain(side, side->done, "work %llu of kind %d completed", (unsigned long long)event->id, (int)kind);
    else if (kind == IWARP_WORK_READ &&
             memcmp(side->sink.octets + work->at, side->world->side[1 - side->index].source.octets + work->at,
                    work->count) != 0)
        complain(side, side->done, "a Read has other octets than its source");
    side->done++;
}

static void take_events(struct side *side)
{
    struct iwarp_event event;

    while (iwarp_stream_poll(side->stream, &event)) {
        switch (event.kind) {
        case IWARP_EVENT_RECEIVE: take_receive(side, &event); break;
        case IWARP_EVENT_SEND_DONE: take_done(side, &event, IWARP_WORK_SEND); break;
        case IWARP_EVENT_WRITE_DONE: take_done(side, &event, IWARP_WORK_WRITE); break;
        case IWARP_EVENT_READ_DONE: take_done(side, &event, IWARP_WORK_READ); break;
        case IWARP_EVENT_HALF_CLOSED: iwarp_stream_disconnect(side->stream, sim_now(side->world->sim)); break;
        case IWARP_EVENT_CLOSED: side->closed = true; break;
        case IWARP_EVENT_ERROR: complain(side, side->done, "an error: %s", event.text); break;
        case IWARP_EVENT_FLUSHED:
            if (event.flushed != IWARP_WORK_RECEIVE)
                complain(side, event.id, "work of kind %d was flushed", (int)event.flushed);
            break;
        default: break;
        }
    }
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
        complain(side, side->done, "TCP does not take a piece of %zu octets", count);
}

/* Sends have been received by the other side, all else is done. */
static bool all_done(const struct world *world)
{
    for (int i = 0; i < SIDES; i++) {
        const struct side *side = &world->side[i];

        if (side->done != side->work_count || nth_send(side, world->side[1 - i].received) != NULL)
            return false;
    }
    return true;
}

static void pump(struct side *side)
{
    struct iwarp_output output;
    uint8_t piece[FPDU_OCTETS_MAX];

    if (side->stream == NULL)
        return;
    while (iwarp_stream_output(side->stream, &output) != 0) {
        size_t count = 0;

        for (size_t i = 0; i < output.span_count; count += output.spans[i++].count)
            memcpy(piece + count, output.spans[i].octets, output.spans[i].count);
        /* Not always all of it at once. */
        if (count > 1 && draw(side->world, 8) == 0)
            count = 1 + draw(side->world, count - 1);
        send_piece(side, piece, count);
        iwarp_stream_output_done(side->stream, count, sim_now(side->world->sim));
    }
    take_events(side);
    /* The initiator ends it, once nothing of either side is under way: that much the test's two ends know. */
    if (side->index == 1 && all_done(side->world))
        iwarp_stream_disconnect(side->stream, sim_now(side->world->sim));
    if (iwarp_stream_wants(side->stream) == IWARP_WANT_ABORT)
        complain(side, side->done, "the stream wants a reset");
    if (iwarp_stream_wants(side->stream) == IWARP_WANT_CLOSE && !side->shut) {
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
            iwarp_stream_input(side->stream, side->input, count, now);
        }
    } else if (event == TCP_EVENT_EARLY && side->world->early) {
        size_t gap;

        for (unsigned i = 0; tcp_early(connection, i, &gap, &octets, &count) != 0; i++)
            iwarp_stream_input_early(side->stream, gap, octets, count, false, now);
    } else if (event == TCP_EVENT_PEER_FIN) {
        iwarp_stream_input_fin(side->stream, now);
    } else if (event == TCP_EVENT_CLOSED && !side->closed) {
        complain(side, side->done, "TCP ended: %s", tcp_cause_name(tcp_status(connection)->cause));
    }
    pump(side);
    /* The other side may have been waited for. */
    if (all_done(side->world))
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

static void post_all(struct side *side)
{
    struct side *other = &side->world->side[1 - side->index];
    int result = 0;

    for (size_t i = 0; i < WORKS_MAX; i++)
        result |= cut_receive(side->stream, i, side->receives[i], MESSAGE_MAX, draw(side->world, UINT64_MAX));
    for (size_t i = 0; i < side->work_count; i++) {
        struct work *work = &side->works[i];

        if (work->kind != IWARP_WORK_READ) {
            struct iwarp_send send = {
                .id = i, .octets = work->octets, .count = work->count, .solicited = work->solicited};
            struct iwarp_write write = {.id = i,
                                        .octets = work->octets,
                                        .count = work->count,
                                        .stag = other->written.stag,
                                        .to = other->written.base + work->at};
            uint64_t chance = draw(side->world, UINT64_MAX);

            result |= work->kind == IWARP_WORK_SEND ? cut_send(side->stream, &send, chance)
                                                    : cut_write(side->stream, &write, chance);
            if (work->kind == IWARP_WORK_WRITE && work->count != 0)
                memcpy(other->model + work->at, work->octets, work->count);
        } else {
            struct iwarp_read read = {i,
                                      side->sink.stag,
                                      side->sink.base + work->at,
                                      other->source.stag,
                                      other->source.base + work->at,
                                      work->count};

            result |= iwarp_stream_post_read(side->stream, &read, NULL);
        }
    }
    if (result != 0)
        complain(side, 0, "work is not taken");
}

static void begin(struct side *side, struct tcp_connection *connection)
{
    side->connection = connection;
    iwarp_stream_set_emss(side->stream, tcp_status(connection)->mss);
}

static void emit(void *context, const uint8_t *frame, size_t octets)
{
    struct side *side = context;
    const struct stack_sim_taps *taps = &side->world->taps;

    if (taps->sent != NULL)
        taps->sent(taps->context, frame, octets, sim_now(side->world->sim), side->index != 0);
    (void)sim_send(side->world->sim, side->index == 0 ? SIM_END_A : SIM_END_B, frame, octets);
}

static int region_new(struct side *side, struct iwarp_region *region, unsigned access, uint64_t base)
{
    *region = (struct iwarp_region){.base = base, .length = REGION, .access = access};
    return iwarp_region_register(side->device, region, side->world->sentence);
}

/* Works that read and write where no other of them does, so that every one can be judged by itself. */
static void plan(struct side *side)
{
    struct world *world = side->world;
    uint32_t written = 0, read = 0;

    side->work_count = 1 + draw(world, WORKS_MAX - 1);
    for (size_t i = 0; i < side->work_count; i++) {
        struct work *work = &side->works[i];
        uint32_t most = draw(world, 3) == 0 ? MESSAGE_MAX : 300;

        work->kind = (enum iwarp_work)(IWARP_WORK_SEND + draw(world, 3));
        work->count = (uint32_t)draw(world, most + 1);
        if (work->kind == IWARP_WORK_SEND) {
            work->solicited = draw(world, 2) != 0;
        } else if (work->kind == IWARP_WORK_WRITE) {
            /* Later Writes may lie over earlier ones: then the order shows. */
            work->at =
                draw(world, 2) != 0 ? written % (REGION - MESSAGE_MAX) : (uint32_t)draw(world, REGION - MESSAGE_MAX);
            written += work->count;
        } else {
            if (read + work->count > REGION)
                work->count = 0;
            work->at = read;
            read += work->count;
        }
        for (size_t k = 0; k < work->count; k++)
            work->octets[k] = (uint8_t)draw(world, 256);
    }
}

static int side_new(struct world *world, int index, uint64_t shape)
{
    static const uint8_t macs[SIDES][6] = {{2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}};
    struct side *side = &world->side[index];
    struct tcp_stack_config tcp = {
        .seed = draw(world, UINT64_MAX), .now = sim_now(world->sim), .emit = emit, .event = on_event, .context = side};
    struct iwarp_device_config device = {.seed = draw(world, UINT64_MAX) | 1};
    struct iwarp_stream_config config;

    side->world = world;
    side->index = index;
    memcpy(tcp.mac, macs[index], sizeof(tcp.mac));
    (void)net_address_parse(&tcp.ipv4, index == 0 ? "10.0.0.1" : "10.0.0.2");
    side->device = iwarp_device_new(&device);
    side->tcp = tcp_stack_new(&tcp, world->sentence);
    if (side->device == NULL || side->tcp == NULL)
        return -1;
    if (region_new(side, &side->written, IWARP_REMOTE_WRITE, draw(world, UINT64_MAX) << 20) != 0 ||
        region_new(side, &side->source, IWARP_REMOTE_READ, 0 - (uint64_t)REGION) != 0 ||
        region_new(side, &side->sink, IWARP_LOCAL_WRITE, 4096) != 0)
        return -1;
    for (size_t i = 0; i < REGION; i++)
        side->source.octets[i] = (uint8_t)draw(world, 256);
    plan(side);
    set_up(world, &config, index, shape);
    side->stream = iwarp_stream_new(side->device, &config, sim_now(world->sim), world->sentence);
    return side->stream == NULL ? -1 : 0;
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

    return world->wrong || (world->side[0].closed && world->side[1].closed);
}

static void judge(struct world *world)
{
    for (int i = 0; i < SIDES; i++) {
        struct side *side = &world->side[i];
        size_t sends = 0;

        while (nth_send(&world->side[1 - i], sends) != NULL)
            sends++;
        if (!side->closed)
            complain(side, side->done, "the stream is not closed after an hour");
        if (side->done != side->work_count || side->received != sends)
            complain(side, side->done, "%zu of %zu works are done, %zu of %zu Sends received", side->done,
                     side->work_count, side->received, sends);
        if (memcmp(side->model, side->written.octets, REGION) != 0)
            complain(side, side->done, "Writes have left other octets than they should");
    }
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
        return sentence_set(world->sentence, "no world");
    sim_tap(world->sim, world->taps.delivered, world->taps.context);
    for (int i = 0; i < SIDES; i++)
        if (side_new(world, i, shape) != 0)
            return -1;
    for (int i = 0; i < SIDES; i++)
        post_all(&world->side[i]);
    sim_attach(world->sim, SIM_END_A, &tcp_sim_node_ops, world->side[0].tcp);
    sim_attach(world->sim, SIM_END_B, &tcp_sim_node_ops, world->side[1].tcp);
    (void)net_address_parse(&to, "10.0.0.1");
    if (tcp_listen(world->side[0].tcp, SIM_PORT, &options, world->sentence) != 0 ||
        tcp_connect(world->side[1].tcp, &to, SIM_PORT, &options, world->sentence) == NULL)
        return -1;
    if (sim_run_until(world->sim, sim_now(world->sim) + SIM_HOUR_S * SECOND_NS, both_closed, world) < 0)
        return sentence_set(world->sentence, "the world stands still");
    judge(world);
    return world->wrong ? -1 : 0;
}

static int run_world(uint64_t seed, uint64_t *early, const struct stack_sim_taps *taps, struct sentence *sentence)
{
    struct world *world = calloc(1, sizeof(*world));
    int result;

    if (world == NULL)
        return sentence_set(sentence, "out of memory");
    world->state = seed;
    world->sentence = sentence;
    if (taps != NULL)
        world->taps = *taps;
    result = run(world, seed);
    for (int i = 0; i < SIDES; i++) {
        if (early != NULL && world->side[i].stream != NULL)
            *early += iwarp_stream_counters(world->side[i].stream)->segments_early;
        tcp_stack_free(world->side[i].tcp);
        iwarp_stream_free(world->side[i].stream);
        iwarp_device_free(world->side[i].device);
    }
    sim_free(world->sim);
    free(world);
    return result;
}

int stack_sim_run(uint64_t seed, uint64_t *early, struct sentence *sentence)
{
    return run_world(seed, early, NULL, sentence);
}

int stack_sim_run_tapped(uint64_t seed, const struct stack_sim_taps *taps, struct sentence *sentence)
{
    return run_world(seed, NULL, taps, sentence);
}
