/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MPA Markers (RFC 5044 4.3): four octets at every stream position that is a multiple of 512.
 *
 *     +-------------------------------+-------------------------------+
 *     |           RESERVED            |            FPDUPTR            |
 *     +-------------------------------+-------------------------------+
 *
 * A position counts the octets of one half connection from SeqStart, the first octet after this side's own start-up
 * frame; Markers count too, so 508 other octets lie between two of them. From TCP sequence numbers the position is `seq
 * - seq_start` in 32-bit arithmetic: 2^32 is a multiple of 512, so the result is right after a wrap, for any SeqStart.
 *
 * A Marker belongs to the FPDU that it lies in; one that stands between two FPDUs belongs to the following one, and is
 * the first thing that its CRC covers. FPDUPTR counts back from the Marker to ULPDU_Length; it is 0 if the Marker is
 * before ULPDU_Length.
 */
#ifndef WIRE_MARKER_H
#define WIRE_MARKER_H

#include "wire/field.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    MARKER_OCTETS = 4,
    MARKER_SPACING = 512,                         /* Marker start to Marker start */
    MARKER_DATA = MARKER_SPACING - MARKER_OCTETS, /* other octets in between */
};

/* clang-format off */
#define MARKER_FIELDS(F, O, layout) \
    F(layout, Reserved, "RESERVED", 0,  16, WIRE_RESERVED, NULL, "RFC 5044 4.3", "zero on sending, not checked on receipt") \
    F(layout, FPDUPTR,  "FPDUPTR",  16, 16, WIRE_NUMBER,   NULL, "RFC 5044 4.3", "octets from ULPDU_Length to this Marker; a multiple of 4")
/* clang-format on */

WIRE_LAYOUT_DECLARE(marker, MARKER_FIELDS);

/* Octets from `position` to the next Marker; 0 when one begins here. */
static inline unsigned marker_distance(uint32_t position)
{
    return (MARKER_SPACING - position % MARKER_SPACING) % MARKER_SPACING;
}

/* Markers in an FPDU that begins at `position` and has `content` octets besides them (length, ULPDU, pad, CRC). */
static inline size_t marker_count(uint32_t position, size_t content)
{
    size_t distance = marker_distance(position);

    return content <= distance ? 0 : 1 + (content - distance - 1) / MARKER_DATA;
}

/* FPDUPTR of the i-th Marker (from 0) of an FPDU that begins at `position`. */
static inline uint16_t marker_pointer(uint32_t position, size_t i)
{
    size_t distance = marker_distance(position);

    if (distance == 0)
        return (uint16_t)(i == 0 ? 0 : i * MARKER_SPACING - MARKER_OCTETS);
    return (uint16_t)(distance + i * MARKER_SPACING);
}

/* Writes octets into a stream and puts Markers where they belong. */
struct marker_writer {
    uint8_t *out;      /* next octet to write; the caller knows that there is room */
    uint32_t start;    /* position of the FPDU being written, to which its FPDUPTRs point */
    uint32_t position; /* of `out` */
    size_t marker;     /* Markers written so far in this FPDU */
    bool markers;      /* false: plain copying */
};

/* Appends `count` octets, or zeros where `octets` is NULL; a Marker due at the end is left to the next call. */
void marker_write(struct marker_writer *writer, const uint8_t *octets, size_t count);

#ifdef __cplusplus
}
#endif

#endif
