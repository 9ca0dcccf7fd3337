/* SPDX-License-Identifier: BSD-2-Clause */
/* From an FPDU that a device has sent to what becomes of it on the way. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit_status.h"
#include "conformance/engine/bridge/bridge_internal.h"
#include "conformance/flow/sctp/flow_sctp.h"
#include "reference-stack/program/complaint.h"

#define SECOND_NS UINT64_C(1000000000)

/* The connection of an event whose sender is at this side; NULL: it is at the other one, or nothing of TCP. */
static struct bridge_connection *connection_of(struct bridge_side *at, const struct flow_event *event)
{
    const struct flow_address *source = &event->flow->address[event->direction];
    const struct flow_address *other = &event->flow->address[flow_reverse(event->direction)];
    struct bridge_key key = {.family = source->family, .port = {0}};

    if (event->flow->kind != FLOW_CONNECTION)
        return NULL;
    memcpy(key.address[at->side], source->octets, sizeof(source->octets));
    memcpy(key.address[1 - at->side], other->octets, sizeof(other->octets));
    key.port[at->side] = source->port;
    key.port[1 - at->side] = other->port;
    return bridge_streams_find(&at->bridge->streams, &key);
}

const struct flow_event *bridge_impair_whole(const struct flow_event *event)
{
    while (event->next != NULL)
        event = event->next;
    return event;
}

static const char *name_of(const struct flow_event *event)
{
    if (event->kind == FLOW_MPA_START)
        return event->direction == FLOW_FROM_INITIATOR ? "MPA Request" : "MPA Reply";
    if (event->kind == FLOW_RDMAP && event->rdmap->message.row != NULL)
        return event->rdmap->message.row->name;
    if (event->kind == FLOW_SESSION)
        return event->session->message.row != NULL && event->session->message.row->name != NULL
                   ? event->session->message.row->name
                   : "session control message";
    return event->flow->kind == FLOW_STREAM ? "DDP Segment" : "FPDU";
}

static char letter_of(unsigned side)
{
    return side == 0 ? 'A' : 'B';
}

static void not_applied(struct bridge_impairment *impairment, const char *why)
{
    if (impairment->why.text[0] == '\0')
        (void)iwarp_sentence_set(&impairment->why, "%s", why);
}

void bridge_impair_failed(struct bridge_impairment *impairment, const char *why)
{
    if (impairment == NULL)
        return;
    impairment->applied--;
    not_applied(impairment, why);
}

static void applied(struct bridge_side *at, const struct bridge_call *call, const struct flow_event *event)
{
    struct bridge *bridge = at->bridge;

    if (call->impairment->applied++ == 0)
        call->impairment->seen = (struct bridge_seen){
            .stream = call->stream, .sctp = call->association != NULL, .frame = event->frame, .sender = at->side};
    call->impairment->seen.changed |= call->swaps || bridge_unit_changed(&call->unit);
    call->impairment->seen.replaced |= call->unit.replaced;
    call->impairment->seen.closed |= call->closes;
    bridge_note(bridge, false, "impaired  %s: stream %" PRIu64 ", %s of %c in frame %" PRIu64 ": %s",
                call->impairment->name, call->stream, name_of(event), letter_of(at->side), event->frame,
                call->done[0] != '\0' ? call->done : "nothing was done");
    (void)snprintf(bridge->done, sizeof(bridge->done), "impairment %s: %s", call->impairment->name, call->done);
    bridge->comment = bridge->done;
}

/* ---- what was wanted --------------------------------------------------------------------------------------------- */

/* The octets that go, in bridge->written. 0, or -1 with the reason. */
static int write_unit(struct bridge *bridge, const struct bridge_call *call, size_t *octets, struct iwarp_sentence *why)
{
    return bridge_unit_write(&call->unit, bridge->written, BRIDGE_UNIT_OCTETS_MOST, octets, why);
}

static int change(struct bridge_call *call, uint32_t at, const uint8_t *octets, size_t count,
                  struct iwarp_sentence *why)
{
    struct bridge_direction *direction = &call->connection->direction[call->side];

    if (bridge_map_replace(&direction->map, at, call->end, octets, count) == 0)
        return 0;
    return iwarp_sentence_set(why, "too much of the connection is changed and not acknowledged yet");
}

/* It waits for the next one, after which it goes. */
static int swap(struct bridge *bridge, struct bridge_call *call, struct iwarp_sentence *why)
{
    struct bridge_direction *direction = &call->connection->direction[call->side];
    const struct flow_event *event = call->unit.event;
    size_t octets;

    if (event->kind == FLOW_MPA_START)
        return iwarp_sentence_set(why, "a start-up frame has no place but the first");
    if (event->ulpdu->mpa->framing.markers)
        return iwarp_sentence_set(why, "Markers are in use, and would no longer stand where RFC 5044 4.3 has them");
    if (direction->wait != BRIDGE_GOES)
        return iwarp_sentence_set(why, "the direction stands still already");
    if (write_unit(bridge, call, &octets, why) != 0)
        return -1;
    direction->swapped = malloc(octets + 1);
    if (direction->swapped == NULL)
        return iwarp_sentence_set(why, "out of memory");
    memcpy(direction->swapped, bridge->written, octets);
    direction->swapped_octets = octets;
    bridge_stream_wait(direction, BRIDGE_SWAPS, call->at, call->end,
                       bridge->streams.now_ns + BRIDGE_PARTNER_MS * UINT64_C(1000000));
    return 0;
}

/* The FPDU that was to come does not. */
static void miss_partner(struct bridge *bridge, const struct bridge_call *call)
{
    struct bridge_expiry expiry = {call->stream, call->side, BRIDGE_SWAPS,
                                   call->connection->direction[call->side].wait_owner};

    bridge_expired(bridge, &expiry);
}

/* The FPDU for which an older one has waited. */
static void meet_partner(struct bridge *bridge, struct bridge_call *call)
{
    struct bridge_direction *direction = &call->connection->direction[call->side];
    struct iwarp_sentence why;
    size_t octets;

    if (direction->wait == BRIDGE_JOINS && call->at != direction->wait_at) {
        bridge_stream_go(direction);
        direction->wait_end = call->end;
    }
    if (direction->wait != BRIDGE_SWAPS || call->at != direction->wait_end)
        return;
    if (write_unit(bridge, call, &octets, &why) != 0 || octets + direction->swapped_octets > BRIDGE_UNIT_OCTETS_MOST) {
        miss_partner(bridge, call);
    } else {
        memcpy(bridge->written + octets, direction->swapped, direction->swapped_octets);
        if (change(call, direction->wait_at, bridge->written, octets + direction->swapped_octets, &why) != 0)
            miss_partner(bridge, call);
    }
    bridge_stream_go(direction);
}

void bridge_impair_settled(struct bridge *bridge, const struct bridge_call *call, enum bridge_wait wait, void **owner,
                           struct bridge_impairment *last)
{
    if (wait != BRIDGE_GOES && *owner == NULL)
        *owner = last;
    if (call->closes) {
        bridge->closing = call->connection;
        bridge->closing_sctp = call->association;
        bridge->resets = call->resets;
    }
    bridge->releases |= call->released;
}

static void settle_unit(struct bridge_side *at, struct bridge_call *call, struct bridge_impairment *last)
{
    struct bridge *bridge = at->bridge;
    struct bridge_direction *direction = &call->connection->direction[call->side];
    bool partner = direction->wait == BRIDGE_SWAPS && direction->wait_end == call->at;
    struct iwarp_sentence why = {""};
    size_t octets;
    int rc = 0;

    if (call->swaps && !partner)
        rc = swap(bridge, call, &why);
    else if (bridge_unit_changed(&call->unit) && !partner) {
        rc = write_unit(bridge, call, &octets, &why);
        if (rc == 0)
            rc = change(call, call->at, bridge->written, octets, &why);
    }
    if (rc != 0)
        bridge_impair_failed(last, why.text);
    meet_partner(bridge, call);
    bridge_impair_settled(bridge, call, direction->wait, &direction->wait_owner, last);
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static bool ask(struct bridge_side *at, struct bridge_call *call, size_t index, const struct flow_event *head)
{
    struct bridge *bridge = at->bridge;
    struct bridge_impairment *impairment = bridge_script_at(bridge->script, index);
    struct iwarp_sentence error;
    int rc = 0;

    call->done[0] = call->refused.text[0] = '\0';
    for (const struct flow_event *event = head; rc == 0 && event != NULL; event = event->next)
        rc = bridge_script_ask(bridge->script, index, call, event, &error);
    if (rc < 0) {
        not_applied(impairment, error.text);
        bridge_note(bridge, true, "%s; %s does nothing any more", error.text, impairment->name);
    } else if (rc > 0 && call->unit.raw == NULL) {
        not_applied(impairment, "its octets had gone before they were decoded");
    } else if (rc > 0 && call->refused.text[0] != '\0') {
        not_applied(impairment, call->refused.text);
    } else if (rc > 0 && call->done[0] == '\0') {
        not_applied(impairment, "act() did nothing");
    } else if (rc > 0) {
        applied(at, call, bridge_impair_whole(head));
        return true;
    }
    return false;
}

struct bridge_impairment *bridge_impair_ask(struct bridge_side *at, struct bridge_call *call,
                                            const struct flow_event *head)
{
    struct bridge_script *script = at->bridge->script;
    struct bridge_impairment *last = NULL;

    for (size_t i = 0; i < bridge_script_count(script); i++)
        if (ask(at, call, i, head))
            last = bridge_script_at(script, i);
    return last;
}

void bridge_impair_terminated(struct bridge_side *at, uint64_t stream, const struct flow_event *whole)
{
    for (size_t i = 0; i < bridge_script_count(at->bridge->script); i++) {
        struct bridge_seen *seen = &bridge_script_at(at->bridge->script, i)->seen;

        if (seen->stream == 0 || seen->stream != stream)
            continue;
        if (at->side != seen->sender) {
            seen->receiver_terminates = true;
            seen->triple = whole->rdmap->terminate.triple;
        } else {
            seen->sender_terminates = true;
            seen->sender_triple = whole->rdmap->terminate.triple;
        }
    }
}

void bridge_impair_closed(struct bridge_side *at, uint64_t stream, bool reset)
{
    for (size_t i = 0; i < bridge_script_count(at->bridge->script); i++) {
        struct bridge_seen *seen = &bridge_script_at(at->bridge->script, i)->seen;

        if (seen->stream == 0 || seen->stream != stream)
            continue;
        seen->finished[at->side] |= !reset;
        seen->reset[at->side] |= reset;
    }
}

/* What a device does on a connection that was impaired. */
static void watch(struct bridge_side *at, const struct flow_event *event)
{
    const struct flow_event *whole = bridge_impair_whole(event);
    const struct bridge_connection *connection;
    bool terminates = whole->kind == FLOW_RDMAP && whole->rdmap->header == FLOW_HEADER_TERMINATE;

    if ((event->kind != FLOW_TCP_CLOSE && !terminates) || (connection = connection_of(at, event)) == NULL)
        return;
    if (terminates)
        bridge_impair_terminated(at, connection->number, whole);
    else
        bridge_impair_closed(at, connection->number, event->close->reset);
}

void bridge_event(void *user, const struct flow_event *event)
{
    struct bridge_side *at = user;
    struct bridge *bridge = at->bridge;
    struct bridge_connection *connection;
    struct bridge_impairment *last;
    struct bridge_call call = {.streams = &bridge->streams,
                               .side = at->side,
                               .at = (uint32_t)event->octet,
                               .end = (uint32_t)event->end,
                               .hold_ns = bridge->options->hold * SECOND_NS};
    bool held;

    if (event->flow->kind != FLOW_CONNECTION) {
        bridge_event_sctp(at, event);
        return;
    }
    watch(at, event);
    if ((event->kind != FLOW_ULPDU && event->kind != FLOW_MPA_START) ||
        (event->kind == FLOW_MPA_START && event->start->result != WIRE_OK) ||
        (connection = connection_of(at, event)) == NULL || call.end - call.at > BRIDGE_UNIT_OCTETS_MOST ||
        !bridge_streams_has(&bridge->streams, &connection->key, false))
        return;
    if (!connection->engaged && connection->begun)
        connection->number = ++bridge->streams.engaged;
    connection->engaged = true;
    connection->direction[at->side].framed = true;
    connection->direction[at->side].framed_to = call.end;
    call.connection = connection;
    call.stream = connection->number;
    held = bridge_stream_octets(&connection->direction[at->side], call.at, call.end, bridge->raw);
    bridge_unit_begin(&call.unit, bridge_impair_whole(event), held ? bridge->raw : NULL, call.end - call.at);
    last = bridge_impair_ask(at, &call, event);
    if (held)
        settle_unit(at, &call, last);
    bridge_unit_end(&call.unit);
}

void bridge_expired(void *user, const struct bridge_expiry *expiry)
{
    const struct bridge *bridge = user;

    if (expiry->wait != BRIDGE_STALLED)
        bridge_impair_failed(expiry->owner, "no other unit came after it in time");
    if (expiry->wait == BRIDGE_STALLED)
        bridge_note(bridge, true,
                    "stream %" PRIu64 ": what %c sends was held for %" PRIu64
                    " s, and no script released it: it goes on (--hold)",
                    expiry->stream, letter_of(expiry->side), bridge->options->hold);
    else
        bridge_note(bridge, true, "stream %" PRIu64 ": no other unit of %c came within %d ms: %s", expiry->stream,
                    letter_of(expiry->side), BRIDGE_PARTNER_MS,
                    expiry->wait == BRIDGE_SWAPS ? "the one that waited goes in its own place"
                                                 : "the one that waited goes by itself");
}

void bridge_impair_settle(struct bridge *bridge)
{
    struct bridge_connection *closing = bridge->closing;

    bridge->closing = NULL;
    if (closing != NULL)
        bridge_stream_close(&bridge->streams, closing, bridge->resets);
    if (bridge->closing_sctp != NULL)
        bridge_sctp_close(&bridge->sctp, bridge->closing_sctp, bridge->resets);
    bridge->closing_sctp = NULL;
    if (!bridge->releases)
        return;
    bridge->releases = false;
    bridge_sctp_release(&bridge->sctp);
    bridge_streams_release(&bridge->streams);
}
