/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/prove.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/engine/runner.h"

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
    json_t **rows; /* answers of the workers, by unit */
};

/* What one unit drew. */
struct drawn {
    json_t *killed_by; /* ids with FAIL or WARN */
    json_t *alarms;    /* the same in words */
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

    if (result->verdict == VERDICT_INCONCLUSIVE)
        drawn->undecided++;
    else if (result->verdict != VERDICT_FAIL && result->verdict != VERDICT_WARN)
        return 0;
    if (result->verdict != VERDICT_INCONCLUSIVE && !is_listed(drawn->killed_by, result->id))
        (void)json_array_append_new(drawn->killed_by, json_string(result->id));
    (void)snprintf(text, sizeof(text), "%s %s %s %s: %s; expected %s; got %s", verdict_name(result->verdict), result->id,
                   result->role != NULL ? result->role : "", result->script != NULL ? result->script : "",
                   result->message != NULL ? result->message : "", result->expected != NULL ? result->expected : "-",
                   result->actual != NULL ? result->actual : "-");
    (void)json_array_append_new(drawn->alarms, json_string(text));
    return 0;
}

static json_t *run_unit(const struct matrix *matrix, size_t number, struct sentence *error)
{
    const struct prove_config *config = matrix->config;
    const struct unit *unit = &matrix->units[number];
    struct drawn drawn = {json_array(), json_array(), 0};
    struct defect_set *defects = NULL;
    struct runner_config runner = {
        .host = config->host,
        .plan = &matrix->plan,
        .selection = &matrix->everything,
        .catalogue = config->catalogue,
        .sim = {.seed = unit->seed},
        .result = on_result,
        .user = &drawn,
    };
    struct runner_totals totals;
    json_t *row;
    int status = 0;

    if (unit->defect != NULL) {
        defects = defect_set_new(config->defects, &unit->defect->id, 1, error);
        status = defects != NULL ? 0 : -1;
    }
    runner.sim.defects = defects;
    if (status == 0)
        status = runner_run(&runner, &totals, error);
    defect_set_free(defects);
    if (status != 0) {
        json_decref(drawn.killed_by);
        json_decref(drawn.alarms);
        return NULL;
    }
    row = json_pack("{s:I, s:o, s:o, s:I}", "unit", (json_int_t)number, "killed_by", drawn.killed_by, "alarms",
                    drawn.alarms, "undecided", (json_int_t)drawn.undecided);
    return row;
}

/* A worker's life: every jobs-th unit, one line each into the pipe. */
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
    return fclose(stream) == 0 ? 0 : 1;
}

static int collect(struct matrix *matrix, FILE *in, size_t *done, struct sentence *error)
{
    char *line = NULL;
    size_t room = 0;
    int status = 0;

    while (status == 0 && getline(&line, &room, in) > 0) {
        json_t *row = json_loads(line, 0, NULL);
        json_int_t unit = json_integer_value(json_object_get(row, "unit"));
        const char *why = json_string_value(json_object_get(row, "error"));

        if (row == NULL || unit < 0 || (size_t)unit >= matrix->unit_count || why != NULL) {
            status = sentence_set(error, "a worker failed: %s", why != NULL ? why : "garbled answer");
            json_decref(row);
            break;
        }
        json_decref(matrix->rows[unit]);
        matrix->rows[unit] = row;
        if (matrix->config->progress != NULL)
            matrix->config->progress(matrix->config->user, ++*done, matrix->unit_count);
    }
    free(line);
    return status;
}

/* Each worker has a pipe of its own: lines longer than PIPE_BUF would be torn in a shared one. */
static int run_workers(struct matrix *matrix, struct sentence *error)
{
    unsigned jobs = matrix->config->jobs;
    FILE **streams = calloc(jobs, sizeof(FILE *));
    pid_t *workers = calloc(jobs, sizeof(pid_t));
    size_t done = 0;
    int status = 0;

    if (streams == NULL || workers == NULL) {
        free(streams);
        free(workers);
        return sentence_set(error, "out of memory for workers");
    }
    (void)fflush(NULL);
    for (unsigned i = 0; i < jobs && status == 0; i++) {
        int ends[2];

        if (pipe(ends) != 0 || (workers[i] = fork()) < 0) {
            status = sentence_set(error, "cannot start a worker: %s", strerror(errno));
            break;
        }
        if (workers[i] == 0) {
            close(ends[0]);
            _exit(work(matrix, i, ends[1]));
        }
        close(ends[1]);
        streams[i] = fdopen(ends[0], "r");
        if (streams[i] == NULL)
            status = sentence_set(error, "cannot listen to a worker: %s", strerror(errno));
    }
    for (unsigned i = 0; i < jobs; i++) {
        int ended = 0;

        if (streams[i] != NULL) {
            if (status == 0)
                status = collect(matrix, streams[i], &done, error);
            fclose(streams[i]);
        }
        if (workers[i] > 0 && waitpid(workers[i], &ended, 0) == workers[i] && status == 0 &&
            (!WIFEXITED(ended) || WEXITSTATUS(ended) != 0))
            status = sentence_set(error, "a worker died (%s %d) while proving", WIFSIGNALED(ended) ? "signal" : "exit",
                                  WIFSIGNALED(ended) ? WTERMSIG(ended) : WEXITSTATUS(ended));
    }
    free(streams);
    free(workers);
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
        struct unit *unit = &matrix->units[matrix->unit_count++];

        unit->seed = config->seed;
        unit->defect = config->only_count != 0 ? defect_list_find(config->defects, config->only[i])
                                               : defect_list_at(config->defects, i);
        if (unit->defect == NULL)
            return sentence_set(error, "no defect is called '%s' (warpcheck list --defects names them)",
                                config->only[i]);
    }
    return 0;
}

static void report_defect(const struct matrix *matrix, const struct unit *unit, const json_t *row,
                          struct prove_summary *summary)
{
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
    matrix->config->defect(matrix->config->user, unit->defect, names, count, killed);
    free(names);
}

static void report_correct(const struct matrix *matrix, const struct unit *unit, const json_t *row,
                           struct prove_summary *summary)
{
    const json_t *alarms = json_object_get(row, "alarms");

    summary->undecided += (size_t)json_integer_value(json_object_get(row, "undecided"));
    summary->false_alarms += json_array_size(alarms) - (size_t)json_integer_value(json_object_get(row, "undecided"));
    for (size_t i = 0; i < json_array_size(alarms); i++)
        matrix->config->alarm(matrix->config->user, unit->seed, json_string_value(json_array_get(alarms, i)));
}

int prove_run(const struct prove_config *config, struct prove_summary *summary, struct sentence *error)
{
    struct matrix matrix = {.config = config};
    struct plan_config plan = {.catalogue = config->catalogue, .pics = config->pics, .selection = &matrix.everything};
    int status = -1;

    memset(summary, 0, sizeof(*summary));
    if (plan_make(&matrix.plan, config->host, &plan, error) == 0 && make_units(&matrix, error) == 0)
        status = run_workers(&matrix, error);
    summary->checks = script_check_count(config->host);
    summary->rules = rule_count();
    for (size_t i = 0; i < matrix.unit_count && matrix.rows != NULL; i++) {
        if (status == 0 && matrix.units[i].defect != NULL)
            report_defect(&matrix, &matrix.units[i], matrix.rows[i], summary);
        else if (status == 0)
            report_correct(&matrix, &matrix.units[i], matrix.rows[i], summary);
        json_decref(matrix.rows[i]);
    }
    plan_free(&matrix.plan);
    free(matrix.units);
    free(matrix.rows);
    return status;
}
