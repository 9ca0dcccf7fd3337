/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/results/excerpt.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/results/known.h"
#include "reports/results/results_chain.h"
#include "reports/results/results_log.h"
#include "base/text_stream.h"

struct taking {
    struct excerpt *excerpt;
    char *const *ids;
    size_t id_count;
    FILE *out;
    struct results_chain chain;
    struct run_summary counts;
    struct finding_set findings; /* that `counts` has counted */
    json_t *captures;            /* lines, by file: written when a result is in that capture */
};

static bool wants(const struct taking *taking, const char *id)
{
    for (size_t i = 0; i < taking->id_count; i++)
        if (fnmatch(taking->ids[i], id, 0) == 0)
            return true;
    return false;
}

/* Writes a line; takes the object over. 0, or -1 without memory. */
static int add_line(struct taking *taking, json_t *object)
{
    char *line = object != NULL ? json_dumps(object, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;

    json_decref(object);
    if (line == NULL)
        return -1;
    results_chain_add(&taking->chain, line, strlen(line));
    results_chain_add(&taking->chain, "\n", 1);
    fprintf(taking->out, "%s\n", line);
    free(line);
    return 0;
}

static int add_copy(struct taking *taking, json_t *object)
{
    return add_line(taking, json_incref(object));
}

/* "DDP-7.2-01 MPA-4*" */
static json_t *selection(const struct taking *taking)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = text_stream_open(&text, &size);
    json_t *value = NULL;

    for (size_t i = 0; out != NULL && i < taking->id_count; i++)
        fprintf(out, "%s%s", i == 0 ? "" : " ", taking->ids[i]);
    if (out != NULL && text_stream_close(out, &text))
        value = json_string(text);
    free(text);
    return value;
}

static int on_run(void *user, const struct run_info *info, json_t *object)
{
    struct taking *taking = user;
    struct run_info excerpt = *info;
    json_t *conditions = info->conditions != NULL ? json_copy(info->conditions) : json_object();
    json_t *all = json_incref(json_object_get(conditions, "selection"));
    char target[1000];
    int rc = -1;

    (void)object;
    (void)snprintf(target, sizeof(target), "%.900s (excerpt)", info->target);
    excerpt.target = target;
    excerpt.conditions = conditions;
    excerpt.selected = 0;
    excerpt.shard = excerpt.plan = NULL;
    if (conditions != NULL && json_object_set_new(conditions, "selection", selection(taking)) == 0 &&
        json_object_set_new(conditions, "excerpt of", all != NULL ? json_incref(all) : json_string("all")) == 0)
        rc = add_line(taking, run_info_to_json(&excerpt));
    json_decref(all);
    json_decref(conditions);
    return rc;
}

static int on_result(void *user, const struct result *result, json_t *object)
{
    struct taking *taking = user;
    json_t *capture;

    if (!wants(taking, result->id))
        return 0;
    capture = result->file != NULL ? json_object_get(taking->captures, result->file) : NULL;
    if (capture != NULL && (add_copy(taking, capture) != 0 || json_object_del(taking->captures, result->file) != 0))
        return -1;
    if (summary_count_result(&taking->counts, &taking->findings, result) != 0 ||
        json_array_append(taking->excerpt->results, object) != 0)
        return -1;
    return add_copy(taking, object);
}

static int on_journal(void *user, const struct journal *journal, json_t *object)
{
    struct taking *taking = user;

    return wants(taking, journal->id) ? add_copy(taking, object) : 0;
}

/* Results of a capture come before or after its line: it is kept for those that come. */
static int on_capture(void *user, const struct capture_info *info, json_t *object)
{
    struct taking *taking = user;
    json_t *result;
    size_t i;

    json_array_foreach(taking->excerpt->results, i, result)
    {
        const char *file = json_string_value(json_object_get(result, "file"));

        if (file != NULL && strcmp(file, info->file) == 0)
            return add_copy(taking, object);
    }
    return json_object_set(taking->captures, info->file, object);
}

static int on_summary(void *user, const struct run_summary *summary, json_t *object)
{
    struct taking *taking = user;
    json_t *line;

    (void)object;
    taking->counts.ended = summary->ended;
    taking->counts.stopped = summary->stopped;
    line = run_summary_to_json(&taking->counts);
    if (line == NULL || results_chain_set(&taking->chain, line) != 0) {
        json_decref(line);
        return -1;
    }
    return add_line(taking, line);
}

static int read_into(struct taking *taking, const struct place *results, struct iwarp_sentence *error)
{
    struct results_reader reader = {.on_run = on_run,
                                    .on_result = on_result,
                                    .on_journal = on_journal,
                                    .on_capture = on_capture,
                                    .on_summary = on_summary,
                                    .user = taking};
    struct iwarp_sentence why = {""};
    int rc = results_read_place(results, &reader, &why);

    if (rc != 0)
        return iwarp_sentence_set(error, "%s", why.text[0] != '\0' ? why.text : "out of memory");
    if (json_array_size(taking->excerpt->results) != 0)
        return 0;
    (void)iwarp_sentence_set(error, "%.300s: no result of %.100s%s is here", results->path, taking->ids[0],
                             taking->id_count > 1 ? " and the others" : "");
    return EXCERPT_EMPTY;
}

int excerpt_make(struct excerpt *excerpt, const struct place *results, char *const *ids, size_t id_count,
                 struct iwarp_sentence *error)
{
    struct taking taking = {
        .excerpt = excerpt, .ids = ids, .id_count = id_count, .chain = RESULTS_CHAIN_START, .captures = json_object()};
    int rc = -1;

    *excerpt = (struct excerpt){.results = json_array()};
    taking.out = text_stream_open(&excerpt->text, &excerpt->size);
    if (taking.out != NULL && taking.captures != NULL && excerpt->results != NULL)
        rc = read_into(&taking, results, error);
    else
        (void)iwarp_sentence_set(error, "%s: out of memory", results->path);
    if (taking.out != NULL && !text_stream_close(taking.out, &excerpt->text))
        rc = iwarp_sentence_set(error, "%s: out of memory", results->path);
    json_decref(taking.captures);
    finding_set_free(&taking.findings);
    return rc;
}

void excerpt_free(struct excerpt *excerpt)
{
    free(excerpt->text);
    json_decref(excerpt->results);
    *excerpt = (struct excerpt){0};
}
