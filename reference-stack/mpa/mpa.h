/* SPDX-License-Identifier: BSD-2-Clause */
/* What MPA keeps of a stream: the layer between DDP and TCP (RFC 5044, RFC 6581). */
#ifndef REFERENCE_STACK_MPA_H
#define REFERENCE_STACK_MPA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reference-stack/core/stream_internal.h"
#include "wire/mpa.h"

struct mpa {
    /* Start-up. */
    uint8_t start_octets[MPA_START_MAX]; /* the peer's frame as it comes in; its Private Data stays */
    size_t start_count;
    struct mpa_start peer;
    bool smbd;     /* the peer's frame has its depths in front of the ULP's Private Data */
    bool enhanced; /* agreed: the word was in both frames */
    bool send_markers, receive_markers, crc;

    /* Receive. */
    uint8_t *receive_buffer; /* an FPDU not complete yet */
    size_t receive_room, receive_count;
    size_t receive_needed; /* octets that it will have, 0 where not known */
    uint8_t *scratch;      /* FPDU_SCRATCH_OCTETS, with Markers */
    uint32_t receive_position;

    /* Transmit. */
    uint8_t *ulpdu_buffer; /* a ULPDU in one run, where Markers or defects need it */
    size_t ulpdu_room;
    uint8_t trailer[8];
    uint32_t transmit_position;
    size_t emss, mulpdu;
    size_t packed; /* octets in the segment that the next FPDU goes into */
};

static inline struct mpa *mpa_of(const struct iwarp_stream *stream)
{
    return stream->lower;
}

#endif
