/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * warpcheck prove --merge: merges the outputs of several runs with --format jsonl. Merging is associative and
 * commutative, and the same output twice counts once. A defect that survived in one of them has survived; alarms are
 * collected.
 */
#ifndef CONFORMANCE_ENGINE_PROVE_MERGE_H
#define CONFORMANCE_ENGINE_PROVE_MERGE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Prints the merged result as prove does, as text or as lines of JSON that can be merged again. Returns the exit
 * status: 0 when no shard is missing, every defect is killed, and there is no alarm; 1 when a defect survived or there
 * is an alarm; 2 for files that are not of one matrix; 4 when a shard is missing.
 */
int prove_merge(const char *const *paths, size_t count, bool jsonl);

#endif
