/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One direction of a flow: what its sender has sent, and what became of that. Part of conformance/flow/event/flow.h,
 * which explains the words; include that.
 */
#ifndef FLOW_FLOW_HALF_H
#define FLOW_FLOW_HALF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/fpdu.h"
#include "wire/fpdu_reading.h"
#include "wire/mpa.h"
#include "wire/rdmap.h"

/* A start-up frame as it stood in the stream. */
struct flow_start {
    bool seen;
    struct iwarp_mpa_start frame; /* host form; as far as it could be read when result is not WIRE_OK */
    wire_result result;           /* WIRE_OK; WIRE_MORE: the stream ended or was lost in it; TERM_MPA_START_FRAME */
    uint64_t first_octet_frame;   /* frame with its first octet */
    uint64_t frame_number;        /* frame with its last */
    uint64_t time_ns;             /* of the last */
    uint64_t octet, end;          /* sequence numbers of its first octet and after its last (see struct flow_event) */
    uint64_t received;            /* acknowledgment number of the segment with its first octet */
    const uint8_t *octets;        /* raw: valid during FLOW_MPA_START only (NULL in flow->tcp->start[]) */
    size_t octet_count;
    size_t trailing;            /* octets of the same TCP segment after the frame */
    uint64_t trailing_received; /* acknowledgment number of that segment; 0: not known */
    uint8_t *private_copy;      /* frame.private_data points here in flow->tcp->start[]; NULL: none, or no memory */
};

enum { FLOW_QUEUES = 4 }; /* QN 0 to 3 */

/* One untagged queue in one direction. */
struct flow_queue {
    bool seen;            /* a segment for it came: next_* are known */
    bool open;            /* a message is in progress: its last segment has not come */
    uint8_t opcode;       /* of that message, from its first segment */
    uint32_t next_msn;    /* of the next message; of the present one while `open`. 1 at the start of a flow */
    uint32_t next_mo;     /* of the next segment; 0 when not open */
    uint32_t stag;        /* octets 2-5 (Invalidate STag) of the open message's first segment */
    uint64_t octets;      /* payload of the open message so far */
    uint64_t first_frame; /* of the open message's first segment */
    uint64_t messages;    /* finished */
};

/* Tagged messages of one kind (RDMA Write, RDMA Read Response) in one direction. */
struct flow_tagged {
    bool open;
    uint32_t stag; /* of the open message */
    uint64_t first_to;
    uint64_t next_to;
    uint64_t octets; /* payload of the open message so far */
    uint64_t first_frame;
    uint64_t messages; /* finished */
};

/* A request that the other side has not finished answering: RDMA Read Request or Atomic Request. */
struct flow_request {
    uint8_t opcode; /* IWARP_RDMAP_READ_REQUEST or IWARP_RDMAP_ATOMIC_REQUEST */
    uint32_t msn;   /* on QN 1 */
    uint64_t frame;
    uint64_t time_ns;
    uint64_t end;             /* sequence number after it; 0 over SCTP */
    struct read_request read; /* a Read's */
    uint32_t atomic_id;       /* an Atomic's Request Identifier */
    uint8_t atomic_opcode;
    uint64_t answered; /* octets of the Read Response that came */
    uint32_t serial;   /* counts those of its sender from 1 */
    bool doubted;      /* not by the book, or perhaps answered in a way that is not: a later one may be answered next */
    bool named;        /* a Read's: the first segment of its response names its sink */
    bool reversed;     /* a Read's: `read` is what it meant; its fields were sent with their octets in reverse order */
};

enum { FLOW_REQUESTS_MAX = 1024 }; /* kept for each direction */

/* Why octets of a TCP segment are not decoded: the receiver's TCP drops them, or the decoder had no room. */
enum flow_refusal {
    FLOW_REFUSED_NO_ACK,   /* without ACK (RFC 9293 3.10.7.4: "if the ACK bit is off, drop the segment") */
    FLOW_REFUSED_SYN,      /* in a SYN on a connection that is open (RFC 5961 4), or in one that came to nothing */
    FLOW_REFUSED_RESET,    /* in an RST: a text for people (RFC 9293 3.10.7.3) */
    FLOW_REFUSED_CHECKSUM, /* the TCP checksum is wrong, and that of the sender's SYN was right */
    FLOW_REFUSED_WINDOW,   /* beyond the receiver's window, and never acknowledged */
    FLOW_REFUSED_END,      /* after the FIN */
    FLOW_REFUSED_ROOM,     /* more waited after a hole than the decoder holds */
    FLOW_REFUSED_MEMORY,   /* there was none */
    FLOW_REFUSALS
};

/*
 * What became of the payload octets of all TCP segments of a direction. Each octet of a segment is in one of the
 * counters up to refused[]: sent = delivered + cut + again + late + held + the sum of refused[]. Octets of no segment
 * are `lost`.
 */
struct flow_octets {
    uint64_t sent;      /* in segments, as long as these were on the wire */
    uint64_t delivered; /* given to MPA, in stream order */
    uint64_t cut;       /* stand in stream order, but the capture cut the frame */
    uint64_t again;     /* delivered or held already */
    uint64_t late;      /* fill a hole that was given up before, or stand before the first octet delivered */
    uint64_t held;      /* wait: something before them is missing, or may not be decoded yet. 0 at FLOW_END */
    uint64_t refused[FLOW_REFUSALS];
    uint64_t lost; /* in holes that the capture never filled */
    /* Of `again`, when no acknowledgment came between the two copies, so that the receiver may have either of them: */
    uint64_t ambiguous;  /* they differ */
    uint64_t uncompared; /* nothing is left of the first ones to compare them with */
};

enum { FLOW_SENT_MAX = 128 }; /* kept for each direction; a power of two */
enum { FLOW_SENT_HEAD = 48 }; /* holds the headers of DDP and of a Read Request */

enum flow_sent_flag {
    FLOW_SENT_HEARD = 1, /* a DDP Segment that its receiver heard */
    FLOW_SENT_BAD = 2,   /* the CRC is wrong */
    FLOW_SENT_CUT = 4,   /* a part of it was not captured, so `crc` is not known */
    FLOW_SENT_START = 8, /* a start-up frame */
};

/* A unit that was sent: what a Terminate may quote, and what a retransmission is compared with. */
struct flow_sent {
    uint64_t at;                  /* sequence number of its first octet; 0 over SCTP */
    uint64_t first_frame, frame;  /* with its first octet, and with its last */
    uint32_t crc;                 /* the CRC field; of a start-up frame its octets */
    uint16_t ulpdu_length;        /* 0 for a start-up frame */
    uint8_t flags;                /* enum flow_sent_flag */
    uint8_t head_octets;          /* of `head` */
    uint8_t head[FLOW_SENT_HEAD]; /* first octets of the ULPDU, or of the start-up frame */
};

/* What the checksums of a side are worth. */
enum flow_sums {
    SUMS_UNKNOWN,
    SUMS_GOOD,      /* that of its SYN was right: a wrong one was damaged, or is meant to be dropped */
    SUMS_OFFLOADED, /* it was not: the network card fills them in after the capture */
};

/* What the SYN of a side said. */
struct flow_syn {
    bool seen;      /* it was captured, and positions count from the true start; else nothing here is known */
    bool ack;       /* SYN, ACK */
    bool has_scale; /* the option was there */
    bool options_cut;
    uint8_t scale;
    uint8_t sums; /* enum flow_sums */
    uint16_t mss; /* 0: no option */
    uint16_t window;
    uint32_t isn;
    uint32_t acked; /* the number that a SYN, ACK acknowledges, by which it answers the other side's SYN */
    uint64_t frame, time_ns;
};

/* One direction of a TCP connection, and of MPA on it. */
struct flow_tcp_half {
    const struct flow_syn *syn;
    const struct flow_octets *octets;
    bool fin_seen, rst_seen;  /* sent by this side */
    uint16_t largest_segment; /* most payload octets in one TCP segment so far (more than the MSS: offloading) */
    uint64_t conflicts;       /* segments with octets that differ from those that came before; the first ones count */
    uint64_t resets_refused, syns_refused; /* RSTs and SYNs that the receiver's TCP answers with a challenge ACK */
    uint64_t urgent; /* segments with URG: not every TCP leaves those octets in the stream (RFC 6093) */
    /* MPA: how what this side SENDS is framed */
    bool framing_known;          /* from both start-up frames (or Rev 0), else found out from the stream */
    bool in_sync;                /* FPDU boundaries are known */
    struct fpdu_framing framing; /* .position is that of the next FPDU */
    uint64_t crc_errors;
    uint64_t marker_errors;
    uint64_t resyncs; /* times that sync was lost */
    size_t begun;     /* octets of an FPDU of which the rest has not come yet */
    struct fpdu_reading
        last_reading; /* how the last FPDU was framed, when the stream's end alone shows that; zero: as the text says */
    uint16_t last_length;    /* its ULPDU_Length */
    uint64_t first_fpdu_end; /* sequence number after its first FPDU; 0: none yet */
};

/* One direction of a flow that carries DDP. */
struct flow_half {
    struct flow_tcp_half *tcp; /* NULL over SCTP */
    uint64_t segments;         /* TCP segments with payload; user messages with a DDP Segment */
    uint64_t gaps;             /* holes that the capture never filled, cut frames excepted */
    bool start_known;          /* TCP: SeqStart is known, positions are true. Else they count from some octet before */
    uint64_t position;         /* octets from SeqStart to the next FPDU, 64-bit */
    uint64_t fpdus;            /* ULPDUs */
    size_t unfinished; /* at FLOW_END: octets of an FPDU that was begun and never whole; nobody knows what it was */
    const uint8_t *unfinished_octets; /* at FLOW_END: these octets; NULL: none */
    unsigned unfinished_faults; /* at FLOW_END: what contradicts the texts in its header, as far as that is there */
    bool tail_unknown; /* at FLOW_END: what was sent last may be missing (over TCP: the other side acknowledged it) */
    /* DDP, RDMAP */
    bool state_unverified;  /* what follows is by a ULPDU that is `unverified`; forgotten when one comes that is not */
    uint64_t sent_count;    /* units; the next one goes to sent[sent_count % sent_room] */
    uint32_t sent_room;     /* grows to FLOW_SENT_MAX, a power of two */
    struct flow_sent *sent; /* the last of them: flow_sent_kept(), flow_sent_last() */
    uint64_t ddp_segments;
    uint64_t messages[16]; /* finished, by opcode */
    struct flow_queue queue[FLOW_QUEUES];
    struct flow_tagged write, read_response;
    bool terminated; /* a Terminate was sent by this side */
    uint64_t terminate_frame;
    wire_result terminate_triple;
    /* Requests that this side sent and that wait for answers, oldest first: flow_request_at() */
    struct flow_request *requests;
    uint32_t request_first, request_count, request_room;
    uint32_t requests_made; /* the serial of the last one */
    /* that of the other side's request which the open Read Response of this side answers; 0: none is known */
    uint32_t answering;
    bool requests_lost;     /* more than FLOW_REQUESTS_MAX, or a gap: the list is not complete */
    uint32_t requests_most; /* most at once so far */
};

#endif
