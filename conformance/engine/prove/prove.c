/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/prove/prove.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/prove/prove_llp.h"
#include "conformance/engine/prove/prove_named.h"
#include "conformance/engine/prove/prove_workers.h"
#include "conformance/engine/run/runner.h"
#include "conformance/flow/event/flow.h"
#include "base/nearest.h"

enum { SAMPLE = 32 };

/* Units are shared out by number: first the seeds of the correct stack, then the defects. */
struct unit {
    const struct defect *defect; /* NULL: the correct stack */
    uint64_t seed;
};

struct matrix {
    const struct prove_config *config;
    struct plan plan, sctp_plan; /* over TCP; over SCTP */
    struct selection everything;
    struct unit *units;
    size_t unit_count;
    struct prove_summary *summary;
};

/* What one unit drew. */
struct drawn {
    json_t *killed_by; /* ids with FAIL or WARN */
    json_t *kills;     /* the same with role and verdict: "ID role VERDICT" */
    json_t *decided;   /* ids on which a check came to a verdict */
    json_t *uncaught;  /* ids that the defect names and that did not catch it */
    json_t *alarms;    /* in words. Correct stack: FAIL, WARN and INCONCLUSIVE; with a defect: script errors */
    const struct defect *defect; /* NULL: the correct stack */
    const struct plan *plan;
    struct prove_judges judges; /* of the plan that runs */
    size_t undecided;
};

static int on_result(void *user, const struct result *result)
{
    struct drawn *drawn = user;
    char text[1024];

    (void)snprintf(text, sizeof(text), "%s %s %s", result->id, result->role != NULL ? result->role : "",
                   verdict_name(result->verdict));
    if (strcmp(result->by, "check") == 0 && result->verdict != VERDICT_SKIP &&
        !prove_named_has(drawn->decided, result->id))
        (void)json_array_append_new(drawn->decided, json_string(result->id));
    if (result->verdict == VERDICT_INCONCLUSIVE)
        drawn->undecided++;
    else if (result->verdict != VERDICT_FAIL && result->verdict != VERDICT_WARN)
        return 0;
    if (result->verdict != VERDICT_INCONCLUSIVE && !prove_named_has(drawn->killed_by, result->id))
        (void)json_array_append_new(drawn->killed_by, json_string(result->id));
    if (result->verdict != VERDICT_INCONCLUSIVE && !prove_named_has(drawn->kills, text))
        (void)json_array_append_new(drawn->kills, json_string(text));
    if (drawn->defect != NULL && !script_error_matches(result->message))
        return 0;
    (void)snprintf(text, sizeof(text), "%s %s %s %s: %s; expected %s; got %s", verdict_name(result->verdict),
                   result->id, result->role != NULL ? result->role : "", result->script != NULL ? result->script : "",
                   result->message != NULL ? result->message : "", result->expected != NULL ? result->expected : "-",
                   result->actual != NULL ? result->actual : "-");
    (void)json_array_append_new(drawn->alarms, json_string(text));
    return 0;
}

/* Checks of a lower layer that the defect does not touch cannot meet it. */
static bool cannot_meet(void *user, const struct plan_item *item)
{
    const struct drawn *drawn = user;

    return drawn->defect != NULL && item->check->cm != defect_acts_over_cm(drawn->defect);
}

/* The first pass leaves out what the defect does not name. */
static bool not_named(void *user, const struct plan_item *item)
{
    const struct drawn *drawn = user;

    return !defect_breaks(drawn->defect, item->check->id) || cannot_meet(user, item);
}

/* The second is a sample: what a rule needs is in most checks' traffic. */
static bool not_sampled(void *user, const struct plan_item *item)
{
    const struct drawn *drawn = user;

    return (size_t)(item - drawn->plan->items) % SAMPLE != SAMPLE / 2 || cannot_meet(user, item);
}

/* The third is the layer of the requirement that the defect names first. */
static bool not_of_layer(void *user, const struct plan_item *item)
{
    const struct drawn *drawn = user;
    const char *wanted = drawn->defect->requirement;

    return strncmp(item->check->id, wanted, strcspn(wanted, "-") + 1) != 0 || cannot_meet(user, item);
}

static bool is_killed(const struct drawn *drawn)
{
    for (size_t i = 0; i < json_array_size(drawn->killed_by); i++)
        if (defect_breaks(drawn->defect, json_string_value(json_array_get(drawn->killed_by, i))))
            return true;
    return false;
}

/* Has each requirement that the defect names, and that is judged where it runs, caught it? */
static bool is_caught_by_all(struct drawn *drawn)
{
    json_decref(drawn->uncaught);
    drawn->uncaught = prove_named_uncaught(&drawn->judges, drawn->defect, drawn->killed_by);
    return drawn->uncaught != NULL && json_array_size(drawn->uncaught) == 0 && is_killed(drawn);
}

/*
 * First the checks that the defect names are run with it. Where a requirement that it names has not caught it then, a
 * few more are run, then those of its layer, then all: a rule may need traffic that other checks make. For the whole
 * matrix all checks are run in one pass.
 */
static int run_passes(const struct prove_config *config, struct runner_config *runner, struct drawn *drawn,
                      struct iwarp_sentence *error)
{
    bool (*const passes[])(void *, const struct plan_item *) = {not_named, not_sampled, not_of_layer};
    struct runner_totals totals;

    for (size_t i = 0; drawn->defect != NULL && !config->whole && i < sizeof(passes) / sizeof(passes[0]); i++) {
        runner->items.left_out = passes[i];
        if (runner_run(runner, &totals, error) != 0)
            return -1;
        if (is_caught_by_all(drawn))
            return 0;
    }
    runner->items.left_out = cannot_meet;
    return runner_run(runner, &totals, error);
}

static struct prove_judges judges_of(const struct matrix *matrix, const struct drawn *drawn)
{
    const struct prove_config *config = matrix->config;
    uint32_t flows =
        drawn->plan == &matrix->sctp_plan ? 1U << FLOW_ASSOCIATION | 1U << FLOW_STREAM : 1U << FLOW_CONNECTION;

    return (struct prove_judges){
        .decided = drawn->decided,
        .flows = drawn->defect != NULL && defect_acts_over_cm(drawn->defect) ? 1U << FLOW_CM_EXCHANGE : flows,
        .catalogue = config->catalogue,
        .pics = config->pics,
        .llp = !config->sctp                           ? "tcp"
               : config->profile == IWARP_SCTP_DRAFT02 ? "sctp-draft02"
                                                       : "sctp",
    };
}

/*
 * A defect of the stack over SCTP meets the checks that drive SCTP, any other one those over TCP, and over SCTP those
 * that it names; the correct stack all. With --llp sctp or sctp-draft02 everything meets the checks over SCTP alone.
 */
static int run_plans(const struct matrix *matrix, struct runner_config *runner, struct drawn *drawn,
                     struct iwarp_sentence *error)
{
    bool sctp = matrix->config->sctp || (drawn->defect != NULL && defect_acts_over_sctp(drawn->defect));

    runner->plan = drawn->plan = sctp ? &matrix->sctp_plan : &matrix->plan;
    drawn->judges = judges_of(matrix, drawn);
    if (run_passes(matrix->config, runner, drawn, error) != 0)
        return -1;
    if (matrix->config->sctp ||
        (drawn->defect != NULL && (sctp || !prove_llp_is_checked(&matrix->sctp_plan, drawn->defect))))
        return 0;
    runner->plan = drawn->plan = &matrix->sctp_plan;
    if (drawn->defect == NULL)
        return run_passes(matrix->config, runner, drawn, error);
    runner->items.left_out = not_named;
    return runner_run(runner, &(struct runner_totals){0}, error);
}

/* What the table of exceptions excuses without need is an alarm. */
static int note_needless(const struct drawn *drawn, struct iwarp_sentence *error)
{
    json_t *needless = prove_named_needless(&drawn->judges, drawn->defect, drawn->killed_by), *id;
    int status = drawn->uncaught != NULL && needless != NULL ? 0 : -1;
    size_t i;

    json_array_foreach(needless, i, id)
    {
        if (json_array_append_new(drawn->alarms, json_sprintf("reference-stack/defects/defects-uncaught.tsv excuses %s "
                                                              "without need: it catches the defect",
                                                              json_string_value(id))) != 0)
            status = -1;
    }
    json_decref(needless);
    return status == 0 ? 0 : iwarp_sentence_set(error, "out of memory for the matrix");
}

static json_t *run_unit(void *user, size_t number, struct iwarp_sentence *error)
{
    const struct matrix *matrix = user;
    const struct prove_config *config = matrix->config;
    const struct unit *unit = &matrix->units[number];
    struct drawn drawn = {.killed_by = json_array(),
                          .kills = json_array(),
                          .decided = json_array(),
                          .uncaught = json_array(),
                          .alarms = json_array(),
                          .defect = unit->defect};
    struct defect_set *defects = NULL;
    struct run_services services = {0};
    struct runner_config runner = {
        .host = config->host,
        .plan = &matrix->plan,
        .selection = &matrix->everything,
        .catalogue = config->catalogue,
        .sim = {.seed = unit->seed},
        .evidence = {.folder = -1},
        .services = &services,
        .items = {.user = &drawn},
        .report = {.result = on_result, .user = &drawn},
    };
    bool killed = false;
    int status = 0;

    if (unit->defect != NULL) {
        defects = defect_set_new(config->defects, &unit->defect->id, 1, error);
        status = defects != NULL ? 0 : -1;
    }
    runner.sim.defects = defects;
    if (status == 0)
        status = run_plans(matrix, &runner, &drawn, error);
    run_services_free(&services);
    defect_set_free(defects);
    if (status == 0 && unit->defect != NULL) {
        killed = is_caught_by_all(&drawn);
        status = note_needless(&drawn, error);
    }
    json_decref(drawn.decided);
    if (status != 0) {
        json_decref(drawn.uncaught);
        json_decref(drawn.killed_by);
        json_decref(drawn.kills);
        json_decref(drawn.alarms);
        return NULL;
    }
    return json_pack("{s:b, s:o, s:o, s:o, s:o, s:I}", "killed", killed, "killed_by", drawn.killed_by, "uncaught",
                     drawn.uncaught, "kills", drawn.kills, "alarms", drawn.alarms, "undecided",
                     (json_int_t)drawn.undecided);
}

/* Reports the alarms of a unit; returns their number. */
static size_t tell_alarms(const struct matrix *matrix, const struct unit *unit, const json_t *row)
{
    const json_t *alarms = json_object_get(row, "alarms");

    for (size_t i = 0; i < json_array_size(alarms); i++)
        matrix->config->alarm(matrix->config->user, unit->defect, unit->seed,
                              json_string_value(json_array_get(alarms, i)));
    return json_array_size(alarms);
}

static void report_defect(const struct matrix *matrix, const struct unit *unit, const json_t *row)
{
    struct prove_summary *summary = matrix->summary;

    summary->defects++;
    summary->killed += json_is_true(json_object_get(row, "killed"));
    summary->false_alarms += tell_alarms(matrix, unit, row);
    matrix->config->defect(matrix->config->user, unit->defect, row);
}

static void report_correct(const struct matrix *matrix, const struct unit *unit, const json_t *row)
{
    struct prove_summary *summary = matrix->summary;
    size_t undecided = (size_t)json_integer_value(json_object_get(row, "undecided"));

    summary->undecided += undecided;
    summary->false_alarms += tell_alarms(matrix, unit, row) - undecided;
    if (matrix->config->correct != NULL)
        matrix->config->correct(matrix->config->user, unit->seed);
}

/* In order, as soon as all before it are done. */
static void report_unit(void *user, size_t number, const json_t *row)
{
    struct matrix *matrix = user;
    const struct unit *unit = &matrix->units[number];

    if (unit->defect != NULL)
        report_defect(matrix, unit, row);
    else
        report_correct(matrix, unit, row);
    if (matrix->config->progress != NULL)
        matrix->config->progress(matrix->config->user, number + 1, matrix->unit_count);
}

/* Nothing that runs here could meet it: it has neither survived nor been killed. */
static int leave_out(const struct matrix *matrix, const struct defect *defect, const char *reason,
                     struct iwarp_sentence *error)
{
    const struct prove_config *config = matrix->config;

    if (config->only_count != 0)
        return iwarp_sentence_set(error, "no defect can be proved that has no meaning over SCTP, as %s is one: %s",
                                  defect->id, reason);
    matrix->summary->left_out++;
    if (config->left_out != NULL)
        config->left_out(config->user, defect, reason);
    return 0;
}

/* Has the defect something to be met by, where it is over SCTP? 1: yes; 0: it was left out; -1 with a sentence. */
static int is_met(const struct matrix *matrix, const struct defect *defect, struct iwarp_sentence *error)
{
    const struct prove_config *config = matrix->config;
    struct prove_llp_reason reason = {""};

    if (!config->sctp && !defect_acts_over_sctp(defect))
        return 1;
    if (!prove_llp_is_foreign(defect, config->profile == IWARP_SCTP_DRAFT02, &reason)) {
        if (prove_llp_is_driven(&matrix->sctp_plan, config->catalogue, config->pics, defect))
            return 1;
        (void)snprintf(reason.text, sizeof(reason.text), "no check or rule decides over SCTP what it breaks");
    }
    return leave_out(matrix, defect, reason.text, error);
}

static int make_units(struct matrix *matrix, struct iwarp_sentence *error)
{
    const struct prove_config *config = matrix->config;
    size_t defects = config->only_count != 0 ? config->only_count : defect_list_count(config->defects);
    char hint[NEAREST_HINT_OCTETS];

    matrix->units = calloc(config->seeds + defects + 1, sizeof(*matrix->units));
    if (matrix->units == NULL)
        return iwarp_sentence_set(error, "out of memory for the matrix");
    for (unsigned i = 0; i < config->seeds; i++)
        matrix->units[matrix->unit_count++].seed = config->seed + i;
    for (size_t i = 0; i < defects; i++) {
        const struct defect *defect = config->only_count != 0 ? defect_list_find(config->defects, config->only[i])
                                                              : defect_list_at(config->defects, i);
        int met;

        if (defect == NULL)
            return iwarp_sentence_set(error, "no defect is called '%s'%s (warpcheck list --defects names them)",
                                      config->only[i],
                                      nearest_hint(defect_nearest_id(config->defects, config->only[i]), hint));
        met = is_met(matrix, defect, error);
        if (met < 0)
            return -1;
        if (met == 0)
            continue;
        matrix->units[matrix->unit_count++] = (struct unit){.seed = config->seed, .defect = defect};
    }
    return 0;
}

enum { WEIGHT_SEED = 10, WEIGHT_DEFECT = 1 }; /* a defect mostly meets the few checks that it names */

static uint64_t digest_of(const struct matrix *matrix)
{
    uint64_t digest = digest_text(DIGEST_START, catalogue_digest(matrix->config->catalogue));

    digest = digest_number(digest, matrix->config->whole);
    digest = digest_number(digest, (uint64_t)matrix->config->sctp + matrix->config->profile);
    digest = digest_number(digest, script_digest(matrix->config->host));
    for (size_t i = 0; i < matrix->unit_count; i++) {
        const struct unit *unit = &matrix->units[i];

        digest = digest_number(digest, unit->seed);
        digest = digest_text(digest, unit->defect != NULL ? unit->defect->id : "");
    }
    return digest;
}

/* Leaves this shard's units, in their order. */
static int keep_own(struct matrix *matrix, struct iwarp_sentence *error)
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
        (void)iwarp_sentence_set(error, "out of memory for the matrix");
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

int prove_run(const struct prove_config *config, struct prove_summary *summary, struct iwarp_sentence *error)
{
    struct matrix matrix = {.config = config, .summary = summary};
    struct plan_config plan = {
        .catalogue = config->catalogue, .pics = config->pics, .selection = &matrix.everything, .every_llp = true};
    struct plan_config sctp = plan;
    int status = -1;

    sctp.sctp = true;
    sctp.profile = config->profile;
    sctp.sctp_alone = !config->sctp;
    memset(summary, 0, sizeof(*summary));
    summary->checks = script_check_count(config->host);
    summary->rules = rule_count();
    if (plan_make(&matrix.plan, config->host, &plan, error) == 0 &&
        plan_make(&matrix.sctp_plan, config->host, &sctp, error) == 0 && make_units(&matrix, error) == 0 &&
        (config->shard.of == 0 || keep_own(&matrix, error) == 0))
        status = prove_workers_run(
            &(struct prove_work){matrix.unit_count, config->jobs, run_unit, report_unit, &matrix}, error);
    summary->units = matrix.unit_count;
    plan_free(&matrix.plan);
    plan_free(&matrix.sctp_plan);
    free(matrix.units);
    return status;
}
