/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/prove/prove.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/engine/option/run_stop.h"
#include "conformance/engine/run/runner.h"
#include "wire/out_of_memory.h"

enum { WORKERS_MAX = PROVE_JOBS_MAX, WORKER_READ = 65536, SAMPLE = 32 };

/* Units are shared out by number: first the seeds of the correct stack, then the defects. */
struct unit {
    const struct defect *defect; /* NULL: the correct stack */
    uint64_t seed;
};

struct matrix {
    const struct prove_config *config;
    struct plan plan;
    struct selection everything;
    struct unit *units;
    size_t unit_count;
    json_t **rows;   /* answers of the workers, by unit */
    size_t reported; /* units that the caller has been told of */
    struct prove_summary *summary;
};

/* What one unit drew. */
struct drawn {
    json_t *killed_by;           /* ids with FAIL or WARN */
    json_t *kills;               /* the same with role and verdict: "ID role VERDICT" */
    json_t *alarms;              /* of the correct stack: the same, and what was INCONCLUSIVE, in words */
    const struct defect *defect; /* NULL: the correct stack */
    const struct plan *plan;
    size_t undecided;
};

static bool is_listed(const json_t *ids, const char *id)
{
    for (size_t i = 0; i < json_array_size(ids); i++)
        if (strcmp(json_string_value(json_array_get(ids, i)), id) == 0)
            return true;
    return false;
}

static int on_result(void *user, const struct result *result)
{
    struct drawn *drawn = user;
    char text[1024];

    (void)snprintf(text, sizeof(text), "%s %s %s", result->id, result->role != NULL ? result->role : "",
                   verdict_name(result->verdict));
    if (result->verdict == VERDICT_INCONCLUSIVE)
        drawn->undecided++;
    else if (result->verdict != VERDICT_FAIL && result->verdict != VERDICT_WARN)
        return 0;
    if (result->verdict != VERDICT_INCONCLUSIVE && !is_listed(drawn->killed_by, result->id))
        (void)json_array_append_new(drawn->killed_by, json_string(result->id));
    if (result->verdict != VERDICT_INCONCLUSIVE && !is_listed(drawn->kills, text))
        (void)json_array_append_new(drawn->kills, json_string(text));
    if (drawn->defect != NULL)
        return 0;
    (void)snprintf(text, sizeof(text), "%s %s %s %s: %s; expected %s; got %s", verdict_name(result->verdict),
                   result->id, result->role != NULL ? result->role : "", result->script != NULL ? result->script : "",
                   result->message != NULL ? result->message : "", result->expected != NULL ? result->expected : "-",
                   result->actual != NULL ? result->actual : "-");
    (void)json_array_append_new(drawn->alarms, json_string(text));
    return 0;
}

/* The first pass leaves out what the defect does not name. */
static bool not_named(void *user, const struct plan_item *item)
{
    const struct drawn *drawn = user;

    return !defect_breaks(drawn->defect, item->check->id);
}

/* The second is a sample: what a rule needs is in most checks' traffic. */
static bool not_sampled(void *user, const struct plan_item *item)
{
    const struct drawn *drawn = user;

    return (size_t)(item - drawn->plan->items) % SAMPLE != SAMPLE / 2;
}

/* The third is the layer of the requirement that the defect names first. */
static bool not_of_layer(void *user, const struct plan_item *item)
{
    const struct drawn *drawn = user;
    const char *wanted = drawn->defect->requirement;

    return strncmp(item->check->id, wanted, strcspn(wanted, "-") + 1) != 0;
}

static bool is_killed(const struct drawn *drawn)
{
    for (size_t i = 0; i < json_array_size(drawn->killed_by); i++)
        if (defect_breaks(drawn->defect, json_string_value(json_array_get(drawn->killed_by, i))))
            return true;
    return false;
}

/*
 * A defect meets the checks that it names first. When none of them (nor a rule, on their traffic) catches it it meets a
 * few, those of its layer, and then all, as a rule may need traffic that other checks make; and all at once where the whole matrix is asked
 * for.
 */
static int run_passes(const struct prove_config *config, struct runner_config *runner, struct drawn *drawn,
                      struct sentence *error)
{
    bool (*const passes[])(void *, const struct plan_item *) = {not_named, not_sampled, not_of_layer};
    struct runner_totals totals;

    for (size_t i = 0; drawn->defect != NULL && !config->whole && i < sizeof(passes) / sizeof(passes[0]); i++) {
        runner->done = passes[i];
        if (runner_run(runner, &totals, error) != 0)
            return -1;
        if (is_killed(drawn))
            return 0;
    }
    runner->done = NULL;
    return runner_run(runner, &totals, error);
}

static json_t *run_unit(const struct matrix *matrix, size_t number, struct sentence *error)
{
    const struct prove_config *config = matrix->config;
    const struct unit *unit = &matrix->units[number];
    struct drawn drawn = {json_array(), json_array(), json_array(), unit->defect, &matrix->plan, 0};
    struct defect_set *defects = NULL;
    struct run_served served = {0};
    struct runner_config runner = {
        .host = config->host,
        .plan = &matrix->plan,
        .selection = &matrix->everything,
        .catalogue = config->catalogue,
        .sim = {.seed = unit->seed},
        .evidence = -1,
        .served = &served,
        .result = on_result,
        .user = &drawn,
    };
    json_t *row;
    int status = 0;

    if (unit->defect != NULL) {
        defects = defect_set_new(config->defects, &unit->defect->id, 1, error);
        status = defects != NULL ? 0 : -1;
    }
    runner.sim.defects = defects;
    if (status == 0)
        status = run_passes(config, &runner, &drawn, error);
    run_served_free(&served);
    defect_set_free(defects);
    if (status != 0) {
        json_decref(drawn.killed_by);
        json_decref(drawn.kills);
        json_decref(drawn.alarms);
        return NULL;
    }
    row = json_pack("{s:I, s:o, s:o, s:o, s:I}", "unit", (json_int_t)number, "killed_by", drawn.killed_by, "kills",
                    drawn.kills, "alarms", drawn.alarms, "undecided", (json_int_t)drawn.undecided);
    return row;
}

/* A worker's life: every jobs-th unit, one line each into its own pipe. */
static int work(const struct matrix *matrix, unsigned worker, int out)
{
    FILE *stream = fdopen(out, "w");
    struct sentence error = {{0}};

    if (stream == NULL)
        return 1;
    for (size_t i = worker; i < matrix->unit_count; i += matrix->config->jobs) {
        json_t *row = run_unit(matrix, i, &error);

        if (row == NULL)
            row = json_pack("{s:I, s:s}", "unit", (json_int_t)i, "error", error.text);
        if (json_dumpf(row, stream, JSON_COMPACT) != 0 || fputc('\n', stream) == EOF || fflush(stream) != 0)
            return 1;
        json_decref(row);
    }
    return fclose(stream) == 0 && !out_of_memory_noted() ? 0 : 1;
}

static void report_defect(const struct matrix *matrix, const struct unit *unit, const json_t *row)
{
    struct prove_summary *summary = matrix->summary;
    const json_t *ids = json_object_get(row, "killed_by");
    size_t count = json_array_size(ids);
    const char **names = calloc(count + 1, sizeof(*names));
    bool killed = false;

    if (names == NULL)
        return;
    for (size_t i = 0; i < count; i++) {
        names[i] = json_string_value(json_array_get(ids, i));
        killed = killed || defect_breaks(unit->defect, names[i]);
    }
    summary->defects++;
    summary->killed += killed;
    matrix->config->defect(matrix->config->user, unit->defect, names, count, killed, json_object_get(row, "kills"));
    free(names);
}

static void report_correct(const struct matrix *matrix, const struct unit *unit, const json_t *row)
{
    struct prove_summary *summary = matrix->summary;

    const json_t *alarms = json_object_get(row, "alarms");

    summary->undecided += (size_t)json_integer_value(json_object_get(row, "undecided"));
    summary->false_alarms += json_array_size(alarms) - (size_t)json_integer_value(json_object_get(row, "undecided"));
    for (size_t i = 0; i < json_array_size(alarms); i++)
        matrix->config->alarm(matrix->config->user, unit->seed, json_string_value(json_array_get(alarms, i)));
    if (matrix->config->correct != NULL)
        matrix->config->correct(matrix->config->user, unit->seed);
}

/* One line of a worker. */
static int take_row(struct matrix *matrix, const char *line, size_t length, struct sentence *error)
{
    json_t *row = json_loadb(line, length, 0, NULL);
    json_int_t unit = json_integer_value(json_object_get(row, "unit"));
    const char *why = json_string_value(json_object_get(row, "error"));

    if (row == NULL || unit < 0 || (size_t)unit >= matrix->unit_count || why != NULL) {
        (void)sentence_set(error, "a worker failed: %s", why != NULL ? why : "an answer cannot be parsed");
        json_decref(row);
        return -1;
    }
    json_decref(matrix->rows[unit]);
    matrix->rows[unit] = row;
    return 0;
}

/* Tells of every unit whose turn it is: in order, as soon as all before it are done. */
static void tell(struct matrix *matrix)
{
    while (matrix->reported < matrix->unit_count && matrix->rows[matrix->reported] != NULL) {
        const struct unit *unit = &matrix->units[matrix->reported];
        json_t **row = &matrix->rows[matrix->reported++];

        if (unit->defect != NULL)
            report_defect(matrix, unit, *row);
        else
            report_correct(matrix, unit, *row);
        if (matrix->config->progress != NULL)
            matrix->config->progress(matrix->config->user, matrix->reported, matrix->unit_count);
    }
}

/* What has come from one worker and is no whole line yet. */
struct worker {
    pid_t process;
    int pipe; /* -1: at its end */
    char *text;
    size_t length, room;
};

static int take_lines(struct matrix *matrix, struct worker *worker, struct sentence *error)
{
    char *newline;

    while ((newline = memchr(worker->text, '\n', worker->length)) != NULL) {
        size_t line = (size_t)(newline - worker->text);

        if (take_row(matrix, worker->text, line, error) != 0)
            return -1;
        worker->length -= line + 1;
        memmove(worker->text, newline + 1, worker->length);
    }
    tell(matrix);
    return 0;
}

static int read_worker(struct matrix *matrix, struct worker *worker, struct sentence *error)
{
    ssize_t got;

    if (worker->room - worker->length < WORKER_READ) {
        char *grown = realloc(worker->text, worker->room + 4 * WORKER_READ);

        if (grown == NULL)
            return sentence_set(error, "out of memory for a worker's answers");
        worker->text = grown;
        worker->room += 4 * WORKER_READ;
    }
    got = read(worker->pipe, worker->text + worker->length, WORKER_READ);
    if (got < 0 && errno == EINTR)
        return 0;
    if (got <= 0) {
        close(worker->pipe);
        worker->pipe = -1;
        return 0;
    }
    worker->length += (size_t)got;
    return take_lines(matrix, worker, error);
}

/* Reads all workers at once, so that none of them waits for another to be heard. */
static int listen_to_workers(struct matrix *matrix, struct worker *workers, struct sentence *error)
{
    struct pollfd waits[WORKERS_MAX];
    unsigned open = 1;

    while (open != 0) {
        if (run_stopped())
            return sentence_set(error, "interrupted");
        open = 0;
        for (unsigned i = 0; i < matrix->config->jobs; i++) {
            waits[i] = (struct pollfd){.fd = workers[i].pipe, .events = POLLIN};
            open += workers[i].pipe >= 0;
        }
        if (open == 0 || (poll(waits, matrix->config->jobs, -1) < 0 && errno != EINTR))
            break;
        for (unsigned i = 0; i < matrix->config->jobs; i++)
            if (workers[i].pipe >= 0 && waits[i].revents != 0 && read_worker(matrix, &workers[i], error) != 0)
                return -1;
    }
    return 0;
}

static int start_worker(const struct matrix *matrix, struct worker *worker, unsigned number, struct sentence *error)
{
    int ends[2];
    pid_t parent = getpid();

    if (pipe(ends) != 0)
        return sentence_set(error, "cannot start a worker: %s", strerror(errno));
    worker->process = fork();
    if (worker->process == 0) {
        close(ends[0]);
        _exit(run_stop_child(parent) != 0 ? 1 : work(matrix, number, ends[1]));
    }
    close(ends[1]);
    worker->pipe = ends[0];
    return worker->process > 0 ? 0 : sentence_set(error, "cannot start a worker: %s", strerror(errno));
}

static int run_workers(struct matrix *matrix, struct sentence *error)
{
    struct worker workers[WORKERS_MAX] = {{0}};
    int status = 0;

    (void)fflush(NULL);
    for (unsigned i = 0; i < matrix->config->jobs; i++)
        workers[i].pipe = -1;
    for (unsigned i = 0; i < matrix->config->jobs && status == 0; i++)
        status = start_worker(matrix, &workers[i], i, error);
    if (status == 0)
        status = listen_to_workers(matrix, workers, error);
    for (unsigned i = 0; i < matrix->config->jobs; i++) {
        int ended = 0;

        if (workers[i].pipe >= 0)
            close(workers[i].pipe);
        free(workers[i].text);
        if (workers[i].process > 0 && status != 0) /* nobody waits for its answers */
            (void)kill(workers[i].process, SIGTERM);
        if (workers[i].process > 0 && waitpid(workers[i].process, &ended, 0) == workers[i].process && status == 0 &&
            (!WIFEXITED(ended) || WEXITSTATUS(ended) != 0))
            status = sentence_set(error, "a worker died (%s %d) while proving", WIFSIGNALED(ended) ? "signal" : "exit",
                                  WIFSIGNALED(ended) ? WTERMSIG(ended) : WEXITSTATUS(ended));
    }
    if (status == 0 && matrix->reported != matrix->unit_count)
        status = sentence_set(error, "the workers gave %zu of %zu answers", matrix->reported, matrix->unit_count);
    return status;
}

static int make_units(struct matrix *matrix, struct sentence *error)
{
    const struct prove_config *config = matrix->config;
    size_t defects = config->only_count != 0 ? config->only_count : defect_list_count(config->defects);

    matrix->units = calloc(config->seeds + defects + 1, sizeof(*matrix->units));
    matrix->rows = calloc(config->seeds + defects + 1, sizeof(json_t *));
    if (matrix->units == NULL || matrix->rows == NULL)
        return sentence_set(error, "out of memory for the matrix");
    for (unsigned i = 0; i < config->seeds; i++)
        matrix->units[matrix->unit_count++].seed = config->seed + i;
    for (size_t i = 0; i < defects; i++) {
        const struct defect *defect = config->only_count != 0 ? defect_list_find(config->defects, config->only[i])
                                                              : defect_list_at(config->defects, i);

        if (defect == NULL)
            return sentence_set(error, "no defect is called '%s' (warpcheck list --defects names them)",
                                config->only[i]);
        if (defect_acts_over_sctp(defect)) {
            /* Nothing that runs here could meet it: it has neither survived nor been killed. */
            if (config->only_count != 0)
                return sentence_set(
                    error, "no defect that acts over SCTP can be proved, as %s does: no check drives SCTP", defect->id);
            matrix->summary->left_out++;
            continue;
        }
        matrix->units[matrix->unit_count++] = (struct unit){.seed = config->seed, .defect = defect};
    }
    return 0;
}

enum { WEIGHT_SEED = 10, WEIGHT_DEFECT = 1 }; /* a defect mostly meets the few checks that it names */

static uint64_t digest_of(const struct matrix *matrix)
{
    uint64_t digest = shard_digest_text(SHARD_DIGEST_START, catalogue_digest(matrix->config->catalogue));

    digest = shard_digest_number(digest, matrix->config->whole);
    digest = shard_digest_number(digest, matrix->summary->checks);
    for (size_t i = 0; i < matrix->unit_count; i++) {
        const struct unit *unit = &matrix->units[i];

        digest = shard_digest_number(digest, unit->seed);
        digest = shard_digest_text(digest, unit->defect != NULL ? unit->defect->id : "");
    }
    return digest;
}

/* Leaves this shard's units, in their order. */
static int keep_own(struct matrix *matrix, struct sentence *error)
{
    const struct shard *shard = &matrix->config->shard;
    uint64_t *weights = calloc(matrix->unit_count + 1, sizeof(*weights));
    unsigned *owner = calloc(matrix->unit_count + 1, sizeof(*owner));
    size_t kept = 0;
    int rc = -1;

    shard_digest_show(digest_of(matrix), matrix->summary->plan);
    for (size_t i = 0; weights != NULL && i < matrix->unit_count; i++)
        weights[i] = matrix->units[i].defect == NULL ? WEIGHT_SEED : WEIGHT_DEFECT;
    if (weights == NULL || owner == NULL)
        (void)sentence_set(error, "out of memory for the matrix");
    else
        rc = shard_assign(weights, matrix->unit_count, shard->of, owner, error);
    for (size_t i = 0; rc == 0 && i < matrix->unit_count; i++)
        if (owner[i] == shard->index)
            matrix->units[kept++] = matrix->units[i];
    if (rc == 0)
        matrix->unit_count = kept;
    free(weights);
    free(owner);
    return rc;
}

int prove_run(const struct prove_config *config, struct prove_summary *summary, struct sentence *error)
{
    struct matrix matrix = {.config = config, .summary = summary};
    struct plan_config plan = {.catalogue = config->catalogue, .pics = config->pics, .selection = &matrix.everything};
    int status = -1;

    memset(summary, 0, sizeof(*summary));
    summary->checks = script_check_count(config->host);
    summary->rules = rule_count();
    if (config->jobs == 0 || config->jobs > WORKERS_MAX)
        return sentence_set(error, "1 to %d processes can prove at once", WORKERS_MAX);
    if (plan_make(&matrix.plan, config->host, &plan, error) == 0 && make_units(&matrix, error) == 0 &&
        (config->shard.of == 0 || keep_own(&matrix, error) == 0))
        status = run_workers(&matrix, error);
    summary->units = matrix.unit_count;
    for (size_t i = 0; i < matrix.unit_count && matrix.rows != NULL; i++)
        json_decref(matrix.rows[i]);
    plan_free(&matrix.plan);
    free(matrix.units);
    free(matrix.rows);
    return status;
}
