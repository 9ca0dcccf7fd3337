/* SPDX-License-Identifier: BSD-2-Clause */
/* FPDUs: length, pad, size against the MSS, and how a stream of them ends (RFC 5044 4.1, 4.5, 5.1, 7.2). */
#include "conformance/rules/crc_fault.h"
#include "conformance/rules/rule_context.h"
#include "conformance/rules/start_frame.h"
#include "wire/hint.h"
#include "wire/marker.h"

enum { FIRST_SHOWN = 8 }; /* octets of what is no FPDU */

static const struct fpdu_reading *reading_of(const struct rule_context *ctx)
{
    return &ctx->event->ulpdu->mpa->reading;
}

/* RFC 5044 3 and 4.5: a ULPDU has at most 64768 octets. */
void ulpdu_length_limit(struct rule_context *ctx)
{
    const struct fpdu *fpdu = &ctx->event->ulpdu->mpa->fpdu;

    if (!flow_crc_ok(ctx->event->ulpdu) || reading_of(ctx)->length != FPDU_LENGTH_TEXT)
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

    if (!flow_crc_ok(ctx->event->ulpdu) || !flow_framed_by_text(ctx->event->ulpdu))
        return;
    if (fpdu->octets > most)
        rule_fail(ctx, rule_text(ctx, "an FPDU of at most %zu octets", most),
                  rule_text(ctx, "%zu octets", fpdu->octets),
                  "An FPDU is longer than an IP datagram can hold (RFC 5044 3)");
    else
        rule_pass(ctx);
}

static bool is_zero(const uint8_t *octets, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (octets[i] != 0)
            return false;
    return true;
}

static void judge_pad(struct rule_context *ctx, const uint8_t *pad, size_t count)
{
    if (is_zero(pad, count))
        rule_pass(ctx);
    else
        rule_fail(ctx, "pad of zeros", rule_text(ctx, "pad of %s", rule_octets(ctx, pad, count)),
                  "Pad octets after the ULPDU are not zero (RFC 5044 4.1)");
}

/* The FPDU before this event ends where it says: the next one begins there, or nothing follows. */
static bool boundary_proven(const struct rule_context *ctx)
{
    const struct flow_ulpdu *ulpdu = ctx->event->ulpdu;

    if (ctx->event->kind == FLOW_END)
        return ctx->half->gaps == 0 && ctx->half->unfinished == 0 &&
               fpdu_reading_is_text(&ctx->half->tcp->last_reading);
    return !ulpdu->unverified && !ulpdu->mpa->resynced && fpdu_reading_is_text(&ulpdu->mpa->before);
}

/* What waited for that is of an earlier frame. */
static void judge_waiting_pad(struct rule_context *ctx)
{
    const struct flow_event *event = ctx->event;
    struct flow_event shown = *event;

    shown.frame = ctx->side->pad_frame;
    ctx->event = &shown;
    judge_pad(ctx, ctx->side->pad_octets, ctx->side->pad_count);
    ctx->event = event;
}

/* RFC 5044 4.1: pad octets are sent as zero. What is the pad is known when it is known where the FPDU ends. */
void pad_is_zero(struct rule_context *ctx)
{
    const struct flow_ulpdu *ulpdu = ctx->event->ulpdu;
    size_t pad;

    if (ctx->side->pad_waits && boundary_proven(ctx))
        judge_waiting_pad(ctx);
    if (ctx->event->kind == FLOW_END)
        return;
    pad = fpdu_pad(ulpdu->length);
    if (pad != 0 && !ulpdu->cut && flow_crc_ok(ulpdu) && flow_framed_by_text(ulpdu) && ulpdu->mpa->end_proven)
        judge_pad(ctx, ulpdu->mpa->fpdu.ulpdu + ulpdu->length, pad);
}

/*
 * The octets of an FPDU that never was whole are no beginning of one, or another reading makes them one that is whole.
 */
static bool is_no_rest(const struct rule_context *ctx, struct hint *hint)
{
    const struct flow_half *half = ctx->half;
    struct fpdu_framing framing = half->tcp->framing;

    framing.position = (uint32_t)half->position;
    *hint = (struct hint){HINT_GARBAGE, 0, 0};
    if (half->unfinished_octets == NULL)
        return false;
    if (half->unfinished_faults > 1 && !framing.crc)
        return true;
    return framing.crc && hint_fpdu(half->unfinished_octets, half->unfinished, &framing, hint) &&
           (hint->kind != HINT_CRC_MISSING || hint->seen != 0); /* its rest may just not have come */
}

/* The stream is known up to its last octet. */
static bool rest_is_judged(const struct rule_context *ctx)
{
    return ctx->half->tcp != NULL && !ctx->side->unsure && ctx->half->gaps == 0 && ctx->half->tcp->in_sync &&
           rule_from_start(ctx, ctx->direction);
}

static void fail_pad(struct rule_context *ctx, const struct fpdu_reading *reading, size_t length)
{
    size_t due = fpdu_pad(length), pad = fpdu_pad_by(reading, length);

    if (pad == due)
        return;
    rule_because(ctx, HINT_PAD);
    rule_fail(ctx, rule_text(ctx, "%zu pad octets", due), rule_text(ctx, "%zu pad octets", pad),
              "The FPDU with ULPDU_Length %zu is not padded to a multiple of four (RFC 5044 4.1)", length);
}

/*
 * RFC 5044 4.1: the pad fills the FPDU up to a multiple of four octets. The end of the pad is known from the CRC, which
 * follows it, or from where the next FPDU begins.
 */
void pad_count(struct rule_context *ctx)
{
    const struct flow_fpdu *fpdu;
    struct hint hint;
    size_t pad;

    if (ctx->event->kind == FLOW_END) {
        if (ctx->half->tcp != NULL)
            fail_pad(ctx, &ctx->half->tcp->last_reading, ctx->half->tcp->last_length);
        if (rest_is_judged(ctx) && is_no_rest(ctx, &hint) && hint.kind == HINT_PAD) {
            rule_because(ctx, HINT_PAD);
            rule_fail(ctx, rule_text(ctx, "%zu pad octets", hint.due), rule_text(ctx, "%zu pad octets", hint.seen),
                      "The last FPDU is not padded to a multiple of four (RFC 5044 4.1)");
        }
        return;
    }
    fpdu = ctx->event->ulpdu->mpa;
    fail_pad(ctx, &fpdu->before, fpdu->before_length);
    fail_pad(ctx, &fpdu->reading, ctx->event->ulpdu->length);
    if (fpdu->reading.pad != FPDU_PAD_TEXT || !crc_judged(ctx))
        return;
    if (fpdu->fpdu.crc_ok)
        rule_pass(ctx);
    else if (crc_fault_named(ctx, &pad) == CRC_FAULT_PAD)
        rule_fail(ctx, rule_text(ctx, "%zu pad octets", fpdu_pad(ctx->event->ulpdu->length)),
                  rule_text(ctx, "%zu pad octets", pad),
                  "The FPDU with ULPDU_Length %u is not padded to a multiple of four (RFC 5044 4.1)",
                  ctx->event->ulpdu->length);
}

static void judge_rest(struct rule_context *ctx)
{
    struct iwarp_sentence text;
    struct hint hint;

    if (!rest_is_judged(ctx) || !is_no_rest(ctx, &hint) || hint.kind == HINT_PAD) /* that is pad_count()'s */
        return;
    rule_because(ctx, hint.kind);
    rule_fail(ctx, "whole FPDUs",
              rule_text(ctx, "%zu octets: %s", ctx->half->unfinished,
                        rule_octets(ctx, ctx->half->unfinished_octets,
                                    ctx->half->unfinished < FIRST_SHOWN ? ctx->half->unfinished : FIRST_SHOWN)),
              "The last octets are no FPDU (RFC 5044 4.1): %s",
              hint.kind == HINT_GARBAGE ? hint_gist(hint.kind) : hint_say(&hint, &text));
}

/* The FPDU is none as ULPDU_Length and CRC field have it, and another reading makes it one. */
static bool fail_layout(struct rule_context *ctx, const struct fpdu_reading *reading, size_t length)
{
    static const enum hint_kind lengths[] = {
        [FPDU_LENGTH_REVERSED] = HINT_LENGTH_ORDER,
        [FPDU_LENGTH_HEADER_LEFT_OUT] = HINT_LENGTH_HEADER,
        [FPDU_LENGTH_MORE] = HINT_LENGTH,
        [FPDU_LENGTH_WITH_MARKERS] = HINT_LENGTH,
    };
    enum hint_kind kind = reading->length != FPDU_LENGTH_TEXT   ? lengths[reading->length]
                          : reading->crc == FPDU_CRC_ABSENT     ? HINT_CRC_MISSING
                          : reading->crc == FPDU_CRC_BEFORE_PAD ? HINT_CRC_PLACE
                                                                : HINT_NONE;

    if (kind == HINT_NONE)
        return false;
    rule_because(ctx, kind);
    rule_fail(ctx, "ULPDU_Length, ULPDU, pad, CRC",
              rule_text(ctx, "%s, a ULPDU of %zu octets", hint_gist(kind), length),
              "The octets are an FPDU only if %s (RFC 5044 4.1)", hint_gist(kind));
    return true;
}

/* The CRC is wrong where ULPDU_Length puts it, and right elsewhere. */
static void judge_length_by_crc(struct rule_context *ctx)
{
    const struct flow_fpdu *fpdu = ctx->event->ulpdu->mpa;
    struct iwarp_sentence text;
    struct hint hint;

    if (!crc_judged(ctx) || crc_fault(ctx, NULL) != CRC_FAULT_LENGTH ||
        !hint_fpdu(fpdu->fpdu.start, fpdu->here, &fpdu->framing, &hint))
        return;
    rule_because(ctx, hint.kind);
    rule_fail(ctx, "the length of the ULPDU", rule_text(ctx, "ULPDU_Length = %u", fpdu->fpdu.ulpdu_length),
              "ULPDU_Length is not that of the FPDU (RFC 5044 4.1): %s", hint_say(&hint, &text));
}

/* RFC 5044 4.1: the stream is FPDUs, one after the other, each as long as its ULPDU_Length says. */
void fpdus_follow_each_other(struct rule_context *ctx)
{
    const struct flow_ulpdu *ulpdu = ctx->event->ulpdu;

    if (ctx->event->kind == FLOW_END) {
        judge_rest(ctx);
    } else if (ctx->event->kind == FLOW_ULPDU) {
        if (fail_layout(ctx, &ulpdu->mpa->before, ulpdu->mpa->before_length) ||
            fail_layout(ctx, &ulpdu->mpa->reading, ulpdu->length))
            return;
        if (ulpdu->result == TERM_MPA_CRC)
            judge_length_by_crc(ctx);
        else if (!ctx->side->unsure && !ulpdu->cut && ulpdu->index != 0)
            rule_pass(ctx);
    } else if (ctx->event->reason == FLOW_REASON_SYNC_LOST && !ctx->side->unsure && ctx->half->gaps == 0 &&
               ctx->flow->full_operation && rule_from_start(ctx, ctx->direction)) {
        rule_because(ctx, HINT_GARBAGE);
        rule_fail(ctx, "an FPDU",
                  rule_text(ctx, "other octets at position %llu", (unsigned long long)ctx->event->position),
                  "No FPDU begins where the one before ends, and no single mistake explains it (RFC 5044 4.1)");
    }
}

static void judge_mulpdu(struct rule_context *ctx, bool markers)
{
    const struct fpdu *fpdu = &ctx->event->ulpdu->mpa->fpdu;

    if (ctx->event->ulpdu->mpa->framing.markers != markers || ctx->side->mulpdu == 0 ||
        !flow_crc_ok(ctx->event->ulpdu) || !flow_framed_by_text(ctx->event->ulpdu))
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

    if (close->reset || !ctx->flow->full_operation || !ctx->half->tcp->in_sync || ctx->side->unsure ||
        ctx->half->tcp->octets->cut != 0 || close->unsound)
        return;
    if (close->partial_fpdu != 0) {
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
