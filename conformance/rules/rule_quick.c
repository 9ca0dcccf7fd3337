/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The short way. Each test here holds only for events that every rule passes or is not concerned with; the unit tests
 * run all their conversations with it and without it, and ask for the same verdicts.
 */
#include "conformance/flow/ddp/flow_request.h"
#include "conformance/rules/rule_engine.h"
#include "conformance/rules/track.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(FLOW_DIRECTIONS *QUICK_CLASSES < UINT8_MAX, "each class has a place");

static int quick_fpdu(const struct rule_side *side, const struct flow_event *event)
{
    const struct flow_ulpdu *ulpdu = event->ulpdu;
    const struct flow_fpdu *fpdu = ulpdu->mpa;
    uint32_t length = ulpdu->length;

    if (ulpdu->index == 0 || ulpdu->result != WIRE_OK || fpdu->framing.markers || fpdu->resynced ||
        !fpdu->fpdu.pad_zero || !fpdu_reading_is_text(&fpdu->reading) || !fpdu_reading_is_text(&fpdu->before))
        return -1;
    if (length < DDP_UNTAGGED_OCTETS || length > side->longest_quick || side->terminated)
        return -1;
    if (side->pad_waits || (fpdu_pad(length) != 0 && !fpdu->end_proven))
        return -1;
    return QUICK_FPDU + (fpdu_pad(length) != 0);
}

static int quick_ddp(const struct rule_side *side, const struct flow_half *half, const struct flow_event *event)
{
    const struct ddp_segment *segment = &event->ddp->segment;
    unsigned opcode = segment->control & 0xF;

    if (event->ddp->result != WIRE_OK || segment->reserved != 0 || side->odd_messages != 0 || !side->version_known ||
        side->version != DDP_VERSION || event->flow->revision == MPA_REV_RDMAC || segment->payload_octets == 0)
        return -1;
    if (segment->tagged) {
        const struct flow_tagged *tagged = opcode == IWARP_RDMAP_WRITE ? &half->write : &half->read_response;
        const struct flow_tagged *other = opcode == IWARP_RDMAP_WRITE ? &half->read_response : &half->write;

        if ((opcode != IWARP_RDMAP_WRITE && opcode != IWARP_RDMAP_READ_RESPONSE) || other->open)
            return -1;
        if (tagged->open && (segment->stag != tagged->stag || segment->to != tagged->next_to ||
                             segment->control != side->tagged.control))
            return -1;
        return QUICK_DDP + 4 + tagged->open * 2 + segment->last;
    }
    if (segment->qn != DDP_QN_SEND || !half->queue[DDP_QN_SEND].seen ||
        segment->msn != half->queue[DDP_QN_SEND].next_msn)
        return -1;
    if (!half->queue[DDP_QN_SEND].open)
        return segment->mo == 0 ? QUICK_DDP + segment->last : -1;
    if (segment->mo != half->queue[DDP_QN_SEND].next_mo || segment->control != side->queue[DDP_QN_SEND].control ||
        segment->ulp_word != half->queue[DDP_QN_SEND].stag)
        return -1;
    return QUICK_DDP + 2 + segment->last;
}

/* `other`: what the receiver has sent. */
static int quick_rdmap(const struct flow_half *other, const struct flow_event *event)
{
    const struct flow_rdmap *rdmap = event->rdmap;
    const struct ddp_segment *segment = &event->ddp->segment;
    unsigned opcode = rdmap->message.opcode;

    if (rdmap->result != WIRE_OK || rdmap->message.reserved != 0 || event->ulpdu->index == 0 || event->ulpdu->cut)
        return -1;
    if (opcode == IWARP_RDMAP_READ_RESPONSE) {
        const struct flow_request *request = rdmap->request;

        if (request == NULL || request->read.octets == 0 || rdmap->message_octets > request->read.octets ||
            (segment->last && rdmap->message_octets != request->read.octets))
            return -1;
        if (rdmap->first ? request->answered != 0 || !flow_request_names(request, segment) ||
                               request != flow_request_oldest(other, IWARP_RDMAP_READ_REQUEST)
                         : !request->named)
            return -1;
    } else if (rdmap_is_send(opcode)) {
        if (!rdmap_opcode_rows[opcode].invalidates && segment->ulp_word != 0)
            return -1;
    } else if (opcode != IWARP_RDMAP_WRITE) {
        return -1;
    }
    return (int)(QUICK_RDMAP + opcode * 4 + rdmap->first * 2 + segment->last);
}

int quick_class_of(const struct rule_flow *state, const struct flow_event *event)
{
    const struct rule_side *side = &state->sides[event->direction];

    switch (event->kind) {
    case FLOW_ULPDU: return quick_fpdu(side, event);
    case FLOW_DDP: return quick_ddp(side, &event->flow->half[event->direction], event);
    case FLOW_RDMAP: return quick_rdmap(&event->flow->half[flow_reverse(event->direction)], event);
    default: return -1;
    }
}

static void class_settle(const struct rule_flow *state, struct quick_class *class)
{
    for (size_t word = 0; class->count != 0 && word < RULE_WORDS; word++)
        for (uint64_t bits = class->passed[word]; bits != 0; bits &= bits - 1) {
            struct rule_tally *tally =
                rule_tally_of(state, class->direction, word * 64 + (size_t)__builtin_ctzll(bits));

            if (tally != NULL) /* else memory was short when it was learned */
                tally->passes += class->count;
        }
    class->count = 0;
}

void quick_settle(struct rule_flow *state)
{
    for (unsigned i = 0; i < state->quick_count; i++)
        class_settle(state, &state->quick[i]);
}

void quick_forget(struct rule_flow *state)
{
    memset(state->place, 0, sizeof(state->place));
    state->quick_count = 0;
}

struct quick_class *quick_class_make(struct rule_flow *state, unsigned direction, int index)
{
    enum { FIRST_ROOM = 4 };

    if (state->quick_count == state->quick_room) {
        unsigned room = state->quick_room == 0 ? FIRST_ROOM : state->quick_room * 2;
        struct quick_class *grown = realloc(state->quick, room * sizeof(*grown));

        if (grown == NULL)
            return NULL;
        state->quick = grown;
        state->quick_room = room;
    }
    state->quick[state->quick_count] = (struct quick_class){.direction = (uint8_t)direction};
    state->place[direction][index] = (uint8_t)++state->quick_count;
    return &state->quick[state->quick_count - 1];
}
