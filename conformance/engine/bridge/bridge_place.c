/* SPDX-License-Identifier: BSD-2-Clause */
/* Which device is at which side, by the addresses that it sends from. */
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/bridge/bridge_internal.h"

enum { PLACES_MOST = 65536 };

struct address {
    uint8_t octets[16];
    uint8_t family;
    uint8_t zero[3];
};

struct bridge_place {
    struct address address;
    unsigned side;
    UT_hash_handle hh;
};

void bridge_place_note(struct bridge *bridge, unsigned side, const struct bridge_packet *packet)
{
    struct address address = {.family = packet->family};
    struct bridge_place *place;

    memcpy(address.octets, packet->source, packet->family == 4 ? 4 : 16);
    HASH_FIND(hh, bridge->places, &address, sizeof(address), place);
    if (place != NULL) {
        place->side = side;
        return;
    }
    if (bridge->place_count >= PLACES_MOST) {
        place = bridge->places; /* the oldest */
        HASH_DEL(bridge->places, place);
        bridge->place_count--;
    } else {
        place = malloc(sizeof(*place));
    }
    if (place == NULL)
        return;
    memset(place, 0, sizeof(*place));
    place->address = address;
    place->side = side;
    HASH_ADD(hh, bridge->places, address, sizeof(address), place);
    if (hash_lost(place))
        free(place);
    else
        bridge->place_count++;
}

bool bridge_place_is(const struct bridge *bridge, unsigned side, const struct flow *flow, enum flow_direction direction)
{
    struct address address = {.family = flow->address[direction].family};
    const struct bridge_place *place;

    memcpy(address.octets, flow->address[direction].octets, sizeof(address.octets));
    HASH_FIND(hh, bridge->places, &address, sizeof(address), place);
    return place != NULL && place->side == side;
}

void bridge_places_free(struct bridge *bridge)
{
    while (bridge->places != NULL) {
        struct bridge_place *place = bridge->places;

        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what is freed is taken out before */
        HASH_DEL(bridge->places, place);
        free(place);
    }
}
