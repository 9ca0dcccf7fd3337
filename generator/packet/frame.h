/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * FPDUs out of fields: valid by default, any field overridable. Headers inside the ULPDU are made from wire/'s tables
 * (wire_field_set()); this is the frame around them.
 */
#ifndef GENERATOR_FRAME_H
#define GENERATOR_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/fpdu.h"

/* All zero but `ulpdu` and `framing`: an FPDU by the book. */
struct frame_spec {
    const uint8_t *ulpdu;
    size_t ulpdu_octets;
    struct fpdu_framing framing;

    bool set_length; /* ULPDU_Length is `length`, not the length of the ULPDU */
    uint16_t length;
    bool set_pad; /* these octets (or none) replace the pad */
    const uint8_t *pad;
    size_t pad_octets;
    bool set_crc; /* the CRC field holds `crc` */
    uint32_t crc;
    uint32_t crc_flip; /* bits to invert in the CRC field, as the last step */
    bool crc_swapped;  /* the CRC field is written most significant octet first */
    bool omit_crc;     /* no CRC field at all */
    bool touch_marker; /* the Marker with this index: */
    size_t marker_index;
    uint16_t marker_pointer_flip; /* bits to flip in its FPDUPTR */
    uint16_t marker_reserved;     /* its RESERVED field */
};

/* Room that the frame needs at most. */
size_t frame_room(const struct frame_spec *spec);

/* Builds the frame; unless overridden, the CRC covers the octets that are sent. Returns its octets, 0: no room. */
size_t frame_build(const struct frame_spec *spec, uint8_t *out, size_t room);

#endif
