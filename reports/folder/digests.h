/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SHA256SUMS of an output folder: SHA-256 of results.jsonl, of what the device said on its console and of each file of
 * evidence, in the form that sha256sum(1) reads. A command writes it at its end, so that whoever has the list, or a
 * signature over it, sees what was changed afterwards. Reports are not in it: they are made of the results, and can be
 * made again.
 */
#ifndef REPORTS_DIGESTS_H
#define REPORTS_DIGESTS_H

#include <stddef.h>
#include <stdint.h>

#include "reports/folder/folder.h"
#include "reports/file/place.h"
#include "base/sentence.h"

#define DIGESTS_FILE "SHA256SUMS"

/* SHA-256 as hexadecimal digits, with the zero octet. */
enum { DIGEST_TEXT_OCTETS = 65 };

/* Of octets in memory. */
void digest_of_octets(const void *octets, size_t count, char text[static DIGEST_TEXT_OCTETS]);

/* Writes the list of what is there now. 0, or -1 with the sentence set; an older list is gone then. */
int digests_write(struct folder *folder, struct iwarp_sentence *error);

/* What a list says of one file; `what`: "differs", "is missing" or "is not in the list". */
typedef void digests_complaint(void *user, const char *name, const char *what);

enum { DIGESTS_DIFFER = 1, DIGESTS_UNKNOWN = 2 };

/*
 * Compares the folder with its list, and calls `complain` for each file that has changed, that is missing, or that the list should have: one
 * that is in the folder, or that the results name as evidence. *count becomes the number of files in the list. Returns
 *     0                 every file is as it was written
 *     DIGESTS_DIFFER    `complain` was called
 *     DIGESTS_UNKNOWN   the folder has no list, the list is malformed, or the results cannot be read; the sentence says which
 *     -1                the folder cannot be read; the sentence says why
 */
int digests_verify(const char *path, digests_complaint *complain, void *user, size_t *count,
                   struct iwarp_sentence *error);

#endif
