/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes merged results. The octets written do not depend on the order in which the parts were added. */
#include "reports/merge/merge.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/requirements/catalogue.h"
#include "reports/results/decision.h"
#include "reports/results/difference.h"
#include "reports/results/known.h"
#include "reports/merge/merge_evidence.h"
#include "reports/merge/merge_internal.h"
#include "reports/results/result_line.h"
#include "reports/results/results_chain.h"
#include "reports/file/save.h"

enum { NAMED_SHARDS_MAX = 16 };

struct writing {
    struct merge *merge;
    struct merge_outcome *outcome;
    struct evidence *evidence;
    FILE *out;
    struct decision *decisions;  /* by requirement index: of its checks */
    bool *exercised;             /* by requirement index: it has a result */
    uint64_t distinct;           /* so many are */
    struct results_chain chain;  /* of the lines that were written */
    struct finding_set findings; /* of what was written */
};

static bool is_check(const struct merge_group *group)
{
    return strstr(group->key, "\ncheck\n") == group->key + strlen(group->id);
}

static void decide(struct writing *writing, const struct merge_group *group)
{
    if (group->place == SIZE_MAX || !is_check(group))
        return;
    for (size_t i = 0; i < group->count; i++)
        decision_add(&writing->decisions[group->place], group->role, group->lines[i].verdict);
}

/* As in a run: a rule has a result of its own only where it adds to what checks have decided. */
static bool adds_something(const struct writing *writing, const struct merge_group *group)
{
    const struct decision *decision = group->place != SIZE_MAX ? &writing->decisions[group->place] : NULL;

    return !group->pooled || decision_adds(decision, group->role, merge_verdict(group));
}

/* Appends to the text, as far as it goes. */
static void __attribute__((format(printf, 3, 4))) append(char *text, size_t room, const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text + used, room - used, format, arguments);
    va_end(arguments);
}

/* "shards 2 and 4 of 4 are missing" */
static void say_missing(const struct merge *merge, struct merge_outcome *outcome)
{
    unsigned missing = 0;
    size_t room = sizeof(outcome->incomplete);
    char *text = outcome->incomplete;

    text[0] = '\0';
    for (unsigned i = 1; i <= merge->of; i++) {
        char name[24];
        struct merge_part *part = NULL;

        (void)snprintf(name, sizeof(name), "%u/%u", i, merge->of);
        HASH_FIND_STR(merge->parts, name, part);
        if (part && part->finished)
            continue;
        if (missing++ < NAMED_SHARDS_MAX)
            append(text, room, "%s%s%s", text[0] ? ", " : "shard ", name, part ? " (stopped before its end)" : "");
    }
    if (missing > NAMED_SHARDS_MAX)
        append(text, room, " and %u more", missing - NAMED_SHARDS_MAX);
    if (missing != 0)
        append(text, room, "%s missing", missing == 1 ? " is" : " are");
}

/* Adds the parts up, and says what is missing. */
static void count_parts(const struct merge *merge, struct merge_outcome *outcome)
{
    const struct merge_part *part;

    say_missing(merge, outcome);
    outcome->summary.allow_gaps = true;
    for (part = merge->parts; part; part = part->hh.next) {
        outcome->summary.allow_gaps &= !part->finished || part->summary.allow_gaps;
        merge_add_traffic(&outcome->summary, &part->summary);
        if (!part->finished && outcome->incomplete[0] == '\0')
            (void)snprintf(outcome->incomplete, sizeof(outcome->incomplete),
                           "the run of %.60s was stopped before its end", part->name[0] ? part->name : "one part");
    }
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static char *verdict_names(unsigned mask)
{
    static const char separator[] = ", ";
    char *text = calloc(1, 128);

    for (unsigned v = 0; text && v < VERDICT_COUNT; v++)
        if (mask >> v & 1)
            sprintf(text + strlen(text), "%s%s", text[0] ? separator : "", verdict_name((enum verdict)v));
    return text;
}

/* The members in the order of their names, whichever part came first; a new reference, NULL without memory. */
static json_t *sorted(const json_t *object)
{
    char *text = json_dumps(object, JSON_SORT_KEYS);
    json_t *copy = text ? json_loads(text, 0, NULL) : NULL;

    free(text);
    return copy;
}

/* Results may come from anywhere: what is too large for a number stays the largest. */
static json_int_t sum(json_int_t a, json_int_t b)
{
    json_int_t both;

    return __builtin_add_overflow(a, b, &both) ? INT64_MAX : both;
}

/* How often a rule saw what counts: in all parts that saw it. */
static json_int_t pooled_count(const struct merge_group *group, enum verdict verdict)
{
    json_int_t count = 0;
    const char *name;
    json_t *share;

    json_object_foreach(group->shares, name, share)
    {
        enum verdict theirs;

        if (verdict_from_name(json_string_value(json_array_get(share, 0)), &theirs) == 0 && theirs == verdict)
            count = sum(count, json_integer_value(json_array_get(share, 1)));
    }
    return count > 0 ? count : 1;
}

/* Finishes a rule's result. If all parts are there and none met a known deviation, that is an unexpected pass. */
static int pooled_finish(const struct writing *writing, const struct merge_group *group, json_t *object, bool adds)
{
    enum verdict verdict = merge_verdict(group);
    const json_t *unexpected = json_object_get(object, "unexpected");
    int rc = json_object_set_new(object, "count", json_integer(pooled_count(group, verdict)));

    rc |= json_object_set_new(object, "shares", sorted(group->shares));
    if (adds && verdict == VERDICT_PASS && unexpected && writing->outcome->incomplete[0] == '\0') {
        rc |= json_object_set_new(object, "verdict", json_string("FAIL"));
        rc |= json_object_set_new(object, "message", json_string(json_string_value(unexpected)));
    }
    return rc;
}

static void report_group(const struct writing *writing, const struct merge_group *group, json_t *object)
{
    struct result result;

    if (group->otherwise && writing->outcome->contradiction && result_from_json(object, &result) == 0)
        writing->outcome->contradiction(writing->outcome->user, &result);
}

static json_t *finished_line(const struct writing *writing, const struct merge_group *group,
                             const struct merge_line *line, bool adds)
{
    json_t *object = json_object();
    json_t *text = json_loads(line->text, 0, NULL);
    int rc = object && text ? json_object_set_new(object, "type", json_string(adds ? "result" : "beside")) : -1;

    rc |= json_object_update(object, text);
    if (rc == 0 && group->pooled)
        rc = pooled_finish(writing, group, object, adds);
    if (rc == 0 && group->otherwise) {
        char *names = verdict_names(group->otherwise);

        rc = json_object_set_new(object, "otherwise", json_string(names));
        free(names);
    }
    if (rc == 0)
        rc = evidence_rename(writing->evidence, object, line->source);
    json_decref(text);
    if (rc == 0)
        return object;
    json_decref(object);
    return NULL;
}

static int write_line(struct writing *writing, json_t *object)
{
    char *text = object ? json_dumps(object, RESULT_LINE_FLAGS) : NULL;
    size_t length = text ? strlen(text) : 0;
    int rc = text ? 0 : -1;

    if (text) {
        text[length++] = '\n'; /* in place of the closing NUL */
        results_chain_add(&writing->chain, text, length);
        rc = fwrite(text, 1, length, writing->out) == length ? 0 : -1;
    }
    free(text);
    return rc;
}

static int write_group_line(struct writing *writing, const struct merge_group *group, const struct merge_line *line,
                            bool adds)
{
    json_t *object = finished_line(writing, group, line, adds);
    struct result result;
    int rc = write_line(writing, object);

    if (rc == 0 && adds && result_from_json(object, &result) == 0)
        rc = summary_count_result(&writing->outcome->summary, &writing->findings, &result);
    if (rc == 0 && line == group->lines)
        report_group(writing, group, object);
    json_decref(object);
    return rc;
}

static int write_group(struct writing *writing, const struct merge_group *group)
{
    bool adds = adds_something(writing, group);

    if (adds && group->place != SIZE_MAX && !writing->exercised[group->place]) {
        writing->exercised[group->place] = true;
        writing->distinct++;
    }
    for (size_t i = 0; i < group->count; i++)
        if (write_group_line(writing, group, &group->lines[i], adds) != 0)
            return -1;
    return 0;
}

/* ---- the run line, the summary ----------------------------------------------------------------------------------- */

static json_t *parts_json(const struct merge *merge)
{
    json_t *parts = json_object();
    const struct merge_part *part;
    int rc = parts ? 0 : -1;

    for (part = merge->parts; part && rc == 0; part = part->hh.next) {
        json_t *object = json_pack("{s:b}", "finished", part->finished);

        rc = object ? 0 : -1;
        if (rc == 0 && part->finished)
            rc = json_object_set_new(object, "summary", run_summary_to_json(&part->summary));
        rc |= json_object_set_new(parts, part->name, object);
    }
    if (rc == 0)
        return parts;
    json_decref(parts);
    return NULL;
}

static int write_run(struct writing *writing)
{
    struct run_info info = writing->merge->info;
    json_t *object = NULL;
    int rc = -1;

    info.shard = NULL;
    info.conditions = NULL; /* each part has its own; merged results are not resumed */
    info.command_line = NULL;
    info.parts = parts_json(writing->merge);
    if (info.parts)
        object = run_info_to_json(&info);
    if (object)
        rc = write_line(writing, object);
    json_decref(object);
    json_decref(info.parts);
    return rc;
}

/* With all parts' selection known what nothing decided can be counted; else it is what the best of them left. */
static uint64_t not_exercised(const struct writing *writing)
{
    const struct merge *merge = writing->merge;
    const struct merge_part *part;
    uint64_t least = UINT64_MAX;

    if (merge->info.selected)
        return merge->info.selected > writing->distinct ? merge->info.selected - writing->distinct : 0;
    for (part = merge->parts; part; part = part->hh.next)
        if (part->finished && part->summary.not_exercised < least)
            least = part->summary.not_exercised;
    return least == UINT64_MAX ? 0 : least;
}

/* Which captures were read, by name. */
static int write_captures(struct writing *writing)
{
    json_t *captures = sorted(writing->merge->captures), *capture;
    const char *file;
    int rc = captures ? 0 : -1;

    json_object_foreach(captures, file, capture)
    {
        const char *status = json_string_value(json_object_get(capture, "status"));

        writing->outcome->foreign |= status && strcmp(status, "foreign") == 0;
        writing->outcome->damaged |= status && strcmp(status, "damaged") == 0;
        rc |= write_line(writing, capture);
    }
    json_decref(captures);
    return rc;
}

/* Lines that are kept by their text, as they are: what the device serves, why flows ended. */
static int write_lines(struct writing *writing, const json_t *kept)
{
    json_t *lines = sorted(kept), *line;
    const char *text;
    int rc = lines ? 0 : -1;

    json_object_foreach(lines, text, line)
    {
        rc |= write_line(writing, line);
    }
    json_decref(lines);
    return rc;
}

/* How the findings of all parts differ from what was expected. */
static int write_differences(struct writing *writing)
{
    struct run_expectation *counts = &writing->outcome->summary.expectation;
    json_t *lines = sorted(writing->merge->differences), *line;
    const char *text;
    int rc = lines ? 0 : -1;

    *counts = merge_expectation(writing->merge);
    json_object_foreach(lines, text, line)
    {
        struct difference difference;

        if (difference_from_json(line, &difference) != 0 ||
            (difference.kind == DIFFERENCE_MISSING && merge_is_renamed(writing->merge, &difference)))
            continue;
        difference_count(counts, difference.kind);
        rc |= write_line(writing, line);
    }
    json_decref(lines);
    return rc;
}

static int write_end(struct writing *writing)
{
    struct merge_outcome *outcome = writing->outcome;
    json_t *consoles = sorted(writing->merge->consoles);
    json_t *object, *value;
    const char *text;
    int rc = consoles ? 0 : -1;

    outcome->summary.not_exercised = not_exercised(writing);
    if (outcome->incomplete[0])
        outcome->summary.stopped = outcome->incomplete;
    object = run_summary_to_json(&outcome->summary);
    if (object)
        rc |= results_chain_set(&writing->chain, object);
    rc |= write_line(writing, object);
    json_decref(object);
    json_object_foreach(consoles, text, value)
    {
        object = json_pack("{s:s, s:s}", "type", "console", "text", text);
        rc |= write_line(writing, object);
        json_decref(object);
    }
    json_decref(consoles);
    return rc;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static int group_place(const struct merge_group *a, const struct merge_group *b)
{
    return a->place != b->place ? (a->place < b->place ? -1 : 1) : strcmp(a->key, b->key);
}

static int write_all(struct writing *writing)
{
    struct merge *merge = writing->merge;
    const struct merge_group *group;

    for (group = merge->groups; group; group = group->hh.next)
        decide(writing, group);
    if (write_run(writing) != 0)
        return -1;
    for (group = merge->groups; group; group = group->hh.next)
        if (write_group(writing, group) != 0)
            return -1;
    return write_lines(writing, writing->merge->services) == 0 && write_lines(writing, writing->merge->ends) == 0 &&
                   write_captures(writing) == 0 && write_differences(writing) == 0
               ? write_end(writing)
               : -1;
}

/* The evidence first: its names go into the lines. */
static int gather_evidence(struct writing *writing, struct iwarp_sentence *error)
{
    const struct merge_group *group;

    for (group = writing->merge->groups; group; group = group->hh.next)
        for (size_t i = 0; i < group->count; i++)
            if (group->lines[i].source && evidence_add(writing->evidence, group->lines[i].source) != 0)
                return iwarp_sentence_set(error, "out of memory for the evidence");
    return evidence_copy(writing->evidence, &writing->outcome->evidence_missing, error);
}

static int write_results(struct writing *writing, const struct place *place, struct iwarp_sentence *error)
{
    struct save save;
    int rc = -1, cause;

    if (save_begin(&save, place, error) != 0)
        return -1;
    writing->out = fdopen(dup(save.fd), "w");
    if (writing->out) {
        rc = write_all(writing);
        rc |= ferror(writing->out) ? -1 : 0;
        cause = errno;
        rc |= fclose(writing->out);
        errno = rc != 0 && errno == 0 ? cause : errno;
    }
    if (rc != 0)
        iwarp_sentence_set(error, "%s: cannot write the merged results: %s", place->path, strerror(errno));
    return save_end(&save, rc == 0, rc == 0 ? error : NULL) == 0 ? rc : -1;
}

int merge_write(struct merge *merge, struct folder *folder, struct merge_outcome *outcome, struct iwarp_sentence *error)
{
    size_t count = merge->catalogue ? catalogue_count(merge->catalogue) : 0;
    struct writing writing = {
        .merge = merge, .outcome = outcome, .evidence = evidence_new(folder), .chain = RESULTS_CHAIN_START};
    int rc = -1;

    writing.decisions = calloc(count + 1, sizeof(*writing.decisions));
    writing.exercised = calloc(count + 1, sizeof(*writing.exercised));
    outcome->summary = (struct run_summary){0};
    outcome->incomplete[0] = '\0';
    if (!writing.evidence || !writing.decisions || !writing.exercised) {
        iwarp_sentence_set(error, "out of memory");
    } else if (!merge->first) {
        iwarp_sentence_set(error, "there is nothing to merge");
    } else {
        HASH_SORT(merge->groups, group_place);
        HASH_SORT(merge->parts, merge_part_order);
        count_parts(merge, outcome);
        rc = gather_evidence(&writing, error);
        if (rc == 0) {
            struct place results = folder_place(folder, "results.jsonl");

            rc = write_results(&writing, &results, error);
        }
    }
    evidence_free(writing.evidence);
    finding_set_free(&writing.findings);
    free(writing.decisions);
    free(writing.exercised);
    return rc;
}

enum exit_status merge_exit_status(const struct merge_outcome *outcome)
{
    if (summary_exit_status(&outcome->summary) == EXIT_FAILS)
        return EXIT_FAILS;
    if (outcome->foreign)
        return EXIT_USAGE;
    if (outcome->incomplete[0] || outcome->damaged)
        return EXIT_INCONCLUSIVE;
    return summary_exit_status(&outcome->summary);
}
