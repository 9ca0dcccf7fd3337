/* SPDX-License-Identifier: BSD-2-Clause */
/* A connection on which MPA was found becomes a flow, and has events from there on. */
#include "conformance/flow/mpa/flow_mpa_internal.h"

#include <string.h>

struct flow_event flow_event_make(const struct flow_context *context, enum flow_event_kind kind)
{
    struct flow_event event;

    /* Member for member: zeroing as much at once takes a string instruction, slow to start. */
    event.kind = kind;
    event.direction = flow_direction_of(context->connection, context->index);
    event.flow = context->connection->flow;
    event.frame = event.first_frame = context->frame;
    event.time_ns = context->time_ns;
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
    event.next = NULL;
    event.reason = FLOW_REASON_COUNT;
    return event;
}

void flow_undecoded(const struct flow_context *context, enum flow_reason reason)
{
    struct flow_event event = flow_event_make(context, FLOW_UNDECODED);

    event.reason = reason;
    event.position = context->side->position;
    flow_event_send(context->common, &event);
}

static void set_address(struct flow_address *address, const struct flow_key *key, unsigned side)
{
    address->family = key->family;
    address->port = key->port[side];
    memcpy(address->octets, key->address[side], sizeof(address->octets));
}

static void emit_open(const struct flow_context *context, unsigned index)
{
    const struct flow_side *from = &context->connection->side[index];
    struct flow_context syn =
        flow_context_of(context->common, context->connection, index, from->syn.frame, from->syn.time_ns);
    struct flow_open open = {from->syn.ack, from->syn.isn, from->syn.mss, from->syn.window};
    struct flow_event event = flow_event_make(&syn, FLOW_TCP_OPEN);

    event.open = &open;
    flow_event_send(context->common, &event);
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

bool flow_recognise(const struct flow_context *context, unsigned initiator, bool roles_known)
{
    struct flow_connection *connection = context->connection;
    struct flow *flow;

    if (connection->flow != NULL)
        return true;
    if (connection->key.tunnel.guessed != 0) { /* which is not judged */
        connection->key_seen = true;
        return false;
    }
    flow = flow_make(context->common, FLOW_CONNECTION, connection->first_frame, connection->first_ns);
    if (flow == NULL)
        return false;
    connection->flow = flow;
    flow->tunnel = connection->key.tunnel;
    flow_settle_flow(context->common, connection);
    connection->swap = initiator; /* side `initiator` becomes direction 0 */
    flow->roles_known = roles_known;
    flow->last_frame = connection->last_frame;
    flow->last_ns = connection->last_ns;
    flow->unordered = connection->unordered;
    for (unsigned i = 0; i < 2; i++) {
        begin_half(connection, i);
        (void)flow_mapping_find(context->common, &flow->address[flow_direction_of(connection, i)], &flow->tunnel,
                                &flow->tcp->mapping);
    }
    for (unsigned i = 0; i < 2; i++)
        if (connection->side[initiator ^ i].syn.seen)
            emit_open(context, initiator ^ i);
    return true;
}
