/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pages of a site about several implementations: the entry page, and the findings as tables. The site also has the
 * matrix, the differences and the runs' own pages. The pages load nothing from the network.
 */
#ifndef REPORTS_SITE_H
#define REPORTS_SITE_H

#include "reports/file/place.h"
#include "reports/results/report.h"
#include "reports/file/table.h"

/* The columns of a table of findings, in the order of site_finding_columns. */
enum site_finding_column {
    SITE_FINDING, /* as the profile's findings begin: "13" of "13: a quoted Read Request" */
    SITE_TITLE,
    SITE_REQUIREMENTS, /* ids, separated by commas; further words are allowed */
    SITE_LEVEL,
    SITE_SEVERITY,
    SITE_REPORT,     /* optional: a file, from the folder of the table */
    SITE_REPRODUCER, /* the same */
    SITE_STATE,      /* optional: what became of it */
    SITE_FINDING_COLUMNS
};
extern const struct table_column site_finding_columns[SITE_FINDING_COLUMNS];

struct site_run {
    const char *stack, *version; /* "Linux siw", "6.1.192 (Debian 12)" */
    const char *name;            /* its folder: below the site's, with its page and its evidence */
    const struct report *report;
    const struct table *findings; /* of its implementation; NULL: none */
    char *const *evidence;        /* names of captures in its folder, in their order */
    size_t evidence_count;
};

/* What the site says of the runs, those of one implementation together and in the order of its versions. */
struct site {
    const struct site_run *runs;
    size_t count;
    bool interop; /* there is a page interop/index.html */
};

enum { SITE_NAME_OCTETS = 80 };

/* "history-linux-siw.html": the page with the differences between the versions of an implementation. */
void site_history_name(const char *stack, char name[SITE_NAME_OCTETS]);

/* The next run of the same implementation, `count` when there is none. */
size_t site_next(const struct site *site, size_t run);

/* Whether an earlier run is of the same implementation. */
bool site_is_first(const struct site *site, size_t run);

/* Whether any of them has a table of findings: there is a page of them then. */
bool site_has_findings(const struct site *site);

/*
 * The name of the copy of a file that a table of findings names: "findings/linux-siw-13-quoted-read.txt"; ""
 * for none or without room.
 */
void site_copy_name(const struct site_run *run, const char *file, char name[SITE_NAME_OCTETS]);

/* The two pages. 0, or -1 with the sentence set. */
int site_write_index(const struct site *site, const struct place *to, struct iwarp_sentence *error);
int site_write_findings(const struct site *site, const struct place *to, struct iwarp_sentence *error);

#endif
