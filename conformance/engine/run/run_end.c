/* SPDX-License-Identifier: BSD-2-Clause */
/* The end of a run: its summary, the reports, and the exit status with its reason. */
#include <inttypes.h>
#include <stdio.h>

#include "conformance/engine/process/run_stop.h"
#include "conformance/engine/rig/device_keeper.h"
#include "conformance/engine/run/run_internal.h"
#include "conformance/engine/run/run_pool.h"
#include "conformance/engine/run/run_traffic.h"
#include "reference-stack/program/complaint.h"
#include "base/out_of_memory.h"

enum { NOT_SERVED_OCTETS = RUN_SERVICES_GAPS_OCTETS + 128 };

/* A result, also one that --resume found. */
static bool is_exercised(const struct run_command *command, size_t index)
{
    const char *id = catalogue_at(command->catalogue, index)->id;

    return command->exercised[index] || results_done_has(command->output.done, id, NULL) ||
           results_done_has(command->output.done, id, "responder") ||
           results_done_has(command->output.done, id, "initiator");
}

/* Requirements that were selected, have a check or a rule, and were decided by neither. */
static uint64_t count_not_exercised(const struct run_command *command)
{
    uint64_t count = 0;

    for (size_t i = 0; i < catalogue_count(command->catalogue); i++)
        count += command->plan.decides[i] && !is_exercised(command, i);
    return count;
}

/* Known deviations that nothing met: the profile says more than is true. */
static void report_unmet(struct run_command *command)
{
    const struct deviation_list *list = &command->profile.deviations;

    for (size_t i = 0; i < list->count; i++) {
        const struct known_deviation *entry = &list->entries[i];

        if (deviation_unmet(list, i) &&
            selection_matches(&command->options.selection, catalogue_find(command->catalogue, entry->requirement)))
            (void)complain(0, "known deviation %s%s%s did not occur in this run", entry->requirement,
                           entry->role != NULL ? " as " : "", entry->role != NULL ? entry->role : "");
    }
}

/*
 * A run that was stopped is inconclusive at best; what failed before has failed. A shard in which nothing was decided
 * says nothing about the whole: the merged report does.
 */
static int exit_status(const struct run_command *command, const struct run_summary *summary)
{
    enum exit_status status = summary_exit_status(summary);

    if (run_pool_is_broken(command->pool)) /* results are lost, and some verdicts with them (docs/trust.md) */
        return EXIT_ENVIRONMENT;
    if (summary->stopped != NULL)
        return summary->fail != 0 ? EXIT_FAILS : EXIT_ENVIRONMENT;
    if (status == EXIT_INCONCLUSIVE && command->script_errors != 0)
        return EXIT_USAGE; /* a script is wrong, and nothing else is known to be */
    if (command->options.shard.of == 0 || status != EXIT_NOTHING_SELECTED)
        return (int)exit_status_accepting(status, command->options.accept_known);
    (void)complain(0, "shard %u/%u: %s", command->options.shard.index, command->options.shard.of,
                   command->plan.count == 0 ? "this shard has no checks; the other shards have them"
                                            : "all of its checks are skipped");
    return EXIT_CONFORMS;
}

/* The summary of the run; `status` other than 0: it was stopped, for the reason in `error`. */
static void fill_summary(struct run_command *command, int status, const struct iwarp_sentence *error,
                         struct run_summary *summary)
{
    *summary = *results_log_summary(command->output.to.log);
    if (status != 0)
        summary->stopped = run_stopped() ? "interrupted" : error->text;
    run_traffic_add(&command->traffic, &command->totals.flow);
    run_traffic_finish(summary, &command->traffic);
    summary->not_exercised = count_not_exercised(command);
    if (command->rig != NULL && command->rig->keeper != NULL)
        summary->restarts = command->rig->keeper->restarts;
}

/* "58 of them, as the device does not serve as responder: a zero-length RDMA Read (...)". Returns `text`. */
static const char *describe_not_served(const struct run_command *command, char text[NOT_SERVED_OCTETS])
{
    char gaps[RUN_SERVICES_GAPS_OCTETS];

    (void)snprintf(text, NOT_SERVED_OCTETS, "%" PRIu64 " %s because the device does not serve,%s", command->not_served,
                   command->not_served == 1 ? "is inconclusive" : "are inconclusive",
                   run_services_gaps(&command->services, gaps));
    return text;
}

/*
 * Why the status is 4 though nothing stopped the run (docs/trust.md): what could not be decided, and what was not
 * judged.
 */
static void explain_inconclusive(const struct run_command *command, const struct run_summary *summary)
{
    bool has_gaps = summary_has_gaps(summary), lost = command->unreached != 0;
    char gaps[JUDGED_GAPS_OCTETS], count[80] = "", text[NOT_SERVED_OCTETS] = "", reached[400] = "";

    if (summary->inconclusive != 0)
        (void)snprintf(count, sizeof(count), "%" PRIu64 " %s could not be decided; each says why",
                       summary->inconclusive, summary->inconclusive == 1 ? "result" : "results");
    if (command->not_served != 0)
        (void)describe_not_served(command, text);
    if (lost)
        (void)snprintf(reached, sizeof(reached), "; %" PRIu64 " of them: %.300s", command->unreached,
                       command->lost.text);
    (void)complain(0, "inconclusive: %s%s%s%s%s%s%s%s", count, reached, text[0] != '\0' ? "; " : "", text,
                   count[0] != '\0' && has_gaps ? "; " : "", has_gaps ? "not judged" : "",
                   has_gaps ? judged_output_gaps(&summary->account, gaps) : "",
                   has_gaps ? ", although it is or may be iWARP" : "");
}

int run_end(struct run_command *command, int status, struct iwarp_sentence *error)
{
    const char *output = command->options.output;
    struct iwarp_sentence report_error;
    struct run_summary summary;
    char ended[UTC_TEXT_OCTETS], text[NOT_SERVED_OCTETS];
    int result;

    if (status == 0 && out_of_memory_noted())
        status = iwarp_sentence_set(error, "out of memory: not everything was judged");
    fill_summary(command, status, error, &summary);
    summary.ended = utc_text(ended);
    if (command->log_error.text[0] != '\0' ||
        judged_output_end(&command->output.to, &summary, &command->log_error) != 0)
        return complain(EXIT_ENVIRONMENT, "%s", command->log_error.text);
    /*
     * Another shard, the checks that a stopped run or a lost device left out, or those that own scripts stand in for may
     * meet it.
     */
    if (command->options.shard.of == 0 && command->options.script_count == 0 && !command->totals.stopped)
        report_unmet(command);
    if (judged_output_report(&command->output.to, &command->options.format, command->catalogue, &report_error) != 0)
        return complain(EXIT_ENVIRONMENT, "%s", report_error.text);
    terminal_clear(&command->terminal);
    if (status == 0 && out_of_memory_noted())
        status = iwarp_sentence_set(error, "out of memory: not everything was reported");
    command->terminal.unfinished = status != 0;
    judged_output_summary(&command->terminal, &command->options.format, &summary, output);
    if (status != 0)
        (void)complain(EXIT_ENVIRONMENT, "%s",
                       !run_stopped()   ? error->text
                       : output != NULL ? "interrupted; --resume continues the run"
                                        : "interrupted");
    result = exit_status(command, &summary);
    if (status == 0 && command->script_errors != 0)
        (void)complain(0, "%" PRIu64 " %s not run to the end, because the script has an error: its result says where",
                       command->script_errors, command->script_errors == 1 ? "check was" : "checks were");
    else if (status == 0 && result == EXIT_INCONCLUSIVE)
        explain_inconclusive(command, &summary);
    else if (command->not_served != 0)
        (void)complain(0, "%s", describe_not_served(command, text));
    return result;
}
