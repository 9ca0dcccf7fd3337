/* SPDX-License-Identifier: BSD-2-Clause */
/* Continues the results.jsonl of a stopped run: which lines are kept, and what they say. */
#include "reports/results/results_log_internal.h"

#include "reports/file/save.h"
#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct done_entry {
    struct results_kept kept;
    UT_hash_handle hh;
    char key[]; /* "id role" */
};

struct results_done {
    struct done_entry *entries;
    json_t *repeated; /* journals of checks that are repeated */
    json_t *services; /* what the device serves, by role */
};

/* ---- what is done ------------------------------------------------------------------------------------------------ */

static struct done_entry *entry_new(const char *id, const char *role)
{
    struct done_entry *entry = calloc(1, sizeof(*entry) + strlen(id) + 1 + strlen(role ? role : "") + 1);

    if (entry)
        sprintf(entry->key, "%s %s", id, role ? role : "");
    return entry;
}

static void entry_free(struct done_entry *entry)
{
    json_decref(entry->kept.journal);
    json_decref(entry->kept.result);
    free(entry);
}

/* The result without its ladder, which is long. */
static json_t *without_steps(json_t *object)
{
    json_t *copy = json_copy(object);

    (void)json_object_del(copy, "steps");
    return copy;
}

static int done_add(struct results_done *done, const struct result *result, json_t *journal, json_t *object)
{
    struct done_entry *entry = entry_new(result->id, result->role);
    struct done_entry *known = NULL;

    if (!entry)
        return -1;
    entry->kept = (struct results_kept){json_incref(journal), without_steps(object)};
    HASH_FIND_STR(done->entries, entry->key, known);
    if (!known && entry->kept.result) {
        HASH_ADD_STR(done->entries, key, entry);
        if (!hash_lost(entry))
            return 0;
    }
    entry_free(entry);
    return known ? 0 : -1;
}

const struct results_kept *results_done_find(const struct results_done *done, const char *id, const char *role)
{
    struct done_entry *known = NULL;
    struct done_entry *wanted = done && id ? entry_new(id, role) : NULL;

    if (!wanted)
        return NULL;
    HASH_FIND_STR(done->entries, wanted->key, known);
    free(wanted);
    return known ? &known->kept : NULL;
}

bool results_done_has(const struct results_done *done, const char *id, const char *role)
{
    return results_done_find(done, id, role) != NULL;
}

const json_t *results_done_repeated(const struct results_done *done)
{
    return done ? done->repeated : NULL;
}

const json_t *results_done_services(const struct results_done *done)
{
    return done ? done->services : NULL;
}

size_t results_done_count(const struct results_done *done)
{
    return done ? HASH_COUNT(done->entries) : 0;
}

void results_done_free(struct results_done *done)
{
    struct done_entry *entry = done ? done->entries : NULL, *next;

    if (!done)
        return;
    HASH_CLEAR(hh, done->entries); /* the table goes, the list of its entries stays */
    for (; entry; entry = next) {
        next = entry->hh.next;
        entry_free(entry);
    }
    json_decref(done->repeated);
    json_decref(done->services);
    free(done);
}

/* ---- may this run go on? ----------------------------------------------------------------------------------------- */

/* What --resume gathers while it copies the lines to keep. */
struct resume {
    struct results_log *log;
    struct results_done *done;
    const struct run_info *wanted;
    json_t *pending; /* the journal that was read last, when its check's result has not followed yet */
    struct iwarp_sentence *error;
};

static const char *text_of(const char *text)
{
    return text ? text : "";
}

static bool same(const char *a, const char *b)
{
    return strcmp(text_of(a), text_of(b)) == 0;
}

static int refuse(const struct resume *resume, const char *what, const char *was, const char *is)
{
    return iwarp_sentence_set(resume->error,
                              "%.200s: cannot resume: the run was made with %s ('%.90s', this one is '%.90s')",
                              resume->log->path, what, text_of(was), text_of(is));
}

static const char *condition_of(const json_t *conditions, const char *name)
{
    return text_of(json_string_value(json_object_get(conditions, name)));
}

/* Compares all conditions of verdicts other than the device, by name. The caller has collected them. */
static int compare_conditions(const struct resume *resume, const struct run_info *info)
{
    json_t *all = json_object();
    const char *name;
    json_t *value;
    int rc = all ? 0 : iwarp_sentence_set(resume->error, "%s: out of memory", resume->log->path);

    (void)json_object_update(all, info->conditions);
    (void)json_object_update(all, resume->wanted->conditions);
    json_object_foreach(all, name, value)
    {
        const char *was = condition_of(info->conditions, name), *is = condition_of(resume->wanted->conditions, name);
        char what[80];

        if (rc != 0 || strcmp(was, is) == 0)
            continue;
        (void)snprintf(what, sizeof(what), "%s %.60s", name[0] && name[strlen(name) - 1] == 's' ? "other" : "another",
                       name);
        rc = refuse(resume, what, was, is);
    }
    json_decref(all);
    return rc;
}

static int resume_run(void *user, const struct run_info *info, json_t *object)
{
    struct resume *resume = user;
    const struct run_info *wanted = resume->wanted;
    char was[24], is[24];

    (void)snprintf(was, sizeof(was), "%llu", (unsigned long long)info->seed);
    (void)snprintf(is, sizeof(is), "%llu", (unsigned long long)wanted->seed);
    if (info->parts)
        return iwarp_sentence_set(resume->error, "%s: cannot resume: these are merged results, resume the shards",
                                  resume->log->path);
    if (!same(info->command, wanted->command))
        return refuse(resume, "another command", info->command, wanted->command);
    if (!same(info->tool, wanted->tool))
        return refuse(resume, "another program version", info->tool, wanted->tool);
    if (!same(info->catalogue, wanted->catalogue))
        return refuse(resume, "another catalogue", info->catalogue, wanted->catalogue);
    if (!same(info->target, wanted->target))
        return refuse(resume, "another target", info->target, wanted->target);
    if (info->seed != wanted->seed)
        return refuse(resume, "another seed", was, is);
    if (!same(info->shard, wanted->shard))
        return refuse(resume, "another --shard", info->shard ? info->shard : "1/1",
                      wanted->shard ? wanted->shard : "1/1");
    if (compare_conditions(resume, info) != 0)
        return -1;
    if (!same(info->plan, wanted->plan))
        return refuse(resume, "another division into shards", info->plan, wanted->plan);
    return results_log_begin(resume->log, json_incref(object), wanted, resume->error);
}

/* ---- what is kept ------------------------------------------------------------------------------------------------ */

static int out_of_memory(const struct resume *resume)
{
    return iwarp_sentence_set(resume->error, "%s: out of memory", resume->log->path);
}

/* The check of this journal is repeated. What rules found in it stays: it was seen. */
static int keep_findings(struct resume *resume, json_t *object)
{
    if (json_array_size(json_object_get(object, "findings")) == 0)
        return 0;
    if (json_array_append(resume->done->repeated, object) != 0)
        return out_of_memory(resume);
    return results_log_write(resume->log, json_incref(object), resume->error);
}

static int drop_pending(struct resume *resume)
{
    int rc = resume->pending ? keep_findings(resume, resume->pending) : 0;

    json_decref(resume->pending);
    resume->pending = NULL;
    return rc;
}

static int resume_journal(void *user, const struct journal *journal, json_t *object)
{
    struct resume *resume = user;
    int rc = drop_pending(resume);

    (void)journal;
    resume->pending = json_incref(object);
    return rc;
}

/* A check is done when both its lines are there. The rules' results are made again of the journals. */
static int resume_result(void *user, const struct result *result, json_t *object)
{
    struct resume *resume = user;
    struct journal journal;
    bool done;
    int rc;

    if (same(result->by, "rule") || !resume->pending)
        return 0;
    done = journal_from_json(resume->pending, &journal) == 0 && journal_is_of(&journal, result->id, result->role) &&
           journal.found != VERDICT_INCONCLUSIVE; /* the environment may be better now: the check is repeated */
    journal_free(&journal);
    if (!done)
        return drop_pending(resume);
    rc = done_add(resume->done, result, resume->pending, object) == 0 ? 0 : out_of_memory(resume);
    if (rc == 0)
        rc = results_log_write(resume->log, json_incref(resume->pending), resume->error);
    if (rc == 0)
        rc = results_log_write(resume->log, json_incref(object), resume->error);
    if (rc == 0 && summary_count_result(&resume->log->summary, &resume->log->findings, result) != 0)
        rc = out_of_memory(resume);
    json_decref(resume->pending);
    resume->pending = NULL;
    return rc;
}

/* A device that served no start-up is tried again: its environment may work now. */
static int resume_services(void *user, json_t *object)
{
    struct resume *resume = user;

    if (!json_is_true(json_object_get(json_object_get(object, "exchanges"), "startup")))
        return 0;
    if (json_array_append(resume->done->services, object) != 0)
        return out_of_memory(resume);
    return results_log_write(resume->log, json_incref(object), resume->error);
}

/* Copies what is worth keeping into a file that then takes the place of the old one: never a moment without results. */
static int resume_copy(struct resume *resume, const struct place *place, struct iwarp_sentence *error)
{
    struct results_reader reader = {.on_run = resume_run,
                                    .on_journal = resume_journal,
                                    .on_result = resume_result,
                                    .on_services = resume_services,
                                    .user = resume};
    struct save save;
    int rc;

    if (save_begin(&save, place, error) != 0)
        return -1;
    resume->log->fd = save.fd;
    rc = results_read_place(place, &reader, error);
    json_decref(resume->pending); /* the run was stopped while it wrote this check's lines: the check is run again */
    resume->log->fd = -1;
    if (rc != 0) {
        (void)save_end(&save, false, NULL);
        return -1;
    }
    resume->log->fd = save_keep_open(&save, error);
    return resume->log->fd >= 0 ? 0 : -1;
}

/* 1; 0: there is no file, or the run was stopped before its first line was whole; -1: it cannot be read. */
static int has_line(const struct place *place, struct iwarp_sentence *error)
{
    int fd = openat(place->folder, place->name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    char octets[4096];
    ssize_t count = 0;
    bool found = false;

    if (fd < 0 && errno == ENOENT)
        return 0;
    while (fd >= 0 && !found && (count = read(fd, octets, sizeof(octets))) > 0)
        found = memchr(octets, '\n', (size_t)count) != NULL;
    if (fd < 0 || count < 0)
        (void)iwarp_sentence_set(error, "%s: cannot read: %s", place->path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return fd < 0 || count < 0 ? -1 : found;
}

/* Starts anew where nothing was done yet. */
static struct results_log *create_log(const struct place *place, const struct run_info *info, FILE *echo,
                                      struct iwarp_sentence *error)
{
    (void)unlinkat(place->folder, place->name, 0);
    return results_log_create(place, info, echo, error);
}

struct results_log *results_log_resume(const struct place *place, const struct run_info *info, FILE *echo,
                                       struct results_done **done, struct iwarp_sentence *error)
{
    struct results_done *ids = calloc(1, sizeof(*ids));
    struct results_log *log = NULL;
    int begun = has_line(place, error);

    if (!ids || !(ids->repeated = json_array()) || !(ids->services = json_array())) {
        iwarp_sentence_set(error, "%s: out of memory", place->path);
    } else if (begun == 0) {
        log = create_log(place, info, echo, error);
    } else if (begun > 0 && (log = results_log_new(place->path, echo, error)) != NULL) {
        struct resume resume = {.log = log, .done = ids, .wanted = info, .error = error};

        if (resume_copy(&resume, place, error) != 0)
            log = results_log_failed(log);
    }
    if (log && done)
        *done = ids;
    else
        results_done_free(ids);
    return log;
}
