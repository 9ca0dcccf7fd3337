/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RDMA Reads (RFC 5040 4.2, 4.4, 4.5, 5.2) and how many may be open at once (RFC 6581 9.1). How a Read is answered is
 * judged only when every request of the other side was captured.
 */
#include "conformance/flow/ddp/flow_request.h"
#include "conformance/rules/ddp_state.h"
#include "conformance/rules/rule_context.h"
#include "conformance/rules/rule_reads.h"
#include "conformance/rules/start_frame.h"

static const struct ddp_segment *segment_of(const struct rule_context *ctx)
{
    return &ctx->event->ddp->segment;
}

/* RFC 5040 4.2: a Read Request carries the 28 octets of its header right after the DDP header. */
void read_request_has_header(struct rule_context *ctx)
{
    const struct ddp_segment *segment = segment_of(ctx);

    if (segment->tagged || !segment->last || segment->mo != 0)
        return;
    if (segment->payload_octets < READ_REQUEST_OCTETS)
        rule_fail(ctx, "28 octets", rule_text(ctx, "%zu octets", segment->payload_octets),
                  "A Read Request does not hold the whole RDMA Read Request Header (RFC 5040 4.2)");
    else
        rule_pass(ctx);
}

/* RFC 5040 4.2: and no ULP payload. */
void read_request_has_no_payload(struct rule_context *ctx)
{
    const struct ddp_segment *segment = segment_of(ctx);

    if (segment->tagged || segment->mo != 0 || segment->payload_octets < READ_REQUEST_OCTETS)
        return;
    if (segment->payload_octets > READ_REQUEST_OCTETS)
        rule_fail(ctx, "28 octets", rule_text(ctx, "%zu octets", segment->payload_octets),
                  "Octets follow the header of a Read Request (RFC 5040 4.2)");
    else
        rule_pass(ctx);
}

/* No text forbids to split a Read Request; no sender has a reason to. */
void read_request_in_one_segment(struct rule_context *ctx)
{
    const struct ddp_segment *segment = segment_of(ctx);

    if (segment->tagged)
        return;
    if (!segment->last && segment->payload_octets < READ_REQUEST_OCTETS)
        rule_ambiguous(ctx, "one segment", rule_text(ctx, "%zu octets with L = 0", segment->payload_octets),
                       "The Read Request is split into segments, which is allowed but unusual (RFC 5041 5.2)");
    else if (segment->last && segment->mo == 0)
        rule_pass(ctx);
}

/* Requests of the other side are all known. */
static bool answers_judged(const struct rule_context *ctx)
{
    return segment_of(ctx)->tagged && rule_from_start(ctx, FLOW_FROM_INITIATOR) &&
           rule_from_start(ctx, FLOW_FROM_RESPONDER) && !ctx->other->requests_lost;
}

/* The request that a Read Response answers, when that is judged; else NULL. */
static const struct flow_request *answered(const struct rule_context *ctx)
{
    const struct flow_request *request = ctx->event->rdmap->request;

    if (request == NULL || !answers_judged(ctx))
        return NULL;
    /* It may answer one that nobody can read. */
    if (ctx->peer->requests_unsure &&
        !(ctx->event->rdmap->first ? flow_request_names(request, segment_of(ctx)) : request->named))
        return NULL;
    return request;
}

/* The same for a segment that begins its response. */
static const struct flow_request *answered_first(const struct rule_context *ctx)
{
    const struct flow_request *request = answered(ctx);

    /* The rest of a response that had L = 1 too early begins none. */
    return request != NULL && ctx->event->rdmap->first && request->answered == 0 ? request : NULL;
}

/* RFC 5040 5.2: one Read Response for each Read Request; none without one. */
void response_has_request(struct rule_context *ctx)
{
    const struct flow_request *request = ctx->event->rdmap->request;

    if (!answers_judged(ctx) || !ctx->event->rdmap->first)
        return;
    if (ctx->peer->requests_unsure && (request == NULL || !flow_request_names(request, segment_of(ctx))))
        return;
    if (request == NULL)
        rule_fail_unless_lost(ctx, "an RDMA Read Request of the other side", "none open",
                              "A Read Response answers no request (RFC 5040 5.2)");
    else if (rule_not_received(ctx, request->end))
        rule_fail(ctx, "an RDMA Read Request of the other side", "none had come",
                  "A Read Response was sent before its request arrived (RFC 5040 5.2)");
    else
        rule_pass(ctx);
}

/* RFC 5040 5.2.2: Read Responses go in the order of their requests. */
void responses_in_order(struct rule_context *ctx)
{
    const struct flow_request *request = answered_first(ctx);
    const struct flow_request *oldest = flow_request_oldest(ctx->other, IWARP_RDMAP_READ_REQUEST);

    if (request == NULL || !flow_request_names(request, segment_of(ctx)))
        return;
    if (request->serial > oldest->serial && !oldest->doubted && oldest->answered == 0) {
        rule_because(ctx, oldest->read.octets == 0 ? HINT_READ_EMPTY : HINT_NONE);
        rule_fail(ctx, rule_text(ctx, "SinkSTag 0x%08x", oldest->read.sink_stag),
                  rule_text(ctx, "SinkSTag 0x%08x of a later request", segment_of(ctx)->stag),
                  "A Read Response overtakes another one (RFC 5040 5.2.2)");
    } else if (request->read.octets != 0) {
        rule_pass(ctx);
    }
}

/*
 * RFC 5040 4.4: the header of a Read Request is in network order. Its response showed that it is not (struct
 * flow_request's `reversed`): a finding of the requester, in the request's frame. A response that fits proves nothing,
 * as both sides may have the same mistake.
 */
void read_request_octet_order(struct rule_context *ctx)
{
    const struct flow_request *request = answered_first(ctx);
    const struct flow_event *event = ctx->event;
    enum flow_direction direction = ctx->direction;
    struct flow_event shown = *event;

    if (request == NULL || !request->reversed || !ctx->peer->judged)
        return;
    shown.frame = request->frame;
    shown.direction = ctx->direction = flow_reverse(direction);
    ctx->event = &shown;
    rule_because(ctx, HINT_READ_ORDER);
    rule_fail(ctx, "its fields in network order", "its fields with their octets in reverse order",
              "The Read Request has its fields in reverse octet order, as its response shows (RFC 5040 4.4)");
    ctx->event = event;
    ctx->direction = direction;
}

/* The number is the right one with its octets in reverse order: one fault of all fields that are so. */
static void because_reversed(struct rule_context *ctx, uint64_t expected, uint64_t actual, unsigned octets)
{
    struct hint hint;

    if (hint_number(expected, actual, octets, &hint))
        rule_because(ctx, hint.kind);
}

/* RFC 5040 4.4: SinkSTag of the request is the STag of the response. */
void response_copies_stag(struct rule_context *ctx)
{
    const struct flow_request *request = answered_first(ctx);

    if (request == NULL || request->read.octets == 0)
        return;
    because_reversed(ctx, request->read.sink_stag, segment_of(ctx)->stag, 4);
    if (segment_of(ctx)->stag != request->read.sink_stag)
        rule_fail(ctx, rule_text(ctx, "STag 0x%08x", request->read.sink_stag),
                  rule_text(ctx, "STag 0x%08x", segment_of(ctx)->stag),
                  "The Read Response does not carry the request's SinkSTag (RFC 5040 4.4)");
    else
        rule_pass(ctx);
}

/*
 * The first segment that is sent may be another than the lowest: rising TO is a SHOULD (RFC 5041 5.3). It is the end of
 * the response then, or as long as those before it. One that is neither has a wrong TO.
 */
static bool begins_inside(const struct ddp_segment *segment, const struct read_request *read)
{
    uint64_t offset = segment->to - read->sink_to;

    if (segment->last || segment->payload_octets == 0 || offset == 0 || offset >= read->octets ||
        segment->payload_octets > read->octets - offset)
        return false;
    return segment->payload_octets == read->octets - offset || offset % segment->payload_octets == 0;
}

/* RFC 5040 4.4: SinkTO of the request is the TO that the response begins with, its lowest one. */
void response_copies_to(struct rule_context *ctx)
{
    const struct flow_request *request = ctx->event->rdmap->first ? answered_first(ctx) : answered(ctx);
    const struct flow_tagged *tagged = ddp_tagged(ctx);
    uint64_t begins = segment_of(ctx)->to;
    struct ddp_offsets offsets;

    if (request == NULL || request->read.octets == 0)
        return;
    if (ctx->event->rdmap->first && begins_inside(segment_of(ctx), &request->read))
        return; /* decided with the last segment */
    if (!ctx->event->rdmap->first) {
        if (tagged == NULL || tagged->first_to == request->read.sink_to || !ddp_message_ends(ctx, true, &offsets) ||
            offsets.single)
            return;
        begins = tagged->first_to + (uint64_t)offsets.lowest;
    }
    because_reversed(ctx, request->read.sink_to, begins, 8);
    if (begins != request->read.sink_to)
        rule_fail(ctx, rule_text(ctx, "TO 0x%llx", (unsigned long long)request->read.sink_to),
                  rule_text(ctx, "TO 0x%llx", (unsigned long long)begins),
                  "The Read Response does not begin at the request's SinkTO (RFC 5040 4.4)");
    else
        rule_pass(ctx);
}

/* RFC 5040 4.5: the response has RDMARDSZ octets. */
void response_has_size(struct rule_context *ctx)
{
    const struct flow_request *request = answered(ctx);
    uint64_t octets = ctx->event->rdmap->message_octets;

    if (request == NULL || request->read.octets == 0)
        return;
    because_reversed(ctx, request->read.octets, octets, 4);
    if (octets > request->read.octets || (segment_of(ctx)->last && octets != request->read.octets))
        rule_fail(ctx, rule_text(ctx, "%u octets", request->read.octets),
                  rule_text(ctx, "%llu octets%s", (unsigned long long)octets, segment_of(ctx)->last ? "" : " and more"),
                  "The Read Response has not the RDMARDSZ octets of its request (RFC 5040 4.5)");
    else if (segment_of(ctx)->last)
        rule_pass(ctx);
}

/* RFC 5040 5.2.1: a zero-length Read Request is answered by a zero-length response. */
void empty_read_answered_empty(struct rule_context *ctx)
{
    const struct flow_request *request = answered_first(ctx);

    if (request == NULL || request->read.octets != 0)
        return;
    /* Without the length: a profile names an outcome once. */
    if (segment_of(ctx)->payload_octets != 0 || !segment_of(ctx)->last)
        rule_fail(ctx, "one segment without payload, L = 1",
                  rule_text(ctx, "%s, L = %d", segment_of(ctx)->payload_octets != 0 ? "payload" : "no payload",
                            segment_of(ctx)->last),
                  "A zero-length Read Request was answered by data (RFC 5040 5.2.1)");
    else
        rule_pass(ctx);
}

/* RFC 5040 4.4 has the sink copied into every response, RFC 5041 5.2 lets it be anything in a zero-length segment. */
void empty_response_copies_sink(struct rule_context *ctx)
{
    const struct flow_request *request = answered_first(ctx);

    if (request == NULL || request->read.octets != 0 || segment_of(ctx)->payload_octets != 0)
        return;
    if (flow_request_names(request, segment_of(ctx)))
        rule_pass(ctx);
    else
        rule_ambiguous(
            ctx,
            rule_text(ctx, "STag 0x%08x, TO 0x%llx", request->read.sink_stag,
                      (unsigned long long)request->read.sink_to),
            rule_text(ctx, "STag 0x%08x, TO 0x%llx", segment_of(ctx)->stag, (unsigned long long)segment_of(ctx)->to),
            "The zero-length Read Response has another STag or TO than its request (RFC 5040 4.4, RFC 5041 5.2)");
}

/* Judges a Read Request that opens one more Read against the IRD that the other side declared. */
static void judge_depth(struct rule_context *ctx, const char *whose)
{
    const struct iwarp_mpa_start *own = start_with_word(ctx, ctx->direction);
    const struct iwarp_mpa_start *start = start_with_word(ctx, flow_reverse(ctx->direction));

    if (own == NULL || start == NULL || start->ird == MPA_DEPTH_NOT_NEGOTIATED || ctx->flow->late ||
        ctx->side->unsure || ctx->peer->unsure || ctx->event->ulpdu->index == 0)
        return;
    rule_judge_reads_open(ctx, start->ird,
                          rule_text(ctx, "More Reads are open than the IRD of the %s (RFC 6581 9.1)", whose));
}

/* RFC 6581 9.1: the Initiator keeps to the Responder's IRD. The RTR message is not counted: IRD may be 0 then. */
void initiator_keeps_ord(struct rule_context *ctx)
{
    judge_depth(ctx, "Responder");
}

/* RFC 6581 9.1: the Responder keeps to the Initiator's IRD. */
void responder_keeps_ord(struct rule_context *ctx)
{
    judge_depth(ctx, "Initiator");
}
