/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/prove/prove_variants.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/prove/prove_llp.h"
#include "conformance/engine/prove/prove_meets.h"
#include "conformance/engine/prove/prove_printer.h"
#include "conformance/engine/prove/prove_workers.h"
#include "conformance/engine/run/runner.h"

/* Variants, and the checks that they meet. */
struct suite {
    const struct prove_variants_config *config;
    struct plan plan;
    struct selection everything;
    const struct defect **variants; /* what is run */
    size_t count;
    size_t before, all; /* variants of an earlier suite; of all suites */
    struct prove_meets *meets;
    size_t first[RUN_SERVICES_ROLES]; /* the first check in a role before which something is learned; SIZE_MAX: none */
    struct prove_variants_summary *summary;
};

/* What one variant has drawn so far. */
struct drawn {
    const struct suite *suite;
    size_t number;
    const struct defect *variant;
    json_t *surplus; /* in words */
    json_t *warned;  /* an object: ids of its row with a WARN */
    size_t undecided, met;
    struct run_services services;
    const char *otherwise[RUN_SERVICES_ROLES]; /* roles in which it was learned otherwise than without the variant */
    struct journal_digest journal;             /* of the check whose result comes next */
    size_t item;
};

static void add_surplus(struct drawn *drawn, const struct result *result, const char *what)
{
    (void)json_array_append_new(drawn->surplus, prove_result_words(result, what));
}

/* Was it learned in this role otherwise than without the variant? */
static bool learned_otherwise(const struct drawn *drawn, const char *role)
{
    for (size_t i = 0; i < RUN_SERVICES_ROLES; i++)
        if (drawn->otherwise[i] != NULL && strcmp(drawn->otherwise[i], role) == 0)
            return true;
    return false;
}

static int on_result(void *user, const struct result *result)
{
    struct drawn *drawn = user;
    const struct suite *suite = drawn->suite;

    if (strcmp(result->by, "check") == 0 && suite->config->whole &&
        !prove_meets_check(suite->meets, drawn->item, drawn->number) && !learned_otherwise(drawn, result->role) &&
        prove_meets_digest(&drawn->journal, result) != prove_meets_expected(suite->meets, drawn->item))
        add_surplus(drawn, result, "; said not to meet the variant, and it comes to something else without it");
    if (result->verdict == VERDICT_INCONCLUSIVE)
        drawn->undecided++;
    if (result->verdict == VERDICT_WARN && variant_warns(drawn->variant, result->id)) {
        (void)json_object_set_new(drawn->warned, result->id, json_true());
        return 0;
    }
    if (result->verdict == VERDICT_FAIL || result->verdict == VERDICT_WARN || script_error_matches(result->message))
        add_surplus(drawn, result, "");
    return 0;
}

static int on_journal(void *user, struct journal *journal, const struct flow_totals *traffic)
{
    struct drawn *drawn = user;

    drawn->journal = prove_meets_journal(journal, traffic);
    return 0;
}

static int on_learned(void *user, json_t *services)
{
    struct drawn *drawn = user;
    const char *role = json_string_value(json_object_get(services, "role"));
    size_t i = drawn->otherwise[0] != NULL;

    if (role != NULL && !prove_meets_learned(drawn->suite->meets, services) && !learned_otherwise(drawn, role))
        drawn->otherwise[i] = role;
    return 0;
}

/*
 * Does a check of the suite, or a rule, decide the requirement? That of the stack over SCTP leaves out what runs over
 * TCP.
 */
static bool is_decided(const struct suite *suite, const char *id)
{
    for (size_t i = 0; i < suite->plan.count; i++)
        if (strcmp(suite->plan.items[i].check->id, id) == 0)
            return true;
    return rule_find(id) != NULL;
}

/* The ids that the row names, that can report something, and that have reported nothing. */
static json_t *unseen_of(const struct drawn *drawn)
{
    json_t *unseen = json_array();

    for (const char *at = drawn->variant->warns; *at != '\0';) {
        size_t octets = strcspn(at, ",");
        json_t *id = json_stringn(at, octets);

        if (json_object_get(drawn->warned, json_string_value(id)) == NULL &&
            is_decided(drawn->suite, json_string_value(id)))
            (void)json_array_append(unseen, id);
        json_decref(id);
        at += octets;
        at += *at == ',';
    }
    return unseen;
}

/* Does a row of the text that the device follows allow the variant? RFC 6581 goes with RFC 5043. */
static bool is_allowed(const struct drawn *drawn, enum iwarp_sctp_profile profile)
{
    static const char draft[] = "draft-stewart-rddp-sctp-02";
    const struct catalogue *catalogue = drawn->suite->config->catalogue;

    for (size_t i = 0; i < catalogue_count(catalogue); i++) {
        const struct requirement *row = catalogue_at(catalogue, i);

        if (defect_breaks(drawn->variant, row->id) &&
            (strcmp(row->source, draft) == 0) == (profile == IWARP_SCTP_DRAFT02))
            return true;
    }
    return false;
}

/*
 * Checks of a lower layer that the variant does not touch cannot meet it, nor those of a text that knows nothing of it.
 */
static bool is_of_other_layer(const struct drawn *drawn, const struct plan_item *item)
{
    const struct prove_variants_config *config = drawn->suite->config;

    if (item->check->cm != defect_acts_over_cm(drawn->variant))
        return true;
    if (item->sctp == IWARP_SCTP_UNDECIDED)
        return false;
    if (config->sctp)
        return (item->sctp == IWARP_SCTP_DRAFT02) != (config->profile == IWARP_SCTP_DRAFT02);
    return !is_allowed(drawn, item->sctp);
}

/*
 * Can the variant change what the check does? Before the first check of a role the device is learned: that check has to
 * run with the variant before the answer is known for the others.
 */
static bool meets(const struct drawn *drawn, const struct plan_item *item)
{
    const struct suite *suite = drawn->suite;
    size_t number = (size_t)(item - suite->plan.items);

    if (prove_meets_check(suite->meets, number, drawn->number))
        return true;
    return (number == suite->first[0] || number == suite->first[1]) &&
           prove_meets_learning(suite->meets, item->role, drawn->number);
}

static bool run_it(struct drawn *drawn, const struct plan_item *item, bool wanted)
{
    wanted = wanted && !is_of_other_layer(drawn, item);
    drawn->item = (size_t)(item - drawn->suite->plan.items);
    drawn->met += wanted && item->skip.text[0] == '\0';
    return wanted;
}

/* The first pass. */
static bool cannot_meet(void *user, const struct plan_item *item)
{
    struct drawn *drawn = user;

    return !run_it(drawn, item, drawn->suite->config->whole || meets(drawn, item));
}

/* The second, where something else was learned: the other checks in that role. */
static bool not_changed_by_learning(void *user, const struct plan_item *item)
{
    struct drawn *drawn = user;

    return !run_it(drawn, item, !meets(drawn, item) && learned_otherwise(drawn, item->role));
}

static int run_passes(struct runner_config *runner, const struct drawn *drawn, struct iwarp_sentence *error)
{
    struct runner_totals totals;

    runner->items.left_out = cannot_meet;
    if (runner_run(runner, &totals, error) != 0)
        return -1;
    if (drawn->suite->config->whole || drawn->otherwise[0] == NULL)
        return 0;
    runner->items.left_out = not_changed_by_learning;
    return runner_run(runner, &totals, error);
}

static struct runner_config runner_of(const struct suite *suite)
{
    return (struct runner_config){.host = suite->config->host,
                                  .plan = &suite->plan,
                                  .selection = &suite->everything,
                                  .catalogue = suite->config->catalogue,
                                  .sim = {.seed = suite->config->seed},
                                  .evidence = {.folder = -1}};
}

/* In a worker. */
static json_t *run_unit(void *user, size_t number, struct iwarp_sentence *error)
{
    const struct suite *suite = user;
    const struct prove_variants_config *config = suite->config;
    struct drawn drawn = {.suite = suite,
                          .number = number,
                          .variant = suite->variants[number],
                          .surplus = json_array(),
                          .warned = json_object()};
    struct runner_config runner = runner_of(suite);
    struct defect_set *set = defect_set_new(config->variants, &drawn.variant->id, 1, error);
    json_t *row = NULL;

    runner.services = &drawn.services;
    runner.items.user = &drawn;
    runner.report =
        (struct runner_report){.journal = on_journal, .learned = on_learned, .result = on_result, .user = &drawn};
    runner.sim.defects = set;
    runner.sim.ipv6 = variant_takes_ipv6_alone(drawn.variant);
    if (set != NULL && run_passes(&runner, &drawn, error) == 0)
        row = json_pack("{s:O, s:o, s:I, s:I}", "surplus", drawn.surplus, "unseen",
                        config->sctp ? json_array() : unseen_of(&drawn), "undecided", (json_int_t)drawn.undecided,
                        "met", (json_int_t)drawn.met);
    run_services_free(&drawn.services);
    defect_set_free(set);
    json_decref(drawn.surplus);
    json_decref(drawn.warned);
    return row;
}

/* The strings of an array: NULL when memory is short. */
static const char **strings_of(const json_t *array)
{
    size_t count = json_array_size(array);
    const char **strings = calloc(count + 1, sizeof(*strings));

    for (size_t i = 0; strings != NULL && i < count; i++)
        strings[i] = json_string_value(json_array_get(array, i));
    return strings;
}

static void report_variant(void *user, size_t number, const json_t *row)
{
    struct suite *suite = user;
    const json_t *surplus = json_object_get(row, "surplus"), *unseen = json_object_get(row, "unseen");
    const char **surplus_texts = strings_of(surplus), **unseen_ids = strings_of(unseen);
    struct variant_outcome outcome = {
        .variant = suite->variants[number],
        .surplus = surplus_texts,
        .surplus_count = json_array_size(surplus),
        .unseen = unseen_ids,
        .unseen_count = json_array_size(unseen),
        .undecided = (size_t)json_integer_value(json_object_get(row, "undecided")),
        .met = (size_t)json_integer_value(json_object_get(row, "met")),
    };

    outcome.good = outcome.surplus_count == 0 && outcome.unseen_count == 0;
    if (surplus_texts != NULL && unseen_ids != NULL) {
        suite->summary->variants++;
        suite->summary->good += outcome.good;
        suite->summary->undecided += outcome.undecided;
        suite->summary->met += outcome.met;
        suite->config->outcome(suite->config->user, &outcome);
    }
    free(surplus_texts);
    free(unseen_ids);
}

static void tell_and_progress(void *user, size_t number, const json_t *row)
{
    const struct suite *suite = user;
    const struct prove_variants_config *config = suite->config;

    report_variant(user, number, row);
    if (config->progress != NULL)
        config->progress(config->user, suite->before + number + 1, suite->all);
}

/* Over SCTP, those that have no meaning there are left out: they do nothing. */
static int name_variants(struct suite *suite, struct iwarp_sentence *error)
{
    size_t named = 0;
    const struct prove_variants_config *config = suite->config;
    size_t count = config->only_count != 0 ? config->only_count : defect_list_count(config->variants);
    struct prove_llp_reason reason;

    suite->variants = calloc(count + 1, sizeof(*suite->variants));
    if (suite->variants == NULL)
        return iwarp_sentence_set(error, "out of memory for the variants");
    for (size_t i = 0; i < count; i++) {
        const struct defect *variant = config->only_count != 0 ? defect_list_find(config->variants, config->only[i])
                                                               : defect_list_at(config->variants, i);

        if (variant == NULL)
            return iwarp_sentence_set(error, "no variant is called '%s' (warpcheck peer --list-variants names them)",
                                      config->only[i]);
        if (!config->sctp || !prove_llp_is_foreign(variant, config->profile == IWARP_SCTP_DRAFT02, &reason))
            suite->variants[named++] = variant;
        else if (config->only_count != 0)
            return iwarp_sentence_set(error, "no variant can be proved that has no meaning over SCTP, as %s is one: %s",
                                      variant->id, reason.text);
        else
            suite->summary->left_out++;
    }
    for (size_t i = 0; i < named; i++)
        if (config->shard.of == 0 || i % config->shard.of == config->shard.index - 1)
            suite->variants[suite->count++] = suite->variants[i];
    suite->all = suite->count;
    return 0;
}

/*
 * Of the variants that are run, those of the stack over SCTP go to a suite of their own, where --llp does not say so of
 * all.
 */
static int part_with_sctp(struct suite *suite, struct suite *sctp, struct iwarp_sentence *error)
{
    size_t kept = 0;

    sctp->variants = calloc(suite->count + 1, sizeof(*sctp->variants));
    if (sctp->variants == NULL)
        return iwarp_sentence_set(error, "out of memory for the variants");
    for (size_t i = 0; i < suite->count; i++)
        if (!suite->config->sctp && defect_acts_over_sctp(suite->variants[i]))
            sctp->variants[sctp->count++] = suite->variants[i];
        else
            suite->variants[kept++] = suite->variants[i];
    suite->count = sctp->before = kept;
    sctp->all = suite->all;
    return 0;
}

static void note_first_checks(struct suite *suite)
{
    suite->first[0] = suite->first[1] = SIZE_MAX;
    for (size_t i = suite->plan.count; i-- > 0;) {
        const struct plan_item *item = &suite->plan.items[i];

        if (item->skip.text[0] == '\0' && item->check->sctp == IWARP_SCTP_UNDECIDED && !item->check->cm)
            suite->first[strcmp(item->role, "initiator") == 0] = i;
        suite->summary->pairs += item->skip.text[0] == '\0' ? suite->count : 0;
    }
}

/* Finds which variant can change which check, and reports alarms that occur without any variant. */
static int find_meetings(struct suite *suite, struct iwarp_sentence *error)
{
    const struct prove_meets_config config = {
        .runner = runner_of(suite), .rows = suite->variants, .row_count = suite->count, .jobs = suite->config->jobs};

    note_first_checks(suite);
    suite->meets = prove_meets_make(&config, error);
    if (suite->meets == NULL)
        return -1;
    suite->summary->false_alarms += prove_meets_alarms(suite->meets, suite->config->alarm, suite->config->user);
    return 0;
}

static int run_suite(struct suite *suite, const struct plan_config *plan, struct iwarp_sentence *error)
{
    struct prove_work work = {suite->count, suite->config->jobs, run_unit, tell_and_progress, suite};

    if (suite->count == 0)
        return 0;
    if (plan_make(&suite->plan, suite->config->host, plan, error) != 0 || find_meetings(suite, error) != 0)
        return -1;
    return prove_workers_run(&work, error);
}

static void free_suite(struct suite *suite)
{
    prove_meets_free(suite->meets);
    plan_free(&suite->plan);
    free(suite->variants);
}

int prove_variants_run(const struct prove_variants_config *config, struct prove_variants_summary *summary,
                       struct iwarp_sentence *error)
{
    struct suite suite = {.config = config, .summary = summary}, sctp = suite;
    struct plan_config plan = {.catalogue = config->catalogue,
                               .pics = config->pics,
                               .selection = &suite.everything,
                               .every_llp = true,
                               .sctp = config->sctp,
                               .profile = config->profile};
    struct plan_config sctp_plan = plan;
    int status = -1;

    sctp_plan.sctp = sctp_plan.sctp_alone = true;
    memset(summary, 0, sizeof(*summary));
    summary->checks = script_check_count(config->host);
    summary->rules = rule_count();
    if (name_variants(&suite, error) == 0 && part_with_sctp(&suite, &sctp, error) == 0 &&
        run_suite(&suite, &plan, error) == 0)
        status = run_suite(&sctp, &sctp_plan, error);
    if (status == 0 && summary->variants != suite.all)
        status = iwarp_sentence_set(error, "out of memory for what the variants drew");
    free_suite(&suite);
    free_suite(&sctp);
    return status;
}
