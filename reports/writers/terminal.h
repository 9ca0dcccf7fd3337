/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a person sees while a run goes: blocks for findings, a progress line, closing lines. Text is cleaned (a peer
 * cannot send escape sequences to the terminal); colour only on a terminal and with NO_COLOR unset or empty.
 */
#ifndef REPORTS_TERMINAL_H
#define REPORTS_TERMINAL_H

#include "reports/results/cause.h"
#include "reports/results/end_line.h"
#include "reports/writers/progress.h"
#include "reports/results/result.h"

#include <stdbool.h>
#include <stdio.h>

struct terminal {
    FILE *out;
    bool colour;
    bool live;               /* a terminal: progress line wanted */
    bool ladders;            /* print the ladder below each FAIL; off at first */
    bool all;                /* print PASS and SKIP lines too; off at first */
    bool quiet;              /* print the closing lines alone, and no progress; off at first */
    bool unfinished;         /* the run did not come to its end: what was exercised so far is no conformance */
    unsigned columns;        /* of the terminal, 100 where unknown */
    bool progress;           /* private: a progress line is on the screen */
    struct progress left;    /* private */
    struct cause_set causes; /* of the results so far; terminal_free() */
};

/* Looks at the stream and the environment. `out` stays the caller's. */
void terminal_init(struct terminal *terminal, FILE *out);

/* Forgets the causes of the results. What was printed stays. */
void terminal_free(struct terminal *terminal);

/*
 * The block of one result: FAIL, WARN and INCONCLUSIVE always, KNOWN in two lines, the others shorter and only when
 * terminal->all, which shows the whole of KNOWN too. A result whose cause one before it had, no less bad, is one line,
 * which names that. `text` (may be NULL) stands in for a missing purpose: the requirement's text.
 */
void terminal_result(struct terminal *terminal, const struct result *result, const char *text);

/* A result that is not shown, because enough others of its requirement are: it counts for its cause all the same. */
void terminal_hide(struct terminal *terminal, const struct result *result);

/* The block of an end: who ended the flow in which frame, and why. */
void terminal_end(struct terminal *terminal, const struct end_line *line);

/* Redraws the progress line: "[12/83, about 40 s left] DDP-7.2-02  1 FAIL". Nothing when the stream is no terminal. */
void terminal_progress(struct terminal *terminal, size_t done, size_t total, const char *id, uint64_t failed);

/* Takes the progress line away; before anyone else writes to the stream. */
void terminal_clear(struct terminal *terminal);

/*
 * The closing lines: counts, traffic, verdict in words, what the profile knows, and the report's path (NULL: none).
 * Only what is not zero is named beyond PASS and FAIL.
 */
void terminal_summary(struct terminal *terminal, const struct run_summary *summary, const char *report_path);

#endif
