/* SPDX-License-Identifier: BSD-2-Clause */
/* One finding as a SARIF result: where, how bad, the ladder, what makes it the same finding in the next run. */
#define _GNU_SOURCE /* asprintf */
#include "reports/writers/sarif_parts.h"

#include "conformance/requirements/catalogue.h"
#include "reports/file/text.h"
#include "base/digest.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LADDER_STEPS  40 /* of a code flow: those that lead to the offending one */
#define LADDER_BEHIND 4  /* and so many after it */

bool sarif_is_result(enum verdict verdict)
{
    return verdict != VERDICT_PASS && verdict != VERDICT_SKIP;
}

const char *sarif_level_of(const struct requirement *requirement)
{
    return requirement && requirement_is_should(requirement) ? "warning" : "error";
}

/* ---- how bad ----------------------------------------------------------------------------------------------------- */

static void set_level(struct sarif *sarif, json_t *object, const struct report_entry *entry,
                      const struct result *result)
{
    if (result->verdict == VERDICT_INCONCLUSIVE) { /* 3.27.10: a kind other than "fail" has the level "none" */
        sarif_set_text(sarif, object, "kind", "open");
        sarif_set_text(sarif, object, "level", "none");
        return;
    }
    sarif_set_text(sarif, object, "level",
                   result->verdict == VERDICT_AMBIGUOUS ? "note"
                   : result->verdict == VERDICT_FAIL    ? "error"
                   : result->verdict == VERDICT_KNOWN   ? sarif_level_of(entry->requirement)
                                                        : "warning");
}

/*
 * A known deviation was looked at and accepted in the profile, an expected finding in the expectations: not in the
 * source.
 */
static void set_suppression(struct sarif *sarif, json_t *object, const struct result *result)
{
    if (result->verdict != VERDICT_KNOWN && !result->finding)
        return;
    json_t *suppression = json_object(), *list = json_array();
    char text[1024];
    (void)snprintf(text, sizeof(text), "%.400s%s%.400s%s%.20s", known_finding(result), result->deviation ? "; " : "",
                   result->deviation ? result->deviation : "", result->review_by ? "; review by " : "",
                   result->review_by ? result->review_by : "");
    sarif_set_text(sarif, suppression, "kind", "external");
    sarif_set_text(sarif, suppression, "status", "accepted");
    sarif_set_text(sarif, suppression, "justification", text);
    sarif_append(sarif, list, suppression);
    sarif_set(sarif, object, "suppressions", list);
}

/* ---- where ------------------------------------------------------------------------------------------------------- */

static json_t *logical_location(struct sarif *sarif, const char *name, const char *kind)
{
    json_t *location = json_object();
    sarif_set_text(sarif, location, "fullyQualifiedName", name);
    sarif_set_text(sarif, location, "kind", kind);
    return location;
}

static json_t *physical_location(struct sarif *sarif, const char *path)
{
    json_t *location = json_object();
    sarif_set(sarif, location, "artifactLocation", sarif_artifact_location(sarif, path));
    return location;
}

/*
 * The frame in the file, as octets where they are known (SARIF 2.1.0, 3.30.5). A capture has no lines: the frame's
 * number stands for one, since code scanning drops results without.
 */
static json_t *region(struct sarif *sarif, const struct result *result)
{
    json_t *octets = json_object();
    sarif_set(sarif, octets, "startLine", sarif_integer(result->frame ? result->frame : 1));
    if (result->octets) {
        sarif_set(sarif, octets, "byteOffset", sarif_integer(result->offset));
        sarif_set(sarif, octets, "byteLength", sarif_integer(result->octets));
    }
    return octets;
}

static void set_locations(struct sarif *sarif, json_t *object, const struct result *result)
{
    json_t *location = json_object(), *list = json_array(), *logical = json_array();
    char text[64];
    if (result->file && *result->file) {
        json_t *physical = physical_location(sarif, result->file);
        if (result->frame || result->octets)
            sarif_set(sarif, physical, "region", region(sarif, result));
        sarif_set(sarif, location, "physicalLocation", physical);
    }
    sarif_append(sarif, logical,
                 result->flow && *result->flow ? logical_location(sarif, result->flow, "flow")
                                               : logical_location(sarif, sarif->report->info.target, "device"));
    sarif_set(sarif, location, "logicalLocations", logical);
    if (result->frame) {
        json_t *properties = json_object();
        snprintf(text, sizeof(text), "frame %" PRIu64, result->frame);
        sarif_set(sarif, location, "message", sarif_message(sarif, text));
        sarif_set(sarif, properties, "frame", sarif_integer(result->frame));
        sarif_set(sarif, location, "properties", properties);
    }
    sarif_append(sarif, list, location);
    sarif_set(sarif, object, "locations", list);
}

static void set_attachments(struct sarif *sarif, json_t *object, const struct result *result)
{
    if (!result->evidence || !*result->evidence)
        return;
    json_t *attachment = json_object(), *list = json_array();
    sarif_set(sarif, attachment, "description", sarif_message(sarif, "The exchange, for Wireshark"));
    sarif_set(sarif, attachment, "artifactLocation", sarif_artifact_location(sarif, result->evidence));
    sarif_append(sarif, list, attachment);
    sarif_set(sarif, object, "attachments", list);
}

/* ---- the ladder -------------------------------------------------------------------------------------------------- */

static const json_t *member(const json_t *step, const char *key)
{
    return json_object_get(step, key);
}

static bool is_offending(const json_t *step)
{
    return member(step, "mark") || member(step, "note");
}

/* Who sent a step: "dut" or "tester" of a run; of a capture the end of the flow, whose first is the judged one. */
static const char *actor(const struct sarif *sarif, const struct result *result, const char *from, char name[100])
{
    const char *command = sarif->report->info.command;
    const char *peer = result->flow ? strchr(result->flow, '>') : NULL;
    bool judged = from && strcmp(from, "dut") == 0;
    if (!command || strcmp(command, "audit") != 0 || !peer)
        return from ? from : "tester";
    (void)snprintf(name, 100, "%.*s", judged ? (int)(peer - result->flow) : 99, judged ? result->flow : peer + 1);
    return name;
}

static json_t *flow_location(struct sarif *sarif, const struct result *result, const json_t *step, size_t order)
{
    json_t *place = json_object(), *location = json_object();
    const char *from = json_string_value(member(step, "from")), *summary = json_string_value(member(step, "summary"));
    const char *note = json_string_value(member(step, "note"));
    json_int_t frame = json_integer_value(member(step, "frame"));
    char text[1024], name[100];
    snprintf(text, sizeof(text), "%.90s: %.500s%s%.400s", actor(sarif, result, from, name), summary ? summary : "",
             note ? " - " : "", note ? note : "");
    const char *file = json_string_value(member(step, "file")); /* of a ring, where it is not the result's */
    if (!file)
        file = result->file;
    if (file && *file)
        sarif_set(sarif, location, "physicalLocation", physical_location(sarif, file));
    sarif_set(sarif, location, "message", sarif_message(sarif, text));
    if (frame > 0) {
        json_t *properties = json_object();
        sarif_set(sarif, properties, "frame", json_integer(frame));
        sarif_set(sarif, location, "properties", properties);
    }
    sarif_set(sarif, place, "location", location);
    sarif_set(sarif, place, "executionOrder", sarif_integer(order));
    sarif_set_text(sarif, place, "importance", is_offending(step) ? "essential" : "important");
    return place;
}

static void set_code_flow(struct sarif *sarif, json_t *object, const struct result *result)
{
    size_t count = json_array_size(result->steps), end = count;
    for (size_t i = 0; i < count; i++) {
        if (is_offending(json_array_get(result->steps, i)) && i + 1 + LADDER_BEHIND < count) {
            end = i + 1 + LADDER_BEHIND;
            break;
        }
    }
    if (count == 0)
        return;
    json_t *steps = json_array(), *thread = json_object(), *threads = json_array(), *flow = json_object();
    json_t *list = json_array();
    for (size_t i = end > LADDER_STEPS ? end - LADDER_STEPS : 0; i < end; i++)
        sarif_append(sarif, steps, flow_location(sarif, result, json_array_get(result->steps, i), i + 1));
    sarif_set(sarif, thread, "locations", steps);
    sarif_append(sarif, threads, thread);
    sarif_set(sarif, flow, "threadFlows", threads);
    sarif_append(sarif, list, flow);
    sarif_set(sarif, object, "codeFlows", list);
}

/* The offending octets, counted in the frame or payload that the ladder shows: { "frame", "offset", "length" }. */
static void set_mark(struct sarif *sarif, json_t *properties, const struct result *result)
{
    for (size_t i = 0; i < json_array_size(result->steps); i++) {
        const json_t *step = json_array_get(result->steps, i), *mark = member(step, "mark");
        json_int_t offset = json_integer_value(json_array_get(mark, 0));
        json_int_t length = json_integer_value(json_array_get(mark, 1));
        if (length <= 0 || offset < 0)
            continue;
        json_t *octets = json_object();
        if (json_integer_value(member(step, "frame")) > 0)
            sarif_set(sarif, octets, "frame", json_integer(json_integer_value(member(step, "frame"))));
        sarif_set(sarif, octets, "offset", json_integer(offset));
        sarif_set(sarif, octets, "length", json_integer(length));
        sarif_set(sarif, properties, "octets", octets);
        return;
    }
}

/* ---- identity ---------------------------------------------------------------------------------------------------- */

static uint64_t hashed(uint64_t hash, const char *text)
{
    return digest_text(hash, text ? text : "");
}

/*
 * The requirement, the role and who decided; of an audit the capture's name and the flow as well. Neither times, nor
 * the folder that the capture is in, nor the words of the message: these change from run to run and from version to
 * version.
 */
static void set_fingerprint(struct sarif *sarif, json_t *object, const struct result *result)
{
    const char *slash = result->file ? strrchr(result->file, '/') : NULL;
    const char *command = sarif->report->info.command;
    json_t *prints = json_object();
    char text[20];
    uint64_t hash = hashed(DIGEST_START, result->id);
    hash = hashed(hashed(hash, result->role), result->by);
    if (command && strcmp(command, "audit") == 0)
        hash = hashed(hashed(hash, slash ? slash + 1 : result->file), result->flow);
    snprintf(text, sizeof(text), "%016" PRIx64, hash);
    sarif_set_text(sarif, prints, "warpcheckFinding/v1", text);
    sarif_set(sarif, object, "partialFingerprints", prints);
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static void set_properties(struct sarif *sarif, json_t *object, const struct result *result)
{
    json_t *properties = json_object();
    sarif_set_text(sarif, properties, "verdict", verdict_name(result->verdict));
    sarif_set_text(sarif, properties, "role", result->role);
    sarif_set_text(sarif, properties, "by", result->by);
    sarif_set_text(sarif, properties, "script", result->script);
    sarif_set_text(sarif, properties, "purpose", result->purpose);
    sarif_set_text(sarif, properties, "expected", result->expected);
    sarif_set_text(sarif, properties, "actual", result->actual);
    sarif_set_text(sarif, properties, "reading", result->reading);
    sarif_set_text(sarif, properties, "cause", result->cause);
    sarif_set_text(sarif, properties, "hint", result->hint);
    sarif_set_text(sarif, properties, "why", result->message);
    if (result->verdict == VERDICT_KNOWN)
        sarif_set_text(sarif, properties, "finding", known_finding(result));
    sarif_set_text(sarif, properties, "flow", result->flow);
    if (result->frame)
        sarif_set(sarif, properties, "frame", sarif_integer(result->frame));
    set_mark(sarif, properties, result);
    sarif_set_text(sarif, properties, "replay", result->replay);
    sarif_set(sarif, object, "properties", properties);
}

/* What is wrong, then what was expected and what came: a viewer's list shows little else. */
static void set_message(struct sarif *sarif, json_t *object, const struct result *result, const char *sentence)
{
    char *text = NULL;
    if (result->message && result->expected && result->actual &&
        asprintf(&text, "%s: %s", result->message, sentence) < 0)
        text = NULL;
    sarif_set(sarif, object, "message", sarif_message(sarif, text ? text : sentence));
    free(text);
}

json_t *sarif_result(struct sarif *sarif, const struct report_entry *entry, const struct result *result, size_t rule,
                     bool ladder)
{
    json_t *object = json_object();
    char *message = report_sentence(result);
    sarif_set_text(sarif, object, "ruleId", result->id);
    sarif_set(sarif, object, "ruleIndex", sarif_integer(rule));
    set_level(sarif, object, entry, result);
    set_message(sarif, object, result, message && *message ? message : result->id);
    set_locations(sarif, object, result);
    sarif_set(sarif, object, "occurrenceCount", sarif_integer(result->count));
    set_fingerprint(sarif, object, result);
    if (ladder)
        set_code_flow(sarif, object, result);
    set_attachments(sarif, object, result);
    set_suppression(sarif, object, result);
    set_properties(sarif, object, result);
    free(message);
    return object;
}
