/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory that the upper tester registers: it lies between guard octets, which nothing may change. */
#ifndef REFERENCE_STACK_PEER_MEMORY_H
#define REFERENCE_STACK_PEER_MEMORY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct peer;
struct iwarp_sentence;

/* So many octets of zero; NULL: memory is short. The peer's until peer_memory_free(). */
uint8_t *peer_memory_new(struct peer *peer, size_t octets);
void peer_memory_free(struct peer *peer, uint8_t *octets);

/* All of it: no stream uses any more. */
void peer_memory_clear(struct peer *peer);

/*
 * Memory that its ULP has mapped for reading alone ("mapping": "read_only") has no local write right, and is registered
 * for no writing by peers: -1 with a sentence (RFC 5041 8.3.2, RFC 5040 8.1.2 item 4).
 */
int peer_memory_mapping(const struct peer *peer, const json_t *command, unsigned *access,
                        struct iwarp_sentence *sentence);

/* Are the octets in front of it and behind it what they were? */
bool peer_memory_guarded(const uint8_t *octets);

#endif
