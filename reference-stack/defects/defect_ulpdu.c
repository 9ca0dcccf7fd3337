/* SPDX-License-Identifier: BSD-2-Clause */
/* Defects in what is sent: fields of headers, start-up frames, and ULPDUs. Not a fast path, and plain for that. */
#include <string.h>

#include "reference-stack/defects/defect_occasion.h"
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

void occasion_change(const struct defect_transmit *transmit, uint8_t *header)
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

bool occasion_applies(const struct occasion *occasion, size_t i)
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

void occasion_change_all(const struct occasion *occasion, enum defect_target target, uint8_t *header)
{
    defect_note_sent(occasion->set, target, occasion->opcode);
    for (size_t i = 0; i < occasion->set->transmit_count; i++)
        if (occasion->set->transmits[i].target == target && occasion_applies(occasion, i))
            occasion_change(&occasion->set->transmits[i], header);
}

uint64_t occasion_changed(const struct occasion *occasion, enum defect_pseudo pseudo, uint64_t value)
{
    defect_note_sent(occasion->set, TARGET_FPDU, occasion->opcode);
    for (size_t i = 0; i < occasion->set->transmit_count; i++) {
        const struct defect_transmit *transmit = &occasion->set->transmits[i];

        if (transmit->target == TARGET_FPDU && transmit->pseudo == pseudo && occasion_applies(occasion, i))
            value = operate(transmit, value);
    }
    return value;
}

void defect_change_header(const struct defect_set *set, struct defect_state *state, enum defect_target target,
                          uint8_t *header)
{
    occasion_change_all(&(struct occasion){set, state, 0xFFFF, true, false, SIZE_MAX}, target, header);
}

size_t defect_start_frame(const struct defect_set *set, struct defect_state *state, const struct iwarp_mpa_start *start,
                          uint8_t *octets, size_t count)
{
    struct occasion occasion = {set, state, 0xFFFF, true, false, SIZE_MAX};
    bool request = start->kind == IWARP_MPA_REQUEST;

    if (start->enhanced && start->revision >= MPA_REV_2)
        occasion_change_all(&occasion, request ? TARGET_REQUEST_WORD : TARGET_REPLY_WORD, octets + MPA_START_OCTETS);
    occasion_change_all(&occasion, request ? TARGET_REQUEST : TARGET_REPLY, octets);
    if (start->rejected)
        occasion_change_all(&occasion, TARGET_REJECT, octets);
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

    if (occasion->opcode == 1 << IWARP_RDMAP_READ_REQUEST && count >= header + READ_REQUEST_OCTETS)
        occasion_change_all(occasion, TARGET_READ_REQUEST, payload);
    if (occasion->opcode == 1 << IWARP_RDMAP_ATOMIC_REQUEST && count >= header + ATOMIC_REQUEST_OCTETS)
        occasion_change_all(occasion, TARGET_ATOMIC_REQUEST, payload);
    if (occasion->opcode == 1 << IWARP_RDMAP_ATOMIC_RESPONSE && count >= header + ATOMIC_RESPONSE_OCTETS)
        occasion_change_all(occasion, TARGET_ATOMIC_RESPONSE, payload);
    if ((occasion->opcode & (1 << IWARP_RDMAP_IMMEDIATE | 1 << IWARP_RDMAP_IMMEDIATE_SE)) != 0 &&
        count >= header + IWARP_IMMEDIATE_OCTETS)
        occasion_change_all(occasion, TARGET_IMMEDIATE, payload);
    if (occasion->opcode == 1 << IWARP_RDMAP_TERMINATE && count >= header + TERMINATE_OCTETS) {
        if (count >= header + TERMINATE_OCTETS + TERMINATE_LENGTH_OCTETS)
            occasion_change_all(occasion, TARGET_TERMINATE_LENGTH, payload + TERMINATE_OCTETS);
        occasion_change_all(occasion, TARGET_TERMINATE, payload);
        if (defect_behaves(occasion->set, DEFECT_TERMINATE_BIT_FIELDS)) {
            /* layer:4 etype:4 code:8 m:1 d:1 r:1 as a little-endian compiler lays them out */
            payload[0] = (uint8_t)(payload[0] << 4 | payload[0] >> 4);
            payload[2] = (uint8_t)((payload[2] & 0x80) >> 7 | (payload[2] & 0x40) >> 5 | (payload[2] & 0x20) >> 3);
        }
    }
    if (!tagged)
        occasion_change_all(occasion, TARGET_RDMAP_UNTAGGED, ulpdu + 1);
    occasion_change_all(occasion, TARGET_CONTROL, ulpdu + 1);
    occasion_change_all(occasion, tagged ? TARGET_TAGGED : TARGET_UNTAGGED, ulpdu);
    if (defect_behaves(occasion->set, DEFECT_CONTROL_REVERSED) &&
        (occasion->opcode & (1 << IWARP_RDMAP_SEND | 1 << IWARP_RDMAP_WRITE)) != 0)
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
    if (defect_behaves(set, DEFECT_READ_REQUEST_PADDED) && opcode == IWARP_RDMAP_READ_REQUEST)
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

/* --- ULPDUs ----------------------------------------------------------------------------------------------------- */

/* The ULPDU ends sooner, in an FPDU that is right: nothing comes after what is left of its headers or payload. */
static size_t cut_ulpdu(const struct occasion *occasion, size_t octets)
{
    size_t left = (size_t)occasion_changed(occasion, PSEUDO_ULPDU_OCTETS, octets);

    return left < octets ? left : octets;
}

/* A short Send a second time, after itself. */
static size_t double_ulpdu(const struct occasion *occasion, uint8_t *ulpdu, size_t count)
{
    if (occasion->opcode != 1 << IWARP_RDMAP_SEND || count > DEFECT_ROOM / 2 ||
        !defect_behaves(occasion->set, DEFECT_ULPDU_TWICE))
        return count;
    memcpy(ulpdu + count, ulpdu, count);
    return 2 * count;
}

struct occasion occasion_of(const struct iwarp_stream *stream)
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
    uint8_t *headers = stream->outbound.headers + LLP_PREFIX_OCTETS;
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
