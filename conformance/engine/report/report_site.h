/* SPDX-License-Identifier: BSD-2-Clause */
/* warpcheck report --site: a static site about several implementations, from the results of their runs. */
#ifndef CONFORMANCE_ENGINE_REPORT_SITE_H
#define CONFORMANCE_ENGINE_REPORT_SITE_H

#include "reports/results/report.h"

/*
 * `input`: a table of tab-separated values, or the folder of such a site.tsv, with a row for each run:
 *
 *     stack	version	run	findings
 *     Linux siw	6.1.192 (Debian 12)	linux-siw-6.1	../../docs/findings/linux-siw.tsv
 *
 * `run` is a folder, relative to that of the table, that holds results.jsonl and may hold captures (*.pcapng);
 * `findings` is a table as reports/page/site.h describes it, from the site's table, or "". `output` is a folder, new or
 * empty. Returns the exit status: 2 where the table or what it names cannot be read, 4 where something cannot be
 * written.
 */
int report_site(const char *input, const char *output, const struct report_coverage *coverage);

#endif
