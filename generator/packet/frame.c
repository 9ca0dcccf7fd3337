/* SPDX-License-Identifier: BSD-2-Clause */
#include "generator/packet/frame.h"

#include "wire/crc32c.h"
#include "wire/marker.h"

static size_t content_of(const struct frame_spec *spec)
{
    size_t pad = spec->set_pad ? spec->pad_octets : fpdu_pad(spec->ulpdu_octets);

    return FPDU_LENGTH_OCTETS + spec->ulpdu_octets + pad + (spec->omit_crc ? 0 : FPDU_CRC_OCTETS);
}

size_t frame_room(const struct frame_spec *spec)
{
    size_t content = content_of(spec);

    return spec->framing.markers ? content + MARKER_OCTETS * marker_count(spec->framing.position, content) : content;
}

static void touch_marker(const struct frame_spec *spec, uint8_t *out, size_t octets)
{
    size_t at = marker_distance(spec->framing.position) + spec->marker_index * MARKER_SPACING;

    if (!spec->framing.markers || at + MARKER_OCTETS > octets)
        return;
    marker_set_FPDUPTR(out + at, marker_get_FPDUPTR(out + at) ^ spec->marker_pointer_flip);
    marker_set_Reserved(out + at, spec->marker_reserved);
}

static void write_crc(const struct frame_spec *spec, const uint8_t *frame, uint8_t *field)
{
    uint32_t crc = spec->framing.crc ? crc32c(frame, (size_t)(field - frame)) : 0;

    if (spec->set_crc)
        crc = spec->crc;
    crc ^= spec->crc_flip;
    if (spec->crc_swapped)
        octets_put32(field, crc);
    else
        octets_put32_little(field, crc);
}

size_t frame_build(const struct frame_spec *spec, uint8_t *out, size_t room)
{
    struct marker_writer writer = {out, spec->framing.position, spec->framing.position, 0, spec->framing.markers};
    uint8_t length[FPDU_LENGTH_OCTETS] = {0};

    if (frame_room(spec) > room)
        return 0;
    fpdu_set_ULPDU_Length(length, spec->set_length ? spec->length : spec->ulpdu_octets);
    marker_write(&writer, length, sizeof(length));
    marker_write(&writer, spec->ulpdu, spec->ulpdu_octets);
    if (spec->set_pad)
        marker_write(&writer, spec->pad, spec->pad_octets);
    else
        marker_write(&writer, NULL, fpdu_pad(spec->ulpdu_octets));
    if (!spec->omit_crc)
        marker_write(&writer, NULL, FPDU_CRC_OCTETS);
    if (spec->touch_marker)
        touch_marker(spec, out, (size_t)(writer.out - out));
    if (!spec->omit_crc)
        write_crc(spec, out, writer.out - FPDU_CRC_OCTETS);
    return (size_t)(writer.out - out);
}
