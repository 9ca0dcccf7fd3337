/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The decoder. A frame goes down these rooms, and each of them calls only those after it:
 *
 *     link/      octets of frames -> TCP segments, SCTP and InfiniBand packets; IP fragments and tunnels
 *     tcp/       segments -> octets in stream order
 *     mpa/       octets -> start-up frames and FPDUs
 *     sctp/      packets -> user messages of DDP streams
 *     cm/        InfiniBand and RoCE packets -> exchanges of CM messages
 *     ddp/       ULPDUs -> DDP Segments and RDMA Messages, and the state that rules look at
 *     event/     flows and their events, and the account of what became of every octet
 *
 * link/ calls none of the others: what it finds comes back here, and goes to tcp/, sctp/ or cm/.
 */
#include "conformance/flow/decoder.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "conformance/flow/cm/flow_mad.h"
#include "conformance/flow/decoder_rooms.h"
#include "conformance/flow/link/flow_link.h"
#include "conformance/flow/sctp/flow_sctp_packet.h"
#include "conformance/flow/tcp/flow_tcp.h"

static struct flow_connection *decode(struct flow_decoder *decoder, enum flow_protocol protocol,
                                      struct flow_layers *layers, struct flow_carrier_frames *carrier)
{
    struct flow_account *account = &decoder->common.totals.account;

    if (protocol == FLOW_PROTOCOL_FRAGMENT)
        protocol = flow_fragment_packet(decoder->fragments, layers, carrier);
    switch (protocol) {
    case FLOW_PROTOCOL_TCP:
        if (!layers->segment.broken) {
            decoder->common.totals.tcp_segments++;
            account->row[FLOW_ROW_HEADERS].octets += carrier->octets - layers->segment.captured;
        }
        return flow_connection_segment(decoder->tcp, &layers->segment, carrier);
    case FLOW_PROTOCOL_NONE: flow_account_count(account, layers->row, carrier->frames, carrier->octets); break;
    case FLOW_PROTOCOL_FRAGMENT: break; /* its packet is not whole yet */
    case FLOW_PROTOCOL_PORT_MAPPER: flow_mapping_datagram(&decoder->common, &layers->datagram, carrier); break;
    case FLOW_PROTOCOL_SCTP: flow_sctp_packet(decoder->sctp, &layers->datagram, carrier); break;
    default: flow_infiniband_packet(decoder->cm, &layers->datagram, carrier); break;
    }
    return NULL;
}

static void count_frame(struct flow_decoder *decoder, uint64_t time_ns, size_t captured, size_t length)
{
    decoder->common.totals.frames++;
    decoder->common.totals.octets += captured;
    decoder->common.totals.cut_frames += length > captured;
    decoder->common.now_ns = time_ns;
}

void flow_decoder_frame(struct flow_decoder *decoder, const struct flow_frame *frame)
{
    struct flow_carrier_frames carrier = {frame, 1, frame->captured};
    struct flow_layers layers;
    enum flow_protocol protocol = flow_link_frame(frame, &layers);

    count_frame(decoder, frame->time_ns, frame->captured, frame->length);
    decoder->common.totals.account.row[FLOW_ROW_IP_CHECKSUM].items += layers.bad_checksum;
    (void)decode(decoder, protocol, &layers, &carrier);
}

static void decode_packet(struct flow_decoder *decoder, const struct flow_packet *packet, enum flow_protocol protocol)
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
    (void)decode(decoder, protocol, &layers, &carrier);
}

void flow_decoder_sctp(struct flow_decoder *decoder, const struct flow_packet *packet)
{
    decode_packet(decoder, packet, FLOW_PROTOCOL_SCTP);
}

void flow_decoder_roce(struct flow_decoder *decoder, const struct flow_packet *packet)
{
    decode_packet(decoder, packet, packet->family == 0 ? FLOW_PROTOCOL_GRH : FLOW_PROTOCOL_BTH);
}

void flow_decoder_port_mapper(struct flow_decoder *decoder, const struct flow_packet *packet)
{
    decode_packet(decoder, packet, FLOW_PROTOCOL_PORT_MAPPER);
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
    connection = decode(decoder, protocol, &layers, &carrier);
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
    struct flow_common *common;

    if (decoder == NULL)
        return NULL;
    common = &decoder->common;
    if (config != NULL)
        common->config = *config;
    set_limits(&common->config);
    if (getrandom(&common->secret, sizeof(common->secret), GRND_NONBLOCK) != (ssize_t)sizeof(common->secret))
        common->secret = UINT64_C(0x6A09E667F3BCC908); /* a machine that has just begun */
    common->sink = sink;
    common->ctx = ctx;
    common->scratch = malloc(FPDU_SCRATCH_OCTETS);
    decoder->fragments = flow_fragments_new(common);
    decoder->tcp = flow_connections_new(common);
    decoder->sctp = flow_sctp_new(common);
    decoder->cm = flow_cm_new(common);
    if (common->scratch == NULL || decoder->fragments == NULL || decoder->tcp == NULL || decoder->sctp == NULL ||
        decoder->cm == NULL) {
        flow_decoder_destroy(decoder);
        return NULL;
    }
    return decoder;
}

void flow_decoder_time(struct flow_decoder *decoder, uint64_t now_ns)
{
    if (now_ns < decoder->common.now_ns)
        return;
    decoder->common.now_ns = now_ns;
    flow_fragments_time(decoder->fragments);
    flow_connections_time(decoder->tcp);
    flow_sctp_time(decoder->sctp);
    flow_cm_time(decoder->cm);
}

void flow_decoder_dropped(struct flow_decoder *decoder, uint64_t frames)
{
    decoder->common.totals.account.row[FLOW_ROW_DROPPED].items += frames;
    flow_connections_dropped(decoder->tcp);
    flow_sctp_dropped(decoder->sctp);
    flow_cm_dropped(decoder->cm);
}

void flow_decoder_finish(struct flow_decoder *decoder)
{
    flow_fragments_finish(decoder->fragments);
    flow_connections_finish(decoder->tcp);
    flow_sctp_finish(decoder->sctp);
    flow_cm_finish(decoder->cm);
}

void flow_decoder_destroy(struct flow_decoder *decoder)
{
    if (decoder == NULL)
        return;
    flow_fragments_free(decoder->fragments);
    flow_connections_free(decoder->tcp);
    flow_sctp_free(decoder->sctp);
    flow_cm_free(decoder->cm);
    flow_removed_free(&decoder->common.removed);
    flow_mappings_free(&decoder->common.mappings);
    free(decoder->common.scratch);
    free(decoder);
}

const struct flow_totals *flow_decoder_totals(const struct flow_decoder *decoder)
{
    return &decoder->common.totals;
}
