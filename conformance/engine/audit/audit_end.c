/* SPDX-License-Identifier: BSD-2-Clause */
/* The end of an audit: its summary, the reports, and the exit status with its reason. */
#include <inttypes.h>
#include <stdio.h>

#include "conformance/engine/audit/audit_internal.h"
#include "conformance/engine/judge/flow_judge.h"
#include "conformance/engine/process/run_stop.h"
#include "conformance/requirements/catalogue.h"
#include "conformance/requirements/select.h"
#include "reference-stack/program/complaint.h"
#include "base/out_of_memory.h"

static void fill_summary(const struct audit *audit, struct run_summary *summary)
{
    *summary = audit->counted;
    judged_traffic(summary, &audit->totals);
    summary->allow_gaps = audit->options->allow_gaps;
    for (size_t i = 0; i < catalogue_count(audit->catalogue); i++)
        if (selection_matches(&audit->options->selection, catalogue_at(audit->catalogue, i)))
            summary->not_exercised += !audit->seen[i].exercised;
}

/* Nothing was decided by any rule. */
static bool is_undecided(const struct run_summary *summary)
{
    return summary->pass + summary->fail + summary->known + summary->warn + summary->inconclusive +
               summary->ambiguous ==
           0;
}

/* Explains from the totals why nothing was judged. */
static void explain_nothing(const struct audit *audit)
{
    const struct flow_totals *totals = &audit->totals;

    if (audit->options->files.count == 0 && audit->options->shard.of != 0) {
        (void)complain(0, "shard %u/%u: this shard has no captures; the other shards have them",
                       audit->options->shard.index, audit->options->shard.of);
        return;
    }
    if (audit->options->files.count == 0) /* nothing could be read, and what was there is named */
        return;
    if (totals->flows != 0) {
        complain(0, "this traffic exercises no selected rule");
        return;
    }
    (void)complain(0,
                   "no MPA traffic in %" PRIu64 " frames (%" PRIu64 " TCP segments in %" PRIu64 " connections, %" PRIu64
                   " IP fragments)",
                   totals->frames, totals->tcp_segments, totals->connections, totals->fragments);
}

/* Why the exit status is what it is, though nothing failed. Files that are not read were named already. */
static void explain_gaps(const struct audit *audit)
{
    const struct capture_list *files = &audit->options->files;
    struct flow_account account = audit->totals.account;
    char gaps[JUDGED_GAPS_OCTETS];

    for (size_t i = 0; i < files->skipped_count; i++)
        account.row[files->skipped[i].row].items = 0;
    if (flow_account_whole(&account))
        return;
    (void)complain(0, "not judged%s, although it is or may be iWARP (--allow-gaps accepts that)",
                   judged_output_gaps(&account, gaps));
}

static void show_hidden(struct audit *audit)
{
    for (size_t i = 0; i < catalogue_count(audit->catalogue); i++)
        if (audit->seen[i].hidden != 0)
            fprintf(audit->terminal.out, "      %s: %" PRIu64 " more %s, not shown\n",
                    catalogue_at(audit->catalogue, i)->id, audit->seen[i].hidden,
                    audit->seen[i].hidden == 1 ? "flow" : "flows");
}

static int exit_status(const struct audit *audit, const struct run_summary *summary)
{
    if (audit->unwritten)
        return EXIT_INCONCLUSIVE; /* findings were lost: what is left is not the result of this audit */
    if (summary_exit_status(summary) == EXIT_FAILS)
        return EXIT_FAILS;
    if (audit->foreign)
        return EXIT_USAGE;
    if (audit->damaged)
        return EXIT_INCONCLUSIVE;
    /* A shard in which nothing was decided says nothing about the whole: the merged report does. */
    if (audit->options->shard.of != 0 && summary_exit_status(summary) == EXIT_NOTHING_SELECTED)
        return EXIT_CONFORMS;
    return (int)summary_exit_status(summary);
}

/* ---- expectations ------------------------------------------------------------------------------------------------ */

enum { DIFFERENCES_SHOWN = 50 }; /* whole on the terminal; all are in the results */

static void write_field(const char *name, const char *value)
{
    if (value != NULL && value[0] != '\0')
        print_plain(stderr, "      %-9s %s", name, value);
}

/* A difference so that it can be read where nothing else is at hand: in the log of a job. */
static void difference_show(const struct audit *audit, const struct difference *difference)
{
    const struct requirement *requirement = catalogue_find(audit->catalogue, difference->id);
    struct iwarp_sentence text;
    char replay[1024];
    size_t used;

    /* The text of the other kinds names the verdict. */
    bool named = difference->kind != DIFFERENCE_MISSING && difference->kind != DIFFERENCE_CHANGED;

    (void)complain(0, "%s: %.300s: %s%s%s: %s%s%s", difference_kind_name(difference->kind), difference->file,
                   difference->id, difference->role != NULL ? " as " : "",
                   difference->role != NULL ? difference->role : "", named ? verdict_name(difference->verdict) : "",
                   named ? ", " : "", difference->text);
    if (requirement != NULL)
        print_plain(stderr, "      %s %s section %s: %s", requirement_level_name(requirement->level),
                    requirement->source, requirement->section, requirement->text);
    write_field("expected", difference->expected);
    if (difference->actual != NULL) {
        (void)iwarp_sentence_set(&text, "%.400s", difference->actual);
        write_field("actual", text.text);
    }
    if (difference->frame != 0) {
        (void)iwarp_sentence_set(&text, "frame %" PRIu64 ", flow %.200s", difference->frame,
                                 difference->flow != NULL ? difference->flow : "-");
        write_field("where", text.text);
    }
    if (difference->actual != NULL) {
        used = (size_t)snprintf(replay, sizeof(replay), "warpcheck audit '%.300s' %.40s", difference->file,
                                difference->id);
        (void)option_table_replay(&audit_option_table, audit->options, replay, sizeof(replay), used);
        write_field("replay", replay);
    }
}

static void on_difference(void *user, const struct difference *difference)
{
    struct audit *audit = user;
    struct iwarp_sentence error;

    if (audit->logged && results_log_difference(audit->output.log, difference, &error) != 0)
        audit_unwritten(audit, error.text);
    if (audit->differences_shown++ < DIFFERENCES_SHOWN)
        difference_show(audit, difference);
}

/* Before the summary is written: what differs from what was expected. */
static void expectations_compare(struct audit *audit, struct run_summary *summary)
{
    const struct audit_options *options = audit->options;

    if (options->expect == NULL)
        return;
    run_stop_hold();
    audit_expect_compare(audit->expect, options->shard.index > 1, &summary->expectation, on_difference, audit);
    run_stop_release();
    if (audit->differences_shown > DIFFERENCES_SHOWN)
        (void)complain(0, "%zu more differences are not shown; results.jsonl has them",
                       audit->differences_shown - DIFFERENCES_SHOWN);
}

/* The last lines: how much is expected, what is to be looked at soon, and how a difference is accepted. */
static void expectations_tell(const struct audit *audit, const struct run_summary *summary)
{
    const struct run_expectation *counts = &summary->expectation;
    const char *path = audit->options->expect;
    char text[EXPECTATION_TEXT_OCTETS];

    if (path == NULL)
        return;
    if (counts->soon != 0)
        (void)complain(0, "%" PRIu64 " expected %s to be reviewed within %d days, the first by %.10s", counts->soon,
                       counts->soon == 1 ? "finding is" : "findings are", EXPECTATION_SOON_DAYS, counts->soon_day);
    if (differences_of(counts) != 0)
        (void)complain(
            0,
            "%.200s: %s; to accept all of it, after a look: this command with --write-expect %.200s in place "
            "of --expect",
            path, expectation_text(counts, text), path);
}

/* What --write-expect asks for. The findings are written, and none of them is a failure of this command. */
static int expectations_write(const struct audit *audit, const struct run_summary *summary)
{
    struct run_summary accepted = *summary;
    struct iwarp_sentence error;
    size_t lines;

    if (audit_expect_write(audit->expect, &lines, &error) != 0)
        return complain(EXIT_INCONCLUSIVE, "%s", error.text);
    if (!format_option_machine(&audit->options->format)) {
        print_plain(stdout, "%s: %zu finding%s written", audit->options->write_expect, lines, lines == 1 ? "" : "s");
        (void)fflush(stdout);
    }
    accepted.pass += accepted.fail + accepted.warn + accepted.known;
    accepted.fail = accepted.warn = accepted.known = 0;
    return exit_status(audit, &accepted);
}

/*
 * ---- the end ------------------------------------------------------------------------------------------------------
 */

int audit_end(struct audit *audit)
{
    static const char short_of_memory[] = "out of memory: not everything was judged";
    const struct format_option *format = &audit->options->format;
    const char *output = audit->options->output;
    struct run_summary summary;
    struct iwarp_sentence error;
    char ended[UTC_TEXT_OCTETS];
    bool stopped = run_stopped();

    audit_clear_progress(audit);
    audit_skipped_done(audit);
    if (audit->options->findings_only)
        audit_write_passed(audit, NULL);
    fill_summary(audit, &summary);
    expectations_compare(audit, &summary);
    summary.ended = utc_text(ended);
    summary.stopped = stopped ? "interrupted" : NULL;
    if (out_of_memory_noted()) {
        audit_unwritten(audit, short_of_memory);
        summary.stopped = "out of memory";
    }
    if (judged_output_end(&audit->output, &summary, &error) != 0)
        audit_unwritten(audit, error.text);
    if (judged_output_report(&audit->output, format, audit->catalogue, &error) != 0) {
        audit_unwritten(audit, error.text);
        output = NULL;
    }
    if (out_of_memory_noted())
        audit_unwritten(audit, short_of_memory);
    if (!format_option_machine(format) && !audit->options->quiet)
        show_hidden(audit);
    audit->terminal.unfinished = audit->damaged || audit->foreign || audit->unwritten || stopped;
    judged_output_summary(&audit->terminal, format, &summary, output);
    if (!format_option_machine(format))
        (void)fflush(stdout); /* what else is reported stands below; main() reports a failure */
    if (stopped)
        return complain(EXIT_INCONCLUSIVE, "interrupted: not all captures were judged");
    if (is_undecided(&summary) && !audit->foreign)
        explain_nothing(audit);
    else if (exit_status(audit, &summary) == EXIT_INCONCLUSIVE && summary_has_gaps(&summary) && !audit->damaged)
        explain_gaps(audit);
    if (summary.inconclusive != 0)
        (void)complain(
            0,
            "%" PRIu64
            " result%s not decided: a rule of --rules failed at an event, at the line that its message names",
            summary.inconclusive, summary.inconclusive == 1 ? " was" : "s were");
    expectations_tell(audit, &summary);
    return audit->options->write_expect != NULL && !audit->unwritten ? expectations_write(audit, &summary)
                                                                     : exit_status(audit, &summary);
}
