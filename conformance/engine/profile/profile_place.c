/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/profile/profile_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/device/control.h"
#include "conformance/engine/profile/json_members.h"
#include "reports/results/member.h"

static int address_of(const char *path, const char *name, const char *text, struct net_address *address,
                      struct iwarp_sentence *error)
{
    if (net_address_parse(address, text) != 0)
        return iwarp_sentence_set(error, "%s: \"%s\" is \"%.60s\", an IPv4 or IPv6 address was expected", path, name,
                                  text);
    return 0;
}

int profile_port(const char *path, const json_t *json, const char *name, uint16_t *port, struct iwarp_sentence *error)
{
    json_int_t value = json_integer_value(json_object_get(json, name));

    if (value < 1 || value > 65535)
        return iwarp_sentence_set(error, "%s: \"%s\" is %" JSON_INTEGER_FORMAT ", a port from 1 to 65535 was expected",
                                  path, name, value);
    *port = (uint16_t)value;
    return 0;
}

static int control_of(const json_t *json, const char *path, struct profile_place *place, struct iwarp_sentence *error)
{
    const char *text = member_text(json, "control");
    struct iwarp_sentence expected;

    if (text == NULL || control_place_parse(text, &place->control, &place->control_port, &expected) == 0)
        return 0;
    return iwarp_sentence_set(error, "%s: \"control\" is \"%.60s\", %s", path, text, expected.text);
}

static int mac_of(const json_t *json, const char *path, struct profile_place *place, struct iwarp_sentence *error)
{
    const char *text = member_text(json, "own_mac");
    unsigned octets[6];
    char rest;

    if (text == NULL)
        return 0;
    if (sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x%c", &octets[0], &octets[1], &octets[2], &octets[3], &octets[4],
               &octets[5], &rest) != 6)
        return iwarp_sentence_set(error, "%s: \"own_mac\" is \"%.40s\", \"02:77:63:00:00:03\" or the like was expected",
                                  path, text);
    for (int i = 0; i < 6; i++)
        place->own_mac[i] = (uint8_t)octets[i];
    return 0;
}

/* Also for a place in "beside": `path` then names that place, too. */
static int place_of(const json_t *json, const char *path, const struct profile *profile, struct profile_place *place,
                    struct iwarp_sentence *error)
{
    if (address_of(path, "own_address", member_text(json, "own_address"), &place->own_address, error) != 0)
        return -1;
    if (profile->address.family != place->own_address.family)
        return iwarp_sentence_set(error, "%s: \"address\" and \"own_address\" are of different families", path);
    return profile_port(path, json, "port", &place->port, error) != 0 || control_of(json, path, place, error) != 0 ||
                   mac_of(json, path, place, error) != 0
               ? -1
               : 0;
}

static bool same_address(const struct net_address *a, const struct net_address *b)
{
    return a->family == b->family && memcmp(a->octets, b->octets, a->family == 4 ? 4 : 16) == 0;
}

/* Two testers with one address take each other's frames, and an upper tester that two of them reset serves neither. */
static int check_places_differ(const struct profile_place *place, const struct profile_place *other, const char *at,
                               struct iwarp_sentence *error)
{
    if (same_address(&place->own_address, &other->own_address))
        return iwarp_sentence_set(error, "%s: \"own_address\" is another place's, too", at);
    if (place->control.family != 0 && place->control_port == other->control_port &&
        same_address(&place->control, &other->control))
        return iwarp_sentence_set(error, "%s: \"control\" is another place's, too", at);
    return 0;
}

static int read_places(struct profile *profile, const char *path, struct iwarp_sentence *error)
{
    static const struct json_member members[] = {
        {"own_address", MEMBER_TEXT, true, "an IPv4 or IPv6 address that no machine uses"},
        {"own_mac", MEMBER_TEXT | MEMBER_NULL, false, "a MAC address"},
        {"port", MEMBER_NUMBER, true, "a port from 1 to 65535"},
        {"control", MEMBER_TEXT | MEMBER_NULL, false, "the upper tester's \"address:port\""},
    };
    const json_t *list = json_object_get(profile->json, "beside"), *entry;
    size_t i;

    if (json_array_size(list) > PROFILE_BESIDE_MOST)
        return iwarp_sentence_set(error, "%s: \"beside\" has %zu places, at most %d were expected", path,
                                  json_array_size(list), PROFILE_BESIDE_MOST);
    json_array_foreach(list, i, entry)
    {
        struct profile_place *place = &profile->beside[i];
        char name[32], at[256];

        (void)snprintf(name, sizeof(name), "beside[%zu]", i);
        (void)snprintf(at, sizeof(at), "%.150s: %s", path, name);
        if (json_members_check(entry, members, sizeof(members) / sizeof(members[0]), path, name, error) != 0 ||
            place_of(entry, at, profile, place, error) != 0 ||
            check_places_differ(place, &profile->place, at, error) != 0)
            return -1;
        if ((place->control.family != 0) != (profile->place.control.family != 0))
            return iwarp_sentence_set(error, "%s: \"control\" is %s here and %s in the profile", at,
                                      place->control.family != 0 ? "given" : "missing",
                                      place->control.family != 0 ? "missing" : "given");
        for (size_t k = 0; k < i; k++)
            if (check_places_differ(place, &profile->beside[k], at, error) != 0)
                return -1;
        profile->beside_count++;
    }
    return 0;
}

/* A router takes what is sent to it alone: the device, or an address of the tester's, is none. */
static int gateway_of(struct profile *profile, const char *path, struct iwarp_sentence *error)
{
    const char *text = member_text(profile->json, "gateway");
    const struct net_address *gateway = &profile->gateway;

    if (text == NULL)
        return 0;
    if (address_of(path, "gateway", text, &profile->gateway, error) != 0)
        return -1;
    if (gateway->family != profile->address.family)
        return iwarp_sentence_set(error, "%s: \"address\" and \"gateway\" are of different families", path);
    if (same_address(gateway, &profile->address) || same_address(gateway, &profile->place.own_address))
        return iwarp_sentence_set(error, "%s: \"gateway\" is \"%.60s\", as \"%s\" is; a router's address was expected",
                                  path, text, same_address(gateway, &profile->address) ? "address" : "own_address");
    return 0;
}

int profile_places(struct profile *profile, const char *path, struct iwarp_sentence *error)
{
    const json_t *json = profile->json;

    return address_of(path, "address", member_text(json, "address"), &profile->address, error) != 0 ||
                   place_of(json, path, profile, &profile->place, error) != 0 ||
                   gateway_of(profile, path, error) != 0 || read_places(profile, path, error) != 0
               ? -1
               : 0;
}
