/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/profile.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A member that has to be a string; NULL with a sentence when it is not there or something else. */
static const char *string_of(const json_t *object, const char *path, const char *name, struct sentence *error)
{
    const json_t *member = json_object_get(object, name);

    if (json_is_string(member))
        return json_string_value(member);
    (void)sentence_set(error, "%s: \"%s\" is missing or no string", path, name);
    return NULL;
}

static int address_of(const char *path, const char *name, const char *text, struct net_address *address,
                      struct sentence *error)
{
    if (text == NULL)
        return -1;
    if (net_address_parse(address, text) != 0)
        return sentence_set(error, "%s: \"%s\" is \"%.60s\", an IPv4 or IPv6 address was expected", path, name, text);
    return 0;
}

static int port_of(const char *path, const json_t *member, uint16_t *port, struct sentence *error)
{
    json_int_t value = json_integer_value(member);

    if (!json_is_integer(member) || value < 1 || value > 65535)
        return sentence_set(error, "%s: \"port\" is missing or no number from 1 to 65535", path);
    *port = (uint16_t)value;
    return 0;
}

/* "192.0.2.7:7471" or "[fd00::7]:7471" */
static int control_of(struct profile *profile, const char *path, struct sentence *error)
{
    const char *text = json_string_value(json_object_get(profile->json, "control"));
    char address[64];
    const char *colon;
    char *end;
    unsigned long port;
    size_t length;

    if (text == NULL)
        return 0;
    colon = strrchr(text, ':');
    length = colon != NULL ? (size_t)(colon - text) : sizeof(address);
    if (length >= sizeof(address) || length < 2)
        return sentence_set(error, "%s: \"control\" is \"%.60s\", \"address:port\" was expected", path, text);
    if (text[0] == '[' && colon[-1] == ']')
        (void)snprintf(address, sizeof(address), "%.*s", (int)length - 2, text + 1);
    else
        (void)snprintf(address, sizeof(address), "%.*s", (int)length, text);
    port = strtoul(colon + 1, &end, 10);
    if (*end != '\0' || port < 1 || port > 65535)
        return sentence_set(error, "%s: \"control\" is \"%.60s\", a port from 1 to 65535 was expected", path, text);
    profile->control_port = (uint16_t)port;
    return address_of(path, "control", address, &profile->control, error);
}

static int mac_of(struct profile *profile, const char *path, struct sentence *error)
{
    const char *text = json_string_value(json_object_get(profile->json, "own_mac"));
    unsigned octets[6];
    char rest;

    if (text == NULL)
        return 0;
    if (sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x%c", &octets[0], &octets[1], &octets[2], &octets[3], &octets[4],
               &octets[5], &rest) != 6)
        return sentence_set(error, "%s: \"own_mac\" is \"%.40s\", \"02:77:63:00:00:03\" or the like was expected", path,
                            text);
    for (int i = 0; i < 6; i++)
        profile->own_mac[i] = (uint8_t)octets[i];
    return 0;
}

static int capabilities_of(const struct profile *profile, const char *path, struct pics *pics, struct sentence *error)
{
    json_t *capabilities = json_object_get(profile->json, "capabilities");
    const char *name;
    json_t *member;

    json_object_foreach(capabilities, name, member)
    {
        struct sentence why;
        char value[32];

        if (json_is_string(member))
            (void)snprintf(value, sizeof(value), "%.30s", json_string_value(member));
        else if (json_is_boolean(member))
            (void)snprintf(value, sizeof(value), "%s", json_is_true(member) ? "yes" : "no");
        else
            (void)snprintf(value, sizeof(value), "%" JSON_INTEGER_FORMAT, json_integer_value(member));
        if (pics_set(pics, name, value, &why) != 0)
            return sentence_set(error, "%s: capabilities: %.300s", path, why.text);
    }
    return 0;
}

static bool is_date(const char *text)
{
    return text != NULL && strlen(text) == 10 && text[4] == '-' && text[7] == '-' && strspn(text, "0123456789-") == 10;
}

static int deviation_of(struct known_deviation *deviation, const json_t *entry, const char *path,
                        struct sentence *error)
{
    const char *verdict = json_string_value(json_object_get(entry, "verdict"));

    deviation->requirement = string_of(entry, path, "requirement", error);
    deviation->reason = string_of(entry, path, "reason", error);
    deviation->note = json_string_value(json_object_get(entry, "note"));
    deviation->review_by = json_string_value(json_object_get(entry, "review_by"));
    deviation->role = json_string_value(json_object_get(entry, "role"));
    deviation->by = json_string_value(json_object_get(entry, "by"));
    deviation->sometimes = json_is_true(json_object_get(entry, "sometimes"));
    deviation->verdict = VERDICT_FAIL;
    if (deviation->requirement == NULL || deviation->reason == NULL)
        return -1;
    if (verdict != NULL && (verdict_from_name(verdict, &deviation->verdict) != 0 ||
                            (deviation->verdict != VERDICT_FAIL && deviation->verdict != VERDICT_WARN)))
        return sentence_set(error, "%s: known deviation %s: verdict is FAIL or WARN", path, deviation->requirement);
    if (!is_date(deviation->review_by))
        return sentence_set(error, "%s: known deviation %s: \"review_by\" has to be a date YYYY-MM-DD", path,
                            deviation->requirement);
    if (regcomp(&deviation->pattern, deviation->reason, REG_EXTENDED | REG_NOSUB | REG_ICASE) != 0)
        return sentence_set(error, "%s: known deviation %s: reason is no regular expression", path,
                            deviation->requirement);
    return 0;
}

static int deviations_of(struct profile *profile, const char *path, struct sentence *error)
{
    const json_t *list = json_object_get(profile->json, "known_deviations");
    size_t count = json_array_size(list);

    if (count == 0)
        return 0;
    profile->deviations = calloc(count, sizeof(*profile->deviations));
    if (profile->deviations == NULL)
        return sentence_set(error, "%s: out of memory", path);
    for (size_t i = 0; i < count; i++) {
        if (deviation_of(&profile->deviations[i], json_array_get(list, i), path, error) != 0)
            return -1;
        profile->deviation_count++;
    }
    return 0;
}

static int read_all(struct profile *profile, const char *path, struct pics *pics, struct sentence *error)
{
    const json_t *json = profile->json;

    profile->name = json_string_value(json_object_get(json, "name"));
    if (profile->name == NULL)
        profile->name = path;
    profile->replay = json_string_value(json_object_get(json, "replay"));
    if (address_of(path, "address", string_of(json, path, "address", error), &profile->address, error) != 0 ||
        address_of(path, "own_address", string_of(json, path, "own_address", error), &profile->own_address, error) != 0)
        return -1;
    if (profile->address.family != profile->own_address.family)
        return sentence_set(error, "%s: \"address\" and \"own_address\" are of different families", path);
    profile->interface = string_of(json, path, "interface", error);
    if (profile->interface == NULL)
        return -1;
    if (port_of(path, json_object_get(json, "port"), &profile->port, error) != 0 ||
        control_of(profile, path, error) != 0 || mac_of(profile, path, error) != 0 ||
        profile_defaults(pics, profile->control.family != 0, error) != 0)
        return -1;
    return capabilities_of(profile, path, pics, error) != 0 ? -1 : deviations_of(profile, path, error);
}

int profile_defaults(struct pics *pics, bool control, struct sentence *error)
{
    return pics_set(pics, "upper_tester", control ? "yes" : "no", error) != 0 ||
                   pics_set(pics, "instrumented", "no", error) != 0
               ? -1
               : 0;
}

int profile_load(struct profile *profile, const char *path, struct pics *pics, struct sentence *error)
{
    json_error_t where;

    memset(profile, 0, sizeof(*profile));
    profile->json = json_load_file(path, JSON_REJECT_DUPLICATES, &where);
    if (profile->json == NULL)
        return where.line < 1 ? sentence_set(error, "%s: %s", path, where.text)
                              : sentence_set(error, "%s:%d: no JSON: %s", path, where.line, where.text);
    if (!json_is_object(profile->json))
        (void)sentence_set(error, "%s: a profile is a JSON object", path);
    else if (read_all(profile, path, pics, error) == 0)
        return 0;
    profile_free(profile);
    return -1;
}

void profile_free(struct profile *profile)
{
    for (size_t i = 0; i < profile->deviation_count; i++)
        regfree(&profile->deviations[i].pattern);
    free(profile->deviations);
    json_decref(profile->json);
    memset(profile, 0, sizeof(*profile));
}

const char *profile_hazard(const struct profile *profile, const char *requirement, const char *role)
{
    const json_t *entry;
    size_t i;

    json_array_foreach(json_object_get(profile->json, "hazards"), i, entry)
    {
        const char *id = json_string_value(json_object_get(entry, "requirement"));
        const char *only = json_string_value(json_object_get(entry, "role"));
        const char *note = json_string_value(json_object_get(entry, "note"));

        if (id != NULL && fnmatch(id, requirement, 0) == 0 && (only == NULL || strcmp(only, role) == 0))
            return note != NULL ? note : "the device may not survive it";
    }
    return NULL;
}

static bool matches(const struct known_deviation *deviation, const char *text)
{
    return text != NULL && regexec(&deviation->pattern, text, 0, NULL, 0) == 0;
}

static bool limited_to(const char *only, const char *what)
{
    return only == NULL || (what != NULL && strcmp(only, what) == 0);
}

static struct known_deviation *find(struct profile *profile, const struct result *result)
{
    for (size_t i = 0; i < profile->deviation_count; i++) {
        struct known_deviation *deviation = &profile->deviations[i];

        if (strcmp(deviation->requirement, result->id) == 0 && limited_to(deviation->role, result->role) &&
            limited_to(deviation->by, result->by))
            return deviation;
    }
    return NULL;
}

bool profile_judge(struct profile *profile, struct result *result, const char *today, char *text, size_t room)
{
    struct known_deviation *deviation = find(profile, result);
    const char *said = result->message != NULL ? result->message : "";

    if (deviation == NULL || (result->verdict == VERDICT_PASS && deviation->sometimes))
        return false;
    if (result->verdict == VERDICT_PASS) {
        (void)snprintf(text, room, "unexpected pass: the profile lists a known deviation (%s)", deviation->reason);
        result->verdict = VERDICT_FAIL;
    } else if (result->verdict != deviation->verdict ||
               !(matches(deviation, result->message) || matches(deviation, result->expected) ||
                 matches(deviation, result->actual))) {
        return false;
    } else if (strcmp(today, deviation->review_by) > 0) {
        (void)snprintf(text, room, "known deviation, but its review date %s is over: %s", deviation->review_by, said);
        result->verdict = VERDICT_FAIL;
    } else {
        result->verdict = VERDICT_KNOWN;
        result->finding = deviation->note != NULL ? deviation->note : deviation->reason;
        result->review_by = deviation->review_by;
        deviation->met = true;
        return true;
    }
    deviation->met = true;
    result->message = text;
    return true;
}
