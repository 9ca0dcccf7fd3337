/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The profile that a probe writes (docs/profiles.md): `capabilities` has what was measured, or what the upper tester
 * told; an item of which neither is known is missing there, so that its default counts, and `questions` has it with
 * "not measured" before the question.
 */
#ifndef CONFORMANCE_ENGINE_PROBE_PROFILE_H
#define CONFORMANCE_ENGINE_PROBE_PROFILE_H

#include <jansson.h>

#include "conformance/requirements/pics.h"

/*
 * Appends a line "capability" to `found` for each item of the questionnaire that a device of this kind can be asked, by
 * what `found` has of start-ups and by what the upper tester told (NULL: nothing).
 */
int probe_profile_measure(const struct pics *pics, const json_t *reported, json_t *found);

/*
 * The profile: `base` has name, addresses and what a person wrote; answers of its own are kept where nothing was
 * measured. A new reference, NULL without memory.
 */
json_t *probe_profile_make(const struct pics *pics, const json_t *base, const json_t *found);

#endif
