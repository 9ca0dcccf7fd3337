/* SPDX-License-Identifier: BSD-2-Clause */
/* A report as a file: whole or not at all. */
#ifndef REPORTS_SAVE_H
#define REPORTS_SAVE_H

#include "wire/sentence.h"

#include <stddef.h>

/*
 * Writes `size` octets to `path`.part and renames it to `path`, so that a full disk leaves the older report in place.
 * `path` "-" is standard output. 0; -1 with the sentence set.
 */
int save_file(const char *path, const char *octets, size_t size, struct sentence *error);

#endif
