/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/writers/sarif.h"

#include "conformance/requirements/catalogue.h"
#include "reports/results/account.h"
#include "reports/writers/sarif_parts.h"
#include "reports/file/save.h"
#include "reports/file/text.h"
#include "reports/file/uri.h"
#include "base/text_stream.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

enum { LADDERS = 3 }; /* of each entry and verdict: the rest is in results.jsonl */

/* ---- members ----------------------------------------------------------------------------------------------------- */

void sarif_set(struct sarif *sarif, json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0)
        sarif->failed = true;
}

void sarif_append(struct sarif *sarif, json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) != 0)
        sarif->failed = true;
}

void sarif_set_text(struct sarif *sarif, json_t *object, const char *key, const char *text)
{
    if (!text || !*text)
        return;
    char *clean = text_clean(text);
    sarif_set(sarif, object, key, clean ? json_string(clean) : NULL);
    free(clean);
}

json_t *sarif_integer(uint64_t value)
{
    return json_integer(value < INT64_MAX ? (json_int_t)value : INT64_MAX);
}

json_t *sarif_message(struct sarif *sarif, const char *text)
{
    char *clean = text_clean_line(text), *plain = clean ? malloc(2 * strlen(clean) + 1) : NULL, *out = plain;
    json_t *message = json_object();
    for (const char *p = clean; plain && *p; p++) {
        *out++ = *p;
        if (*p == '{' || *p == '}')
            *out++ = *p;
        else if (*p == ']' && p[1] == '(')
            *out++ = ' ';
    }
    if (plain)
        *out = '\0';
    sarif_set(sarif, message, "text", plain ? json_string(plain) : NULL);
    free(plain);
    free(clean);
    return message;
}

/* ---- artifacts --------------------------------------------------------------------------------------------------- */

static struct artifact *artifact_of(struct sarif *sarif, const char *path)
{
    struct artifact *artifact = NULL;
    HASH_FIND_STR(sarif->artifacts, path, artifact);
    return artifact;
}

static void artifact_add(struct sarif *sarif, const char *path, bool evidence)
{
    if (!path || !*path || artifact_of(sarif, path))
        return;
    struct artifact *artifact = calloc(1, sizeof(*artifact) + strlen(path) + 1);
    if (!artifact) {
        sarif->failed = true;
        return;
    }
    memcpy(artifact->path, path, strlen(path) + 1);
    artifact->index = HASH_COUNT(sarif->artifacts);
    artifact->evidence = evidence;
    HASH_ADD_STR(sarif->artifacts, path, artifact);
    if (hash_lost(artifact)) {
        sarif->failed = true;
        free(artifact);
    }
}

static void artifacts_gather(struct sarif *sarif)
{
    const struct report *report = sarif->report;
    for (size_t i = 0; i < report->capture_count; i++)
        artifact_add(sarif, report->captures[i].info.file, false);
    for (size_t i = 0; i < report->entry_count; i++) {
        const struct report_entry *entry = report->entries[i];
        for (size_t k = 0; k < entry->kept_count; k++) {
            if (!sarif_is_result(entry->kept[k].verdict))
                continue;
            artifact_add(sarif, entry->kept[k].evidence, true);
            artifact_add(sarif, entry->kept[k].file, false);
        }
    }
}

static void artifacts_free(struct sarif *sarif)
{
    struct artifact *artifact = sarif->artifacts, *next;
    HASH_CLEAR(hh, sarif->artifacts); /* the table goes, the list of its entries stays */
    for (; artifact; artifact = next) {
        next = artifact->hh.next;
        free(artifact);
    }
}

static void set_uri(struct sarif *sarif, json_t *location, const char *path)
{
    char *uri = uri_of_path(path);
    sarif_set(sarif, location, "uri", uri ? json_string(uri) : NULL);
    free(uri);
}

json_t *sarif_artifact_location(struct sarif *sarif, const char *path)
{
    const struct artifact *artifact = artifact_of(sarif, path);
    json_t *location = json_object();
    set_uri(sarif, location, path);
    if (artifact)
        sarif_set(sarif, location, "index", sarif_integer(artifact->index));
    return location;
}

static json_t *artifact_object(struct sarif *sarif, const struct artifact *artifact)
{
    json_t *object = json_object(), *location = json_object(), *roles = json_array();
    set_uri(sarif, location, artifact->path);
    sarif_set(sarif, object, "location", location);
    sarif_append(sarif, roles, json_string(artifact->evidence ? "attachment" : "analysisTarget"));
    sarif_set(sarif, object, "roles", roles);
    return object;
}

/* ---- the tool and its rules -------------------------------------------------------------------------------------- */

/* "0.1.0" of "warpcheck 0.1.0", NULL when there is nothing like it. */
static const char *version_of(const char *tool)
{
    const char *space = strrchr(tool, ' ');
    const char *version = space ? space + 1 : tool;
    unsigned dots = 0;
    const char *p = version;
    for (; (*p >= '0' && *p <= '9') || (*p == '.' && p > version && p[-1] != '.'); p++)
        dots += *p == '.';
    bool numbers = dots == 2 && p[-1] != '.';
    return numbers && (!*p || ((*p == '-' || *p == '+') && strspn(p, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                                                     "abcdefghijklmnopqrstuvwxyz-.+") == strlen(p)))
               ? version
               : NULL;
}

static void set_description(struct sarif *sarif, json_t *rule, const struct requirement *requirement)
{
    char text[4096];
    sarif_set(sarif, rule, "shortDescription", sarif_message(sarif, requirement->text));
    snprintf(text, sizeof(text), "%.1500s. Allowed: %.1200s%s%.1000s", requirement->text, requirement->outcomes,
             *requirement->ambiguity ? ". Readings: " : "", requirement->ambiguity);
    sarif_set(sarif, rule, "fullDescription", sarif_message(sarif, text));
    snprintf(text, sizeof(text),
             "%s section %s (%s): %.1500s. Stimulus: %.1000s. `warpcheck explain %s` draws the header.",
             requirement->source, requirement->section, requirement_level_name(requirement->level), requirement->text,
             requirement->stimulus, requirement->id);
    sarif_set(sarif, rule, "help", sarif_message(sarif, text));
}

static const char *default_level(const struct requirement *requirement)
{
    return requirement_is_ambiguous(requirement) ? "note" : sarif_level_of(requirement);
}

static void set_catalogue_properties(struct sarif *sarif, json_t *properties, const struct requirement *requirement)
{
    json_t *tags = json_array();
    sarif_set_text(sarif, properties, "source", requirement->source);
    sarif_set_text(sarif, properties, "section", requirement->section);
    sarif_set_text(sarif, properties, "level", requirement_level_name(requirement->level));
    sarif_set_text(sarif, properties, "layer", requirement_layer_name(requirement->layer));
    sarif_set_text(sarif, properties, "subject", requirement->subject);
    sarif_append(sarif, tags, json_string(requirement->source));
    sarif_append(sarif, tags, json_string(requirement_layer_name(requirement->layer)));
    sarif_append(sarif, tags, json_string(requirement_level_name(requirement->level)));
    sarif_set(sarif, properties, "tags", tags);
}

/* { "responder": { "PASS": 3, "FAIL": 1 } } of the entries [first, end), which are of one requirement. */
static json_t *counts_object(struct sarif *sarif, size_t first, size_t end)
{
    json_t *roles = json_object();
    for (size_t i = first; i < end; i++) {
        const struct report_entry *entry = sarif->report->entries[i];
        json_t *counts = json_object();
        for (unsigned v = 0; v < VERDICT_COUNT; v++) {
            if (entry->counts[v])
                sarif_set(sarif, counts, verdict_name((enum verdict)v), sarif_integer(entry->counts[v]));
        }
        char *role = text_clean_line(*entry->role ? entry->role : "either");
        sarif_set(sarif, roles, role ? role : "?", counts);
        free(role);
    }
    return roles;
}

static json_t *rule_object(struct sarif *sarif, size_t first, size_t end)
{
    const struct report_entry *entry = sarif->report->entries[first];
    json_t *rule = json_object(), *properties = json_object();
    sarif_set_text(sarif, rule, "id", entry->id);
    if (entry->requirement) {
        json_t *configuration = json_object();
        set_description(sarif, rule, entry->requirement);
        sarif_set_text(sarif, configuration, "level", default_level(entry->requirement));
        sarif_set(sarif, rule, "defaultConfiguration", configuration);
        set_catalogue_properties(sarif, properties, entry->requirement);
    }
    sarif_set(sarif, properties, "results", counts_object(sarif, first, end));
    sarif_set(sarif, rule, "properties", properties);
    return rule;
}

/* Returns the index after the entries of one requirement, which are neighbours. */
static size_t rule_end(const struct report *report, size_t first)
{
    size_t end = first + 1;
    while (end < report->entry_count && strcmp(report->entries[first]->id, report->entries[end]->id) == 0)
        end++;
    return end;
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

/* One element as one line: memory holds one at a time. Takes the reference. */
static void write_element(struct sarif *sarif, bool first, json_t *element)
{
    if (!first)
        fputs(",", sarif->out);
    fputc('\n', sarif->out);
    if (!element || json_dumpf(element, sarif->out, JSON_COMPACT) != 0)
        sarif->failed = true;
    json_decref(element);
}

static void write_tool(struct sarif *sarif)
{
    const struct report *report = sarif->report;
    const char *version = version_of(report->info.tool);
    fputs("\"tool\":{\"driver\":{\"name\":\"warpcheck\",", sarif->out);
    if (version)
        fprintf(sarif->out, "\"semanticVersion\":\"%s\",\"version\":\"%s\",", version, version);
    fputs("\"fullName\":\"warpcheck: iWARP conformance\",\"rules\":[", sarif->out);
    for (size_t i = 0, end; i < report->entry_count; i = end) {
        end = rule_end(report, i);
        write_element(sarif, i == 0, rule_object(sarif, i, end));
    }
    fputs("]}},\n", sarif->out);
}

/* A time as it is written by run and audit ("2026-11-20T10:47:28Z"): what else a file has there is no time. */
static bool is_time(const char *text)
{
    static const char shape[] = "dddd-dd-ddTdd:dd:ddZ";
    if (!text || strlen(text) != sizeof(shape) - 1)
        return false;
    for (size_t i = 0; shape[i]; i++) {
        if (shape[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != shape[i])
            return false;
    }
    return true;
}

static void notify(struct sarif *sarif, json_t *list, const char *level, const char *file, const char *text)
{
    json_t *notification = json_object();
    if (file) {
        json_t *location = json_object(), *physical = json_object(), *locations = json_array();
        sarif_set(sarif, physical, "artifactLocation", sarif_artifact_location(sarif, file));
        sarif_set(sarif, location, "physicalLocation", physical);
        sarif_append(sarif, locations, location);
        sarif_set(sarif, notification, "locations", locations);
    }
    sarif_set_text(sarif, notification, "level", level);
    sarif_set(sarif, notification, "message", sarif_message(sarif, text));
    sarif_append(sarif, list, notification);
}

/* Findings that were counted and not kept. */
static uint64_t left_out(const struct report *report)
{
    uint64_t count = 0;
    for (size_t i = 0; i < report->entry_count; i++) {
        const struct report_entry *entry = report->entries[i];
        for (unsigned v = 0; v < VERDICT_COUNT; v++)
            count += sarif_is_result((enum verdict)v) ? entry->counts[v] : 0;
        for (size_t k = 0; k < entry->kept_count; k++)
            count -= sarif_is_result(entry->kept[k].verdict);
    }
    return count;
}

/* Each reason for what was not judged. */
static void notify_account(struct sarif *sarif, json_t *list)
{
    static const enum flow_account_kind kinds[] = {FLOW_UNJUDGED, FLOW_MISSING};
    const struct run_summary *summary = &sarif->report->summary;
    const char *level = summary->allow_gaps ? "warning" : "error";
    char count[ACCOUNT_TEXT], text[2 * ACCOUNT_TEXT];
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        for (enum flow_row row = FLOW_ROWS; (row = account_next(&summary->account, kinds[k], row)) != FLOW_ROWS;) {
            snprintf(text, sizeof(text), "Not judged (%s): %s: %s.", flow_account_row(row)->name,
                     account_count_text(row, &summary->account.row[row], count), flow_account_row(row)->text);
            notify(sarif, list, level, NULL, text);
        }
    }
}

/* What was expected of a capture and was not found: no result says so. */
static void notify_differences(struct sarif *sarif, json_t *list)
{
    const struct report *report = sarif->report;
    char text[1024];
    for (size_t i = 0; i < report->difference_count; i++) {
        const struct difference *difference = &report->differences[i].difference;
        snprintf(text, sizeof(text), "%s: %.300s: %.80s: %.400s", difference_kind_name(difference->kind),
                 difference->file, difference->id, difference->text);
        notify(sarif, list, "error", NULL, text);
    }
}

static json_t *notifications(struct sarif *sarif)
{
    const struct report *report = sarif->report;
    const char *stopped = report_stopped(report);
    uint64_t missing = left_out(report);
    json_t *list = json_array();
    char text[700];
    if (stopped) {
        snprintf(text, sizeof(text), "The run did not come to its end: %.300s%s.", stopped, report_goes_on(report));
        notify(sarif, list, "error", NULL, text);
    }
    for (size_t i = 0; i < report->capture_count; i++) {
        const struct report_capture *capture = &report->captures[i];
        if (!capture->whole)
            notify(sarif, list, report_is_skipped(capture) && report->summary.allow_gaps ? "warning" : "error",
                   capture->info.file, report_unread(capture));
    }
    notify_account(sarif, list);
    notify_differences(sarif, list);
    if (*report->note)
        notify(sarif, list, "warning", NULL, report->note);
    if (report->console)
        notify(sarif, list, "error", NULL, "The device died during the run; the page shows the end of its console.");
    if (missing) {
        snprintf(text, sizeof(text),
                 "%" PRIu64
                 " more findings are in results.jsonl: of each requirement, role and verdict the first %d are "
                 "listed here.",
                 missing, REPORT_KEPT_RESULTS);
        notify(sarif, list, "note", NULL, text);
    }
    return list;
}

static json_t *invocation(struct sarif *sarif)
{
    const struct report *report = sarif->report;
    json_t *object = json_object();
    sarif_set(sarif, object, "executionSuccessful", json_boolean(report->finished && !report->unread));
    sarif_set(sarif, object, "exitCode", json_integer(report_exit_status(report)));
    sarif_set_text(sarif, object, "exitCodeDescription", report_outcome(report));
    if (is_time(report->info.started))
        sarif_set_text(sarif, object, "startTimeUtc", report->info.started);
    if (is_time(report->summary.ended))
        sarif_set_text(sarif, object, "endTimeUtc", report->summary.ended);
    sarif_set_text(sarif, object, "commandLine", report->info.command_line);
    sarif_set(sarif, object, "toolExecutionNotifications", notifications(sarif));
    return object;
}

static json_t *run_properties(struct sarif *sarif)
{
    const struct report *report = sarif->report;
    json_t *object = json_object(), *verdicts = json_object();
    sarif_set_text(sarif, object, "command", report->info.command);
    sarif_set_text(sarif, object, "target", report->info.target);
    if (report->info.device)
        sarif_set(sarif, object, "device", json_incref(report->info.device));
    sarif_set_text(sarif, object, "catalogue", report->info.catalogue);
    sarif_set(sarif, object, "seed", sarif_integer(report->info.seed));
    for (unsigned v = 0; v < VERDICT_COUNT; v++)
        sarif_set(sarif, verdicts, verdict_name((enum verdict)v),
                  sarif_integer(summary_of(&report->summary, (enum verdict)v)));
    sarif_set(sarif, object, "verdicts", verdicts);
    if (!account_is_empty(&report->summary.account))
        sarif_set(sarif, object, "account", account_to_json(&report->summary.account));
    return object;
}

static void write_results(struct sarif *sarif)
{
    const struct report *report = sarif->report;
    bool first = true;
    size_t rule = 0;
    for (size_t i = 0, end; i < report->entry_count; i = end, rule++) {
        end = rule_end(report, i);
        for (size_t e = i; e < end; e++) {
            const struct report_entry *entry = report->entries[e];
            unsigned ladders[VERDICT_COUNT] = {0};
            for (size_t k = 0; k < entry->kept_count; k++) {
                const struct result *result = &entry->kept[k];
                if (!sarif_is_result(result->verdict))
                    continue;
                bool ladder = result->steps && ladders[result->verdict]++ < LADDERS;
                write_element(sarif, first, sarif_result(sarif, entry, result, rule, ladder));
                first = false;
            }
        }
    }
}

static void write_log(struct sarif *sarif)
{
    fputs("{\"$schema\":\"" SCHEMA "\",\n\"version\":\"2.1.0\",\n\"runs\":[{\n", sarif->out);
    write_tool(sarif);
    fputs("\"invocations\":[", sarif->out);
    write_element(sarif, true, invocation(sarif));
    fputs("],\n\"artifacts\":[", sarif->out);
    for (const struct artifact *artifact = sarif->artifacts; artifact; artifact = artifact->hh.next)
        write_element(sarif, artifact->index == 0, artifact_object(sarif, artifact));
    fputs("],\n\"results\":[", sarif->out);
    write_results(sarif);
    fputs("],\n\"properties\":", sarif->out);
    write_element(sarif, true, run_properties(sarif));
    fputs("\n}]}\n", sarif->out);
}

int sarif_write(const struct report *report, const struct place *to, struct iwarp_sentence *error)
{
    char *text = NULL;
    size_t size = 0;
    struct sarif sarif = {.report = report, .out = text_stream_open(&text, &size)};
    if (!sarif.out)
        return iwarp_sentence_set(error, "%s: out of memory", to->path);
    artifacts_gather(&sarif);
    write_log(&sarif);
    artifacts_free(&sarif);
    int rc = text_stream_close(sarif.out, &text) && !sarif.failed
                 ? save_file(to, text, size, error)
                 : iwarp_sentence_set(error, "%s: out of memory", to->path);
    free(text);
    return rc;
}
