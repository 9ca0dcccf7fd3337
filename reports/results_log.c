/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/results_log.h"

#include "reports/known.h"
#include "reports/result_line.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uthash.h>

/* Held lines are written when there are so many, all the same. */
enum { HELD_OCTETS = 1 << 20 };

struct done_entry {
    UT_hash_handle hh;
    char key[]; /* "id role" */
};

struct results_done {
    struct done_entry *entries;
};

struct results_log {
    int fd; /* -1: echo only */
    FILE *echo;
    off_t whole; /* the file is well-formed up to here */
    bool held;   /* lines gather until results_log_release() */
    struct result_lines lines;
    struct run_summary summary;
    struct finding_set findings; /* that the summary has counted */
    char path[];                 /* for the error sentences */
};

static struct results_log *log_new(const char *path, FILE *echo, struct sentence *error)
{
    const char *name = path ? path : "standard output";
    struct results_log *log = calloc(1, sizeof(*log) + strlen(name) + 1);
    if (!log) {
        sentence_set(error, "%s: out of memory", name);
        return NULL;
    }
    memcpy(log->path, name, strlen(name) + 1);
    log->fd = -1;
    log->echo = echo;
    return log;
}

/* Takes a torn line back, so that the file ends with the last whole one. */
static int torn(struct results_log *log, int cause, struct sentence *error)
{
    if (ftruncate(log->fd, log->whole) != 0)
        (void)lseek(log->fd, 0, SEEK_END); /* it stays torn; results_read() steps over it */
    else
        (void)lseek(log->fd, log->whole, SEEK_SET);
    return sentence_set(error, "%s: cannot write: %s; the results so far are kept, `--resume` goes on from them",
                        log->path, strerror(cause));
}

static int write_all(struct results_log *log, const char *line, size_t length, struct sentence *error)
{
    for (size_t done = 0; done < length;) {
        ssize_t n = write(log->fd, line + done, length - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return torn(log, n < 0 ? errno : ENOSPC, error);
        done += (size_t)n;
    }
    log->whole += (off_t)length;
    return 0;
}

/* Writes the lines that have gathered, all at once: a reader sees whole lines. */
static int write_lines(struct results_log *log, struct sentence *error)
{
    size_t length = log->lines.count;
    log->lines.count = 0;
    if (length == 0)
        return 0;
    int rc = log->fd >= 0 ? write_all(log, log->lines.octets, length, error) : 0;
    if (log->echo && (fwrite(log->lines.octets, 1, length, log->echo) != length || fflush(log->echo) != 0))
        rc = rc ? rc : sentence_set(error, "standard output: cannot write the results: %s", strerror(errno));
    return rc;
}

static int out_of_memory(const struct results_log *log, struct sentence *error)
{
    return sentence_set(error, "%s: a result without id, or out of memory", log->path);
}

/* Takes the reference to `object` (NULL: out of memory, told as an error). */
static int write_line(struct results_log *log, json_t *object, struct sentence *error)
{
    int rc = result_line_append_json(&log->lines, object);
    json_decref(object);
    return rc == 0 ? write_lines(log, error) : out_of_memory(log, error);
}

static void log_free(struct results_log *log)
{
    free(log->lines.octets);
    finding_set_free(&log->findings);
    free(log);
}

static struct results_log *close_failed(struct results_log *log)
{
    if (!log)
        return NULL;
    if (log->fd >= 0)
        close(log->fd);
    log_free(log);
    return NULL;
}

struct results_log *results_log_create(const char *path, const struct run_info *info, FILE *echo,
                                       struct sentence *error)
{
    struct results_log *log = log_new(path, echo, error);
    if (!log)
        return NULL;
    if (path) {
        log->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (log->fd < 0) {
            sentence_set(error, "%s: cannot create: %s", path, strerror(errno));
            return close_failed(log);
        }
    }
    return write_line(log, run_info_to_json(info), error) == 0 ? log : close_failed(log);
}

const struct run_summary *results_log_summary(const struct results_log *log)
{
    return &log->summary;
}

/* A line has been put behind the others. */
static int appended(struct results_log *log, struct sentence *error)
{
    return (!log->held || log->lines.count >= HELD_OCTETS) ? write_lines(log, error) : 0;
}

int results_log_append(struct results_log *log, const struct result *result, struct sentence *error)
{
    if (result_line_append(&log->lines, result) != 0)
        return out_of_memory(log, error);
    if (appended(log, error) != 0)
        return -1;
    return summary_count_result(&log->summary, &log->findings, result) == 0 ? 0 : out_of_memory(log, error);
}

int results_log_append_line(struct results_log *log, enum verdict verdict, const char *line, size_t octets,
                            struct sentence *error)
{
    if (result_line_copy(&log->lines, line, octets) != 0)
        return out_of_memory(log, error);
    if (appended(log, error) != 0)
        return -1;
    summary_count(&log->summary, verdict);
    return 0;
}

int results_log_capture(struct results_log *log, const struct capture_info *info, struct sentence *error)
{
    return write_line(log, capture_info_to_json(info), error);
}

void results_log_hold(struct results_log *log)
{
    log->held = true;
}

int results_log_release(struct results_log *log, struct sentence *error)
{
    log->held = false;
    return write_lines(log, error);
}

int results_log_finish(struct results_log *log, const struct run_summary *summary, struct sentence *error)
{
    return write_line(log, run_summary_to_json(summary), error);
}

int results_log_close(struct results_log *log, struct sentence *error)
{
    if (!log)
        return 0;
    int rc = write_lines(log, error);
    if (log->fd >= 0 && close(log->fd) != 0)
        rc = sentence_set(error, "%s: cannot write: %s", log->path, strerror(errno));
    log_free(log);
    return rc;
}

/* "id role", the key of what --resume does not repeat; malloc'd. */
static struct done_entry *done_entry_new(const char *id, const char *role)
{
    struct done_entry *entry = calloc(1, sizeof(*entry) + strlen(id) + 1 + strlen(role ? role : "") + 1);
    if (entry)
        sprintf(entry->key, "%s %s", id, role ? role : "");
    return entry;
}

static int done_add(struct results_done *done, const char *id, const char *role)
{
    struct done_entry *entry = done_entry_new(id, role);
    struct done_entry *known = NULL;
    if (!entry)
        return -1;
    HASH_FIND_STR(done->entries, entry->key, known);
    if (known)
        free(entry);
    else
        HASH_ADD_STR(done->entries, key, entry);
    return 0;
}

bool results_done_has(const struct results_done *done, const char *id, const char *role)
{
    struct done_entry *known = NULL;
    struct done_entry *wanted = done && id ? done_entry_new(id, role) : NULL;
    if (!wanted)
        return false;
    HASH_FIND_STR(done->entries, wanted->key, known);
    free(wanted);
    return known != NULL;
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
        free(entry);
    }
    free(done);
}

/* What --resume gathers while it copies the lines to keep. */
struct resume {
    struct results_log *log;
    struct results_done *done;
    const struct run_info *wanted;
    struct sentence *error;
};

static bool same(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static int resume_run(void *user, const struct run_info *info, json_t *object)
{
    struct resume *resume = user;
    const char *path = resume->log->path;
    if (!same(info->catalogue, resume->wanted->catalogue))
        return sentence_set(resume->error, "%s: cannot resume: made with another catalogue (%.16s, this one is %.16s)",
                            path, info->catalogue, resume->wanted->catalogue ? resume->wanted->catalogue : "");
    if (!same(info->target, resume->wanted->target))
        return sentence_set(resume->error, "%s: cannot resume: its target is '%.120s', not '%.120s'", path,
                            info->target, resume->wanted->target ? resume->wanted->target : "");
    if (info->seed != resume->wanted->seed)
        return sentence_set(resume->error, "%s: cannot resume: its seed is %llu, not %llu", path,
                            (unsigned long long)info->seed, (unsigned long long)resume->wanted->seed);
    if (info->parts)
        return sentence_set(resume->error, "%s: cannot resume: these are merged results, resume the shards", path);
    if (!same(info->shard, resume->wanted->shard) || !same(info->plan, resume->wanted->plan))
        return sentence_set(resume->error, "%s: cannot resume: made by shard %.20s of another division (this is %.20s)",
                            path, info->shard ? info->shard : "1/1",
                            resume->wanted->shard ? resume->wanted->shard : "1/1");
    return write_line(resume->log, json_incref(object), resume->error);
}

static int resume_result(void *user, const struct result *result, json_t *object)
{
    struct resume *resume = user;
    if (result->verdict == VERDICT_INCONCLUSIVE)
        return 0; /* the environment may be better now: it is run again */
    if (done_add(resume->done, result->id, result->role) != 0)
        return sentence_set(resume->error, "%s: out of memory", resume->log->path);
    if (write_line(resume->log, json_incref(object), resume->error) != 0)
        return -1;
    return summary_count_result(&resume->log->summary, &resume->log->findings, result) == 0
               ? 0
               : out_of_memory(resume->log, resume->error);
}

/* Copies what is worth keeping of `path` into `path`.part, which then takes its place: never a moment without results. */
static int resume_copy(struct resume *resume, const char *path, const char *part, struct sentence *error)
{
    struct results_reader reader = {.on_run = resume_run, .on_result = resume_result, .user = resume};
    resume->log->fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (resume->log->fd < 0)
        return sentence_set(error, "%s: cannot create: %s", part, strerror(errno));
    int rc = results_read(path, &reader, error);
    if (rc == 0 && rename(part, path) != 0)
        rc = sentence_set(error, "%s: cannot rename to %s: %s", part, path, strerror(errno));
    if (rc != 0)
        unlink(part);
    return rc;
}

struct results_log *results_log_resume(const char *path, const struct run_info *info, FILE *echo,
                                       struct results_done **done, struct sentence *error)
{
    struct stat status;
    struct results_done *ids = calloc(1, sizeof(*ids));
    char *part = malloc(strlen(path) + sizeof(".part"));
    struct results_log *log = NULL;
    if (!ids || !part) {
        sentence_set(error, "%s: out of memory", path);
    } else if (stat(path, &status) != 0 || status.st_size == 0) {
        log = results_log_create(path, info, echo, error);
    } else if ((log = log_new(path, echo, error)) != NULL) {
        struct resume resume = {log, ids, info, error};
        sprintf(part, "%s.part", path);
        if (resume_copy(&resume, path, part, error) != 0)
            log = close_failed(log);
    }
    free(part);
    if (log && done)
        *done = ids;
    else
        results_done_free(ids);
    return log;
}
