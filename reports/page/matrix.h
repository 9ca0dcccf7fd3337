/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several devices in one picture: a row for each requirement, a column for each run. Self-contained, as html.h's page.
 */
#ifndef REPORTS_MATRIX_H
#define REPORTS_MATRIX_H

#include "reports/file/place.h"
#include "reports/results/report.h"

enum { MATRIX_COLUMNS_MAX = 16 };

struct matrix_column {
    const char *name;            /* of the device, as the heads of the columns show it */
    const struct report *report; /* all of one catalogue */
    const char *page;            /* href of its own page, as seen from the matrix; NULL: no links */
};

/*
 * Writes the page to `to` (the path "-": standard output); rows are the requirements that at least one of the runs says
 * anything about. 0, or -1 with the sentence set.
 */
int matrix_write(const struct matrix_column *columns, size_t count, const struct catalogue *catalogue,
                 const struct place *to, struct iwarp_sentence *error);

#endif
