/* SPDX-License-Identifier: BSD-2-Clause */
/* The folder of `-o DIR`, as run, audit and report --merge take it. */
#ifndef CONFORMANCE_ENGINE_OUTPUT_FOLDER_H
#define CONFORMANCE_ENGINE_OUTPUT_FOLDER_H

#include "reports/folder/folder.h"
#include "base/sentence.h"

/*
 * Takes the folder. 0; or, with the sentence set, the exit status: EXIT_USAGE when something is in it that has to go
 * first, EXIT_INCONCLUSIVE when it cannot be made or another command writes there. `resumes`: the command has --resume.
 */
int output_folder_claim(struct folder **folder, const char *path, enum folder_use use, bool resumes,
                        struct iwarp_sentence *error);

#endif
