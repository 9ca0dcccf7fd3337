/* SPDX-License-Identifier: BSD-2-Clause */
/* What MPA keeps of a stream: the layer between DDP and TCP (RFC 5044, RFC 6581). */
#ifndef REFERENCE_STACK_MPA_H
#define REFERENCE_STACK_MPA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reference-stack/core/stream_internal.h"
#include "reference-stack/mpa/mpa_faults.h"
#include "wire/fpdu.h"
#include "wire/marker.h"
#include "wire/mpa.h"

struct mpa {
    /* Start-up. */
    uint8_t start_octets[MPA_START_MAX]; /* the peer's frame as it comes in; its Private Data stays */
    size_t start_count;
    struct iwarp_mpa_start peer;
    bool smbd; /* the peer's frame has its depths in front of the ULP's Private Data */
    bool send_markers, receive_markers, crc;

    /* Receive. */
    uint8_t *receive_buffer; /* an FPDU not complete yet */
    size_t receive_room, receive_count;
    size_t receive_needed; /* octets that it will have, 0 where not known */
    uint8_t *scratch;      /* FPDU_SCRATCH_OCTETS, with Markers */
    uint32_t receive_position;

    /* Transmit. */
    uint8_t *ulpdu_buffer; /* a ULPDU in one run, for an FPDU in one run */
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

enum {
    MPA_EMSS_DEFAULT = 1460,
    SMBD_OCTETS = 8, /* IRD and ORD in front of the ULP's Private Data */
};

/* mpa.c: the layer, as core calls it. */
extern const struct llp_ops mpa_llp;

/* mpa_state.c */
size_t mpa_ulpdu_max(const struct iwarp_stream *stream, size_t *left);
void mpa_trace(struct iwarp_stream *stream, const struct fpdu *fpdu, uint32_t position, bool early);

/* startup.c */
int startup_begin(struct iwarp_stream *stream, struct iwarp_sentence *sentence);
size_t startup_input(struct iwarp_stream *stream, const uint8_t *octets, size_t count);
int startup_reply(struct iwarp_stream *stream, bool accepted);
void startup_complete(struct iwarp_stream *stream);
void startup_established(struct iwarp_stream *stream);

/* startup_smbd.c. `room`: IWARP_MPA_PRIVATE_DATA_MAX octets, where the frame's Private Data then lies. */
void smbd_write(const struct iwarp_stream *stream, struct iwarp_mpa_start *start, uint16_t ird, uint16_t ord,
                uint8_t *room);
bool smbd_has(const struct iwarp_stream *stream, const struct iwarp_mpa_start *start);
void smbd_parse(struct iwarp_mpa_start *start);

/* receive.c */
void receive_octets(struct iwarp_stream *stream, const uint8_t *octets, size_t count);
bool receive_scratch(struct iwarp_stream *stream);

/* frame.c */
int frame_start(struct iwarp_stream *stream, const struct iwarp_mpa_start *start, struct iwarp_sentence *sentence);
int frame_ulpdu(struct iwarp_stream *stream, const struct llp_ulpdu *ulpdu);

#endif
