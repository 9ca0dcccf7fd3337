/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/results/results_stopped.h"

#include <string.h>

/* Adds the journal that waits; `repeated`: its check's result has not come after it. */
static int settle(struct stopped *stopped, bool repeated)
{
    struct journal journal;
    int rc = 0;

    if (!stopped->pending)
        return 0;
    if (!stopped->pool)
        stopped->pool = rule_pool_new();
    if (!stopped->pool)
        return -1;
    if (journal_from_json(stopped->pending, &journal) == 0) {
        rc = rule_pool_add(stopped->pool, &journal, repeated);
        journal_free(&journal);
    }
    json_decref(stopped->pending);
    stopped->pending = NULL;
    return rc;
}

int stopped_journal(struct stopped *stopped, json_t *object)
{
    int rc = settle(stopped, true);

    stopped->pending = json_incref(object);
    return rc;
}

/* A rule has one result for each role. */
static int set_reported(struct stopped *stopped, const struct result *result)
{
    json_t **reported = &stopped->reported[role_slot(result->role)];

    if (!*reported)
        *reported = json_object();
    return json_object_set_new(*reported, result->id, json_true());
}

static bool is_reported(const struct stopped *stopped, const struct result *result)
{
    return json_object_get(stopped->reported[role_slot(result->role)], result->id) != NULL;
}

int stopped_result(struct stopped *stopped, const struct result *result)
{
    struct journal journal;
    bool of;

    if (result_is_by_rule(result))
        return set_reported(stopped, result);
    if (!stopped->pending)
        return 0;
    of = journal_from_json(stopped->pending, &journal) == 0 && journal_is_of(&journal, result->id, result->role);
    journal_free(&journal);
    return settle(stopped, !of);
}

int stopped_rules(struct stopped *stopped, json_t *object)
{
    json_decref(stopped->functions);
    stopped->functions = json_incref(json_object_get(object, "functions"));
    return 0;
}

int stopped_finish(struct stopped *stopped, stopped_function *added, stopped_function *beside, void *user,
                   struct iwarp_sentence *error)
{
    const struct rule_pool_entry *entry;
    int rc = 0;

    if (stopped->done)
        return 0;
    stopped->done = true;
    if (settle(stopped, true) != 0)
        return iwarp_sentence_set(error, "out of memory for the rules' findings");
    entry = stopped->pool ? rule_pool_first(stopped->pool) : NULL;
    for (; rc == 0 && entry; entry = rule_pool_next(entry)) {
        stopped_function *function = rule_pool_adds(entry) ? added : stopped->shard ? beside : NULL;
        struct result result = entry->result;
        json_t *object;

        if (!function || is_reported(stopped, &result))
            continue;
        if (entry->judged.known) {
            result.verdict = entry->judged.verdict;
            result.message = entry->judged.message;
            result.finding = entry->judged.finding;
            result.deviation = entry->judged.deviation;
            result.review_by = entry->judged.review_by;
        }
        if (!result.script)
            result.script = json_string_value(json_object_get(stopped->functions, result.id));
        object = result_to_json(&result);
        if (!object || result_from_json(object, &result) != 0) /* a reader keeps the strings by keeping the object */
            rc = iwarp_sentence_set(error, "out of memory for the rules' findings");
        else
            rc = function(user, &result, object);
        json_decref(object);
    }
    return rc;
}

void stopped_free(struct stopped *stopped)
{
    rule_pool_free(stopped->pool);
    json_decref(stopped->pending);
    json_decref(stopped->functions);
    for (unsigned role = 0; role < ROLE_SLOTS; role++)
        json_decref(stopped->reported[role]);
    *stopped = (struct stopped){0};
}
