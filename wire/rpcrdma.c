/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/rpcrdma.h"

#include "base/octets.h"

const struct wire_name rpcrdma_procedure_names[] = {{RPCRDMA_MSG, "RDMA_MSG"},     {RPCRDMA_NOMSG, "RDMA_NOMSG"},
                                                    {RPCRDMA_MSGP, "RDMA_MSGP"},   {RPCRDMA_DONE, "RDMA_DONE"},
                                                    {RPCRDMA_ERROR, "RDMA_ERROR"}, {0, NULL}};
const struct wire_name rpcrdma_error_names[] = {
    {RPCRDMA_ERR_VERS, "ERR_VERS"}, {RPCRDMA_ERR_CHUNK, "ERR_CHUNK"}, {0, NULL}};

WIRE_LAYOUT_DEFINE(rpcrdma_header, RPCRDMA_HEADER_FIELDS, "RPC-over-RDMA header", "RFC 8166 4.2",
                   RPCRDMA_HEADER_OCTETS);
WIRE_LAYOUT_DEFINE(rpcrdma_segment, RPCRDMA_SEGMENT_FIELDS, "RPC-over-RDMA plain segment", "RFC 8166 3.4.3",
                   RPCRDMA_SEGMENT_OCTETS);
WIRE_LAYOUT_DEFINE(rpcrdma_read_segment, RPCRDMA_READ_SEGMENT_FIELDS, "RPC-over-RDMA read segment", "RFC 8166 3.4.5",
                   RPCRDMA_READ_SEGMENT_OCTETS);
WIRE_LAYOUT_DEFINE(rpcrdma_private, RPCRDMA_PRIVATE_FIELDS, "RPC-over-RDMA Private Data", "RFC 8797 4",
                   RPCRDMA_PRIVATE_OCTETS);

wire_result rpcrdma_header_parse(const uint8_t **p, const uint8_t *end, struct rpcrdma_header *header)
{
    const uint8_t *octets = *p;

    if (end - octets < RPCRDMA_HEADER_OCTETS)
        return WIRE_MORE;
    *header = (struct rpcrdma_header){
        .xid = (uint32_t)rpcrdma_header_get_XID(octets),
        .version = (uint32_t)rpcrdma_header_get_Version(octets),
        .credits = (uint32_t)rpcrdma_header_get_Credits(octets),
        .procedure = (uint32_t)rpcrdma_header_get_Procedure(octets),
    };
    *p = octets + RPCRDMA_HEADER_OCTETS;
    return WIRE_OK;
}

/* Sizes are counted in kilo-octets beyond the first (RFC 8797 4.2). */
static uint32_t size_of(uint64_t encoded)
{
    return ((uint32_t)encoded + 1) * 1024;
}

const uint8_t *rpcrdma_private_find(const uint8_t *octets, size_t count, struct rpcrdma_private *said)
{
    for (size_t at = 0; at + RPCRDMA_PRIVATE_OCTETS <= count; at++) {
        const uint8_t *found = octets + at;

        if (rpcrdma_private_get_Format(found) != RPCRDMA_PRIVATE_FORMAT || rpcrdma_private_get_Version(found) != 1)
            continue;
        *said = (struct rpcrdma_private){
            .version = (uint8_t)rpcrdma_private_get_Version(found),
            .reserved_set = rpcrdma_private_get_Reserved(found) != 0,
            .invalidates = rpcrdma_private_get_R(found) != 0,
            .send = size_of(rpcrdma_private_get_SendSize(found)),
            .receive = size_of(rpcrdma_private_get_ReceiveSize(found)),
        };
        return found;
    }
    return NULL;
}

/* ---- chunk lists ------------------------------------------------------------------------------------------------- */

void rpcrdma_walk_begin(struct rpcrdma_walk *walk, const uint8_t *p, const uint8_t *end)
{
    *walk = (struct rpcrdma_walk){.p = p, .end = end};
}

/* One word; false: the octets end, and so does the walk. */
static bool read_word(struct rpcrdma_walk *walk, uint32_t *word)
{
    if (walk->end - walk->p < 4) {
        walk->result = RPCRDMA_CUT;
        return false;
    }
    *word = octets_get32(walk->p);
    walk->p += 4;
    return true;
}

static bool read_segment(struct rpcrdma_walk *walk, struct rpcrdma_segment *segment)
{
    bool reads = walk->list == RPCRDMA_READ_LIST;
    const uint8_t *at = walk->p;

    if (walk->end - at < (reads ? RPCRDMA_READ_SEGMENT_OCTETS : RPCRDMA_SEGMENT_OCTETS)) {
        walk->result = RPCRDMA_CUT;
        return false;
    }
    *segment = (struct rpcrdma_segment){.list = walk->list, .chunk = walk->chunks - (walk->chunks != 0)};
    if (reads) {
        segment->position = (uint32_t)rpcrdma_read_segment_get_Position(at);
        at += RPCRDMA_READ_SEGMENT_OCTETS - RPCRDMA_SEGMENT_OCTETS;
    } else {
        walk->left--;
    }
    segment->index = walk->index++;
    segment->stag = (uint32_t)rpcrdma_segment_get_Handle(at);
    segment->octets = (uint32_t)rpcrdma_segment_get_Length(at);
    segment->to = rpcrdma_segment_get_Offset(at);
    walk->segments[walk->list]++;
    walk->p = at + RPCRDMA_SEGMENT_OCTETS;
    return true;
}

/* The word in front of an element that may be there, and the count of a chunk. False: the walk ends. */
static bool begin_element(struct rpcrdma_walk *walk)
{
    uint32_t follows;

    if (!read_word(walk, &follows))
        return false;
    if (follows > 1) {
        walk->result = RPCRDMA_BROKEN;
        return false;
    }
    if (follows == 0) {
        if (walk->list == RPCRDMA_REPLY_CHUNK) {
            walk->result = RPCRDMA_ENDED;
            return false;
        }
        walk->list++;
        walk->index = 0;
        return true;
    }
    if (walk->list == RPCRDMA_READ_LIST)
        return true;
    walk->index = 0;
    walk->chunks += walk->list == RPCRDMA_WRITE_LIST;
    walk->replies = walk->list == RPCRDMA_REPLY_CHUNK;
    return read_word(walk, &walk->left);
}

bool rpcrdma_walk_next(struct rpcrdma_walk *walk, struct rpcrdma_segment *segment)
{
    while (walk->result == RPCRDMA_WALKING) {
        enum rpcrdma_list list = walk->list;

        if (walk->left != 0)
            return read_segment(walk, segment);
        if (list == RPCRDMA_REPLY_CHUNK && walk->replies) {
            walk->result = RPCRDMA_ENDED;
            return false;
        }
        if (!begin_element(walk))
            return false;
        if (list == RPCRDMA_READ_LIST && walk->list == list)
            return read_segment(walk, segment);
    }
    return false;
}
