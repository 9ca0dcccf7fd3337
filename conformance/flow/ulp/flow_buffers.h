/* SPDX-License-Identifier: BSD-2-Clause */
/* Advertised buffers of a flow (flow_buffer.h): what a ULP adds and ends, and what a tagged message meets. */
#ifndef FLOW_FLOW_BUFFERS_H
#define FLOW_FLOW_BUFFERS_H

#include <stddef.h>

#include "conformance/flow/event/flow.h"
#include "conformance/flow/event/flow_buffer.h"

/* A tagged access to the memory of `owner`. */
struct flow_access {
    enum flow_direction owner;
    enum flow_buffer_access access;
    uint32_t stag;
    uint64_t to, octets;
};

/* What a FLOW_RDMAP event reads or writes at the other side: an RDMA Write, a Read Request. False: no octet. */
bool flow_access_read(const struct flow_event *event, struct flow_access *access);

enum flow_buffer_answer {
    FLOW_BUFFER_INSIDE,  /* every octet lies in buffers that stand */
    FLOW_BUFFER_BEYOND,  /* one has that STag, and octets lie outside it */
    FLOW_BUFFER_ENDED,   /* its exchange is over, or the STag was invalidated */
    FLOW_BUFFER_UNKNOWN, /* none has that STag, or it was advertised for the other kind of access */
};

/* `*found`: the buffer that the answer is about, NULL when there is none. */
enum flow_buffer_answer flow_buffers_find(const struct flow_buffers *buffers, const struct flow_access *access,
                                          const struct flow_buffer **found);

/* Counts an access in the buffers that it meets. */
void flow_buffers_move(struct flow_buffers *buffers, const struct flow_access *access);

/* Keeps a copy. Buffers that have ended make room; where all stand, `lost` is set. */
void flow_buffers_add(struct flow_buffers *buffers, const struct flow_buffer *buffer);

/* What is advertised is known: nothing is missing, and nothing was lost. False also for a ULP that advertises nothing. */
bool flow_buffers_known(const struct flow *flow);

/*
 * A tagged event is of a kind that is no access, or lies where the last access did, in a buffer that stands: no rule of
 * the ULP breaks, and each passes it as it passed that one.
 */
bool flow_buffers_go_on(const struct flow_event *event);

/* Counts the access of a FLOW_RDMAP event, and ends what a Send with Invalidate invalidates. */
void flow_buffers_update(struct flow *flow, const struct flow_event *event);

/* The exchange of `owner` ends in `frame`. */
void flow_buffers_end(struct flow_buffers *buffers, enum flow_direction owner, uint32_t exchange, uint64_t frame);

/* The STag of `owner` is invalidated in `frame`. */
void flow_buffers_invalidate(struct flow_buffers *buffers, enum flow_direction owner, uint32_t stag, uint64_t frame);

/* The buffer that stands and has the owner, exchange, list, chunk and index of `*place`; NULL: none. */
const struct flow_buffer *flow_buffers_at(const struct flow_buffers *buffers, const struct flow_buffer *place);

/* Does a buffer that stands have that owner, exchange and STag? */
bool flow_buffers_name(const struct flow_buffers *buffers, enum flow_direction owner, uint32_t exchange, uint32_t stag);

/* The same of those in that list of the request. */
bool flow_buffers_list(const struct flow_buffers *buffers, enum flow_direction owner, uint32_t exchange, uint8_t list,
                       uint32_t stag);

#endif
