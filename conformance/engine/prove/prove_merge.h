/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * warpcheck prove --merge: what several gave with --format jsonl, as one. Associative and commutative, and the same
 * twice counts once: a defect that one says survived has survived, alarms are gathered.
 */
#ifndef CONFORMANCE_ENGINE_PROVE_MERGE_H
#define CONFORMANCE_ENGINE_PROVE_MERGE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Prints the merged result as prove does, as text or as lines of JSON that can be merged again. Returns the exit
 * status: 0 when all is there, every defect killed, and no alarm; 1 when not; 2 for files that are not of one matrix; 4
 * where a shard is missing.
 */
int prove_merge(const char *const *paths, size_t count, bool jsonl);

#endif
