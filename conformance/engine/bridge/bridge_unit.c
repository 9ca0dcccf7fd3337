/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/bridge/bridge_unit.h"

#include <stdlib.h>
#include <string.h>

#include "generator/packet/frame.h"
#include "wire/ddp.h"
#include "wire/mpa.h"
#include "wire/rdmap.h"

void bridge_unit_begin(struct bridge_unit *unit, const struct flow_event *event, const uint8_t *raw, size_t octets)
{
    *unit = (struct bridge_unit){.event = event, .raw = raw, .raw_octets = octets, .copies = 1};
}

void bridge_unit_end(struct bridge_unit *unit)
{
    free(unit->ulpdu);
    free(unit->before);
    *unit = (struct bridge_unit){0};
}

const uint8_t *bridge_unit_contents(const struct bridge_unit *unit, size_t *octets)
{
    const struct flow_event *event = unit->event;

    if (unit->ulpdu != NULL) {
        *octets = unit->ulpdu_octets;
        return unit->ulpdu;
    }
    if (event->kind == FLOW_MPA_START) {
        *octets = unit->raw_octets;
        return unit->raw;
    }
    *octets = event->ulpdu->have;
    return event->ulpdu->cut ? NULL : event->ulpdu->octets;
}

static int set_ulpdu(struct bridge_unit *unit, const uint8_t *octets, size_t count, struct iwarp_sentence *error)
{
    uint8_t *copy;

    if (count > ULPDU_FIELD_MAX)
        return iwarp_sentence_set(error, "a ULPDU of %zu octets: at most %d were expected", count, ULPDU_FIELD_MAX);
    copy = malloc(count + 1);
    if (copy == NULL)
        return iwarp_sentence_set(error, "out of memory");
    if (count != 0)
        memcpy(copy, octets, count);
    free(unit->ulpdu);
    unit->ulpdu = copy;
    unit->ulpdu_octets = count;
    return 0;
}

int bridge_unit_replace(struct bridge_unit *unit, const uint8_t *ulpdu, size_t octets, struct iwarp_sentence *error)
{
    return set_ulpdu(unit, ulpdu, octets, error);
}

/* ---- fields ------------------------------------------------------------------------------------------------------ */

struct header {
    const struct wire_layout *layout;
    size_t at;
};

/* The headers of the event, where they stand in its ULPDU. */
static size_t headers_of(const struct flow_event *event, struct header headers[3])
{
    const struct wire_layout *body;
    size_t count = 0;
    bool tagged;

    if (event->kind == FLOW_MPA_START) {
        headers[count++] = (struct header){&mpa_start_layout, 0};
        if (event->start->result == WIRE_OK && iwarp_mpa_start_has_word(&event->start->frame))
            headers[count++] = (struct header){&mpa_enhanced_layout, mpa_start_layout.octets};
        return count;
    }
    if (event->kind == FLOW_ULPDU)
        return 0;
    tagged = event->ddp->segment.tagged;
    headers[count++] = (struct header){tagged ? &ddp_tagged_layout : &ddp_untagged_layout, 0};
    if (event->kind != FLOW_RDMAP)
        return count;
    headers[count++] = (struct header){tagged ? &rdmap_control_layout : &rdmap_untagged_layout, 1};
    body = flow_header_layout(event->rdmap->header);
    if (body != NULL)
        headers[count++] = (struct header){body, (size_t)(event->ddp->segment.payload - event->ulpdu->octets)};
    return count;
}

int bridge_unit_edit(struct bridge_unit *unit, const char *field, uint64_t value, struct iwarp_sentence *error)
{
    struct header headers[3];
    size_t count = headers_of(unit->event, headers), octets;
    const uint8_t *contents = bridge_unit_contents(unit, &octets);

    if (contents == NULL)
        return iwarp_sentence_set(error, "not all of it was seen");
    for (size_t i = 0; i < count; i++) {
        const struct wire_field *found = wire_layout_field(headers[i].layout, field);

        if (found == NULL || found->kind == WIRE_OCTETS || headers[i].at + headers[i].layout->octets > octets)
            continue;
        if (found->bits < 64 && value >> found->bits != 0)
            return iwarp_sentence_set(error, "%s has %d bits, the value does not fit", field, (int)found->bits);
        if (unit->ulpdu == NULL && set_ulpdu(unit, contents, octets, error) != 0)
            return -1;
        wire_field_set(found, unit->ulpdu + headers[i].at, value);
        return 0;
    }
    return iwarp_sentence_set(error, "it has no field %.40s", field);
}

int bridge_unit_flip(struct bridge_unit *unit, size_t at, uint8_t mask, struct iwarp_sentence *error)
{
    if (unit->flip_count == BRIDGE_FLIPS_MOST)
        return iwarp_sentence_set(error, "more than %d octets to corrupt", BRIDGE_FLIPS_MOST);
    unit->flips[unit->flip_count++] = (struct bridge_flip){at, mask};
    return 0;
}

/* ---- octets ------------------------------------------------------------------------------------------------------ */

static struct frame_spec spec_of(const struct flow_fpdu *framed, const uint8_t *ulpdu, size_t octets)
{
    return (struct frame_spec){.ulpdu = ulpdu, .ulpdu_octets = octets, .framing = framed->framing};
}

int bridge_unit_insert(struct bridge_unit *unit, const uint8_t *ulpdu, size_t octets, struct iwarp_sentence *error)
{
    const struct flow_fpdu *framed = unit->event->kind == FLOW_MPA_START ? NULL : unit->event->ulpdu->mpa;
    struct frame_spec spec;
    uint8_t *more;
    size_t room;

    if (framed == NULL)
        return iwarp_sentence_set(error, "only before an FPDU");
    if (octets > ULPDU_FIELD_MAX)
        return iwarp_sentence_set(error, "a ULPDU of %zu octets: at most %d were expected", octets, ULPDU_FIELD_MAX);
    spec = spec_of(framed, ulpdu, octets);
    room = frame_room(&spec);
    more = realloc(unit->before, unit->before_octets + room);
    if (more == NULL)
        return iwarp_sentence_set(error, "out of memory");
    unit->before = more;
    unit->before_octets += frame_build(&spec, more + unit->before_octets, room);
    return 0;
}

bool bridge_unit_changed(const struct bridge_unit *unit)
{
    return unit->ulpdu != NULL || unit->copies != 1 || unit->flip_count != 0 || unit->before_octets != 0;
}

static size_t write_one(const struct bridge_unit *unit, uint8_t *out, size_t room)
{
    const struct flow_fpdu *framed = unit->event->kind == FLOW_MPA_START ? NULL : unit->event->ulpdu->mpa;
    struct frame_spec spec;

    if (unit->ulpdu == NULL || framed == NULL) {
        const uint8_t *octets = unit->ulpdu != NULL ? unit->ulpdu : unit->raw;
        size_t count = unit->ulpdu != NULL ? unit->ulpdu_octets : unit->raw_octets;

        if (count > room)
            return 0;
        memcpy(out, octets, count);
        return count;
    }
    spec = spec_of(framed, unit->ulpdu, unit->ulpdu_octets);
    spec.set_crc = unit->keeps_crc;
    spec.crc = framed->fpdu.crc;
    return frame_build(&spec, out, room);
}

int bridge_unit_write(const struct bridge_unit *unit, uint8_t *out, size_t room, size_t *octets,
                      struct iwarp_sentence *error)
{
    const struct flow_event *event = unit->event;
    bool markers = event->kind != FLOW_MPA_START && event->ulpdu->mpa != NULL && event->ulpdu->mpa->framing.markers;
    size_t used = unit->before_octets;

    if (used > room)
        return iwarp_sentence_set(error, "what is to go before it is too long");
    if (used != 0)
        memcpy(out, unit->before, used);
    for (unsigned i = 0; i < unit->copies; i++) {
        size_t count = write_one(unit, out + used, room - used);

        if (count == 0)
            return iwarp_sentence_set(error, "what it would become is too long");
        for (size_t k = 0; k < unit->flip_count; k++) {
            if (unit->flips[k].at >= count)
                return iwarp_sentence_set(error, "octet %zu of %zu cannot be corrupted", unit->flips[k].at, count);
            out[used + unit->flips[k].at] ^= unit->flips[k].mask;
        }
        used += count;
    }
    if (markers && used != unit->raw_octets)
        return iwarp_sentence_set(error, "Markers are in use, and would no longer stand where RFC 5044 4.3 has them");
    *octets = used;
    return 0;
}
