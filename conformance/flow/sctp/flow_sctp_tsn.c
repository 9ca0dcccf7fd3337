/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a sender's TSNs say: which chunks came, which are missing, and whether one that came twice was the same. Of the
 * last TSNs a window has a number for the contents of each; it is as long as the TSNs that are missing or not
 * acknowledged need.
 */
#include <stdlib.h>
#include <string.h>

#include "conformance/flow/sctp/flow_sctp_internal.h"
#include "wire/crc32c.h"

enum {
    WINDOW_LEAST = 16,
    FAR_MOST = 3,       /* chunks in a row far ahead of the others: what is between was not captured */
    NUMBERED_MOST = 128 /* octets of a segment of which each counts by itself: all headers that rules look at */
};

enum { CONTENTS_NONE, CONTENTS_CUT, CONTENTS_LEAST }; /* it did not come; the capture cut it */

struct sctp_window {
    uint32_t from; /* the first TSN that the window has */
    uint32_t room; /* a power of two */
    uint64_t contents[];
};

/* ---- contents ---------------------------------------------------------------------------------------------------- */

static const uint64_t prime = (UINT64_C(1) << 61) - 1;

/* Modulo 2^61 - 1, of numbers below it: 2^61 is 1, so of the product's halves the upper ones are moved down. */
static uint64_t multiply(uint64_t a, uint64_t b)
{
    const uint64_t low = (UINT64_C(1) << 31) - 1;
    uint64_t middle = (a & low) * (b >> 31) + (a >> 31) * (b & low);
    uint64_t sum = (a >> 31) * (b >> 31) * 2 + (middle >> 30) + ((middle & low >> 1) << 31) + (a & low) * (b & low);

    return (sum & prime) + (sum >> 61);
}

/* A polynomial in the secret: different words give the same number for few secrets alone. */
static uint64_t add_word(uint64_t sum, uint64_t secret, uint32_t word)
{
    sum = multiply(sum, secret) + word;
    return sum >= prime ? sum - prime : sum;
}

static uint64_t add_octets(uint64_t sum, uint64_t secret, const uint8_t *octets, size_t count)
{
    size_t i = 0;
    uint8_t last[4] = {0};

    for (; i + 4 <= count; i += 4)
        sum = add_word(sum, secret, octets_get32(octets + i));
    if (i == count)
        return sum;
    memcpy(last, octets + i, count - i);
    return add_word(sum, secret, octets_get32(last));
}

uint64_t sctp_contents(const struct sctp_data *data, uint64_t secret)
{
    bool segment = data->ppid == DDP_SCTP_PPID_SEGMENT || data->ppid == DDP_SCTP_PPID_DRAFT_SEGMENT;
    size_t numbered = segment && data->user_have > NUMBERED_MOST ? NUMBERED_MOST : data->user_have;
    uint64_t key = (secret & ((UINT64_C(1) << 60) - 1)) | UINT64_C(1) << 32, sum;

    if (data->user_have < data->user_octets)
        return CONTENTS_CUT;
    sum = add_word(1, key, (uint32_t)data->user_octets);
    sum = add_word(sum, key, data->ppid);
    sum = add_word(sum, key, (uint32_t)data->sid << 16 | (data->unordered ? 0 : data->ssn));
    sum = add_word(sum, key, (uint32_t)(data->unordered << 2 | data->first << 1 | data->last) ^ data->mid << 3);
    sum = add_octets(sum, key, data->user, numbered);
    if (numbered < data->user_have)
        sum = add_word(sum, key, crc32c_update(0, data->user + numbered, data->user_have - numbered));
    return sum + CONTENTS_LEAST;
}

/* ---- the window -------------------------------------------------------------------------------------------------- */

static uint64_t *slot_of(const struct sctp_side *side, uint32_t tsn)
{
    return &side->window->contents[tsn & (side->window->room - 1)];
}

/* The window has this TSN, which may not have come. */
static bool is_stored(const struct sctp_side *side, uint32_t tsn)
{
    return side->window != NULL && (int32_t)(tsn - side->window->from) >= 0 && (int32_t)(side->highest_tsn - tsn) >= 0;
}

static bool has_come(const struct sctp_side *side, uint32_t tsn)
{
    return is_stored(side, tsn) && *slot_of(side, tsn) != CONTENTS_NONE;
}

void sctp_window_free(struct sctp_side *side)
{
    free(side->window);
    side->window = NULL;
}

/*
 * The first TSN that has to stay in the window: what is missing, and what the receiver may still take another copy of.
 */
static uint32_t first_needed(const struct sctp_side *side, uint32_t last)
{
    uint32_t first = side->next_tsn;

    if (side->acked_known && (int32_t)(side->acked + 1 - first) < 0)
        first = side->acked + 1;
    else if (!side->acked_known && side->window != NULL)
        first = side->window->from;
    return last - first >= TSN_WINDOW ? last - (TSN_WINDOW - 1) : first;
}

/* A window with room for the TSNs from `from` to `last`. False: without memory. */
static bool grow(struct sctp_side *side, uint32_t from, uint32_t last)
{
    struct sctp_window *old = side->window, *grown;
    uint32_t room = old != NULL ? old->room : WINDOW_LEAST;

    while (room <= last - from)
        room *= 2;
    grown = calloc(1, sizeof(*grown) + room * sizeof(grown->contents[0]));
    if (grown == NULL)
        return false;
    grown->from = from;
    grown->room = room;
    for (uint32_t tsn = from; old != NULL && (int32_t)(side->highest_tsn - tsn) >= 0; tsn++)
        grown->contents[tsn & (room - 1)] = is_stored(side, tsn) ? *slot_of(side, tsn) : (uint64_t)CONTENTS_NONE;
    free(old);
    side->window = grown;
    return true;
}

/* Puts what came into the window, whose end moves to it. */
static void store(struct sctp_decoder *sctp, struct sctp_side *side, uint32_t tsn, uint64_t contents)
{
    struct sctp_window *window = side->window;
    uint32_t last = (int32_t)(tsn - side->highest_tsn) > 0 ? tsn : side->highest_tsn;

    if (window == NULL || last - window->from >= window->room) {
        uint32_t first = first_needed(side, last);

        if (window == NULL || last - first >= window->room) {
            if (!grow(side, first, last)) {
                out_of_memory_note();
                sctp_window_free(side);
                side->lost = true;
                side->next_tsn = last + 1;
                side->highest_tsn = last;
                return;
            }
        } else {
            window->from = last - (window->room - 1);
        }
    }
    for (uint32_t hole = side->highest_tsn + 1; (int32_t)(tsn - hole) > 0; hole++, sctp->steps++)
        if ((int32_t)(hole - side->window->from) >= 0)
            *slot_of(side, hole) = CONTENTS_NONE;
    *slot_of(side, tsn) = contents;
    side->highest_tsn = last;
}

/* ---- TSNs -------------------------------------------------------------------------------------------------------- */

/* TSNs between those that came. */
static uint64_t count_holes(const struct sctp_side *side)
{
    uint64_t holes = 0;

    for (uint32_t tsn = side->next_tsn; (int32_t)(side->highest_tsn - tsn) >= 0; tsn++)
        holes += !has_come(side, tsn);
    return holes;
}

uint64_t sctp_count_missing(const struct sctp_side *side)
{
    uint32_t acked = side->acked_apart;

    if (!side->acked_known)
        return side->missing + (side->tsn_known ? count_holes(side) : 0);
    if (!side->tsn_known) /* a SACK answers DATA, of which nothing was captured */
        return (uint64_t)(acked - side->first_acked) + 1;
    return side->missing + count_holes(side) +
           ((int32_t)(acked - side->highest_tsn) > 0 ? acked - side->highest_tsn : 0);
}

bool sctp_side_complete(const struct sctp_side *side)
{
    return side->tsn_known && !side->lost && side->next_tsn == side->highest_tsn + 1;
}

static void step(struct sctp_side *side)
{
    while (has_come(side, side->next_tsn))
        side->next_tsn++;
}

void sctp_tsns_give_up(struct sctp_association *association, unsigned index, uint32_t tsn)
{
    struct sctp_side *side = &association->side[index];

    for (; (int32_t)(tsn - side->next_tsn) > 0; side->next_tsn++, association->sctp->steps++)
        side->missing += !has_come(side, side->next_tsn);
    side->lost = true;
    step(side);
    sctp_streams_unsure(association);
}

void sctp_learn_first_tsn(struct sctp_side *side, uint32_t first, bool waited)
{
    uint32_t before = side->first_tsn - first;

    if (!side->tsn_known) {
        side->tsn_known = side->begun = true;
        side->next_tsn = side->first_tsn = first;
        side->highest_tsn = first - 1;
    } else if (waited && !side->reported && before < TSN_WINDOW / 2 && side->highest_tsn - first < TSN_WINDOW / 2) {
        if (side->window == NULL || !grow(side, first, side->highest_tsn))
            return;
        side->next_tsn = side->first_tsn = first;
        side->begun = true;
        step(side);
    }
}

void sctp_tsns_acked(struct sctp_side *side, uint32_t cumulative, uint32_t apart, uint64_t frame)
{
    if (!side->acked_known)
        side->first_acked = side->acked = side->acked_apart = cumulative;
    if ((int32_t)(cumulative - side->acked) > 0)
        side->acked = cumulative;
    if ((int32_t)(apart - side->acked_apart) > 0)
        side->acked_apart = apart;
    side->acked_known = true;
    side->acked_frame = frame;
}

/*
 * No receiver stores so many chunks after one that is missing. What lies so far ahead counts when it was acknowledged,
 * or when others follow it: the capture has a hole.
 */
static bool is_beyond_hole(struct sctp_side *side, uint32_t tsn)
{
    if (side->acked_known && (int32_t)(side->acked_apart - tsn) >= 0)
        return true;
    side->far_count = side->far_count != 0 && side->far_tsn == tsn ? (uint8_t)(side->far_count + 1) : 1;
    side->far_tsn = tsn + 1;
    return side->far_count >= FAR_MOST;
}

static void jump(struct sctp_association *association, struct sctp_side *side, uint32_t tsn)
{
    side->missing += (uint64_t)(tsn - 1 - side->highest_tsn) + count_holes(side);
    sctp_window_free(side);
    side->next_tsn = tsn;
    side->highest_tsn = tsn - 1;
    side->lost = true;
    side->far_count = 0;
    sctp_streams_unsure(association);
}

/*
 * A TSN before the first one that was captured, while nothing of its sender was reported: that one was not the first.
 */
static bool begins_before(struct sctp_side *side, uint32_t tsn, uint64_t contents)
{
    if (side->reported || side->begun || side->window == NULL || side->highest_tsn - tsn >= TSN_WINDOW / 2 ||
        !grow(side, tsn, side->highest_tsn))
        return false;
    *slot_of(side, tsn) = contents;
    side->next_tsn = side->first_tsn = tsn;
    step(side);
    return true;
}

/* A TSN that the window has. */
static enum sctp_tsn note_stored(struct sctp_side *side, uint32_t tsn, uint64_t contents)
{
    uint64_t *slot = slot_of(side, tsn);

    if (*slot == CONTENTS_NONE) {
        if ((int32_t)(tsn - side->next_tsn) < 0)
            return SCTP_TSN_LATE;
        *slot = contents;
        step(side);
        return SCTP_TSN_NEW;
    }
    return *slot == contents || *slot == CONTENTS_CUT || contents == CONTENTS_CUT ? SCTP_TSN_AGAIN : SCTP_TSN_DIFFERS;
}

enum sctp_tsn sctp_tsn_note(struct sctp_association *association, unsigned index, uint32_t tsn, uint64_t contents)
{
    struct sctp_side *side = &association->side[index];
    int32_t ahead;

    if (!side->tsn_known) {
        side->tsn_known = true;
        side->next_tsn = side->first_tsn = tsn;
        side->highest_tsn = tsn - 1;
    }
    if (is_stored(side, tsn))
        return note_stored(side, tsn, contents);
    ahead = (int32_t)(tsn - side->next_tsn);
    if (ahead < 0) {
        if ((int32_t)(tsn - side->first_tsn) < 0)
            return begins_before(side, tsn, contents) ? SCTP_TSN_NEW : SCTP_TSN_LATE;
        return side->acked_known && (int32_t)(side->acked - tsn) >= 0 ? SCTP_TSN_AGAIN : SCTP_TSN_UNKNOWN;
    }
    if (ahead >= TSN_WINDOW) {
        if (!is_beyond_hole(side, tsn))
            return SCTP_TSN_AHEAD;
        jump(association, side, tsn);
    }
    store(association->sctp, side, tsn, contents);
    step(side);
    return SCTP_TSN_NEW;
}
