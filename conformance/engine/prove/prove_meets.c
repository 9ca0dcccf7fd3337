/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/prove/prove_meets.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/option/shard.h"
#include "conformance/engine/prove/prove_workers.h"

static const char *const role_names[RUN_SERVICES_ROLES] = {"responder", "initiator"};

struct prove_meets {
    const struct prove_meets_config *config; /* while it is made */
    const struct plan *plan;
    size_t row_count;
    uint8_t *met;                          /* by check, then row: a bit each */
    uint64_t *digests;                     /* by check */
    json_t *learned[RUN_SERVICES_ROLES];   /* what was learned, */
    uint8_t *learning[RUN_SERVICES_ROLES]; /* and the rows that it met */
    json_t *alarms;
    bool short_of_memory;
};

/* What one part of the checks has come to, in a worker. */
struct part {
    const struct prove_meets *meets;
    struct defect_set *set;
    size_t number, parts;
    size_t item;
    struct journal_digest journal; /* of the check whose result comes next */
    json_t *checks;                /* [item, digest, [row, ...]] */
    json_t *learned;               /* {"served": ..., "rows": [row, ...]} */
    json_t *alarms;
};

static size_t index_of(const char *role)
{
    return strcmp(role, role_names[1]) == 0;
}

static size_t octets_of(size_t rows)
{
    return (rows + 7) / 8;
}

/*
 * ---- digests ------------------------------------------------------------------------------------------------------
 */

static uint64_t add_text(uint64_t so_far, const char *text)
{
    return digest_text(so_far, text != NULL ? text : "");
}

/* Not the numbers of frames and flows, which go on from check to check. */
static uint64_t digest_result(uint64_t so_far, const struct result *result)
{
    so_far = add_text(so_far, result->id);
    so_far = digest_number(so_far, result->verdict);
    so_far = add_text(so_far, result->role);
    so_far = add_text(so_far, result->expected);
    so_far = add_text(so_far, result->actual);
    so_far = add_text(so_far, result->message);
    so_far = add_text(so_far, result->reading);
    so_far = add_text(so_far, result->cause);
    return digest_number(so_far, result->count);
}

struct journal_digest prove_meets_journal(const struct journal *journal, const struct flow_totals *traffic)
{
    uint64_t digest = DIGEST_START;

    for (size_t i = 0; i < journal->rule_count; i++)
        digest = digest_result(digest, &journal->rules[i].result);
    digest = digest_number(digest, traffic->frames);
    digest = digest_number(digest, traffic->octets);
    digest = digest_number(digest, traffic->fpdus);
    for (size_t i = 0; i < sizeof(traffic->messages) / sizeof(traffic->messages[0]); i++)
        digest = digest_number(digest, traffic->messages[i]);
    return (struct journal_digest){digest};
}

uint64_t prove_meets_digest(const struct journal_digest *journal, const struct result *result)
{
    return digest_result(journal->value, result);
}

/*
 * ---- in a worker --------------------------------------------------------------------------------------------------
 */

/* Numbers of the rows that could have changed what was done since the last call. */
static json_t *rows_met(const struct part *part)
{
    const struct prove_meets_config *config = part->meets->config;
    json_t *rows = json_array();

    for (size_t i = 0; i < config->row_count; i++)
        if (defect_set_asked(part->set, config->rows[i]))
            (void)json_array_append_new(rows, json_integer((json_int_t)i));
    defect_set_forget(part->set);
    return rows;
}

static bool is_others(void *user, const struct plan_item *item)
{
    struct part *part = user;

    part->item = (size_t)(item - part->meets->plan->items);
    defect_set_forget(part->set);
    return part->item % part->parts != part->number;
}

static int on_learned(void *user, json_t *services)
{
    struct part *part = user;

    return json_array_append_new(part->learned, json_pack("{s:O, s:o}", "served", services, "rows", rows_met(part)));
}

static int on_journal(void *user, struct journal *journal, const struct flow_totals *traffic)
{
    struct part *part = user;

    part->journal = prove_meets_journal(journal, traffic);
    return 0;
}

static int on_result(void *user, const struct result *result)
{
    struct part *part = user;
    char text[1024], digest[20];

    if (result->verdict == VERDICT_FAIL || result->verdict == VERDICT_WARN || script_error_matches(result->message)) {
        (void)snprintf(text, sizeof(text), "%s %s %s: %.800s", verdict_name(result->verdict), result->id,
                       result->role != NULL ? result->role : "", result->message != NULL ? result->message : "");
        (void)json_array_append_new(part->alarms, json_string(text));
    }
    if (strcmp(result->by, "check") != 0)
        return 0;
    (void)snprintf(digest, sizeof(digest), "%" PRIx64, prove_meets_digest(&part->journal, result));
    return json_array_append_new(part->checks, json_pack("[I, s, o]", (json_int_t)part->item, digest, rows_met(part)));
}

static json_t *run_part(void *user, size_t number, struct iwarp_sentence *error)
{
    const struct prove_meets *meets = user;
    struct part part = {.meets = meets,
                        .set = defect_set_asking(error),
                        .number = number,
                        .parts = meets->config->jobs,
                        .checks = json_array(),
                        .learned = json_array(),
                        .alarms = json_array()};
    struct runner_config runner = meets->config->runner;
    struct runner_totals totals;
    json_t *row = NULL;

    runner.sim.defects = part.set;
    runner.evidence.folder = -1;
    runner.items = (struct runner_items){.left_out = is_others, .user = &part};
    runner.report =
        (struct runner_report){.journal = on_journal, .learned = on_learned, .result = on_result, .user = &part};
    if (part.set != NULL && runner_run(&runner, &totals, error) == 0)
        row = json_pack("{s:O, s:O, s:O}", "checks", part.checks, "learned", part.learned, "alarms", part.alarms);
    json_decref(part.checks);
    json_decref(part.learned);
    json_decref(part.alarms);
    defect_set_free(part.set);
    return row;
}

/*
 * ---- in the calling process ---------------------------------------------------------------------------------------
 */

static void mark(uint8_t *bits, const json_t *rows, size_t count)
{
    const json_t *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        size_t number = (size_t)json_integer_value(row);

        if (number < count)
            bits[number / 8] |= (uint8_t)(1u << number % 8);
    }
}

/* Each part learns in its own order, and all learn the same. */
static void add_learned(struct prove_meets *meets, const json_t *learned)
{
    json_t *services = json_object_get(learned, "served");
    const char *role = json_string_value(json_object_get(services, "role"));
    size_t i;

    if (role == NULL)
        return;
    i = index_of(role);
    json_decref(meets->learned[i]);
    meets->learned[i] = json_incref(services);
    mark(meets->learning[i], json_object_get(learned, "rows"), meets->row_count);
}

static void on_part(void *user, size_t number, const json_t *row)
{
    struct prove_meets *meets = user;
    const json_t *one;
    size_t i;

    (void)number;
    json_array_foreach(json_object_get(row, "learned"), i, one)
    {
        add_learned(meets, one);
    }
    json_array_foreach(json_object_get(row, "checks"), i, one)
    {
        size_t item = (size_t)json_integer_value(json_array_get(one, 0));
        const char *digest = json_string_value(json_array_get(one, 1));

        if (item >= meets->plan->count || digest == NULL)
            continue;
        meets->digests[item] = strtoull(digest, NULL, 16);
        mark(meets->met + item * octets_of(meets->row_count), json_array_get(one, 2), meets->row_count);
    }
    if (json_array_extend(meets->alarms, json_object_get(row, "alarms")) != 0)
        meets->short_of_memory = true;
}

struct prove_meets *prove_meets_make(const struct prove_meets_config *config, struct iwarp_sentence *error)
{
    struct prove_meets *meets = calloc(1, sizeof(*meets));
    size_t octets = octets_of(config->row_count) + 1;
    struct prove_work work = {config->jobs, config->jobs, run_part, on_part, meets};
    int status = -1;

    if (meets == NULL) {
        (void)iwarp_sentence_set(error, "out of memory for what meets what");
        return NULL;
    }
    meets->config = config;
    meets->plan = config->runner.plan;
    meets->row_count = config->row_count;
    meets->met = calloc(meets->plan->count + 1, octets);
    meets->digests = calloc(meets->plan->count + 1, sizeof(*meets->digests));
    meets->alarms = json_array();
    for (size_t i = 0; i < RUN_SERVICES_ROLES; i++)
        meets->learning[i] = calloc(1, octets);
    if (meets->met == NULL || meets->digests == NULL || meets->alarms == NULL || meets->learning[0] == NULL ||
        meets->learning[1] == NULL)
        (void)iwarp_sentence_set(error, "out of memory for what meets what");
    else
        status = prove_workers_run(&work, error);
    if (status == 0 && meets->short_of_memory)
        status = iwarp_sentence_set(error, "out of memory for what meets what");
    meets->config = NULL;
    if (status == 0)
        return meets;
    prove_meets_free(meets);
    return NULL;
}

void prove_meets_free(struct prove_meets *meets)
{
    if (meets == NULL)
        return;
    for (size_t i = 0; i < RUN_SERVICES_ROLES; i++) {
        json_decref(meets->learned[i]);
        free(meets->learning[i]);
    }
    json_decref(meets->alarms);
    free(meets->digests);
    free(meets->met);
    free(meets);
}

/* ---- queries --------------------------------------------------------------------------------------------------- */

static bool is_marked(const uint8_t *bits, size_t row)
{
    return (bits[row / 8] >> row % 8 & 1) != 0;
}

bool prove_meets_check(const struct prove_meets *meets, size_t item, size_t row)
{
    return is_marked(meets->met + item * octets_of(meets->row_count), row);
}

bool prove_meets_learning(const struct prove_meets *meets, const char *role, size_t row)
{
    return is_marked(meets->learning[index_of(role)], row);
}

bool prove_meets_learned(const struct prove_meets *meets, const json_t *services)
{
    const char *role = json_string_value(json_object_get(services, "role"));

    return role != NULL && json_equal(meets->learned[index_of(role)], services);
}

uint64_t prove_meets_expected(const struct prove_meets *meets, size_t item)
{
    return meets->digests[item];
}

size_t prove_meets_alarms(const struct prove_meets *meets, void (*alarm)(void *user, const char *text), void *user)
{
    size_t count = json_array_size(meets->alarms);

    for (size_t i = 0; i < count; i++)
        alarm(user, json_string_value(json_array_get(meets->alarms, i)));
    return count;
}
