/* SPDX-License-Identifier: BSD-2-Clause */
/* How a child process ended that nothing else waits for. */
#ifndef CONFORMANCE_ENGINE_CHILD_END_H
#define CONFORMANCE_ENGINE_CHILD_END_H

#include <sys/types.h>

#include "base/sentence.h"

/*
 * Waits until the child, which sentences call `what` ("run"), has ended, whatever signals come. 0: *status is its exit
 * status; -1 with a sentence: a signal ended it.
 */
int child_end(pid_t pid, const char *what, int *status, struct iwarp_sentence *error);

#endif
