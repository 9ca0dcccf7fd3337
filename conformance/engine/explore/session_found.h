/* SPDX-License-Identifier: BSD-2-Clause */
/* What a run found, session by session: its checks are sessions, and their journals have what rules found. */
#ifndef CONFORMANCE_ENGINE_EXPLORE_SESSION_FOUND_H
#define CONFORMANCE_ENGINE_EXPLORE_SESSION_FOUND_H

#include <stddef.h>

#include "conformance/engine/explore/session.h"
#include "reports/results/journal.h"
#include "reports/results/result.h"

/*
 * Of one session: the check's result, whatever it is, after a FAIL or WARN of each rule that found something in its
 * traffic. Valid during the call.
 */
typedef void session_found(void *user, struct session *session, const struct result *result);

struct session_listener {
    struct session *sessions; /* those that are played; borrowed */
    size_t count;
    session_found *found;
    void *user;
};

/*
 * A journal, and a result, of the run; those of no session are left out, and findings of rules come with their journal.
 */
void session_listener_journal(const struct session_listener *listener, const struct journal *journal);
void session_listener_result(const struct session_listener *listener, const struct result *result);

#endif
