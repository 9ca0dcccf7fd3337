/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/fpdu_reading.h"

#include <string.h>

#include "wire/crc32c.h"
#include "wire/ddp.h"
#include "wire/marker.h"
#include "base/octets.h"

size_t fpdu_pad_by(const struct fpdu_reading *reading, size_t ulpdu_length)
{
    switch (reading->pad) {
    case FPDU_PAD_COUNT: return reading->count;
    case FPDU_PAD_OF_ULPDU: return (0 - ulpdu_length) & 3;
    case FPDU_PAD_OF_REMAINDER: return ulpdu_length & 3;
    case FPDU_PAD_ABSENT: return 0;
    case FPDU_PAD_NEVER_ABSENT: return fpdu_pad(ulpdu_length) == 0 ? 4 : fpdu_pad(ulpdu_length);
    case FPDU_PAD_WORD_MORE: return fpdu_pad(ulpdu_length) + 4;
    default: return fpdu_pad(ulpdu_length);
    }
}

struct fpdu_framing fpdu_framing_by(const struct fpdu_framing *framing, const struct fpdu_reading *reading,
                                    uint64_t before)
{
    struct fpdu_framing other = *framing;

    if (reading->grid == FPDU_GRID_OTHER)
        other.markers = !framing->markers;
    else if (reading->grid == FPDU_GRID_SHIFTED)
        other.position -= reading->shift;
    else if (reading->grid == FPDU_GRID_CRC_UNCOUNTED)
        other.position -= (uint32_t)(before * FPDU_CRC_OCTETS);
    return other;
}

/* What the ULPDU has, of which ULPDU_Length says `said`; `control` is its first octet. */
static size_t true_length(const struct fpdu_framing *framing, const struct fpdu_reading *reading, size_t said,
                          uint8_t control)
{
    size_t length = said;

    switch (reading->length) {
    case FPDU_LENGTH_REVERSED: return (said & 0xFF) << 8 | said >> 8;
    case FPDU_LENGTH_HEADER_LEFT_OUT: return said + (control & 0x80 ? DDP_TAGGED_OCTETS : DDP_UNTAGGED_OCTETS);
    case FPDU_LENGTH_MORE: return (int64_t)said > reading->more ? (size_t)((int64_t)said - reading->more) : 0;
    case FPDU_LENGTH_WITH_MARKERS:
        while (framing->markers && length > 0 &&
               length + MARKER_OCTETS * marker_count(framing->position, fpdu_content(length)) > said)
            length--;
        return length;
    default: return said;
    }
}

static uint32_t crc_without_markers(const uint8_t *octets, size_t end, const struct fpdu_framing *framing)
{
    uint32_t state = CRC32C_START;

    for (size_t at = 0; at < end;) {
        size_t distance = marker_distance(framing->position + (uint32_t)at);
        size_t run = end - at < distance ? end - at : distance;

        state = crc32c_update(state, octets + at, run);
        at += distance == 0 ? MARKER_OCTETS : run;
    }
    return crc32c_value(state);
}

/* The pad may not be divided by a Marker for what these rules compute. */
static bool is_plain(const struct fpdu_framing *framing, size_t pad)
{
    return !framing->markers && pad != 0;
}

/*
 * True when the octets of the FPDU have the CRC that the rule gives. `lead`: octets of a Marker in front. An FPDU
 * without what a rule leaves out has the CRC of the text.
 */
static bool crc_fits(const struct fpdu *fpdu, enum fpdu_crc_rule rule, size_t pad, size_t lead,
                     const struct fpdu_framing *framing)
{
    const uint8_t *start = fpdu->start;
    size_t end = fpdu->octets - FPDU_CRC_OCTETS;
    bool trailing = framing->markers && end > lead + MARKER_OCTETS &&
                    marker_distance(framing->position + (uint32_t)end - MARKER_OCTETS) == 0;

    if (rule == FPDU_CRC_ABSENT)
        return true;
    if (rule == FPDU_CRC_ZERO)
        return fpdu->crc == 0;
    if (rule == FPDU_CRC_REVERSED)
        return __builtin_bswap32(fpdu->crc) == crc32c(start, end);
    if (rule == FPDU_CRC_INVERTED)
        return ~fpdu->crc == crc32c(start, end);
    if (rule == FPDU_CRC_WITHOUT_LENGTH)
        return fpdu->crc == crc32c(start + lead + FPDU_LENGTH_OCTETS, end - lead - FPDU_LENGTH_OCTETS);
    if (rule == FPDU_CRC_WITHOUT_PAD && is_plain(framing, pad))
        return fpdu->crc == crc32c(start, end - pad);
    if (rule == FPDU_CRC_WITHOUT_MARKERS && fpdu->markers != 0)
        return fpdu->crc == crc_without_markers(start, end, framing);
    if (rule == FPDU_CRC_WITHOUT_LEADING_MARKER && lead != 0)
        return fpdu->crc == crc32c(start + lead, end - lead);
    if (rule == FPDU_CRC_WITHOUT_TRAILING_MARKER && trailing)
        return fpdu->crc == crc32c(start, end - MARKER_OCTETS);
    if (rule == FPDU_CRC_BEFORE_PAD && is_plain(framing, pad))
        return octets_get32_little(start + end - pad) == crc32c(start, end - pad);
    return fpdu->crc == crc32c(start, end);
}

/* As strip_markers() of fpdu.c, with FPDUPTR by the reading. */
static void strip_markers(const struct fpdu_framing *framing, const struct fpdu_reading *reading, uint8_t *out,
                          struct fpdu *fpdu)
{
    const uint8_t *at = fpdu->start, *end = fpdu->start + fpdu->octets;
    size_t distance = marker_distance(framing->position);

    for (size_t i = 0; at < end; i++, distance = MARKER_DATA) {
        size_t run = (size_t)(end - at) < distance ? (size_t)(end - at) : distance;
        uint16_t due = marker_pointer(framing->position, i);

        memcpy(out, at, run);
        out += run;
        at += run;
        if (i == fpdu->markers || end - at < MARKER_OCTETS)
            break;
        if (reading->pointer == FPDU_POINTER_REVERSED)
            due = (uint16_t)(due << 8 | due >> 8);
        if (fpdu->bad_marker == SIZE_MAX && marker_get_FPDUPTR(at) != due) {
            fpdu->bad_marker = i;
            fpdu->bad_pointer = (uint16_t)marker_get_FPDUPTR(at);
        }
        fpdu->marker_reserved = fpdu->marker_reserved || marker_get_Reserved(at) != 0;
        at += MARKER_OCTETS;
    }
}

static bool all_zero(const uint8_t *octets, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (octets[i] != 0)
            return false;
    return true;
}

wire_result fpdu_parse_reading(const uint8_t **p, const uint8_t *end, const struct fpdu_framing *framing,
                               const struct fpdu_reading *reading, uint64_t before, uint8_t *scratch, struct fpdu *fpdu)
{
    struct fpdu_framing own = fpdu_framing_by(framing, reading, before);
    size_t lead = own.markers && marker_distance(own.position) == 0 ? MARKER_OCTETS : 0;
    size_t crc_octets = reading->crc == FPDU_CRC_ABSENT ? 0 : FPDU_CRC_OCTETS;
    size_t count = (size_t)(end - *p), control, length, pad, content, pad_at;

    memset(fpdu, 0, sizeof(*fpdu));
    fpdu->start = *p;
    fpdu->bad_marker = SIZE_MAX;
    if (count < lead + FPDU_LENGTH_OCTETS + 1)
        return WIRE_MORE;
    if (own.markers && lead == 0 && marker_distance(own.position) < FPDU_LENGTH_OCTETS)
        return TERM_MPA_MARKER; /* FPDUs that do not begin at multiples of 4: a Marker divides ULPDU_Length */
    control = lead + FPDU_LENGTH_OCTETS;
    if (own.markers && lead == 0 && marker_distance(own.position) == FPDU_LENGTH_OCTETS)
        control += MARKER_OCTETS;
    if (count <= control)
        return WIRE_MORE;
    length = true_length(&own, reading, (size_t)fpdu_get_ULPDU_Length(*p + lead), (*p)[control]);
    if (length > ULPDU_FIELD_MAX)
        return TERM_MPA_CRC;
    pad = fpdu_pad_by(reading, length);
    content = FPDU_LENGTH_OCTETS + length + pad + crc_octets;
    fpdu->ulpdu_length = (uint16_t)length;
    fpdu->markers = own.markers ? marker_count(own.position, content) : 0;
    fpdu->octets = content + MARKER_OCTETS * fpdu->markers;
    if (content > FPDU_SCRATCH_OCTETS)
        return TERM_MPA_CRC;
    if (count < fpdu->octets)
        return WIRE_MORE;

    *p += fpdu->octets;
    fpdu->crc = crc_octets != 0 ? octets_get32_little(*p - FPDU_CRC_OCTETS) : 0;
    fpdu->crc_ok = !framing->crc;
    if (framing->crc && crc_octets != 0) {
        fpdu->crc_expected = crc32c(fpdu->start, fpdu->octets - FPDU_CRC_OCTETS);
        fpdu->crc_ok = fpdu->crc == fpdu->crc_expected;
    }
    fpdu->ulpdu = fpdu->start + FPDU_LENGTH_OCTETS;
    if (fpdu->markers != 0) {
        strip_markers(&own, reading, scratch, fpdu);
        fpdu->ulpdu = scratch + FPDU_LENGTH_OCTETS;
    }
    pad_at = length + (reading->crc == FPDU_CRC_BEFORE_PAD ? FPDU_CRC_OCTETS : 0);
    fpdu->pad_zero = all_zero(fpdu->ulpdu + pad_at, pad);
    if ((framing->crc || reading->crc != FPDU_CRC_TEXT) &&
        !crc_fits(fpdu, (enum fpdu_crc_rule)reading->crc, pad, lead, &own))
        return TERM_MPA_CRC;
    return fpdu->bad_marker == SIZE_MAX ? WIRE_OK : TERM_MPA_MARKER;
}
