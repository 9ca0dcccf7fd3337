/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/marker.h"

WIRE_LAYOUT_DEFINE(marker, MARKER_FIELDS, "MPA Marker", "RFC 5044 4.3", MARKER_OCTETS);

void marker_write(struct marker_writer *writer, const uint8_t *octets, size_t count)
{
    while (count > 0) {
        size_t run = count;

        if (writer->markers) {
            if (marker_distance(writer->position) == 0) {
                octets_put16(writer->out, 0);
                octets_put16(writer->out + 2, marker_pointer(writer->start, writer->marker++));
                writer->out += MARKER_OCTETS;
                writer->position += MARKER_OCTETS;
            }
            run = marker_distance(writer->position) < run ? marker_distance(writer->position) : run;
        }
        if (octets == NULL) {
            memset(writer->out, 0, run);
        } else {
            memcpy(writer->out, octets, run);
            octets += run;
        }
        writer->out += run;
        writer->position += (uint32_t)run;
        count -= run;
    }
}
