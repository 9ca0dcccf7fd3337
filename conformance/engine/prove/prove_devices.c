/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/prove/prove_devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/prove/devices_coverage.h"
#include "conformance/engine/prove/prove_meets.h"
#include "conformance/engine/prove/prove_printer.h"
#include "conformance/engine/prove/prove_workers.h"
#include "conformance/engine/run/runner.h"

struct suite {
    const struct prove_devices_config *config;
    struct plan plan;
    struct selection everything;
    const struct defect **rows; /* each variant that a device of the layer may choose */
    size_t row_count;
    struct prove_meets *meets;
    size_t first[RUN_SERVICES_ROLES]; /* the first check in a role before which something is learned; SIZE_MAX: none */
    struct prove_devices_summary *summary;
};

/* What one device has drawn so far. */
struct drawn {
    const struct suite *suite;
    const struct choice_device *device;
    json_t *surplus, *undecided; /* in words */
    char by[64];                 /* the first surplus one's id */
    const char *wanted;          /* while a device is reduced: look for this id alone */
    bool *failing;               /* by item: it drew a FAIL or WARN, by itself or through a rule */
    bool seen;                   /* `wanted` was surplus */
    size_t met, item;
    struct run_services services;
    bool otherwise[RUN_SERVICES_ROLES]; /* in this role it was learned otherwise than without choices */
};

static size_t index_of(const char *role)
{
    return strcmp(role, "initiator") == 0;
}

/* ---- what is run ------------------------------------------------------------------------------------------------- */

/* The number of a choice's row; row_count: it is a number of the configuration, which meets every check. */
static size_t row_of(const struct suite *suite, const struct choice *choice)
{
    size_t row = 0;

    while (row < suite->row_count && suite->rows[row]->id != choice->row.id)
        row++;
    return row;
}

static bool meets_item(const struct drawn *drawn, size_t item, const char *learning)
{
    for (size_t i = 0; i < drawn->device->count; i++) {
        size_t row = row_of(drawn->suite, &drawn->device->choices[i]);

        if (row == drawn->suite->row_count ||
            (learning != NULL ? prove_meets_learning(drawn->suite->meets, learning, row)
                              : prove_meets_check(drawn->suite->meets, item, row)))
            return true;
    }
    return false;
}

/*
 * Where no seam asks for what one of the choices changes, the check does the same without them all. Before the first
 * check of a role the device is learned: that one has to be run before the answer is known for the others.
 */
static bool meets(const struct drawn *drawn, const struct plan_item *item)
{
    const struct suite *suite = drawn->suite;
    size_t number = (size_t)(item - suite->plan.items);

    return meets_item(drawn, number, NULL) ||
           ((number == suite->first[0] || number == suite->first[1]) && meets_item(drawn, number, item->role));
}

static bool run_it(struct drawn *drawn, const struct plan_item *item, bool wanted)
{
    drawn->item = (size_t)(item - drawn->suite->plan.items);
    if (drawn->wanted != NULL && !drawn->failing[drawn->item])
        wanted = false;
    drawn->met += wanted && item->skip.text[0] == '\0';
    return wanted;
}

/* The first pass. */
static bool cannot_meet(void *user, const struct plan_item *item)
{
    struct drawn *drawn = user;

    return !run_it(drawn, item, meets(drawn, item));
}

/* The second, where something else was learned: the other checks in that role. */
static bool not_changed_by_learning(void *user, const struct plan_item *item)
{
    struct drawn *drawn = user;

    return !run_it(drawn, item, !meets(drawn, item) && drawn->otherwise[index_of(item->role)]);
}

/* ---- what it comes to -------------------------------------------------------------------------------------------- */

static bool is_surplus(const struct drawn *drawn, const struct result *result)
{
    return result->verdict == VERDICT_FAIL || script_error_matches(result->message) ||
           (result->verdict == VERDICT_WARN && !choice_device_warns(drawn->device, result->id));
}

static int on_result(void *user, const struct result *result)
{
    struct drawn *drawn = user;

    if (drawn->wanted != NULL) {
        drawn->seen = drawn->seen || (strcmp(result->id, drawn->wanted) == 0 && is_surplus(drawn, result));
        return 0;
    }
    if (result->verdict == VERDICT_INCONCLUSIVE)
        (void)json_array_append_new(drawn->undecided, prove_result_words(result, ""));
    if (!is_surplus(drawn, result))
        return 0;
    if (strcmp(result->by, "check") == 0)
        drawn->failing[drawn->item] = true;
    if (drawn->by[0] == '\0')
        (void)snprintf(drawn->by, sizeof(drawn->by), "%s", result->id);
    (void)json_array_append_new(drawn->surplus, prove_result_words(result, ""));
    return 0;
}

/* A rule's result comes at the end of the run: the journal says in which checks it found something. */
static int on_journal(void *user, struct journal *journal, const struct flow_totals *traffic)
{
    struct drawn *drawn = user;

    (void)traffic;
    for (size_t i = 0; drawn->wanted == NULL && i < journal->rule_count; i++)
        if (is_surplus(drawn, &journal->rules[i].result))
            drawn->failing[drawn->item] = true;
    return 0;
}

static int on_learned(void *user, json_t *services)
{
    struct drawn *drawn = user;
    const char *role = json_string_value(json_object_get(services, "role"));

    if (role != NULL && !prove_meets_learned(drawn->suite->meets, services))
        drawn->otherwise[index_of(role)] = true;
    return 0;
}

/* ---- a device ---------------------------------------------------------------------------------------------------- */

static struct runner_config runner_of(const struct suite *suite)
{
    return (struct runner_config){.host = suite->config->host,
                                  .plan = &suite->plan,
                                  .selection = &suite->everything,
                                  .catalogue = suite->config->catalogue,
                                  .sim = {.seed = suite->config->seed},
                                  .evidence = {.folder = -1}};
}

static int run_passes(struct drawn *drawn, struct iwarp_sentence *error)
{
    struct runner_config runner = runner_of(drawn->suite);
    struct defect_set *set = choice_device_set(drawn->device, error);
    struct runner_totals totals;
    int status = -1;

    runner.services = &drawn->services;
    runner.items = (struct runner_items){.left_out = cannot_meet, .user = drawn};
    runner.report =
        (struct runner_report){.journal = on_journal, .learned = on_learned, .result = on_result, .user = drawn};
    runner.sim.defects = set;
    for (size_t i = 0; i < drawn->device->count; i++)
        runner.sim.ipv6 = runner.sim.ipv6 || variant_takes_ipv6_alone(&drawn->device->choices[i].row);
    if (set != NULL && runner_run(&runner, &totals, error) == 0) {
        runner.items.left_out = not_changed_by_learning;
        status = drawn->otherwise[0] || drawn->otherwise[1] ? runner_run(&runner, &totals, error) : 0;
    }
    run_services_free(&drawn->services);
    memset(&drawn->services, 0, sizeof(drawn->services));
    defect_set_free(set);
    return status;
}

/* Is `wanted` surplus with these choices still? 1 or 0; -1 with a sentence. */
static int is_still(const struct drawn *whole, const struct choice_device *device, const char *wanted,
                    struct iwarp_sentence *error)
{
    struct drawn drawn = {.suite = whole->suite, .device = device, .wanted = wanted, .failing = whole->failing};

    return run_passes(&drawn, error) != 0 ? -1 : drawn.seen;
}

/* Takes the device, and returns the one that cannot be reduced further: NULL with a sentence. */
static struct choice_device *reduce(const struct drawn *whole, struct choice_device *device,
                                    struct iwarp_sentence *error)
{
    for (size_t i = device->count; i-- > 0;) {
        struct choice_device *less = choice_device_without(device, i);
        int status = less != NULL ? is_still(whole, less, whole->by, error)
                                  : iwarp_sentence_set(error, "out of memory for a smaller device");

        if (status == 1) {
            free(device);
            device = less;
            continue;
        }
        free(less);
        if (status < 0) {
            free(device);
            return NULL;
        }
    }
    return device;
}

static struct choice_device *device_at(const struct prove_devices_config *config, size_t number,
                                       struct iwarp_sentence *error)
{
    if (config->choices != NULL)
        return choice_device_named(config->table, config->layer, config->choices, error);
    return choice_device_draw(config->table, config->layer, config->first + number, error);
}

/* The units of a shard are every N-th device. */
static size_t number_of(const struct prove_devices_config *config, size_t unit)
{
    return config->shard.of == 0 ? unit : unit * config->shard.of + config->shard.index - 1;
}

static size_t units_of(const struct prove_devices_config *config)
{
    size_t left = config->shard.of == 0 ? 0 : config->shard.index - 1;

    if (config->shard.of == 0)
        return config->count;
    return config->count <= left ? 0 : (config->count - left + config->shard.of - 1) / config->shard.of;
}

/* Takes the device. */
static json_t *row_of_drawn(const struct drawn *drawn, struct choice_device *device, struct iwarp_sentence *error)
{
    char *choices = choice_device_text(device), *reduced = NULL;
    json_t *row;

    if (json_array_size(drawn->surplus) != 0)
        device = reduce(drawn, device, error);
    reduced = device != NULL ? choice_device_text(device) : NULL;
    row = device == NULL
              ? NULL
              : json_pack("{s:s?, s:s?, s:s, s:O, s:O, s:I}", "choices", choices, "reduced", reduced, "by", drawn->by,
                          "surplus", drawn->surplus, "undecided", drawn->undecided, "met", (json_int_t)drawn->met);
    free(choices);
    free(reduced);
    free(device);
    return row;
}

/* In a worker. */
static json_t *run_unit(void *user, size_t number, struct iwarp_sentence *error)
{
    const struct suite *suite = user;
    struct choice_device *device = device_at(suite->config, number_of(suite->config, number), error);
    struct drawn drawn = {.suite = suite,
                          .device = device,
                          .surplus = json_array(),
                          .undecided = json_array(),
                          .failing = calloc(suite->plan.count + 1, sizeof(*drawn.failing))};
    json_t *row = NULL;

    if (drawn.failing == NULL)
        (void)iwarp_sentence_set(error, "out of memory for a device");
    else if (device != NULL && run_passes(&drawn, error) == 0) {
        row = row_of_drawn(&drawn, device, error);
        device = NULL;
    }
    free(device);
    free(drawn.failing);
    json_decref(drawn.surplus);
    json_decref(drawn.undecided);
    return row;
}

/* ---- in the calling process -------------------------------------------------------------------------------------- */

static void report_device(void *user, size_t number, const json_t *row)
{
    struct suite *suite = user;
    const struct prove_devices_config *config = suite->config;
    struct device_outcome outcome = {
        .seed = config->first + number_of(config, number),
        .choices = json_string_value(json_object_get(row, "choices")),
        .surplus = json_object_get(row, "surplus"),
        .undecided = json_object_get(row, "undecided"),
        .met = (size_t)json_integer_value(json_object_get(row, "met")),
    };
    bool good = json_array_size(outcome.surplus) == 0;

    if (!good) {
        outcome.reduced = json_string_value(json_object_get(row, "reduced"));
        outcome.by = json_string_value(json_object_get(row, "by"));
    }
    suite->summary->devices++;
    suite->summary->good += good;
    suite->summary->undecided += json_array_size(outcome.undecided);
    suite->summary->met += outcome.met;
    config->outcome(config->user, &outcome);
    if (config->progress != NULL)
        config->progress(config->user, number + 1, units_of(config));
}

static void note_first_checks(struct suite *suite)
{
    suite->first[0] = suite->first[1] = SIZE_MAX;
    for (size_t i = suite->plan.count; i-- > 0;) {
        const struct plan_item *item = &suite->plan.items[i];

        if (item->skip.text[0] != '\0')
            continue;
        suite->first[index_of(item->role)] = i;
        suite->summary->pairs_of_checks += units_of(suite->config);
    }
}

/* Finds which choice can change which check, and reports alarms that occur without any choice. */
static int find_meetings(struct suite *suite, struct iwarp_sentence *error)
{
    const struct prove_meets_config config = {
        .runner = runner_of(suite), .rows = suite->rows, .row_count = suite->row_count, .jobs = suite->config->jobs};

    note_first_checks(suite);
    suite->meets = prove_meets_make(&config, error);
    if (suite->meets == NULL)
        return -1;
    suite->summary->false_alarms = prove_meets_alarms(suite->meets, suite->config->alarm, suite->config->user);
    return 0;
}

static int run_suite(struct suite *suite, struct iwarp_sentence *error)
{
    const struct prove_devices_config *config = suite->config;
    const bool sctp = config->layer == CHOICE_SCTP || config->layer == CHOICE_DRAFT;
    struct plan_config plan = {.catalogue = config->catalogue,
                               .pics = config->pics,
                               .selection = &suite->everything,
                               .sctp = sctp,
                               .profile = config->layer == CHOICE_DRAFT ? IWARP_SCTP_DRAFT02
                                          : sctp                        ? IWARP_SCTP_RFC5043
                                                                        : IWARP_SCTP_UNDECIDED,
                               .cm = config->layer == CHOICE_CM};
    struct prove_work work = {units_of(config), config->jobs, run_unit, report_device, suite};
    struct choice_device *named;

    /* A device that cannot be is found here, and not in a worker. */
    named = device_at(config, 0, error);
    if (named == NULL)
        return -1;
    free(named);
    suite->rows = choice_table_rows(config->table, config->layer, &suite->row_count);
    if (suite->rows == NULL)
        return iwarp_sentence_set(error, "out of memory for the choices");
    if (plan_make(&suite->plan, config->host, &plan, error) != 0 || find_meetings(suite, error) != 0)
        return -1;
    return prove_workers_run(&work, error);
}

int prove_devices_run(const struct prove_devices_config *config, struct prove_devices_summary *summary,
                      struct iwarp_sentence *error)
{
    struct suite suite = {.config = config, .summary = summary};
    int status;

    memset(summary, 0, sizeof(*summary));
    summary->checks = script_check_count(config->host);
    summary->rules = rule_count();
    status = run_suite(&suite, error);
    if (status == 0 && config->choices == NULL)
        status = devices_coverage_find(config, &summary->coverage, error);
    prove_meets_free(suite.meets);
    plan_free(&suite.plan);
    free(suite.rows);
    return status;
}
