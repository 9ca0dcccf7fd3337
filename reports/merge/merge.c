/* SPDX-License-Identifier: BSD-2-Clause */
/* Merging results: what is read, and which of two results of the same counts. */
#include "reports/merge/merge.h"

#include <stdlib.h>
#include <string.h>

#include "conformance/requirements/catalogue.h"
#include "reports/merge/merge_internal.h"
#include "reports/results/result_line.h"
#include "reports/results/results_log.h"

/* What is being read: joined to the rest when all of it is there. */
struct reading {
    struct merge *merge;
    struct merge_group *groups;
    const char *path, *dir;
    char *name;  /* of the part that this is; "" where the run line names none */
    bool merged; /* this is a merge itself: its parts are in its run line */
    uint64_t version;
    struct run_summary counted; /* verdicts of the results so far */
    struct iwarp_sentence *error;
};

/*
 * ---- groups -------------------------------------------------------------------------------------------------------
 */

static const char *text_of(const char *text)
{
    return text ? text : "";
}

/* The key of a result: of a rule in a run its name and role, on a capture also the flow. */
static char *key_of(const struct result *result, bool audit)
{
    bool rule = strcmp(text_of(result->by), "rule") == 0;
    const char *parts[] = {result->id,
                           text_of(result->by),
                           rule ? text_of(result->script) : "",
                           text_of(result->role),
                           audit ? text_of(result->file) : "",
                           audit ? text_of(result->flow) : ""};
    size_t size = 1;
    char *key, *at;

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        size += strlen(parts[i]) + 1;
    key = at = calloc(1, size);
    for (size_t i = 0; key && i < sizeof(parts) / sizeof(parts[0]); i++)
        at += sprintf(at, "%s\n", parts[i]);
    return key;
}

static size_t place_of(const struct merge *merge, const char *id)
{
    const struct requirement *requirement = merge->catalogue ? catalogue_find(merge->catalogue, id) : NULL;

    return requirement ? requirement->index : SIZE_MAX;
}

static struct merge_group *group_of(struct reading *reading, const struct result *result)
{
    bool audit = strcmp(text_of(reading->merge->info.command), "audit") == 0;
    bool pooled = !audit && strcmp(text_of(result->by), "rule") == 0;
    char *key = key_of(result, audit);
    struct merge_group *group = NULL;

    if (!key)
        return NULL;
    HASH_FIND_STR(reading->groups, key, group);
    if (group) {
        free(key);
        return group;
    }
    group = calloc(1, sizeof(*group));
    if (!group) {
        free(key);
        return NULL;
    }
    *group =
        (struct merge_group){.key = key, .pooled = pooled, .role = role_slot(result->role), .id = strdup(result->id)};
    group->place = place_of(reading->merge, result->id);
    group->shares = json_object();
    if (!group->id || !group->shares) {
        merge_group_free(group);
        return NULL;
    }
    HASH_ADD_KEYPTR(hh, reading->groups, group->key, strlen(group->key), group);
    if (hash_lost(group)) {
        merge_group_free(group);
        return NULL;
    }
    return group;
}

static unsigned otherwise_of(const char *names)
{
    unsigned mask = 0;

    for (unsigned v = 0; names && v < VERDICT_COUNT; v++)
        mask |= strstr(names, verdict_name((enum verdict)v)) ? 1U << v : 0;
    return mask;
}

static int join_all(struct reading *reading)
{
    struct merge_group *group, *next, *known;
    int rc = 0;

    HASH_ITER (hh, reading->groups, group, next) {
        HASH_DEL(reading->groups, group);
        qsort(group->lines, group->count, sizeof(group->lines[0]), merge_line_order);
        HASH_FIND_STR(reading->merge->groups, group->key, known);
        if (known) {
            rc |= merge_group_join(known, group);
            continue;
        }
        HASH_ADD_KEYPTR(hh, reading->merge->groups, group->key, strlen(group->key), group);
        if (hash_lost(group)) {
            merge_group_free(group);
            rc = -1;
        }
    }
    return rc;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static bool same(const char *a, const char *b)
{
    return strcmp(text_of(a), text_of(b)) == 0;
}

static int differs(const struct reading *reading, const char *what, const char *is, const char *was)
{
    return iwarp_sentence_set(reading->error, "%.150s: cannot be merged with %.100s: its %s is '%.80s', not '%.80s'",
                              reading->path, reading->merge->first, what, is, was);
}

/* How many shards a part's name speaks of ("2/4"), 0: none. */
static unsigned shards_of(const char *name)
{
    unsigned index, of;
    char more;

    if (!name || sscanf(name, "%u/%u%c", &index, &of, &more) != 2)
        return 0;
    return index > 0 && index <= of && of <= MERGE_SHARDS_MAX ? of : 0;
}

/* The number of shards that a run line speaks of. */
static unsigned shards_of_run(const struct run_info *info)
{
    const char *name;
    json_t *part;
    unsigned of = shards_of(info->shard);

    json_object_foreach(info->parts, name, part)
    {
        if (of == 0)
            of = shards_of(name);
    }
    return of;
}

static int comparable(const struct reading *reading, const struct run_info *info, unsigned of)
{
    const struct merge *merge = reading->merge;
    const struct run_info *first = &merge->info;
    char ours[24], theirs[24];

    if (!same(info->command, first->command))
        return differs(reading, "command", text_of(info->command), text_of(first->command));
    if (!same(info->target, first->target))
        return differs(reading, "target", info->target, first->target);
    if (!same(info->tool, first->tool))
        return differs(reading, "program", info->tool, first->tool);
    if (!same(info->catalogue, first->catalogue))
        return differs(reading, "catalogue", info->catalogue, first->catalogue);
    (void)snprintf(ours, sizeof(ours), "%llu", (unsigned long long)first->seed);
    (void)snprintf(theirs, sizeof(theirs), "%llu", (unsigned long long)info->seed);
    if (info->seed != first->seed)
        return differs(reading, "seed", theirs, ours);
    (void)snprintf(ours, sizeof(ours), "%u", merge->of);
    (void)snprintf(theirs, sizeof(theirs), "%u", of);
    if (of != 0 && merge->of != 0 && of != merge->of)
        return differs(reading, "number of shards", theirs, ours);
    if (info->plan && first->plan && !same(info->plan, first->plan))
        return differs(reading, "division (selection, capabilities, checks or files)", info->plan, first->plan);
    return 0;
}

/* What all have in common is the first's; the rest is joined. */
static void join_info(struct run_info *info, const struct run_info *other)
{
    if (!info->plan)
        info->plan = other->plan;
    if (!info->started || (other->started && strcmp(other->started, info->started) < 0))
        info->started = other->started;
    info->selected = info->selected > other->selected ? info->selected : other->selected;
}

static int on_run(void *user, const struct run_info *info, json_t *object)
{
    struct reading *reading = user;
    struct merge *merge = reading->merge;
    unsigned of = shards_of_run(info);

    if (json_array_append(merge->kept, object) != 0)
        return iwarp_sentence_set(reading->error, "%s: out of memory", reading->path);
    if (!merge->first) {
        merge->info = *info;
        merge->first = strdup(reading->path);
    } else if (comparable(reading, info, of) != 0) {
        return -1;
    }
    join_info(&merge->info, info);
    merge->of = merge->of ? merge->of : of;
    reading->version = info->version;
    reading->merged = info->parts != NULL;
    reading->name = strdup(info->shard ? info->shard : text_of(info->started));
    if (!merge->first || !reading->name ||
        (reading->merged ? merge_parts_add(merge, info->parts) : merge_part_add(merge, reading->name, NULL)) != 0)
        return iwarp_sentence_set(reading->error, "%s: out of memory", reading->path);
    return 0;
}

static int on_result(void *user, const struct result *result, json_t *object)
{
    struct reading *reading = user;
    struct merge_group *group = group_of(reading, result);
    struct merge_line line;
    bool added = false;
    int rc;

    if (!same(json_string_value(json_object_get(object, "type")), "beside"))
        summary_count_several(&reading->counted, result->verdict, result_results(result));
    if (!group || merge_line_make(&line, group, result, object, reading->dir) != 0)
        return iwarp_sentence_set(reading->error, "%s: out of memory", reading->path);
    group->otherwise |= group->pooled ? 0 : otherwise_of(result->otherwise);
    rc = group->pooled ? merge_shares_add(group, json_object_get(object, "shares"), &added) : 0;
    if (rc == 0 && group->pooled && !added)
        rc = merge_share_add(group, reading->name, verdict_name(line.verdict), (json_int_t)result->count);
    if (rc == 0 && group->pooled && group->count != 0) { /* one line stands for all */
        if (merge_line_order(&line, &group->lines[0]) < 0) {
            merge_line_free(&group->lines[0]);
            group->lines[0] = line;
        } else {
            merge_line_free(&line);
        }
        return 0;
    }
    if (rc == 0 && merge_group_append(group, &line) == 0)
        return 0;
    merge_line_free(&line);
    return iwarp_sentence_set(reading->error, "%s: out of memory", reading->path);
}

/* Lines may be lost without a trace of it in JSON: each verdict is as often there as the summary says. */
static int count_check(const struct reading *reading, const struct run_summary *summary)
{
    uint64_t said_in_all = 0;

    for (unsigned v = 0; v < VERDICT_COUNT; v++)
        said_in_all += summary_of(summary, (enum verdict)v);
    if (said_in_all == 0) /* it counts none: it cannot be asked */
        return 0;
    for (unsigned v = 0; v < VERDICT_COUNT; v++) {
        uint64_t is = summary_of(&reading->counted, (enum verdict)v), said = summary_of(summary, (enum verdict)v);

        if (is != said)
            return iwarp_sentence_set(
                reading->error,
                "%.200s: cannot be merged: it has %llu %s results, and its summary counts %llu; lines are "
                "lost or changed",
                reading->path, (unsigned long long)is, verdict_name((enum verdict)v), (unsigned long long)said);
    }
    return 0;
}

/* Shards are compared with the same expectations. */
static int expectation_check(struct reading *reading, const struct run_summary *summary)
{
    struct run_expectation *first = &reading->merge->expectation;
    const struct run_expectation *own = &summary->expectation;

    if (!own->used)
        return 0;
    if (!first->used)
        *first = *own;
    return same(first->digest, own->digest)
               ? 0
               : differs(reading, "file of expectations", text_of(own->digest), text_of(first->digest));
}

/* Keeps a line once, whichever parts say it. */
static int keep_by_text(const struct reading *reading, json_t *kept, json_t *object)
{
    char *text = json_dumps(object, JSON_SORT_KEYS);
    int rc = text && json_object_set(kept, text, object) == 0
                 ? 0
                 : iwarp_sentence_set(reading->error, "%s: out of memory", reading->path);

    free(text);
    return rc;
}

static int on_difference(void *user, const struct difference *difference, json_t *object)
{
    const struct reading *reading = user;

    (void)difference;
    return keep_by_text(reading, reading->merge->differences, object);
}

static int on_summary(void *user, const struct run_summary *summary, json_t *object)
{
    struct reading *reading = user;

    if (!summary->stopped && reading->version == RESULTS_VERSION && count_check(reading, summary) != 0)
        return -1;
    if (expectation_check(reading, summary) != 0)
        return -1;
    if (reading->merged || summary->stopped)
        return 0; /* a merge's parts were in its run line; one that was stopped is none */
    if (json_array_append(reading->merge->kept, object) != 0 ||
        merge_part_add(reading->merge, reading->name, summary) != 0)
        return iwarp_sentence_set(reading->error, "%s: out of memory", reading->path);
    return 0;
}

static int capture_weight(const char *status)
{
    return strcmp(status, "foreign") == 0 ? 2 : strcmp(status, "damaged") == 0 ? 1 : 0;
}

/* Of two lines of one capture that which says worse; of equals the first by octets. */
static bool capture_counts(const json_t *a, const struct capture_info *info, const json_t *b)
{
    struct capture_info known;
    bool before;

    if (capture_info_from_json((json_t *)b, &known) != 0)
        return true;
    if (capture_weight(info->status) != capture_weight(known.status))
        return capture_weight(info->status) > capture_weight(known.status);
    char *left = json_dumps(a, JSON_SORT_KEYS), *right = json_dumps(b, JSON_SORT_KEYS);
    before = left && right && strcmp(left, right) < 0;
    free(left);
    free(right);
    return before;
}

static int on_capture(void *user, const struct capture_info *info, json_t *object)
{
    struct reading *reading = user;
    json_t *known = json_object_get(reading->merge->captures, info->file);

    if (known && !capture_counts(object, info, known))
        return 0;
    return json_object_set(reading->merge->captures, info->file, object) == 0
               ? 0
               : iwarp_sentence_set(reading->error, "%s: out of memory", reading->path);
}

/* What a part has learned of the device. */
static int merge_services(void *user, json_t *object)
{
    const struct reading *reading = user;

    return keep_by_text(reading, reading->merge->services, object);
}

/* Why flows ended: the parts of an audit have captures of their own, or the same lines. */
static int on_end(void *user, const struct end_line *line, json_t *object)
{
    const struct reading *reading = user;

    (void)line;
    return keep_by_text(reading, reading->merge->ends, object);
}

static void on_console(void *user, const char *text)
{
    struct reading *reading = user;

    (void)json_object_set_new(reading->merge->consoles, text, json_true());
}

int merge_add(struct merge *merge, const char *path, const char *dir, struct iwarp_sentence *error)
{
    struct iwarp_sentence why = {"out of memory"};
    struct reading reading = {.merge = merge, .path = path, .dir = dir, .error = &why};
    struct results_reader reader = {.on_run = on_run,
                                    .on_result = on_result,
                                    .on_beside = on_result,
                                    .on_capture = on_capture,
                                    .on_end = on_end,
                                    .on_difference = on_difference,
                                    .on_services = merge_services,
                                    .on_summary = on_summary,
                                    .on_console = on_console,
                                    .strict = true,
                                    .user = &reading};
    int rc = results_read(path, &reader, &why);

    if (rc == 0)
        rc = join_all(&reading);
    merge_groups_free(reading.groups);
    free(reading.name);
    return rc == 0 ? 0 : iwarp_sentence_set(error, "%s", why.text);
}

struct merge *merge_new(const struct catalogue *catalogue)
{
    struct merge *merge = calloc(1, sizeof(*merge));

    if (!merge)
        return NULL;
    *merge = (struct merge){.catalogue = catalogue, .kept = json_array()};
    merge->consoles = json_object();
    merge->captures = json_object();
    merge->services = json_object();
    merge->ends = json_object();
    merge->differences = json_object();
    if (merge->kept && merge->ends && merge->consoles && merge->captures && merge->services && merge->differences)
        return merge;
    merge_free(merge);
    return NULL;
}

void merge_free(struct merge *merge)
{
    struct merge_part *part, *next;

    if (!merge)
        return;
    merge_groups_free(merge->groups);
    part = merge->parts;
    HASH_CLEAR(hh, merge->parts);
    for (; part; part = next) {
        next = part->hh.next;
        free(part->name);
        free(part);
    }
    json_decref(merge->kept);
    json_decref(merge->consoles);
    json_decref(merge->captures);
    json_decref(merge->services);
    json_decref(merge->ends);
    json_decref(merge->differences);
    free(merge->first);
    free(merge);
}
