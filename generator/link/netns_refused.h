/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Explains why this system refuses namespaces to an ordinary user, and the remedy. docs/containers.md has the details.
 */
#ifndef GENERATOR_LINK_NETNS_REFUSED_H
#define GENERATOR_LINK_NETNS_REFUSED_H

#include <stdbool.h>

#include "base/sentence.h"

/*
 * Appends to a sentence about a failure with error `number`: the cause, as far as the files below `root` ("" on this
 * machine) show it, the remedy, and a way to run without namespaces. Returns -1.
 */
int netns_refused(const char *root, int number, struct iwarp_sentence *error);

/* AppArmor allows namespaces to be created, but forbids everything in them: later failures have the same cause. */
bool netns_restricted(const char *root);

#endif
