/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A folder of captures as pcaps/ has them: the captures, README.md that says how they were made and what each is, and
 * findings.tsv with what `warpcheck audit` rightly finds in them. One command owns it while it writes
 * (reports/folder/folder.h).
 */
#ifndef CONFORMANCE_ENGINE_GEN_FOLDER_H
#define CONFORMANCE_ENGINE_GEN_FOLDER_H

#include "conformance/engine/gen/gen.h"
#include "reports/file/place.h"

struct gen_folder;

/*
 * One folder below `root` for each corpus. `force`: what an earlier command made there is removed. NULL with a
 * sentence.
 */
struct gen_folder *gen_folder_open(struct gen *gen, const char *root, bool force, struct iwarp_sentence *error);

/* Notes a capture that is going to be made. -1 with a sentence: memory is short. */
int gen_folder_plan(struct gen_folder *folder, size_t corpus, const char *name, const char *about,
                    struct iwarp_sentence *error);

/*
 * Takes `root`, and below it the folder of each corpus that has a plan, and writes its README.md first: so even a
 * stopped command has listed what it was going to make. Corpora that were begun are not changed. EXIT_USAGE with a
 * sentence: a folder is not empty; EXIT_ENVIRONMENT: it cannot be made, or another command writes there.
 */
enum exit_status gen_folder_begin(struct gen_folder *folder, struct iwarp_sentence *error);

/* Where a capture of a corpus that was begun goes; valid until the next call. -1 with a sentence. */
int gen_folder_place(struct gen_folder *folder, size_t corpus, const char *name, struct place *place,
                     struct iwarp_sentence *error);

/* Notes a capture that was made, and its findings. -1: memory is short. */
int gen_folder_add(struct gen_folder *folder, size_t corpus, const char *name, const char *about,
                   struct iwarp_sentence *error);

/* Captures made so far. */
size_t gen_folder_captures(const struct gen_folder *folder);

/* Writes README.md and findings.tsv of each corpus that has captures. -1 with a sentence. */
int gen_folder_finish(struct gen_folder *folder, struct iwarp_sentence *error);

void gen_folder_free(struct gen_folder *folder);

#endif
