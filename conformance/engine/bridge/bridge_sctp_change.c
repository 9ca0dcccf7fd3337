/* SPDX-License-Identifier: BSD-2-Clause */
/* What becomes of DATA chunks, by their TSNs. */
#include "conformance/engine/bridge/bridge_sctp_change.h"

#include <stdlib.h>
#include <string.h>

#include "conformance/engine/bridge/bridge_sctp.h"

const struct bridge_chunk_change *bridge_chunk_change_of(const struct bridge_sctp_direction *direction, uint32_t tsn)
{
    const struct bridge_chunk_change *change = direction->changes;

    while (change != NULL && change->tsn != tsn)
        change = change->next;
    return change;
}

static void remove_change(struct bridge_sctp_direction *direction, struct bridge_chunk_change **place)
{
    struct bridge_chunk_change *gone = *place;

    *place = gone->next;
    direction->change_count--;
    direction->change_octets -= gone->octets;
    free(gone);
}

static void forget_changes(struct bridge_sctp_direction *direction, uint32_t before)
{
    struct bridge_chunk_change **place = &direction->changes;

    while (*place != NULL)
        if (bridge_before((*place)->tsn, before))
            remove_change(direction, place);
        else
            place = &(*place)->next;
}

void bridge_chunk_changes_acknowledge(struct bridge_sctp_direction *direction, uint32_t before)
{
    direction->changes_acked = before;
    direction->changes_known = true;
    forget_changes(direction, before - BRIDGE_KEPT_CHUNKS);
}

static bool is_full(const struct bridge_sctp_direction *direction, size_t octets)
{
    return direction->change_count == BRIDGE_CHANGES_MOST ||
           octets > BRIDGE_CHANGE_OCTETS_MOST - direction->change_octets;
}

void bridge_chunk_change_done(struct bridge_sctp_direction *direction, uint32_t tsn)
{
    struct bridge_chunk_change **place = &direction->changes;

    while (*place != NULL && (*place)->tsn != tsn)
        place = &(*place)->next;
    if (*place != NULL && (*place)->once)
        remove_change(direction, place);
}

int bridge_sctp_change(struct bridge_association *association, unsigned side, uint32_t tsn,
                       const struct bridge_chunk_edit *edit, struct iwarp_sentence *error)
{
    static const uint8_t places[BRIDGE_INSERTED_MOST];
    struct bridge_sctp_direction *direction = &association->direction[side];
    struct bridge_chunk_change *change;

    if (edit->count > BRIDGE_INSERTED_MOST)
        return iwarp_sentence_set(error, "more than %d chunks in the place of one", BRIDGE_INSERTED_MOST);
    if (is_full(direction, edit->octets) && direction->changes_known)
        forget_changes(direction, direction->changes_acked);
    if (is_full(direction, edit->octets) || bridge_chunk_change_of(direction, tsn) != NULL)
        return iwarp_sentence_set(error, "too much of the association is changed and not acknowledged yet");
    change = malloc(sizeof(*change) + edit->octets);
    if (change == NULL)
        return iwarp_sentence_set(error, "out of memory");
    if (edit->count != 1 && bridge_map_replace(&direction->map, tsn, tsn + 1, places, edit->count) != 0) {
        free(change);
        return iwarp_sentence_set(error, "too much of the association is changed and not acknowledged yet");
    }
    *change = (struct bridge_chunk_change){.next = direction->changes,
                                           .tsn = tsn,
                                           .once = edit->keeps_crc || edit->flip_count != 0,
                                           .keeps_crc = edit->keeps_crc,
                                           .flip_count = edit->flip_count,
                                           .octets = edit->octets};
    if (edit->flip_count != 0)
        memcpy(change->flips, edit->flips, edit->flip_count * sizeof(change->flips[0]));
    if (edit->octets != 0)
        memcpy(change->chunks, edit->chunks, edit->octets);
    direction->changes = change;
    direction->change_count++;
    direction->change_octets += edit->octets;
    return 0;
}
