/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/flow/flow_internal.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

const char *flow_reason_text(enum flow_reason reason)
{
    static const char *const texts[FLOW_REASON_COUNT] = {
        [FLOW_REASON_START_MALFORMED] = "the start-up frame is malformed, so the octets after it cannot be decoded",
        [FLOW_REASON_REJECTED] = "the connection was rejected (R=1), so the octets after it belong to the ULP",
        [FLOW_REASON_SYNC_LOST] = "the FPDU boundary was lost; the decoder searches for the next FPDU",
        [FLOW_REASON_ONE_WAY] =
            "the other side's start-up frame is missing; the stream shows whether Markers and CRC are in use",
        [FLOW_REASON_LATE] =
            "the capture begins in mid-stream; decoding starts at the first FPDU that could be verified",
        [FLOW_REASON_NO_FPDU] = "no FPDU was found in this direction",
        [FLOW_REASON_STREAMING] = "octets of the ULP come before the start-up frame",
        [FLOW_REASON_NO_MEMORY] = "the decoder has no memory for this direction",
        [FLOW_REASON_EVICTED] = "more connections are open than the decoder can follow",
        [FLOW_REASON_CHECKSUM] = "the SCTP packet's checksum is wrong: a receiver drops it",
        [FLOW_REASON_MESSAGE_SHORT] = "the user message is too short for its DDP-SSN",
        [FLOW_REASON_MESSAGE_LONG] = "fragments of a user message that is incomplete, or longer than a DDP Segment",
        [FLOW_REASON_SSN_AGAIN] = "another user message with that DDP-SSN came before",
        [FLOW_REASON_CONFLICT] =
            "octets were sent again with different contents; it is unknown which ones the receiver accepted",
        [FLOW_REASON_REFUSED] = "the receiver's TCP does not accept this segment",
        [FLOW_REASON_URGENT] = "urgent octets: some TCPs remove them from the stream",
        [FLOW_REASON_STRANGER] =
            "the SCTP packet's addresses or Verification Tag are not the association's: a receiver drops it",
        [FLOW_REASON_CHUNK_UNKNOWN] = "a receiver does not read the packet's rest after this chunk",
        [FLOW_REASON_CHUNK] =
            "the chunk's length contradicts the packet's length; the rest of the packet is not decoded",
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
        snprintf(more, sizeof(more), " sid %u", (unsigned)flow->sctp->sid);
    else if (flow->kind == FLOW_CM_EXCHANGE)
        snprintf(more, sizeof(more), " id 0x%08x", (unsigned)flow->cm->id[FLOW_FROM_INITIATOR]);
    snprintf(text, room, "%s>%s%s", from, to, more);
    return text;
}

/* ---- events ---------------------------------------------------------------------------------------------------- */

struct flow_event flow_event_make(const struct flow_connection *connection, unsigned side, enum flow_event_kind kind,
                                  uint64_t frame, uint64_t time_ns)
{
    struct flow_event event;

    /* Member for member: zeroing as much at once takes a string instruction, slow to start. */
    event.kind = kind;
    event.direction = flow_direction_of(connection, side);
    event.flow = connection->flow;
    event.frame = event.first_frame = frame;
    event.time_ns = time_ns;
    event.position = event.octet = event.end = event.received = 0;
    event.open = NULL;
    event.close = NULL;
    event.start = NULL;
    event.ulpdu = NULL;
    event.ddp = NULL;
    event.rdmap = NULL;
    event.gap = NULL;
    event.sctp = NULL;
    event.session = NULL;
    event.cm = NULL;
    event.reason = FLOW_REASON_COUNT;
    return event;
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

static void emit_open(struct flow_decoder *decoder, struct flow_connection *connection, unsigned side)
{
    const struct flow_side *from = &connection->side[side];
    struct flow_open open = {from->syn.ack, from->syn.isn, from->syn.mss, from->syn.window};
    struct flow_event event = flow_event_make(connection, side, FLOW_TCP_OPEN, from->syn.frame, from->syn.time_ns);

    event.open = &open;
    flow_event_send(decoder, &event);
}

static size_t aligned(size_t octets)
{
    return (octets + 15) & ~(size_t)15;
}

/* What a flow has by its kind alone. */
static size_t own_octets(enum flow_kind kind)
{
    static const size_t octets[FLOW_KINDS] = {
        [FLOW_CONNECTION] = sizeof(struct flow_tcp_state),
        [FLOW_ASSOCIATION] = sizeof(struct flow_sctp_state),
        [FLOW_STREAM] = sizeof(struct flow_sctp_state),
        [FLOW_CM_EXCHANGE] = sizeof(struct flow_cm_state),
    };

    return aligned(octets[kind]);
}

static void begin_halves(struct flow *flow, void *halves)
{
    flow->half = halves;
    for (unsigned i = 0; i < FLOW_DIRECTIONS; i++) {
        if (flow->kind == FLOW_CONNECTION)
            flow->half[i].tcp = &flow->tcp->half[i];
        for (unsigned queue = 0; queue < FLOW_QUEUES; queue++)
            flow->half[i].queue[queue].next_msn = DDP_FIRST_MSN;
    }
}

struct flow *flow_make(struct flow_decoder *decoder, enum flow_kind kind, uint64_t frame, uint64_t time_ns)
{
    bool has_ddp = kind == FLOW_CONNECTION || kind == FLOW_STREAM;
    size_t head = aligned(sizeof(struct flow)), own = own_octets(kind);
    size_t halves = has_ddp ? aligned(FLOW_DIRECTIONS * sizeof(struct flow_half)) : 0;
    size_t rules = aligned(decoder->config.rule_state_octets);
    uint8_t *octets = calloc(1, head + own + halves + rules);
    struct flow *flow = (struct flow *)(void *)octets;

    if (octets == NULL) {
        out_of_memory_note();
        return NULL;
    }
    flow->kind = kind;
    flow->number = ++decoder->totals.flows;
    flow->first_frame = flow->last_frame = frame;
    flow->first_ns = flow->last_ns = time_ns;
    flow->revision = MPA_REV_1;
    flow->rule_state = decoder->config.rule_state_octets != 0 ? octets + head + own + halves : NULL;
    if (kind == FLOW_CONNECTION)
        flow->tcp = (void *)(octets + head);
    else if (kind == FLOW_CM_EXCHANGE)
        flow->cm = (void *)(octets + head);
    else
        flow->sctp = (void *)(octets + head);
    if (has_ddp)
        begin_halves(flow, octets + head + own);
    return flow;
}

void flow_free(struct flow *flow)
{
    for (unsigned i = 0; flow != NULL && i < FLOW_DIRECTIONS; i++) {
        if (flow->half != NULL) {
            free(flow->half[i].requests);
            free(flow->half[i].sent);
        }
        if (flow->kind == FLOW_CONNECTION)
            free(flow->tcp->start[i].private_copy);
    }
    free(flow);
}

/* The side's half of a connection that has become a flow. */
static void begin_half(struct flow_connection *connection, unsigned index)
{
    struct flow_side *side = &connection->side[index];
    enum flow_direction direction = flow_direction_of(connection, index);
    struct flow *flow = connection->flow;

    set_address(&flow->address[direction], &connection->key, index);
    side->half = &flow->half[direction];
    side->half->tcp->syn = &side->syn;
    side->half->tcp->octets = &side->octets;
    side->half->tcp->largest_segment = side->largest_segment;
    if (side->syn.seen) {
        flow->opener_known = true;
        flow->opener = side->syn.ack ? flow_reverse(direction) : direction;
    }
}

bool flow_recognise(struct flow_decoder *decoder, struct flow_connection *connection, unsigned initiator,
                    bool roles_known)
{
    struct flow *flow;

    if (connection->flow != NULL)
        return true;
    if (connection->key.tunnelled != 0) { /* which is not judged */
        connection->key_seen = true;
        return false;
    }
    flow = flow_make(decoder, FLOW_CONNECTION, connection->first_frame, connection->first_ns);
    if (flow == NULL)
        return false;
    connection->flow = flow;
    flow_settle_flow(decoder, connection);
    connection->swap = initiator; /* side `initiator` becomes direction 0 */
    flow->roles_known = roles_known;
    flow->last_frame = connection->last_frame;
    flow->last_ns = connection->last_ns;
    flow->unordered = connection->unordered;
    for (unsigned i = 0; i < 2; i++)
        begin_half(connection, i);
    for (unsigned i = 0; i < 2; i++)
        if (connection->side[initiator ^ i].syn.seen)
            emit_open(decoder, connection, initiator ^ i);
    return true;
}

/* ---- frames -------------------------------------------------------------------------------------------------------- */

static struct flow_connection *take(struct flow_decoder *decoder, enum flow_protocol protocol,
                                    const struct flow_layers *layers, const struct flow_carrier_frames *carrier)
{
    struct flow_account *account = &decoder->totals.account;

    switch (protocol) {
    case FLOW_PROTOCOL_TCP:
        if (!layers->segment.broken) {
            decoder->totals.tcp_segments++;
            account->row[FLOW_ROW_HEADERS].octets += carrier->octets - layers->segment.captured;
        }
        return flow_connection_segment(decoder, &layers->segment, carrier);
    case FLOW_PROTOCOL_NONE: flow_account_count(account, layers->row, carrier->frames, carrier->octets); break;
    case FLOW_PROTOCOL_FRAGMENT: flow_fragment_packet(decoder, layers, carrier); break;
    case FLOW_PROTOCOL_SCTP: flow_sctp_packet(decoder, &layers->datagram, carrier); break;
    default: flow_infiniband_packet(decoder, &layers->datagram, carrier); break;
    }
    return NULL;
}

void flow_parse_layers(struct flow_decoder *decoder, enum flow_protocol protocol, const struct flow_layers *layers,
                       const struct flow_carrier_frames *carrier)
{
    (void)take(decoder, protocol, layers, carrier);
}

static void count_frame(struct flow_decoder *decoder, uint64_t time_ns, size_t captured, size_t length)
{
    decoder->totals.frames++;
    decoder->totals.octets += captured;
    decoder->totals.cut_frames += length > captured;
    decoder->now_ns = time_ns;
}

void flow_decoder_frame(struct flow_decoder *decoder, const struct flow_frame *frame)
{
    struct flow_carrier_frames carrier = {frame, 1, frame->captured};
    struct flow_layers layers;
    enum flow_protocol protocol = flow_link_frame(frame, &layers);

    count_frame(decoder, frame->time_ns, frame->captured, frame->length);
    decoder->totals.account.row[FLOW_ROW_IP_CHECKSUM].items += layers.bad_checksum;
    (void)take(decoder, protocol, &layers, &carrier);
}

static void take_packet(struct flow_decoder *decoder, const struct flow_packet *packet, enum flow_protocol protocol)
{
    struct flow_frame frame = {.number = packet->number, .time_ns = packet->time_ns};
    struct flow_carrier_frames carrier = {&frame, 1, packet->captured};
    struct flow_layers layers = {.row = FLOW_ROW_IP_PROTOCOL};
    struct flow_datagram *datagram = &layers.datagram;

    count_frame(decoder, packet->time_ns, packet->captured, packet->length);
    *datagram = (struct flow_datagram){
        .protocol = protocol,
        .family = packet->family,
        .source = packet->source,
        .destination = packet->destination,
        .octets = packet->octets,
        .captured = packet->captured,
        .length = packet->length > packet->captured ? packet->length : packet->captured,
    };
    if (protocol == FLOW_PROTOCOL_SCTP)
        datagram->ip_octets =
            (packet->family == 4 ? 20 : 40) + packet->encapsulation + datagram->length; /* without options */
    if (packet->family != 4 && packet->family != 6 && (packet->family != 0 || protocol != FLOW_PROTOCOL_GRH))
        protocol = FLOW_PROTOCOL_NONE;
    (void)take(decoder, protocol, &layers, &carrier);
}

void flow_decoder_sctp(struct flow_decoder *decoder, const struct flow_packet *packet)
{
    take_packet(decoder, packet, FLOW_PROTOCOL_SCTP);
}

void flow_decoder_roce(struct flow_decoder *decoder, const struct flow_packet *packet)
{
    take_packet(decoder, packet, packet->family == 0 ? FLOW_PROTOCOL_GRH : FLOW_PROTOCOL_BTH);
}

const struct flow *flow_decoder_segment(struct flow_decoder *decoder, const struct flow_packet *packet,
                                        enum flow_direction *direction)
{
    struct flow_frame frame = {.number = packet->number, .time_ns = packet->time_ns};
    struct flow_carrier_frames carrier = {&frame, 1, packet->captured};
    struct flow_connection *connection;
    struct flow_layers layers;
    enum flow_protocol protocol = flow_link_packet(packet, &layers);

    count_frame(decoder, packet->time_ns, packet->captured, packet->length);
    connection = take(decoder, protocol, &layers, &carrier);
    if (connection == NULL || connection->flow == NULL)
        return NULL;
    if (direction != NULL)
        *direction = flow_direction_of(connection, layers.segment.side);
    return connection->flow;
}

/* ---- the decoder ----------------------------------------------------------------------------------------------- */

static void set_limits(struct flow_config *config)
{
    if (config->memory == 0)
        config->memory = FLOW_MEMORY;
    if (config->memory < FLOW_MEMORY_MIN)
        config->memory = FLOW_MEMORY_MIN;
    if (config->connections_max == 0)
        config->connections_max = config->memory / FLOW_CONNECTION_OCTETS;
    if (config->flows_max == 0)
        config->flows_max = config->memory / FLOW_FLOW_OCTETS;
    if (config->buffer_max == 0)
        config->buffer_max = config->memory / FLOW_BUFFER_PART;
    if (config->half_buffer_max == 0)
        config->half_buffer_max = FLOW_HALF_BUFFER_MAX;
}

struct flow_decoder *flow_decoder_create(const struct flow_config *config, flow_sink sink, void *ctx)
{
    struct flow_decoder *decoder = calloc(1, sizeof(*decoder));

    if (decoder == NULL)
        return NULL;
    if (config != NULL)
        decoder->config = *config;
    set_limits(&decoder->config);
    if (getrandom(&decoder->secret, sizeof(decoder->secret), GRND_NONBLOCK) != (ssize_t)sizeof(decoder->secret))
        decoder->secret = UINT64_C(0x6A09E667F3BCC908); /* a machine that has just begun */
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
    flow_fragment_finish(decoder);
    flow_connections_finish(decoder);
    flow_sctp_finish(decoder, true);
    flow_cm_finish(decoder, true);
    decoder->finishing = false;
}

void flow_decoder_destroy(struct flow_decoder *decoder)
{
    if (decoder == NULL)
        return;
    flow_fragment_finish(decoder);
    flow_connections_free(decoder);
    flow_sctp_finish(decoder, false);
    flow_cm_finish(decoder, false);
    flow_removed_free(&decoder->removed);
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

bool flow_totals_balanced(const struct flow_totals *totals)
{
    struct flow_count judged = flow_account_sum(&totals->account, FLOW_JUDGED);
    struct flow_count foreign = flow_account_sum(&totals->account, FLOW_FOREIGN);
    struct flow_count unjudged = flow_account_sum(&totals->account, FLOW_UNJUDGED);

    return judged.frames + foreign.frames + unjudged.frames == totals->frames &&
           judged.octets + foreign.octets + unjudged.octets == totals->octets;
}

void flow_totals_add(struct flow_totals *totals, const struct flow_totals *others)
{
    totals_combine(totals, others, 1);
}

void flow_totals_subtract(struct flow_totals *totals, const struct flow_totals *others)
{
    totals_combine(totals, others, UINT64_MAX);
}
