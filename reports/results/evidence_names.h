/* SPDX-License-Identifier: BSD-2-Clause */
/* The files of evidence that results and journals name. */
#ifndef REPORTS_EVIDENCE_NAMES_H
#define REPORTS_EVIDENCE_NAMES_H

#include <jansson.h>

#include "reports/file/place.h"
#include "base/sentence.h"

#define EVIDENCE "evidence" /* their folder, below that of the results */

/*
 * Adds them to the object `names`, each as a member "evidence/X.pcapng" with the value true. 0, or -1 with the sentence
 * set: the results cannot be read to their end, and what stands before that place was added.
 */
int evidence_names(const struct place *results, json_t *names, struct iwarp_sentence *error);

#endif
