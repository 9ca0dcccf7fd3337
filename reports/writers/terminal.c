/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/writers/terminal.h"

#include "reports/writers/account_text.h"
#include "reports/results/difference.h"
#include "reports/results/known.h"
#include "reports/page/ladder.h"
#include "reports/file/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define INDENT "      "

static const char *colour_of(enum verdict verdict)
{
    static const char *const codes[VERDICT_COUNT] = {
        [VERDICT_PASS] = "\033[32m",      [VERDICT_FAIL] = "\033[1;31m",       [VERDICT_KNOWN] = "\033[31m",
        [VERDICT_WARN] = "\033[33m",      [VERDICT_INCONCLUSIVE] = "\033[35m", [VERDICT_SKIP] = "\033[2m",
        [VERDICT_AMBIGUOUS] = "\033[36m",
    };
    return (unsigned)verdict < VERDICT_COUNT ? codes[verdict] : "";
}

void terminal_init(struct terminal *terminal, FILE *out)
{
    struct winsize size;
    const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");
    int fd = fileno(out);
    *terminal = (struct terminal){.out = out, .columns = 100};
    terminal->live = fd >= 0 && isatty(fd) && term && strcmp(term, "dumb") != 0;
    terminal->colour = terminal->live && !(no_colour && *no_colour);
    if (terminal->live && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        terminal->columns = size.ws_col;
}

static void print_text(FILE *out, const char *text)
{
    char *line = text_clean_line(text);
    fputs(line ? line : "", out);
    free(line);
}

static void write_verdict(const struct terminal *terminal, enum verdict verdict)
{
    if (terminal->colour)
        fprintf(terminal->out, "%s%s\033[0m", colour_of(verdict), verdict_name(verdict));
    else
        fputs(verdict_name(verdict), terminal->out);
}

static void field(const struct terminal *terminal, const char *name, const char *value)
{
    if (!value || !*value)
        return;
    fprintf(terminal->out, INDENT "%-9s ", name);
    print_text(terminal->out, value);
    fputc('\n', terminal->out);
}

/* "     frame 9 of evidence/DDP-7.2-02.pcapng", or the flow and file of an audit. */
static void write_where(const struct terminal *terminal, const struct result *result)
{
    const char *file = result->evidence ? result->evidence : result->file;
    if (result->frame)
        fprintf(terminal->out, "     frame %llu", (unsigned long long)result->frame);
    if (file) {
        fputs(result->frame ? " of " : "     ", terminal->out);
        print_text(terminal->out, file);
    }
    if (result->count > 1)
        fprintf(terminal->out, ", %llu times", (unsigned long long)result->count);
}

static void write_actual(const struct terminal *terminal, const struct result *result)
{
    if (!result->actual && !result->frame && !result->evidence && !result->file)
        return;
    fprintf(terminal->out, INDENT "%-9s ", result->actual ? "actual" : "seen");
    print_text(terminal->out, result->actual);
    write_where(terminal, result);
    fputc('\n', terminal->out);
}

/* "finding   8: too long is called no buffer (docs/findings/linux-siw.md, review by 2027-06-30)" */
static void print_known(const struct terminal *terminal, const struct result *result)
{
    fprintf(terminal->out, INDENT "%-9s ", "finding");
    print_text(terminal->out, known_finding(result));
    if (result->deviation || result->review_by) {
        fputs(" (", terminal->out);
        print_text(terminal->out, result->deviation);
        fputs(result->deviation && result->review_by ? ", review by "
              : result->review_by                    ? "review by "
                                                     : "",
              terminal->out);
        print_text(terminal->out, result->review_by);
        fputc(')', terminal->out);
    }
    fputc('\n', terminal->out);
}

static void write_heading(const struct terminal *terminal, const struct result *result)
{
    write_verdict(terminal, result->verdict);
    fputs("  ", terminal->out);
    print_text(terminal->out, result->id);
    if (result->role) {
        fputs("  ", terminal->out);
        print_text(terminal->out, result->role);
    }
    if (result->script) {
        fputs("  ", terminal->out);
        print_text(terminal->out, result->script);
    }
    fputc('\n', terminal->out);
}

static void write_ladder(const struct terminal *terminal, const struct result *result)
{
    struct ladder_ends ends = {"tester", "DUT"};
    char *text = terminal->ladders && result->steps ? ladder_text(result->steps, &ends, terminal->columns) : NULL;
    if (text)
        fputs(text, terminal->out);
    free(text);
}

/* Of what cannot be decided, a cause has so many lines: where a device serves nothing it has hundreds of results. */
enum { UNDECIDED_MOST = 5 };

/* "FAIL  MPA-4.1-06  responder  its cause is that of MPA-3-01: pad-length" */
static void write_repeated(const struct terminal *terminal, const struct result *result, const struct cause *cause)
{
    bool undecided = result->verdict == VERDICT_INCONCLUSIVE;
    if (undecided && cause_results(cause) > UNDECIDED_MOST + 1)
        return;
    write_verdict(terminal, result->verdict);
    if (undecided && cause_results(cause) > UNDECIDED_MOST) {
        fputs("  more results of this cause come (--all shows each): see the last lines\n", terminal->out);
        fflush(terminal->out);
        return;
    }
    fputs("  ", terminal->out);
    print_text(terminal->out, result->id);
    fputs("  ", terminal->out);
    print_text(terminal->out, result->role);
    fputs(result->role ? "  the cause of " : "the cause of ", terminal->out);
    print_text(terminal->out, cause_first_id(cause));
    fputs(" again: ", terminal->out);
    print_text(terminal->out, cause_name(cause));
    if (result->file) /* which of the captures it is; the evidence of a check has its id */
        write_where(terminal, result);
    fputc('\n', terminal->out);
    fflush(terminal->out);
}

/* What more than one result has for a cause: once, and the ids that it concerns. */
static void write_causes(const struct terminal *terminal)
{
    struct iwarp_sentence silence;
    for (const struct cause *cause = cause_first(&terminal->causes); cause; cause = cause_next(cause)) {
        fprintf(terminal->out, "one cause of %zu results: ", cause_results(cause));
        print_text(terminal->out, *cause_hint(cause) ? cause_hint(cause) : cause_name(cause));
        fprintf(terminal->out, " (%s)\n  ", *cause_hint(cause) ? cause_name(cause) : "no hint");
        print_text(terminal->out, cause_ids(cause));
        fputc('\n', terminal->out);
    }
    if (cause_perhaps_one(&terminal->causes, &silence))
        fprintf(terminal->out, "perhaps %s\n", silence.text);
}

void terminal_free(struct terminal *terminal)
{
    cause_set_free(&terminal->causes);
}

void terminal_result(struct terminal *terminal, const struct result *result, const char *text)
{
    bool quiet = result->verdict == VERDICT_PASS || result->verdict == VERDICT_SKIP;
    bool settled = quiet || result->verdict == VERDICT_AMBIGUOUS; /* nothing to look into: the reading says it all */
    if (terminal->quiet || (settled && !terminal->all))
        return;
    const struct cause *cause = cause_of(&terminal->causes, result);
    terminal_clear(terminal);
    bool repeated = cause && !cause_shown_by(cause, result);
    (void)cause_add(&terminal->causes, result); /* without memory the program ends with that status */
    if (repeated && !terminal->all) {
        write_repeated(terminal, result, cause);
        return;
    }
    write_heading(terminal, result);
    if (result->verdict == VERDICT_KNOWN || result->finding)
        print_known(terminal, result);
    if (result->verdict == VERDICT_PASS || (result->verdict == VERDICT_KNOWN && !terminal->all))
        return;
    if (result->purpose || text) {
        fputs(INDENT, terminal->out);
        print_text(terminal->out, result->purpose ? result->purpose : text);
        fputc('\n', terminal->out);
    }
    if (!settled) {
        field(terminal, "expected", result->expected);
        write_actual(terminal, result);
    }
    field(terminal, "otherwise", result->otherwise);
    field(terminal, "reading", result->reading);
    field(terminal, "needs", result->pics);
    if (!settled || result->verdict == VERDICT_SKIP)
        field(terminal, "why", result->message);
    if (!settled) {
        field(terminal, "hint", cause_hint_alone(result));
        field(terminal, "flow", result->flow);
        field(terminal, "replay", result->replay);
        write_ladder(terminal, result);
    }
    fflush(terminal->out);
}

void terminal_end(struct terminal *terminal, const struct end_line *line)
{
    if (terminal->quiet)
        return;
    terminal_clear(terminal);
    fputs("END  ", terminal->out);
    print_text(terminal->out, line->kind);
    fputs(line->role ? "  " : "", terminal->out);
    print_text(terminal->out, line->role);
    fprintf(terminal->out, "  frame %llu of ", (unsigned long long)line->frame);
    print_text(terminal->out, line->file);
    fputc('\n', terminal->out);
    field(terminal, "why", line->why);
    field(terminal, "flow", line->flow);
    fflush(terminal->out);
}

void terminal_hide(struct terminal *terminal, const struct result *result)
{
    if (!terminal->quiet)
        (void)cause_add(&terminal->causes, result); /* without memory the program ends with that status */
}

void terminal_progress(struct terminal *terminal, size_t done, size_t total, const char *id, uint64_t failed)
{
    char line[256], left[PROGRESS_LEFT_OCTETS];
    struct timespec now;
    if (!terminal->live || terminal->quiet || clock_gettime(CLOCK_MONOTONIC, &now) != 0)
        return;
    progress_left(&terminal->left, done, total, (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec, left);
    char *clean = text_clean_line(id);
    int width = terminal->columns < sizeof(line) ? (int)terminal->columns - 1 : (int)sizeof(line) - 1;
    int used =
        snprintf(line, sizeof(line), "[%zu/%zu%s%s] %.80s", done, total, *left ? ", " : "", left, clean ? clean : "");
    if (failed && used > 0 && (size_t)used < sizeof(line))
        snprintf(line + used, sizeof(line) - (size_t)used, "  %llu FAIL", (unsigned long long)failed);
    free(clean);
    fprintf(terminal->out, "\r\033[K%.*s", width, line);
    fflush(terminal->out);
    terminal->progress = true;
}

void terminal_clear(struct terminal *terminal)
{
    if (!terminal->progress)
        return;
    fputs("\r\033[K", terminal->out);
    terminal->progress = false;
}

static void write_counts(const struct terminal *terminal, const struct run_summary *summary)
{
    static const enum verdict order[] = {VERDICT_PASS,         VERDICT_FAIL,      VERDICT_KNOWN, VERDICT_WARN,
                                         VERDICT_INCONCLUSIVE, VERDICT_AMBIGUOUS, VERDICT_SKIP};
    const char *separator = "";
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        uint64_t count = summary_of(summary, order[i]);
        if (count == 0 && i > 1)
            continue;
        fprintf(terminal->out, "%s%llu ", separator, (unsigned long long)count);
        write_verdict(terminal, order[i]);
        separator = ", ";
    }
    if (summary->not_exercised)
        fprintf(terminal->out, ", %llu not exercised", (unsigned long long)summary->not_exercised);
    fputc('\n', terminal->out);
}

/* "1 frame", "2 frames". */
static void write_count(FILE *out, const char *before, uint64_t count, const char *what)
{
    fprintf(out, "%s%" PRIu64 " %s%s", before, count, what, count == 1 ? "" : "s");
}

static void write_traffic(const struct terminal *terminal, const struct run_summary *summary)
{
    if (!summary->frames)
        return;
    write_count(terminal->out, "", summary->frames, "frame");
    write_count(terminal->out, ", ", summary->fpdus, "FPDU");
    write_count(terminal->out, ", ", summary->ddp_segments, "DDP segment");
    write_count(terminal->out, ", ", summary->crc_errors, "CRC error");
    for (size_t i = 0; i < summary->message_count; i++)
        fprintf(terminal->out, "%s%s %llu", i ? ", " : "; ", summary->messages[i].name,
                (unsigned long long)summary->messages[i].count);
    fputc('\n', terminal->out);
}

static void write_restarts(const struct terminal *terminal, const struct run_summary *summary)
{
    if (summary->restarts == 0)
        return;
    write_count(terminal->out, "restart_command was run ", summary->restarts, "time");
    fputs(" in the course of the run, because the device had ended\n", terminal->out);
}

void terminal_summary(struct terminal *terminal, const struct run_summary *summary, const char *report_path)
{
    static const struct {
        enum verdict verdict;
        const char *words;
    } closing[] = {
        [EXIT_CONFORMS] = {VERDICT_PASS, "conforms in everything that was exercised"},
        [EXIT_FAILS] = {VERDICT_FAIL, "does not conform"},
        [EXIT_USAGE] = {VERDICT_INCONCLUSIVE, "inconclusive"},
        [EXIT_NOTHING_SELECTED] = {VERDICT_INCONCLUSIVE, "nothing was decided: nothing selected, or all skipped"},
        [EXIT_INCONCLUSIVE] = {VERDICT_INCONCLUSIVE,
                               "inconclusive: some requirements could not be decided; each says why"},
        [EXIT_KNOWN] = {VERDICT_KNOWN, "does not conform; it deviates as known"},
    };
    bool expects = summary->expectation.used;
    char expectation[EXPECTATION_TEXT_OCTETS];
    enum exit_status status = summary_exit_status(summary);
    const char *words = closing[status].words;
    char known[KNOWN_TEXT_OCTETS];
    if ((status == EXIT_CONFORMS || status == EXIT_KNOWN) && terminal->unfinished) {
        status = EXIT_INCONCLUSIVE;
        words = "inconclusive: nothing failed so far, but this is not the whole run";
    } else if (status == EXIT_INCONCLUSIVE && summary_has_gaps(summary)) {
        words = "inconclusive: nothing failed, but a part that is or may be iWARP was not judged";
    } else if (status == EXIT_CONFORMS && !flow_account_whole(&summary->account)) {
        words = "conforms in everything that was exercised; what was not judged was accepted (--allow-gaps)";
    }
    if (expects && status == EXIT_FAILS)
        words = "not as expected";
    else if (expects && status == EXIT_CONFORMS)
        words = flow_account_whole(&summary->account) ? "as expected"
                                                      : "as expected; what was not judged was accepted (--allow-gaps)";
    terminal_clear(terminal);
    write_causes(terminal);
    write_counts(terminal, summary);
    if (summary->ambiguous > 0 && !terminal->all)
        fputs("AMBIGUOUS: the RFC allows several readings; --all and the report show which one the device follows\n",
              terminal->out);
    write_traffic(terminal, summary);
    account_print(terminal->out, &summary->account);
    write_restarts(terminal, summary);
    if (terminal->colour)
        fputs(colour_of(closing[status].verdict), terminal->out);
    fputs(words, terminal->out);
    if (status == EXIT_KNOWN)
        fprintf(terminal->out, ": %s, nothing new", known_counts(summary, known));
    if (expects)
        fprintf(terminal->out, ": %s", expectation_text(&summary->expectation, expectation));
    fputs(terminal->colour ? "\033[0m\n" : "\n", terminal->out);
    if (summary->known && status != EXIT_KNOWN && !expects)
        fprintf(terminal->out, "it also deviates as known: %s\n", known_counts(summary, known));
    if (report_path) {
        fputs("report: ", terminal->out);
        print_text(terminal->out, report_path);
        fputc('\n', terminal->out);
    }
    fflush(terminal->out);
}
