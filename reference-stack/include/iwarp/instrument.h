/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Instruments for testers: state that no ULP needs and no peer can observe. They report what DDP and its LLP know of a
 * stream, record placements and deliveries, and set states that are hard to reach otherwise. Misuse as in device.h.
 */
#ifndef IWARP_INSTRUMENT_H
#define IWARP_INSTRUMENT_H

#include "iwarp/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The state of the LLP stream (RFC 5041 3). */
enum iwarp_llp_state {
    IWARP_LLP_OK,
    IWARP_LLP_GRACEFUL,  /* one of the sides has closed, or is about to */
    IWARP_LLP_ERRONEOUS, /* an error of any layer ended it */
};

struct iwarp_ddp_state {
    enum iwarp_llp_state llp;
    uint32_t send_msn, receive_msn; /* the next ones on QN 0 */
    unsigned system_faults;         /* messages that found no buffer (RFC 5041 7.1) */
};

/* For a NULL stream: the LLP stream has ended, and all counters are 0. */
void iwarp_stream_ddp(const struct iwarp_stream *stream, struct iwarp_ddp_state *state);

/* Sets the next MSNs on QN 0 of both directions. The peer must do the same. */
void iwarp_stream_set_msn(struct iwarp_stream *stream, uint32_t send, uint32_t receive);

/*
 * Moves the stream to another Protection Domain. Error: the stream is established, and keeps its Protection Domain
 * until its session ends (RFC 5043 6).
 */
int iwarp_stream_set_pd(struct iwarp_stream *stream, uint32_t pd, struct iwarp_sentence *sentence);

/*
 * Sets MULPDU from now on, independent of EMSS; 0: EMSS decides again. Nothing changes if the value is below the
 * minimum of RFC 5044 4.5, or longer than an FPDU can hold.
 */
enum { IWARP_MULPDU_MIN = 128, IWARP_MULPDU_MAX = 65535 - 64 };
void iwarp_stream_set_mulpdu(struct iwarp_stream *stream, size_t mulpdu);

/* While `hold` is set, no Read or Atomic Response is begun, and no atomic is executed. */
void iwarp_stream_hold_responses(struct iwarp_stream *stream, bool hold);

enum iwarp_catastrophe {
    IWARP_CATASTROPHE_DDP,      /* in DDP, at once: Terminate 1/0/00 */
    IWARP_CATASTROPHE_RDMAP,    /* in RDMAP, at once: Terminate 0/0/00 */
    IWARP_CATASTROPHE_RESPONSE, /* in RDMAP, while the next Atomic Response is built */
};

/* Causes a local catastrophic error (RFC 5041 7.2, RFC 5040 7.1, RFC 7306 8.1). An unknown kind is ignored. */
void iwarp_stream_catastrophe(struct iwarp_stream *stream, enum iwarp_catastrophe kind, uint64_t now);

enum iwarp_trace_kind { IWARP_TRACE_PLACED, IWARP_TRACE_DELIVERED };

struct iwarp_trace {
    enum iwarp_trace_kind kind;
    bool tagged;
    uint8_t opcode; /* RDMAP's */
    uint32_t stag;  /* tagged */
    uint32_t qn, msn;
    uint64_t offset; /* TO or MO of a segment that is placed */
    uint64_t octets; /* PLACED: of the segment; DELIVERED: of the message, if known */
};

/*
 * The first call starts the trace. Each call removes the oldest record and returns it in *record; false: there is no
 * record. At most IWARP_TRACE_MAX records are kept; later ones are lost.
 */
enum { IWARP_TRACE_MAX = 4096 };
bool iwarp_stream_trace(struct iwarp_stream *stream, struct iwarp_trace *record);

#ifdef __cplusplus
}
#endif

#endif
