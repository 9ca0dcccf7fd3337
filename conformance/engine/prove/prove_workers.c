/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/prove/prove_workers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/engine/process/run_stop.h"
#include "conformance/engine/process/worker_lines.h"
#include "conformance/engine/process/worker_process.h"
#include "base/out_of_memory.h"

struct pool {
    const struct prove_work *work;
    json_t **rows;   /* answers of the workers, by unit */
    size_t reported; /* units that were reported to the caller */
};

/* A worker's life: every jobs-th unit, one line each into its own pipe. */
static int work(const struct pool *pool, unsigned worker, int out)
{
    FILE *stream = fdopen(out, "w");
    struct iwarp_sentence error = {{0}};

    if (stream == NULL)
        return 1;
    for (size_t i = worker; i < pool->work->units; i += pool->work->jobs) {
        json_t *row = pool->work->unit(pool->work->user, i, &error);

        if (row == NULL)
            row = json_pack("{s:s}", "error", error.text);
        (void)json_object_set_new(row, "unit", json_integer((json_int_t)i));
        if (json_dumpf(row, stream, JSON_COMPACT) != 0 || fputc('\n', stream) == EOF || fflush(stream) != 0)
            return 1;
        json_decref(row);
    }
    return fclose(stream) == 0 && !out_of_memory_noted() ? 0 : 1;
}

/* One line of a worker. */
static int on_row(void *user, const char *line, size_t length, struct iwarp_sentence *error)
{
    struct pool *pool = user;
    json_t *row = json_loadb(line, length, 0, NULL);
    json_int_t unit = json_integer_value(json_object_get(row, "unit"));
    const char *why = json_string_value(json_object_get(row, "error"));

    if (row == NULL || unit < 0 || (size_t)unit >= pool->work->units || why != NULL) {
        (void)iwarp_sentence_set(error, "a worker failed: %s", why != NULL ? why : "an answer cannot be parsed");
        json_decref(row);
        return -1;
    }
    json_decref(pool->rows[unit]);
    pool->rows[unit] = row;
    return 0;
}

/* Reports every unit whose turn it is. */
static void report_ready(struct pool *pool)
{
    while (pool->reported < pool->work->units && pool->rows[pool->reported] != NULL) {
        size_t number = pool->reported++;

        pool->work->tell(pool->work->user, number, pool->rows[number]);
    }
}

struct worker {
    struct worker_process process;
    struct worker_lines lines;
};

/* Waits until a worker has said something, and takes it. -1 with a sentence. */
static int read_answers(struct pool *pool, struct worker *workers, struct iwarp_sentence *error)
{
    struct pollfd waits[PROVE_JOBS_MAX];
    int limit = -1, ready;

    for (unsigned i = 0; i < pool->work->jobs; i++) {
        waits[i] = (struct pollfd){.fd = workers[i].lines.pipe, .events = POLLIN};
        limit = worker_process_wait(&workers[i].process, limit);
    }
    ready = worker_process_poll(waits, pool->work->jobs, limit);
    if (ready < 0 && errno != EINTR)
        return iwarp_sentence_set(error, "cannot wait for the workers: %s", strerror(errno));
    for (unsigned i = 0; ready <= 0 && i < pool->work->jobs; i++)
        worker_process_check(&workers[i].process);
    for (unsigned i = 0; ready > 0 && i < pool->work->jobs; i++)
        if (workers[i].lines.pipe >= 0 && waits[i].revents != 0 &&
            worker_lines_read(&workers[i].lines, on_row, pool, error) != 0)
            return -1;
    return 0;
}

/* Reads all workers at once, so that none of them waits for another to be heard. */
static int listen_to_workers(struct pool *pool, struct worker *workers, struct iwarp_sentence *error)
{
    unsigned open = 1;

    while (open != 0) {
        if (run_stopped())
            return iwarp_sentence_set(error, "interrupted");
        open = 0;
        for (unsigned i = 0; i < pool->work->jobs; i++)
            open += workers[i].lines.pipe >= 0;
        if (open != 0 && read_answers(pool, workers, error) != 0)
            return -1;
        report_ready(pool);
    }
    return 0;
}

static int start_worker(const struct pool *pool, struct worker *worker, unsigned number, struct iwarp_sentence *error)
{
    int ends[2];
    pid_t parent = getpid(), child;

    if (pipe(ends) != 0)
        return iwarp_sentence_set(error, "cannot start a worker: %s", strerror(errno));
    child = fork();
    if (child == 0) {
        close(ends[0]);
        _exit(run_stop_child(parent) != 0 ? 1 : work(pool, number, ends[1]));
    }
    close(ends[1]);
    worker->lines.pipe = ends[0];
    worker->process.pid = child > 0 ? child : 0;
    return child > 0 ? 0 : iwarp_sentence_set(error, "cannot start a worker: %s", strerror(errno));
}

static int run_workers(struct pool *pool, struct iwarp_sentence *error)
{
    struct worker workers[PROVE_JOBS_MAX] = {0};
    int status = 0;

    worker_process_watch();
    (void)fflush(NULL);
    for (unsigned i = 0; i < pool->work->jobs; i++)
        workers[i].lines.pipe = -1;
    for (unsigned i = 0; i < pool->work->jobs && status == 0; i++)
        status = start_worker(pool, &workers[i], i, error);
    if (status == 0)
        status = listen_to_workers(pool, workers, error);
    for (unsigned i = 0; i < pool->work->jobs; i++) {
        struct worker_process *process = &workers[i].process;
        bool began = process->pid > 0;
        struct iwarp_sentence reason;

        worker_lines_free(&workers[i].lines);
        if (status != 0) /* nobody waits for its answers */
            worker_process_kill(process);
        worker_process_join(process);
        if (began && status == 0 && process->ended != 0)
            status =
                iwarp_sentence_set(error, "a worker died (%s) while proving", worker_process_reason(process, &reason));
    }
    if (status == 0 && pool->reported != pool->work->units)
        status = iwarp_sentence_set(error, "the workers gave %zu of %zu answers", pool->reported, pool->work->units);
    return status;
}

int prove_workers_run(const struct prove_work *work, struct iwarp_sentence *error)
{
    struct pool pool = {.work = work};
    int status;

    if (work->jobs == 0 || work->jobs > PROVE_JOBS_MAX)
        return iwarp_sentence_set(error, "1 to %d processes can prove at once", PROVE_JOBS_MAX);
    pool.rows = calloc(work->units + 1, sizeof(json_t *));
    if (pool.rows == NULL)
        return iwarp_sentence_set(error, "out of memory for the workers' answers");
    status = run_workers(&pool, error);
    for (size_t i = 0; i < work->units; i++)
        json_decref(pool.rows[i]);
    free(pool.rows);
    return status;
}
