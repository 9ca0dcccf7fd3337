/* SPDX-License-Identifier: BSD-2-Clause */
/* From a DATA chunk that a device has sent to what becomes of it on the way. */
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/bridge/bridge_internal.h"
#include "conformance/flow/sctp/flow_sctp.h"

#define SECOND_NS UINT64_C(1000000000)

static struct bridge_sctp_direction *direction_of(const struct bridge_call *call)
{
    return &call->association->direction[call->side];
}

/* ---- what was wanted --------------------------------------------------------------------------------------------- */

/* The chunks that go, in bridge->written. 0, or -1 with the reason. */
static int write_chunks(struct bridge *bridge, const struct bridge_call *call, struct bridge_chunk_edit *edit,
                        struct iwarp_sentence *why)
{
    const struct bridge_unit *unit = &call->unit;

    *edit = (struct bridge_chunk_edit){.chunks = bridge->written,
                                       .count = bridge_unit_chunks(unit),
                                       .keeps_crc = unit->keeps_crc,
                                       .flips = unit->flips,
                                       .flip_count = unit->flip_count};
    if ((edit->keeps_crc || edit->flip_count != 0) && edit->count != 1)
        return iwarp_sentence_set(
            why, "with a wrong checksum it never comes, however often it goes: one chunk was expected");
    if (edit->count != 1 && (unit->head[1] & SCTP_FLAG_U) == 0)
        return iwarp_sentence_set(why,
                                  "its chunk is ordered: SCTP's receiver would wait for its Stream Sequence Number");
    return bridge_unit_write(unit, bridge->written, BRIDGE_UNIT_OCTETS_MOST, &edit->octets, why);
}

static int change(struct bridge *bridge, const struct bridge_call *call, struct iwarp_sentence *why)
{
    struct bridge_chunk_edit edit;

    if (write_chunks(bridge, call, &edit, why) != 0)
        return -1;
    return bridge_sctp_change(call->association, call->side, call->at, &edit, why);
}

/* One chunk that can change its place with another one. */
static int write_one(struct bridge *bridge, const struct bridge_call *call, struct bridge_chunk_edit *edit,
                     struct iwarp_sentence *why)
{
    if (write_chunks(bridge, call, edit, why) != 0)
        return -1;
    if (edit->count != 1 || edit->keeps_crc || edit->flip_count != 0)
        return iwarp_sentence_set(why, "one chunk with a good checksum was expected");
    return 0;
}

/* It waits for the next chunk, and then has its TSN, as that one has its own. */
static int swap(struct bridge *bridge, const struct bridge_call *call, struct iwarp_sentence *why)
{
    struct bridge_sctp_direction *direction = direction_of(call);
    struct bridge_chunk_edit edit;

    if (direction->wait != BRIDGE_GOES)
        return iwarp_sentence_set(why, "the direction stands still already");
    if (write_one(bridge, call, &edit, why) != 0)
        return -1;
    direction->swapped = malloc(edit.octets + 1);
    if (direction->swapped == NULL)
        return iwarp_sentence_set(why, "out of memory");
    memcpy(direction->swapped, bridge->written, edit.octets);
    direction->swapped_octets = edit.octets;
    bridge_sctp_wait(&bridge->sctp, direction, BRIDGE_SWAPS, call->at,
                     bridge->streams.now_ns + BRIDGE_PARTNER_MS * UINT64_C(1000000));
    direction->wait_stream = call->stream;
    return 0;
}

/* The chunk for which the one before it has waited. */
static void meet_partner(struct bridge *bridge, const struct bridge_call *call)
{
    struct bridge_sctp_direction *direction = direction_of(call);
    struct bridge_chunk_edit edit,
        other = {.chunks = direction->swapped, .octets = direction->swapped_octets, .count = 1};
    struct iwarp_sentence why;

    if (direction->wait != BRIDGE_SWAPS || call->at != direction->wait_at + 1)
        return;
    if (write_one(bridge, call, &edit, &why) != 0 ||
        bridge_sctp_change(call->association, call->side, call->at, &other, &why) != 0 ||
        bridge_sctp_change(call->association, call->side, call->at - 1, &edit, &why) != 0) {
        struct bridge_expiry expiry = {call->stream, call->side, BRIDGE_SWAPS, direction->wait_owner};

        bridge_expired(bridge, &expiry);
    }
    bridge_sctp_go(&bridge->sctp, direction);
}

static void settle(struct bridge_side *at, struct bridge_call *call, struct bridge_impairment *last)
{
    struct bridge *bridge = at->bridge;
    struct bridge_sctp_direction *direction = direction_of(call);
    bool partner = direction->wait == BRIDGE_SWAPS && direction->wait_at + 1 == call->at;
    struct iwarp_sentence why = {""};
    int rc = 0;

    if (call->swaps && !partner)
        rc = swap(bridge, call, &why);
    else if ((bridge_unit_changed(&call->unit) || call->unit.keeps_crc) && !partner)
        rc = change(bridge, call, &why);
    if (rc != 0)
        bridge_impair_failed(last, why.text);
    meet_partner(bridge, call);
    bridge_impair_settled(bridge, call, direction->wait, &direction->wait_owner, last);
}

/* ---- what devices do --------------------------------------------------------------------------------------------- */

/* An ABORT or SHUTDOWN ends all streams of its association. */
static void watch_chunk(struct bridge_side *at, const struct flow_event *event)
{
    const struct bridge_sid *sid;
    unsigned type = event->sctp->chunk.type;

    if (type != SCTP_ABORT && type != SCTP_SHUTDOWN && type != SCTP_SHUTDOWN_ACK)
        return;
    for (sid = at->bridge->sctp.association->sids; sid != NULL; sid = sid->hh.next)
        bridge_impair_closed(at, sid->number, type == SCTP_ABORT);
}

static void watch_stream(struct bridge_side *at, uint64_t stream, const struct flow_event *event)
{
    const struct flow_event *whole = bridge_impair_whole(event);

    if (whole->kind == FLOW_RDMAP && whole->rdmap->header == FLOW_HEADER_TERMINATE)
        bridge_impair_terminated(at, stream, whole);
    if (event->kind == FLOW_SESSION && event->session->message.kind == DDP_SCTP_CONTROL &&
        (event->session->message.code == DDP_SCTP_TERMINATE || event->session->message.code == DDP_SCTP_REJECT ||
         event->session->message.code == DDP_SCTP_ENHANCED_REJECT))
        bridge_impair_closed(at, stream, false);
}

/* A session begins with an Initiate; in the draft, that has none, a stream with what comes first. */
static bool begins(const struct flow_event *event)
{
    return event->kind == FLOW_SESSION && event->session->message.kind == DDP_SCTP_CONTROL &&
           event->session->message.row->active == 1;
}

void bridge_event_sctp(struct bridge_side *at, const struct flow_event *event)
{
    struct bridge *bridge = at->bridge;
    struct bridge_impairment *last;
    struct bridge_call call = {.streams = &bridge->streams,
                               .sctp = &bridge->sctp,
                               .association = bridge->sctp.association,
                               .side = at->side,
                               .hold_ns = bridge->options->hold * SECOND_NS};
    const struct flow_session *message = event->kind == FLOW_SESSION ? event->session
                                         : event->kind == FLOW_ULPDU ? event->ulpdu->message
                                                                     : NULL;
    struct sctp_chunk chunk;
    bool held;

    if (call.association == NULL || !bridge_place_is(bridge, at->side, event->flow, event->direction) ||
        !bridge_streams_has(&bridge->streams, &call.association->key, true))
        return;
    if (event->kind == FLOW_SCTP)
        watch_chunk(at, event);
    if (message == NULL || event->flow->kind != FLOW_STREAM)
        return;
    call.at = message->tsn;
    call.end = call.at + 1;
    call.stream = bridge_sctp_session(&bridge->sctp, call.association, event->flow->sctp->sid, begins(event));
    watch_stream(at, call.stream, event);
    held = bridge_sctp_chunk(&bridge->sctp, call.at, &chunk) &&
           (chunk.flags & (SCTP_FLAG_B | SCTP_FLAG_E)) == (SCTP_FLAG_B | SCTP_FLAG_E);
    bridge_unit_begin(&call.unit, bridge_impair_whole(event), held ? chunk.start : NULL, held ? chunk.octets : 0);
    call.unit.most = bridge_sctp_room(&bridge->sctp, at->side);
    last = bridge_impair_ask(at, &call, event);
    if (held)
        settle(at, &call, last);
    bridge_unit_end(&call.unit);
}
