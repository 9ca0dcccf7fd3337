/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The interoperability matrix as a page: one coloured grid, a row for each initiator, a column for each responder, a
 * letter for each test case; and below it what each exchange was, step by step. Self-contained, as html.h's page.
 */
#ifndef REPORTS_INTEROP_PAGE_H
#define REPORTS_INTEROP_PAGE_H

#include "reports/file/place.h"
#include "reports/results/interop_results.h"

/*
 * Captures are linked to as evidence/NAME. `home`: href of a page that leads here; NULL: none. 0, or -1 with a
 * sentence.
 */
int interop_page_write(const struct interop_results *results, const char *home, const struct place *to,
                       struct iwarp_sentence *error);

#endif
