/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "generator/sctp/sctp_host_internal.h"

static void begin(struct sctp_assoc *assoc, struct sctp_packet *packet)
{
    sctp_packet_begin(packet, assoc->status.own_port, assoc->status.peer_port, assoc->status.peer_tag);
}

void sctp_host_emit(struct sctp_assoc *assoc, struct sctp_packet *packet, bool bad_checksum)
{
    const struct sctp_host_config *config = &assoc->host->config;

    sctp_packet_close(packet);
    if (bad_checksum)
        packet->octets[SCTP_CHECKSUM_AT] ^= 1;
    config->emit(config->context, packet->octets, packet->count);
}

void sctp_host_send_chunk(struct sctp_assoc *assoc, enum sctp_chunk_type type, const void *value, size_t octets)
{
    struct sctp_packet packet;

    begin(assoc, &packet);
    if (sctp_packet_chunk(&packet, type, 0, value, octets) != NULL)
        sctp_host_emit(assoc, &packet, false);
}

/* --- Set-up ------------------------------------------------------------------------------------------------------ */

static size_t write_parameter(uint8_t *out, uint16_t type, const uint8_t *value, size_t octets)
{
    octets_put16(out, type);
    octets_put16(out + 2, (uint16_t)(SCTP_PARAMETER_OCTETS + octets));
    memcpy(out + SCTP_PARAMETER_OCTETS, value, octets);
    return SCTP_PARAMETER_OCTETS + octets;
}

void sctp_host_send_init(struct sctp_assoc *assoc)
{
    const struct sctp_assoc_options *options = &assoc->options;
    uint8_t chunk[SCTP_INIT_OCTETS + SCTP_HOST_PARAMETERS_MAX + 32] = {0}, number[8];
    struct sctp_packet packet;
    size_t at = SCTP_INIT_OCTETS;

    sctp_init_set_InitiateTag(chunk, assoc->status.own_tag);
    sctp_init_set_a_rwnd(chunk, options->window);
    sctp_init_set_OS(chunk, options->outbound);
    sctp_init_set_MIS(chunk, options->inbound);
    sctp_init_set_InitialTSN(chunk, options->initial_tsn);
    if (assoc->passive) {
        octets_put64(number, assoc->cookie_key);
        at += write_parameter(chunk + at, SCTP_PARAMETER_COOKIE, number, OWN_COOKIE_OCTETS);
    }
    if (options->has_adaptation) {
        octets_put32(number, options->adaptation);
        at += write_parameter(chunk + at, SCTP_PARAMETER_ADAPTATION, number, 4);
    }
    memcpy(chunk + at, assoc->parameters, options->parameters_octets);
    at += options->parameters_octets;
    begin(assoc, &packet);
    (void)sctp_packet_chunk(&packet, assoc->passive ? SCTP_INIT_ACK : SCTP_INIT, 0, chunk + SCTP_CHUNK_OCTETS,
                            at - SCTP_CHUNK_OCTETS);
    sctp_host_emit(assoc, &packet, false);
}

void sctp_host_send_cookie(struct sctp_assoc *assoc)
{
    sctp_host_send_chunk(assoc, SCTP_COOKIE_ECHO, assoc->cookie, assoc->cookie_octets);
}

/* --- SACK -------------------------------------------------------------------------------------------------------- */

static uint32_t window_of(const struct sctp_assoc *assoc)
{
    uint32_t window = assoc->options.window;

    if (assoc->fixed_window)
        return window;
    return assoc->held_octets < window ? window - (uint32_t)assoc->held_octets : 0;
}

/* A probe of a shut window is left without an acknowledgement, or one after the other would carry all there is. */
static uint32_t cumulative_of(const struct sctp_assoc *assoc)
{
    uint32_t cumulative = assoc->status.cumulative;
    bool shut = assoc->fixed_window && assoc->options.window == 0;

    return shut && cumulative != assoc->sack_cumulative ? cumulative - 1 : cumulative;
}

void sctp_host_send_sack(struct sctp_assoc *assoc)
{
    uint8_t value[12 + 4 * SACK_BLOCKS_MAX] = {0};
    uint32_t cumulative = cumulative_of(assoc);
    size_t ranges = cumulative == assoc->status.cumulative ? assoc->range_count : 0; /* gaps are after all that came */
    uint16_t blocks = 0;
    size_t at = 12;

    assoc->sack_due = false;
    assoc->sack_cumulative = cumulative;
    octets_put32(value, cumulative);
    octets_put32(value + 4, window_of(assoc));
    for (size_t i = 0; i < ranges && blocks < SACK_BLOCKS_MAX; i++) {
        uint32_t from = assoc->ranges[i].from - assoc->status.cumulative;
        uint32_t to = assoc->ranges[i].to - assoc->status.cumulative;

        if (to > UINT16_MAX)
            break; /* a gap block cannot name it (RFC 9260 3.3.4) */
        octets_put16(value + at, (uint16_t)from);
        octets_put16(value + at + 2, (uint16_t)to);
        at += 4;
        blocks++;
    }
    octets_put16(value + 8, blocks);
    sctp_host_send_chunk(assoc, SCTP_SACK, value, at);
}

void sctp_assoc_withhold(struct sctp_assoc *assoc, bool withhold)
{
    assoc->withhold = withhold;
    if (!withhold && assoc->sack_due && assoc->status.state != SCTP_ASSOC_CLOSED)
        sctp_host_send_sack(assoc);
}

void sctp_assoc_window(struct sctp_assoc *assoc, uint32_t octets)
{
    assoc->options.window = octets;
    assoc->fixed_window = true;
    if (assoc->status.state == SCTP_ASSOC_ESTABLISHED)
        sctp_host_send_sack(assoc);
}

/* --- DATA -------------------------------------------------------------------------------------------------------- */

void sctp_host_forget_sent(struct sctp_assoc *assoc)
{
    struct sent_chunk *sent, *after;

    DL_FOREACH_SAFE(assoc->sent, sent, after)
    {
        DL_DELETE(assoc->sent, sent);
        free(sent);
    }
    assoc->status.unacknowledged = 0;
}

void sctp_host_arm(struct sctp_assoc *assoc)
{
    assoc->timer = assoc->host->now + assoc->rto;
}

void sctp_assoc_flush(struct sctp_assoc *assoc)
{
    if (assoc->packet_chunks == 0)
        return;
    assoc->packet_chunks = 0;
    sctp_host_emit(assoc, &assoc->packet, false);
}

static void keep(struct sctp_assoc *assoc, struct sent_chunk *sent)
{
    DL_APPEND(assoc->sent, sent);
    assoc->status.unacknowledged++;
    if (assoc->timer == SCTP_HOST_NEVER)
        sctp_host_arm(assoc);
}

static struct sent_chunk *make_chunk(const struct sctp_assoc_data *data, uint32_t tsn)
{
    size_t octets = SCTP_DATA_OCTETS + data->user_octets;
    struct sent_chunk *sent;

    if (data->user_octets > SCTP_PACKET_MAX - SCTP_COMMON_OCTETS - SCTP_DATA_OCTETS - 4)
        return NULL;
    sent = calloc(1, sizeof(*sent) + octets);
    if (sent == NULL)
        return NULL;
    sent->tsn = tsn;
    sent->octets = octets;
    sent->chunk[0] = SCTP_DATA;
    sent->chunk[1] = data->flags;
    octets_put16(sent->chunk + 2, (uint16_t)octets);
    sctp_data_set_TSN(sent->chunk, tsn);
    sctp_data_set_SID(sent->chunk, data->sid);
    sctp_data_set_SSN(sent->chunk, data->ssn);
    sctp_data_set_PPID(sent->chunk, data->ppid);
    if (data->user_octets != 0)
        memcpy(sent->chunk + SCTP_DATA_OCTETS, data->user, data->user_octets);
    return sent;
}

static uint8_t *add_chunk(struct sctp_packet *packet, const struct sent_chunk *sent)
{
    return sctp_packet_chunk(packet, SCTP_DATA, sent->chunk[1], sent->chunk + SCTP_CHUNK_OCTETS,
                             sent->octets - SCTP_CHUNK_OCTETS);
}

static void send_now(struct sctp_assoc *assoc, struct sent_chunk *sent, const struct sctp_assoc_data *data)
{
    sent->times++;
    if (assoc->packet_chunks == 0)
        begin(assoc, &assoc->packet);
    if (add_chunk(&assoc->packet, sent) == NULL) { /* full: what waits goes first */
        sctp_assoc_flush(assoc);
        begin(assoc, &assoc->packet);
        (void)add_chunk(&assoc->packet, sent);
    }
    assoc->packet_chunks++;
    if (data->hold)
        return;
    assoc->packet_chunks = 0;
    sctp_host_emit(assoc, &assoc->packet, data->bad_checksum);
}

int sctp_assoc_send(struct sctp_assoc *assoc, const struct sctp_assoc_data *data)
{
    struct sent_chunk *sent;

    if (assoc->status.state != SCTP_ASSOC_ESTABLISHED)
        return -1;
    sent = make_chunk(data, data->choose_tsn ? data->tsn : assoc->status.next_tsn);
    if (sent == NULL)
        return -1;
    if (!data->choose_tsn)
        assoc->status.next_tsn++;
    if (!data->later)
        send_now(assoc, sent, data);
    if (data->once)
        free(sent);
    else
        keep(assoc, sent);
    return 0;
}

static void retransmit(struct sctp_assoc *assoc, struct sent_chunk *sent)
{
    struct sctp_packet packet;

    if (sent->acked)
        return;
    sent->times++;
    begin(assoc, &packet);
    (void)add_chunk(&packet, sent);
    sctp_host_emit(assoc, &packet, false);
}

void sctp_assoc_resend(struct sctp_assoc *assoc, bool backwards)
{
    struct sent_chunk *sent, *last;

    if (assoc->sent == NULL)
        return;
    last = assoc->sent->prev; /* utlist: the head's prev is the tail */
    if (!backwards) {
        DL_FOREACH(assoc->sent, sent)
        {
            retransmit(assoc, sent);
        }
        return;
    }
    for (sent = last;; sent = sent->prev) {
        retransmit(assoc, sent);
        if (sent == assoc->sent)
            return;
    }
}

/* --- Others ------------------------------------------------------------------------------------------------------ */

int sctp_assoc_send_raw(struct sctp_assoc *assoc, const uint8_t *chunks, size_t octets, uint32_t tag_flip,
                        bool bad_checksum)
{
    struct sctp_packet packet;

    if (octets > SCTP_PACKET_MAX - SCTP_COMMON_OCTETS || !assoc->status.peer_known)
        return -1;
    sctp_packet_begin(&packet, assoc->status.own_port, assoc->status.peer_port, assoc->status.peer_tag ^ tag_flip);
    if (octets != 0)
        memcpy(packet.octets + packet.count, chunks, octets);
    packet.count += octets;
    sctp_host_emit(assoc, &packet, bad_checksum);
    return 0;
}

int sctp_assoc_heartbeat(struct sctp_assoc *assoc)
{
    uint8_t information[12] = {0};

    if (assoc->status.state != SCTP_ASSOC_ESTABLISHED)
        return -1;
    octets_put16(information, 1); /* Heartbeat Info (RFC 9260 3.3.5) */
    octets_put16(information + 2, sizeof(information));
    octets_put64(information + 4, assoc->host->now);
    sctp_host_send_chunk(assoc, SCTP_HEARTBEAT, information, sizeof(information));
    return 0;
}

void sctp_host_go_shutdown(struct sctp_assoc *assoc)
{
    uint8_t cumulative[4];

    if (!assoc->shutting || assoc->sent != NULL)
        return;
    octets_put32(cumulative, assoc->status.cumulative);
    if (assoc->status.shutdown_seen)
        sctp_host_send_chunk(assoc, SCTP_SHUTDOWN_ACK, NULL, 0);
    else
        sctp_host_send_chunk(assoc, SCTP_SHUTDOWN, cumulative, sizeof(cumulative));
    assoc->status.state = SCTP_ASSOC_SHUTDOWN;
    sctp_host_arm(assoc);
}

int sctp_assoc_shutdown(struct sctp_assoc *assoc)
{
    if (assoc->status.state != SCTP_ASSOC_ESTABLISHED)
        return -1;
    sctp_assoc_flush(assoc);
    assoc->shutting = true;
    sctp_host_go_shutdown(assoc);
    return 0;
}

void sctp_assoc_abort(struct sctp_assoc *assoc)
{
    if (assoc->status.state == SCTP_ASSOC_CLOSED)
        return;
    if (assoc->status.peer_known)
        sctp_host_send_chunk(assoc, SCTP_ABORT, NULL, 0);
    sctp_host_close(assoc, SCTP_ASSOC_OWN);
}

/* The time for an answer is up. */
void sctp_host_due(struct sctp_assoc *assoc)
{
    assoc->timer = SCTP_HOST_NEVER;
    if (assoc->tries++ >= SCTP_HOST_RETRANSMISSIONS_MAX) {
        sctp_host_close(assoc, SCTP_ASSOC_TIMED_OUT);
        return;
    }
    assoc->rto = assoc->rto * 2 < RTO_MOST_NS ? assoc->rto * 2 : RTO_MOST_NS;
    switch (assoc->status.state) {
    case SCTP_ASSOC_COOKIE_WAIT:
        if (!assoc->passive) /* INIT ACK is an answer, and is not sent by itself */
            sctp_host_send_init(assoc);
        break;
    case SCTP_ASSOC_COOKIE_ECHOED: sctp_host_send_cookie(assoc); break;
    case SCTP_ASSOC_ESTABLISHED: sctp_assoc_resend(assoc, false); break;
    case SCTP_ASSOC_SHUTDOWN: sctp_host_go_shutdown(assoc); break;
    case SCTP_ASSOC_CLOSED:
    default: return;
    }
    if (assoc->status.state != SCTP_ASSOC_ESTABLISHED || assoc->sent != NULL)
        sctp_host_arm(assoc);
}
