/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The octets of a capture file one after another, where they were read to: a reader gets a pointer to as many as it asks for.
 * A file on disk is read in large blocks past stdio; of anything else no more is read than is asked for, as it may come slowly.
 */
#ifndef CONFORMANCE_ENGINE_CAPTURE_INPUT_H
#define CONFORMANCE_ENGINE_CAPTURE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct capture_input; /* opaque */

/*
 * Reads `file` from octet `at` on; it has been read up to there, and stays the caller's. `regular`: a file on disk, of which
 * the stream's own place does not change. NULL: no memory.
 */
struct capture_input *capture_input_new(FILE *file, bool regular, uint64_t at);

/*
 * The next `count` octets, valid until the next call. NULL: there are fewer, *have (0 too) of which the input has stepped over,
 * or no memory, or reading failed.
 */
const uint8_t *capture_input_next(struct capture_input *input, size_t count, size_t *have);

/* Octets of the file before the next one. */
uint64_t capture_input_place(const struct capture_input *input);

/* Why reading failed, an errno; ENOMEM: no memory; 0: the file has ended, or nothing failed. */
int capture_input_error(const struct capture_input *input);

void capture_input_free(struct capture_input *input); /* NULL is allowed */

#endif
