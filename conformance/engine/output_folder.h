/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CONFORMANCE_ENGINE_OUTPUT_FOLDER_H
#define CONFORMANCE_ENGINE_OUTPUT_FOLDER_H

#include "wire/sentence.h"

/* Makes the folder of `-o DIR` and those above it; one that is there already is fine. 0, or -1 with a sentence. */
int output_folder_make(const char *path, struct sentence *error);

#endif
