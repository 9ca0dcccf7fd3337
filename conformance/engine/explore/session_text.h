/* SPDX-License-Identifier: BSD-2-Clause */
/* A session as a check of the form that conformance/scripts has: it can be run by `warpcheck run --script`. */
#ifndef CONFORMANCE_ENGINE_EXPLORE_SESSION_TEXT_H
#define CONFORMANCE_ENGINE_EXPLORE_SESSION_TEXT_H

#include <stdio.h>

#include "base/sentence.h"
#include "conformance/engine/explore/session.h"

enum { SESSION_ID_OCTETS = 64 };

/* "explored-7-123": seed and number. Returns `id`. */
const char *session_id(const struct session *session, char id[SESSION_ID_OCTETS]);

/*
 * Writes the check. `id`: NULL: the session's own; `purpose` is cleaned. A session with something wrong and no
 * reactions makes a check that says what it saw (AMBIGUOUS).
 */
void session_print(const struct session *session, const char *id, const char *purpose, FILE *out);

/* The script with these sessions as they are; the caller frees *text. 0, or -1 with a sentence: memory. */
int session_script(const struct session *sessions, size_t count, char **text, size_t *octets,
                   struct iwarp_sentence *error);

#endif
