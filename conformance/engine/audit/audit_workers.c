/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* pipe2, F_SETPIPE_SZ */
#include "conformance/engine/audit/audit_workers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conformance/engine/audit/audit_worker.h"
#include "conformance/engine/capture/capture_file.h"
#include "conformance/engine/process/run_stop.h"
#include "conformance/engine/process/worker_process.h"
#include "base/out_of_memory.h"

enum {
    PIPE_OCTETS = 1 << 20,
    READ_OCTETS = 256 << 10,
    ORDER_OCTETS = 256 << 10, /* small captures are ordered together up to so many octets, */
    ORDER_FILES = 64,         /* and up to so many files; */
    ORDERS_AHEAD = 2,         /* a worker that has small ones finds its next order waiting */
    WAITING_OCTETS = 8 << 20, /* results of later files, for each process: it waits with more of them */
    SHARE_PARTS = 4,          /* an order is at most the n-th part of a process' share of the rest */
};

/* A file: what was found in it waits here for its turn. */
struct job {
    char *records;
    size_t count, room;
    bool ended; /* its END is among them */
};

struct worker {
    struct worker_process process;
    int orders[2]; /* this process keeps the end to read from, too: a dead worker is no SIGPIPE */
    int records;   /* -1: none */
    struct audit_order given[ORDERS_AHEAD];
    unsigned given_count;
    bool small; /* each of these is of small files */
    bool ready; /* it has begun */
    char *rest; /* a record that has not come whole */
    size_t rest_count, rest_room;
};

struct workers {
    const struct audit_workers_config *config;
    struct job *jobs; /* by file */
    struct worker *all;
    struct pollfd *waits;
    size_t begun;       /* files before this one are ordered, */
    size_t handed;      /* and before this one handed over */
    size_t waiting;     /* octets in all jobs */
    uint32_t *repeated; /* files that a worker left when it died: they are ordered one by one */
    size_t repeated_count;
    struct iwarp_sentence broken; /* it cannot go on */
};

/* ---- handing over ------------------------------------------------------------------------------------------------ */

/* The file whose turn it is; true: that was its END. */
static bool record_hand_over(struct workers *workers, const struct audit_record *record, const char *octets)
{
    const struct audit_workers_config *config = workers->config;
    struct audit_ending ending;

    switch (record->kind) {
    case AUDIT_RECORD_RESULT:
        config->result(config->user, (enum verdict)record->verdict,
                       catalogue_at(config->catalogue, record->requirement), (unsigned)(record->number % ROLE_SLOTS),
                       record->number / ROLE_SLOTS, octets, record->octets);
        return false;
    case AUDIT_RECORD_WHY: config->end(config->user, octets, record->octets); return false;
    case AUDIT_RECORD_FLOW_END: config->results_end(config->user); return false;
    case AUDIT_RECORD_READING: config->reading(config->user, record->file, record->number); return false;
    case AUDIT_RECORD_END:
        memcpy(&ending, octets, sizeof(ending));
        config->file(config->user, record->file, ending.status, record->number != 0, &ending.totals, &ending.error);
        return true;
    default: return false;
    }
}

/* All that waits of the files whose turn it is now. */
static void waiting_hand_over(struct workers *workers)
{
    const size_t files = workers->config->files->count;

    while (workers->handed < files) {
        struct job *job = &workers->jobs[workers->handed];
        bool ended = job->ended;

        for (size_t at = 0; at < job->count;) {
            struct audit_record record;

            memcpy(&record, job->records + at, sizeof(record));
            (void)record_hand_over(workers, &record, job->records + at + sizeof(record));
            at += sizeof(record) + record.octets;
        }
        workers->waiting -= job->count;
        free(job->records);
        *job = (struct job){.ended = ended};
        if (!ended)
            return;
        workers->handed++;
    }
}

static void record_keep(struct workers *workers, const struct audit_record *record, const char *octets)
{
    struct job *job = &workers->jobs[record->file];
    size_t count = sizeof(*record) + record->octets;

    if (record->kind == AUDIT_RECORD_READING)
        return;
    if (job->room - job->count < count) {
        size_t room = 2 * job->room + count;
        char *grown = realloc(job->records, room);

        if (grown == NULL) {
            (void)iwarp_sentence_set(&workers->broken, "out of memory for what the processes found");
            return;
        }
        job->records = grown;
        job->room = room;
    }
    memcpy(job->records + job->count, record, sizeof(*record));
    memcpy(job->records + job->count + sizeof(*record), octets, record->octets);
    job->count += count;
    workers->waiting += count;
    job->ended |= record->kind == AUDIT_RECORD_END;
}

/* ---- what a worker says ------------------------------------------------------------------------------------------ */

/* Its first order has one file less. */
static void order_advance(struct worker *worker)
{
    worker->given[0].first++;
    if (--worker->given[0].count != 0)
        return;
    worker->given_count--;
    memmove(worker->given, worker->given + 1, worker->given_count * sizeof(worker->given[0]));
}

/* A record must be about the file that the worker was ordered to judge. */
static bool record_is_good(const struct workers *workers, const struct worker *worker,
                           const struct audit_record *record)
{
    if (record->kind == AUDIT_RECORD_READY)
        return record->octets == 0;
    return worker->given_count != 0 && record->file == worker->given[0].first && record->kind <= AUDIT_RECORD_END &&
           record->verdict < VERDICT_COUNT && record->requirement < catalogue_count(workers->config->catalogue) &&
           (record->kind != AUDIT_RECORD_END || record->octets == sizeof(struct audit_ending));
}

static void record_read(struct workers *workers, struct worker *worker, const struct audit_record *record,
                        const char *octets)
{
    if (!record_is_good(workers, worker, record)) {
        (void)iwarp_sentence_set(&workers->broken, "what a worker process says cannot be read");
        return;
    }
    if (record->kind == AUDIT_RECORD_READY) {
        worker->ready = true;
        return;
    }
    if (record->kind == AUDIT_RECORD_END)
        order_advance(worker);
    if (record->file != workers->handed) {
        record_keep(workers, record, octets);
    } else if (record_hand_over(workers, record, octets)) {
        workers->jobs[workers->handed++].ended = true;
        waiting_hand_over(workers);
    }
}

/* The whole records at the begin of `octets`; returns how many octets they have. */
static size_t records_consume(struct workers *workers, struct worker *worker, const char *octets, size_t count)
{
    struct audit_record record;
    size_t at = 0;

    while (count - at >= sizeof(record) && workers->broken.text[0] == '\0') {
        memcpy(&record, octets + at, sizeof(record));
        if (count - at - sizeof(record) < record.octets)
            break;
        record_read(workers, worker, &record, octets + at + sizeof(record));
        at += sizeof(record) + record.octets;
    }
    return at;
}

/* Reads once. False: the worker has closed its pipe. */
static bool records_read(struct workers *workers, struct worker *worker)
{
    size_t taken;
    ssize_t got;

    if (worker->rest_room - worker->rest_count < READ_OCTETS) {
        char *grown = realloc(worker->rest, 2 * worker->rest_room + READ_OCTETS);

        if (grown == NULL) {
            (void)iwarp_sentence_set(&workers->broken, "out of memory for what the processes found");
            return true;
        }
        worker->rest = grown;
        worker->rest_room = 2 * worker->rest_room + READ_OCTETS;
    }
    got = read(worker->records, worker->rest + worker->rest_count, READ_OCTETS);
    if (got <= 0)
        return got < 0 && (errno == EINTR || errno == EAGAIN);
    worker->rest_count += (size_t)got;
    taken = records_consume(workers, worker, worker->rest, worker->rest_count);
    worker->rest_count -= taken;
    memmove(worker->rest, worker->rest + taken, worker->rest_count);
    return true;
}

/*
 * ---- orders to a worker -------------------------------------------------------------------------------------------
 */

/* Its octets; a ring, and what has no size, are large. */
static uint64_t octets_of(const struct capture_list *files, size_t index)
{
    struct stat status;

    if (capture_list_ring(files, index) != NULL || stat(files->paths[index], &status) != 0 || !S_ISREG(status.st_mode))
        return UINT64_MAX;
    return (uint64_t)status.st_size;
}

/* The next files that are judged together; *small: they are small. False: there are none, or enough is waiting. */
static bool order_make(struct workers *workers, struct audit_order *order, bool *small)
{
    const struct audit_workers_config *config = workers->config;
    size_t left = config->files->count - workers->begun;
    size_t most = left / ((size_t)config->processes * SHARE_PARTS);
    uint64_t octets = 0;

    *small = false;
    if (workers->repeated_count != 0) {
        *order = (struct audit_order){workers->repeated[--workers->repeated_count], 1};
        return true;
    }
    if (left == 0 || workers->waiting > (size_t)config->processes * WAITING_OCTETS)
        return false;
    most = most > ORDER_FILES ? ORDER_FILES : most;
    *order = (struct audit_order){(uint32_t)workers->begun, 0};
    do {
        uint64_t of_file = octets_of(config->files, workers->begun);

        if (order->count != 0 && (of_file > ORDER_OCTETS || octets + of_file > ORDER_OCTETS))
            break;
        octets = of_file > ORDER_OCTETS ? ORDER_OCTETS + 1 : octets + of_file;
        order->count++;
        workers->begun++;
    } while (order->count < most && octets <= ORDER_OCTETS);
    *small = octets <= ORDER_OCTETS;
    return true;
}

/* Orders wait for a worker only behind small files, and small ones only. */
static bool takes_more(const struct worker *worker)
{
    return worker->process.pid != 0 && worker->records >= 0 &&
           (worker->given_count == 0 || (worker->small && worker->given_count < ORDERS_AHEAD));
}

static void order_give(struct workers *workers, struct worker *worker)
{
    struct audit_order order;
    bool small;

    if (worker->given_count != 0 && (workers->repeated_count != 0 || workers->begun >= workers->config->files->count ||
                                     octets_of(workers->config->files, workers->begun) > ORDER_OCTETS))
        return;
    if (!order_make(workers, &order, &small))
        return;
    worker->given[worker->given_count++] = order;
    worker->small = small;
    /* Less than PIPE_BUF: all of it or nothing. A worker that has died is found by its records. */
    if (write(worker->orders[1], &order, sizeof(order)) != (ssize_t)sizeof(order))
        (void)iwarp_sentence_set(&workers->broken, "cannot give a process its files: %s", strerror(errno));
}

/* ---- begin and end of a worker ----------------------------------------------------------------------------------- */

static void end_close(int *end)
{
    if (*end >= 0)
        (void)close(*end);
    *end = -1;
}

static int worker_start(struct workers *workers, struct worker *worker, struct iwarp_sentence *error)
{
    int records[2] = {-1, -1};
    pid_t parent = getpid(), child = -1;

    if (pipe2(worker->orders, O_CLOEXEC) == 0 && pipe2(records, O_CLOEXEC) == 0) {
        (void)fcntl(records[1], F_SETPIPE_SZ, PIPE_OCTETS); /* else it is smaller */
        (void)fflush(NULL);
        child = fork();
    }
    if (child == 0)
        _exit(audit_worker_live(workers->config, parent, worker->orders[0], records[1]));
    if (child < 0)
        (void)iwarp_sentence_set(error, "cannot start a process: %s", strerror(errno));
    end_close(&records[1]);
    worker->process = (struct worker_process){.pid = child > 0 ? child : 0};
    worker->records = records[0];
    worker->given_count = 0;
    worker->ready = false;
    worker->rest_count = 0;
    return child < 0 ? -1 : 0;
}

/*
 * The file that it was judging is lost, unless it had nothing to do; the others of its orders are judged by other
 * workers.
 */
static void files_reclaim(struct workers *workers, struct worker *worker)
{
    struct audit_record record = {.kind = AUDIT_RECORD_END, .octets = sizeof(struct audit_ending), .number = 1};
    struct audit_ending ending = {.status = AUDIT_FILE_DAMAGED};
    struct iwarp_sentence reason;

    if (worker->given_count == 0)
        return;
    record.file = worker->given[0].first;
    (void)iwarp_sentence_set(&ending.error, "%.300s: the process that judged it died (%s)",
                             workers->config->files->paths[record.file],
                             worker_process_reason(&worker->process, &reason));
    record_read(workers, worker, &record, (const char *)&ending);
    for (unsigned i = worker->given_count; i-- > 0;)
        for (uint32_t k = worker->given[i].count; k-- > 0;)
            workers->repeated[workers->repeated_count++] = worker->given[i].first + k;
    worker->given_count = 0;
}

static void worker_bury(struct workers *workers, struct worker *worker)
{
    struct iwarp_sentence reason, error;

    end_close(&worker->orders[0]);
    end_close(&worker->orders[1]);
    end_close(&worker->records);
    worker_process_join(&worker->process);
    if (run_stopped())
        return;
    if (!worker->ready) {
        (void)iwarp_sentence_set(&workers->broken, "a process that was to judge captures could not begin (%s)",
                                 worker_process_reason(&worker->process, &reason));
        return;
    }
    files_reclaim(workers, worker);
    if (workers->broken.text[0] == '\0' && worker_start(workers, worker, &error) != 0)
        workers->broken = error;
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

/* Results that would only wait are not read from their worker as long as too many wait already. */
static bool is_heard(const struct workers *workers, const struct worker *worker)
{
    return worker->given_count == 0 || worker->given[0].first == workers->handed ||
           workers->waiting <= (size_t)workers->config->processes * WAITING_OCTETS;
}

static void listen_to_workers(struct workers *workers)
{
    int limit = -1, ready;

    for (unsigned i = 0; i < workers->config->processes; i++) {
        const struct worker *worker = &workers->all[i];

        limit = worker_process_wait(&worker->process, limit);
        workers->waits[i] = (struct pollfd){.fd = is_heard(workers, worker) ? worker->records : -1, .events = POLLIN};
    }
    ready = worker_process_poll(workers->waits, workers->config->processes, limit);
    if (ready < 0 && errno != EINTR)
        (void)iwarp_sentence_set(&workers->broken, "cannot wait for the processes: %s", strerror(errno));
    for (unsigned i = 0; ready <= 0 && i < workers->config->processes; i++)
        worker_process_check(&workers->all[i].process);
    for (unsigned i = 0; ready > 0 && i < workers->config->processes && workers->broken.text[0] == '\0'; i++)
        if (workers->waits[i].fd >= 0 && workers->waits[i].revents != 0 && !records_read(workers, &workers->all[i]))
            worker_bury(workers, &workers->all[i]);
}

static int run(struct workers *workers, struct iwarp_sentence *error)
{
    const struct audit_workers_config *config = workers->config;

    for (unsigned i = 0; i < config->processes; i++)
        if (worker_start(workers, &workers->all[i], error) != 0)
            return -1;
    while (workers->handed < config->files->count && !run_stopped() && workers->broken.text[0] == '\0') {
        for (unsigned round = 0; round < ORDERS_AHEAD; round++)
            for (unsigned i = 0; i < config->processes; i++)
                if (workers->all[i].given_count == round && takes_more(&workers->all[i]))
                    order_give(workers, &workers->all[i]);
        if (workers->broken.text[0] == '\0')
            listen_to_workers(workers);
    }
    return workers->broken.text[0] != '\0' ? iwarp_sentence_set(error, "%s", workers->broken.text) : 0;
}

/* They end by themselves when there are no more orders; what still works for a run that is over is ended. */
static void workers_dismiss(struct workers *workers)
{
    const unsigned count = workers->all != NULL ? workers->config->processes : 0;
    bool whole = workers->handed == workers->config->files->count && !run_stopped();

    for (unsigned i = 0; i < count; i++) {
        struct worker *worker = &workers->all[i];

        end_close(&worker->orders[0]);
        end_close(&worker->orders[1]);
        if (!whole)
            worker_process_kill(&worker->process);
    }
    for (unsigned i = 0; i < count; i++) {
        worker_process_join(&workers->all[i].process);
        end_close(&workers->all[i].records);
        free(workers->all[i].rest);
    }
}

static void workers_free(struct workers *workers)
{
    workers_dismiss(workers);
    for (size_t i = 0; workers->jobs != NULL && i < workers->config->files->count; i++)
        free(workers->jobs[i].records);
    free(workers->repeated);
    free(workers->waits);
    free(workers->all);
    free(workers->jobs);
}

int audit_workers_run(const struct audit_workers_config *config, struct iwarp_sentence *error)
{
    struct workers workers = {
        .config = config,
        .jobs = calloc(config->files->count, sizeof(*workers.jobs)),
        .all = calloc(config->processes, sizeof(*workers.all)),
        .waits = calloc(config->processes, sizeof(*workers.waits)),
        .repeated = calloc(config->files->count, sizeof(*workers.repeated)),
    };
    int rc = -1;

    for (unsigned i = 0; workers.all != NULL && i < config->processes; i++)
        workers.all[i].orders[0] = workers.all[i].orders[1] = workers.all[i].records = -1;
    worker_process_watch();
    if (workers.jobs == NULL || workers.all == NULL || workers.waits == NULL || workers.repeated == NULL)
        (void)iwarp_sentence_set(error, "out of memory");
    else
        rc = run(&workers, error);
    workers_free(&workers);
    return rc;
}
