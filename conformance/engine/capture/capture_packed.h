/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compressed captures as streams: gzip by zlib, zstd by libzstd, lz4 frames by liblz4. Only one buffer of the
 * decompressed octets is in memory at a time.
 */
#ifndef CONFORMANCE_ENGINE_CAPTURE_PACKED_H
#define CONFORMANCE_ENGINE_CAPTURE_PACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/sentence.h"

/*
 * A capture compresses by a factor of 2 to 20, one of equal frames by 1,000 and more. A file beyond both limits is an
 * attack on the reader, and reading it ends with an error.
 */
enum { CAPTURE_PACKED_RATIO_MAX = 2000, CAPTURE_PACKED_FREE_OCTETS = 1 << 26, CAPTURE_PACKED_MAGIC_OCTETS = 4 };

struct capture_packed; /* opaque */

/* The format whose first octets these are ("gzip", "zstd", "lz4"), NULL: none that is read. */
const char *capture_packed_name(const uint8_t *octets, size_t count);

/*
 * When the file begins with the first octets of such a format: another FILE that gives the octets which were
 * compressed, and *packed for the sentence of an error; it owns `file` from then on and cannot seek. Else `file` as it
 * was, and *packed NULL. NULL with the sentence set: no memory; `file` is closed then.
 */
FILE *capture_packed_open(FILE *file, struct capture_packed **packed, struct iwarp_sentence *error);

/* Why reading failed: it is damaged, cut, beyond the limits, or memory was short. "" when it did not. */
const char *capture_packed_error(const struct capture_packed *packed);

/* Frees what is left when the FILE has been closed; NULL is allowed. */
void capture_packed_free(struct capture_packed *packed);

#endif
