/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/prove/prove_merge.h"

#include <jansson.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/option/shard.h"
#include "conformance/engine/prove/prove_printer.h"
#include "reference-stack/program/complaint.h"
#include "reference-stack/defects/defect.h"
#include "base/exit_status.h"

enum { NAMED_SHARDS_MAX = 16 };

struct merged {
    struct defect_list *list;
    json_t *defects; /* their lines, by id */
    json_t *seeds;   /* of the correct stack, as members */
    json_t *alarms;  /* their lines, by seed and text */
    json_t *shards;  /* that are there, "2/4" */
    char *plan;
    unsigned of;              /* shards; 0: none */
    json_int_t checks, rules; /* -1: not known yet */
    json_int_t left_out;      /* defects that no check could meet */
    const char *first;
};

static const char *text_of(const json_t *line, const char *member)
{
    const char *text = json_string_value(json_object_get(line, member));

    return text != NULL ? text : "";
}

/*
 * Which of two lines of one defect counts: that it survived; else the longer row (--matrix); else the first by octets.
 */
static bool counts_more(const json_t *a, const json_t *b)
{
    bool left = json_is_true(json_object_get(a, "killed")), right = json_is_true(json_object_get(b, "killed"));
    size_t l = json_array_size(json_object_get(a, "killed_by")), r = json_array_size(json_object_get(b, "killed_by"));
    char *a_text, *b_text;
    bool before;

    if (left != right)
        return right;
    if (l != r)
        return l > r;
    a_text = json_dumps(a, JSON_COMPACT);
    b_text = json_dumps(b, JSON_COMPACT);
    before = a_text != NULL && b_text != NULL && strcmp(a_text, b_text) < 0;
    free(a_text);
    free(b_text);
    return before;
}

static int merge_defect(struct merged *merged, json_t *line, const char *path, struct iwarp_sentence *error)
{
    const char *id = text_of(line, "defect");
    json_t *known = json_object_get(merged->defects, id);

    if (defect_list_find(merged->list, id) == NULL)
        return iwarp_sentence_set(error, "%.200s: no defect is called '%.60s': was it written by another version?",
                                  path, id);
    return known != NULL && !counts_more(line, known) ? 0 : json_object_set(merged->defects, id, line);
}

static int merge_alarm(struct merged *merged, json_t *line)
{
    char seed[24], key[1100];

    (void)snprintf(seed, sizeof(seed), "%lld", (long long)json_integer_value(json_object_get(line, "seed")));
    (void)snprintf(key, sizeof(key), "%s %.60s %.980s", seed, text_of(line, "defect"), text_of(line, "text"));
    return json_object_set(merged->alarms, key, line);
}

static int merge_seed(struct merged *merged, const json_t *line)
{
    char seed[24];

    (void)snprintf(seed, sizeof(seed), "%lld", (long long)json_integer_value(json_object_get(line, "seed")));
    return json_object_set_new(merged->seeds, seed, json_true());
}

/* "2/4": that shard is there. */
static int merge_shard(struct merged *merged, const char *label, const char *path, struct iwarp_sentence *error)
{
    struct shard shard;
    char name[24];

    if (shard_parse(&shard, label, error) != 0)
        return iwarp_sentence_set(error, "%.200s: a shard is called \"%.40s\"", path, label);
    if (merged->of != 0 && merged->of != shard.of)
        return iwarp_sentence_set(error, "%.200s: cannot be merged with %.200s: one of %u shards, not of %u", path,
                                  merged->first, shard.of, merged->of);
    merged->of = shard.of;
    shard_label(&shard, name, sizeof(name)); /* as it is looked for: "2/4" may have been written as "02/4" */
    return json_object_set_new(merged->shards, name, json_true());
}

static int merge_summary(struct merged *merged, const json_t *line, const char *path, struct iwarp_sentence *error)
{
    json_int_t checks = json_integer_value(json_object_get(line, "checks"));
    json_int_t rules = json_integer_value(json_object_get(line, "rules"));
    const char *plan = json_string_value(json_object_get(line, "plan"));
    const json_t *shard = json_object_get(line, "shard");
    const json_t *label;
    size_t i;

    if (merged->checks >= 0 && (merged->checks != checks || merged->rules != rules))
        return iwarp_sentence_set(error, "%.200s: cannot be merged with %.200s: other checks or rules", path,
                                  merged->first);
    merged->checks = checks;
    merged->rules = rules;
    if (json_integer_value(json_object_get(line, "left_out")) > merged->left_out)
        merged->left_out = json_integer_value(json_object_get(line, "left_out")); /* each shard leaves out the same */
    if (plan != NULL && merged->plan != NULL && strcmp(plan, merged->plan) != 0)
        return iwarp_sentence_set(
            error, "%.200s: cannot be merged with %.200s: their shards are of other seeds, defects or checks", path,
            merged->first);
    if (plan != NULL && merged->plan == NULL && (merged->plan = strdup(plan)) == NULL)
        return iwarp_sentence_set(error, "out of memory");
    if (json_is_string(shard))
        return merge_shard(merged, json_string_value(shard), path, error);
    json_array_foreach(shard, i, label)
    {
        if (merge_shard(merged, json_string_value(label) != NULL ? json_string_value(label) : "", path, error) != 0)
            return -1;
    }
    return 0;
}

static int merge_line(struct merged *merged, json_t *line, const char *path, struct iwarp_sentence *error)
{
    const char *type = text_of(line, "type");

    if (strcmp(type, "defect") == 0)
        return merge_defect(merged, line, path, error);
    if (strcmp(type, "alarm") == 0)
        return merge_alarm(merged, line);
    if (strcmp(type, "correct") == 0)
        return merge_seed(merged, line);
    if (strcmp(type, "summary") == 0)
        return merge_summary(merged, line, path, error);
    return iwarp_sentence_set(error, "%.200s: a line of type \"%.40s\": output of prove --format jsonl was expected",
                              path, type);
}

/*
 * The next line's object. NULL: the end; or, with the sentence set, the file breaks off in a line (*rc is -2 then), or
 * has something else there (-1).
 */
static json_t *next_line(FILE *file, const char *path, size_t lines, int *rc, struct iwarp_sentence *error)
{
    json_error_t where;
    json_t *line;
    int c;

    while ((c = getc(file)) == ' ' || c == '\t' || c == '\r' || c == '\n')
        continue;
    if (c == EOF)
        return NULL;
    (void)ungetc(c, file);
    line = json_loadf(file, JSON_DISABLE_EOF_CHECK, &where);
    if (line == NULL)
        *rc = iwarp_sentence_set(error, "%.200s: is damaged after line %zu: %.100s", path, lines, where.text);
    if (line == NULL && feof(file)) {
        (void)iwarp_sentence_set(
            error, "%.200s: ends abruptly after line %zu: prove was stopped before its end; repeat it", path, lines);
        *rc = -2;
    }
    return line;
}

/* 0; -1: no such file, or of something else; -2: of a prove that was stopped. */
static int read_file(struct merged *merged, const char *path, struct iwarp_sentence *error)
{
    FILE *file = fopen(path, "re");
    size_t lines = 0;
    bool ended = false;
    int rc = 0;

    if (file == NULL)
        return iwarp_sentence_set(error, "%.300s: %s", path, strerror(errno));
    if (merged->first == NULL)
        merged->first = path;
    for (json_t *line; rc == 0 && (line = next_line(file, path, lines, &rc, error)) != NULL; lines++) {
        rc = merge_line(merged, line, path, error);
        ended = ended || strcmp(text_of(line, "type"), "summary") == 0;
        json_decref(line);
    }
    (void)fclose(file);
    if (rc == 0 && lines == 0)
        return iwarp_sentence_set(error, "%.300s: output of prove --format jsonl was expected", path);
    if (rc == 0 && !ended) {
        (void)iwarp_sentence_set(error, "%.300s: has no summary: prove was stopped before its end; repeat it", path);
        return -2;
    }
    return rc;
}

/* ---- what it comes to -------------------------------------------------------------------------------------------- */

static size_t count_missing(const struct merged *merged, char *text, size_t room)
{
    size_t missing = 0, used = 0;

    text[0] = '\0';
    for (unsigned i = 1; i <= merged->of; i++) {
        struct shard shard = {i, merged->of};
        char label[24];

        shard_label(&shard, label, sizeof(label));
        if (json_object_get(merged->shards, label) != NULL)
            continue;
        if (missing++ < NAMED_SHARDS_MAX)
            used += (size_t)snprintf(text + used, room - used, "%s%s", used != 0 ? ", " : "shard ", label);
    }
    if (missing > NAMED_SHARDS_MAX)
        used += (size_t)snprintf(text + used, room - used, " and %zu more", missing - NAMED_SHARDS_MAX);
    if (missing != 0)
        (void)snprintf(text + used, room - used, "%s missing", missing == 1 ? " is" : " are");
    return missing;
}

static void print_line(json_t *line, bool jsonl)
{
    if (jsonl) {
        (void)json_dumpf(line, stdout, JSON_COMPACT);
        puts("");
    } else if (strcmp(text_of(line, "type"), "alarm") == 0) {
        print_plain(stdout, "ALARM    %s, seed %lld: %s",
                    json_object_get(line, "defect") != NULL ? text_of(line, "defect") : "correct stack",
                    (long long)json_integer_value(json_object_get(line, "seed")), text_of(line, "text"));
    } else if (strcmp(text_of(line, "type"), "defect") == 0) {
        prove_printer_defect(line, false);
    }
}

static int key_order(const void *a, const void *b)
{
    const char *const *left = a, *const *right = b;
    long long l = strtoll(*left, NULL, 10), r = strtoll(*right, NULL, 10);

    return l != r ? (l < r ? -1 : 1) : strcmp(*left, *right);
}

/* The members' names in the order of the numbers that they begin with; NULL without memory. */
static const char **sorted_keys(json_t *object)
{
    const char **keys = calloc(json_object_size(object) + 1, sizeof(*keys));
    const char *key;
    json_t *value;
    size_t count = 0;

    if (keys == NULL)
        return NULL;
    json_object_foreach(object, key, value)
    {
        keys[count++] = key;
    }
    qsort(keys, count, sizeof(*keys), key_order);
    return keys;
}

static json_t *shards_json(const struct merged *merged)
{
    json_t *labels = json_array();

    for (unsigned i = 1; i <= merged->of; i++) {
        struct shard shard = {i, merged->of};
        char label[24];

        shard_label(&shard, label, sizeof(label));
        if (json_object_get(merged->shards, label) != NULL)
            (void)json_array_append_new(labels, json_string(label));
    }
    return labels;
}

struct sums {
    size_t killed, defects, alarms, undecided;
};

static void write_summary(const struct merged *merged, const struct sums *sums, bool jsonl)
{
    if (!jsonl) {
        printf("\n%zu of %zu defects killed by %lld checks and %lld rules; the correct stack over %zu seeds: %zu false "
               "alarms",
               sums->killed, sums->defects, (long long)merged->checks, (long long)merged->rules,
               json_object_size(merged->seeds), sums->alarms);
        if (sums->undecided != 0)
            printf(", %zu inconclusive", sums->undecided);
        puts("");
        if (merged->left_out != 0)
            printf("%lld defects were left out, which have no meaning over SCTP\n", (long long)merged->left_out);
        return;
    }
    json_t *line =
        json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I}", "type", "summary", "defects", (json_int_t)sums->defects,
                  "killed", (json_int_t)sums->killed, "false_alarms", (json_int_t)sums->alarms, "inconclusive",
                  (json_int_t)sums->undecided, "checks", merged->checks, "rules", merged->rules);
    if (merged->left_out != 0)
        (void)json_object_set_new(line, "left_out", json_integer(merged->left_out));
    if (merged->of != 0)
        (void)json_object_set_new(line, "shard", shards_json(merged));
    if (merged->plan != NULL)
        (void)json_object_set_new(line, "plan", json_string(merged->plan));
    print_line(line, true);
    json_decref(line);
}

/* Seeds and alarms by number, defects in the order of their table. */
static int write_all(const struct merged *merged, struct sums *sums, bool jsonl)
{
    const char **seeds = sorted_keys(merged->seeds), **alarms = sorted_keys(merged->alarms);

    for (size_t i = 0; alarms != NULL && alarms[i] != NULL; i++) {
        json_t *alarm = json_object_get(merged->alarms, alarms[i]);
        bool undecided =
            json_object_get(alarm, "defect") == NULL && strncmp(text_of(alarm, "text"), "INCONCLUSIVE", 12) == 0;

        sums->undecided += undecided;
        sums->alarms += !undecided;
        print_line(alarm, jsonl);
    }
    for (size_t i = 0; seeds != NULL && seeds[i] != NULL; i++) {
        json_t *line = json_pack("{s:s, s:I}", "type", "correct", "seed", (json_int_t)strtoll(seeds[i], NULL, 10));

        print_line(line, jsonl);
        json_decref(line);
    }
    for (size_t i = 0; i < defect_list_count(merged->list); i++) {
        json_t *line = json_object_get(merged->defects, defect_list_at(merged->list, i)->id);

        if (line == NULL)
            continue;
        sums->defects++;
        sums->killed += json_is_true(json_object_get(line, "killed"));
        print_line(line, jsonl);
    }
    free(seeds);
    free(alarms);
    return seeds != NULL && alarms != NULL ? 0 : -1;
}

static int finish(const struct merged *merged, bool jsonl)
{
    struct sums sums = {0};
    char missing[400];
    bool whole = count_missing(merged, missing, sizeof(missing)) == 0;

    if (merged->checks < 0)
        return complain(EXIT_ENVIRONMENT, "none of these runs came to its end");
    if (write_all(merged, &sums, jsonl) != 0)
        return complain(EXIT_ENVIRONMENT, "out of memory");
    write_summary(merged, &sums, jsonl);
    if (sums.killed != sums.defects || sums.alarms != 0 || sums.undecided != 0)
        return whole ? EXIT_FAILS : complain(EXIT_FAILS, "%s", missing);
    return whole ? EXIT_CONFORMS : complain(EXIT_ENVIRONMENT, "%s", missing);
}

int prove_merge(const char *const *paths, size_t count, bool jsonl)
{
    struct iwarp_sentence error = {"out of memory"};
    struct merged merged = {.list = defect_list_embedded(&error),
                            .defects = json_object(),
                            .seeds = json_object(),
                            .alarms = json_object(),
                            .shards = json_object(),
                            .checks = -1,
                            .rules = -1};
    int status =
        merged.list != NULL && merged.shards != NULL ? EXIT_CONFORMS : complain(EXIT_ENVIRONMENT, "%s", error.text);

    for (size_t i = 0; i < count && status == EXIT_CONFORMS; i++) {
        int rc = read_file(&merged, paths[i], &error);

        if (rc != 0)
            status = complain(rc == -1 ? EXIT_USAGE : EXIT_ENVIRONMENT, "%s", error.text);
    }
    if (status == EXIT_CONFORMS)
        status = finish(&merged, jsonl);
    json_decref(merged.defects);
    json_decref(merged.seeds);
    json_decref(merged.alarms);
    json_decref(merged.shards);
    free(merged.plan);
    defect_list_free(merged.list);
    return status;
}
