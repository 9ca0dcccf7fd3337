/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the report and the profile of a probe go. */
#ifndef CONFORMANCE_ENGINE_PROBE_OUTPUT_H
#define CONFORMANCE_ENGINE_PROBE_OUTPUT_H

#include <jansson.h>
#include <stdbool.h>

#include "conformance/engine/probe/probe_options.h"

/* Can the profile be written there when all is done? 0, or -1 with a sentence: something is there already. */
int probe_output_check(const char *path, bool force, struct iwarp_sentence *error);

/*
 * The report to standard output; the profile to -o, or after the text report; a null is not written. 0, or -1 with a
 * sentence.
 */
int probe_output_write(const struct probe_options *options, const json_t *found, const json_t *profile,
                       struct iwarp_sentence *error);

#endif
