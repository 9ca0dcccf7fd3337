/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The system's log: the journal with fields (libsystemd, where this build has it) or syslog(3). Opened before privileges
 * are dropped, as a confined process opens no sockets.
 */
#ifndef CONFORMANCE_ENGINE_MONITOR_JOURNAL_H
#define CONFORMANCE_ENGINE_MONITOR_JOURNAL_H

#include <stdbool.h>

#include "base/sentence.h"
#include "reports/results/result.h"

enum monitor_journal {
    MONITOR_JOURNAL_NONE,
    MONITOR_JOURNAL_SYSLOG,
    MONITOR_JOURNAL_NATIVE, /* the journal's own socket, with fields */
};

/* "journal" or "syslog". 0, or -1 with a sentence: another word, or this build has no libsystemd. */
int monitor_journal_parse(enum monitor_journal *journal, const char *value, struct iwarp_sentence *error);

/* Opens it and says `text` there. -1 with a sentence: nobody listens. */
int monitor_journal_open(enum monitor_journal journal, const char *text, struct iwarp_sentence *error);

/* A finding in one line; `key` is its name, `evidence` a path or NULL. */
void monitor_journal_finding(enum monitor_journal journal, const struct result *result, const char *key,
                             const char *interface, const char *evidence);

/* Something else in one line; `bad`: a loss, an output that cannot be written. */
void monitor_journal_note(enum monitor_journal journal, bool bad, const char *text);

#endif
