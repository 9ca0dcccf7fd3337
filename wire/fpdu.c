/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/fpdu.h"

#include <string.h>

#include "wire/crc32c.h"
#include "wire/marker.h"

WIRE_LAYOUT_DEFINE(fpdu, FPDU_FIELDS, "FPDU", "RFC 5044 4.1", FPDU_LENGTH_OCTETS);

enum { EMSS_MINIMUM = 128, EMSS_MAXIMUM = 64768 };

size_t fpdu_octets(size_t ulpdu_length, bool markers, uint32_t position)
{
    size_t content = fpdu_content(ulpdu_length);

    return markers ? content + MARKER_OCTETS * marker_count(position, content) : content;
}

size_t fpdu_mulpdu(size_t emss, bool markers)
{
    size_t overhead = FPDU_LENGTH_OCTETS + FPDU_CRC_OCTETS + emss % 4;

    if (markers)
        overhead += MARKER_OCTETS * ((emss + MARKER_SPACING - 1) / MARKER_SPACING);
    if (emss < overhead + EMSS_MINIMUM)
        return EMSS_MINIMUM;
    return emss - overhead > EMSS_MAXIMUM ? EMSS_MAXIMUM : emss - overhead;
}

/* Looks at the Markers that lie in the FPDU, and gathers what is between them into `scratch` from ULPDU_Length on. */
static const uint8_t *strip_markers(const struct fpdu_framing *framing, uint8_t *scratch, struct fpdu *fpdu)
{
    const uint8_t *at = fpdu->start;
    const uint8_t *end = fpdu->start + fpdu->octets;
    size_t distance = marker_distance(framing->position);
    uint8_t *out = scratch;

    for (size_t i = 0; at < end; i++, distance = MARKER_DATA) {
        size_t run = (size_t)(end - at) < distance ? (size_t)(end - at) : distance;

        memcpy(out, at, run);
        out += run;
        at += run;
        if (i == fpdu->markers || end - at < MARKER_OCTETS)
            break;
        if (fpdu->bad_marker == SIZE_MAX && marker_get_FPDUPTR(at) != marker_pointer(framing->position, i)) {
            fpdu->bad_marker = i;
            fpdu->bad_pointer = (uint16_t)marker_get_FPDUPTR(at);
        }
        fpdu->marker_reserved = fpdu->marker_reserved || marker_get_Reserved(at) != 0;
        at += MARKER_OCTETS;
    }
    return scratch;
}

wire_result fpdu_parse(const uint8_t **p, const uint8_t *end, const struct fpdu_framing *framing, uint8_t *scratch,
                       struct fpdu *fpdu)
{
    const uint8_t *start = *p;
    size_t count = (size_t)(end - start);
    size_t lead = framing->markers && marker_distance(framing->position) == 0 ? MARKER_OCTETS : 0;
    const uint8_t *content;

    memset(fpdu, 0, sizeof(*fpdu));
    fpdu->start = start;
    fpdu->bad_marker = SIZE_MAX;
    if (count < lead + FPDU_LENGTH_OCTETS)
        return WIRE_MORE;
    fpdu->ulpdu_length = (uint16_t)fpdu_get_ULPDU_Length(start + lead);
    fpdu->octets = fpdu_octets(fpdu->ulpdu_length, framing->markers, framing->position);
    if (count < fpdu->octets)
        return WIRE_MORE;

    *p = start + fpdu->octets;
    fpdu->crc = octets_get32_little(*p - FPDU_CRC_OCTETS);
    fpdu->crc_ok = true;
    if (framing->crc) {
        fpdu->crc_expected = crc32c(start, fpdu->octets - FPDU_CRC_OCTETS);
        fpdu->crc_ok = fpdu->crc == fpdu->crc_expected;
    }
    content = start;
    if (framing->markers) {
        fpdu->markers = marker_count(framing->position, fpdu_content(fpdu->ulpdu_length));
        if (fpdu->markers != 0)
            content = strip_markers(framing, scratch, fpdu);
    }
    fpdu->ulpdu = content + FPDU_LENGTH_OCTETS;
    fpdu->pad_zero = true;
    for (size_t i = 0; i < fpdu_pad(fpdu->ulpdu_length); i++)
        if (fpdu->ulpdu[fpdu->ulpdu_length + i] != 0)
            fpdu->pad_zero = false;
    if (!fpdu->crc_ok)
        return TERM_MPA_CRC;
    return fpdu->bad_marker == SIZE_MAX ? WIRE_OK : TERM_MPA_MARKER;
}

size_t fpdu_pack(const uint8_t *ulpdu, size_t ulpdu_length, const struct fpdu_framing *framing, uint8_t *out,
                 size_t room)
{
    struct marker_writer writer = {out, framing->position, framing->position, 0, framing->markers};
    uint8_t length[FPDU_LENGTH_OCTETS] = {0};
    uint8_t *crc;

    if (ulpdu_length > ULPDU_FIELD_MAX || fpdu_octets(ulpdu_length, framing->markers, framing->position) > room)
        return 0;
    fpdu_set_ULPDU_Length(length, ulpdu_length);
    marker_write(&writer, length, sizeof(length));
    marker_write(&writer, ulpdu, ulpdu_length);
    marker_write(&writer, NULL, fpdu_pad(ulpdu_length));
    marker_write(&writer, NULL, FPDU_CRC_OCTETS);
    crc = writer.out - FPDU_CRC_OCTETS;
    if (framing->crc)
        octets_put32_little(crc, crc32c(out, (size_t)(crc - out)));
    return (size_t)(writer.out - out);
}
