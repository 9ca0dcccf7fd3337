/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "conformance/engine/run/run_pool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/engine/process/run_stop.h"
#include "conformance/engine/process/worker_lines.h"
#include "conformance/engine/process/worker_process.h"
#include "conformance/engine/run/run_order.h"
#include "conformance/engine/run/run_resume.h"
#include "conformance/engine/run/run_worker.h"

/* How many checks workers may run before the check whose turn it is, without the long ones: results wait in memory. */
enum { AHEAD_MOST = 1024 };

#define NO_UNIT SIZE_MAX

enum { PROGRESS_MILLISECONDS = 1000 }; /* a terminal's progress line is drawn anew as often, at least */

enum unit_state {
    UNIT_LEFT_OUT, /* the plan skips it, or an earlier run decided it */
    UNIT_WANTED,
    UNIT_GIVEN, /* to a worker */
    UNIT_THERE, /* the worker has answered */
    UNIT_TAKEN, /* and the runner has it */
};

struct unit {
    enum unit_state state;
    unsigned worker;
    json_t *row; /* the answer: lasts as long as the pool, for names in its counters */
};

struct worker {
    struct worker_process process;
    int orders[2]; /* the calling process keeps the end to read from, too: a dead worker is no SIGPIPE */
    struct worker_lines answers;
    size_t unit; /* that it runs, NO_UNIT: none */
    json_t *end;
};

struct run_pool {
    const struct run_command *command;
    const struct runner_config *config;
    struct unit *units;     /* by place in the plan */
    struct run_order order; /* in which they are given */
    size_t next;            /* place in the order: no unit before it is to be given */
    size_t last;            /* that was taken, NO_UNIT: none */
    size_t there;           /* how many units have that state */
    struct worker workers[RUN_JOBS_MOST];
    unsigned jobs;
    struct iwarp_sentence death; /* of a worker: no more work is given */
    const char *lost; /* why nothing more can be judged, in a worker's answer: no more work is given; or NULL */
};

/* ---- what workers say -------------------------------------------------------------------------------------------- */

/* Who speaks. */
struct speaker {
    struct run_pool *pool;
    unsigned number;
};

static int on_line(void *user, const char *line, size_t length, struct iwarp_sentence *error)
{
    const struct speaker *speaker = user;
    struct run_pool *pool = speaker->pool;
    struct worker *worker = &pool->workers[speaker->number];
    json_t *row = json_loadb(line, length, 0, NULL);
    const char *why = json_string_value(json_object_get(row, "error"));
    json_int_t unit = json_integer_value(json_object_get(row, "unit"));

    if (why != NULL) {
        (void)iwarp_sentence_set(&pool->death, "a worker failed: %s (-j 1 runs one check at a time)", why);
        json_decref(row);
    } else if (json_object_get(row, "end") != NULL) {
        json_decref(worker->end);
        worker->end = row;
    } else if (row == NULL || unit < 0 || (size_t)unit != worker->unit) {
        json_decref(row);
        return iwarp_sentence_set(error, "a worker's answer cannot be parsed");
    } else {
        if (pool->lost == NULL)
            pool->lost = json_string_value(json_object_get(row, "lost"));
        if (pool->lost == NULL)
            pool->lost = json_string_value(json_object_get(row, "dead"));
        pool->units[unit].row = row;
        pool->units[unit].state = UNIT_THERE;
        pool->there++;
        worker->unit = NO_UNIT;
    }
    return 0;
}

/* A worker has closed its pipe: it has ended, or does so now. */
static void bury(struct run_pool *pool, struct worker *worker)
{
    const struct plan_item *item = worker->unit != NO_UNIT ? &pool->command->plan.items[worker->unit] : NULL;
    struct iwarp_sentence reason;

    worker_process_join(&worker->process);
    if (pool->death.text[0] != '\0' || run_stopped() || (worker->end != NULL && worker->process.ended == 0))
        return;
    (void)iwarp_sentence_set(&pool->death, "a worker died (%s)%s%s%s%s%s",
                             worker_process_reason(&worker->process, &reason), item != NULL ? " while it ran " : "",
                             item != NULL ? item->check->id : "", item != NULL ? " (" : "",
                             item != NULL ? item->role : "", item != NULL ? ")" : "");
}

/* Waits until a worker has said something. 1: the run is to stop; -1 with a sentence. */
static int listen_to_workers(struct run_pool *pool, struct iwarp_sentence *error)
{
    struct pollfd waits[RUN_JOBS_MOST];
    int status = 0, ready, limit = pool->command->terminal.live ? PROGRESS_MILLISECONDS : -1;

    for (unsigned i = 0; i < pool->jobs; i++) {
        waits[i] = (struct pollfd){.fd = pool->workers[i].answers.pipe, .events = POLLIN};
        limit = worker_process_wait(&pool->workers[i].process, limit);
    }
    ready = worker_process_poll(waits, pool->jobs, limit);
    if (ready < 0 && errno != EINTR)
        status = iwarp_sentence_set(error, "cannot wait for the workers: %s", strerror(errno));
    if (run_stopped())
        return 1;
    for (unsigned i = 0; ready <= 0 && i < pool->jobs; i++)
        worker_process_check(&pool->workers[i].process);
    for (unsigned i = 0; status == 0 && ready > 0 && i < pool->jobs; i++) {
        struct worker *worker = &pool->workers[i];

        if (worker->answers.pipe < 0 || waits[i].revents == 0)
            continue;
        status = worker_lines_read(&worker->answers, on_line, &(struct speaker){pool, i}, error);
        if (worker->answers.pipe < 0)
            bury(pool, worker);
    }
    return status;
}

/* ---- orders to workers ------------------------------------------------------------------------------------------- */

static int send_order(const struct worker *worker, size_t place, struct iwarp_sentence *error)
{
    /* Less than PIPE_BUF: all of it or nothing; and at most two wait. */
    if (write(worker->orders[1], &place, sizeof(place)) == (ssize_t)sizeof(place))
        return 0;
    return iwarp_sentence_set(error, "cannot give a worker its check: %s", strerror(errno));
}

/* The unit that is to be given next; NO_UNIT: none now. */
static size_t next_unit(struct run_pool *pool, size_t turn)
{
    const struct run_order *order = &pool->order;

    while (pool->next < order->count && pool->units[order->places[pool->next]].state != UNIT_WANTED)
        pool->next++;
    if (pool->next >= order->count)
        return NO_UNIT;
    return pool->next >= order->early && order->places[pool->next] > turn + AHEAD_MOST ? NO_UNIT
                                                                                       : order->places[pool->next];
}

/* A check that the device may not survive, and any other one, at the same time: nobody could say which one it was. */
static bool waits_for_others(const struct run_pool *pool, size_t place)
{
    bool busy = false;

    for (unsigned i = 0; i < pool->jobs; i++)
        busy = busy || pool->workers[i].unit != NO_UNIT;
    return busy && pool->command->plan.items[place].hazard;
}

/* Each worker that has nothing to do gets the next check of the order; hazards come last, and one at a time. */
static int give_work(struct run_pool *pool, size_t turn, struct iwarp_sentence *error)
{
    for (unsigned i = 0; i < pool->jobs && pool->death.text[0] == '\0' && pool->lost == NULL; i++) {
        struct worker *worker = &pool->workers[i];
        size_t unit;

        if (worker->unit != NO_UNIT || worker->answers.pipe < 0)
            continue;
        unit = next_unit(pool, turn);
        if (unit == NO_UNIT || waits_for_others(pool, unit))
            return 0;
        if (send_order(worker, unit, error) != 0)
            return -1;
        pool->units[unit].state = UNIT_GIVEN;
        pool->units[unit].worker = i;
        worker->unit = unit;
    }
    return 0;
}

/* ---- what the runner asks ---------------------------------------------------------------------------------------- */

/* Nobody is going to answer this one. */
static bool is_lost(const struct run_pool *pool, const struct unit *unit)
{
    return pool->death.text[0] != '\0' && (unit->state != UNIT_GIVEN || pool->workers[unit->worker].answers.pipe < 0);
}

void run_pool_ahead(const struct run_pool *pool, const struct plan_item *item, size_t *ahead, size_t *beside)
{
    size_t place = (size_t)(item - pool->command->plan.items);

    *ahead = pool->there - (pool->units[place].state == UNIT_THERE);
    *beside = 0;
    for (unsigned i = 0; i < pool->jobs; i++)
        *beside += pool->workers[i].unit != NO_UNIT && pool->workers[i].unit != place;
}

static int wait_for(struct run_command *command, size_t place, struct iwarp_sentence *error)
{
    struct run_pool *pool = command->pool;
    const struct unit *unit = &pool->units[place];
    int status = 0;

    while (status == 0) {
        status = give_work(pool, place, error);
        if (status != 0 || unit->state == UNIT_THERE || (pool->lost != NULL && unit->state == UNIT_WANTED))
            return status;
        if (is_lost(pool, unit))
            return iwarp_sentence_set(error, "%s", pool->death.text);
        run_show_progress(command, &command->plan.items[place]);
        status = listen_to_workers(pool, error);
    }
    return status;
}

static int fill(const json_t *row, struct runner_remote *remote, struct iwarp_sentence *error)
{
    const char *dead = json_string_value(json_object_get(row, "dead"));

    if (result_from_json(json_object_get(row, "result"), &remote->result) != 0 ||
        journal_from_json(json_object_get(row, "journal"), &remote->journal) != 0)
        return iwarp_sentence_set(error, "a worker's answer cannot be parsed, or out of memory");
    remote->after = (struct runner_after){.unready = json_is_true(json_object_get(row, "unready")),
                                          .ready = json_is_true(json_object_get(row, "ready")),
                                          .dead = dead,
                                          .lost = json_string_value(json_object_get(row, "lost"))};
    return 0;
}

static int on_remote(void *user, const struct plan_item *item, struct runner_remote *remote,
                     struct iwarp_sentence *error)
{
    struct run_command *command = user;
    struct run_pool *pool = command->pool;
    size_t place = (size_t)(item - command->plan.items);
    int status;

    if (pool->last != NO_UNIT) /* ladders are long */
        (void)json_object_del(json_object_get(pool->units[pool->last].row, "result"), "steps");
    status = wait_for(command, place, error);
    if (status != 0)
        return status;
    if (pool->units[place].state != UNIT_THERE) {
        remote->lost = pool->lost;
        return 0;
    }
    pool->units[place].state = UNIT_TAKEN;
    pool->there--;
    pool->last = place;
    return fill(pool->units[place].row, remote, error);
}

void run_pool_serve(struct run_pool *pool, struct runner_config *config)
{
    pool->config = config;
    config->items.remote = on_remote;
}

/* ---- begin and end ----------------------------------------------------------------------------------------------- */

static void close_end(int *end)
{
    if (*end >= 0)
        close(*end);
    *end = -1;
}

static int start_worker(struct run_command *command, unsigned number, struct iwarp_sentence *error)
{
    struct worker *worker = &command->pool->workers[number];
    int answers[2] = {-1, -1};
    pid_t parent = getpid(), child;

    if (pipe2(worker->orders, O_CLOEXEC) != 0 || pipe2(answers, O_CLOEXEC) != 0)
        return iwarp_sentence_set(error, "cannot start a worker: %s", strerror(errno));
    worker->answers.pipe = answers[0];
    child = fork();
    if (child == 0) {
        for (unsigned i = 0; i <= number; i++) /* the pipe ends when the run closes it */
            close_end(&command->pool->workers[i].orders[1]);
        _exit(run_worker_live(command, number, parent, worker->orders[0], answers[1]));
    }
    close(answers[1]);
    worker->process = (struct worker_process){.pid = child > 0 ? child : 0};
    if (child > 0)
        return 0;
    return iwarp_sentence_set(error, "cannot start a worker: %s", strerror(errno));
}

/* The checks that are to be run, as the runner is going to ask for them. */
static size_t mark_units(struct run_pool *pool)
{
    size_t wanted = 0;

    for (size_t i = 0; i < pool->command->plan.count; i++) {
        const struct plan_item *item = &pool->command->plan.items[i];
        struct journal journal;

        if (item->skip.text[0] != '\0')
            continue;
        if (run_resume_earlier(pool->command->output.done, item, &journal)) {
            journal_free(&journal);
            continue;
        }
        pool->units[i].state = UNIT_WANTED;
        wanted++;
    }
    return wanted;
}

int run_pool_start(struct run_command *command, struct iwarp_sentence *error)
{
    struct run_pool *pool;
    size_t wanted;

    if (command->options.jobs < 2)
        return 0;
    pool = command->pool = calloc(1, sizeof(*pool));
    if (pool == NULL || (pool->units = calloc(command->plan.count + 1, sizeof(*pool->units))) == NULL ||
        run_order_make(&pool->order, &command->plan) != 0)
        return iwarp_sentence_set(error, "out of memory for workers");
    pool->command = command;
    pool->last = NO_UNIT;
    wanted = mark_units(pool);
    pool->jobs = wanted < command->options.jobs ? (unsigned)wanted : command->options.jobs;
    for (unsigned i = 0; i < RUN_JOBS_MOST; i++)
        pool->workers[i] = (struct worker){.orders = {-1, -1}, .answers = {.pipe = -1}, .unit = NO_UNIT};
    worker_process_watch();
    (void)fflush(NULL); /* what has gathered is written once */
    for (unsigned i = 0; i < pool->jobs && pool->jobs > 1; i++)
        if (start_worker(command, i, error) != 0)
            return -1;
    if (pool->jobs > 1)
        return 0;
    run_pool_free(pool);
    command->pool = NULL;
    return 0;
}

/* A worker that is still another user's cannot be killed: it finds that its orders have ended. */
static void kill_workers(struct run_pool *pool)
{
    for (unsigned i = 0; i < pool->jobs; i++) {
        close_end(&pool->workers[i].orders[1]);
        worker_process_kill(&pool->workers[i].process);
    }
    for (unsigned i = 0; i < pool->jobs; i++)
        worker_process_join(&pool->workers[i].process);
}

/* Orders all workers to end, and reads their last answers. 0, 1: stopped; -1 with a sentence. */
static int dismiss(struct run_pool *pool, struct iwarp_sentence *error)
{
    unsigned open = pool->jobs;
    int status = 0;

    for (unsigned i = 0; i < pool->jobs && status == 0; i++)
        status = send_order(&pool->workers[i], RUN_WORKER_END, error);
    while (status == 0 && open != 0) {
        open = 0;
        for (unsigned i = 0; i < pool->jobs; i++)
            open += pool->workers[i].answers.pipe >= 0;
        if (open != 0)
            status = listen_to_workers(pool, error);
    }
    return status == 0 && pool->death.text[0] != '\0' ? iwarp_sentence_set(error, "%s", pool->death.text) : status;
}

/* Evidence of what the run did not come to. */
static void remove_rest(const struct run_pool *pool)
{
    char name[512];

    for (size_t i = 0; i < pool->command->plan.count; i++) {
        enum unit_state state = pool->units[i].state;

        if ((state != UNIT_GIVEN && state != UNIT_THERE) || pool->config->evidence.folder < 0)
            continue;
        runner_evidence_name(pool->config, &pool->command->plan.items[i], name, sizeof(name));
        (void)unlinkat(pool->config->evidence.folder, name, 0);
    }
}

bool run_pool_is_broken(const struct run_pool *pool)
{
    return pool != NULL && pool->death.text[0] != '\0';
}

int run_pool_end(struct run_pool *pool, bool whole, struct run_summary *traffic, struct iwarp_sentence *error)
{
    int status = whole ? dismiss(pool, error) : 0;

    if (status > 0)
        status = iwarp_sentence_set(error, "the run was stopped");
    kill_workers(pool);
    for (unsigned i = 0; i < pool->jobs; i++) {
        struct run_summary rest = {0};

        if (run_summary_from_json(json_object_get(pool->workers[i].end, "end"), &rest) == 0)
            summary_add_traffic(traffic, &rest);
    }
    remove_rest(pool);
    return status;
}

void run_pool_free(struct run_pool *pool)
{
    if (pool == NULL)
        return;
    kill_workers(pool);
    for (unsigned i = 0; i < pool->jobs; i++) {
        struct worker *worker = &pool->workers[i];

        close_end(&worker->orders[0]);
        worker_lines_free(&worker->answers);
        json_decref(worker->end);
    }
    for (size_t i = 0; pool->units != NULL && i < pool->command->plan.count; i++)
        json_decref(pool->units[i].row);
    run_order_free(&pool->order);
    free(pool->units);
    free(pool);
}
