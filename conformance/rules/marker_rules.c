/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Markers (RFC 5044 4.3 and 7.1). They are judged in FPDUs whose CRC is right or not in use, and only where SeqStart is
 * known: a false Marker under a right CRC was computed so.
 */
#include "conformance/rules/crc_fault.h"
#include "conformance/rules/rule_context.h"
#include "conformance/rules/start_frame.h"
#include "wire/marker.h"

static bool judged(struct rule_context *ctx)
{
    const struct flow_fpdu *fpdu = ctx->event->ulpdu->mpa;

    rule_because(ctx, HINT_MARKER); /* whichever of these rules finds it */
    return fpdu->framing.markers && fpdu->fpdu.markers != 0 && ctx->half->start_known && !ctx->event->ulpdu->cut &&
           flow_crc_ok(ctx->event->ulpdu) && fpdu->reading.grid == FPDU_GRID_TEXT &&
           fpdu->reading.pointer == FPDU_POINTER_TEXT && fpdu->reading.pad == FPDU_PAD_TEXT &&
           fpdu->reading.length == FPDU_LENGTH_TEXT && fpdu->reading.crc != FPDU_CRC_ABSENT;
}

/* The i-th Marker of the event's FPDU, and its distance from the FPDU's first octet. */
static const uint8_t *marker_at(const struct rule_context *ctx, size_t i, size_t *offset)
{
    *offset = marker_distance(ctx->event->ulpdu->mpa->framing.position) + i * MARKER_SPACING;
    return ctx->event->ulpdu->mpa->fpdu.start + *offset;
}

/* M of the other side's start-up frame, when that was captured: whether this side has to send Markers. */
static bool demanded(const struct rule_context *ctx, bool *known)
{
    const struct iwarp_mpa_start *start = start_good(ctx, flow_reverse(ctx->direction));

    *known = start != NULL && !ctx->flow->late && ctx->flow->revision != MPA_REV_RDMAC &&
             flow_start_of(ctx->flow, ctx->direction) != NULL;
    return *known && start->markers;
}

/* RFC 5044 4.2: the reserved half is zero. */
void marker_reserved_zero(struct rule_context *ctx)
{
    if (!judged(ctx))
        return;
    if (ctx->event->ulpdu->mpa->fpdu.marker_reserved)
        rule_fail(ctx, "reserved half of zeros", "other octets",
                  "A Marker's reserved field is not zero (RFC 5044 4.2)");
    else
        rule_pass(ctx);
}

/* RFC 5044 4.2: the two low bits of FPDUPTR are zero. */
void marker_low_bits_zero(struct rule_context *ctx)
{
    size_t offset;

    if (!judged(ctx))
        return;
    for (size_t i = 0; i < ctx->event->ulpdu->mpa->fpdu.markers; i++) {
        unsigned pointer = octets_get16(marker_at(ctx, i, &offset) + 2);

        if (pointer & 3) {
            rule_fail(ctx, "FPDUPTR AND 3 = 0", rule_text(ctx, "FPDUPTR = 0x%04x", pointer),
                      "FPDUPTR has low bits set (RFC 5044 4.2)");
            return;
        }
    }
    rule_pass(ctx);
}

/* Judges FPDUPTR of the Markers from the `from`-th on: against `expected` for the first one when `only` is set. */
static void judge_pointers(struct rule_context *ctx, size_t from, bool only, const char *what)
{
    const struct flow_fpdu *fpdu = ctx->event->ulpdu->mpa;
    size_t offset;

    if (from >= fpdu->fpdu.markers)
        return;
    for (size_t i = from; i < fpdu->fpdu.markers && !(only && i > from); i++) {
        unsigned pointer = octets_get16(marker_at(ctx, i, &offset) + 2);
        unsigned expected = marker_pointer(fpdu->framing.position, i);

        if (pointer != expected) {
            rule_fail(ctx, rule_text(ctx, "FPDUPTR = 0x%04x", expected), rule_text(ctx, "FPDUPTR = 0x%04x", pointer),
                      "%s does not point to the FPDU's ULPDU_Length (RFC 5044 4.3)", what);
            return;
        }
    }
    rule_pass(ctx);
}

/* RFC 5044 4.3: a Marker inside an FPDU holds the distance back to its ULPDU_Length. */
void marker_points_to_length(struct rule_context *ctx)
{
    const struct flow_fpdu *fpdu = ctx->event->ulpdu->mpa;
    size_t offset, first = marker_distance(fpdu->framing.position) == 0;

    if (fpdu->reading.pointer == FPDU_POINTER_REVERSED && fpdu->fpdu.markers > first) {
        rule_because(ctx, HINT_MARKER_ORDER);
        rule_fail(ctx, rule_text(ctx, "FPDUPTR = 0x%04x", marker_pointer(fpdu->framing.position, first)),
                  rule_text(ctx, "FPDUPTR = 0x%04x", (unsigned)octets_get16(marker_at(ctx, first, &offset) + 2)),
                  "FPDUPTR has its octets in reverse order (RFC 5044 4.2, 4.3)");
    } else if (judged(ctx))
        judge_pointers(ctx, marker_distance(ctx->event->ulpdu->mpa->framing.position) == 0, false,
                       "A Marker inside the FPDU");
}

/* RFC 5044 4.3: where several FPDUs lie between two Markers, the second points to the one that it lies in. */
void marker_points_to_own_fpdu(struct rule_context *ctx)
{
    size_t in_interval = ctx->event->ulpdu->mpa->framing.position % MARKER_SPACING;

    if (judged(ctx) && in_interval > MARKER_OCTETS)
        judge_pointers(ctx, 0, true, "The Marker after several FPDUs");
}

/* RFC 5044 4.3: the first Marker of Full Operation holds zero. */
void first_marker_zero(struct rule_context *ctx)
{
    if (judged(ctx) && ctx->event->position == 0 && rule_from_start(ctx, ctx->direction))
        judge_pointers(ctx, 0, true, "The first Marker");
}

/* RFC 5044 4.3: a Marker that falls between two FPDUs holds zero. */
void marker_between_fpdus_zero(struct rule_context *ctx)
{
    if (judged(ctx) && ctx->event->position != 0 && marker_distance(ctx->event->ulpdu->mpa->framing.position) == 0)
        judge_pointers(ctx, 0, true, "The Marker between two FPDUs");
}

/* RFC 5044 4.3: all Markers inside one FPDU point to the same octet. */
void markers_agree(struct rule_context *ctx)
{
    size_t first = marker_distance(ctx->event->ulpdu->mpa->framing.position) == 0;
    size_t offset, origin;

    if (!judged(ctx) || ctx->event->ulpdu->mpa->fpdu.markers < first + 2)
        return;
    origin = octets_get16(marker_at(ctx, first, &offset) + 2);
    origin = offset - origin;
    for (size_t i = first + 1; i < ctx->event->ulpdu->mpa->fpdu.markers; i++) {
        size_t pointer = octets_get16(marker_at(ctx, i, &offset) + 2);

        if (offset - pointer != origin) {
            rule_fail(ctx, rule_text(ctx, "FPDUPTR = 0x%04x", (unsigned)((offset - origin) & 0xFFFF)),
                      rule_text(ctx, "FPDUPTR = 0x%04x", (unsigned)pointer),
                      "Markers of one FPDU point to different octets (RFC 5044 4.3)");
            return;
        }
    }
    rule_pass(ctx);
}

/* All Markers stand two octets later than they should: the first one after ULPDU_Length. */
static bool stands_behind_length(const struct fpdu_reading *reading)
{
    return reading->grid == FPDU_GRID_SHIFTED && reading->shift == FPDU_LENGTH_OCTETS;
}

/* The FPDU is one only without the Markers that it should have. The first one of a stream is judge_demand()'s. */
static bool is_unmarked(struct rule_context *ctx)
{
    if (ctx->event->ulpdu->mpa->reading.grid == FPDU_GRID_OTHER) {
        rule_because(ctx, HINT_MARKERS_MISSING);
        return !ctx->side->marked_otherwise;
    }
    return crc_judged(ctx) && crc_fault_named(ctx, NULL) == CRC_FAULT_UNMARKED;
}

/*
 * RFC 5044 4.3: a Marker at every 512th octet. Judged after the first one; what is missing shows by the CRC of an FPDU
 * that was built without it, or by a stream in which no FPDU can be found.
 */
void marker_every_512(struct rule_context *ctx)
{
    const struct fpdu_reading *reading = &ctx->event->ulpdu->mpa->reading;
    bool known;

    if (!demanded(ctx, &known) || !rule_from_start(ctx, ctx->direction))
        return;
    if (stands_behind_length(reading))
        return; /* marker_then_length() has it */
    if (reading->grid == FPDU_GRID_CRC_UNCOUNTED || reading->grid == FPDU_GRID_SHIFTED) {
        rule_because(ctx, HINT_MARKER_GRID);
        rule_fail(ctx, "a Marker at every 512th octet from SeqStart",
                  reading->grid == FPDU_GRID_SHIFTED
                      ? rule_text(ctx, "Markers %u octets after that", reading->shift)
                      : "Markers 4 octets later after each FPDU: its CRC field is not counted",
                  "Markers do not stand at every 512th octet (RFC 5044 4.3)");
    } else if (is_unmarked(ctx))
        rule_fail(ctx, "a Marker at every 512th octet", "an FPDU without a Marker inside",
                  "The octets are an FPDU only without Markers (RFC 5044 4.3)");
    else if (judged(ctx) && ctx->event->position + ctx->event->ulpdu->mpa->fpdu.octets > MARKER_SPACING &&
             ctx->event->ulpdu->mpa->fpdu.bad_marker == SIZE_MAX)
        rule_pass(ctx);
}

/* RFC 5044 4.3: Markers keep their distance where the sender's sequence numbers pass 2^32. */
void markers_after_wrap(struct rule_context *ctx)
{
    uint64_t start = ctx->event->octet - ctx->event->position; /* SeqStart, in 64 bits as `octet` is */
    bool known;

    if (!demanded(ctx, &known) || !rule_from_start(ctx, ctx->direction) || start >> 32 == ctx->event->end >> 32)
        return;
    if (is_unmarked(ctx))
        rule_fail(
            ctx, "a Marker at every 512th octet", "an FPDU without a Marker inside",
            "The sequence number has passed 2^32, and the octets are an FPDU only without Markers (RFC 5044 4.3)");
    else if (judged(ctx) && ctx->event->ulpdu->mpa->fpdu.bad_marker == SIZE_MAX)
        rule_pass(ctx);
}

/* The first FPDU, which shows whether there are Markers. */
static void judge_demand(struct rule_context *ctx, bool markers)
{
    const struct flow_fpdu *fpdu = ctx->event->ulpdu->mpa;
    bool known, demand = demanded(ctx, &known);

    if (!known || demand != markers || ctx->event->ulpdu->index != 0 || ctx->event->position != 0 ||
        ctx->event->ulpdu->cut || start_not_received(ctx))
        return;
    rule_because(ctx, markers ? HINT_MARKERS_MISSING : HINT_MARKERS_UNASKED);
    if (ctx->side->marked_otherwise)
        rule_fail(ctx, markers ? "a Marker, then ULPDU_Length" : "ULPDU_Length first",
                  rule_octets(ctx, fpdu->fpdu.start, 6),
                  "The other side's start-up frame has M = %d, but the stream begins %s a Marker (RFC 5044 7.1.1)",
                  markers, markers ? "without" : "with");
    else if (flow_crc_ok(ctx->event->ulpdu) && rule_from_start(ctx, ctx->direction))
        rule_pass(ctx);
}

/* RFC 5044 7.1.1: M = 1 in the Request obliges the Responder to send Markers. */
void responder_sends_markers(struct rule_context *ctx)
{
    judge_demand(ctx, true);
}

/* RFC 5044 7.1.1: M = 1 in the Reply obliges the Initiator. */
void initiator_sends_markers(struct rule_context *ctx)
{
    judge_demand(ctx, true);
}

/* RFC 5044 7.1.1: no Markers toward a side that declared M = 0. */
void no_markers_undemanded(struct rule_context *ctx)
{
    judge_demand(ctx, false);
}

/* RFC 5044 7.1.2 rule 7: with Markers the stream begins with one, then ULPDU_Length. */
void marker_then_length(struct rule_context *ctx)
{
    const struct flow_fpdu *fpdu = ctx->event->ulpdu->mpa;

    if (ctx->event->ulpdu->index != 0 || ctx->event->position != 0 || !rule_from_start(ctx, ctx->direction))
        return;
    if (stands_behind_length(&fpdu->reading)) {
        rule_because(ctx, HINT_MARKER_GRID);
        rule_fail(ctx, "a Marker, then ULPDU_Length", rule_octets(ctx, fpdu->fpdu.start, 6),
                  "The first Marker stands after ULPDU_Length (RFC 5044 7.1.2 rule 7)");
        return;
    }
    if (!judged(ctx))
        return;
    if (octets_get32(fpdu->fpdu.start) != 0 || fpdu->fpdu.ulpdu_length < DDP_TAGGED_OCTETS ||
        fpdu->fpdu.ulpdu_length > ULPDU_LENGTH_MAX)
        rule_fail(ctx, "00 00 00 00, then ULPDU_Length", rule_octets(ctx, fpdu->fpdu.start, 6),
                  "The stream does not begin with an empty Marker and ULPDU_Length (RFC 5044 7.1.2 rule 7)");
    else
        rule_pass(ctx);
}

/* RFC 5044 7.1.2 rule 7: without Markers it begins with ULPDU_Length, of a ULPDU that can hold a DDP header. */
void length_first(struct rule_context *ctx)
{
    const struct flow_fpdu *fpdu = ctx->event->ulpdu->mpa;

    bool known, demand = demanded(ctx, &known);

    if (ctx->event->ulpdu->index != 0 || ctx->event->position != 0)
        return;
    if (ctx->side->marked_otherwise && known && !demand && !ctx->event->ulpdu->cut) {
        rule_because(ctx, HINT_MARKERS_UNASKED);
        rule_fail(ctx, "ULPDU_Length", rule_octets(ctx, fpdu->fpdu.start, 6),
                  "Without Markers the stream does not begin with ULPDU_Length (RFC 5044 7.1.2 rule 7)");
        return;
    }
    if (fpdu->framing.markers || !rule_from_start(ctx, ctx->direction) || !flow_framed_by_text(ctx->event->ulpdu) ||
        !flow_crc_ok(ctx->event->ulpdu))
        return;
    if (fpdu->fpdu.ulpdu_length < DDP_TAGGED_OCTETS || fpdu->fpdu.ulpdu_length > ULPDU_LENGTH_MAX)
        rule_fail(ctx, "ULPDU_Length from 14 to 64768", rule_text(ctx, "ULPDU_Length = %u", fpdu->fpdu.ulpdu_length),
                  "The stream does not begin with the length of a ULPDU (RFC 5044 7.1.2 rule 7)");
    else
        rule_pass(ctx);
}
