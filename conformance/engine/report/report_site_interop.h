/* SPDX-License-Identifier: BSD-2-Clause */
/* The interoperability matrix of a site: the folder interop/ beside its table, as `warpcheck interop -o` writes it. */
#ifndef CONFORMANCE_ENGINE_REPORT_SITE_INTEROP_H
#define CONFORMANCE_ENGINE_REPORT_SITE_INTEROP_H

#include <stdbool.h>

#include "base/sentence.h"
#include "reports/folder/folder.h"
#include "reports/results/interop_results.h"

#define SITE_INTEROP "interop"

/*
 * Reads `folder`/interop/interop.jsonl. *present: it is there. 0, or -1 with a sentence; free the results in either
 * case.
 */
int report_site_interop_read(struct interop_results *results, const char *folder, bool *present,
                             struct iwarp_sentence *error);

/* Its page and its captures, in a folder of the site. 0, or -1 with a sentence. */
int report_site_interop_write(const struct interop_results *results, const char *folder, const struct folder *output,
                              struct iwarp_sentence *error);

#endif
