/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/monitor/monitor_line.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/option/shard.h"
#include "conformance/engine/option/utc_text.h"

#define SECOND_NS UINT64_C(1000000000)

enum { ID_MAX = 64, FLOW_MAX = 200 }; /* of a line that is read */

/* Sets all, or drops the object: NULL. Takes the references. */
static json_t *with(json_t *object, const char *name, json_t *value)
{
    if (object != NULL && json_object_set_new(object, name, value) == 0)
        return object;
    if (object == NULL)
        json_decref(value);
    json_decref(object);
    return NULL;
}

static json_t *number(uint64_t value)
{
    return json_integer((json_int_t)(value & INT64_MAX));
}

static json_t *with_time(json_t *object, uint64_t time_ns)
{
    char text[UTC_TEXT_OCTETS];

    object = with(object, "time", json_string(utc_text_of((time_t)(time_ns / SECOND_NS), text)));
    return with(object, "time_ns", number(time_ns));
}

static json_t *with_key(json_t *object, const struct known_finding *known)
{
    char key[SHARD_DIGEST_OCTETS];

    shard_digest_show(known->key, key);
    return with(object, "key", json_string(key));
}

json_t *monitor_line_of(const char *type, uint64_t time_ns)
{
    return with_time(with(json_object(), "type", json_string(type)), time_ns);
}

json_t *monitor_line_finding(const struct known_finding *known, const struct result *result, const char *interface)
{
    json_t *line = monitor_line_of("finding", known->last_ns), *members = result_to_json(result);

    line = with(with_key(line, known), "interface", json_string(interface));
    line = with(line, "flow_ns", number(known->flow_ns));
    if (members != NULL)
        (void)json_object_del(members, "type");
    if (line != NULL && (members == NULL || json_object_update(line, members) != 0)) {
        json_decref(line);
        line = NULL;
    }
    json_decref(members);
    return line;
}

json_t *monitor_line_count(const char *type, const struct known_finding *known)
{
    json_t *line = with_key(monitor_line_of(type, known->last_ns), known);

    line = with(line, "id", json_string(known->id));
    line = with(line, "verdict", json_string(verdict_name(known->verdict)));
    line = with(line, "flow", json_string(known->flow));
    line = with(line, "count", number(known->count));
    line = with(line, "flow_ns", number(known->flow_ns));
    return with(line, "first_ns", number(known->first_ns));
}

/* ---- back -------------------------------------------------------------------------------------------------------- */

/* A member that is a number, 0 or more. */
static bool number_of(const json_t *object, const char *name, uint64_t *value)
{
    const json_t *member = json_object_get(object, name);

    if (!json_is_integer(member) || json_integer_value(member) < 0)
        return false;
    *value = (uint64_t)json_integer_value(member);
    return true;
}

static bool key_of(const json_t *object, uint64_t *key)
{
    const char *text = json_string_value(json_object_get(object, "key"));
    char *end;

    if (text == NULL || strlen(text) != SHARD_DIGEST_OCTETS - 1 || strspn(text, "0123456789abcdef") != strlen(text))
        return false;
    *key = strtoull(text, &end, 16);
    return true;
}

static bool restore_finding(struct known_findings *known, const json_t *object)
{
    const char *id = json_string_value(json_object_get(object, "id"));
    const char *flow = json_string_value(json_object_get(object, "flow"));
    const char *verdict = json_string_value(json_object_get(object, "verdict"));
    struct known_finding finding = {0};

    if (id == NULL || flow == NULL || verdict == NULL || strlen(id) > ID_MAX || strlen(flow) > FLOW_MAX ||
        verdict_from_name(verdict, &finding.verdict) != 0 || !key_of(object, &finding.key) ||
        !number_of(object, "count", &finding.count) || !number_of(object, "flow_ns", &finding.flow_ns) ||
        !number_of(object, "time_ns", &finding.last_ns))
        return false;
    if (!number_of(object, "first_ns", &finding.first_ns))
        finding.first_ns = finding.last_ns;
    finding.id = (char *)(uintptr_t)id;
    finding.flow = (char *)(uintptr_t)flow;
    return known_findings_restore(known, &finding) != NULL;
}

bool monitor_line_restore(struct known_findings *known, const char *text, size_t octets)
{
    json_t *object = json_loadb(text, octets, JSON_REJECT_DUPLICATES, NULL);
    const char *type = json_string_value(json_object_get(object, "type"));
    bool good = type != NULL;

    if (good && (strcmp(type, "finding") == 0 || strcmp(type, "again") == 0 || strcmp(type, "known") == 0))
        good = restore_finding(known, object);
    json_decref(object);
    return good;
}
