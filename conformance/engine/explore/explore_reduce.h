/* SPDX-License-Identifier: BSD-2-Clause */
/* Each group of failures gets a session that is as small as can be, and a file with it as a check. */
#ifndef CONFORMANCE_ENGINE_EXPLORE_REDUCE_H
#define CONFORMANCE_ENGINE_EXPLORE_REDUCE_H

#include "conformance/engine/explore/explore.h"

enum { EXPLORE_REDUCED_MOST = 20 };

/*
 * Fills in `reduced` of the first EXPLORE_REDUCED_MOST groups; it stays NULL where the session does not fail once more.
 * 0, or -1 with a sentence.
 */
int explore_reduce(const struct explore_config *config, struct explore_summary *summary, struct iwarp_sentence *error);

/*
 * Writes `folder`/checks/explored-SEED-NUMBER.lua for each reduced session; both folders are made. 0, or -1 with a
 * sentence: "checks" is there already, the disk is full.
 */
int explore_write_checks(const struct explore_summary *summary, const char *folder, struct iwarp_sentence *error);

#endif
