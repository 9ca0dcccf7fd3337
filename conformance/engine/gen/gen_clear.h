/* SPDX-License-Identifier: BSD-2-Clause */
/* What an earlier `warpcheck gen --corpus` left in a folder of captures, and how it is removed. */
#ifndef CONFORMANCE_ENGINE_GEN_CLEAR_H
#define CONFORMANCE_ENGINE_GEN_CLEAR_H

#include "reports/file/place.h"
#include "base/sentence.h"

/* Head of the table in README.md; each row begins with the file's name: "| `name.pcap` |". */
#define GEN_TABLE_HEAD "| capture | what |\n|---|---|\n"

/*
 * Removes README.md, findings.tsv and the captures that README.md lists; nothing where there is no README.md with such
 * a table. As struct folder_config wants it. 0, or -1 with the sentence set.
 */
int gen_clear(const struct place *folder, struct iwarp_sentence *error);

#endif
