/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Is a stream whose beginning was not captured iWARP? Two things say that it is not, and without one of them nobody
 * knows:
 *
 * - No FPDUs follow one another in it. An FPDU begins with four octets that no Marker divides: ULPDU_Length, DDP's and
 *   RDMAP's control octets (RFC 5044 4.1 and 4.3, RFC 5041 4, RFC 5040 4), which have few values. In any two longest
 *   FPDUs' worth of octets without a gap one FPDU begins, and where it ends, with or without Markers, the next one
 *   does. A run of that length without such a pair is no FPDU stream, whatever its alignment, its Markers and its CRCs
 *   are.
 *
 * - What its senders begin are not FPDUs. A segment that begins after a PSH, when everything before it was
 *   acknowledged, has the first octets of something that its sender wrote then: in an FPDU stream an FPDU, for an ULPDU
 *   is framed and written as one (RFC 5044 3). Three such segments, of either direction, none of which begins like an
 *   FPDU or a start-up frame, are no FPDU stream, unless a pair was found: a sender that means to may write a part of
 *   an FPDU, too.
 *
 * Pairs that are found are also places to lock on where segments do not begin with FPDUs.
 */
#include <stdlib.h>
#include <string.h>

#include "conformance/flow/mpa/flow_mpa_internal.h"
#include "conformance/flow/mpa/flow_search.h"
#include "wire/marker.h"

enum {
    CONTROL_OCTETS = 4, /* ULPDU_Length and both control octets */
    QN_AT = 8,          /* from ULPDU_Length on */
    HEADER_OCTETS = 16, /* to after the queue number, and a Marker before it */
    LEAST_ULPDU = DDP_TAGGED_OCTETS,
    LONGEST = FPDU_LENGTH_OCTETS + UINT16_MAX + FPDU_PAD_MAX + FPDU_CRC_OCTETS, /* also one that may not be so long */
    LONGEST_WITH_MARKERS = LONGEST + (LONGEST / MARKER_DATA + 1) * MARKER_OCTETS,
    WINDOW = 2 * LONGEST_WITH_MARKERS + HEADER_OCTETS,
    ENDS_MAX = 64,
};

size_t flow_search_window(void)
{
    return WINDOW;
}

struct flow_search {
    uint64_t scanned;        /* octets since the last gap */
    uint64_t since;          /* no pair was found from here on */
    uint64_t ends[ENDS_MAX]; /* where an FPDU begins if that which was found before is one */
    unsigned end_count;
    bool paired; /* a pair was found since the last gap */
    uint8_t tail[CONTROL_OCTETS - 1];
    size_t tail_count;
};

/* ---- headers ----------------------------------------------------------------------------------------------------- */

/* Four octets at least; what of the rest is not there counts as fitting. Both versions: RFC 5044 and its Appendix C. */
static bool is_header(const uint8_t *at, size_t have)
{
    const struct rdmap_opcode_row *row = &rdmap_opcode_rows[at[3] & 0xF];
    bool tagged = (at[2] & 0x80) != 0;
    size_t length = octets_get16(at);

    if ((at[2] & 0x3E) != 0 || (at[3] & 0xB0) != 0 || row->name == NULL || row->tagged != tagged ||
        length < LEAST_ULPDU)
        return false;
    if (tagged || have < HEADER_OCTETS)
        return true;
    return octets_get32(at + QN_AT) == row->qn || octets_get32(at + QN_AT + MARKER_OCTETS) == row->qn;
}

static bool ends_hold(struct flow_search *search, uint64_t place)
{
    bool found = false;

    for (unsigned i = 0; i < search->end_count;) {
        found |= search->ends[i] == place;
        if (search->ends[i] <= place) /* others will not be met any more */
            search->ends[i] = search->ends[--search->end_count];
        else
            i++;
    }
    return found;
}

static void ends_add(struct flow_search *search, uint64_t end)
{
    if (search->end_count == ENDS_MAX) /* nothing can be excluded for now */
        search->since = search->scanned;
    else
        search->ends[search->end_count++] = end;
}

/* A header at `place` of the run. True: an FPDU before it ends there. */
static bool note_header(struct flow_search *search, uint64_t place, const uint8_t *at)
{
    size_t octets = fpdu_octets(octets_get16(at), false, 0);
    size_t markers = octets / MARKER_DATA;
    bool pair = ends_hold(search, place);

    ends_add(search, place + octets);
    /* With Markers: how many there are up to the next ULPDU_Length depends on where the first one is. */
    if (markers != 0)
        ends_add(search, place + octets + markers * MARKER_OCTETS);
    ends_add(search, place + octets + (markers + 1) * MARKER_OCTETS);
    if (pair)
        search->since = place;
    search->paired = search->paired || pair;
    return pair;
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

/* Headers that begin in the piece before. */
static void scan_border(struct flow_search *search, const uint8_t *octets, size_t count)
{
    uint8_t border[2 * (CONTROL_OCTETS - 1)];
    size_t have = search->tail_count, more = count < CONTROL_OCTETS - 1 ? count : CONTROL_OCTETS - 1;

    memcpy(border, search->tail, have);
    memcpy(border + have, octets, more);
    for (size_t i = 0; i < have && i + CONTROL_OCTETS <= have + more; i++)
        if (is_header(border + i, CONTROL_OCTETS))
            (void)note_header(search, search->scanned - have + i, border + i);
}

static void keep_tail(struct flow_search *search, const uint8_t *octets, size_t count)
{
    uint8_t joined[2 * (CONTROL_OCTETS - 1)];
    size_t more = count < CONTROL_OCTETS - 1 ? count : CONTROL_OCTETS - 1;
    size_t have = search->tail_count, drop;

    memcpy(joined, search->tail, have);
    memcpy(joined + have, octets + count - more, more);
    drop = have + more > CONTROL_OCTETS - 1 ? have + more - (CONTROL_OCTETS - 1) : 0;
    search->tail_count = have + more - drop;
    memcpy(search->tail, joined + drop, search->tail_count);
}

size_t flow_search_octets(struct flow_side *side, const uint8_t *octets, size_t count)
{
    struct flow_search *search = side->search;
    size_t pair = SIZE_MAX;

    if (search == NULL && (search = side->search = calloc(1, sizeof(*search))) == NULL)
        return SIZE_MAX; /* nothing is excluded, nothing found */
    scan_border(search, octets, count);
    for (size_t i = 0; i + CONTROL_OCTETS <= count; i++)
        if ((octets[i + 2] & 0x3E) == 0 && (octets[i + 3] & 0xB0) == 0 && is_header(octets + i, count - i) &&
            note_header(search, search->scanned + i, octets + i) && pair == SIZE_MAX)
            pair = i;
    keep_tail(search, octets, count);
    search->scanned += count;
    return pair;
}

bool flow_search_excludes(const struct flow_side *side)
{
    return side->search != NULL && side->search->scanned - side->search->since >= WINDOW;
}

void flow_search_break(struct flow_side *side)
{
    if (side->search != NULL)
        *side->search = (struct flow_search){0};
}

void flow_search_release(struct flow_side *side)
{
    free(side->search);
    side->search = NULL;
}

/* ---- what senders begin ------------------------------------------------------------------------------------------ */

static bool is_fresh(const struct flow_side *side, const struct flow_segment *segment)
{
    return side->pushed && side->seq_known && (uint32_t)side->next == segment->seq && side->acked_known &&
           (uint32_t)side->acked == segment->seq;
}

void flow_search_segment(struct flow_connection *connection, const struct flow_segment *segment)
{
    struct flow_side *side = &connection->side[segment->side];

    if (side->state == SIDE_LATE && segment->captured >= CONTROL_OCTETS && is_fresh(side, segment)) {
        if (is_header(segment->payload, segment->captured) ||
            mpa_start_kind_of(segment->payload, segment->captured) >= 0)
            connection->fresh_fpdus++;
        else
            connection->fresh_others++;
    }
    side->pushed = (segment->flags & TCP_BIT_PSH) != 0;
}

/* A sender may push a part of an FPDU: then they follow each other all the same. */
static bool has_pair(const struct flow_side *side)
{
    return side->search != NULL && side->search->paired;
}

bool flow_search_paired(const struct flow_connection *connection)
{
    return has_pair(&connection->side[0]) || has_pair(&connection->side[1]);
}

bool flow_search_is_foreign(const struct flow_connection *connection)
{
    return (connection->fresh_fpdus == 0 && connection->fresh_others >= FLOW_SEARCH_SEGMENTS &&
            !flow_search_paired(connection)) ||
           flow_search_excludes(&connection->side[0]) || flow_search_excludes(&connection->side[1]);
}
