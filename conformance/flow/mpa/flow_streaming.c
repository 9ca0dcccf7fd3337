/* SPDX-License-Identifier: BSD-2-Clause */
/* Octets before any start-up frame, which another protocol has sent (RFC 5044 7.1.4): where does the frame begin? */
#define _GNU_SOURCE /* memmem */
#include "conformance/flow/mpa/flow_streaming.h"

#include <stdlib.h>
#include <string.h>

enum { KEY_TRIES = 32 }; /* before memmem() is the faster way */

size_t flow_start_key(const uint8_t *octets, size_t count)
{
    const uint8_t *at = octets, *end = octets + count;

    while (at < end && (at = memchr(at, MPA_KEY_REQUEST[0], (size_t)(end - at))) != NULL) {
        size_t left = (size_t)(end - at), compared = left < FLOW_KEY_KIND ? left : FLOW_KEY_KIND;

        if (memcmp(at, MPA_KEY_REQUEST, compared) == 0)
            return (size_t)(at - octets);
        at++;
    }
    return count;
}

/*
 * Whether the octets have a Key, as far as both agree. Nearly all octets of other protocols go this way: memchr() takes a
 * tenth of memmem()'s time, unless the octets are full of the Key's first one.
 */
static bool has_key(const uint8_t *octets, size_t count)
{
    static const char key[] = "MPA ID Re";
    const size_t length = sizeof(key) - 1;
    const uint8_t *at = octets, *end = octets + count;

    for (unsigned tries = 0; (size_t)(end - at) >= length; tries++, at++) {
        if (tries == KEY_TRIES)
            return memmem(at, (size_t)(end - at), key, length) != NULL;
        at = memchr(at, key[0], (size_t)(end - at) - (length - 1));
        if (at == NULL)
            return false;
        if (memcmp(at, key, length) == 0)
            return true;
    }
    return false;
}

void flow_start_look(struct flow_connection *connection, const uint8_t *octets, size_t count)
{
    if (connection->flow == NULL && !connection->key_seen)
        connection->key_seen = has_key(octets, count);
}

/*
 * Octets that are no start-up frame were seen before. One may still come, best of all at the beginning of a segment;
 * and FPDUs with right CRCs may: their sender has left it out.
 */
size_t flow_start_streaming(const struct flow_context *context, const struct flow_piece *piece, size_t used)
{
    struct flow_side *side = context->side;
    size_t left = piece->captured - used, key, after;
    bool first = used == 0 && piece->at_start;
    int kind = first ? mpa_start_kind_of(piece->octets, piece->captured) : -1;
    struct fpdu_framing framing;

    if (kind >= 0 && (!side->expects || (int)side->kind == kind)) {
        side->state = SIDE_FRESH;
        if (!side->expects) {
            side->kind = (enum iwarp_mpa_start_kind)kind;
            if (!flow_start_roles(context)) {
                flow_side_ends(side, FLOW_REASON_NO_MEMORY);
                return 0;
            }
        }
        flow_undecoded(context, FLOW_REASON_STREAMING);
        return 0;
    }
    flow_start_look(context->connection, piece->octets + used, left);
    if (first && !context->common->config.no_late_lock &&
        flow_proof_whole(context->common, piece->octets, piece->captured, &framing)) {
        side->state = SIDE_LATE;
        return 0;
    }
    key = flow_start_key(piece->octets + used, left);
    if (!context->common->config.no_late_lock)
        switch (flow_proof_octets(side, piece->octets + used, left, first, &after)) {
        case FLOW_PROOF_NEXT: flow_lock_proved(side); return after;
        case FLOW_PROOF_MARKED: context->connection->key_seen = true; break;
        default: break;
        }
    if (key == left)
        return left;
    side->state = SIDE_FRESH;
    side->inside = true;
    return key;
}
