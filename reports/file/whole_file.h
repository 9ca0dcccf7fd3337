/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file read as a whole: of a size that has a limit, and no link, device or pipe that somebody put there under its
 * name.
 */
#ifndef REPORTS_WHOLE_FILE_H
#define REPORTS_WHOLE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reports/file/place.h"
#include "base/sentence.h"

/*
 * Neither the file nor the folder directly above it may be a link. *octets: malloc'd, with a zero octet after the last;
 * NULL when the file is not there, or is no regular file of at most `limit` octets. 0, or -1 with the sentence set.
 */
int whole_file_read(const char *path, size_t limit, uint8_t **octets, size_t *size, struct iwarp_sentence *error);

/*
 * Copies it to a file that must not be there yet. *missing: there was nothing to copy, and no error. 0, or -1 with the
 * sentence set.
 */
int whole_file_copy(const char *path, size_t limit, const struct place *to, bool *missing,
                    struct iwarp_sentence *error);

#endif
