/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/prove/prove_variants.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/prove/prove_llp.h"
#include "conformance/engine/prove/prove_workers.h"
#include "conformance/engine/run/runner.h"

struct suite {
    const struct prove_variants_config *config;
    struct plan plan;
    struct selection everything;
    const struct defect **variants; /* what is run */
    size_t count;
    struct prove_variants_summary *summary;
};

/* What one variant has drawn so far. */
struct drawn {
    const struct defect *variant;
    json_t *surplus; /* in words */
    json_t *warned;  /* an object: ids of its row with a WARN */
    size_t undecided;
};

static int on_result(void *user, const struct result *result)
{
    struct drawn *drawn = user;
    char text[1024];

    if (result->verdict == VERDICT_INCONCLUSIVE)
        drawn->undecided++;
    if (result->verdict == VERDICT_WARN && variant_warns(drawn->variant, result->id)) {
        (void)json_object_set_new(drawn->warned, result->id, json_true());
        return 0;
    }
    if (result->verdict != VERDICT_FAIL && result->verdict != VERDICT_WARN && !script_error_tells(result->message))
        return 0;
    (void)snprintf(text, sizeof(text), "%s %s %s %s: %s; expected %s; got %s", verdict_name(result->verdict),
                   result->id, result->role != NULL ? result->role : "", result->script != NULL ? result->script : "",
                   result->message != NULL ? result->message : "", result->expected != NULL ? result->expected : "-",
                   result->actual != NULL ? result->actual : "-");
    (void)json_array_append_new(drawn->surplus, json_string(text));
    return 0;
}

/* The ids that the row names, and that have reported nothing. */
static json_t *unseen_of(const struct drawn *drawn)
{
    json_t *unseen = json_array();

    for (const char *at = drawn->variant->warns; *at != '\0';) {
        size_t octets = strcspn(at, ",");
        json_t *id = json_stringn(at, octets);

        if (json_object_get(drawn->warned, json_string_value(id)) == NULL)
            (void)json_array_append(unseen, id);
        json_decref(id);
        at += octets;
        at += *at == ',';
    }
    return unseen;
}

/* Checks of a lower layer that the variant does not touch cannot meet it. */
static bool cannot_meet(void *user, const struct plan_item *item)
{
    const struct drawn *drawn = user;

    return item->check->cm != defect_acts_over_cm(drawn->variant);
}

/* In a worker. */
static json_t *run_unit(void *user, size_t number, struct sentence *error)
{
    const struct suite *suite = user;
    const struct prove_variants_config *config = suite->config;
    struct drawn drawn = {suite->variants[number], json_array(), json_object(), 0};
    struct runner_config runner = {
        .host = config->host,
        .plan = &suite->plan,
        .selection = &suite->everything,
        .catalogue = config->catalogue,
        .sim = {.seed = config->seed},
        .evidence = -1,
        .done = cannot_meet,
        .result = on_result,
        .user = &drawn,
    };
    struct defect_set *set = defect_set_new(config->variants, &drawn.variant->id, 1, error);
    struct runner_totals totals;
    json_t *row = NULL;

    runner.sim.defects = set;
    if (set != NULL && runner_run(&runner, &totals, error) == 0)
        row = json_pack("{s:O, s:o, s:I}", "surplus", drawn.surplus, "unseen",
                        config->sctp ? json_array() : unseen_of(&drawn), "undecided", (json_int_t)drawn.undecided);
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

static void tell(void *user, size_t number, const json_t *row)
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
    };

    outcome.good = outcome.surplus_count == 0 && outcome.unseen_count == 0;
    if (surplus_texts != NULL && unseen_ids != NULL) {
        suite->summary->variants++;
        suite->summary->good += outcome.good;
        suite->summary->undecided += outcome.undecided;
        suite->config->outcome(suite->config->user, &outcome);
    }
    free(surplus_texts);
    free(unseen_ids);
}

static void tell_and_progress(void *user, size_t number, const json_t *row)
{
    const struct suite *suite = user;
    const struct prove_variants_config *config = suite->config;

    tell(user, number, row);
    if (config->progress != NULL)
        config->progress(config->user, number + 1, suite->count);
}

/* Over SCTP, those that have no meaning there are left out: they do nothing. */
static int name_variants(struct suite *suite, struct sentence *error)
{
    size_t named = 0;
    const struct prove_variants_config *config = suite->config;
    size_t count = config->only_count != 0 ? config->only_count : defect_list_count(config->variants);
    struct prove_llp_reason reason;

    suite->variants = calloc(count + 1, sizeof(*suite->variants));
    if (suite->variants == NULL)
        return sentence_set(error, "out of memory for the variants");
    for (size_t i = 0; i < count; i++) {
        const struct defect *variant = config->only_count != 0 ? defect_list_find(config->variants, config->only[i])
                                                               : defect_list_at(config->variants, i);

        if (variant == NULL)
            return sentence_set(error, "no variant is called '%s' (warpcheck peer --list-variants names them)",
                                config->only[i]);
        if (!config->sctp || !prove_llp_is_foreign(variant, config->profile == DDP_SCTP_DRAFT02, &reason))
            suite->variants[named++] = variant;
        else if (config->only_count != 0)
            return sentence_set(error, "no variant can be proved that has no meaning over SCTP, as %s is one: %s",
                                variant->id, reason.text);
        else
            suite->summary->left_out++;
    }
    for (size_t i = 0; i < named; i++)
        if (config->shard.of == 0 || i % config->shard.of == config->shard.index - 1)
            suite->variants[suite->count++] = suite->variants[i];
    return 0;
}

int prove_variants_run(const struct prove_variants_config *config, struct prove_variants_summary *summary,
                       struct sentence *error)
{
    struct suite suite = {.config = config, .summary = summary};
    struct plan_config plan = {.catalogue = config->catalogue,
                               .pics = config->pics,
                               .selection = &suite.everything,
                               .every_llp = true,
                               .sctp = config->sctp,
                               .profile = config->profile};
    struct prove_work work = {0, config->jobs, run_unit, tell_and_progress, &suite};
    int status = -1;

    memset(summary, 0, sizeof(*summary));
    summary->checks = script_check_count(config->host);
    summary->rules = rule_count();
    if (plan_make(&suite.plan, config->host, &plan, error) == 0 && name_variants(&suite, error) == 0) {
        work.units = suite.count;
        status = prove_workers_run(&work, error);
    }
    if (status == 0 && summary->variants != suite.count)
        status = sentence_set(error, "out of memory for what the variants drew");
    plan_free(&suite.plan);
    free(suite.variants);
    return status;
}
