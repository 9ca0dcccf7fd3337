/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Advertised buffers: memory of one side that its ULP has named to the other, which may then read or write it by tagged
 * messages until the exchange ends. Kept for each flow whose ULP says so (conformance/flow/ulp/flow_buffers.h).
 */
#ifndef FLOW_FLOW_BUFFER_H
#define FLOW_FLOW_BUFFER_H

#include <stdbool.h>
#include <stdint.h>

enum flow_buffer_access {
    FLOW_BUFFER_READ = 1,  /* the other side may read it */
    FLOW_BUFFER_WRITE = 2, /* and write it */
};

struct flow_buffer {
    uint64_t to; /* Tagged Offset of its first octet */
    uint32_t octets;
    uint32_t stag;
    uint32_t exchange; /* that it belongs to: the ULP's number of a request */
    uint16_t chunk, index;
    uint8_t list;      /* which part of the request names it; with `chunk` and `index` its place there */
    uint8_t owner;     /* enum flow_direction: the side whose memory it is */
    uint8_t access;    /* enum flow_buffer_access, or both */
    bool used;         /* this place is not empty */
    bool invalidated;  /* it ended by a Send with Invalidate */
    uint64_t moved;    /* octets read or written so far, those twice that were so twice */
    uint64_t frame;    /* that advertises it */
    uint64_t ended_by; /* frame with which the exchange ended, or the STag was invalidated; 0: it stands */
};

enum { FLOW_BUFFERS_MAX = 256 }; /* for each flow, those of both sides */

struct flow_buffers {
    bool lost;        /* one was not kept, or could not be read: what is not here may have been advertised */
    uint16_t used;    /* places in use, the first ones */
    uint16_t next;    /* where to look for a free place */
    uint16_t touched; /* the buffer that was read or written last */
    struct flow_buffer place[FLOW_BUFFERS_MAX];
};

#endif
