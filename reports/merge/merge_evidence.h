/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The evidence of merged results. What several parts have under one name is kept once when it is the same; else all but
 * one get a digest of their octets into the name, "MPA-4.1-01.0123abcd.pcapng": the same names in whichever order.
 */
#ifndef REPORTS_MERGE_EVIDENCE_H
#define REPORTS_MERGE_EVIDENCE_H

#include <jansson.h>
#include <stddef.h>

#include "reports/folder/folder.h"
#include "base/sentence.h"

struct evidence; /* opaque */

/* `folder`: that of the merged results, outlives it. NULL without memory. */
struct evidence *evidence_new(struct folder *folder);
void evidence_free(struct evidence *evidence);

/* A file that a result names; the path ends with "evidence/NAME". 0, or -1 without memory. */
int evidence_add(struct evidence *evidence, const char *source);

/* Copies all of them; those that are not there are counted. 0, or -1 with the sentence set (disk). */
int evidence_copy(struct evidence *evidence, size_t *missing, struct iwarp_sentence *error);

/* Puts the name that the copy of `source` (NULL: none) has into the result's line. 0, or -1 without memory. */
int evidence_rename(const struct evidence *evidence, json_t *object, const char *source);

#endif
