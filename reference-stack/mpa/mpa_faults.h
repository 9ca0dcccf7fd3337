/* SPDX-License-Identifier: BSD-2-Clause */
/* The seams of MPA (RFC 5044, RFC 6581): the `lower` of core/faults.h where a stream's layer below DDP is MPA. */
#ifndef REFERENCE_STACK_MPA_FAULTS_H
#define REFERENCE_STACK_MPA_FAULTS_H

#include "reference-stack/core/stream_internal.h"
#include "wire/fpdu.h"
#include "wire/mpa.h"

enum mpa_decision {
    MPA_ENHANCED,    /* the peer's frame has S = 1 (RFC 6581 6) */
    MPA_FRAME_WHOLE, /* the peer's frame is complete (RFC 5044 7.1.1) */
    MPA_REJECTED,    /* the peer's Reply has R = 1 (RFC 5044 7.1.2) */
    MPA_EXCESS_KEPT, /* octets after the peer's frame are the first of the FPDUs (RFC 5044 7.1.2) */
    MPA_NEXT_PARSED, /* the FPDU after the one in hand, in the octets that came together, is parsed (RFC 5044 5.2) */
    MPA_INTO_PLACE,  /* TCP may write octets where the FPDU that is begun lies (RFC 5044 5.2) */
    MPA_EARLY,       /* FPDUs are looked for among octets after a gap (RFC 5044 6)... */
    MPA_EARLY_BEGIN, /* ...which begin with an FPDU */
};

/* What has become of an FPDU of the peer. */
enum fpdu_step {
    FPDU_BEGUN,  /* some of it has come */
    FPDU_PARSED, /* all of it has, and is about to be judged */
    FPDU_GOOD,   /* its ULPDU is about to be passed to DDP */
    FPDU_EARLY,  /* it lies after a gap, and was placed */
};

struct mpa_fault_ops {
    bool (*decide)(struct iwarp_stream *stream, enum mpa_decision what, bool own);

    /* A start-up frame of `octets` octets in stream->outbound.buffer: returns its octets (RFC 5044 7.1.1). */
    size_t (*start_frame)(struct iwarp_stream *stream, const struct iwarp_mpa_start *start, size_t octets);

    /* In place of fpdu_pack(): the FPDU in stream->outbound.buffer, and its octets; 0: memory is short (RFC 5044 4). */
    size_t (*fpdu_layout)(struct iwarp_stream *stream, const uint8_t *ulpdu, size_t ulpdu_octets,
                          const struct fpdu_framing *framing);

    /*
     * An FPDU of the peer; `octets` came together, from the first of the FPDU on. Returns how many of them are used up,
     * 0: all goes on as it does by itself (RFC 5044 5.2, 6, 8).
     */
    size_t (*fpdu_received)(struct iwarp_stream *stream, enum fpdu_step step, const struct fpdu *fpdu, size_t octets);
};

static inline const struct mpa_fault_ops *mpa_seams(const struct iwarp_stream *stream)
{
    return (const struct mpa_fault_ops *)stream->faults->lower;
}

/* As SEAM, SEAM_VALUE and SEAM_DECIDE. */
#define MPA_SEAM(stream, call)                                                                                         \
    do {                                                                                                               \
        if (FAULTED(stream))                                                                                           \
            (void)mpa_seams(stream)->call;                                                                             \
    } while (0)
#define MPA_SEAM_VALUE(stream, own, call) (FAULTED(stream) ? mpa_seams(stream)->call : (own))
#define MPA_DECIDE(stream, what, own)     (FAULTED(stream) ? mpa_seams(stream)->decide(stream, what, own) : (own))

#endif
