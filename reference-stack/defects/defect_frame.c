/* SPDX-License-Identifier: BSD-2-Clause */
/* Defects in the layout of FPDUs. Not a fast path, and plain for that. */
#include <string.h>

#include "reference-stack/defects/defect_occasion.h"
#include "wire/crc32c.h"
#include "wire/fpdu.h"
#include "wire/marker.h"

/* Writes an FPDU octet by octet, with Markers where they are due and a CRC over the chosen octets. */
struct builder {
    const struct occasion *occasion;
    const struct fpdu_framing *framing;
    uint8_t *out;
    size_t count, room;
    size_t length_at; /* where ULPDU_Length stands */
    size_t markers;
    uint32_t crc;
    bool crc_next; /* the CRC field comes next */
    bool overflow;
};

static bool has(const struct builder *builder, enum defect_behaviour behaviour)
{
    return defect_behaves(builder->occasion->set, behaviour);
}

static void append_octet(struct builder *builder, uint8_t octet, bool covered)
{
    if (builder->count == builder->room) {
        builder->overflow = true;
        return;
    }
    builder->out[builder->count++] = octet;
    if (covered)
        builder->crc = crc32c_update(builder->crc, &octet, 1);
}

/* Octets from the place where a Marker is due to what comes next. */
static uint32_t behind_marker(const struct builder *builder)
{
    uint32_t position = builder->framing->position + (uint32_t)builder->count;

    if (has(builder, DEFECT_MARKER_SHIFTED))
        position -= MARKER_OCTETS;
    if (has(builder, DEFECT_MARKER_DRIFTS))
        position -= builder->occasion->state->crc_octets;
    return position % MARKER_SPACING;
}

static bool marker_due(const struct builder *builder)
{
    uint32_t position = builder->framing->position + (uint32_t)builder->count;

    if (!builder->framing->markers)
        return false;
    if (has(builder, DEFECT_MARKER_LATE) && position == 0)
        return false;
    if (has(builder, DEFECT_MARKER_LOST_AT_WRAP) && position > DEFECT_WRAP_AFTER)
        return false;
    if (has(builder, DEFECT_MARKER_BEHIND_LENGTH) && builder->count == 0)
        return false;
    return behind_marker(builder) == 0;
}

static void write_marker(struct builder *builder)
{
    uint8_t marker[MARKER_OCTETS] = {0};
    bool leading = builder->count == 0;
    bool covered = !has(builder, DEFECT_CRC_WITHOUT_MARKERS) &&
                   !(leading && has(builder, DEFECT_CRC_WITHOUT_FIRST_MARKER)) &&
                   !(builder->crc_next && has(builder, DEFECT_CRC_WITHOUT_LAST_MARKER));
    size_t pointer = leading ? 0 : builder->count - builder->length_at;

    if (leading && builder->framing->position != 0 && has(builder, DEFECT_MARKER_BETWEEN_BACK))
        pointer = MARKER_DATA;

    if (has(builder, DEFECT_MARKER_PREVIOUS) && builder->markers != 0 && !leading)
        pointer = MARKER_SPACING;
    if (has(builder, DEFECT_POINTER_TO_FIRST) && builder->occasion->state->interval_open && !leading)
        pointer = builder->framing->position + (uint32_t)builder->count - builder->occasion->state->interval_start;
    builder->occasion->state->interval_open = false;
    marker_set_FPDUPTR(marker, pointer);
    occasion_change_all(builder->occasion, TARGET_MARKER, marker);
    for (size_t i = 0; i < sizeof(marker); i++)
        append_octet(builder, marker[i], covered);
    builder->markers++;
}

static void write_word_aware(struct builder *builder, uint8_t octet, bool covered)
{
    if (marker_due(builder))
        write_marker(builder);
    append_octet(builder, octet, covered);
}

/* The ULPDU, up to each place where a Marker may be due in one run. */
static void write_ulpdu(struct builder *builder, const uint8_t *ulpdu, size_t count)
{
    for (size_t at = 0, run; at < count; at += run) {
        if (marker_due(builder))
            write_marker(builder);
        run = MARKER_SPACING - behind_marker(builder);
        run = run < count - at ? run : count - at;
        if (run > builder->room - builder->count) {
            builder->overflow = true;
            return;
        }
        memcpy(builder->out + builder->count, ulpdu + at, run);
        builder->crc = crc32c_update(builder->crc, ulpdu + at, run);
        builder->count += run;
    }
}

static void write_crc(struct builder *builder)
{
    struct defect_state *state = builder->occasion->state;
    uint32_t own = builder->framing->crc                ? crc32c_value(builder->crc)
                   : has(builder, DEFECT_CRC_OFF_OTHER) ? UINT32_C(0x5AA55AA5)
                                                        : 0;
    uint32_t crc = has(builder, DEFECT_CRC_OF_PREVIOUS) && state->crc_kept ? state->crc_previous : own;
    uint8_t octets[FPDU_CRC_OCTETS];

    state->crc_previous = own;
    state->crc_kept = true;

    crc = (uint32_t)occasion_changed(builder->occasion, PSEUDO_CRC, crc);
    if (has(builder, DEFECT_CRC_BIG_ENDIAN))
        octets_put32(octets, crc);
    else
        octets_put32_little(octets, crc);
    for (size_t i = 0; i < sizeof(octets); i++)
        write_word_aware(builder, octets[i], false);
}

/* The pad's octets: how many, and what they hold. */
static size_t pad_of(const struct builder *builder, size_t ulpdu_octets, uint8_t *value)
{
    size_t pad = fpdu_pad(ulpdu_octets);

    if (has(builder, DEFECT_PAD_FOR_ULPDU))
        pad = (0 - ulpdu_octets) & 3;
    *value = (uint8_t)occasion_changed(builder->occasion, PSEUDO_PAD, 0);
    return occasion_changed(builder->occasion, PSEUDO_PAD_OCTETS, pad) & 0x3F;
}

static void write_length(struct builder *builder, size_t ulpdu_octets)
{
    uint8_t length[FPDU_LENGTH_OCTETS] = {0};
    bool covered = !has(builder, DEFECT_CRC_FROM_DDP);

    fpdu_set_ULPDU_Length(length, ulpdu_octets);
    if (has(builder, DEFECT_LENGTH_WITH_MARKERS) && builder->framing->markers)
        fpdu_set_ULPDU_Length(length, ulpdu_octets + MARKER_OCTETS * marker_count(builder->framing->position,
                                                                                  fpdu_content(ulpdu_octets)));
    defect_note_sent(builder->occasion->set, TARGET_FPDU, builder->occasion->opcode);
    for (size_t i = 0; i < builder->occasion->set->transmit_count; i++) {
        const struct defect_transmit *transmit = &builder->occasion->set->transmits[i];

        if (transmit->target == TARGET_FPDU && transmit->pseudo == PSEUDO_NONE &&
            occasion_applies(builder->occasion, i))
            occasion_change(transmit, length);
    }
    if (marker_due(builder))
        write_marker(builder);
    builder->length_at = builder->count;
    if (!builder->occasion->state->interval_open)
        builder->occasion->state->interval_start = builder->framing->position + (uint32_t)builder->count;
    builder->occasion->state->interval_open = true;
    append_octet(builder, length[0], covered);
    append_octet(builder, length[1], covered);
    if (has(builder, DEFECT_MARKER_BEHIND_LENGTH) && builder->framing->markers &&
        builder->framing->position % MARKER_SPACING == 0)
        write_marker(builder);
}

/* The Marker that is due when the next FPDU begins, which has it in its CRC (RFC 5044 4.3, 4.4). */
static void write_marker_behind(struct builder *builder)
{
    static const uint8_t marker[MARKER_OCTETS];

    builder->occasion->state->marker_sent = marker_due(builder) && has(builder, DEFECT_MARKER_AT_ONCE);
    for (size_t i = 0; builder->occasion->state->marker_sent && i < sizeof(marker); i++)
        append_octet(builder, marker[i], false);
}

static size_t build(struct builder *builder, const uint8_t *ulpdu, size_t ulpdu_octets)
{
    uint8_t pad_value;
    size_t pad = pad_of(builder, ulpdu_octets, &pad_value);

    if (builder->occasion->state->marker_sent)
        builder->crc = crc32c_update(builder->crc, (const uint8_t[MARKER_OCTETS]){0}, MARKER_OCTETS);
    write_length(builder, ulpdu_octets);
    write_ulpdu(builder, ulpdu, ulpdu_octets);
    if (has(builder, DEFECT_CRC_BEFORE_PAD))
        write_crc(builder);
    for (size_t i = 0; i < pad; i++)
        write_word_aware(builder, pad_value, !has(builder, DEFECT_CRC_WITHOUT_PAD));
    if (has(builder, DEFECT_CRC_OMITTED) || (has(builder, DEFECT_CRC_OMITTED_WHEN_OFF) && !builder->framing->crc) ||
        has(builder, DEFECT_CRC_BEFORE_PAD))
        return builder->overflow ? 0 : builder->count;
    builder->crc_next = true;
    if (marker_due(builder))
        write_marker(builder);
    write_crc(builder);
    builder->occasion->state->crc_octets += FPDU_CRC_OCTETS;
    write_marker_behind(builder);
    return builder->overflow ? 0 : builder->count;
}

/* Octets of the FPDU before go in front; the last ones of this stay in place, unless it ends a message. */
static size_t hold_tail(const struct occasion *occasion, uint8_t *out, size_t count)
{
    struct defect_state *state = occasion->state;

    memcpy(out, state->tail, state->tail_octets);
    count += state->tail_octets;
    state->tail_octets = 0;
    if (occasion->last || !defect_behaves(occasion->set, DEFECT_CRC_WITH_NEXT))
        return count;
    state->tail_octets = sizeof(state->tail);
    memcpy(state->tail, out + count - sizeof(state->tail), sizeof(state->tail));
    return count - sizeof(state->tail);
}

size_t defect_fpdu_layout(struct iwarp_stream *stream, const uint8_t *ulpdu, size_t ulpdu_octets,
                          const struct fpdu_framing *framing)
{
    struct defect_state *state = stream_state(stream);
    struct occasion occasion = occasion_of(stream);
    struct fpdu_framing behind = {framing->markers, framing->crc, framing->position + (uint32_t)state->tail_octets};
    struct builder builder = {.occasion = &occasion, .framing = &behind, .crc = CRC32C_START};
    size_t octets;

    if (piece_reserve(stream, fpdu_octets(ulpdu_octets, true, 0) + DEFECT_ROOM) != 0)
        return 0;
    builder.out = stream->outbound.buffer + state->tail_octets;
    builder.room = stream->outbound.room - state->tail_octets;
    octets = build(&builder, ulpdu, ulpdu_octets);
    return octets == 0 ? 0 : hold_tail(&occasion, stream->outbound.buffer, octets);
}

void defect_fragment(struct iwarp_stream *stream)
{
    static const uint8_t fragment[] = {0, 20, 0x41, 0x43, 0, 0};

    if (stream->outbound.piece.octets != 0 || piece_reserve(stream, MPA_START_MAX) != 0)
        return;
    memcpy(stream->outbound.buffer, fragment, sizeof(fragment));
    piece_set(stream, sizeof(fragment), false);
}
