/* SPDX-License-Identifier: BSD-2-Clause */
/* Everything here comes from the other side: each length is looked at where it is read. */
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "generator/sctp/sctp_host_internal.h"

/* --- TSNs that came ---------------------------------------------------------------------------------------------- */

/* Ranges that begin after the cumulative TSN move it. */
static void advance(struct sctp_assoc *assoc)
{
    size_t gone = 0;

    while (gone < assoc->range_count && assoc->ranges[gone].from == assoc->status.cumulative + 1)
        assoc->status.cumulative = assoc->ranges[gone++].to;
    assoc->range_count -= gone;
    memmove(assoc->ranges, assoc->ranges + gone, assoc->range_count * sizeof(assoc->ranges[0]));
}

/* False: it had come before, or there is no room for another gap. */
static bool note_tsn(struct sctp_assoc *assoc, uint32_t tsn, bool *again)
{
    struct tsn_range *ranges = assoc->ranges;
    size_t at = 0;

    *again = !tsn_after(tsn, assoc->status.cumulative);
    while (!*again && at < assoc->range_count && !tsn_after(ranges[at].from, tsn)) {
        *again = !tsn_after(tsn, ranges[at].to);
        at++;
    }
    if (*again)
        return false;
    if (at > 0 && ranges[at - 1].to + 1 == tsn) {
        ranges[at - 1].to = tsn;
        if (at < assoc->range_count && ranges[at].from == tsn + 1) {
            ranges[at - 1].to = ranges[at].to;
            memmove(ranges + at, ranges + at + 1, (assoc->range_count - at - 1) * sizeof(*ranges));
            assoc->range_count--;
        }
    } else if (at < assoc->range_count && ranges[at].from == tsn + 1) {
        ranges[at].from = tsn;
    } else {
        if (assoc->range_count == SCTP_HOST_RANGES_MAX)
            return false;
        memmove(ranges + at + 1, ranges + at, (assoc->range_count - at) * sizeof(*ranges));
        ranges[at] = (struct tsn_range){tsn, tsn};
        assoc->range_count++;
    }
    advance(assoc);
    return true;
}

/* --- DATA and SACK ----------------------------------------------------------------------------------------------- */

static void on_data(struct sctp_assoc *assoc, const struct sctp_chunk *chunk, unsigned place)
{
    struct held_chunk *held;
    struct sctp_data data;
    bool again = false;

    if (assoc->status.state != SCTP_ASSOC_ESTABLISHED && assoc->status.state != SCTP_ASSOC_SHUTDOWN)
        return;
    if (sctp_data_parse(chunk, &data) != WIRE_OK || data.user_have != data.user_octets ||
        data.user_octets > SCTP_HOST_HELD_MAX - assoc->held_octets)
        return;
    held = malloc(sizeof(*held) + data.user_octets);
    if (held == NULL)
        return; /* it comes again */
    if (!note_tsn(assoc, data.tsn, &again)) {
        free(held);
        assoc->status.duplicates += again ? 1 : 0;
        assoc->sack_due = true;
        return;
    }
    if (data.user_octets != 0)
        memcpy(held->user, data.user, data.user_octets);
    data.user = held->user;
    held->received = (struct sctp_received){.data = data,
                                            .flags = chunk->flags,
                                            .place = place,
                                            .packet = assoc->host->counters.packets,
                                            .packet_octets = assoc->host->packet_octets,
                                            .fragmented = assoc->host->fragmented,
                                            .time_ns = assoc->host->now};
    DL_APPEND(assoc->held, held);
    assoc->held_octets += data.user_octets;
    assoc->status.received++;
    assoc->sack_due = true;
}

static void acknowledge(struct sctp_assoc *assoc, struct sent_chunk *sent, bool cumulative)
{
    if (!sent->acked) {
        sent->acked = true;
        assoc->status.acknowledged++;
        assoc->status.unacknowledged--;
        assoc->tries = 0;
        assoc->rto = RTO_FIRST_NS;
    }
    if (!cumulative)
        return; /* the other side may take it back (RFC 9260 6.2.1), but a tester need not help it */
    DL_DELETE(assoc->sent, sent);
    free(sent);
}

static void on_sack(struct sctp_assoc *assoc, const struct sctp_chunk *chunk)
{
    struct sent_chunk *sent, *after = NULL;
    uint32_t cumulative;
    size_t blocks;

    if (chunk->octets < 16)
        return;
    cumulative = (uint32_t)sctp_sack_get_Cumulative(chunk->start);
    assoc->status.peer_window = (uint32_t)sctp_sack_get_a_rwnd(chunk->start);
    blocks = sctp_sack_get_Gaps(chunk->start);
    if (blocks > (chunk->octets - 16) / 4)
        return;
    DL_FOREACH_SAFE(assoc->sent, sent, after)
    {
        uint32_t distance = sent->tsn - cumulative;

        if (!tsn_after(sent->tsn, cumulative)) {
            acknowledge(assoc, sent, true);
            continue;
        }
        for (size_t i = 0; i < blocks; i++) {
            const uint8_t *block = chunk->start + 16 + 4 * i;

            if (distance >= octets_get16(block) && distance <= octets_get16(block + 2))
                acknowledge(assoc, sent, false);
        }
    }
    if (assoc->sent == NULL && assoc->status.state == SCTP_ASSOC_ESTABLISHED) {
        assoc->timer = SCTP_HOST_NEVER;
        sctp_host_go_shutdown(assoc);
    }
}

/* --- Set-up ------------------------------------------------------------------------------------------------------ */

static void established(struct sctp_assoc *assoc)
{
    assoc->status.state = SCTP_ASSOC_ESTABLISHED;
    assoc->status.established_ns = assoc->host->now;
    assoc->timer = SCTP_HOST_NEVER;
    assoc->tries = 0;
    assoc->rto = RTO_FIRST_NS;
}

/* The State Cookie of an INIT ACK; false: it has none, or none that we take. */
static bool receive_cookie(struct sctp_assoc *assoc, const struct sctp_chunk *chunk)
{
    const uint8_t *p = chunk->start + SCTP_INIT_OCTETS, *end = chunk->start + chunk->octets;
    struct sctp_chunk parameter;

    while (p < end && sctp_parameter_parse(&p, end, &parameter) == WIRE_OK) {
        size_t octets = parameter.octets - SCTP_PARAMETER_OCTETS;

        if (parameter.type != SCTP_PARAMETER_COOKIE || octets > COOKIE_OCTETS_MAX)
            continue;
        memcpy(assoc->cookie, parameter.start + SCTP_PARAMETER_OCTETS, octets);
        assoc->cookie_octets = octets;
        return true;
    }
    return false;
}

static void on_init_ack(struct sctp_assoc *assoc, const struct sctp_chunk *chunk)
{
    struct sctp_init init;

    if (assoc->passive || assoc->status.state != SCTP_ASSOC_COOKIE_WAIT || sctp_init_parse(chunk, &init) != WIRE_OK ||
        init.tag == 0 || !receive_cookie(assoc, chunk))
        return;
    sctp_host_peer(assoc, &init);
    if (assoc->tries == 0)
        assoc->status.round_trip_ns = assoc->host->now - assoc->asked_ns;
    assoc->tries = 0;
    assoc->rto = RTO_FIRST_NS;
    assoc->status.state = SCTP_ASSOC_COOKIE_ECHOED;
    assoc->timer = SCTP_HOST_NEVER;
    if (assoc->options.silent_cookie)
        return;
    sctp_host_send_cookie(assoc);
    sctp_host_arm(assoc);
}

static void on_cookie_echo(struct sctp_assoc *assoc, const struct sctp_chunk *chunk)
{
    if (!assoc->passive || chunk->octets != SCTP_CHUNK_OCTETS + OWN_COOKIE_OCTETS ||
        octets_get64(chunk->start + SCTP_CHUNK_OCTETS) != assoc->cookie_key)
        return;
    if (assoc->status.state == SCTP_ASSOC_COOKIE_WAIT)
        established(assoc);
    if (!assoc->options.silent_cookie)
        sctp_host_send_chunk(assoc, SCTP_COOKIE_ACK, NULL, 0);
}

/*
 * An INIT for a listener. One that comes again replaces the association that it had begun (RFC 9260 5.2.2, in short).
 */
static void on_init(struct sctp_host *host, uint16_t own_port, uint16_t peer_port, const struct sctp_chunk *chunk)
{
    struct sctp_assoc *assoc = sctp_host_find(host, own_port, peer_port);
    const struct sctp_listener *listener = host->listeners;
    struct iwarp_sentence ignored;
    struct sctp_init init;

    while (listener != NULL && listener->port != own_port)
        listener = listener->next;
    if (listener == NULL || sctp_init_parse(chunk, &init) != WIRE_OK || init.tag == 0) {
        host->counters.unknown++;
        return;
    }
    if (assoc != NULL && assoc->status.state == SCTP_ASSOC_COOKIE_WAIT && !assoc->given) {
        sctp_host_peer(assoc, &init);
        sctp_host_send_init(assoc);
        return;
    }
    if (assoc != NULL && assoc->status.state != SCTP_ASSOC_CLOSED)
        return;
    assoc = sctp_host_assoc(host, own_port, peer_port, true, &listener->options, &ignored);
    if (assoc == NULL)
        return;
    sctp_host_peer(assoc, &init);
    sctp_host_send_init(assoc);
}

/* --- The end ----------------------------------------------------------------------------------------------------- */

/* It acknowledges, too (RFC 9260 9.2): its sender may have left out the SACK. */
static void on_shutdown(struct sctp_assoc *assoc, const struct sctp_chunk *chunk)
{
    struct sent_chunk *sent, *after = NULL;

    if (assoc->status.state != SCTP_ASSOC_ESTABLISHED && assoc->status.state != SCTP_ASSOC_SHUTDOWN)
        return;
    if (chunk->octets < SCTP_SHUTDOWN_OCTETS)
        return;
    DL_FOREACH_SAFE(assoc->sent, sent, after)
    {
        if (!tsn_after(sent->tsn, octets_get32(chunk->start + SCTP_CHUNK_OCTETS)))
            acknowledge(assoc, sent, true);
    }
    assoc->status.shutdown_seen = true;
    assoc->shutting = true;
    sctp_host_go_shutdown(assoc);
}

static void on_chunk(struct sctp_assoc *assoc, const struct sctp_chunk *chunk)
{
    switch (chunk->type) {
    case SCTP_SACK: on_sack(assoc, chunk); break;
    case SCTP_INIT_ACK: on_init_ack(assoc, chunk); break;
    case SCTP_COOKIE_ECHO: on_cookie_echo(assoc, chunk); break;
    case SCTP_COOKIE_ACK:
        if (assoc->status.state == SCTP_ASSOC_COOKIE_ECHOED)
            established(assoc);
        break;
    case SCTP_HEARTBEAT:
        if (assoc->status.peer_known)
            sctp_host_send_chunk(assoc, SCTP_HEARTBEAT_ACK, chunk->start + SCTP_CHUNK_OCTETS,
                                 chunk->octets - SCTP_CHUNK_OCTETS);
        break;
    case SCTP_HEARTBEAT_ACK: assoc->status.heartbeats++; break;
    case SCTP_ERROR: assoc->status.errors++; break;
    case SCTP_ABORT: sctp_host_close(assoc, SCTP_ASSOC_ABORTED); break;
    case SCTP_SHUTDOWN: on_shutdown(assoc, chunk); break;
    case SCTP_SHUTDOWN_ACK:
        if (assoc->status.state != SCTP_ASSOC_SHUTDOWN)
            break;
        sctp_host_send_chunk(assoc, SCTP_SHUTDOWN_COMPLETE, NULL, 0);
        sctp_host_close(assoc, SCTP_ASSOC_SHUT);
        break;
    case SCTP_SHUTDOWN_COMPLETE:
        if (assoc->status.state == SCTP_ASSOC_SHUTDOWN)
            sctp_host_close(assoc, SCTP_ASSOC_SHUT);
        break;
    default: break; /* of no use for DDP */
    }
}

static void receive_chunks(struct sctp_assoc *assoc, const uint8_t *p, const uint8_t *end)
{
    struct sctp_chunk chunk;
    unsigned place = 0;

    while (p < end && assoc->status.state != SCTP_ASSOC_CLOSED) {
        if (sctp_chunk_parse(&p, end, &chunk) != WIRE_OK) {
            assoc->host->counters.malformed++;
            break;
        }
        if (chunk.type == SCTP_DATA)
            on_data(assoc, &chunk, place++);
        else
            on_chunk(assoc, &chunk);
    }
    if (assoc->sack_due && !assoc->withhold && assoc->status.state != SCTP_ASSOC_CLOSED)
        sctp_host_send_sack(assoc);
}

/* An ABORT or SHUTDOWN COMPLETE may come with our own tag reflected: the T bit (RFC 9260 8.5.1). */
static bool tag_fits(const struct sctp_assoc *assoc, uint32_t tag, const struct sctp_chunk *first)
{
    bool reflects = (first->type == SCTP_ABORT || first->type == SCTP_SHUTDOWN_COMPLETE) && (first->flags & 1) != 0;

    return tag == (reflects ? assoc->status.peer_tag : assoc->status.own_tag) &&
           (!reflects || assoc->status.peer_known);
}

static void receive_packet(struct sctp_host *host, const uint8_t *packet, size_t octets, uint64_t now)
{
    const uint8_t *p, *end;
    struct sctp_chunk first;
    struct sctp_assoc *assoc;
    uint16_t own_port, peer_port;

    host->now = now;
    host->packet_octets = octets;
    host->counters.packets++;
    if (octets < SCTP_COMMON_OCTETS + SCTP_CHUNK_OCTETS) {
        host->counters.malformed++;
        return;
    }
    p = packet + SCTP_COMMON_OCTETS;
    end = packet + octets;
    if (sctp_common_get_Checksum(packet) != sctp_checksum(packet, octets)) {
        host->counters.bad_checksum++;
        return;
    }
    if (sctp_chunk_parse(&p, end, &first) != WIRE_OK) {
        host->counters.malformed++;
        return;
    }
    own_port = (uint16_t)sctp_common_get_DestinationPort(packet);
    peer_port = (uint16_t)sctp_common_get_SourcePort(packet);
    if (first.type == SCTP_INIT) {
        on_init(host, own_port, peer_port, &first);
        return;
    }
    assoc = sctp_host_find(host, own_port, peer_port);
    if (assoc == NULL)
        host->counters.unknown++;
    else if (!tag_fits(assoc, (uint32_t)sctp_common_get_VerificationTag(packet), &first))
        host->counters.bad_tag++;
    else
        receive_chunks(assoc, packet + SCTP_COMMON_OCTETS, end);
}

void sctp_host_input(struct sctp_host *host, const uint8_t *packet, size_t octets, uint64_t now)
{
    receive_packet(host, packet, octets, now);
    host->fragmented = false;
}
