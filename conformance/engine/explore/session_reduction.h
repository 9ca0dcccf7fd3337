/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session that fails is made smaller while it fails in the same way: steps, members of steps and of the start-up,
 * regions and numbers go, one after another. What is left has to be served by the correct stack, so that nothing is
 * taken away that made it legal.
 */
#ifndef CONFORMANCE_ENGINE_EXPLORE_SESSION_REDUCTION_H
#define CONFORMANCE_ENGINE_EXPLORE_SESSION_REDUCTION_H

#include "conformance/engine/explore/explore.h"

/* The n-th smaller session that `session` has, from the largest cut to the smallest; false: there are no more. */
bool session_smaller(const struct session *session, size_t n, struct session *smaller);

/*
 * Reduces the session as far as it fails with the group's cause. `oracle` is what was learned of the correct stack.
 * Before that it is played EXPLORE_REPLAYS times, and group->again says how often it failed so. 1: not each time, and
 * it stays as it was; 0, or -1 with a sentence.
 */
int session_reduce(const struct explore_config *config, struct session_device *oracle, struct explore_group *group,
                   struct session *session, struct iwarp_sentence *error);

#endif
