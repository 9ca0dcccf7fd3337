/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/flow/flow_internal.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FLOWS_MAX = 4096, BUFFER_MAX = 32 << 20, HALF_BUFFER_MAX = 256 << 10, EVICT_CANDIDATES = 8 };

const char *flow_reason_text(enum flow_reason reason)
{
    static const char *const texts[FLOW_REASON_COUNT] = {
        [FLOW_REASON_START_MALFORMED] = "the start-up frame is malformed: what follows it cannot be told apart",
        [FLOW_REASON_REJECTED] = "the connection was rejected (R=1): what follows belongs to the ULP",
        [FLOW_REASON_SYNC_LOST] = "the FPDU boundary was lost: looking for the next FPDU",
        [FLOW_REASON_ONE_WAY] = "no start-up frame of the other side: Markers and CRC were found out from the stream",
        [FLOW_REASON_LATE] = "the capture begins in mid-stream: decoded from the first FPDU that could be verified",
        [FLOW_REASON_NO_FPDU] = "no FPDU was found in this direction",
        [FLOW_REASON_STREAMING] = "the ULP's own octets stand before the start-up frame",
        [FLOW_REASON_EVICTED] = "more connections are open than the decoder follows at once",
        [FLOW_REASON_CHECKSUM] = "the SCTP packet's checksum is wrong: a receiver drops it",
        [FLOW_REASON_MESSAGE_SHORT] = "the user message is too short for its DDP-SSN",
        [FLOW_REASON_MESSAGE_LONG] =
            "fragments of a user message that never became whole, or is longer than a DDP Segment",
        [FLOW_REASON_SSN_AGAIN] = "another user message with that DDP-SSN came before",
        [FLOW_REASON_CHUNK] = "the chunk's length contradicts the packet's: the rest of the packet is not read",
    };

    return (unsigned)reason < FLOW_REASON_COUNT ? texts[reason] : "";
}

const char *flow_kind_text(enum flow_kind kind)
{
    static const char *const texts[FLOW_KINDS] = {"TCP connection", "SCTP association", "DDP stream", "CM exchange"};

    return (unsigned)kind < FLOW_KINDS ? texts[kind] : "";
}

const char *flow_role(const struct flow *flow, enum flow_direction direction)
{
    if (!flow->roles_known)
        return NULL;
    return direction == FLOW_FROM_INITIATOR ? "initiator" : "responder";
}

static void end_name(const struct flow *flow, const struct flow_address *address, char *text, size_t room)
{
    char number[INET6_ADDRSTRLEN] = "?";

    if (address->family == 0)
        snprintf(number, sizeof(number), "lid 0x%04x", (unsigned)octets_get16(address->octets));
    else
        inet_ntop(address->family == 6 ? AF_INET6 : AF_INET, address->octets, number, sizeof(number));
    if (flow->kind == FLOW_CM_EXCHANGE)
        snprintf(text, room, "%s", number);
    else
        snprintf(text, room, address->family == 6 ? "[%s]:%u" : "%s:%u", number, (unsigned)address->port);
}

const char *flow_name(const struct flow *flow, enum flow_direction direction, char *text, size_t room)
{
    char from[INET6_ADDRSTRLEN + 9], to[INET6_ADDRSTRLEN + 9], more[20] = "";

    end_name(flow, &flow->address[direction], from, sizeof(from));
    end_name(flow, &flow->address[flow_reverse(direction)], to, sizeof(to));
    if (flow->kind == FLOW_STREAM)
        snprintf(more, sizeof(more), " sid %u", (unsigned)flow->sctp.sid);
    else if (flow->kind == FLOW_CM_EXCHANGE)
        snprintf(more, sizeof(more), " id 0x%08x", (unsigned)flow->cm.id[FLOW_FROM_INITIATOR]);
    snprintf(text, room, "%s>%s%s", from, to, more);
    return text;
}

/* ---- events ---------------------------------------------------------------------------------------------------- */

struct flow_event flow_event_make(const struct flow_connection *connection, unsigned side, enum flow_event_kind kind,
                                  uint64_t frame, uint64_t time_ns)
{
    return (struct flow_event){
        .kind = kind,
        .direction = flow_direction_of(connection, side),
        .flow = connection->flow,
        .frame = frame,
        .first_frame = frame,
        .time_ns = time_ns,
        .reason = FLOW_REASON_COUNT,
    };
}

void flow_event_send(struct flow_decoder *decoder, const struct flow_event *event)
{
    if (decoder->sink != NULL && event->flow != NULL)
        decoder->sink(decoder->ctx, event);
}

void flow_undecoded(struct flow_decoder *decoder, struct flow_connection *connection, unsigned side,
                    enum flow_reason reason, uint64_t frame, uint64_t time_ns)
{
    struct flow_event event = flow_event_make(connection, side, FLOW_UNDECODED, frame, time_ns);

    event.reason = reason;
    event.position = connection->side[side].position;
    flow_event_send(decoder, &event);
}

static void set_address(struct flow_address *address, const struct flow_key *key, unsigned side)
{
    address->family = key->family;
    address->port = key->port[side];
    memcpy(address->octets, key->address[side], sizeof(address->octets));
}

static void tell_open(struct flow_decoder *decoder, struct flow_connection *connection, unsigned side)
{
    const struct flow_side *from = &connection->side[side];
    struct flow_open open = {from->syn_ack, from->isn, from->mss, from->window};
    struct flow_event event = flow_event_make(connection, side, FLOW_TCP_OPEN, from->syn_frame, from->syn_ns);

    event.open = &open;
    flow_event_send(decoder, &event);
}

struct flow *flow_make(struct flow_decoder *decoder, enum flow_kind kind, uint64_t frame, uint64_t time_ns)
{
    size_t head = (sizeof(struct flow) + 15) & ~(size_t)15;
    struct flow *flow = calloc(1, head + decoder->config.rule_state_octets);

    if (flow == NULL)
        return NULL;
    flow->kind = kind;
    flow->number = ++decoder->totals.flows;
    flow->first_frame = flow->last_frame = frame;
    flow->first_ns = flow->last_ns = time_ns;
    flow->revision = MPA_REV_1;
    flow->rule_state = decoder->config.rule_state_octets != 0 ? (uint8_t *)flow + head : NULL;
    for (unsigned i = 0; i < FLOW_DIRECTIONS; i++)
        for (unsigned queue = 0; queue < FLOW_QUEUES; queue++)
            flow->half[i].queue[queue].next_msn = DDP_FIRST_MSN;
    return flow;
}

bool flow_recognise(struct flow_decoder *decoder, struct flow_connection *connection, unsigned initiator,
                    bool roles_known)
{
    struct flow *flow;

    if (connection->flow != NULL)
        return true;
    flow = flow_make(decoder, FLOW_CONNECTION, connection->first_frame, connection->first_ns);
    if (flow == NULL)
        return false;
    connection->flow = flow;
    connection->swap = initiator; /* side `initiator` becomes direction 0 */
    flow->roles_known = roles_known;
    flow->last_frame = connection->last_frame;
    flow->last_ns = connection->last_ns;
    for (unsigned i = 0; i < 2; i++) {
        struct flow_side *side = &connection->side[i];
        enum flow_direction direction = flow_direction_of(connection, i);
        struct flow_half *half = &flow->half[direction];

        set_address(&flow->address[direction], &connection->key, i);
        side->half = half;
        half->syn_seen = side->syn_seen;
        half->isn = side->isn;
        half->mss = side->mss;
        half->window_scale_seen = side->has_scale;
        half->window_scale = side->scale;
        half->largest_segment = side->largest_segment;
        if (side->syn_seen) {
            flow->opener_known = true;
            flow->opener = side->syn_ack ? flow_reverse(direction) : direction;
        }
    }
    for (unsigned i = 0; i < 2; i++)
        if (connection->side[initiator ^ i].syn_seen)
            tell_open(decoder, connection, initiator ^ i);
    return true;
}

/* ---- connections ----------------------------------------------------------------------------------------------- */

static unsigned cache_slot(const struct flow_key *key)
{
    uint32_t a, b;

    memcpy(&a, key->address[0] + (key->family == 4 ? 0 : 12), sizeof(a));
    memcpy(&b, key->address[1] + (key->family == 4 ? 0 : 12), sizeof(b));
    a ^= b * 31u ^ (uint32_t)key->port[0] * 2654435761u ^ (uint32_t)key->port[1] * 40503u;
    return (a ^ a >> 12 ^ a >> 24) % FLOW_CACHE;
}

static void age_unlink(struct flow_decoder *decoder, struct flow_connection *connection)
{
    if (connection->newer != NULL)
        connection->newer->older = connection->older;
    else
        decoder->newest = connection->older;
    if (connection->older != NULL)
        connection->older->newer = connection->newer;
    else
        decoder->oldest = connection->newer;
}

static void age_newest(struct flow_decoder *decoder, struct flow_connection *connection)
{
    connection->newer = NULL;
    connection->older = decoder->newest;
    if (decoder->newest != NULL)
        decoder->newest->newer = connection;
    else
        decoder->oldest = connection;
    decoder->newest = connection;
}

static bool is_closed(const struct flow_connection *connection)
{
    return connection->side[0].reset || connection->side[1].reset ||
           (connection->side[0].closed && connection->side[1].closed);
}

static void free_connection(struct flow_decoder *decoder, struct flow_connection *connection)
{
    unsigned slot = cache_slot(&connection->key);

    if (decoder->cache[slot] == connection)
        decoder->cache[slot] = NULL;
    HASH_DEL(decoder->connections, connection);
    age_unlink(decoder, connection);
    decoder->connection_count--;
    for (unsigned i = 0; i < 2; i++) {
        flow_tcp_release(decoder, &connection->side[i]);
        flow_mpa_release(decoder, &connection->side[i]);
        if (connection->flow != NULL)
            free(connection->flow->half[i].requests);
    }
    free(connection->flow);
    free(connection);
}

static void end_connection(struct flow_decoder *decoder, struct flow_connection *connection, enum flow_reason reason)
{
    flow_tcp_flush(decoder, connection);
    for (unsigned i = 0; i < 2; i++)
        flow_mpa_end(decoder, connection, i);
    if (connection->flow != NULL) {
        struct flow_event event =
            flow_event_make(connection, connection->swap, FLOW_END, connection->last_frame, connection->last_ns);

        event.reason = reason;
        flow_event_send(decoder, &event);
    }
    free_connection(decoder, connection);
}

/*
 * Makes room for one more: of the first few in the list the one that is closed, or has been idle longest, goes; the
 * others go to its end. Comes close to "least recently used" without a list to mend at every frame.
 */
static void evict(struct flow_decoder *decoder)
{
    struct flow_connection *candidates[EVICT_CANDIDATES], *victim = decoder->oldest;
    size_t count = 0;
    bool closed;

    if (victim == NULL)
        return;
    for (struct flow_connection *next = victim; next != NULL && count < EVICT_CANDIDATES; next = next->newer) {
        candidates[count++] = next;
        if (is_closed(next) != is_closed(victim) ? is_closed(next) : next->last_frame < victim->last_frame)
            victim = next;
    }
    for (size_t i = 0; i < count; i++) {
        if (candidates[i] == victim)
            continue;
        age_unlink(decoder, candidates[i]);
        age_newest(decoder, candidates[i]);
    }
    closed = is_closed(victim);
    if (!closed && victim->flow != NULL)
        decoder->totals.evicted++;
    end_connection(decoder, victim, closed ? FLOW_REASON_COUNT : FLOW_REASON_EVICTED);
}

static struct flow_connection *new_connection(struct flow_decoder *decoder, const struct flow_segment *segment,
                                              const struct flow_frame *frame)
{
    struct flow_connection *connection = calloc(1, sizeof(*connection));

    if (connection == NULL)
        return NULL;
    if (decoder->connection_count >= decoder->config.flows_max)
        evict(decoder);
    connection->key = segment->key;
    connection->first_side = segment->side;
    connection->first_frame = frame->number;
    connection->first_ns = frame->time_ns;
    connection->side[0].state = connection->side[1].state = SIDE_LATE;
    HASH_ADD(hh, decoder->connections, key, sizeof(connection->key), connection);
    age_newest(decoder, connection);
    decoder->connection_count++;
    decoder->totals.connections++;
    return connection;
}

static struct flow_connection *find_connection(struct flow_decoder *decoder, const struct flow_key *key)
{
    struct flow_connection **cached = &decoder->cache[cache_slot(key)];
    struct flow_connection *connection = *cached;

    if (connection == NULL || memcmp(&connection->key, key, sizeof(*key)) != 0) {
        HASH_FIND(hh, decoder->connections, key, sizeof(*key), connection);
        if (connection == NULL)
            return NULL;
        *cached = connection;
    }
    return connection;
}

/* A SYN with another sequence number than the one that this connection has: the 4-tuple lives again. */
static bool is_new_life(const struct flow_connection *connection, const struct flow_segment *segment)
{
    const struct flow_side *side = &connection->side[segment->side];

    if ((segment->flags & TCP_BIT_SYN) == 0 || !side->seq_known)
        return false;
    return !side->syn_seen || side->isn != segment->seq;
}

/* The connection that the segment belongs to, as it is now; NULL when there is none. */
static struct flow_connection *take_segment(struct flow_decoder *decoder, const struct flow_segment *segment,
                                            const struct flow_frame *frame)
{
    struct flow_connection *connection = find_connection(decoder, &segment->key);

    if (connection != NULL && is_new_life(connection, segment)) {
        end_connection(decoder, connection, FLOW_REASON_COUNT);
        connection = NULL;
    }
    if (connection == NULL) {
        if (segment->length == 0 && (segment->flags & TCP_BIT_SYN) == 0)
            return NULL;
        connection = new_connection(decoder, segment, frame);
        if (connection == NULL)
            return NULL;
    }
    connection->last_frame = frame->number;
    connection->last_ns = frame->time_ns;
    if (connection->flow != NULL) {
        connection->flow->last_frame = frame->number;
        connection->flow->last_ns = frame->time_ns;
    }
    flow_tcp_segment(decoder, connection, segment, frame);
    return connection;
}

void flow_decoder_frame(struct flow_decoder *decoder, const struct flow_frame *frame)
{
    struct flow_segment segment;
    struct flow_datagram datagram;

    decoder->totals.frames++;
    decoder->now_ns = frame->time_ns;
    switch (flow_link_frame(frame, &segment, &datagram, &decoder->totals)) {
    case FLOW_PROTOCOL_NONE: break;
    case FLOW_PROTOCOL_TCP: take_segment(decoder, &segment, frame); break;
    case FLOW_PROTOCOL_SCTP: flow_sctp_packet(decoder, &datagram, frame->number, frame->time_ns); break;
    default: flow_infiniband_packet(decoder, &datagram, frame->number, frame->time_ns); break;
    }
}

static void take_packet(struct flow_decoder *decoder, const struct flow_packet *packet, enum flow_protocol protocol,
                        struct flow_datagram *datagram)
{
    decoder->totals.frames++;
    decoder->now_ns = packet->time_ns;
    *datagram = (struct flow_datagram){
        .protocol = protocol,
        .family = packet->family,
        .source = packet->source,
        .destination = packet->destination,
        .octets = packet->octets,
        .captured = packet->captured,
        .length = packet->length > packet->captured ? packet->length : packet->captured,
    };
    decoder->totals.cut_frames += packet->length > packet->captured;
}

void flow_decoder_sctp(struct flow_decoder *decoder, const struct flow_packet *packet)
{
    struct flow_datagram datagram;

    take_packet(decoder, packet, FLOW_PROTOCOL_SCTP, &datagram);
    datagram.ip_octets = (packet->family == 4 ? 20 : 40) + datagram.length; /* without options */
    if (packet->family == 4 || packet->family == 6)
        flow_sctp_packet(decoder, &datagram, packet->number, packet->time_ns);
}

void flow_decoder_roce(struct flow_decoder *decoder, const struct flow_packet *packet)
{
    struct flow_datagram datagram;

    take_packet(decoder, packet, packet->family == 0 ? FLOW_PROTOCOL_GRH : FLOW_PROTOCOL_BTH, &datagram);
    if (packet->family == 0 || packet->family == 4 || packet->family == 6)
        flow_infiniband_packet(decoder, &datagram, packet->number, packet->time_ns);
}

const struct flow *flow_decoder_segment(struct flow_decoder *decoder, const struct flow_packet *packet,
                                        enum flow_direction *direction)
{
    struct flow_frame frame = {.time_ns = packet->time_ns, .number = packet->number};
    struct flow_connection *connection;
    struct flow_segment segment;

    decoder->totals.frames++;
    decoder->now_ns = packet->time_ns;
    if (!flow_link_packet(packet, &segment, &decoder->totals))
        return NULL;
    connection = take_segment(decoder, &segment, &frame);
    if (connection == NULL || connection->flow == NULL)
        return NULL;
    if (direction != NULL)
        *direction = flow_direction_of(connection, segment.side);
    return connection->flow;
}

/* ---- the decoder ----------------------------------------------------------------------------------------------- */

struct flow_decoder *flow_decoder_create(const struct flow_config *config, flow_sink sink, void *ctx)
{
    struct flow_decoder *decoder = calloc(1, sizeof(*decoder));

    if (decoder == NULL)
        return NULL;
    if (config != NULL)
        decoder->config = *config;
    if (decoder->config.flows_max == 0)
        decoder->config.flows_max = FLOWS_MAX;
    if (decoder->config.buffer_max == 0)
        decoder->config.buffer_max = BUFFER_MAX;
    if (decoder->config.half_buffer_max == 0)
        decoder->config.half_buffer_max = HALF_BUFFER_MAX;
    decoder->sink = sink;
    decoder->ctx = ctx;
    decoder->scratch = malloc(FPDU_SCRATCH_OCTETS);
    if (decoder->scratch == NULL) {
        free(decoder);
        return NULL;
    }
    return decoder;
}

void flow_decoder_finish(struct flow_decoder *decoder)
{
    decoder->finishing = true;
    while (decoder->oldest != NULL)
        end_connection(decoder, decoder->oldest, FLOW_REASON_COUNT);
    flow_sctp_finish(decoder, true);
    flow_cm_finish(decoder, true);
    decoder->finishing = false;
}

void flow_decoder_destroy(struct flow_decoder *decoder)
{
    if (decoder == NULL)
        return;
    while (decoder->oldest != NULL)
        free_connection(decoder, decoder->oldest);
    flow_sctp_finish(decoder, false);
    flow_cm_finish(decoder, false);
    free(decoder->scratch);
    free(decoder);
}

const struct flow_totals *flow_decoder_totals(const struct flow_decoder *decoder)
{
    return &decoder->totals;
}

/* Adds `others` to `totals`, each counter `times` times: 1, or UINT64_MAX, which is -1. */
static void totals_combine(struct flow_totals *totals, const struct flow_totals *others, uint64_t times)
{
    enum { COUNTERS = sizeof(*totals) / sizeof(uint64_t) };
    uint64_t sums[COUNTERS], more[COUNTERS];

    _Static_assert(sizeof(*totals) % sizeof(uint64_t) == 0, "totals are counters, and nothing else");
    memcpy(sums, totals, sizeof(sums));
    memcpy(more, others, sizeof(more));
    for (size_t i = 0; i < COUNTERS; i++)
        sums[i] += times * more[i];
    memcpy(totals, sums, sizeof(sums));
}

void flow_totals_add(struct flow_totals *totals, const struct flow_totals *others)
{
    totals_combine(totals, others, 1);
}

void flow_totals_subtract(struct flow_totals *totals, const struct flow_totals *others)
{
    totals_combine(totals, others, UINT64_MAX);
}
