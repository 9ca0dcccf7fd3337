/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/run/run_worker.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "conformance/engine/process/run_stop.h"
#include "conformance/engine/run/run_resume.h"
#include "conformance/engine/run/run_start.h"
#include "conformance/engine/run/run_traffic.h"
#include "base/out_of_memory.h"

struct worker {
    struct run_command *command;
    int orders;
    FILE *answers;
    size_t place; /* of the check in the plan */
    struct runner_after after;
    json_t *journal; /* of the check that is being run */
};

/* Takes the reference; NULL: out of memory. */
static int say(const struct worker *worker, json_t *line)
{
    int status = line != NULL && json_dumpf(line, worker->answers, JSON_COMPACT) == 0 &&
                         fputc('\n', worker->answers) != EOF && fflush(worker->answers) == 0
                     ? 0
                     : -1;

    json_decref(line);
    return status;
}

/* Waits until there is work, or none any more. */
static const struct plan_item *on_next(void *user)
{
    struct worker *worker = user;
    const struct plan *plan = &worker->command->plan;
    ssize_t got;

    do
        got = read(worker->orders, &worker->place, sizeof(worker->place));
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof(worker->place) && worker->place < plan->count ? &plan->items[worker->place] : NULL;
}

static unsigned on_repeated(void *user, const struct plan_item *item)
{
    const struct worker *worker = user;

    return run_resume_repeated(worker->command->output.done, item);
}

static void on_after(void *user, const struct runner_after *after)
{
    struct worker *worker = user;

    worker->after = *after;
}

static int on_journal(void *user, struct journal *journal, const struct flow_totals *traffic)
{
    struct worker *worker = user;

    run_traffic_add(&journal->traffic, traffic);
    json_decref(worker->journal);
    worker->journal = journal_to_json(journal);
    return worker->journal != NULL ? 0 : -1;
}

/* Whether a rule's finding is known decides which of them the journal keeps. */
static enum verdict on_judged(void *user, const struct result *found)
{
    struct worker *worker = user;

    return run_judge_verdict(worker->command, found);
}

/* What the rules found at the end is in the journals. */
static int on_result(void *user, const struct result *result)
{
    struct worker *worker = user;
    const struct runner_after *after = &worker->after;
    json_t *line, *journal = worker->journal;

    if (strcmp(result->by, "check") != 0)
        return 0;
    worker->journal = NULL;
    line = json_pack("{s:I, s:o, s:o, s:b, s:b, s:s*, s:s*}", "unit", (json_int_t)worker->place, "journal", journal,
                     "result", result_to_json(result), "unready", after->unready, "ready", after->ready, "dead",
                     after->dead, "lost", after->lost);
    return say(worker, line);
}

static int fail(const struct worker *worker, const struct iwarp_sentence *error)
{
    (void)say(worker, json_pack("{s:s}", "error", error->text));
    return 1;
}

static int run_checks(struct run_command *command, struct worker *worker)
{
    struct runner_config config;
    struct run_start_texts texts;
    struct runner_totals totals;
    struct run_summary rest = {0};
    struct iwarp_sentence error = {{0}};

    run_start_configure(command, &config, &texts);
    config.is_worker = true;
    config.evidence.output = NULL; /* what rules found at the end is reported by the run, not here */
    config.items = (struct runner_items){.next = on_next, .user = worker};
    config.history = (struct runner_history){.repeated = on_repeated, .user = worker};
    config.report = (struct runner_report){
        .judged = on_judged, .after = on_after, .journal = on_journal, .result = on_result, .user = worker};
    if (runner_run(&config, &totals, &error) != 0)
        return fail(worker, &error);
    run_traffic_add(&rest, &totals.flow);
    return say(worker, json_pack("{s:o}", "end", run_summary_to_json(&rest))) == 0 && !out_of_memory_noted() ? 0 : 1;
}

int run_worker_live(struct run_command *command, unsigned number, pid_t parent, int orders, int answers)
{
    struct worker worker = {.command = command, .orders = orders, .answers = fdopen(answers, "w")};
    struct iwarp_sentence error = {{0}};
    int status;

    if (worker.answers == NULL || run_stop_child(parent) != 0)
        return 1;
    if (command->place != NULL)
        command->place = &command->profile.beside[number];
    if (run_start_rig(command, false, &error) != 0)
        return fail(&worker, &error);
    status = run_checks(command, &worker);
    rig_free(command->rig);
    json_decref(worker.journal);
    return status;
}
