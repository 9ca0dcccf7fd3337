/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/results/results_log_internal.h"

#include "reports/file/save.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Held lines are written when there are so many, all the same. */
enum { HELD_OCTETS = 1 << 20 };

struct results_log *results_log_new(const char *path, FILE *echo, struct iwarp_sentence *error)
{
    const char *name = path ? path : "standard output";
    struct results_log *log = calloc(1, sizeof(*log) + strlen(name) + 1);
    if (!log) {
        iwarp_sentence_set(error, "%s: out of memory", name);
        return NULL;
    }
    memcpy(log->path, name, strlen(name) + 1);
    log->fd = -1;
    log->echo = echo;
    log->chain = RESULTS_CHAIN_START;
    return log;
}

/* Takes a torn line back, so that the file ends with the last whole one. */
static int torn(struct results_log *log, int cause, struct iwarp_sentence *error)
{
    if (ftruncate(log->fd, log->whole) != 0)
        (void)lseek(log->fd, 0, SEEK_END); /* it stays torn; results_read() steps over it */
    else
        (void)lseek(log->fd, log->whole, SEEK_SET);
    return iwarp_sentence_set(error, "%s: cannot write: %s; the results so far are kept", log->path, strerror(cause));
}

static int write_all(struct results_log *log, const char *line, size_t length, struct iwarp_sentence *error)
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
static int write_lines(struct results_log *log, struct iwarp_sentence *error)
{
    size_t length = log->lines.count;
    log->lines.count = 0;
    if (length == 0)
        return 0;
    results_chain_add(&log->chain, log->lines.octets, length);
    int rc = log->fd >= 0 ? write_all(log, log->lines.octets, length, error) : 0;
    if (log->echo && (fwrite(log->lines.octets, 1, length, log->echo) != length || fflush(log->echo) != 0)) {
        log->echo = NULL;
        if (log->fd < 0)
            rc = iwarp_sentence_set(error, "standard output: cannot write the results: %s", strerror(errno));
    }
    return rc;
}

static int out_of_memory(const struct results_log *log, struct iwarp_sentence *error)
{
    return iwarp_sentence_set(error, "%s: a result without id, or out of memory", log->path);
}

/* Takes the reference to `object`. NULL means out of memory: the function returns an error. */
int results_log_write(struct results_log *log, json_t *object, struct iwarp_sentence *error)
{
    int rc = result_line_append_json(&log->lines, object);
    json_decref(object);
    return rc == 0 ? write_lines(log, error) : out_of_memory(log, error);
}

int results_log_begin(struct results_log *log, json_t *run, const struct run_info *info, struct iwarp_sentence *error)
{
    int rc = result_line_append_json(&log->lines, run);

    json_decref(run);
    if (rc != 0)
        return out_of_memory(log, error);
    if (info->functions)
        run = json_pack("{s:s, s:O}", "type", "rules", "functions", info->functions);
    return info->functions ? results_log_write(log, run, error) : write_lines(log, error);
}

static void log_free(struct results_log *log)
{
    free(log->lines.octets);
    finding_set_free(&log->findings);
    free(log);
}

struct results_log *results_log_failed(struct results_log *log)
{
    if (!log)
        return NULL;
    if (log->fd >= 0)
        close(log->fd);
    log_free(log);
    return NULL;
}

/* In an output folder the file is new, and a link of its name is nothing that is followed. */
static int create(const struct place *place)
{
    int flags = place->folder == AT_FDCWD ? O_TRUNC : O_EXCL | O_NOFOLLOW;
    return place_open(place, O_WRONLY | O_CREAT | flags, 0666);
}

struct results_log *results_log_create(const struct place *place, const struct run_info *info, FILE *echo,
                                       struct iwarp_sentence *error)
{
    struct results_log *log = results_log_new(place ? place->path : NULL, echo, error);
    if (!log)
        return NULL;
    if (place) {
        log->fd = create(place);
        if (log->fd < 0) {
            iwarp_sentence_set(error, "%s: cannot create: %s", place->path, strerror(errno));
            return results_log_failed(log);
        }
    }
    return results_log_begin(log, run_info_to_json(info), info, error) == 0 ? log : results_log_failed(log);
}

const struct run_summary *results_log_summary(const struct results_log *log)
{
    return &log->summary;
}

/* A line has been put after the others. */
static int appended(struct results_log *log, struct iwarp_sentence *error)
{
    return (!log->held || log->lines.count >= HELD_OCTETS) ? write_lines(log, error) : 0;
}

int results_log_append(struct results_log *log, const struct result *result, struct iwarp_sentence *error)
{
    if (result_line_append(&log->lines, result) != 0)
        return out_of_memory(log, error);
    if (appended(log, error) != 0)
        return -1;
    return summary_count_result(&log->summary, &log->findings, result) == 0 ? 0 : out_of_memory(log, error);
}

int results_log_append_line(struct results_log *log, enum verdict verdict, const char *line, size_t octets,
                            struct iwarp_sentence *error)
{
    if (result_line_copy(&log->lines, line, octets) != 0)
        return out_of_memory(log, error);
    if (appended(log, error) != 0)
        return -1;
    summary_count(&log->summary, verdict);
    return 0;
}

int results_log_surplus(struct results_log *log, const struct result *result, struct iwarp_sentence *error)
{
    json_t *object = result_to_json(result);

    if (json_object_set_new(object, "type", json_string("beside")) == 0)
        return results_log_write(log, object, error);
    json_decref(object);
    return out_of_memory(log, error);
}

int results_log_services(struct results_log *log, const json_t *services, struct iwarp_sentence *error)
{
    json_t *object = json_copy((json_t *)services);

    if (json_object_set_new(object, "type", json_string("served")) == 0)
        return results_log_write(log, object, error);
    json_decref(object);
    return out_of_memory(log, error);
}

int results_log_journal(struct results_log *log, const struct journal *journal, struct iwarp_sentence *error)
{
    json_t *object = journal_to_json(journal);
    int rc = result_line_append_json(&log->lines, object);

    json_decref(object);
    return rc == 0 ? 0 : out_of_memory(log, error);
}

int results_log_capture(struct results_log *log, const struct capture_info *info, struct iwarp_sentence *error)
{
    return results_log_write(log, capture_info_to_json(info), error);
}

int results_log_end(struct results_log *log, const struct end_line *line, struct iwarp_sentence *error)
{
    json_t *object = end_line_to_json(line);
    int rc = result_line_append_json(&log->lines, object);

    json_decref(object);
    return rc == 0 ? appended(log, error) : out_of_memory(log, error);
}

int results_log_difference(struct results_log *log, const struct difference *difference, struct iwarp_sentence *error)
{
    return results_log_write(log, difference_to_json(difference), error);
}

void results_log_hold(struct results_log *log)
{
    log->held = true;
}

int results_log_release(struct results_log *log, struct iwarp_sentence *error)
{
    log->held = false;
    return write_lines(log, error);
}

int results_log_finish(struct results_log *log, const struct run_summary *summary, struct iwarp_sentence *error)
{
    json_t *object = run_summary_to_json(summary);

    if (write_lines(log, error) != 0) { /* what waits is before it */
        json_decref(object);
        return -1;
    }
    if (object && results_chain_set(&log->chain, object) != 0) {
        json_decref(object);
        object = NULL;
    }
    return results_log_write(log, object, error);
}

int results_log_close(struct results_log *log, struct iwarp_sentence *error)
{
    if (!log)
        return 0;
    int rc = write_lines(log, error);
    if (log->fd >= 0 && save_sync(log->fd) != 0 && rc == 0)
        rc = iwarp_sentence_set(error, "%s: cannot write: %s", log->path, strerror(errno));
    if (log->fd >= 0 && close(log->fd) != 0 && rc == 0)
        rc = iwarp_sentence_set(error, "%s: cannot write: %s", log->path, strerror(errno));
    log_free(log);
    return rc;
}
