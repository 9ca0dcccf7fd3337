/* SPDX-License-Identifier: BSD-2-Clause */
/* Requirements by the id that a user typed. */
#ifndef CONFORMANCE_REQUIREMENTS_NAMED_H
#define CONFORMANCE_REQUIREMENTS_NAMED_H

#include "conformance/requirements/catalogue.h"
#include "base/sentence.h"

/* The requirement of that id, in capitals or not; NULL if there is none. */
const struct requirement *requirement_named(const struct catalogue *catalogue, const char *id);

/* -1, with the sentence that no requirement has this id, and which ids are nearest to it. */
int requirement_not_found(const struct catalogue *catalogue, const char *id, struct iwarp_sentence *error);

/*
 * -1, with the sentence that no requirement fits this id or glob: "nothing selected: ...", and the nearest id, if it is
 * no glob.
 */
int requirement_unmatched(const struct catalogue *catalogue, const char *pattern, struct iwarp_sentence *error);

#endif
