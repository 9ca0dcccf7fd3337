/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/monitor/monitor_log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "conformance/engine/process/run_stop.h"
#include "reports/results/result_line.h"

struct monitor_log {
    struct monitor_log_config config;
    int file; /* -1: none */
    bool regular, beginning;
    off_t octets;      /* whole lines of the file, */
    off_t first;       /* and of these its first ones, which it begins with */
    uint64_t begun_ns; /* when this file was; 0: it is not known yet */
    struct result_lines line;
    uint64_t lost;
    struct iwarp_sentence why;
};

/* ---- the file ---------------------------------------------------------------------------------------------------- */

/* Where the last whole line ends. */
static off_t whole_end(int file, off_t size)
{
    char piece[4096];

    while (size > 0) {
        size_t count = size < (off_t)sizeof(piece) ? (size_t)size : sizeof(piece);

        if (pread(file, piece, count, size - (off_t)count) != (ssize_t)count)
            return size;
        for (size_t i = count; i > 0; i--)
            if (piece[i - 1] == '\n')
                return size - (off_t)(count - i);
        size -= (off_t)count;
    }
    return 0;
}

/* A descriptor of the file at `path`; -1 with a sentence. *status is that of it. */
static int file_open(const char *path, struct stat *status, struct iwarp_sentence *error)
{
    int file = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0644);

    if (file < 0 && (errno == EINVAL || errno == EACCES || errno == ENXIO))
        file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC); /* a pipe, a device */
    if (file < 0 || fstat(file, status) != 0) {
        (void)iwarp_sentence_set(error, "%s: cannot open the log: %s", path, strerror(errno));
    } else if (S_ISREG(status->st_mode) && flock(file, LOCK_EX | LOCK_NB) != 0) {
        (void)iwarp_sentence_set(error, "%s: another process writes this log; name another file", path);
    } else {
        return file;
    }
    if (file >= 0)
        (void)close(file);
    return -1;
}

/* Continues with this file. */
static int file_use(struct monitor_log *log, struct iwarp_sentence *error)
{
    struct stat status;
    int file = file_open(log->config.path, &status, error);
    bool empty;

    if (file < 0)
        return -1;
    log->regular = S_ISREG(status.st_mode);
    log->octets = log->regular ? whole_end(file, status.st_size) : 0;
    if (log->regular && log->octets != status.st_size && ftruncate(file, log->octets) != 0)
        (void)write(file, "\n", 1); /* the torn line stays, and is left out by who reads it */
    if (log->file >= 0)
        (void)close(log->file);
    log->file = file;
    log->begun_ns = 0;
    log->beginning = true;
    empty = log->octets == 0;
    if (log->config.begin != NULL)
        log->config.begin(log->config.user, log, empty);
    log->beginning = false;
    log->first = empty ? log->octets : 0; /* what is known may be more than a file is to have */
    return 0;
}

struct monitor_log *monitor_log_open(const struct monitor_log_config *config, struct iwarp_sentence *error)
{
    struct monitor_log *log = calloc(1, sizeof(*log));

    if (log == NULL) {
        (void)iwarp_sentence_set(error, "out of memory for the log");
        return NULL;
    }
    log->config = *config;
    log->file = -1;
    if (config->path == NULL || file_use(log, error) == 0)
        return log;
    monitor_log_close(log);
    return NULL;
}

void monitor_log_close(struct monitor_log *log)
{
    if (log == NULL)
        return;
    if (log->file >= 0)
        (void)close(log->file);
    free(log->line.octets);
    free(log);
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static bool lose(struct monitor_log *log, const char *name, int cause)
{
    if (log->lost++ == 0)
        (void)iwarp_sentence_set(&log->why, "%s: cannot write: %s", name, strerror(cause));
    return false;
}

static bool write_file(struct monitor_log *log)
{
    for (size_t done = 0; done < log->line.count;) {
        ssize_t wrote = write(log->file, log->line.octets + done, log->line.count - done);

        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0) {
            int cause = wrote < 0 ? errno : ENOSPC;

            if (log->regular && done != 0 && ftruncate(log->file, log->octets) != 0)
                (void)write(log->file, "\n", 1);
            return lose(log, log->config.path, cause);
        }
        done += (size_t)wrote;
    }
    log->octets += (off_t)log->line.count;
    return true;
}

bool monitor_log_write(struct monitor_log *log, json_t *object)
{
    bool written = true;

    log->line.count = 0;
    if (object == NULL || result_line_append_json(&log->line, object) != 0) {
        json_decref(object);
        return lose(log, log->config.path != NULL ? log->config.path : "the log", ENOMEM);
    }
    json_decref(object);
    run_stop_hold();
    if (log->file >= 0)
        written = write_file(log);
    if (log->config.echo != NULL && !log->beginning &&
        (fwrite(log->line.octets, 1, log->line.count, log->config.echo) != log->line.count ||
         fflush(log->config.echo) != 0)) {
        log->config.echo = NULL; /* nobody reads it any more: its end is said once */
        written = lose(log, "standard output", errno);
    }
    run_stop_release();
    return written;
}

uint64_t monitor_log_lost(struct monitor_log *log, struct iwarp_sentence *why)
{
    uint64_t lost = log->lost;

    *why = log->why;
    log->lost = 0;
    return lost;
}

/* ---- rotation ---------------------------------------------------------------------------------------------------- */

/* FILE.2 becomes FILE.3, FILE.1 becomes FILE.2, FILE becomes FILE.1; the last one goes. */
static int shift(const struct monitor_log *log, struct iwarp_sentence *error)
{
    char from[PATH_MAX], to[PATH_MAX];

    for (unsigned i = log->config.keep; i > 0; i--) {
        (void)snprintf(to, sizeof(to), "%s.%u", log->config.path, i);
        (void)snprintf(from, sizeof(from), i > 1 ? "%s.%u" : "%s", log->config.path, i - 1);
        if (rename(from, to) != 0 && errno != ENOENT)
            return iwarp_sentence_set(error, "%s: cannot be renamed: %s", from, strerror(errno));
    }
    if (log->config.keep == 0 && unlink(log->config.path) != 0 && errno != ENOENT)
        return iwarp_sentence_set(error, "%s: cannot be removed: %s", log->config.path, strerror(errno));
    return 0;
}

int monitor_log_rotate(struct monitor_log *log, uint64_t now_ns, struct iwarp_sentence *error)
{
    const struct monitor_log_config *config = &log->config;
    int rc;

    if (log->file < 0 || !log->regular)
        return 0;
    if (log->begun_ns == 0 || log->begun_ns > now_ns)
        log->begun_ns = now_ns;
    if ((config->rotate_octets == 0 || (uint64_t)(log->octets - log->first) < config->rotate_octets) &&
        (config->rotate_seconds == 0 || now_ns - log->begun_ns < config->rotate_seconds * UINT64_C(1000000000)))
        return 0;
    run_stop_hold();
    rc = shift(log, error);
    if (rc == 0)
        rc = file_use(log, error);
    log->begun_ns = now_ns; /* where it failed: not again at once */
    run_stop_release();
    return rc;
}

int monitor_log_reopen(struct monitor_log *log, struct iwarp_sentence *error)
{
    struct stat there, here;
    int rc = 0;

    if (log->file < 0)
        return 0;
    if (log->regular && stat(log->config.path, &there) == 0 && fstat(log->file, &here) == 0 &&
        there.st_dev == here.st_dev && there.st_ino == here.st_ino)
        return 0; /* it was not renamed */
    run_stop_hold();
    rc = file_use(log, error);
    run_stop_release();
    return rc;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

int monitor_log_read(const char *path, void (*line)(void *user, const char *text, size_t octets), void *user,
                     uint64_t *bad, struct iwarp_sentence *error)
{
    char older[PATH_MAX], *text = NULL;
    size_t room = 0;
    struct stat status;
    ssize_t octets;
    FILE *file;

    *bad = 0;
    (void)snprintf(older, sizeof(older), "%s.1", path);
    if (stat(path, &status) != 0 && errno == ENOENT && stat(older, &status) == 0)
        path = older;
    if (stat(path, &status) != 0 ? errno == ENOENT : !S_ISREG(status.st_mode))
        return 0;
    file = fopen(path, "re");
    if (file == NULL)
        return iwarp_sentence_set(error, "%s: what is known cannot be read: %s", path, strerror(errno));
    while ((octets = getline(&text, &room, file)) > 0) {
        if (text[octets - 1] == '\n' && octets <= MONITOR_LINE_MAX)
            line(user, text, (size_t)octets - 1);
        else
            ++*bad;
    }
    free(text);
    if (ferror(file)) {
        (void)fclose(file);
        return iwarp_sentence_set(error, "%s: what is known cannot be read", path);
    }
    (void)fclose(file);
    return 0;
}
