/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/rules/track.h"

#include <string.h>

#include "conformance/rules/session_pattern.h"
#include "wire/marker.h"

void track_begin(struct rule_side sides[FLOW_DIRECTIONS])
{
    for (unsigned i = 0; i < FLOW_DIRECTIONS; i++) {
        memset(&sides[i], 0, sizeof(sides[i]));
        sides[i].longest_quick = ULPDU_LENGTH_MAX;
    }
}

static void track_start(struct rule_side *side, const struct flow_start *start)
{
    const uint8_t *octets = start->octets;

    if (start->result == WIRE_MORE) {
        side->unsure = true;
        return;
    }
    side->start_bad = start->result != WIRE_OK;
    side->word_missing = side->start_bad && octets != NULL && start->octet_count >= MPA_START_OCTETS &&
                         mpa_start_kind_of(octets, start->octet_count) == (int)start->frame.kind &&
                         octets_get16(octets + 18) < MPA_ENHANCED_OCTETS;
}

static void track_first_fpdu(struct rule_side *side, const struct flow_event *event)
{
    const struct flow_half *other = &event->flow->half[flow_reverse(event->direction)];
    const struct flow_fpdu *fpdu = event->ulpdu->mpa;

    side->marked_otherwise = fpdu != NULL && fpdu->reading.grid == FPDU_GRID_OTHER;
    side->mulpdu = fpdu == NULL || other->tcp->syn->mss == 0
                       ? 0
                       : (uint32_t)fpdu_mulpdu(other->tcp->syn->mss, fpdu->framing.markers);
    side->longest_quick = side->mulpdu == 0 ? ULPDU_LENGTH_MAX : side->mulpdu;
}

/* Without a CRC the end of the pad is only known from what follows the FPDU. */
static void track_pad(struct rule_side *side, const struct flow_event *event)
{
    const struct flow_ulpdu *ulpdu = event->ulpdu;
    size_t pad = fpdu_pad(ulpdu->length);

    side->pad_waits = ulpdu->mpa != NULL && !ulpdu->mpa->framing.crc && !ulpdu->mpa->end_proven && !ulpdu->cut &&
                      pad != 0 && fpdu_reading_is_text(&ulpdu->mpa->reading);
    if (!side->pad_waits)
        return;
    side->pad_count = pad;
    side->pad_frame = event->frame;
    memcpy(side->pad_octets, ulpdu->mpa->fpdu.ulpdu + ulpdu->length, pad);
}

static void track_ulpdu(struct rule_side *side, const struct flow_event *event)
{
    const struct flow_ulpdu *ulpdu = event->ulpdu;
    bool resynced = ulpdu->mpa != NULL && ulpdu->mpa->resynced && ulpdu->index != 0;

    track_quick_ulpdu(side, ulpdu);
    track_pad(side, event);
    side->crc_failed = side->crc_failed || ulpdu->result == TERM_MPA_CRC;
    side->holes = side->holes || ulpdu->cut || ulpdu->result == TERM_MPA_CRC || resynced;
    if (ulpdu->unverified || ulpdu->framing_only || ulpdu->result == TERM_MPA_CRC || resynced ||
        (ulpdu->cut && ulpdu->have < DDP_UNTAGGED_OCTETS))
        side->unsure = side->tagged.unknown = true;
}

void track_session(struct rule_side sides[FLOW_DIRECTIONS], const struct flow_event *event)
{
    struct rule_side *side = &sides[event->direction];
    const char *wanted;

    if (event->flow->kind != FLOW_STREAM || event->flow->sctp->profile == IWARP_SCTP_DRAFT02 ||
        !session_is_whole(event->flow) ||
        (event->kind != FLOW_ULPDU &&
         (event->kind != FLOW_SESSION || event->session->message.kind != DDP_SCTP_CONTROL)))
        return;
    switch (session_step(event, side, &sides[flow_reverse(event->direction)], &wanted)) {
    case SESSION_ILLEGAL:
    case SESSION_NO_SESSION: side->out_of_pattern = true; break;
    case SESSION_CROSSING: side->crossed = true; break;
    default: break;
    }
}

static void track_rdmap(struct rule_side *side, const struct flow_event *event)
{
    switch (event->rdmap->message.opcode) {
    case IWARP_RDMAP_READ_REQUEST: /* which the flow keeps, if only it can be read */
        side->requests_unsure =
            side->requests_unsure || (event->rdmap->first && (event->rdmap->header_result != WIRE_OK ||
                                                              event->rdmap->header != FLOW_HEADER_READ_REQUEST));
        break;
    case IWARP_RDMAP_TERMINATE: side->terminated = side->terminated || event->rdmap->result == WIRE_OK; break;
    default: break;
    }
}

static void track_undecoded(struct rule_side *side, const struct flow_event *event)
{
    switch (event->reason) {
    case FLOW_REASON_STREAMING:
    case FLOW_REASON_START_MALFORMED:
    case FLOW_REASON_REFUSED: return;
    case FLOW_REASON_LATE: side->unsure = side->unsure || flow_start_of(event->flow, event->direction) != NULL; break;
    case FLOW_REASON_SYNC_LOST: side->unsure = true; break;
    default: side->unsure = side->lost = true;
    }
    side->holes = side->tagged.unknown = true;
}

/* A new DDP stream (draft 7.2). */
static void begin_anew(struct rule_side *side)
{
    memset(side->queue, 0, sizeof(side->queue));
    memset(&side->tagged, 0, sizeof(side->tagged));
    side->odd_messages = 0;
    side->terminated = side->version_known = false;
    side->resets++;
}

void track_before(struct rule_side *side, const struct flow_event *event)
{
    if (event->kind != FLOW_ULPDU)
        return;
    if (event->ulpdu->index == 0)
        track_first_fpdu(side, event);
    if (event->flow->kind == FLOW_STREAM && side->resets < event->flow->sctp->resets[event->direction])
        begin_anew(side);
}

void track_event(struct rule_side *side, const struct flow_event *event)
{
    switch (event->kind) {
    case FLOW_MPA_START: track_start(side, event->start); break;
    case FLOW_ULPDU: track_ulpdu(side, event); break;
    case FLOW_DDP:
        if (event->ddp->result == WIRE_MORE || event->ulpdu->unverified)
            break;
        side->version = side->version_known ? side->version : event->ddp->segment.version;
        side->version_known = true;
        track_segment(side, event->flow, event->direction, &event->ddp->segment);
        break;
    case FLOW_RDMAP:
        if (!event->ulpdu->unverified)
            track_rdmap(side, event);
        break;
    case FLOW_SESSION:
        if (event->session->message.kind == DDP_SCTP_DRAFT_CONTROL)
            begin_anew(side);
        break;
    case FLOW_GAP: side->holes = side->unsure = side->tagged.unknown = true; break;
    case FLOW_UNDECODED: track_undecoded(side, event); break;
    default: break;
    }
}
