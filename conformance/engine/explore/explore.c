/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/explore/explore.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/explore/explore_batch.h"
#include "conformance/engine/explore/session_deviation.h"
#include "conformance/engine/explore/session_generator.h"
#include "conformance/engine/explore/session_prediction.h"
#include "conformance/engine/process/run_stop.h"
#include "conformance/engine/prove/prove_workers.h"
#include "reference-stack/validation/validation.h"

/* ---- sessions and what they allow -------------------------------------------------------------------------------- */

struct predicting {
    const struct explore_config *config;
    struct defect_set *asking;
    struct explore_summary *summary; /* NULL: coverage is not counted */
};

static void forget(void *user)
{
    const struct predicting *predicting = user;

    defect_set_forget(predicting->asking);
}

static void count_coverage(const struct predicting *predicting)
{
    for (size_t i = 0; predicting->summary != NULL && i < validation_count; i++) {
        predicting->summary->met[i] |= defect_set_judged(predicting->asking, i);
        predicting->summary->refused[i] |= defect_set_refused(predicting->asking, i);
    }
}

static void predict(void *user, struct session *session, const struct result *result)
{
    const struct predicting *predicting = user;
    struct prediction_seen seen = {.asking = predicting->asking};

    if (result_is_by_rule(result))
        return;
    if (result->verdict == VERDICT_AMBIGUOUS)
        seen.reaction = result->reading;
    session_predict(session, &seen, predicting->config->variants);
    count_coverage(predicting);
    defect_set_forget(predicting->asking);
}

/* The sessions with something wrong, moved to the front; returns how many there are. */
static size_t wrong_first(struct session *sessions, size_t count)
{
    size_t wrong = 0;

    for (size_t i = 0; i < count; i++) {
        struct session keep = sessions[i];

        if (!session_is_wrong(&keep))
            continue;
        sessions[i] = sessions[wrong];
        sessions[wrong++] = keep;
    }
    return wrong;
}

int explore_predict(const struct explore_config *config, struct session_device *oracle, struct session *sessions,
                    size_t count, struct explore_summary *summary, struct iwarp_sentence *error)
{
    struct predicting predicting = {.config = config, .asking = oracle->defects, .summary = summary};
    size_t wrong = wrong_first(sessions, count);

    for (size_t i = 0; i < wrong; i++)
        sessions[i].reaction_count = 0;
    if (summary != NULL)
        summary->wrong += wrong;
    return wrong == 0 ? 0 : session_run(&config->world, oracle, sessions, wrong, predict, forget, &predicting, error);
}

int explore_make(const struct explore_config *config, struct session_device *oracle, struct session *sessions,
                 uint64_t number, size_t count, struct explore_summary *summary, struct iwarp_sentence *error)
{
    for (size_t i = 0; i < count; i++) {
        struct session_draw draw;

        session_generate(config->seed, number + i, config->world.sctp, &sessions[i], &draw);
        if (session_below(&draw, 100) < config->wrong)
            session_deviate(&sessions[i], &draw);
    }
    return explore_predict(config, oracle, sessions, count, summary, error);
}

/* ---- what was found ---------------------------------------------------------------------------------------------- */

bool explore_fails(const struct explore_config *config, const struct result *result)
{
    return result->verdict == VERDICT_FAIL || (config->warns && result->verdict == VERDICT_WARN) ||
           (result->verdict == VERDICT_INCONCLUSIVE && config->device->live == NULL &&
            run_services_are_cause(result->message));
}

/* The words of a text, with a '#' for each number. */
static void append_words(char *out, size_t room, const char *text)
{
    size_t used = strlen(out);

    for (; text != NULL && *text != '\0' && used + 1 < room; text++) {
        bool digit =
            isxdigit((unsigned char)*text) && (isdigit((unsigned char)*text) || (used > 0 && out[used - 1] == '#'));

        if (!digit)
            out[used++] = *text;
        else if (used == 0 || out[used - 1] != '#')
            out[used++] = '#';
    }
    out[used] = '\0';
}

char *explore_cause(const struct result *result)
{
    char text[400] = "";

    if (result_is_by_rule(result))
        (void)snprintf(text, sizeof(text), "rule %s", result->id);
    else
        append_words(text, sizeof(text), result->message != NULL ? result->message : "no message");
    if (strncmp(text, "how the device reacts", 21) == 0 && result->actual != NULL) {
        size_t used = strlen(text);

        (void)snprintf(text + used, sizeof(text) - used, ": %.*s in place of %.60s", (int)strcspn(result->actual, ";"),
                       result->actual, result->expected != NULL ? result->expected : "");
    }
    return strdup(text);
}

static struct explore_group *group_of(struct explore_summary *summary, const char *cause)
{
    struct explore_group *grown;

    for (size_t i = 0; i < summary->group_count; i++)
        if (strcmp(summary->groups[i].cause, cause) == 0)
            return &summary->groups[i];
    grown = realloc(summary->groups, (summary->group_count + 1) * sizeof(*grown));
    if (grown == NULL)
        return NULL;
    summary->groups = grown;
    memset(&grown[summary->group_count], 0, sizeof(*grown));
    grown[summary->group_count].cause = strdup(cause);
    return &grown[summary->group_count++];
}

static char *copy_of(const json_t *row, const char *name)
{
    const char *text = json_string_value(json_object_get(row, name));

    return text != NULL ? strdup(text) : NULL;
}

static void add_failure(struct explore_summary *summary, const json_t *failure)
{
    const char *cause = json_string_value(json_object_get(failure, "cause"));
    struct explore_group *group = cause != NULL ? group_of(summary, cause) : NULL;

    if (group == NULL)
        return;
    if (group->count++ != 0)
        return;
    group->number = (uint64_t)json_integer_value(json_object_get(failure, "number"));
    group->run = (unsigned)json_integer_value(json_object_get(failure, "run"));
    group->verdict = copy_of(failure, "verdict");
    group->id = copy_of(failure, "id");
    group->message = copy_of(failure, "message");
    group->expected = copy_of(failure, "expected");
    group->actual = copy_of(failure, "actual");
}

/* ---- batches ----------------------------------------------------------------------------------------------------- */

struct exploring {
    const struct explore_config *config;
    struct explore_summary *summary;
    struct session_device oracle;
    struct session *sessions; /* room for a batch */
};

static size_t batch_size(const struct explore_config *config)
{
    return config->device->live != NULL && !config->first_only ? EXPLORE_LIVE_BATCH : EXPLORE_BATCH;
}

static size_t batch_count(const struct explore_config *config)
{
    return (size_t)((config->sessions + batch_size(config) - 1) / batch_size(config));
}

static json_t *run_batch(void *user, size_t number, struct iwarp_sentence *error)
{
    struct exploring *exploring = user;
    const struct explore_config *config = exploring->config;
    uint64_t first = (uint64_t)number * batch_size(config), left = config->sessions - first;

    return explore_batch(config, &exploring->oracle, exploring->sessions, config->first + first,
                         left < batch_size(config) ? (size_t)left : batch_size(config), error);
}

static void merge_bits(bool *set, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_int_t entry = json_integer_value(json_array_get(list, i));

        if (entry >= 0 && (size_t)entry < validation_count)
            set[entry] = true;
    }
}

static void on_batch(void *user, size_t number, const json_t *row)
{
    struct exploring *exploring = user;
    struct explore_summary *summary = exploring->summary;
    const struct explore_config *config = exploring->config;
    const json_t *failures = json_object_get(row, "failures");
    uint64_t undecided = (uint64_t)json_integer_value(json_object_get(row, "undecided"));

    summary->sessions += (uint64_t)json_integer_value(json_object_get(row, "sessions"));
    summary->wrong += (uint64_t)json_integer_value(json_object_get(row, "wrong"));
    summary->failed += json_array_size(failures);
    if (summary->undecided == 0 && undecided != 0) {
        summary->reason = copy_of(row, "reason");
        summary->undecided_number = (uint64_t)json_integer_value(json_object_get(row, "undecided_number"));
    }
    summary->undecided += undecided;
    summary->skipped += (uint64_t)json_integer_value(json_object_get(row, "skipped"));
    if (summary->skipped_reason == NULL)
        summary->skipped_reason = copy_of(row, "skipped_reason");
    for (size_t i = 0; i < json_array_size(failures); i++)
        add_failure(summary, json_array_get(failures, i));
    merge_bits(summary->met, json_object_get(row, "met"));
    merge_bits(summary->refused, json_object_get(row, "refused"));
    if (config->progress != NULL)
        config->progress(config->user, number + 1, batch_count(config));
}

/* In this process, so that the first failure can end it. */
static int run_alone(struct exploring *exploring, struct iwarp_sentence *error)
{
    for (size_t i = 0; i < batch_count(exploring->config); i++) {
        json_t *row = run_batch(exploring, i, error);

        if (row == NULL)
            return -1;
        on_batch(exploring, i, row);
        json_decref(row);
        exploring->summary->stopped =
            run_stopped() || (exploring->config->first_only && exploring->summary->group_count != 0);
        if (exploring->summary->stopped)
            break;
    }
    return 0;
}

int explore_run(const struct explore_config *config, struct explore_summary *summary, struct iwarp_sentence *error)
{
    struct exploring exploring = {.config = config, .summary = summary};
    struct prove_work work = {batch_count(config), config->jobs, run_batch, on_batch, &exploring};
    int status = -1;

    memset(summary, 0, sizeof(*summary));
    summary->met = calloc(VALIDATIONS_MAX, sizeof(bool));
    summary->refused = calloc(VALIDATIONS_MAX, sizeof(bool));
    exploring.sessions = calloc(batch_size(config), sizeof(*exploring.sessions));
    exploring.oracle.defects = defect_set_asking(error);
    if (summary->met == NULL || summary->refused == NULL || exploring.sessions == NULL)
        (void)iwarp_sentence_set(error, "out of memory for sessions");
    else if (exploring.oracle.defects != NULL)
        status = config->first_only || config->jobs == 1 || config->device->live != NULL
                     ? run_alone(&exploring, error)
                     : prove_workers_run(&work, error);
    run_services_free(&exploring.oracle.services);
    defect_set_free(exploring.oracle.defects);
    free(exploring.sessions);
    return status;
}

void explore_summary_free(struct explore_summary *summary)
{
    for (size_t i = 0; i < summary->group_count; i++) {
        struct explore_group *group = &summary->groups[i];

        free(group->cause);
        free(group->verdict);
        free(group->id);
        free(group->message);
        free(group->expected);
        free(group->actual);
        free(group->reduced);
    }
    free(summary->groups);
    free(summary->reason);
    free(summary->skipped_reason);
    free(summary->met);
    free(summary->refused);
    memset(summary, 0, sizeof(*summary));
}
