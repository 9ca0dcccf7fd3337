/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * FPDUs of a sender that breaks one rule of RFC 5044 4: each reading describes one such mistake. If octets are not a
 * valid FPDU, a decoder tries these readings. The reading that fits shows the mistake, and the rest of the stream can
 * be decoded with it.
 */
#ifndef WIRE_FPDU_READING_H
#define WIRE_FPDU_READING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/fpdu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where Markers stand (RFC 5044 4.3). */
enum fpdu_grid {
    FPDU_GRID_TEXT,
    FPDU_GRID_CRC_UNCOUNTED, /* CRC fields do not count in the 512 octets: four more after each FPDU */
    FPDU_GRID_SHIFTED,       /* the count begins elsewhere than at SeqStart */
    FPDU_GRID_OTHER,         /* Markers where none are agreed, or none where they are */
};

enum fpdu_pointer {
    FPDU_POINTER_TEXT,
    FPDU_POINTER_REVERSED, /* FPDUPTR, least significant octet first */
};

/* How many pad octets there are (RFC 5044 4.1). */
enum fpdu_pad_rule {
    FPDU_PAD_TEXT,
    FPDU_PAD_OF_ULPDU,     /* the ULPDU alone is brought to a multiple of 4, its length field forgotten */
    FPDU_PAD_OF_REMAINDER, /* as many as the ULPDU has more than a multiple of 4 */
    FPDU_PAD_ABSENT,
    FPDU_PAD_NEVER_ABSENT, /* 4 where none is due */
    FPDU_PAD_WORD_MORE,    /* 4 more */
    FPDU_PAD_RULES,
    FPDU_PAD_COUNT = FPDU_PAD_RULES, /* of this FPDU, by no known rule: `count` octets */
};

/* What the CRC field holds (RFC 5044 4.4). */
enum fpdu_crc_rule {
    FPDU_CRC_TEXT,
    FPDU_CRC_ABSENT,   /* there is no field */
    FPDU_CRC_REVERSED, /* most significant octet first */
    FPDU_CRC_INVERTED, /* the complement */
    FPDU_CRC_WITHOUT_PAD,
    FPDU_CRC_WITHOUT_LENGTH,
    FPDU_CRC_WITHOUT_LEADING_MARKER,  /* before ULPDU_Length */
    FPDU_CRC_WITHOUT_TRAILING_MARKER, /* between pad and CRC */
    FPDU_CRC_WITHOUT_MARKERS,
    FPDU_CRC_BEFORE_PAD,
    FPDU_CRC_ZERO, /* none was computed */
    FPDU_CRC_RULES
};

/* What ULPDU_Length counts (RFC 5044 4.1). */
enum fpdu_length_rule {
    FPDU_LENGTH_TEXT,
    FPDU_LENGTH_REVERSED, /* least significant octet first */
    FPDU_LENGTH_HEADER_LEFT_OUT,
    FPDU_LENGTH_MORE,         /* `more` octets more than the ULPDU has (less: negative) */
    FPDU_LENGTH_WITH_MARKERS, /* Markers inside count, too */
};

struct fpdu_reading {
    uint8_t grid, pointer, pad, crc, length; /* of the enumerations above; all zero: as the RFC says */
    uint8_t count;                           /* FPDU_PAD_COUNT */
    int16_t more;                            /* FPDU_LENGTH_MORE */
    uint16_t shift;                          /* FPDU_GRID_SHIFTED: octets from SeqStart to the first Marker, 4 to 508 */
};

/* As the text says. */
static inline bool fpdu_reading_is_text(const struct fpdu_reading *reading)
{
    return (reading->grid | reading->pointer | reading->pad | reading->crc | reading->length) == 0;
}

/* Pad octets by that reading after a ULPDU of so many octets. */
size_t fpdu_pad_by(const struct fpdu_reading *reading, size_t ulpdu_length);

/*
 * fpdu_parse() by another reading. `before`: FPDUs of this half connection before this one. fpdu->ulpdu_length is the
 * real length of the ULPDU; fpdu->crc_ok says whether the CRC is right by the RFC. WIRE_OK, WIRE_MORE; TERM_MPA_CRC:
 * the CRC does not fit the reading; TERM_MPA_MARKER: a Marker does not. `scratch` as for fpdu_parse(), also where no
 * Markers are agreed.
 */
wire_result fpdu_parse_reading(const uint8_t **p, const uint8_t *end, const struct fpdu_framing *framing,
                               const struct fpdu_reading *reading, uint64_t before, uint8_t *scratch,
                               struct fpdu *fpdu);

/* The framing of the FPDU by this reading: with or without Markers, and its position relative to them. */
struct fpdu_framing fpdu_framing_by(const struct fpdu_framing *framing, const struct fpdu_reading *reading,
                                    uint64_t before);

#ifdef __cplusplus
}
#endif

#endif
