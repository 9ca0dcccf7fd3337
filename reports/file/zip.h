/* SPDX-License-Identifier: BSD-2-Clause */
/* A ZIP archive of files in memory, written by minizip; it appears under its name when it is complete. */
#ifndef REPORTS_ZIP_H
#define REPORTS_ZIP_H

#include <stdbool.h>
#include <stddef.h>

#include "reports/file/place.h"
#include "base/sentence.h"

struct zip; /* opaque */

/* Begins it; NULL with the sentence set. */
struct zip *zip_begin(const struct place *place, struct iwarp_sentence *error);

/*
 * Adds the file `name` ("folder/file", UTF-8), its date 1980-01-01, so that the same files give the same archive;
 * `program`: it may be executed. 0; -1, and zip_end() will say why.
 */
int zip_add(struct zip *zip, const char *name, const void *octets, size_t count, bool program);

/* Ends it. Without `keep`, and after a failure, nothing is left. 0, or -1 with the sentence set. */
int zip_end(struct zip *zip, bool keep, struct iwarp_sentence *error);

#endif
