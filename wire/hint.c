/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/hint.h"

#include <string.h>

#include "wire/crc32c.h"
#include "wire/ddp.h"
#include "wire/marker.h"
#include "base/octets.h"
#include "wire/rdmap.h"

/* Octets where an FPDU begins. */
struct span {
    const uint8_t *octets;
    size_t count;
    const struct fpdu_framing *framing; /* NULL: headers alone are looked at */
};

/* What so many octets of content take in the stream. */
static size_t with_markers(const struct span *span, size_t content)
{
    return content + (span->framing->markers ? MARKER_OCTETS * marker_count(span->framing->position, content) : 0);
}

static bool found(struct hint *hint, enum hint_kind kind, size_t seen, size_t due)
{
    *hint = (struct hint){kind, seen, due};
    return true;
}

/* `total` octets came, and their last four are the CRC of those before. */
static bool crc_fits(const struct span *span, size_t total)
{
    if (total < FPDU_LENGTH_OCTETS + FPDU_CRC_OCTETS || total > span->count)
        return false;
    return octets_get32_little(span->octets + total - FPDU_CRC_OCTETS) == crc32c(span->octets, total - FPDU_CRC_OCTETS);
}

/*
 * The octets from `at` on may begin an FPDU: a length that a DDP header fits into, versions 1, an opcode that has this
 * header.
 */
static bool begins_fpdu(const struct span *span, size_t at)
{
    const uint8_t *octets = span->octets + at;
    const struct rdmap_opcode_row *row;
    bool tagged;

    if (span->count < at || span->count - at < FPDU_LENGTH_OCTETS + 2)
        return false;
    tagged = (octets[2] & 0x80) != 0;
    if (octets_get16(octets) < (tagged ? DDP_TAGGED_OCTETS : DDP_UNTAGGED_OCTETS) ||
        octets_get16(octets) > ULPDU_LENGTH_MAX || (octets[2] & 0x3F) != DDP_VERSION ||
        (octets[3] & 0xF0) != RDMAP_VERSION << 6)
        return false;
    row = &rdmap_opcode_rows[octets[3] & 0x0F];
    return row->name != NULL && row->tagged == tagged;
}

/* The FPDU has the length that it says, and its CRC is wrong. */
static bool hint_crc(const struct span *span, size_t length, struct hint *hint)
{
    size_t total = with_markers(span, fpdu_content(length));
    uint32_t expected, sent;

    if (total > span->count)
        return false;
    sent = octets_get32_little(span->octets + total - FPDU_CRC_OCTETS);
    expected = crc32c(span->octets, total - FPDU_CRC_OCTETS);
    if (__builtin_bswap32(sent) == expected)
        return found(hint, HINT_CRC_ORDER, sent, expected);
    if (~sent == expected)
        return found(hint, HINT_CRC_INVERTED, sent, expected);
    if (span->framing->markers)
        return false;
    if (fpdu_pad(length) != 0 && crc32c(span->octets, FPDU_LENGTH_OCTETS + length) == sent)
        return found(hint, HINT_CRC_PAD, sent, expected);
    return crc32c(span->octets + FPDU_LENGTH_OCTETS, total - FPDU_LENGTH_OCTETS - FPDU_CRC_OCTETS) == sent &&
           found(hint, HINT_CRC_LENGTH, sent, expected);
}

/* The CRC stands after another number of pad octets. */
static bool hint_pad(const struct span *span, size_t length, struct hint *hint)
{
    enum { PAD_TRIED = 2 * FPDU_PAD_MAX + 1 };

    for (size_t pad = 0; pad <= PAD_TRIED; pad++)
        if (pad != fpdu_pad(length) &&
            crc_fits(span, with_markers(span, FPDU_LENGTH_OCTETS + length + pad + FPDU_CRC_OCTETS)))
            return found(hint, HINT_PAD, pad, fpdu_pad(length));
    return false;
}

/* ULPDU_Length differs from the length of the FPDU: the position of a fitting CRC shows the real length. */
static bool hint_length(const struct span *span, size_t length, struct hint *hint)
{
    size_t reversed = (length & 0xFF) << 8 | length >> 8, said = with_markers(span, fpdu_content(length));
    size_t lead = span->framing->markers && marker_distance(span->framing->position) == 0 ? MARKER_OCTETS : 0;
    size_t most = span->count < FPDU_SCRATCH_OCTETS ? span->count : FPDU_SCRATCH_OCTETS;
    uint32_t state = CRC32C_START;

    if (reversed != length && crc_fits(span, with_markers(span, fpdu_content(reversed))))
        return found(hint, HINT_LENGTH_ORDER, length, reversed);
    for (size_t end = 0; end + 2 * FPDU_CRC_OCTETS <= most; end += 4) {
        size_t total = end + 2 * FPDU_CRC_OCTETS;

        state = crc32c_update(state, span->octets + end, 4);
        if (crc32c_value(state) == octets_get32_little(span->octets + total - FPDU_CRC_OCTETS)) {
            bool tagged = (span->octets[lead + FPDU_LENGTH_OCTETS] & 0x80) != 0;
            size_t header_octets = tagged ? DDP_TAGGED_OCTETS : DDP_UNTAGGED_OCTETS;
            bool header = total == with_markers(span, fpdu_content(length + header_octets));

            return found(hint, header ? HINT_LENGTH_HEADER : HINT_LENGTH, said, total);
        }
    }
    return false;
}

/* Markers where none are agreed, or none where they are. */
static bool hint_markers(const struct span *span, const struct fpdu_framing *framing, struct hint *hint)
{
    size_t lead = !framing->markers && marker_distance(framing->position) == 0 ? MARKER_OCTETS : 0;
    size_t length, total;

    if (span->count < lead + FPDU_LENGTH_OCTETS)
        return false;
    length = octets_get16(span->octets + lead);
    total = fpdu_octets(length, !framing->markers, framing->position);
    if (total == fpdu_octets(length, framing->markers, framing->position) && lead == 0)
        return false;
    return crc_fits(span, total) &&
           found(hint, framing->markers ? HINT_MARKERS_MISSING : HINT_MARKERS_UNASKED, total, total);
}

/*
 * No CRC field: the next FPDU, or nothing, follows the pad. No CRC confirms this reading, so it is tried last.
 */
static bool hint_crc_missing(const struct span *span, size_t length, struct hint *hint)
{
    size_t end = FPDU_LENGTH_OCTETS + length + fpdu_pad(length);

    if (!begins_fpdu(span, 0) || end > span->count)
        return false;
    return (end == span->count || (begins_fpdu(span, end) && !begins_fpdu(span, end + FPDU_CRC_OCTETS))) &&
           found(hint, HINT_CRC_MISSING, span->count - end, FPDU_CRC_OCTETS);
}

/*
 * The FPDU without Markers whose CRC is zero: none was computed. Where something else than an FPDU follows, the zeros
 * may be a pad that is longer.
 */
static bool hint_crc_zero(const struct span *span, size_t length, struct hint *hint)
{
    enum { BEGINNING = FPDU_LENGTH_OCTETS + 2 };
    size_t total = fpdu_content(length);

    return !span->framing->markers && total <= span->count && begins_fpdu(span, 0) &&
           octets_get32(span->octets + total - FPDU_CRC_OCTETS) == 0 &&
           (span->count - total < BEGINNING || begins_fpdu(span, total)) && found(hint, HINT_CRC_ZERO, 0, 0);
}

bool hint_fpdu(const uint8_t *octets, size_t count, const struct fpdu_framing *framing, struct hint *hint)
{
    const struct span span = {octets, count, framing};
    size_t lead = framing->markers && marker_distance(framing->position) == 0 ? MARKER_OCTETS : 0;
    size_t length;

    *hint = (struct hint){HINT_NONE, 0, 0};
    if (count < FPDU_LENGTH_OCTETS)
        return false;
    if (framing->crc && hint_markers(&span, framing, hint))
        return true;
    if (count < lead + FPDU_LENGTH_OCTETS)
        return false;
    length = octets_get16(octets + lead);
    if (!framing->crc)
        return !framing->markers && hint_crc_missing(&span, length, hint);
    if (crc_fits(&span, with_markers(&span, fpdu_content(length))))
        return false;
    return hint_crc(&span, length, hint) || hint_pad(&span, length, hint) || hint_length(&span, length, hint) ||
           (!framing->markers && hint_crc_missing(&span, length, hint)) || hint_crc_zero(&span, length, hint);
}

bool hint_boundary(const uint8_t before[HINT_BEFORE], const uint8_t *octets, size_t count, struct hint *hint)
{
    enum { FARTHEST = 2 * FPDU_PAD_MAX + 1 };
    uint8_t window[HINT_BEFORE + FARTHEST + FPDU_LENGTH_OCTETS + 2];
    const size_t taken = count < sizeof(window) - HINT_BEFORE ? count : sizeof(window) - HINT_BEFORE;
    const struct span span = {window, HINT_BEFORE + taken, NULL};

    memcpy(window, before, HINT_BEFORE);
    memcpy(window + HINT_BEFORE, octets, taken);
    *hint = (struct hint){HINT_NONE, 0, 0};
    if (count < FPDU_LENGTH_OCTETS + 2 || begins_fpdu(&span, HINT_BEFORE))
        return false;
    if (begins_fpdu(&span, 0))
        return found(hint, HINT_CRC_MISSING, 0, FPDU_CRC_OCTETS);
    for (size_t off = 1; off <= FARTHEST; off++) {
        if (off <= FPDU_PAD_MAX && begins_fpdu(&span, HINT_BEFORE - off))
            return found(hint, HINT_FPDU_SHORT, off, 0);
        if (begins_fpdu(&span, HINT_BEFORE + off))
            return found(hint, HINT_FPDU_LONG, off, 0);
    }
    return false;
}

bool hint_number(uint64_t expected, uint64_t actual, unsigned octets, struct hint *hint)
{
    uint64_t reversed = octets == 0 || octets > 8 ? expected : __builtin_bswap64(expected) >> (64 - 8 * octets);

    *hint = (struct hint){HINT_NONE, 0, 0};
    return expected != actual && reversed == actual && found(hint, HINT_FIELD_ORDER, 0, 0);
}

/* The octets that these bits require after the control word; the first bit of the quoted header gives its length. */
static size_t terminate_wants(const uint8_t *data, size_t count, unsigned bits)
{
    size_t wants = (bits & (TERMINATE_BIT_M | TERMINATE_BIT_D)) != 0 ? TERMINATE_LENGTH_OCTETS : 0;

    if ((bits & TERMINATE_BIT_D) != 0)
        wants += count > TERMINATE_LENGTH_OCTETS && (data[TERMINATE_LENGTH_OCTETS] & 0x80) != 0 ? DDP_TAGGED_OCTETS
                                                                                                : DDP_UNTAGGED_OCTETS;
    return wants + ((bits & TERMINATE_BIT_R) != 0 ? READ_REQUEST_OCTETS : 0);
}

bool hint_terminate(const uint8_t *data, size_t count, unsigned bits, struct hint *hint)
{
    static const unsigned sets[] = {0, TERMINATE_BIT_M, TERMINATE_BIT_M | TERMINATE_BIT_D,
                                    TERMINATE_BIT_M | TERMINATE_BIT_D | TERMINATE_BIT_R};

    *hint = (struct hint){HINT_NONE, 0, 0};
    if (terminate_wants(data, count, bits) == count)
        return false;
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
        if (terminate_wants(data, count, sets[i]) == count)
            return found(hint, HINT_TERMINATE_BITS, bits, sets[i]);
    return false;
}

const char *hint_name(enum hint_kind kind)
{
    static const char *const names[] = {
#define HINT_NAME(kind, name) name,
        HINTS(HINT_NAME)
#undef HINT_NAME
    };

    return (unsigned)kind < HINT_COUNT ? names[kind] : "?";
}

enum hint_framing hint_framing_of(const char *name)
{
    int kind = HINT_NONE + 1;

    while (kind < HINT_COUNT && (name == NULL || strcmp(name, hint_name((enum hint_kind)kind)) != 0))
        kind++;
    switch (kind) {
    case HINT_FIELD_ORDER:
    case HINT_TERMINATE_BITS:
    case HINT_MSN_SHARED:
    case HINT_READ_ORDER:
    case HINT_TERMINATE_ORDER:
    case HINT_GOES_ON:
    case HINT_READ_EMPTY:
    case HINT_COUNT: return HINT_NO_FRAMING;
    case HINT_CRC_OTHER:
    case HINT_GARBAGE:
    case HINT_FPDU_SHORT:
    case HINT_FPDU_LONG: return HINT_FRAMING_WRONG;
    default: return HINT_FRAMING_READ;
    }
}

const char *hint_gist(enum hint_kind kind)
{
    static const char *const gists[HINT_COUNT] = {
        [HINT_NONE] = "",
        [HINT_CRC_MISSING] = "FPDUs have no CRC field",
        [HINT_CRC_ORDER] = "CRCs have their octets in reverse order",
        [HINT_CRC_ZERO] = "the CRC field is zero: no CRC was computed",
        [HINT_CRC_INVERTED] = "CRCs are the complement of the right ones",
        [HINT_PAD] = "the pad of FPDUs has another length",
        [HINT_LENGTH] = "ULPDU_Length is not that of the FPDU",
        [HINT_LENGTH_HEADER] = "ULPDU_Length leaves out the DDP header",
        [HINT_LENGTH_ORDER] = "ULPDU_Length has its octets in reverse order",
        [HINT_MARKERS_MISSING] = "Markers are missing",
        [HINT_MARKERS_UNASKED] = "there are Markers, which were not asked for",
        [HINT_FPDU_SHORT] = "FPDUs are shorter than ULPDU_Length says",
        [HINT_FPDU_LONG] = "FPDUs are longer than ULPDU_Length says",
        [HINT_FIELD_ORDER] = "a number has its octets in reverse order",
        [HINT_TERMINATE_BITS] = "the bits M, D and R of Terminates do not fit their octets",
        [HINT_CRC_PAD] = "the CRC leaves out the pad",
        [HINT_CRC_LENGTH] = "the CRC leaves out ULPDU_Length",
        [HINT_CRC_MARKERS] = "the CRC leaves out Markers",
        [HINT_CRC_OTHER] = "the CRC of FPDUs is wrong",
        [HINT_MARKER] = "Markers of FPDUs are wrong",
        [HINT_VERSION] = "segments have another version of DDP or RDMAP",
        [HINT_MARKER_GRID] = "Markers stand at other positions than every 512th from SeqStart",
        [HINT_MARKER_ORDER] = "FPDUPTR has its octets in reverse order",
        [HINT_CRC_PLACE] = "the CRC stands before the pad",
        [HINT_GARBAGE] = "the stream has octets that are no FPDU",
        [HINT_MSN_SHARED] = "one MSN counter serves all queues",
        [HINT_READ_ORDER] = "the fields of Read Requests have their octets in reverse order",
        [HINT_TERMINATE_ORDER] = "Layer and EType of Terminates stand in each other's place",
        [HINT_GOES_ON] = "the device goes on after an error that ends the stream",
        [HINT_ULPDU_REPEATED] = "a ULPDU stands twice in its FPDU",
        [HINT_READ_EMPTY] = "a Read of no octets is not answered",
    };

    return (unsigned)kind < HINT_COUNT ? gists[kind] : "";
}

static void say_bits(const struct hint *hint, struct iwarp_sentence *text)
{
    (void)iwarp_sentence_set(
        text, "the octets fit a Terminate with M = %d D = %d R = %d in place of M = %d D = %d R = %d",
        (hint->due & TERMINATE_BIT_M) != 0, (hint->due & TERMINATE_BIT_D) != 0, (hint->due & TERMINATE_BIT_R) != 0,
        (hint->seen & TERMINATE_BIT_M) != 0, (hint->seen & TERMINATE_BIT_D) != 0, (hint->seen & TERMINATE_BIT_R) != 0);
}

const char *hint_say(const struct hint *hint, struct iwarp_sentence *text)
{
    switch (hint->kind) {
    case HINT_CRC_MISSING: (void)iwarp_sentence_set(text, "the octets fit an FPDU without a CRC field"); break;
    case HINT_CRC_ORDER: (void)iwarp_sentence_set(text, "the CRC is right, but has its octets in reverse order"); break;
    case HINT_CRC_ZERO: (void)iwarp_sentence_set(text, "the CRC field is zero: no CRC was computed"); break;
    case HINT_CRC_INVERTED: (void)iwarp_sentence_set(text, "the CRC is the complement of the right one"); break;
    case HINT_PAD:
        (void)iwarp_sentence_set(text, "the octets fit an FPDU with %zu pad octet%s in place of %zu", hint->seen,
                                 hint->seen == 1 ? "" : "s", hint->due);
        break;
    case HINT_LENGTH:
    case HINT_LENGTH_HEADER:
        (void)iwarp_sentence_set(text, "the octets fit an FPDU of %zu octets, ULPDU_Length says one of %zu%s",
                                 hint->due, hint->seen,
                                 hint->kind == HINT_LENGTH ? "" : ": it leaves out the DDP header");
        break;
    case HINT_LENGTH_ORDER:
        (void)iwarp_sentence_set(text, "ULPDU_Length is %zu with its octets in reverse order", hint->due);
        break;
    case HINT_MARKERS_MISSING: (void)iwarp_sentence_set(text, "the octets fit an FPDU without Markers"); break;
    case HINT_MARKERS_UNASKED:
        (void)iwarp_sentence_set(text, "the octets fit an FPDU with Markers, which were not asked for");
        break;
    case HINT_FPDU_SHORT:
    case HINT_FPDU_LONG:
        (void)iwarp_sentence_set(
            text, "the next FPDU begins %zu octet%s %s the end that ULPDU_Length gives this one, as after another pad",
            hint->seen, hint->seen == 1 ? "" : "s", hint->kind == HINT_FPDU_SHORT ? "before" : "after");
        break;
    case HINT_FIELD_ORDER:
        (void)iwarp_sentence_set(text, "it is the right number with its octets in reverse order");
        break;
    case HINT_TERMINATE_BITS: say_bits(hint, text); break;
    case HINT_CRC_PAD: (void)iwarp_sentence_set(text, "the CRC is right for the octets without the pad"); break;
    case HINT_CRC_LENGTH: (void)iwarp_sentence_set(text, "the CRC is right for the octets without ULPDU_Length"); break;
    case HINT_CRC_OTHER:
    case HINT_MARKER:
    case HINT_MARKER_GRID:
    case HINT_MARKER_ORDER:
    case HINT_CRC_PLACE:
    case HINT_GARBAGE:
    case HINT_VERSION:
    case HINT_MSN_SHARED:
    case HINT_READ_ORDER:
    case HINT_TERMINATE_ORDER:
    case HINT_GOES_ON:
    case HINT_ULPDU_REPEATED:
    case HINT_READ_EMPTY: (void)iwarp_sentence_set(text, "%s", hint_gist(hint->kind)); break;
    case HINT_CRC_MARKERS: (void)iwarp_sentence_set(text, "the CRC is right for the octets without Markers"); break;
    default: (void)iwarp_sentence_set(text, "no other reading fits"); break;
    }
    return text->text;
}
