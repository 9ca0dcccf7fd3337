/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One line for what was seen, in the notation that people paste into mails:
 *
 *     MPA Request rev2 S C ird 1 ord 1 p2p rtr=write,read, 4 octets
 *     Read Request qn 1 msn 1 L sink 0x00000101+0x0 size 64 source 0x12345678+0x1000
 *     Atomic Request qn 1 msn 2 mo 0 L CmpSwap id 2 stag 0x12345678 to 0x1000
 *     Terminate DDP / Untagged Buffer Error / Invalid QN (0x1201) M D
 */
#ifndef FLOW_NOTATION_H
#define FLOW_NOTATION_H

#include <stddef.h>

#include "conformance/flow/event/flow.h"
#include "wire/port_mapper.h"

enum { NOTATION_MAX = 256 };

/* Start-up frame as parsed. Returns `text`. */
const char *notation_start(const struct iwarp_mpa_start *start, char *text, size_t room);

/* RDMAP message (or DDP segment that is none) of one segment. Returns `text`. */
const char *notation_segment(const struct ddp_segment *segment, char *text, size_t room);

/* The same of a FLOW_SCTP event: as notation_shows(). */
bool notation_shows_sctp(const struct flow_event *event);

/* True when notation_event() has something to show of this event: of most FPDUs that is their RDMA Message alone. */
static inline bool notation_shows(const struct flow_event *event)
{
    switch (event->kind) {
    case FLOW_ULPDU: return event->ulpdu->result != WIRE_OK;
    case FLOW_DDP: return event->ddp->result == WIRE_MORE;
    case FLOW_SCTP: return notation_shows_sctp(event);
    case FLOW_END: return false;
    default: return true;
    }
}

/* A message of the port mapper. Returns `text`. */
const char *notation_port_mapper(const struct port_mapper_message *message, char *text, size_t room);

/* Any event of a flow; "" for those that have nothing to show (an FPDU whose segment follows, the end). */
const char *notation_event(const struct flow_event *event, char *text, size_t room);

#endif
