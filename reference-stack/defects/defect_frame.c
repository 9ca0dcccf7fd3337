/* SPDX-License-Identifier: BSD-2-Clause */
/* Defects in what is sent: fields of headers, and the layout of FPDUs. Not a fast path, and plain for that. */
#include <string.h>

#include "reference-stack/defects/defect_stream.h"
#include "wire/crc32c.h"
#include "wire/ddp.h"
#include "wire/fpdu.h"
#include "wire/marker.h"
#include "wire/mpa.h"
#include "wire/rdmap.h"

/* --- Fields ---------------------------------------------------------------------------------------------------- */

static uint64_t operate(const struct defect_transmit *transmit, uint64_t old)
{
    switch (transmit->operation) {
    case OPERATION_ADD: return old + transmit->value;
    case OPERATION_XOR: return old ^ transmit->value;
    case OPERATION_REVERSE: return __builtin_bswap64(old) >> (64 - transmit->field->bits);
    case OPERATION_SET:
    case OPERATION_SWAP:
    case OPERATION_COPY:
    default: return transmit->value;
    }
}

static void change(const struct defect_transmit *transmit, uint8_t *header)
{
    uint64_t old;

    if (transmit->field->kind == WIRE_OCTETS) {
        /* the Key: its last octet */
        uint8_t *octet = header + (transmit->field->bit + transmit->field->bits) / 8 - 1;

        *octet = (uint8_t)operate(transmit, *octet);
        return;
    }
    old = wire_field_get(transmit->field, header);
    if (transmit->operation == OPERATION_SWAP || transmit->operation == OPERATION_COPY) {
        uint64_t other = wire_field_get(transmit->other, header);

        if (transmit->operation == OPERATION_SWAP)
            wire_field_set(transmit->other, header, old);
        wire_field_set(transmit->field, header, other);
        return;
    }
    wire_field_set(transmit->field, header, operate(transmit, old));
}

/* What a rule is held against. */
struct occasion {
    const struct defect_set *set;
    struct defect_state *state;
    uint16_t opcode; /* as a bit; 0xFFFF for start-up frames */
    bool last, later;
    size_t pad; /* octets of pad that are due */
};

/* True when rule `i` applies here; counts its occasions. */
static bool applies(const struct occasion *occasion, size_t i)
{
    const struct defect_transmit *transmit = &occasion->set->transmits[i];
    uint32_t nth;

    if ((transmit->opcodes & occasion->opcode) == 0)
        return false;
    nth = ++occasion->state->seen[i];
    switch (transmit->when) {
    case WHEN_NTH: return nth == transmit->nth;
    case WHEN_FROM_NTH: return nth >= transmit->nth;
    case WHEN_LAST: return occasion->last;
    case WHEN_LATER: return occasion->later;
    case WHEN_PAD: return occasion->pad == transmit->nth;
    case WHEN_ALWAYS:
    default: return true;
    }
}

static void change_all(const struct occasion *occasion, enum defect_target target, uint8_t *header)
{
    defect_note_sent(occasion->set, target, occasion->opcode);
    for (size_t i = 0; i < occasion->set->transmit_count; i++)
        if (occasion->set->transmits[i].target == target && applies(occasion, i))
            change(&occasion->set->transmits[i], header);
}

/* What rules make of a value that is no field of a header: the CRC, the pad, the ULPDU's length. */
static uint64_t changed(const struct occasion *occasion, enum defect_pseudo pseudo, uint64_t value)
{
    defect_note_sent(occasion->set, TARGET_FPDU, occasion->opcode);
    for (size_t i = 0; i < occasion->set->transmit_count; i++) {
        const struct defect_transmit *transmit = &occasion->set->transmits[i];

        if (transmit->target == TARGET_FPDU && transmit->pseudo == pseudo && applies(occasion, i))
            value = operate(transmit, value);
    }
    return value;
}

void defect_change_header(const struct defect_set *set, struct defect_state *state, enum defect_target target,
                          uint8_t *header)
{
    change_all(&(struct occasion){set, state, 0xFFFF, true, false, SIZE_MAX}, target, header);
}

size_t defect_start_frame(const struct defect_set *set, struct defect_state *state, const struct mpa_start *start,
                          uint8_t *octets, size_t count)
{
    struct occasion occasion = {set, state, 0xFFFF, true, false, SIZE_MAX};
    bool request = start->kind == MPA_REQUEST;

    if (start->enhanced && start->revision >= MPA_REV_2)
        change_all(&occasion, request ? TARGET_REQUEST_WORD : TARGET_REPLY_WORD, octets + MPA_START_OCTETS);
    change_all(&occasion, request ? TARGET_REQUEST : TARGET_REPLY, octets);
    if (start->rejected)
        change_all(&occasion, TARGET_REJECT, octets);
    if (start->enhanced && start->revision >= MPA_REV_2 && defect_behaves(set, DEFECT_WORD_BEHIND)) {
        uint8_t *word = octets + MPA_START_OCTETS;
        uint8_t kept[MPA_ENHANCED_OCTETS];

        memcpy(kept, word, sizeof(kept));
        memmove(word, word + sizeof(kept), start->private_octets);
        memcpy(word + start->private_octets, kept, sizeof(kept));
    }
    if (count > MARKER_SPACING && defect_behaves(set, DEFECT_MARKER_IN_START)) {
        memmove(octets + MARKER_SPACING + MARKER_OCTETS, octets + MARKER_SPACING, count - MARKER_SPACING);
        memset(octets + MARKER_SPACING, 0, MARKER_OCTETS);
        count += MARKER_OCTETS;
    }
    if (start->enhanced && start->revision >= MPA_REV_2 && defect_behaves(set, DEFECT_PRIVATE_CARRY_LOST)) {
        /* htons(4) added to the field as it stands in memory */
        mpa_start_set_PD_Length(octets, (start->private_octets & 0xFF00) |
                                            ((start->private_octets + MPA_ENHANCED_OCTETS) & 0xFF));
    }
    return count;
}

static uint8_t reversed(uint8_t octet)
{
    uint8_t out = 0;

    for (unsigned bit = 0; bit < 8; bit++)
        out = (uint8_t)(out << 1 | (octet >> bit & 1));
    return out;
}

/* Header fields of the ULPDU, from the bottom up, so that a changed T or opcode does not move the later ones. */
static void change_ulpdu(const struct occasion *occasion, uint8_t *ulpdu, size_t count)
{
    bool tagged = ddp_tagged_get_T(ulpdu);
    size_t header = tagged ? DDP_TAGGED_OCTETS : DDP_UNTAGGED_OCTETS;
    uint8_t *payload = ulpdu + header;

    if (occasion->opcode == 1 << RDMAP_READ_REQUEST && count >= header + READ_REQUEST_OCTETS)
        change_all(occasion, TARGET_READ_REQUEST, payload);
    if (occasion->opcode == 1 << RDMAP_ATOMIC_REQUEST && count >= header + ATOMIC_REQUEST_OCTETS)
        change_all(occasion, TARGET_ATOMIC_REQUEST, payload);
    if (occasion->opcode == 1 << RDMAP_ATOMIC_RESPONSE && count >= header + ATOMIC_RESPONSE_OCTETS)
        change_all(occasion, TARGET_ATOMIC_RESPONSE, payload);
    if ((occasion->opcode & (1 << RDMAP_IMMEDIATE | 1 << RDMAP_IMMEDIATE_SE)) != 0 &&
        count >= header + IMMEDIATE_OCTETS)
        change_all(occasion, TARGET_IMMEDIATE, payload);
    if (occasion->opcode == 1 << RDMAP_TERMINATE && count >= header + TERMINATE_OCTETS) {
        if (count >= header + TERMINATE_OCTETS + TERMINATE_LENGTH_OCTETS)
            change_all(occasion, TARGET_TERMINATE_LENGTH, payload + TERMINATE_OCTETS);
        change_all(occasion, TARGET_TERMINATE, payload);
        if (defect_behaves(occasion->set, DEFECT_TERMINATE_BIT_FIELDS)) {
            /* layer:4 etype:4 code:8 m:1 d:1 r:1 as a little-endian compiler lays them out */
            payload[0] = (uint8_t)(payload[0] << 4 | payload[0] >> 4);
            payload[2] = (uint8_t)((payload[2] & 0x80) >> 7 | (payload[2] & 0x40) >> 5 | (payload[2] & 0x20) >> 3);
        }
    }
    if (!tagged)
        change_all(occasion, TARGET_RDMAP_UNTAGGED, ulpdu + 1);
    change_all(occasion, TARGET_CONTROL, ulpdu + 1);
    change_all(occasion, tagged ? TARGET_TAGGED : TARGET_UNTAGGED, ulpdu);
    if (defect_behaves(occasion->set, DEFECT_CONTROL_REVERSED) &&
        (occasion->opcode & (1 << RDMAP_SEND | 1 << RDMAP_WRITE)) != 0)
        ulpdu[0] = reversed(ulpdu[0]);
    if (defect_behaves(occasion->set, DEFECT_EMPTY_CONTROL_ZERO) && count == header)
        ulpdu[0] = 0;
}

enum { LENGTH_WORD = 4 };

static size_t insert(uint8_t *ulpdu, size_t octets, size_t at, uint32_t word)
{
    memmove(ulpdu + at + LENGTH_WORD, ulpdu + at, octets - at);
    octets_put32(ulpdu + at, word);
    return octets + LENGTH_WORD;
}

/* Faults of the ULPDU as a whole. Returns its length. */
static size_t change_shape(const struct defect_set *set, uint8_t *ulpdu, size_t octets)
{
    uint8_t opcode = ulpdu[1] & 0xF;
    bool tagged = ddp_tagged_get_T(ulpdu);

    if (defect_behaves(set, DEFECT_SEND_LENGTH_WORD) && rdmap_is_send(opcode) && !tagged &&
        ddp_untagged_get_MO(ulpdu) == 0)
        octets = insert(ulpdu, octets, DDP_UNTAGGED_OCTETS, (uint32_t)(octets - DDP_UNTAGGED_OCTETS));
    if (defect_behaves(set, DEFECT_READ_REQUEST_PADDED) && opcode == RDMAP_READ_REQUEST)
        octets = insert(ulpdu, octets, octets, 0);
    if (defect_behaves(set, DEFECT_TAGGED_HEADER_LONG) && tagged)
        octets = insert(ulpdu, octets, 2, 0);
    if (defect_behaves(set, DEFECT_CONTROL_LATER) && !tagged) {
        ulpdu[2] = ulpdu[1];
        ulpdu[1] = 0;
    }
    if (defect_behaves(set, DEFECT_CONTROLS_SWAPPED)) {
        uint8_t control = ulpdu[0];

        ulpdu[0] = ulpdu[1];
        ulpdu[1] = control;
    }
    return octets;
}

/* --- Layout of an FPDU ----------------------------------------------------------------------------------------- */

/* Writes an FPDU octet by octet, with Markers where they are due and the CRC over what is told. */
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

static void put(struct builder *builder, uint8_t octet, bool covered)
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

    return (position - (has(builder, DEFECT_MARKER_SHIFTED) ? MARKER_OCTETS : 0)) % MARKER_SPACING;
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

static void put_marker(struct builder *builder)
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
    change_all(builder->occasion, TARGET_MARKER, marker);
    for (size_t i = 0; i < sizeof(marker); i++)
        put(builder, marker[i], covered);
    builder->markers++;
}

static void put_word_aware(struct builder *builder, uint8_t octet, bool covered)
{
    if (marker_due(builder))
        put_marker(builder);
    put(builder, octet, covered);
}

/* The ULPDU, up to each place where a Marker may be due in one run. */
static void put_ulpdu(struct builder *builder, const uint8_t *ulpdu, size_t count)
{
    for (size_t at = 0, run; at < count; at += run) {
        if (marker_due(builder))
            put_marker(builder);
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

static void put_crc(struct builder *builder)
{
    struct defect_state *state = builder->occasion->state;
    uint32_t own = builder->framing->crc                ? crc32c_value(builder->crc)
                   : has(builder, DEFECT_CRC_OFF_OTHER) ? UINT32_C(0x5AA55AA5)
                                                        : 0;
    uint32_t crc = has(builder, DEFECT_CRC_OF_PREVIOUS) && state->crc_kept ? state->crc_previous : own;
    uint8_t octets[FPDU_CRC_OCTETS];

    state->crc_previous = own;
    state->crc_kept = true;

    crc = (uint32_t)changed(builder->occasion, PSEUDO_CRC, crc);
    if (has(builder, DEFECT_CRC_BIG_ENDIAN))
        octets_put32(octets, crc);
    else
        octets_put32_little(octets, crc);
    for (size_t i = 0; i < sizeof(octets); i++)
        put_word_aware(builder, octets[i], false);
}

/* The pad's octets: how many, and what they hold. */
static size_t pad_of(const struct builder *builder, size_t ulpdu_octets, uint8_t *value)
{
    size_t pad = fpdu_pad(ulpdu_octets);

    if (has(builder, DEFECT_PAD_FOR_ULPDU))
        pad = (0 - ulpdu_octets) & 3;
    *value = (uint8_t)changed(builder->occasion, PSEUDO_PAD, 0);
    return changed(builder->occasion, PSEUDO_PAD_OCTETS, pad) & 0x3F;
}

static void put_length(struct builder *builder, size_t ulpdu_octets)
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

        if (transmit->target == TARGET_FPDU && transmit->pseudo == PSEUDO_NONE && applies(builder->occasion, i))
            change(transmit, length);
    }
    if (marker_due(builder))
        put_marker(builder);
    builder->length_at = builder->count;
    if (!builder->occasion->state->interval_open)
        builder->occasion->state->interval_start = builder->framing->position + (uint32_t)builder->count;
    builder->occasion->state->interval_open = true;
    put(builder, length[0], covered);
    put(builder, length[1], covered);
    if (has(builder, DEFECT_MARKER_BEHIND_LENGTH) && builder->framing->markers &&
        builder->framing->position % MARKER_SPACING == 0)
        put_marker(builder);
}

/* The Marker that is due when the next FPDU begins, which has it in its CRC (RFC 5044 4.3, 4.4). */
static void put_marker_behind(struct builder *builder)
{
    static const uint8_t marker[MARKER_OCTETS];

    builder->occasion->state->marker_sent = marker_due(builder) && has(builder, DEFECT_MARKER_AT_ONCE);
    for (size_t i = 0; builder->occasion->state->marker_sent && i < sizeof(marker); i++)
        put(builder, marker[i], false);
}

static size_t build(struct builder *builder, const uint8_t *ulpdu, size_t ulpdu_octets)
{
    uint8_t pad_value;
    size_t pad = pad_of(builder, ulpdu_octets, &pad_value);

    if (builder->occasion->state->marker_sent)
        builder->crc = crc32c_update(builder->crc, (const uint8_t[MARKER_OCTETS]){0}, MARKER_OCTETS);
    put_length(builder, ulpdu_octets);
    put_ulpdu(builder, ulpdu, ulpdu_octets);
    if (has(builder, DEFECT_CRC_BEFORE_PAD))
        put_crc(builder);
    for (size_t i = 0; i < pad; i++)
        put_word_aware(builder, pad_value, !has(builder, DEFECT_CRC_WITHOUT_PAD));
    if (has(builder, DEFECT_CRC_OMITTED) || (has(builder, DEFECT_CRC_OMITTED_WHEN_OFF) && !builder->framing->crc) ||
        has(builder, DEFECT_CRC_BEFORE_PAD))
        return builder->overflow ? 0 : builder->count;
    builder->crc_next = true;
    if (marker_due(builder))
        put_marker(builder);
    put_crc(builder);
    put_marker_behind(builder);
    return builder->overflow ? 0 : builder->count;
}

/* The ULPDU ends sooner, in an FPDU that is right: nothing comes after what is left of its headers or payload. */
static size_t cut_ulpdu(const struct occasion *occasion, size_t octets)
{
    size_t left = (size_t)changed(occasion, PSEUDO_ULPDU_OCTETS, octets);

    return left < octets ? left : octets;
}

/* A short Send a second time, after itself. */
static size_t double_ulpdu(const struct occasion *occasion, uint8_t *ulpdu, size_t count)
{
    if (occasion->opcode != 1 << RDMAP_SEND || count > DEFECT_ROOM / 2 ||
        !defect_behaves(occasion->set, DEFECT_ULPDU_TWICE))
        return count;
    memcpy(ulpdu + count, ulpdu, count);
    return 2 * count;
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

static struct occasion occasion_of(const struct iwarp_stream *stream)
{
    const struct defect_ulpdu *sending = &stream_state(stream)->sending;

    return (struct occasion){
        .set = stream_set(stream),
        .state = stream_state(stream),
        .opcode = sending->opcode,
        .last = sending->last,
        .later = sending->later,
        .pad = sending->pad,
    };
}

/* The ULPDU goes into a run of its own, where its fields and its shape change, and is sent from there. */
int seam_ulpdu(struct iwarp_stream *stream, struct llp_ulpdu *ulpdu)
{
    struct defect_state *state = stream_state(stream);
    uint8_t *headers = stream->headers + LLP_PREFIX_OCTETS;
    size_t octets = ulpdu->header_octets + ulpdu->payload_octets;
    struct occasion occasion;
    uint8_t *run;

    if (defect_run_reserve(&state->ulpdu, 2 * (octets + DEFECT_ROOM)) != 0)
        return -1;
    run = state->ulpdu.octets;
    memcpy(run, headers, ulpdu->header_octets);
    if (ulpdu->payload_octets != 0)
        memcpy(run + ulpdu->header_octets, ulpdu->payload, ulpdu->payload_octets);
    state->sending = (struct defect_ulpdu){.opcode = (uint16_t)(1u << (run[1] & 0xF)),
                                           .last = ddp_tagged_get_L(run),
                                           .later = state->inside,
                                           .pad = fpdu_pad(octets)};
    state->inside = !state->sending.last;
    occasion = occasion_of(stream);
    change_ulpdu(&occasion, run, octets);
    octets = change_shape(stream_set(stream), run, octets);
    if (stream->llp == &mpa_llp)
        octets = double_ulpdu(&occasion, run, cut_ulpdu(&occasion, octets));
    ulpdu->header_octets = octets < DDP_TAGGED_OCTETS ? octets : DDP_TAGGED_OCTETS;
    memcpy(headers, run, ulpdu->header_octets);
    ulpdu->payload = run + ulpdu->header_octets;
    ulpdu->payload_octets = octets - ulpdu->header_octets;
    ulpdu->copy = true;
    return 0;
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
    builder.out = stream->transmit_buffer + state->tail_octets;
    builder.room = stream->transmit_room - state->tail_octets;
    octets = build(&builder, ulpdu, ulpdu_octets);
    return octets == 0 ? 0 : hold_tail(&occasion, stream->transmit_buffer, octets);
}

void defect_fragment(struct iwarp_stream *stream)
{
    static const uint8_t fragment[] = {0, 20, 0x41, 0x43, 0, 0};

    if (stream->piece.octets != 0 || piece_reserve(stream, MPA_START_MAX) != 0)
        return;
    memcpy(stream->transmit_buffer, fragment, sizeof(fragment));
    piece_set(stream, sizeof(fragment), false);
}
