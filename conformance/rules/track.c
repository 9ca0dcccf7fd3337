/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/rules/track.h"

#include <string.h>

#include "conformance/flow/sctp/flow_sctp.h"
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

/* Does this look like ULPDU_Length and the first octets of a DDP Segment? */
static bool looks_like_fpdu(const uint8_t *octets)
{
    unsigned length = octets_get16(octets);

    return length >= DDP_TAGGED_OCTETS && length <= ULPDU_LENGTH_MAX && (octets[2] & 0x3F) == DDP_VERSION &&
           octets[3] >> 6 == RDMAP_VERSION;
}

bool track_wrong_framing(const struct flow_event *event)
{
    const struct flow_ulpdu *ulpdu = event->ulpdu;
    const struct flow_fpdu *fpdu = ulpdu->mpa;
    const struct flow_start *asking;
    const uint8_t *start;

    if (fpdu == NULL || ulpdu->index != 0 || event->position != 0 || !event->flow->half[event->direction].start_known ||
        ulpdu->cut || ulpdu->unverified)
        return false;
    asking = flow_start_of(event->flow, flow_reverse(event->direction));
    if (asking == NULL || asking->result != WIRE_OK || flow_is_unmatched(event->flow) ||
        flow_start_of(event->flow, event->direction) == NULL || event->flow->late ||
        event->flow->revision == MPA_REV_RDMAC)
        return false;
    if (fpdu->framing.markers != asking->frame.markers)
        return true;
    if (fpdu->fpdu.octets < FPDU_LENGTH_OCTETS + FPDU_PAD_MAX - 1 + FPDU_CRC_OCTETS)
        return false;
    start = fpdu->fpdu.start;
    if (fpdu->framing.markers)
        return octets_get16(start) != 0 && looks_like_fpdu(start) && !looks_like_fpdu(start + MARKER_OCTETS);
    return octets_get32(start) == 0 && looks_like_fpdu(start + MARKER_OCTETS);
}

bool track_ends_untold(const struct flow_event *event)
{
    const struct flow_fpdu *fpdu = event->ulpdu->mpa;

    return fpdu != NULL && !fpdu->framing.crc && !fpdu->framing.markers;
}

bool track_misplaced(const struct flow_event *event, struct hint *hint)
{
    const struct flow_half *half = &event->flow->half[event->direction];
    const struct flow_ulpdu *ulpdu = event->ulpdu;

    *hint = (struct hint){HINT_NONE, 0, 0};
    return ulpdu->mpa != NULL && ulpdu->index != 0 && !ulpdu->cut && !ulpdu->unverified && !ulpdu->mpa->resynced &&
           !ulpdu->mpa->framing.markers && !ulpdu->mpa->framing.crc && half->last_known &&
           event->flow->revision != MPA_REV_RDMAC &&
           hint_boundary(half->last, ulpdu->mpa->fpdu.start, ulpdu->mpa->fpdu.octets, hint);
}

void track_first_fpdu(struct rule_side *side, const struct flow_event *event)
{
    const struct flow_half *other = &event->flow->half[flow_reverse(event->direction)];
    const struct flow_fpdu *fpdu = event->ulpdu->mpa;

    side->wrong_framing = track_wrong_framing(event);
    side->mulpdu = fpdu == NULL || other->tcp->syn->mss == 0
                       ? 0
                       : (uint32_t)fpdu_mulpdu(other->tcp->syn->mss, fpdu->framing.markers);
    side->longest_quick = side->mulpdu == 0 ? ULPDU_LENGTH_MAX : side->mulpdu;
}

static void track_ulpdu(struct rule_side *side, const struct flow_event *event)
{
    const struct flow_ulpdu *ulpdu = event->ulpdu;
    bool resynced = ulpdu->mpa != NULL && ulpdu->mpa->resynced && ulpdu->index != 0;

    track_quick_ulpdu(side, ulpdu);
    side->pad_waits =
        track_ends_untold(event) && !ulpdu->cut && ulpdu->mpa->fpdu.pad_zero && fpdu_pad(ulpdu->length) != 0;
    side->crc_failed = side->crc_failed || ulpdu->result == TERM_MPA_CRC;
    side->holes = side->holes || ulpdu->cut || ulpdu->result == TERM_MPA_CRC || resynced;
    if (ulpdu->unverified)
        side->requests_unsure = side->responses_unsure = true;
    if (side->wrong_framing || ulpdu->unverified || ulpdu->result == TERM_MPA_CRC || resynced ||
        (ulpdu->cut && ulpdu->have < DDP_UNTAGGED_OCTETS))
        side->unsure = true;
}

/* A Read Request by the book: whether the other side answers it rightly can be judged. */
static bool request_is_regular(const struct rule_side *side, const struct flow_event *event)
{
    const struct ddp_segment *segment = &event->ddp->segment;
    const struct flow_rdmap *rdmap = event->rdmap;
    const struct flow_queue *queue = &event->flow->half[event->direction].queue[DDP_QN_READ_REQUEST];

    return event->ddp->result == WIRE_OK && rdmap->result == WIRE_OK && rdmap->header == FLOW_HEADER_READ_REQUEST &&
           rdmap->header_result == WIRE_OK && segment->last && segment->mo == 0 &&
           segment->payload_octets == READ_REQUEST_OCTETS && !side->terminated &&
           segment->msn == (queue->seen ? queue->next_msn : DDP_FIRST_MSN);
}

/* A Read Response that the flow can tie to its request. */
static bool response_is_regular(const struct flow_event *event)
{
    const struct ddp_segment *segment = &event->ddp->segment;
    const struct flow_request *request = event->rdmap->request;

    if (event->rdmap->result != WIRE_OK || event->ddp->result != WIRE_OK || request == NULL)
        return false;
    if (request->read.octets != 0 && event->rdmap->first &&
        (segment->stag != request->read.sink_stag || segment->to != request->read.sink_to))
        return false;
    return event->rdmap->message_octets <= request->read.octets &&
           (!segment->last || event->rdmap->message_octets == request->read.octets);
}

static void track_rdmap(struct rule_side *side, const struct flow_event *event)
{
    switch (event->rdmap->message.opcode) {
    case RDMAP_READ_REQUEST: side->requests_unsure = side->requests_unsure || !request_is_regular(side, event); break;
    case RDMAP_READ_RESPONSE: side->responses_unsure = side->responses_unsure || !response_is_regular(event); break;
    case RDMAP_TERMINATE: side->terminated = side->terminated || event->rdmap->result == WIRE_OK; break;
    default: break;
    }
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
        if (event->session->message.kind == DDP_SCTP_DRAFT_CONTROL) { /* a new DDP stream (draft 7.2) */
            memset(side->queue, 0, sizeof(side->queue));
            memset(&side->tagged, 0, sizeof(side->tagged));
            side->odd_messages = 0;
            side->terminated = side->version_known = false;
        }
        break;
    case FLOW_GAP:
    case FLOW_UNDECODED:
        side->holes = side->holes || event->kind == FLOW_GAP ||
                      (event->reason != FLOW_REASON_STREAMING && event->reason != FLOW_REASON_START_MALFORMED &&
                       event->reason != FLOW_REASON_REFUSED);
        side->unsure = side->unsure || event->kind == FLOW_GAP ||
                       (event->reason != FLOW_REASON_STREAMING && event->reason != FLOW_REASON_START_MALFORMED &&
                        (event->reason != FLOW_REASON_LATE || flow_start_of(event->flow, event->direction) != NULL) &&
                        event->reason != FLOW_REASON_REFUSED);
        break;
    default: break;
    }
}
