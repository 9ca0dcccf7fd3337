/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/audit/audit_workers.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/engine/option/run_confine.h"
#include "conformance/engine/option/run_stop.h"
#include "reports/result_line.h"
#include "wire/out_of_memory.h"

/* Files judged in advance of the one whose results are due, for each process: one long file does not stop the others. */
enum { AHEAD = 4 };

/* What a worker leaves in its file for each result, followed by the line; the last record has END as requirement. */
struct record {
    uint32_t requirement; /* index in the catalogue */
    uint32_t verdict;
    uint64_t octets;
};

enum { END = UINT32_MAX };

struct ending {
    enum audit_file status;
    struct sentence error;
    struct flow_totals totals;
};

struct job {
    pid_t process; /* 0: it has ended, */
    bool failed;   /* badly */
    FILE *found;   /* NULL: not begun */
};

struct workers {
    const struct audit_workers_config *config;
    struct job *jobs; /* by file */
    size_t begun, given, running;
};

/* ---- in the worker ----------------------------------------------------------------------------------------------- */

struct worker {
    const struct audit_workers_config *config;
    FILE *out;
    struct result_lines lines; /* the one that is being written */
    bool failed;
};

static void put_record(struct worker *worker, uint32_t requirement, enum verdict verdict, const void *octets,
                       size_t count)
{
    struct record record = {requirement, verdict, count};

    if (fwrite(&record, sizeof(record), 1, worker->out) != 1 ||
        (count != 0 && fwrite(octets, count, 1, worker->out) != 1))
        worker->failed = true;
}

static void take_result(void *user, const struct result *result, const struct requirement *requirement)
{
    struct worker *worker = user;

    worker->lines.count = 0;
    if (worker->config->lines || worker->config->shown || result->verdict != VERDICT_PASS)
        worker->failed |= result_line_append(&worker->lines, result) != 0;
    put_record(worker, (uint32_t)requirement->index, result->verdict, worker->lines.octets, worker->lines.count);
}

/* The whole life of a worker. Returns its exit status. */
static int work(const struct audit_workers_config *config, size_t index, FILE *out)
{
    struct worker worker = {.config = config, .out = out};
    struct audit_judge_config judge = {
        .catalogue = config->catalogue,
        .selection = config->selection,
        .ladders = config->lines,
        .result = take_result,
        .user = &worker,
    };
    struct audit_judge *judging = audit_judge_create(&judge);
    struct ending ending = {.error = {""}};

    if (judging == NULL)
        return 1;
    ending.status =
        audit_judge_file(judging, config->files->paths[index], capture_list_ring(config->files, index), &ending.error);
    ending.totals = *audit_judge_totals(judging);
    put_record(&worker, END, VERDICT_PASS, &ending, sizeof(ending));
    audit_judge_free(judging);
    free(worker.lines.octets);
    return fflush(out) != 0 || worker.failed || out_of_memory_noted();
}

/* ---- in the parent ----------------------------------------------------------------------------------------------- */

static int begin(struct workers *workers, struct sentence *error)
{
    struct job *job = &workers->jobs[workers->begun];
    pid_t parent = getpid();

    job->found = tmpfile();
    if (job->found == NULL)
        return sentence_set(error, "cannot make a temporary file: %s", strerror(errno));
    (void)fflush(NULL);
    job->process = fork();
    if (job->process < 0)
        return sentence_set(error, "cannot start a process: %s", strerror(errno));
    if (job->process == 0) {
        /* Nobody would read what it finds without the parent. */
        _exit(run_stop_child(parent) != 0 || run_confine(NULL, false, 0, RUN_CONFINE_FILES, error) != 0
                  ? 1
                  : work(workers->config, workers->begun, job->found));
    }
    workers->begun++;
    workers->running++;
    return 0;
}

/* Waits until some worker has ended. */
static int reap(struct workers *workers, struct sentence *error)
{
    int status;
    pid_t ended = waitpid(-1, &status, 0);

    if (ended < 0 && errno == EINTR)
        return 0;
    if (ended < 0)
        return sentence_set(error, "cannot wait for a process: %s", strerror(errno));
    for (size_t i = workers->given; i < workers->begun; i++)
        if (workers->jobs[i].process == ended) {
            workers->jobs[i].process = 0;
            workers->jobs[i].failed = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
            workers->running--;
        }
    return 0;
}

/* Hands one record over. 1: there are more; 0: that was the ending, -1: the worker has not come so far. */
static int give_record(const struct workers *workers, FILE *found, struct result_lines *line, struct ending *ending)
{
    const struct audit_workers_config *config = workers->config;
    struct record record;

    if (fread(&record, sizeof(record), 1, found) != 1)
        return -1;
    if (record.requirement == END)
        return fread(ending, sizeof(*ending), 1, found) == 1 ? 0 : -1;
    if (line->room < record.octets) {
        char *grown = realloc(line->octets, record.octets);

        if (grown == NULL)
            return -1;
        line->octets = grown;
        line->room = record.octets;
    }
    if (record.requirement >= catalogue_count(config->catalogue) ||
        (record.octets != 0 && fread(line->octets, record.octets, 1, found) != 1))
        return -1;
    config->result(config->user, (enum verdict)record.verdict, catalogue_at(config->catalogue, record.requirement),
                   line->octets, record.octets);
    return 1;
}

/* What the next worker in the files' order found; it has ended. */
static void give(struct workers *workers)
{
    const struct audit_workers_config *config = workers->config;
    struct job *job = &workers->jobs[workers->given];
    struct result_lines line = {0};
    struct ending ending = {.status = AUDIT_FILE_DAMAGED};
    int rc;

    rewind(job->found);
    while ((rc = give_record(workers, job->found, &line, &ending)) == 1)
        continue;
    if (rc < 0 || job->failed) {
        ending = (struct ending){.status = AUDIT_FILE_DAMAGED};
        (void)sentence_set(&ending.error, "%.300s: the process that judged it died, or its temporary file is full",
                           config->files->paths[workers->given]);
    }
    config->file(config->user, workers->given, ending.status, &ending.totals, &ending.error);
    free(line.octets);
    (void)fclose(job->found);
    job->found = NULL;
    workers->given++;
}

static int run(struct workers *workers, struct sentence *error)
{
    const struct audit_workers_config *config = workers->config;
    size_t ahead = (size_t)config->processes * AHEAD;

    while (workers->given < config->files->count && !run_stopped()) {
        while (workers->begun < config->files->count && workers->running < config->processes &&
               workers->begun - workers->given < ahead)
            if (begin(workers, error) != 0)
                return -1;
        if (workers->jobs[workers->given].process == 0)
            give(workers);
        else if (reap(workers, error) != 0)
            return -1;
    }
    return 0;
}

int audit_workers_run(const struct audit_workers_config *config, struct sentence *error)
{
    struct workers workers = {.config = config, .jobs = calloc(config->files->count, sizeof(*workers.jobs))};
    int rc;

    if (workers.jobs == NULL)
        return sentence_set(error, "out of memory");
    rc = run(&workers, error);
    for (size_t i = workers.given; i < config->files->count; i++) {
        if (workers.jobs[i].process > 0) {
            (void)kill(workers.jobs[i].process, SIGTERM);
            (void)waitpid(workers.jobs[i].process, NULL, 0);
        }
        if (workers.jobs[i].found != NULL)
            (void)fclose(workers.jobs[i].found);
    }
    free(workers.jobs);
    return rc;
}
