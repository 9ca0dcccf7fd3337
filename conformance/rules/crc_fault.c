/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/rules/crc_fault.h"

#include <string.h>

#include "conformance/rules/start_frame.h"
#include "wire/crc32c.h"
#include "wire/hint.h"
#include "wire/marker.h"

bool crc_judged(const struct rule_context *ctx)
{
    const struct iwarp_mpa_start *request = start_good(ctx, FLOW_FROM_INITIATOR);
    const struct iwarp_mpa_start *reply = start_good(ctx, FLOW_FROM_RESPONDER);
    bool agreed = (request != NULL && request->crc) || (reply != NULL && reply->crc);

    return agreed && ctx->event->ulpdu->mpa->framing.crc && !ctx->event->ulpdu->cut && !ctx->side->crc_failed &&
           !start_not_received(ctx);
}

bool crc_marker_before_field(const struct rule_context *ctx)
{
    const struct flow_fpdu *fpdu = ctx->event->ulpdu->mpa;
    uint32_t field = fpdu->framing.position + (uint32_t)fpdu->fpdu.octets - FPDU_CRC_OCTETS;

    return fpdu->framing.markers && fpdu->fpdu.octets >= MARKER_OCTETS + FPDU_LENGTH_OCTETS + FPDU_CRC_OCTETS &&
           marker_distance(field - MARKER_OCTETS) == 0;
}

/* CRC over the FPDU's octets from `start` to `end`, without its Markers when `skip` is set. */
static uint32_t crc_of(const struct flow_fpdu *fpdu, size_t start, size_t end, bool skip)
{
    const uint8_t *octets = fpdu->fpdu.start;
    uint32_t state = CRC32C_START;
    size_t at = start;

    while (at < end) {
        size_t next = end;

        if (skip) {
            size_t distance = marker_distance(fpdu->framing.position + (uint32_t)at);

            if (distance == 0) {
                at += MARKER_OCTETS;
                continue;
            }
            next = end - at < distance ? end : at + distance;
        }
        state = crc32c_update(state, octets + at, next - at);
        at = next;
    }
    return crc32c_value(state);
}

static enum crc_fault marker_fault(const struct rule_context *ctx, size_t end, uint32_t sent)
{
    const struct flow_fpdu *fpdu = ctx->event->ulpdu->mpa;
    size_t content = fpdu_content(fpdu->fpdu.ulpdu_length);
    bool leading = marker_distance(fpdu->framing.position) == 0;

    if (leading && crc_of(fpdu, MARKER_OCTETS, end, false) == sent)
        return CRC_FAULT_NO_LEADING;
    if (crc_marker_before_field(ctx) && crc_of(fpdu, 0, end - MARKER_OCTETS, false) == sent)
        return CRC_FAULT_NO_TRAILING;
    if (fpdu->fpdu.markers != 0 && crc_of(fpdu, 0, end, true) == sent)
        return CRC_FAULT_NO_MARKERS;
    if (!leading && content < fpdu->fpdu.octets &&
        crc_of(fpdu, 0, content - FPDU_CRC_OCTETS, false) ==
            octets_get32_little(fpdu->fpdu.start + content - FPDU_CRC_OCTETS))
        return CRC_FAULT_UNMARKED;
    return CRC_FAULT_OTHER;
}

/*
 * The FPDU has one or two zero pad octets too many: they stand where the CRC begins, and the first octets of the CRC
 * follow them. Three are not tried: only one octet of the CRC would be left to compare.
 */
static bool more_pad(const struct flow_fpdu *fpdu, size_t end, size_t *more)
{
    static const uint8_t zeros[2];
    uint8_t field[FPDU_CRC_OCTETS];
    const uint8_t *sent = fpdu->fpdu.start + end;

    for (size_t count = 1; count <= sizeof(zeros); count++) {
        uint32_t state = crc32c_update(CRC32C_START, fpdu->fpdu.start, end);

        octets_put32_little(field, crc32c_value(crc32c_update(state, zeros, count)));
        if (memcmp(sent, zeros, count) != 0 || memcmp(sent + count, field, FPDU_CRC_OCTETS - count) != 0)
            continue;
        if (more != NULL)
            *more = count;
        return true;
    }
    return false;
}

/* The CRC stands elsewhere within these octets. */
static bool length_fault(const struct flow_fpdu *fpdu)
{
    struct hint hint;

    return hint_fpdu(fpdu->fpdu.start, fpdu->here, &fpdu->framing, &hint) &&
           (hint.kind == HINT_LENGTH || hint.kind == HINT_LENGTH_HEADER || hint.kind == HINT_LENGTH_ORDER);
}

/* The mistake that the decoder reads the FPDU by. */
static enum crc_fault fault_of_reading(const struct fpdu_reading *reading)
{
    static const enum crc_fault faults[FPDU_CRC_RULES] = {
        [FPDU_CRC_ABSENT] = CRC_FAULT_PLACE,
        [FPDU_CRC_REVERSED] = CRC_FAULT_REVERSED,
        [FPDU_CRC_INVERTED] = CRC_FAULT_OTHER,
        [FPDU_CRC_WITHOUT_PAD] = CRC_FAULT_NO_PAD,
        [FPDU_CRC_WITHOUT_LENGTH] = CRC_FAULT_NO_LENGTH,
        [FPDU_CRC_WITHOUT_MARKERS] = CRC_FAULT_NO_MARKERS,
        [FPDU_CRC_WITHOUT_LEADING_MARKER] = CRC_FAULT_NO_LEADING,
        [FPDU_CRC_WITHOUT_TRAILING_MARKER] = CRC_FAULT_NO_TRAILING,
        [FPDU_CRC_BEFORE_PAD] = CRC_FAULT_PLACE,
        [FPDU_CRC_ZERO] = CRC_FAULT_ZERO,
    };

    return faults[reading->crc];
}

enum crc_fault crc_fault(const struct rule_context *ctx, size_t *pad)
{
    const struct flow_fpdu *fpdu = ctx->event->ulpdu->mpa;
    const uint8_t *start = fpdu->fpdu.start;
    size_t end = fpdu->fpdu.octets - FPDU_CRC_OCTETS;
    size_t padding = fpdu_pad(fpdu->fpdu.ulpdu_length);
    uint32_t sent = fpdu->fpdu.crc;
    enum crc_fault fault;

    if (fpdu->fpdu.crc_ok)
        return CRC_FAULT_NONE;
    if (fpdu->reading.crc != FPDU_CRC_TEXT)
        return fault_of_reading(&fpdu->reading);
    if (__builtin_bswap32(sent) == fpdu->fpdu.crc_expected)
        return CRC_FAULT_REVERSED;
    for (size_t less = 1; fpdu->fpdu.markers == 0 && less <= padding; less++) {
        if (crc_of(fpdu, 0, end - less, false) != octets_get32_little(start + end - less))
            continue;
        if (pad != NULL)
            *pad = padding - less;
        return CRC_FAULT_PAD;
    }
    if ((!fpdu->framing.markers || marker_distance(fpdu->framing.position + (uint32_t)end) >= 2 * FPDU_CRC_OCTETS) &&
        more_pad(fpdu, end, pad)) {
        if (pad != NULL)
            *pad += padding;
        return CRC_FAULT_PAD;
    }
    if (fpdu->fpdu.markers == 0 && crc_of(fpdu, FPDU_LENGTH_OCTETS, end, false) == sent)
        return CRC_FAULT_NO_LENGTH;
    if (fpdu->fpdu.markers == 0 && padding != 0 && crc_of(fpdu, 0, end - padding, false) == sent)
        return CRC_FAULT_NO_PAD;
    fault = fpdu->framing.markers ? marker_fault(ctx, end, sent) : CRC_FAULT_OTHER;
    if (fault == CRC_FAULT_OTHER && length_fault(fpdu))
        return CRC_FAULT_LENGTH;
    return fault == CRC_FAULT_OTHER && sent == 0 ? CRC_FAULT_ZERO : fault;
}

enum crc_fault crc_fault_named(struct rule_context *ctx, size_t *pad)
{
    static const enum hint_kind kinds[] = {
        [CRC_FAULT_NONE] = HINT_NONE,
        [CRC_FAULT_REVERSED] = HINT_CRC_ORDER,
        [CRC_FAULT_ZERO] = HINT_CRC_ZERO,
        [CRC_FAULT_NO_LENGTH] = HINT_CRC_LENGTH,
        [CRC_FAULT_NO_PAD] = HINT_CRC_PAD,
        [CRC_FAULT_PAD] = HINT_PAD,
        [CRC_FAULT_NO_LEADING] = HINT_CRC_MARKERS,
        [CRC_FAULT_NO_TRAILING] = HINT_CRC_MARKERS,
        [CRC_FAULT_NO_MARKERS] = HINT_CRC_MARKERS,
        [CRC_FAULT_UNMARKED] = HINT_MARKERS_MISSING,
        [CRC_FAULT_LENGTH] = HINT_LENGTH,
        [CRC_FAULT_PLACE] = HINT_CRC_PLACE,
        [CRC_FAULT_OTHER] = HINT_CRC_OTHER,
    };
    enum crc_fault fault = crc_fault(ctx, pad);
    const struct flow_fpdu *fpdu = ctx->event->ulpdu->mpa;
    struct hint hint;
    bool fits = (fault == CRC_FAULT_OTHER || fault == CRC_FAULT_LENGTH) && fpdu->reading.crc == FPDU_CRC_TEXT &&
                hint_fpdu(fpdu->fpdu.start, fpdu->here, &fpdu->framing, &hint);

    rule_because(ctx, fits ? hint.kind : fpdu->reading.crc == FPDU_CRC_INVERTED ? HINT_CRC_INVERTED : kinds[fault]);
    return fault;
}
