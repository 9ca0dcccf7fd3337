/* SPDX-License-Identifier: BSD-2-Clause */
/* Some sessions, one after another on one device, and what came of each. */
#ifndef CONFORMANCE_ENGINE_EXPLORE_BATCH_H
#define CONFORMANCE_ENGINE_EXPLORE_BATCH_H

#include <jansson.h>

#include "conformance/engine/explore/explore.h"

/*
 * Makes `count` sessions from number `first` on, in the room that `sessions` has, and plays them. A new object: the
 * first failure of each session, how many were played, skipped and undecided, and which validations they came by; also
 * where a signal has stopped it after some. NULL with a sentence.
 */
json_t *explore_batch(const struct explore_config *config, struct session_device *oracle, struct session *sessions,
                      uint64_t first, size_t count, struct iwarp_sentence *error);

#endif
