/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/explore/explore_batch.h"

#include <stdlib.h>
#include <string.h>

#include "conformance/engine/process/run_stop.h"
#include "reference-stack/validation/validation.h"

enum { DEATHS_MOST = 20 }; /* of a device in a batch, after which the sessions that are left stay undecided */

/* What became of a session. */
struct session_outcome {
    bool played, skipped, undecided, failed;
    char *reason; /* of the last that it was skipped or undecided for */
};

struct batch {
    const struct explore_config *config;
    uint64_t first;
    struct session_outcome outcomes[EXPLORE_LIVE_BATCH]; /* by number, from the first */
    json_t *failures;                                    /* the first of each session */
};

_Static_assert((int)EXPLORE_BATCH <= (int)EXPLORE_LIVE_BATCH, "a batch has an outcome for each session");

/* ---- what is found ----------------------------------------------------------------------------------------------- */

static void note_outcome(struct session_outcome *outcome, const struct result *result)
{
    outcome->played = true;
    outcome->skipped = result->verdict == VERDICT_SKIP;
    outcome->undecided = result->verdict == VERDICT_INCONCLUSIVE || result->verdict == VERDICT_AMBIGUOUS;
    if (!outcome->skipped && !outcome->undecided)
        return;
    free(outcome->reason);
    outcome->reason = strdup(result->message != NULL ? result->message : "no reason given");
}

static void note_failure(struct batch *batch, const struct session *session, const struct result *result)
{
    const struct session_live *live = batch->config->device->live;
    char *cause = explore_cause(result);

    (void)json_array_append_new(
        batch->failures,
        json_pack("{s:s?, s:I, s:I, s:s, s:s?, s:s?, s:s?, s:s?}", "cause", cause, "number",
                  (json_int_t)session->number, "run", (json_int_t)(live != NULL ? live->runs + 1 : 0), "verdict",
                  verdict_name(result->verdict), "id", result_is_by_rule(result) ? result->id : NULL, "message",
                  result->message, "expected", result->expected, "actual", result->actual));
    free(cause);
}

static void on_found(void *user, struct session *session, const struct result *result)
{
    struct batch *batch = user;
    struct session_outcome *outcome = &batch->outcomes[session->number - batch->first];

    if (!result_is_by_rule(result))
        note_outcome(outcome, result);
    if (outcome->failed || !explore_fails(batch->config, result))
        return;
    outcome->failed = true;
    note_failure(batch, session, result);
}

/* ---- what a lost device has left --------------------------------------------------------------------------------- */

/* The undecided sessions, moved to the front in their order; how many. */
static size_t undecided_first(const struct batch *batch, struct session *sessions, size_t count)
{
    size_t left = 0;

    for (size_t i = 0; i < count; i++) {
        if (!batch->outcomes[sessions[i].number - batch->first].undecided)
            continue;
        if (left != i) {
            struct session keep = sessions[i];

            sessions[i] = sessions[left];
            sessions[left] = keep;
        }
        left++;
    }
    return left;
}

static int by_number(const void *a, const void *b)
{
    const struct session *one = a, *other = b;

    return one->number < other->number ? -1 : one->number > other->number;
}

/*
 * A device that is gone leaves the sessions undecided that come after the one that it did not survive. They are played
 * again without the first, which is that one.
 */
static int play_rest(struct batch *batch, struct session *sessions, size_t count, struct iwarp_sentence *error)
{
    const struct explore_config *config = batch->config;
    size_t left = undecided_first(batch, sessions, count);
    unsigned undecided_runs = 0; /* in a row: perhaps the device is gone for good */

    for (int i = 0; i < DEATHS_MOST && left > 1 && undecided_runs < 2 && !run_stopped(); i++) {
        size_t before = --left;

        qsort(sessions, left + 1, sizeof(*sessions), by_number);
        sessions++;
        if (session_run(&config->world, config->device, sessions, left, on_found, NULL, batch, error) != 0)
            return -1;
        left = undecided_first(batch, sessions, left);
        undecided_runs = left == before ? undecided_runs + 1 : 0;
    }
    return 0;
}

/* ---- the batch --------------------------------------------------------------------------------------------------- */

static json_t *bits_of(const bool *set)
{
    json_t *list = json_array();

    for (size_t i = 0; i < validation_count; i++)
        if (set[i])
            (void)json_array_append_new(list, json_integer((json_int_t)i));
    return list;
}

/* The counts, and of the first that was skipped, or could not be decided, the reason. */
static void add_outcomes(const struct batch *batch, size_t count, json_t *row)
{
    json_int_t played = 0, skipped = 0, undecided = 0;

    for (size_t i = 0; i < count; i++) {
        const struct session_outcome *outcome = &batch->outcomes[i];

        played += outcome->played;
        if (outcome->skipped && skipped++ == 0)
            (void)json_object_set_new(row, "skipped_reason", json_string(outcome->reason));
        if (!outcome->undecided || undecided++ != 0)
            continue;
        (void)json_object_set_new(row, "reason", json_string(outcome->reason));
        (void)json_object_set_new(row, "undecided_number", json_integer((json_int_t)batch->first + (json_int_t)i));
    }
    (void)json_object_set_new(row, "sessions", json_integer(played));
    (void)json_object_set_new(row, "skipped", json_integer(skipped));
    (void)json_object_set_new(row, "undecided", json_integer(undecided));
}

static bool any_played(const struct batch *batch, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (batch->outcomes[i].played)
            return true;
    return false;
}

static int play(struct batch *batch, struct session_device *oracle, struct session *sessions, size_t count,
                struct explore_summary *seen, struct iwarp_sentence *error)
{
    const struct explore_config *config = batch->config;

    if (explore_make(config, oracle, sessions, batch->first, count, seen, error) != 0 ||
        session_run(&config->world, config->device, sessions, count, on_found, NULL, batch, error) != 0)
        return -1;
    return config->device->live != NULL ? play_rest(batch, sessions, count, error) : 0;
}

json_t *explore_batch(const struct explore_config *config, struct session_device *oracle, struct session *sessions,
                      uint64_t first, size_t count, struct iwarp_sentence *error)
{
    bool met[VALIDATIONS_MAX] = {0}, refused[VALIDATIONS_MAX] = {0};
    struct explore_summary seen = {.met = met, .refused = refused};
    struct batch *batch = calloc(1, sizeof(*batch));
    json_t *row = NULL;

    if (batch == NULL) {
        (void)iwarp_sentence_set(error, "out of memory for sessions");
        return NULL;
    }
    batch->config = config;
    batch->first = first;
    batch->failures = json_array();
    if (play(batch, oracle, sessions, count, &seen, error) == 0 || (run_stopped() && any_played(batch, count))) {
        row = json_pack("{s:O, s:I, s:o, s:o}", "failures", batch->failures, "wrong", (json_int_t)seen.wrong, "met",
                        bits_of(met), "refused", bits_of(refused));
        if (row != NULL)
            add_outcomes(batch, count, row);
    }
    for (size_t i = 0; i < count; i++)
        free(batch->outcomes[i].reason);
    json_decref(batch->failures);
    free(batch);
    return row;
}
