/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages and receives that lie in several pieces of the ULP's memory, and messages that the library keeps a copy of.
 * Each is one allocation, which belongs to the work that it was posted with.
 */
#ifndef REFERENCE_STACK_SPAN_LIST_H
#define REFERENCE_STACK_SPAN_LIST_H

#include "iwarp/stream.h"

struct span_list {
    struct span_list *next; /* of those that are over */
    size_t count;
    struct iwarp_buffer spans[]; /* of a message they are only read */
};

/*
 * Adds up the octets of `count` pieces. -1 with a sentence: too many pieces, octets that are missing, 2^32 octets or
 * more (RFC 5041 5.2: the length of a message is below that).
 */
int span_list_add_up(const struct iwarp_span *pieces, size_t count, size_t *octets, struct iwarp_sentence *sentence);

/* The pieces. NULL: no memory. The caller frees it with free(). */
struct span_list *span_list_new(const struct iwarp_span *pieces, size_t count);

/* One piece, which holds a copy of the `octets` of all of them. NULL: no memory. The caller frees it with free(). */
struct span_list *span_list_copy(const struct iwarp_span *pieces, size_t count, size_t octets);

/* Where the octet at `offset` is, and in *octets how many follow it in its piece. NULL: there is none. */
uint8_t *span_list_at(const struct span_list *list, uint64_t offset, size_t *octets);

/* Reads `octets` from `offset` on into `to`, as far as there are any; writes them from `from`. */
void span_list_read(const struct span_list *list, uint64_t offset, uint8_t *to, size_t octets);
void span_list_write(const struct span_list *list, uint64_t offset, const uint8_t *from, size_t octets);

#endif
