/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Framed Protocol Data Unit (RFC 5044 4).
 *
 *     +-------------------------------+
 *     |         ULPDU_Length          |  octets of the ULPDU: no pad, no Markers, no CRC
 *     +-------------------------------+-------------------------------+
 *     /                    ULPDU: one DDP Segment                     /
 *     +                                               +---------------+
 *     |                                               |  pad (0 to 3) |
 *     +-----------------------------------------------+---------------+
 *     |          CRC: CRC32C, least significant octet first           |
 *     +---------------------------------------------------------------+
 *
 * The CRC covers every octet before it, Markers included. The field is always there, also when CRCs are not in use.
 */
#ifndef WIRE_FPDU_H
#define WIRE_FPDU_H

#include "wire/field.h"
#include "wire/terminate.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    FPDU_LENGTH_OCTETS = 2,
    FPDU_CRC_OCTETS = 4,
    FPDU_PAD_MAX = 3,
    ULPDU_LENGTH_MAX = 0xFD00,   /* largest MULPDU (RFC 5044 4.5): 64768 */
    ULPDU_FIELD_MAX = 0xFFFF,    /* the greatest value of the field */
    FPDU_OCTETS_MAX = 66064,     /* an FPDU of ULPDU_FIELD_MAX with all its Markers */
    FPDU_SCRATCH_OCTETS = 65544, /* the same without them */
};

/* clang-format off */
#define FPDU_FIELDS(F, O, layout) \
    F(layout, ULPDU_Length, "ULPDU_Length", 0, 16, WIRE_NUMBER, NULL, "RFC 5044 4.1", "octets of the ULPDU that follows")
/* clang-format on */

WIRE_LAYOUT_DECLARE(fpdu, FPDU_FIELDS);

/* Pad octets after a ULPDU: they bring length field, ULPDU and pad to a multiple of 4. */
static inline size_t fpdu_pad(size_t ulpdu_length)
{
    return (0 - (FPDU_LENGTH_OCTETS + ulpdu_length)) & 3;
}

/* Octets of an FPDU without its Markers. */
static inline size_t fpdu_content(size_t ulpdu_length)
{
    return FPDU_LENGTH_OCTETS + ulpdu_length + fpdu_pad(ulpdu_length) + FPDU_CRC_OCTETS;
}

/* Octets that an FPDU takes in the stream when it begins at `position` (see wire/marker.h). */
size_t fpdu_octets(size_t ulpdu_length, bool markers, uint32_t position);

/* MULPDU from the effective MSS (RFC 5044 4.5): the longest ULPDU whose FPDU fits one segment. */
size_t fpdu_mulpdu(size_t emss, bool markers);

/* How one half connection is framed, as the start-up frames agreed. */
struct fpdu_framing {
    bool markers;
    bool crc;          /* false: the field is present, sent as zero and not checked */
    uint32_t position; /* of the FPDU's first octet, from SeqStart */
};

struct fpdu {
    uint16_t ulpdu_length;
    const uint8_t *ulpdu;  /* in the stream itself, or in `scratch` when Markers lie inside */
    const uint8_t *start;  /* first octet, a leading Marker included */
    size_t octets;         /* in the stream, Markers included; set as soon as ULPDU_Length is there, else 0 */
    size_t markers;        /* how many */
    bool pad_zero;         /* all pad octets are zero */
    uint32_t crc;          /* as sent */
    uint32_t crc_expected; /* computed when framing.crc */
    bool crc_ok;           /* true when framing.crc is false */
    size_t bad_marker;     /* index of the first Marker with a wrong FPDUPTR; SIZE_MAX: none */
    uint16_t bad_pointer;  /* its FPDUPTR */
    bool marker_reserved;  /* some Marker has a reserved field that is not zero */
};

/*
 * Parses the FPDU at *p. `scratch` holds FPDU_SCRATCH_OCTETS and is used only for an FPDU with Markers inside (NULL is
 * fine when framing->markers is false). WIRE_OK, WIRE_MORE, TERM_MPA_CRC, or TERM_MPA_MARKER: CRC good, but a Marker
 * and ULPDU_Length disagree (RFC 5044 8). On both errors `fpdu` is filled in and *p advances, for tools that continue
 * to decode.
 */
wire_result fpdu_parse(const uint8_t **p, const uint8_t *end, const struct fpdu_framing *framing, uint8_t *scratch,
                       struct fpdu *fpdu);

/* Packs a whole FPDU. Returns its octets, or 0 when `room` is short or ulpdu_length above ULPDU_FIELD_MAX. */
size_t fpdu_pack(const uint8_t *ulpdu, size_t ulpdu_length, const struct fpdu_framing *framing, uint8_t *out,
                 size_t room);

#ifdef __cplusplus
}
#endif

#endif
