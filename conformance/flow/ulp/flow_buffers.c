/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/flow/ulp/flow_buffers.h"

#include "conformance/flow/ulp/flow_ulp_send.h"

enum { JOINED_MAX = 16 }; /* buffers side by side that one access may go through */

bool flow_access_read(const struct flow_event *event, struct flow_access *access)
{
    const struct ddp_segment *segment = &event->ddp->segment;
    const struct flow_rdmap *rdmap = event->rdmap;

    access->owner = flow_reverse(event->direction);
    if (segment->tagged && rdmap->message.opcode == IWARP_RDMAP_WRITE) {
        access->access = FLOW_BUFFER_WRITE;
        access->stag = segment->stag;
        access->to = segment->to;
        access->octets = segment->payload_octets;
    } else if (rdmap->header == FLOW_HEADER_READ_REQUEST && rdmap->header_result == WIRE_OK) {
        access->access = FLOW_BUFFER_READ;
        access->stag = rdmap->read_request.source_stag;
        access->to = rdmap->read_request.source_to;
        access->octets = rdmap->read_request.octets;
    } else {
        return false;
    }
    return access->octets != 0;
}

/* ---- looking ----------------------------------------------------------------------------------------------------- */

static bool has_stag(const struct flow_buffer *buffer, const struct flow_access *access)
{
    return buffer->used && buffer->stag == access->stag && buffer->owner == access->owner;
}

static bool stands(const struct flow_buffer *buffer, const struct flow_access *access)
{
    return has_stag(buffer, access) && buffer->ended_by == 0 && (buffer->access & access->access) != 0;
}

static bool has_octet(const struct flow_buffer *buffer, uint64_t to)
{
    return to - buffer->to < buffer->octets;
}

/* The buffer that stands and has that octet, as an index; -1: none. */
static int standing_at(const struct flow_buffers *buffers, const struct flow_access *access, uint64_t to)
{
    const struct flow_buffer *last = &buffers->place[buffers->touched];

    if (stands(last, access) && has_octet(last, to))
        return buffers->touched;
    for (int i = 0; i < buffers->used; i++)
        if (stands(&buffers->place[i], access) && has_octet(&buffers->place[i], to))
            return i;
    return -1;
}

/*
 * The buffer that stands and has the octet at *at, as an index; *at and *left go to its end. *here: octets of the access
 * in it. -1: none.
 */
static int step(const struct flow_buffers *buffers, const struct flow_access *access, uint64_t *at, uint64_t *left,
                uint64_t *here)
{
    int index = standing_at(buffers, access, *at);

    if (index < 0)
        return -1;
    *here = buffers->place[index].octets - (*at - buffers->place[index].to);
    *here = *left < *here ? *left : *here;
    *at += *here;
    *left -= *here;
    return index;
}

/* Of those that have the STag: one that ended and has the first octet, one that stands, one that ended, another. */
static enum flow_buffer_answer find_other(const struct flow_buffers *buffers, const struct flow_access *access,
                                          const struct flow_buffer **found)
{
    enum { NOTHING, OTHER_KIND, ENDED, STANDS, ENDED_HERE } best = NOTHING;

    for (unsigned i = 0; i < buffers->used; i++) {
        const struct flow_buffer *buffer = &buffers->place[i];
        unsigned rank;

        if (!has_stag(buffer, access))
            continue;
        if ((buffer->access & access->access) == 0)
            rank = OTHER_KIND;
        else if (buffer->ended_by == 0)
            rank = STANDS;
        else
            rank = has_octet(buffer, access->to) ? ENDED_HERE : ENDED;
        if (rank < (unsigned)best || (rank == (unsigned)best && buffer->frame < (*found)->frame))
            continue;
        best = rank;
        *found = buffer;
    }
    if (best == STANDS)
        return FLOW_BUFFER_BEYOND;
    return best == ENDED || best == ENDED_HERE ? FLOW_BUFFER_ENDED : FLOW_BUFFER_UNKNOWN;
}

enum flow_buffer_answer flow_buffers_find(const struct flow_buffers *buffers, const struct flow_access *access,
                                          const struct flow_buffer **found)
{
    uint64_t at = access->to, left = access->octets, here;
    int index;

    *found = NULL;
    for (unsigned i = 0; i < JOINED_MAX && (index = step(buffers, access, &at, &left, &here)) >= 0; i++) {
        if (*found == NULL)
            *found = &buffers->place[index];
        if (left == 0)
            return FLOW_BUFFER_INSIDE;
    }
    return *found != NULL ? FLOW_BUFFER_BEYOND : find_other(buffers, access, found);
}

const struct flow_buffer *flow_buffers_at(const struct flow_buffers *buffers, const struct flow_buffer *place)
{
    for (unsigned i = 0; i < buffers->used; i++) {
        const struct flow_buffer *buffer = &buffers->place[i];

        if (buffer->used && buffer->ended_by == 0 && buffer->owner == place->owner &&
            buffer->exchange == place->exchange && buffer->list == place->list && buffer->chunk == place->chunk &&
            buffer->index == place->index)
            return buffer;
    }
    return NULL;
}

/* Does a buffer that stands have that owner, exchange and STag? */
static bool names(const struct flow_buffer *buffer, enum flow_direction owner, uint32_t exchange, uint32_t stag)
{
    return buffer->used && buffer->ended_by == 0 && buffer->owner == owner && buffer->exchange == exchange &&
           buffer->stag == stag;
}

bool flow_buffers_name(const struct flow_buffers *buffers, enum flow_direction owner, uint32_t exchange, uint32_t stag)
{
    for (unsigned i = 0; i < buffers->used; i++)
        if (names(&buffers->place[i], owner, exchange, stag))
            return true;
    return false;
}

bool flow_buffers_list(const struct flow_buffers *buffers, enum flow_direction owner, uint32_t exchange, uint8_t list,
                       uint32_t stag)
{
    for (unsigned i = 0; i < buffers->used; i++)
        if (buffers->place[i].list == list && names(&buffers->place[i], owner, exchange, stag))
            return true;
    return false;
}

bool flow_buffers_known(const struct flow *flow)
{
    const struct flow_buffers *buffers = flow->ulp != NULL ? flow->ulp->buffers : NULL;

    return buffers != NULL && !buffers->lost && !flow->gap && !flow->unordered;
}

bool flow_buffers_go_on(const struct flow_event *event)
{
    const struct flow_buffers *buffers = event->flow->ulp->buffers;
    const struct flow_buffer *last;
    struct flow_access access;

    if (buffers == NULL)
        return true;
    if (!flow_access_read(event, &access)) /* a Write without octets is no access, as others of its kind are */
        return event->rdmap->message.opcode != IWARP_RDMAP_WRITE;
    if (!flow_buffers_known(event->flow))
        return false;
    last = &buffers->place[buffers->touched];
    return stands(last, &access) && has_octet(last, access.to) &&
           access.octets <= last->octets - (access.to - last->to);
}

/* ---- changing ---------------------------------------------------------------------------------------------------- */

void flow_buffers_move(struct flow_buffers *buffers, const struct flow_access *access)
{
    uint64_t at = access->to, left = access->octets, here;
    int index;

    for (unsigned i = 0; i < JOINED_MAX && left != 0 && (index = step(buffers, access, &at, &left, &here)) >= 0; i++) {
        buffers->touched = (uint16_t)index;
        buffers->place[index].moved += here;
    }
}

void flow_buffers_add(struct flow_buffers *buffers, const struct flow_buffer *buffer)
{
    if (buffers->lost) /* for ever: nothing is looked up any more */
        return;
    for (unsigned i = 0; i < FLOW_BUFFERS_MAX; i++) {
        struct flow_buffer *place = &buffers->place[buffers->next];

        if (!place->used || place->ended_by != 0) {
            *place = *buffer;
            place->used = true;
            if (buffers->used <= buffers->next)
                buffers->used = (uint16_t)(buffers->next + 1);
            buffers->next = (uint16_t)((buffers->next + 1) % FLOW_BUFFERS_MAX);
            return;
        }
        buffers->next = (uint16_t)((buffers->next + 1) % FLOW_BUFFERS_MAX);
    }
    buffers->lost = true;
}

void flow_buffers_end(struct flow_buffers *buffers, enum flow_direction owner, uint32_t exchange, uint64_t frame)
{
    for (unsigned i = 0; i < buffers->used; i++) {
        struct flow_buffer *buffer = &buffers->place[i];

        if (buffer->owner == owner && buffer->exchange == exchange && buffer->ended_by == 0)
            buffer->ended_by = frame;
    }
}

void flow_buffers_invalidate(struct flow_buffers *buffers, enum flow_direction owner, uint32_t stag, uint64_t frame)
{
    for (unsigned i = 0; i < buffers->used; i++) {
        struct flow_buffer *buffer = &buffers->place[i];

        if (buffer->owner != owner || buffer->stag != stag || buffer->ended_by != 0)
            continue;
        buffer->ended_by = frame;
        buffer->invalidated = true;
    }
}

void flow_buffers_update(struct flow *flow, const struct flow_event *event)
{
    struct flow_buffers *buffers = flow->ulp->buffers;
    struct flow_access access;

    if (flow_access_read(event, &access))
        flow_buffers_move(buffers, &access);
    else if (flow_ulp_is_send(event) && event->rdmap->last &&
             rdmap_opcode_rows[event->rdmap->message.opcode].invalidates)
        flow_buffers_invalidate(buffers, flow_reverse(event->direction), event->ddp->segment.ulp_word, event->frame);
}
