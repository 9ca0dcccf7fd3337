/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/flow/ulp/flow_rpcrdma.h"

#include <stdlib.h>

#include "base/octets.h"
#include "base/out_of_memory.h"
#include "conformance/flow/ulp/flow_buffers.h"
#include "conformance/flow/ulp/flow_ulp_send.h"

enum {
    CREDITS_SENSIBLE = 1 << 16, /* that a first Call asks for */
    POSITION_ALIGNMENT = 4,     /* RFC 8166 3.4.5 */
};

/* In one piece, so that free() of the first member frees all. */
struct whole {
    struct flow_ulp ulp;
    struct flow_rpcrdma rpcrdma;
    struct flow_buffers buffers;
};

/* ---- Calls that wait --------------------------------------------------------------------------------------------- */

static int waiting_index(const struct flow_rpcrdma *rpcrdma, enum flow_direction requester, uint32_t xid)
{
    for (unsigned i = 0; i < rpcrdma->waiting; i++)
        if (rpcrdma->calls[i].xid == xid && rpcrdma->calls[i].requester == requester)
            return (int)i;
    return -1;
}

const struct flow_rpcrdma_call *flow_rpcrdma_waiting(const struct flow_rpcrdma *rpcrdma, enum flow_direction requester,
                                                     uint32_t xid)
{
    int index = waiting_index(rpcrdma, requester, xid);

    return index < 0 ? NULL : &rpcrdma->calls[index];
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* Goes through the chunk lists, and reads what stands behind those of an RDMA_MSG. */
static void read_lists(const uint8_t *p, const uint8_t *end, struct flow_rpcrdma_message *message)
{
    struct rpcrdma_segment segment;
    struct rpcrdma_walk walk;

    rpcrdma_walk_begin(&walk, p, end);
    while (rpcrdma_walk_next(&walk, &segment)) {
        if (segment.list == RPCRDMA_REPLY_CHUNK)
            message->reply_octets += segment.octets;
        if (segment.list != RPCRDMA_READ_LIST)
            continue;
        if (segment.position % POSITION_ALIGNMENT != 0)
            message->odd_position = segment.position;
        else if (segment.position == 0)
            message->zero_octets += segment.octets;
    }
    message->lists = walk.result;
    for (unsigned i = 0; i < RPCRDMA_LISTS; i++)
        message->segments[i] = walk.segments[i];
    message->chunks = walk.chunks;
    message->replies = walk.replies;
    message->has_rpc = message->header.procedure == RPCRDMA_MSG && walk.result == RPCRDMA_ENDED && end - walk.p >= 8;
    if (message->has_rpc) {
        message->rpc_xid = octets_get32(walk.p);
        message->rpc_type = octets_get32(walk.p + 4);
    }
}

/* Everything but which kind of message it is. False: there is no header. */
static bool read_octets(const struct flow_event *event, struct flow_rpcrdma_message *message)
{
    const uint8_t *p = event->ddp->segment.payload, *end = p + event->ddp->payload_have;

    *message = (struct flow_rpcrdma_message){.kind = FLOW_RPCRDMA_SHORT};
    if (rpcrdma_header_parse(&p, end, &message->header) != WIRE_OK)
        return false;
    if (message->header.procedure <= RPCRDMA_NOMSG) {
        read_lists(p, end, message);
    } else if (message->header.procedure == RPCRDMA_ERROR && end - p >= 4) {
        message->has_error = true;
        message->error = octets_get32(p);
    }
    return true;
}

/*
 * Does it call or reply? The RPC message says so. Without one: the other side waits for that XID, or there is a Read
 * list, which only a Call has (RFC 8166 4.3.1); else its direction decides.
 */
static enum flow_rpcrdma_kind kind_of(const struct flow_rpcrdma *rpcrdma, enum flow_direction direction,
                                      struct flow_rpcrdma_message *message)
{
    if (message->header.procedure == RPCRDMA_ERROR)
        return FLOW_RPCRDMA_ERROR;
    if (message->header.procedure > RPCRDMA_NOMSG)
        return FLOW_RPCRDMA_OTHER;
    if (message->has_rpc && message->rpc_type <= RPCRDMA_RPC_REPLY)
        return message->rpc_type == RPCRDMA_RPC_CALL ? FLOW_RPCRDMA_CALL : FLOW_RPCRDMA_REPLY;
    if (flow_rpcrdma_waiting(rpcrdma, flow_reverse(direction), message->header.xid) != NULL)
        return FLOW_RPCRDMA_REPLY;
    message->guessed = message->segments[RPCRDMA_READ_LIST] == 0;
    if (!message->guessed || direction == FLOW_FROM_INITIATOR)
        return FLOW_RPCRDMA_CALL;
    return FLOW_RPCRDMA_REPLY;
}

/* ---- recognition ------------------------------------------------------------------------------------------------- */

/* A Call that nothing else has by chance (flow_rpcrdma.h). */
static bool is_sure_call(const struct flow_event *event, struct flow_rpcrdma_message *message)
{
    const uint8_t *p = event->ddp->segment.payload, *end = p + event->ddp->payload_have;
    struct rpcrdma_segment segment;
    struct rpcrdma_walk walk;

    if (end - p < RPCRDMA_HEADER_OCTETS || rpcrdma_header_get_Version(p) != RPCRDMA_VERSION ||
        rpcrdma_header_get_Procedure(p) != RPCRDMA_MSG || !read_octets(event, message))
        return false;
    if (message->header.credits == 0 || message->header.credits > CREDITS_SENSIBLE || !message->has_rpc ||
        message->rpc_xid != message->header.xid || message->rpc_type != RPCRDMA_RPC_CALL)
        return false;
    flow_rpcrdma_walk_begin(event, &walk);
    while (rpcrdma_walk_next(&walk, &segment))
        continue;
    return walk.end - walk.p >= RPCRDMA_CALL_OCTETS && octets_get32(walk.p + 8) == RPCRDMA_RPC_VERSION;
}

/* What a side says in its start-up frame. False: the frame is not known as a whole. */
static bool read_private(const struct flow *flow, enum flow_direction direction, struct flow_rpcrdma_side *side)
{
    const struct flow_start *start = flow_start_of(flow, direction);

    if (start == NULL || start->result != WIRE_OK ||
        (start->frame.private_octets != 0 && start->frame.private_data == NULL))
        return false;
    side->has_private =
        start->frame.private_octets != 0 &&
        rpcrdma_private_find(start->frame.private_data, start->frame.private_octets, &side->said) != NULL;
    return true;
}

static uint32_t smaller(uint32_t one, uint32_t other)
{
    return one < other ? one : other;
}

/* RFC 8797 4.2, 5.1: where one side says nothing, both are as if it had said the least. */
static void read_starts(const struct flow *flow, struct flow_rpcrdma *rpcrdma)
{
    struct flow_rpcrdma_side *side = rpcrdma->side;
    bool known = !flow_is_unmatched(flow) && read_private(flow, FLOW_FROM_INITIATOR, &side[0]);

    rpcrdma->starts_known = known && read_private(flow, FLOW_FROM_RESPONDER, &side[1]);
    rpcrdma->agreed = rpcrdma->starts_known && side[0].has_private && side[1].has_private;
    rpcrdma->invalidates = rpcrdma->agreed && side[0].said.invalidates && side[1].said.invalidates;
    for (unsigned i = 0; rpcrdma->starts_known && i < FLOW_DIRECTIONS; i++)
        rpcrdma->inline_max[i] =
            rpcrdma->agreed ? smaller(side[i].said.send, side[1 - i].said.receive) : RPCRDMA_INLINE_LEAST;
}

static void begin(struct flow *flow, const struct flow_event *event)
{
    struct whole *whole = calloc(1, sizeof(*whole));

    if (whole == NULL) {
        out_of_memory_note();
        return;
    }
    whole->ulp = (struct flow_ulp){.kind = FLOW_ULP_RPCRDMA, .rpcrdma = &whole->rpcrdma, .buffers = &whole->buffers};
    whole->rpcrdma.frame = event->frame;
    whole->rpcrdma.from_start = flow->roles_known && !flow->late && event->direction == FLOW_FROM_INITIATOR &&
                                event->ddp->segment.msn <= FLOW_FIRST_MSN_MAX;
    whole->buffers.lost = !whole->rpcrdma.from_start;
    read_starts(flow, &whole->rpcrdma);
    flow->ulp = &whole->ulp;
}

void flow_rpcrdma_read(struct flow *flow, const struct flow_event *event, struct flow_rpcrdma_message *message)
{
    message->kind = FLOW_RPCRDMA_NONE;
    if ((flow->ulp != NULL && flow->ulp->kind != FLOW_ULP_RPCRDMA) || !flow_ulp_is_send(event) ||
        !event->rdmap->first || event->ddp->segment.payload_octets == 0)
        return;
    if (flow->ulp == NULL) {
        if (!is_sure_call(event, message)) {
            message->kind = FLOW_RPCRDMA_NONE;
            return;
        }
        begin(flow, event);
        message->kind = flow->ulp != NULL ? FLOW_RPCRDMA_CALL : FLOW_RPCRDMA_NONE;
    } else if (read_octets(event, message)) {
        message->kind = kind_of(flow->ulp->rpcrdma, event->direction, message);
    }
}

/* ---- state ------------------------------------------------------------------------------------------------------- */

static void add_buffers(struct flow *flow, const struct flow_event *event)
{
    struct rpcrdma_segment segment;
    struct rpcrdma_walk walk;

    flow_rpcrdma_walk_begin(event, &walk);
    while (rpcrdma_walk_next(&walk, &segment)) {
        struct flow_buffer buffer = {
            .to = segment.to,
            .octets = segment.octets,
            .stag = segment.stag,
            .exchange = event->rdmap->rpcrdma.header.xid,
            .chunk = (uint16_t)segment.chunk,
            .index = (uint16_t)segment.index,
            .list = (uint8_t)segment.list,
            .owner = (uint8_t)event->direction,
            .access = segment.list == RPCRDMA_READ_LIST ? FLOW_BUFFER_READ : FLOW_BUFFER_WRITE,
            .frame = event->frame,
        };

        flow_buffers_add(flow->ulp->buffers, &buffer);
    }
}

static void add_call(struct flow *flow, const struct flow_event *event)
{
    const struct flow_rpcrdma_message *message = &event->rdmap->rpcrdma;
    struct flow_rpcrdma *rpcrdma = flow->ulp->rpcrdma;
    struct flow_rpcrdma_side *side = &rpcrdma->side[event->direction];
    int index = waiting_index(rpcrdma, event->direction, message->header.xid);
    struct flow_rpcrdma_call *call;

    side->calls++;
    if (event->received >= side->reduced_at)
        side->granted_before = 0;
    if (message->lists == RPCRDMA_ENDED)
        add_buffers(flow, event);
    else
        flow->ulp->buffers->lost = true;
    if (index < 0 && rpcrdma->waiting == FLOW_RPCRDMA_CALLS_MAX) {
        rpcrdma->lost = true;
        return;
    }
    side->waiting += index < 0;
    call = &rpcrdma->calls[index < 0 ? rpcrdma->waiting++ : (unsigned)index];
    *call = (struct flow_rpcrdma_call){.xid = message->header.xid,
                                       .version = message->header.version,
                                       .chunks = message->chunks,
                                       .requester = (uint8_t)event->direction,
                                       .listed = index < 0 && message->lists == RPCRDMA_ENDED,
                                       .replies = message->replies};
    for (unsigned i = 0; i < RPCRDMA_LISTS; i++)
        call->segments[i] = message->segments[i];
}

static void keep_grant(struct flow_rpcrdma_side *side, const struct flow_event *event)
{
    uint32_t granted = event->rdmap->rpcrdma.header.credits;

    if (granted < side->granted) {
        side->granted_before = side->granted > side->granted_before ? side->granted : side->granted_before;
        side->reduced_at = event->end;
    }
    side->granted = granted;
}

/* A Reply or an RDMA_ERROR ends the exchange, and with it access to its buffers (RFC 8166 3.4.5.1, 4.5). */
static void end_call(struct flow *flow, const struct flow_event *event)
{
    const struct flow_rpcrdma_message *message = &event->rdmap->rpcrdma;
    struct flow_rpcrdma *rpcrdma = flow->ulp->rpcrdma;
    enum flow_direction requester = flow_reverse(event->direction);
    struct flow_rpcrdma_side *side = &rpcrdma->side[requester];
    int index = waiting_index(rpcrdma, requester, message->header.xid);

    side->replies++;
    if (message->kind == FLOW_RPCRDMA_REPLY)
        keep_grant(side, event);
    if (index < 0)
        return;
    side->waiting--;
    rpcrdma->calls[index] = rpcrdma->calls[--rpcrdma->waiting];
    flow_buffers_end(flow->ulp->buffers, requester, message->header.xid, event->frame);
}

static void update_message(struct flow *flow, const struct flow_event *event)
{
    struct flow_rpcrdma *rpcrdma = flow->ulp->rpcrdma;

    rpcrdma->side[event->direction].spoke = true;
    rpcrdma->lost |= event->rdmap->rpcrdma.guessed;
    switch (event->rdmap->rpcrdma.kind) {
    case FLOW_RPCRDMA_CALL: add_call(flow, event); break;
    case FLOW_RPCRDMA_REPLY:
    case FLOW_RPCRDMA_ERROR: end_call(flow, event); break;
    case FLOW_RPCRDMA_SHORT:
    case FLOW_RPCRDMA_OTHER: rpcrdma->lost = true; break;
    case FLOW_RPCRDMA_NONE: break;
    }
}

void flow_rpcrdma_update(struct flow *flow, const struct flow_event *event)
{
    if (flow->ulp == NULL || flow->ulp->kind != FLOW_ULP_RPCRDMA || event->ulpdu->unverified)
        return;
    if (flow_ulp_is_send(event) && event->rdmap->rpcrdma.kind != FLOW_RPCRDMA_NONE)
        update_message(flow, event);
    flow->ulp->buffers->lost |= flow->ulp->rpcrdma->lost;
    flow_buffers_update(flow, event);
}

bool flow_rpcrdma_whole(const struct flow *flow)
{
    const struct flow_rpcrdma *rpcrdma = flow->ulp->rpcrdma;

    return rpcrdma->from_start && !rpcrdma->lost && !flow->gap && !flow->unordered;
}
