/* SPDX-License-Identifier: BSD-2-Clause */
/* FPDUs: length, pad, size against the MSS, and how a stream of them ends (RFC 5044 4.1, 4.5, 5.1, 7.2). */
#include "conformance/rules/crc_fault.h"
#include "conformance/rules/rule_context.h"
#include "conformance/rules/start_frame.h"
#include "conformance/rules/track.h"
#include "wire/hint.h"
#include "wire/marker.h"

/* RFC 5044 3 and 4.5: a ULPDU has at most 64768 octets. */
void ulpdu_length_limit(struct rule_context *ctx)
{
    const struct fpdu *fpdu = &ctx->event->ulpdu->mpa->fpdu;

    if (!fpdu->crc_ok || ctx->side->wrong_framing)
        return;
    if (fpdu->ulpdu_length > ULPDU_LENGTH_MAX)
        rule_fail(ctx, "ULPDU_Length <= 64768", rule_text(ctx, "ULPDU_Length = %u", fpdu->ulpdu_length),
                  "A ULPDU is longer than any MULPDU may be (RFC 5044 4.5)");
    else
        rule_pass(ctx);
}

/* RFC 5044 3: an FPDU, Markers and all, fits one IP datagram. */
void fpdu_fits_datagram(struct rule_context *ctx)
{
    enum { DATAGRAM = 65535, IPV4_HEADER = 20, TCP_HEADER = 20 };
    const struct fpdu *fpdu = &ctx->event->ulpdu->mpa->fpdu;
    /* The length field of IPv6 does not count its header. */
    size_t most = DATAGRAM - TCP_HEADER - (ctx->flow->address[ctx->direction].family == 4 ? IPV4_HEADER : 0);

    if (!fpdu->crc_ok || ctx->side->wrong_framing)
        return;
    if (fpdu->octets > most)
        rule_fail(ctx, rule_text(ctx, "an FPDU of at most %zu octets", most),
                  rule_text(ctx, "%zu octets", fpdu->octets),
                  "An FPDU is longer than an IP datagram can hold (RFC 5044 3)");
    else
        rule_pass(ctx);
}

/* Its pad ends where the pad of the event's FPDU should: else octets of something else stand there. Without CRCs in use only. */
static bool boundary_sound(const struct rule_context *ctx)
{
    const struct flow_fpdu *fpdu = ctx->event->ulpdu->mpa;
    const struct fpdu_framing checked = {false, true, fpdu->framing.position};
    struct hint hint;

    if (fpdu->framing.crc || fpdu->framing.markers)
        return true;
    /* Most senders compute CRCs also where nobody checks them: such a CRC tells where the FPDU ends. */
    return (fpdu->fpdu.pad_zero || !hint_fpdu(fpdu->fpdu.start, fpdu->fpdu.octets, &checked, &hint) ||
            (hint.kind != HINT_PAD && hint.kind != HINT_LENGTH && hint.kind != HINT_CRC_MISSING));
}

/* The FPDU before this event ends where it says: the next one begins there, or nothing follows. */
static bool boundary_told(const struct rule_context *ctx)
{
    struct hint hint;

    if (ctx->event->kind == FLOW_END)
        return ctx->half->gaps == 0 && ctx->half->unfinished == 0;
    return !ctx->event->ulpdu->unverified && ctx->event->ulpdu->mpa != NULL && !ctx->event->ulpdu->mpa->resynced &&
           !track_misplaced(ctx->event, &hint);
}

/* RFC 5044 4.1: pad octets are sent as zero. Zeros are a pad where the FPDU ends: without CRCs only what follows tells that. */
void pad_is_zero(struct rule_context *ctx)
{
    const struct fpdu *fpdu;

    if (ctx->side->pad_waits && !ctx->side->wrong_framing && boundary_told(ctx))
        rule_pass(ctx);
    if (ctx->event->kind == FLOW_END)
        return;
    fpdu = &ctx->event->ulpdu->mpa->fpdu;
    if (ctx->event->ulpdu->cut || !fpdu->crc_ok || ctx->side->wrong_framing || fpdu_pad(fpdu->ulpdu_length) == 0 ||
        !boundary_sound(ctx) || (fpdu->pad_zero && track_ends_untold(ctx->event)))
        return;
    if (fpdu->pad_zero)
        rule_pass(ctx);
    else
        rule_fail(ctx, "pad of zeros",
                  rule_text(ctx, "pad of %s",
                            rule_octets(ctx, fpdu->ulpdu + fpdu->ulpdu_length, fpdu_pad(fpdu->ulpdu_length))),
                  "Pad octets after the ULPDU are not zero (RFC 5044 4.1)");
}

/* RFC 5044 4.1: the pad fills the FPDU up to a multiple of four octets. Told by the CRC, which stands where it ends. */
void pad_count(struct rule_context *ctx)
{
    size_t length = ctx->event->ulpdu->length;
    size_t pad;

    if (!crc_judged(ctx))
        return;
    if (ctx->event->ulpdu->mpa->fpdu.crc_ok)
        rule_pass(ctx);
    else if (crc_fault_named(ctx, &pad) == CRC_FAULT_PAD)
        rule_fail(ctx, rule_text(ctx, "%zu pad octets", fpdu_pad(length)), rule_text(ctx, "%zu pad octets", pad),
                  "The FPDU with ULPDU_Length %zu is not padded to a multiple of four (RFC 5044 4.1)", length);
}

/* Octets of an FPDU that never was whole, though another reading makes them one that is. */
static bool whole_otherwise(const struct rule_context *ctx, struct hint *hint)
{
    const struct flow_half *half = ctx->half;
    struct fpdu_framing framing = half->tcp->framing;

    framing.position = (uint32_t)half->position;
    if (half->unfinished_octets == NULL)
        return false;
    if (hint_fpdu(half->unfinished_octets, half->unfinished, &framing, hint))
        return hint->kind != HINT_CRC_MISSING || hint->seen != 0; /* its rest may just not have come */
    return !framing.markers && half->last_known &&
           hint_boundary(half->last, half->unfinished_octets, half->unfinished, hint);
}

static void judge_rest(struct rule_context *ctx)
{
    struct sentence text;
    struct hint hint;

    if (ctx->side->unsure || ctx->half->tcp == NULL || ctx->half->gaps != 0 || !ctx->half->tcp->in_sync ||
        !rule_from_start(ctx, ctx->direction) || !whole_otherwise(ctx, &hint))
        return;
    rule_because(ctx, hint.kind);
    rule_fail(ctx, "whole FPDUs", rule_text(ctx, "%zu octets of one that is never whole", ctx->half->unfinished),
              "The last octets are no FPDU as ULPDU_Length and pad say (RFC 5044 4.1): %s", hint_say(&hint, &text));
}

/* RFC 5044 4.1: the stream is FPDUs, one after the other, each as long as its ULPDU_Length says. */
void fpdus_follow_each_other(struct rule_context *ctx)
{
    struct sentence text;
    struct hint hint;

    if (ctx->event->kind == FLOW_END) {
        judge_rest(ctx);
        return;
    }
    if (ctx->event->kind == FLOW_ULPDU && ctx->event->ulpdu->result == TERM_MPA_CRC) {
        const struct fpdu *fpdu = &ctx->event->ulpdu->mpa->fpdu;

        if (crc_judged(ctx) && crc_fault(ctx, NULL) == CRC_FAULT_LENGTH &&
            hint_fpdu(fpdu->start, ctx->event->ulpdu->mpa->here, &ctx->event->ulpdu->mpa->framing, &hint)) {
            rule_because(ctx, hint.kind);
            rule_fail(ctx, "the length of the ULPDU", rule_text(ctx, "ULPDU_Length = %u", fpdu->ulpdu_length),
                      "ULPDU_Length is not that of the FPDU (RFC 5044 4.1): %s", hint_say(&hint, &text));
        }
        return;
    }
    if (ctx->event->kind == FLOW_ULPDU) {
        if (ctx->side->unsure || ctx->event->ulpdu->cut || ctx->event->ulpdu->result == TERM_MPA_CRC ||
            ctx->event->ulpdu->index == 0)
            return;
        if (!track_misplaced(ctx->event, &hint)) {
            rule_pass(ctx);
            return;
        }
        rule_because(ctx, hint.kind);
        rule_fail(ctx, "an FPDU",
                  rule_text(ctx, "other octets at position %llu", (unsigned long long)ctx->event->position),
                  "No FPDU begins where the one before ends (RFC 5044 4.1): %s", hint_say(&hint, &text));
        return;
    }
    if (ctx->event->reason != FLOW_REASON_SYNC_LOST || ctx->side->unsure || ctx->half->gaps != 0 ||
        ctx->half->fpdus == 0 || !rule_from_start(ctx, ctx->direction))
        return;
    rule_fail(ctx, "an FPDU", rule_text(ctx, "other octets at position %llu", (unsigned long long)ctx->event->position),
              "The octets after the last FPDU are not an FPDU: their ULPDU_Length is impossible (RFC 5044 4.1)");
}

static void judge_mulpdu(struct rule_context *ctx, bool markers)
{
    const struct fpdu *fpdu = &ctx->event->ulpdu->mpa->fpdu;

    if (ctx->event->ulpdu->mpa->framing.markers != markers || ctx->side->mulpdu == 0 || !fpdu->crc_ok ||
        ctx->side->wrong_framing)
        return;
    if (fpdu->ulpdu_length > ctx->side->mulpdu)
        rule_fail(ctx, rule_text(ctx, "ULPDU_Length <= %u", ctx->side->mulpdu),
                  rule_text(ctx, "ULPDU_Length = %u", fpdu->ulpdu_length),
                  "The ULPDU is longer than the MULPDU for an MSS of %u (RFC 5044 4.5); a TCP that does not report its "
                  "EMSS may be the cause (5.1)",
                  ctx->other->tcp->syn->mss);
    else
        rule_pass(ctx);
}

/* RFC 5044 4.5: MULPDU with Markers. A warning: a sender whose TCP does not report its EMSS goes by the MTU (5.1). */
void mulpdu_with_markers(struct rule_context *ctx)
{
    judge_mulpdu(ctx, true);
}

/* RFC 5044 4.5: MULPDU without Markers. */
void mulpdu_without_markers(struct rule_context *ctx)
{
    judge_mulpdu(ctx, false);
}

/*
 * RFC 5044 5.1: a sender uses what its TCP offers to begin segments with FPDUs. A warning when none of many does
 * but the
 * first one. Not judged in captures of offloaded segments: those were cut anew after the capture.
 */
void fpdus_aligned(struct rule_context *ctx)
{
    enum { MANY = 32 };
    const struct rule_side *side = ctx->side;

    if (side->unsure || side->fpdus < MANY || ctx->other->tcp->syn->mss == 0 ||
        ctx->half->tcp->largest_segment > ctx->other->tcp->syn->mss)
        return;
    if (side->aligned <= 1 && side->split >= MANY / 2)
        rule_fail(
            ctx, "TCP segments begin with FPDUs",
            rule_text(ctx, "%llu of %llu FPDUs", (unsigned long long)side->aligned, (unsigned long long)side->fpdus),
            "FPDUs are not aligned with TCP segments (RFC 5044 5.1)");
    else
        rule_pass(ctx);
}

/* RFC 5044 7.2: DDP closes a half connection after a whole FPDU. */
void fin_behind_fpdu(struct rule_context *ctx)
{
    const struct flow_close *close = ctx->event->close;
    struct hint hint;

    if (close->reset || !ctx->flow->full_operation || !ctx->half->tcp->in_sync || ctx->side->unsure ||
        ctx->half->tcp->octets->cut != 0 || close->unsound)
        return;
    if (close->partial_fpdu != 0) {
        if (whole_otherwise(ctx, &hint))
            rule_because(ctx, hint.kind);
        rule_fail(ctx, "FIN after a whole FPDU", rule_text(ctx, "%zu octets of an FPDU, then FIN", close->partial_fpdu),
                  "FIN was sent in the middle of an FPDU (RFC 5044 7.2)");
    } else if (ctx->half->fpdus != 0)
        rule_pass(ctx);
}

/* RFC 5044 4.4: the CRC is CRC32C, least significant octet first. */
void crc_is_crc32c(struct rule_context *ctx)
{
    const struct fpdu *fpdu = &ctx->event->ulpdu->mpa->fpdu;

    if (!crc_judged(ctx))
        return;
    switch (crc_fault_named(ctx, NULL)) {
    case CRC_FAULT_NONE: rule_pass(ctx); break;
    case CRC_FAULT_REVERSED:
        rule_fail(ctx, rule_text(ctx, "CRC 0x%08x, least significant octet first", fpdu->crc_expected),
                  "the same octets in reverse order", "The CRC has its octets in reverse order (RFC 5044 4.4)");
        break;
    case CRC_FAULT_OTHER:
        rule_fail(ctx, rule_text(ctx, "CRC 0x%08x", fpdu->crc_expected), rule_text(ctx, "CRC 0x%08x", fpdu->crc),
                  "The FPDU's CRC is wrong (RFC 5044 4.4)");
        break;
    default: break; /* another rule says it better */
    }
}

/* RFC 5044 7.1.1: C = 1 on either side: CRCs are generated. */
void crc_is_generated(struct rule_context *ctx)
{
    if (!crc_judged(ctx))
        return;
    if (ctx->event->ulpdu->mpa->fpdu.crc_ok)
        rule_pass(ctx);
    else if (crc_fault_named(ctx, NULL) == CRC_FAULT_ZERO)
        rule_fail(ctx, rule_text(ctx, "CRC 0x%08x", ctx->event->ulpdu->mpa->fpdu.crc_expected), "CRC field of zeros",
                  "CRCs are in use, as C is set in a start-up frame, but none was computed (RFC 5044 7.1.1)");
}

/* RFC 5044 4.4: without a Marker before it, the CRC runs from ULPDU_Length through the pad. */
void crc_covers_fpdu(struct rule_context *ctx)
{
    const struct flow_fpdu *fpdu = ctx->event->ulpdu->mpa;
    enum crc_fault fault;

    if (!crc_judged(ctx) || (fpdu->framing.markers && marker_distance(fpdu->framing.position) == 0))
        return;
    fault = crc_fault_named(ctx, NULL);
    if (fault == CRC_FAULT_NONE)
        rule_pass(ctx);
    else if (fault == CRC_FAULT_NO_LENGTH || fault == CRC_FAULT_NO_PAD)
        rule_fail(ctx, "CRC over ULPDU_Length, ULPDU and pad",
                  fault == CRC_FAULT_NO_PAD ? "the pad left out" : "ULPDU_Length left out",
                  "The CRC does not cover the whole FPDU (RFC 5044 4.4)");
}

static void judge_marker_cover(struct rule_context *ctx, bool concerned, enum crc_fault guilty, const char *where)
{
    enum crc_fault fault;

    if (!crc_judged(ctx) || !ctx->event->ulpdu->mpa->framing.markers || !concerned)
        return;
    fault = crc_fault_named(ctx, NULL);
    if (fault == CRC_FAULT_NONE)
        rule_pass(ctx);
    else if (fault == guilty)
        rule_fail(ctx, rule_text(ctx, "CRC covers the Marker %s", where), "Marker left out",
                  "The CRC was computed without the Marker %s (RFC 5044 4.4)", where);
}

/* RFC 5044 4.4: a Marker before ULPDU_Length is the first thing that the CRC covers. */
void crc_covers_leading_marker(struct rule_context *ctx)
{
    judge_marker_cover(ctx, marker_distance(ctx->event->ulpdu->mpa->framing.position) == 0, CRC_FAULT_NO_LEADING,
                       "before ULPDU_Length");
}

/* RFC 5044 4.4: a Marker between pad and CRC belongs to this FPDU's CRC. */
void crc_covers_trailing_marker(struct rule_context *ctx)
{
    judge_marker_cover(ctx, crc_marker_before_field(ctx), CRC_FAULT_NO_TRAILING, "between pad and CRC");
}

/* RFC 5044 4.3: Markers inside an FPDU are covered by its CRC. */
void crc_covers_inner_markers(struct rule_context *ctx)
{
    const struct flow_fpdu *fpdu = ctx->event->ulpdu->mpa;
    size_t leading = marker_distance(fpdu->framing.position) == 0;

    judge_marker_cover(ctx, fpdu->fpdu.markers > leading, CRC_FAULT_NO_MARKERS, "inside the FPDU");
}
