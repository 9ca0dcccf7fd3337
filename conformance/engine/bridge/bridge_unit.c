/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/bridge/bridge_unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/octets.h"
#include "conformance/flow/sctp/flow_sctp.h"
#include "generator/packet/frame.h"
#include "wire/ddp.h"
#include "wire/mpa.h"
#include "wire/rdmap.h"

void bridge_unit_begin(struct bridge_unit *unit, const struct flow_event *event, const uint8_t *raw, size_t octets)
{
    size_t header;

    *unit = (struct bridge_unit){.event = event, .raw = raw, .raw_octets = octets, .copies = 1};
    if (raw == NULL || !bridge_unit_is_chunk(unit))
        return;
    header = raw[0] == SCTP_IDATA ? SCTP_IDATA_OCTETS : SCTP_DATA_OCTETS;
    if (event->kind != FLOW_SESSION)
        header += DDP_SCTP_SSN_OCTETS;
    if (octets < header)
        return;
    unit->head_octets = header;
    memcpy(unit->head, raw, header);
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
    if (event->kind == FLOW_SESSION) {
        *octets = event->session->have;
        return event->session->have < event->session->count ? NULL : event->session->octets;
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
    unit->replaced = true;
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
    if (event->kind == FLOW_SESSION) {
        headers[count++] = (struct header){&ddp_sctp_control_layout, 0};
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

static int check_width(const struct wire_field *field, uint64_t value, struct iwarp_sentence *error)
{
    if (field->bits < 64 && value >> field->bits != 0)
        return iwarp_sentence_set(error, "%s has %d bits, the value does not fit", field->id, (int)field->bits);
    return 0;
}

/* Fields of the DATA chunk that are not the bridge's own, and the DDP-SSN before a segment. 1: it is none of them. */
static int edit_head(struct bridge_unit *unit, const char *name, uint64_t value, struct iwarp_sentence *error)
{
    static const char *const own[] = {"Type", "Length", "TSN", "SSN"};
    const struct wire_field *field = wire_layout_field(&ddp_sctp_segment_layout, name);
    size_t at = unit->head_octets - DDP_SCTP_SSN_OCTETS;

    if (unit->head_octets == 0 || unit->head[0] != SCTP_DATA)
        return 1;
    if (field == NULL || unit->event->kind == FLOW_SESSION) {
        for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
            if (strcmp(name, own[i]) == 0)
                return 1;
        field = wire_layout_field(&sctp_data_layout, name);
        at = 0;
    }
    if (field == NULL)
        return 1;
    if (check_width(field, value, error) != 0)
        return -1;
    wire_field_set(field, unit->head + at, value);
    unit->head_edited = true;
    return 0;
}

int bridge_unit_edit(struct bridge_unit *unit, const char *field, uint64_t value, struct iwarp_sentence *error)
{
    struct header headers[3];
    size_t count = headers_of(unit->event, headers), octets;
    const uint8_t *contents = bridge_unit_contents(unit, &octets);
    int rc;

    if (contents == NULL)
        return iwarp_sentence_set(error, "not all of it was seen");
    for (size_t i = 0; i < count; i++) {
        const struct wire_field *found = wire_layout_field(headers[i].layout, field);

        if (found == NULL || found->kind == WIRE_OCTETS || headers[i].at + headers[i].layout->octets > octets)
            continue;
        if (check_width(found, value, error) != 0)
            return -1;
        if (unit->ulpdu == NULL && set_ulpdu(unit, contents, octets, error) != 0)
            return -1;
        wire_field_set(found, unit->ulpdu + headers[i].at, value);
        return 0;
    }
    rc = edit_head(unit, field, value, error);
    return rc <= 0 ? rc : iwarp_sentence_set(error, "it has no field %.40s", field);
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

/* The chunk with these contents, and its pad; 0: it is too long. */
static size_t write_chunk(const struct bridge_unit *unit, const uint8_t *contents, size_t count, uint8_t *out,
                          size_t room)
{
    size_t octets = unit->head_octets + count, whole = (octets + 3) & ~(size_t)3;

    if (octets > UINT16_MAX || (unit->most != 0 && whole > unit->most) || whole > room)
        return 0;
    memcpy(out, unit->head, unit->head_octets);
    octets_put16(out + 2, (unsigned)octets);
    if (count != 0)
        memcpy(out + unit->head_octets, contents, count);
    memset(out + octets, 0, whole - octets);
    return whole;
}

static int insert_chunk(struct bridge_unit *unit, const uint8_t *ulpdu, size_t octets, struct iwarp_sentence *error)
{
    size_t room = unit->head_octets + octets + 3, wrote;
    uint8_t *more = realloc(unit->before, unit->before_octets + room);

    if (more == NULL)
        return iwarp_sentence_set(error, "out of memory");
    unit->before = more;
    wrote = write_chunk(unit, ulpdu, octets, more + unit->before_octets, room);
    if (wrote == 0)
        return iwarp_sentence_set(error, "what is to go before it is longer than a packet");
    unit->before_octets += wrote;
    unit->before_count++;
    return 0;
}

int bridge_unit_insert(struct bridge_unit *unit, const uint8_t *ulpdu, size_t octets, struct iwarp_sentence *error)
{
    const struct flow_fpdu *framed = unit->event->ulpdu != NULL ? unit->event->ulpdu->mpa : NULL;
    struct frame_spec spec;
    uint8_t *more;
    size_t room;

    if (octets > ULPDU_FIELD_MAX)
        return iwarp_sentence_set(error, "a ULPDU of %zu octets: at most %d were expected", octets, ULPDU_FIELD_MAX);
    if (unit->head_octets != 0)
        return insert_chunk(unit, ulpdu, octets, error);
    if (framed == NULL)
        return iwarp_sentence_set(error, "only before an FPDU");
    spec = spec_of(framed, ulpdu, octets);
    room = frame_room(&spec);
    more = realloc(unit->before, unit->before_octets + room);
    if (more == NULL)
        return iwarp_sentence_set(error, "out of memory");
    unit->before = more;
    unit->before_octets += frame_build(&spec, more + unit->before_octets, room);
    unit->before_count++;
    return 0;
}

bool bridge_unit_changed(const struct bridge_unit *unit)
{
    return unit->ulpdu != NULL || unit->head_edited || unit->copies != 1 || unit->flip_count != 0 ||
           unit->before_octets != 0;
}

static size_t write_one(const struct bridge_unit *unit, uint8_t *out, size_t room)
{
    const struct flow_fpdu *framed = unit->event->ulpdu != NULL ? unit->event->ulpdu->mpa : NULL;
    struct frame_spec spec;

    if (unit->head_octets != 0) {
        const uint8_t *contents = unit->ulpdu != NULL ? unit->ulpdu : unit->raw + unit->head_octets;

        return write_chunk(unit, contents,
                           unit->ulpdu != NULL ? unit->ulpdu_octets : unit->raw_octets - unit->head_octets, out, room);
    }
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
    bool markers = event->ulpdu != NULL && event->ulpdu->mpa != NULL && event->ulpdu->mpa->framing.markers;
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
            if (unit->head_octets == 0)
                out[used + unit->flips[k].at] ^= unit->flips[k].mask;
        }
        used += count;
    }
    if (markers && used != unit->raw_octets)
        return iwarp_sentence_set(error, "Markers are in use, and would no longer stand where RFC 5044 4.3 has them");
    *octets = used;
    return 0;
}
