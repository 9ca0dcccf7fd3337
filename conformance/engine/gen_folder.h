/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A folder of captures as pcaps/ has them: the captures, README.md that says how they were made and what each is, and
 * expected.tsv with what `warpcheck audit` rightly finds in them.
 */
#ifndef CONFORMANCE_ENGINE_GEN_FOLDER_H
#define CONFORMANCE_ENGINE_GEN_FOLDER_H

#include "conformance/engine/gen.h"

struct gen_folder;

/* One folder below `root` for each corpus. NULL with a sentence. */
struct gen_folder *gen_folder_open(struct gen *gen, const char *root, struct sentence *error);

/* Where a capture of that corpus goes; valid until the next call. NULL with a sentence: the folder cannot be made. */
const char *gen_folder_path(struct gen_folder *folder, size_t corpus, const char *name, struct sentence *error);

/* Notes a capture that was made, and its findings. -1: memory is short. */
int gen_folder_add(struct gen_folder *folder, size_t corpus, const char *name, const char *about,
                   struct sentence *error);

/* Captures noted so far. */
size_t gen_folder_captures(const struct gen_folder *folder);

/* Writes README.md and expected.tsv of each corpus that has captures. -1 with a sentence. */
int gen_folder_finish(struct gen_folder *folder, struct sentence *error);

void gen_folder_free(struct gen_folder *folder);

#endif
