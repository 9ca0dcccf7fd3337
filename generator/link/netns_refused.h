/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why this system refuses namespaces to an ordinary user, and what helps there. docs/containers.md has the same at
 * length.
 */
#ifndef GENERATOR_LINK_NETNS_REFUSED_H
#define GENERATOR_LINK_NETNS_REFUSED_H

#include <stdbool.h>

#include "base/sentence.h"

/*
 * Appends to a sentence that has said what failed, with error `number`: what refuses it, as far as the files below
 * `root` ("" on this machine) tell, the remedy, and the run that needs none. Returns -1.
 */
int netns_refused(const char *root, int number, struct sentence *error);

/* AppArmor gives namespaces away, and then allows nothing in them: what fails there has the same cause. */
bool netns_restricted(const char *root);

#endif
