/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/profile/json_members.h"

#include <string.h>

#include "base/nearest.h"

static unsigned kind_of(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_STRING: return MEMBER_TEXT;
    case JSON_INTEGER: return MEMBER_NUMBER;
    case JSON_TRUE:
    case JSON_FALSE: return MEMBER_BOOLEAN;
    case JSON_ARRAY: return MEMBER_LIST;
    case JSON_OBJECT: return MEMBER_OBJECT;
    case JSON_NULL: return MEMBER_NULL;
    default: return 0;
    }
}

const char *json_kind_name(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_STRING: return "a text";
    case JSON_INTEGER: return "a number";
    case JSON_REAL: return "a number with a fraction";
    case JSON_TRUE: return "true";
    case JSON_FALSE: return "false";
    case JSON_ARRAY: return "a list";
    case JSON_OBJECT: return "an object";
    default: return "null";
    }
}

static const char *name_at(const void *members, size_t index)
{
    const struct json_member *member = (const struct json_member *)members + index;

    return member->kinds != 0 ? member->name : NULL;
}

/* "FILE: PLACE", or "FILE" alone. */
static const char *where(const char *file, const char *place, char text[256])
{
    (void)snprintf(text, 256, "%.150s%s%.80s", file, place[0] != '\0' ? ": " : "", place);
    return text;
}

/* "a, b, c" of the names that there are. */
static const char *list_of(nearest_name_at *at, const void *names, size_t count, char text[200])
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < count && used < 200; i++)
        if (at(names, i) != NULL)
            used += (size_t)snprintf(text + used, 200 - used, "%s%s", used != 0 ? ", " : "", at(names, i));
    return text;
}

static int unknown(const char *name, const struct json_member *members, size_t count, const char *at,
                   struct iwarp_sentence *error)
{
    const char *nearest = nearest_name(name, name_at, members, count);
    char hint[NEAREST_HINT_OCTETS], known[200];

    if (nearest != NULL)
        return iwarp_sentence_set(error, "%s: there is no member \"%.60s\"%s", at, name, nearest_hint(nearest, hint));
    return iwarp_sentence_set(error, "%s: there is no member \"%.60s\", expected are %s", at, name,
                              list_of(name_at, members, count, known));
}

static const char *string_at(const void *names, size_t index)
{
    return ((const char *const *)names)[index];
}

int json_one_of(const char *value, const char *member, const char *const *names, size_t count, const char *at,
                struct iwarp_sentence *error)
{
    char hint[NEAREST_HINT_OCTETS], known[200];
    const char *nearest;

    for (size_t i = 0; i < count; i++)
        if (strcmp(value, names[i]) == 0)
            return 0;
    nearest = nearest_of(value, names, count);
    if (nearest != NULL)
        return iwarp_sentence_set(error, "%s: \"%s\" is \"%.40s\"%s", at, member, value, nearest_hint(nearest, hint));
    return iwarp_sentence_set(error, "%s: \"%s\" is \"%.40s\", one of %s was expected", at, member, value,
                              list_of(string_at, names, count, known));
}

static int member_check(const char *name, const json_t *value, const struct json_member *members, size_t count,
                        const char *at, struct iwarp_sentence *error)
{
    for (size_t i = 0; i < count; i++) {
        const struct json_member *member = &members[i];

        if (strcmp(member->name, name) != 0)
            continue;
        if (member->kinds == 0)
            return iwarp_sentence_set(error, "%s: \"%s\" is no longer a member: %s", at, name, member->what);
        if ((kind_of(value) & member->kinds) == 0)
            return iwarp_sentence_set(error, "%s: \"%s\" is %s, %s was expected", at, name, json_kind_name(value),
                                      member->what);
        if (json_is_string(value) && json_string_value(value)[0] == '\0')
            return iwarp_sentence_set(error, "%s: \"%s\" is empty, %s was expected", at, name, member->what);
        return 0;
    }
    return unknown(name, members, count, at, error);
}

int json_members_check(const json_t *object, const struct json_member *members, size_t count, const char *file,
                       const char *place, struct iwarp_sentence *error)
{
    char at[256];
    const char *name;
    json_t *value;

    (void)where(file, place, at);
    if (!json_is_object(object))
        return iwarp_sentence_set(error, "%s: this is %s, an object was expected", at, json_kind_name(object));
    json_object_foreach((json_t *)object, name, value)
    {
        if (member_check(name, value, members, count, at, error) != 0)
            return -1;
    }
    for (size_t i = 0; i < count; i++)
        if (members[i].required && json_object_get(object, members[i].name) == NULL)
            return iwarp_sentence_set(error, "%s: \"%s\" is missing, %s was expected", at, members[i].name,
                                      members[i].what);
    return 0;
}
