/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cmd_audit.c: the command; audit_results.c: what becomes of each result and file; audit_end.c: the end of the audit.
 */
#ifndef CONFORMANCE_ENGINE_AUDIT_INTERNAL_H
#define CONFORMANCE_ENGINE_AUDIT_INTERNAL_H

#include "conformance/engine/audit/audit_expect.h"
#include "conformance/engine/audit/audit_judge.h"
#include "conformance/engine/audit/audit_options.h"
#include "conformance/engine/audit/audit_workers.h"
#include "conformance/engine/report/judged_output.h"
#include "reports/results/known.h"
#include "reports/writers/terminal.h"

/* What is known of one requirement over all files. */
struct seen {
    bool exercised;
    uint64_t blocks; /* shown on the terminal */
    uint64_t hidden; /* and not shown */
};

/* What passed of one requirement, by role (role_slot()), and has no line of its own. */
struct passed {
    uint64_t results[ROLE_SLOTS], count[ROLE_SLOTS];
    uint32_t written[ROLE_SLOTS]; /* lines of the present capture */
};

struct audit {
    const struct audit_options *options;
    const struct catalogue *catalogue;
    struct judged_output output;
    struct terminal terminal;
    uint64_t capabilities; /* that reading and writing takes */
    struct run_summary counted;
    struct finding_set findings; /* that `counted` has counted */
    struct flow_totals totals;   /* of all files */
    size_t judging;              /* the file that this process judges */
    bool logged;                 /* somebody reads the log */
    struct audit_expect *expect; /* with --expect or --write-expect, else NULL */
    char today[UTC_TEXT_OCTETS]; /* with `expect`: the day alone */
    size_t differences_shown;
    struct seen *seen;     /* by index in the catalogue */
    struct passed *passed; /* the same */
    uint64_t ends;         /* of flows, explained or not */
    bool unwritten;        /* results were lost: disk full */
    bool foreign;          /* some file is no capture that can be read */
    bool damaged;          /* some file breaks off */
};

/* audit_results.c: something could not be written. Reported once: what was written before stays good. */
void audit_unwritten(struct audit *audit, const char *message);
/*
 * An audit_judge_result_fn and audit_judge's results_end: a result of this process; the results of a flow are complete.
 */
void audit_add_result(void *user, const struct result *result, const struct requirement *requirement);
void audit_write_results(void *user);
/* Why a flow ended, found by this process, and by another one, as its line of JSON. */
void audit_add_end(void *user, const struct end_line *line);
void audit_add_end_line(void *user, const char *text, size_t octets);
/* A result of another process, as its line of JSON. */
void audit_read_line(void *user, enum verdict verdict, const struct requirement *requirement, unsigned role,
                     uint64_t count, const char *line, size_t octets);
/*
 * A line for each requirement and role of which something passed and has no line: of the capture, or (NULL) of all of
 * them.
 */
void audit_write_passed(struct audit *audit, const char *file);
/* The entry `index` of the files is judged as far as it could be read. */
void audit_file_done(struct audit *audit, size_t index, enum audit_file status, const struct flow_account *account,
                     const struct iwarp_sentence *error);
/* Takes the progress line away, before anything else is said. */
void audit_clear_progress(struct audit *audit);
/* What the folders have that is not read: listed when it could be captures, else counted. */
void audit_skipped_done(struct audit *audit);

/* audit_end.c: summary, reports, and the exit status with its reason. */
int audit_end(struct audit *audit);

#endif
