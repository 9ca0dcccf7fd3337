/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Octets that are no FPDU where one should begin or end: which single mistake of the sender makes them one
 * (wire/fpdu_reading.h)? The readings are tried in order, and one is believed when a CRC or a Marker confirms it, or
 * when the headers of several FPDUs follow each other by it. The stream is then read by it, and its sender is judged
 * for that mistake alone. Hostile octets can ask for a search as often as READING_TRIES in one direction.
 */
#include "conformance/flow/mpa/flow_mpa_internal.h"

#include <string.h>

#include "wire/crc32c.h"
#include "wire/marker.h"

enum {
    READING_TRIES = 16,
    FPDUS_TRIED = 4,
    SHIFT_STEP = 2,
    PADS_TRIED = 8,
};

/* Octets from the first one of an FPDU on. */
struct stretch {
    const struct flow_side *side;
    uint8_t *scratch;
    const uint8_t *octets;
    size_t count;
    bool exact; /* the last one is the last of its segment, or of the stream */
    unsigned revision;
    uint64_t before; /* FPDUs before them */
    /* The best reading so far: */
    struct fpdu_reading *found;
    unsigned weight; /* how much supports it; 0: nothing */
    size_t length;   /* what its first ULPDU has */
    bool vague;      /* another one fits too, and gives that ULPDU another length */
};

/* What supports a reading; each outweighs all below. */
enum {
    WEIGHT_PLACE = 1,  /* the octets end where an FPDU does, or the header of the next one follows */
    WEIGHT_EXACT = 2,  /* they end with their segment */
    WEIGHT_FPDUS = 4,  /* there are several */
    WEIGHT_MARKER = 8, /* Markers in them are right */
    WEIGHT_CRC = 16,
};

/* Markers that hold more than zeros, which other octets are, too. */
static bool has_telling_marker(const struct fpdu *fpdu, uint32_t position)
{
    return fpdu->markers > (marker_distance(position) == 0);
}

/*
 * A ULPDU of an octet less would make an FPDU as long, and would end before a zero: which of both it is the CRC does
 * not tell, as a pad is zeros, too.
 */
static bool length_is_vague(const struct fpdu *fpdu)
{
    return fpdu->ulpdu_length == 0 || !fpdu->pad_zero ||
           (fpdu_pad(fpdu->ulpdu_length) != FPDU_PAD_MAX && fpdu->ulpdu[fpdu->ulpdu_length - 1] == 0);
}

/* Where a unit ends is known by headers alone if there is no CRC: they have to be right. */
static unsigned faults_allowed(const struct fpdu_reading *reading)
{
    return reading->pad == FPDU_PAD_TEXT && reading->length == FPDU_LENGTH_TEXT && reading->crc != FPDU_CRC_ABSENT;
}

/* The octets from `at` on, of an FPDU that is not whole, may be one. */
static bool may_begin(const struct stretch *stretch, const uint8_t *at, size_t lead, unsigned most)
{
    size_t count = stretch->count - (size_t)(at - stretch->octets);

    return count <= lead || flow_header_faults_at(at + lead, count - lead, stretch->revision) <= most;
}

static bool is_good(const struct stretch *stretch, wire_result result, const struct fpdu *fpdu, bool has_crc,
                    unsigned most)
{
    if (result != WIRE_OK || has_crc)
        return result == WIRE_OK;
    return fpdu->pad_zero &&
           flow_header_faults(fpdu->ulpdu, fpdu->ulpdu_length, fpdu->ulpdu_length, stretch->revision) <= most;
}

/* How much supports the reading; 0: the octets are no FPDUs by it. *length becomes that of the first ULPDU. */
static unsigned evidence_of(const struct stretch *stretch, const struct fpdu_reading *reading, size_t *length)
{
    static const struct fpdu_reading by_text;
    struct fpdu_framing framing = stretch->side->framing;
    const uint8_t *p = stretch->octets, *end = p + stretch->count;
    bool has_crc = framing.crc && reading->crc != FPDU_CRC_ABSENT && reading->crc != FPDU_CRC_ZERO;
    unsigned fpdus = 0, weight = 0, most = faults_allowed(reading);
    bool vague = false;

    framing.position = (uint32_t)stretch->side->position;
    while (p < end && fpdus < FPDUS_TRIED) {
        struct fpdu_framing own = fpdu_framing_by(&framing, reading, stretch->before + fpdus);
        size_t lead = own.markers && marker_distance(own.position) == 0 ? MARKER_OCTETS : 0;
        const uint8_t *at = p;
        struct fpdu fpdu;
        wire_result result =
            fpdu_parse_reading(&p, end, &framing, reading, stretch->before + fpdus, stretch->scratch, &fpdu);

        if (fpdus != 0 && !is_good(stretch, result, &fpdu, has_crc, most)) { /* it may be a mistake that is made once */
            p = at;
            result = fpdu_parse_reading(&p, end, &framing, &by_text, stretch->before + fpdus, stretch->scratch, &fpdu);
        }
        if (result != WIRE_OK) {
            bool begun = result == WIRE_MORE && fpdus != 0 && may_begin(stretch, at, lead, most);

            if (!begun && (fpdus == 0 || weight < WEIGHT_MARKER))
                return 0;
            if (begun && (size_t)(end - at) >= lead + FPDU_LENGTH_OCTETS + 2)
                weight |= WEIGHT_PLACE;
            break;
        }
        if (!is_good(stretch, result, &fpdu, has_crc, most))
            return 0;
        if (fpdus++ == 0) {
            *length = fpdu.ulpdu_length;
            vague = reading->length != FPDU_LENGTH_TEXT && length_is_vague(&fpdu);
        }
        weight |= (has_crc ? WEIGHT_CRC : 0) | (fpdus > 1 ? WEIGHT_FPDUS : 0);
        if (most != 0 && has_telling_marker(&fpdu, own.position)) /* Markers say nothing of where an FPDU ends */
            weight |= WEIGHT_MARKER;
        framing.position += (uint32_t)fpdu.octets;
    }
    weight |= p == end && stretch->exact ? WEIGHT_EXACT : 0;
    if (framing.crc && reading->crc == FPDU_CRC_ABSENT && weight < WEIGHT_EXACT) /* CRCs are in use: more has to */
        return 0;
    return vague && fpdus < 2 ? 0 : weight;
}

static void try_reading(struct stretch *stretch, struct fpdu_reading reading)
{
    size_t length = 0;
    unsigned weight = evidence_of(stretch, &reading, &length);

    if (weight == 0 || weight < stretch->weight)
        return;
    if (weight > stretch->weight) {
        *stretch->found = reading;
        stretch->vague = false;
        stretch->weight = weight;
        stretch->length = length;
    } else {
        stretch->vague = stretch->vague || length != stretch->length;
    }
}

/* Markers: none, unasked ones, another grid, another order of FPDUPTR's octets. */
static void try_markers(struct stretch *stretch)
{
    try_reading(stretch, (struct fpdu_reading){.grid = FPDU_GRID_OTHER});
    if (!stretch->side->framing.markers)
        return;
    try_reading(stretch, (struct fpdu_reading){.pointer = FPDU_POINTER_REVERSED});
    for (unsigned pointer = FPDU_POINTER_TEXT; pointer <= FPDU_POINTER_REVERSED && stretch->before != 0; pointer++)
        try_reading(stretch, (struct fpdu_reading){.grid = FPDU_GRID_CRC_UNCOUNTED, .pointer = (uint8_t)pointer});
    for (unsigned shift = SHIFT_STEP; shift < MARKER_SPACING; shift += SHIFT_STEP)
        for (unsigned pointer = FPDU_POINTER_TEXT; pointer <= FPDU_POINTER_REVERSED; pointer++)
            try_reading(stretch, (struct fpdu_reading){
                                     .grid = FPDU_GRID_SHIFTED, .pointer = (uint8_t)pointer, .shift = (uint16_t)shift});
}

static void try_pads(struct stretch *stretch)
{
    for (unsigned pad = FPDU_PAD_TEXT + 1; pad < FPDU_PAD_RULES; pad++)
        try_reading(stretch, (struct fpdu_reading){.pad = (uint8_t)pad});
    for (unsigned count = 0; count < PADS_TRIED; count++)
        try_reading(stretch, (struct fpdu_reading){.pad = FPDU_PAD_COUNT, .count = (uint8_t)count});
}

static void try_lengths(struct stretch *stretch)
{
    static const int16_t more[] = {FPDU_LENGTH_OCTETS,
                                   FPDU_CRC_OCTETS,
                                   FPDU_LENGTH_OCTETS + FPDU_CRC_OCTETS,
                                   -FPDU_LENGTH_OCTETS,
                                   DDP_UNTAGGED_OCTETS,
                                   DDP_TAGGED_OCTETS,
                                   1,
                                   -1,
                                   -FPDU_CRC_OCTETS};
    static const uint8_t rules[] = {FPDU_LENGTH_REVERSED, FPDU_LENGTH_HEADER_LEFT_OUT, FPDU_LENGTH_WITH_MARKERS};

    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        try_reading(stretch, (struct fpdu_reading){.length = rules[i]});
    for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
        try_reading(stretch, (struct fpdu_reading){.length = FPDU_LENGTH_MORE, .more = more[i]});
}

bool flow_reading_may_look(const struct flow_context *context)
{
    const struct flow_side *side = context->side;

    return context->connection->flow != NULL && side->half != NULL && side->half->start_known &&
           side->half->gaps == 0 && !side->start_lost && !side->tentative && !side->guessing && !side->doubtful &&
           side->doubts == 0 && side->octets.cut == 0 && side->half->tcp->resyncs == 0 &&
           side->reading_tries < READING_TRIES;
}

bool flow_reading_find(const struct flow_context *context, const uint8_t *octets, size_t count, bool exact,
                       struct fpdu_reading *found)
{
    struct flow_side *side = context->side;
    struct stretch stretch = {.side = side,
                              .scratch = context->common->scratch,
                              .octets = octets,
                              .count = count,
                              .exact = exact,
                              .revision = context->connection->flow->revision,
                              .before = side->half->fpdus,
                              .found = found};

    side->reading_tries++;
    if (!fpdu_reading_is_text(&side->reading))
        try_reading(&stretch, (struct fpdu_reading){0});
    try_markers(&stretch);
    try_pads(&stretch);
    for (unsigned crc = FPDU_CRC_TEXT + 1; crc < FPDU_CRC_RULES; crc++)
        if (side->framing.crc || crc == FPDU_CRC_ABSENT)
            try_reading(&stretch, (struct fpdu_reading){.crc = (uint8_t)crc});
    try_lengths(&stretch);
    side->vague = stretch.vague;
    return stretch.weight != 0;
}

/* ---- the end of the FPDU before ---------------------------------------------------------------------------------- */

static int octets_behind(const struct fpdu_reading *reading, size_t length)
{
    return (int)fpdu_pad_by(reading, length) + (reading->crc == FPDU_CRC_ABSENT ? 0 : FPDU_CRC_OCTETS);
}

/* How many octets later than it was cut off the FPDU before ends by the reading. */
static int later_by(const struct flow_side *side, const struct fpdu_reading *reading)
{
    return octets_behind(reading, side->before_length) - octets_behind(&side->before_by, side->before_length);
}

enum { ENDINGS = FPDU_PAD_RULES + 1 + PADS_TRIED };

/* The text's, the rules on the pad, no CRC field, and any pad. */
static struct fpdu_reading ending(unsigned i)
{
    if (i < FPDU_PAD_RULES)
        return (struct fpdu_reading){.pad = (uint8_t)i};
    if (i == FPDU_PAD_RULES)
        return (struct fpdu_reading){.crc = FPDU_CRC_ABSENT};
    return (struct fpdu_reading){.pad = FPDU_PAD_COUNT, .count = (uint8_t)(i - FPDU_PAD_RULES - 1)};
}

bool flow_reading_before(const struct flow_context *context, const uint8_t *octets, size_t count,
                         struct fpdu_reading *found, int *later)
{
    enum { LOOKED_AT = 24 };
    const struct flow_side *side = context->side;
    uint8_t window[FLOW_LAST_OCTETS + LOOKED_AT];
    size_t taken = count < LOOKED_AT ? count : LOOKED_AT;

    if (side->framing.crc || side->framing.markers || !side->before_known)
        return false;
    memcpy(window, side->last, side->last_count);
    memcpy(window + side->last_count, octets, taken);
    for (unsigned i = 0; i < ENDINGS; i++) {
        struct fpdu_reading reading = ending(i);
        int at = (int)side->last_count + later_by(side, &reading);

        *later = later_by(side, &reading);
        if (*later == 0 || at < 0 || (size_t)at + FPDU_LENGTH_OCTETS + 2 > side->last_count + taken ||
            flow_header_faults_at(window + at, side->last_count + taken - (size_t)at,
                                  context->connection->flow->revision) != 0)
            continue;
        *found = reading;
        return true;
    }
    return false;
}

bool flow_reading_at_end(const struct flow_side *side, const uint8_t *octets, size_t left, struct fpdu_reading *found)
{
    for (size_t i = 0; i < left; i++)
        if (octets[i] != 0) /* they have to be pad and CRC, which senders without CRCs send as zeros */
            return false;
    if (side->framing.crc || side->framing.markers || !side->before_known || !fpdu_reading_is_text(&side->reading))
        return false;
    for (unsigned i = 1; i < FPDU_PAD_RULES; i++) {
        *found = ending(i);
        if (later_by(side, found) == (int)left)
            return true;
    }
    return false;
}

/* ---- an FPDU whose CRC stands elsewhere -------------------------------------------------------------------------- */

size_t flow_reading_end_by_crc(const uint8_t *octets, size_t count)
{
    size_t most = count < FPDU_OCTETS_MAX ? count : FPDU_OCTETS_MAX;
    uint32_t state = CRC32C_START;

    for (size_t end = 0; end + 2 * FPDU_CRC_OCTETS <= most; end += 4) {
        state = crc32c_update(state, octets + end, 4);
        if (crc32c_value(state) == octets_get32_little(octets + end + FPDU_CRC_OCTETS))
            return end + 2 * FPDU_CRC_OCTETS;
    }
    return 0;
}
