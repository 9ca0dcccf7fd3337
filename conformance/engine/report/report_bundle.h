/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * warpcheck report --bundle: a ZIP archive with all that somebody needs to see a result and to repeat it where the
 * run's folder is not:
 *
 *     index.html, results.jsonl   of these requirements alone
 *     evidence/, captures/        what the results point to
 *     scripts/                    the checks
 *     profile.json                the device's profile, with the known deviations of these requirements alone
 *     replay.sh                   repeats them; needs nothing but the archive and warpcheck
 *     README.txt                  what is in the archive, and what is missing
 *     SHA256SUMS                  for warpcheck report --verify
 */
#ifndef CONFORMANCE_ENGINE_REPORT_BUNDLE_H
#define CONFORMANCE_ENGINE_REPORT_BUNDLE_H

#include <stddef.h>

#include "reports/results/report.h"

/* `input`: a run's folder or its results.jsonl; `ids`: globs. The exit status. */
int report_bundle(const char *input, char *const *ids, size_t id_count, const struct report_coverage *coverage,
                  const char *output);

#endif
