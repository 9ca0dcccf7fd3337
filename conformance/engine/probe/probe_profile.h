/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The profile that a probe writes (docs/profiles.md): `capabilities` has what was measured, or what the upper tester
 * reported. An item with neither is missing there, so that its default counts; `questions` has it, with "not measured"
 * before the question.
 */
#ifndef CONFORMANCE_ENGINE_PROBE_PROFILE_H
#define CONFORMANCE_ENGINE_PROBE_PROFILE_H

#include <jansson.h>

#include "conformance/requirements/pics.h"

/*
 * Appends a line "capability" to `found` for each item of the questionnaire that applies to a device of this kind. The
 * value comes from the start-ups in `found` and from the upper tester's report (NULL: none).
 */
int probe_profile_measure(const struct pics *pics, const json_t *reported, json_t *found);

/*
 * The profile: `base` has name, addresses and what a person wrote; answers of its own are kept where nothing was
 * measured. A new reference, NULL without memory.
 */
json_t *probe_profile_make(const struct pics *pics, const json_t *base, const json_t *found);

#endif
