/* SPDX-License-Identifier: BSD-2-Clause */
/* A folder for what is only needed meanwhile, which nobody else can read. */
#ifndef CONFORMANCE_ENGINE_TEMPORARY_FOLDER_H
#define CONFORMANCE_ENGINE_TEMPORARY_FOLDER_H

#include "base/sentence.h"

enum { TEMPORARY_FOLDER_OCTETS = 256 };

/* Makes it below TMPDIR, or below /tmp where that is no absolute path or too long. 0; -1 with a sentence. */
int temporary_folder_make(char path[TEMPORARY_FOLDER_OCTETS], struct iwarp_sentence *error);

/* Removes it with all that is in it. Links are not followed. */
void temporary_folder_remove(const char *path);

#endif
