/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* asprintf */
#include "reports/results/report.h"

#include "conformance/requirements/catalogue.h"
#include "reports/results/account.h"
#include "reports/results/results_log.h"
#include "reports/file/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int keep(struct report_entry *entry, const struct result *result, json_t *object)
{
    if (entry->kept_count == entry->kept_room) {
        size_t room = entry->kept_room ? 2 * entry->kept_room : 2;
        struct result *kept = realloc(entry->kept, room * sizeof(*kept));
        if (kept)
            entry->kept = kept;
        json_t **objects = realloc(entry->objects, room * sizeof(*objects));
        if (objects)
            entry->objects = objects;
        if (!kept || !objects)
            return -1;
        entry->kept_room = room;
    }
    entry->kept[entry->kept_count] = *result;
    entry->objects[entry->kept_count++] = json_incref(object);
    return 0;
}

static struct report_entry *entry_of(struct report *report, const struct result *result)
{
    struct report_entry *entry = NULL;
    const char *role = result->role ? result->role : "";
    size_t id_length = strlen(result->id), key_length = id_length + 1 + strlen(role);
    struct report_entry *fresh = calloc(1, sizeof(*fresh) + key_length + 1 + id_length + 1);
    if (!fresh)
        return NULL;
    sprintf(fresh->key, "%s %s", result->id, role);
    HASH_FIND_STR(report->hash, fresh->key, entry);
    if (entry) {
        free(fresh);
        return entry;
    }
    char *id = fresh->key + key_length + 1; /* the id again, terminated, after the key */
    memcpy(id, result->id, id_length + 1);
    fresh->id = id;
    fresh->role = fresh->key + id_length + 1;
    fresh->requirement = report->catalogue ? catalogue_find(report->catalogue, id) : NULL;
    fresh->worst = result->verdict;
    HASH_ADD_STR(report->hash, key, fresh);
    if (hash_lost(fresh)) {
        free(fresh);
        return NULL;
    }
    return fresh;
}

static int on_run(void *user, const struct run_info *info, json_t *object)
{
    struct report *report = user;
    report->info = *info;
    report->info_object = json_incref(object);
    return 0;
}

static int on_result(void *user, const struct result *result, json_t *object)
{
    struct report *report = user;
    struct report_entry *entry = entry_of(report, result);
    if (!entry)
        return -1;
    uint64_t most = result->verdict == VERDICT_PASS || result->verdict == VERDICT_SKIP ? 1 : REPORT_KEPT_RESULTS;
    if (entry->counts[result->verdict] < most && keep(entry, result, object) != 0)
        return -1;
    if (result->file && report->info.command && strcmp(report->info.command, "audit") == 0 &&
        report_cases_add(&entry->cases, &report->files, result->file, result->verdict) != 0)
        return -1;
    report->script_errors += result->verdict == VERDICT_INCONCLUSIVE && result_is_script_error(result);
    entry->counts[result->verdict] += result_results(result);
    entry->seen[result->verdict] += result->count;
    entry->duration_ns += result->duration_ns;
    entry->worst = verdict_worse(entry->worst, result->verdict);
    return summary_count_result(&report->counted, &report->findings, result);
}

/* The list with room for one more member, perhaps at another place; NULL without memory: it stays as it was. */
static void *with_room(void *list, size_t count, size_t *room, size_t octets)
{
    size_t wanted = *room ? 2 * *room : 16;
    void *grown = count < *room ? list : realloc(list, wanted * octets);

    if (grown && count == *room)
        *room = wanted;
    return grown;
}

static int on_capture(void *user, const struct capture_info *info, json_t *object)
{
    struct report *report = user;
    struct report_capture *capture,
        *captures = with_room(report->captures, report->capture_count, &report->capture_room, sizeof(*captures));

    if (!captures)
        return -1;
    report->captures = captures;
    capture = &captures[report->capture_count++];
    *capture = (struct report_capture){*info, strcmp(info->status, "whole") == 0, json_incref(object)};
    report->skipped += report_is_skipped(capture);
    report->unread += !capture->whole && !report_is_skipped(capture);
    return 0;
}

/* Without a summary line: what the captures that were done add up to. */
static void sum_accounts(struct report *report)
{
    for (size_t i = 0; i < report->capture_count; i++) {
        const struct capture_info *info = &report->captures[i].info;
        struct flow_account account;

        account_from_json(info->account, &account);
        flow_account_add(&report->summary.account, &account);
        if (report_is_skipped(&report->captures[i]) && info->reason)
            report->summary.account.row[flow_account_find(info->reason)].items++;
    }
}

static int on_summary(void *user, const struct run_summary *summary, json_t *object)
{
    struct report *report = user;
    json_decref(report->summary_object);
    report->summary = *summary;
    report->summary_object = json_incref(object);
    report->finished = !summary->stopped;
    return 0;
}

static int on_end(void *user, const struct end_line *line, json_t *object)
{
    struct report *report = user;
    struct report_end *ends;

    if (report->end_total++ >= REPORT_KEPT_ENDS)
        return 0;
    ends = with_room(report->ends, report->end_count, &report->end_room, sizeof(*ends));
    if (!ends)
        return -1;
    report->ends = ends;
    ends[report->end_count++] = (struct report_end){*line, json_incref(object)};
    return 0;
}

static int on_difference(void *user, const struct difference *difference, json_t *object)
{
    struct report *report = user;
    struct report_difference *differences =
        with_room(report->differences, report->difference_count, &report->difference_room, sizeof(*differences));

    if (!differences)
        return -1;
    report->differences = differences;
    differences[report->difference_count++] = (struct report_difference){*difference, json_incref(object)};
    return 0;
}

static void on_console(void *user, const char *text)
{
    struct report *report = user;
    json_decref(report->console_text);
    report->console_text = json_string(text);
    report->console = json_string_value(report->console_text);
}

static void on_note(void *user, const char *note)
{
    struct report *report = user;
    (void)snprintf(report->note, sizeof(report->note), "%s", note);
}

static int entry_order(const void *a, const void *b)
{
    const struct report_entry *left = *(struct report_entry *const *)a, *right = *(struct report_entry *const *)b;
    size_t l = left->requirement ? left->requirement->index : SIZE_MAX;
    size_t r = right->requirement ? right->requirement->index : SIZE_MAX;
    return l != r ? (l < r ? -1 : 1) : strcmp(left->key, right->key);
}

static int sort_entries(struct report *report)
{
    struct report_entry *entry, *next;
    report->entries = calloc(HASH_COUNT(report->hash) + 1, sizeof(struct report_entry *));
    if (!report->entries)
        return -1;
    HASH_ITER (hh, report->hash, entry, next) {
        report->entries[report->entry_count++] = entry;
    }
    qsort(report->entries, report->entry_count, sizeof(struct report_entry *), entry_order);
    return 0;
}

/* Uses the counted results, not the summary line; if the two differ, a note says so. */
static void settle_summary(struct report *report)
{
    bool same = true;
    for (unsigned v = 0; v < VERDICT_COUNT; v++)
        same = same && summary_of(&report->summary, (enum verdict)v) == summary_of(&report->counted, (enum verdict)v);
    if (report->finished && !same && report->info.version == RESULTS_VERSION) /* version 1 counted KNOWN as WARN */
        (void)snprintf(report->note, sizeof(report->note),
                       "The summary line contradicts the results, so the results were counted again.");
    summary_copy_verdicts(&report->summary, &report->counted);
}

int report_load(struct report *report, const char *path, const struct catalogue *catalogue,
                struct iwarp_sentence *error)
{
    struct place place = place_at(path);
    return report_load_place(report, &place, catalogue, error);
}

int report_load_place(struct report *report, const struct place *place, const struct catalogue *catalogue,
                      struct iwarp_sentence *error)
{
    *report = (struct report){.catalogue = catalogue, .source = *place};
    struct results_reader reader = {.on_run = on_run,
                                    .on_result = on_result,
                                    .on_capture = on_capture,
                                    .on_end = on_end,
                                    .on_difference = on_difference,
                                    .on_summary = on_summary,
                                    .on_console = on_console,
                                    .on_note = on_note,
                                    .user = report};
    struct iwarp_sentence why = {"out of memory while the results were read"};
    if (results_read_place(place, &reader, &why) == 0 && sort_entries(report) == 0) {
        settle_summary(report);
        if (!report->summary_object)
            sum_accounts(report);
        return 0;
    }
    iwarp_sentence_set(error, "%s", why.text);
    report_free(report);
    return -1;
}

void report_free(struct report *report)
{
    struct report_entry *entry = report->hash, *next;
    HASH_CLEAR(hh, report->hash); /* the table goes, the list of its entries stays */
    for (; entry; entry = next) {
        next = entry->hh.next;
        for (size_t i = 0; i < entry->kept_count; i++)
            json_decref(entry->objects[i]);
        free(entry->objects);
        free(entry->kept);
        report_cases_free(&entry->cases);
        free(entry);
    }
    free(report->entries);
    report_files_free(&report->files);
    for (size_t i = 0; i < report->capture_count; i++)
        json_decref(report->captures[i].object);
    free(report->captures);
    for (size_t i = 0; i < report->end_count; i++)
        json_decref(report->ends[i].object);
    free(report->ends);
    for (size_t i = 0; i < report->difference_count; i++)
        json_decref(report->differences[i].object);
    free(report->differences);
    finding_set_free(&report->findings);
    json_decref(report->info_object);
    json_decref(report->console_text);
    json_decref(report->summary_object);
    *report = (struct report){0};
}

const struct result *report_first(const struct report_entry *entry, enum verdict verdict)
{
    for (size_t i = 0; i < entry->kept_count; i++) {
        if (entry->kept[i].verdict == verdict)
            return &entry->kept[i];
    }
    return NULL;
}

struct report_entry *const *report_find(const struct report *report, const struct requirement *requirement,
                                        size_t *count)
{
    size_t low = 0, high = report->entry_count; /* sorted by catalogue index, unknown ids last */
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct requirement *there = report->entries[middle]->requirement;
        if (there && there->index < requirement->index)
            low = middle + 1;
        else
            high = middle;
    }
    size_t end = low;
    while (end < report->entry_count && report->entries[end]->requirement == requirement)
        end++;
    *count = end - low;
    return *count ? &report->entries[low] : NULL;
}

char *report_sentence(const struct result *result)
{
    char *text = NULL;
    int rc;
    if (result->expected && result->actual)
        rc = asprintf(&text, "expected %s; got %s", result->expected, result->actual);
    else if (result->expected)
        rc = asprintf(&text, "expected %s%s%s", result->expected, result->message ? "; " : "",
                      result->message ? result->message : "");
    else
        rc = asprintf(&text, "%s",
                      result->message   ? result->message
                      : result->pics    ? result->pics
                      : result->reading ? result->reading
                      : result->actual  ? result->actual
                      : result->purpose ? result->purpose
                                        : "");
    if (rc < 0)
        return NULL;
    char *line = text_clean_line(text);
    free(text);
    return line;
}

const char *report_stopped(const struct report *report)
{
    if (report->finished)
        return NULL;
    return report->summary.stopped ? report->summary.stopped : "results.jsonl has no summary line";
}

const char *report_goes_on(const struct report *report)
{
    return report->info.command && strcmp(report->info.command, "run") != 0 ? "" : "; --resume continues the run";
}

bool report_is_skipped(const struct report_capture *capture)
{
    return strcmp(capture->info.status, "skipped") == 0;
}

const char *report_unread(const struct report_capture *capture)
{
    return capture->info.message ? capture->info.message : "it could not be read to its end";
}

enum exit_status report_exit_status(const struct report *report)
{
    enum exit_status status = summary_exit_status(&report->summary);
    for (size_t i = 0; status != EXIT_FAILS && i < report->capture_count; i++) {
        if (strcmp(report->captures[i].info.status, "foreign") == 0)
            return EXIT_USAGE;
    }
    if (report->script_errors && status == EXIT_INCONCLUSIVE)
        return EXIT_USAGE;
    if (report->unread && status != EXIT_FAILS)
        return EXIT_INCONCLUSIVE;
    if (!report->finished && (status == EXIT_CONFORMS || status == EXIT_KNOWN))
        return EXIT_INCONCLUSIVE; /* half a run proves nothing */
    return status;
}

const char *report_outcome(const struct report *report)
{
    static const char *const words[] = {
        [EXIT_CONFORMS] = "conforms",         [EXIT_FAILS] = "does not conform",
        [EXIT_USAGE] = "inconclusive",        [EXIT_NOTHING_SELECTED] = "nothing was decided",
        [EXIT_INCONCLUSIVE] = "inconclusive", [EXIT_KNOWN] = "does not conform, as known; nothing new"};
    enum exit_status status = report_exit_status(report);
    if (report->summary.expectation.used && status == EXIT_CONFORMS)
        return "is as expected";
    return report->summary.expectation.used && status == EXIT_FAILS ? "is not as expected" : words[status];
}
