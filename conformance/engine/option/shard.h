/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `--shard i/n`: divides the work of one command among n commands that do not communicate. Each computes the same
 * division and does its own part. The parts are disjoint, and together they are the whole. A digest of the whole goes
 * into the results, so that parts of different wholes are never merged (reports/merge/merge.h).
 */
#ifndef CONFORMANCE_ENGINE_SHARD_H
#define CONFORMANCE_ENGINE_SHARD_H

#include <stddef.h>
#include <stdint.h>

#include "reports/merge/merge.h"
#include "base/digest.h"
#include "base/sentence.h"

enum { SHARDS_MAX = MERGE_SHARDS_MAX, SHARD_DIGEST_OCTETS = 17 };

struct shard {
    unsigned index; /* from 1 */
    unsigned of;    /* 0: no shards */
};

/* "2/4". 0, or -1 with the sentence set. */
int shard_parse(struct shard *shard, const char *text, struct iwarp_sentence *error);

/* "2/4" again. */
void shard_label(const struct shard *shard, char *text, size_t room);

/*
 * Divides `count` units by their weights among `of` shards: owner[k] becomes the shard (from 1) of unit k. The heaviest
 * unit is assigned first, and each unit goes to the lightest shard: no shard is heavier than the lightest by more than
 * one unit. The same weights give the same division on every machine. 0, or -1 with the sentence set (memory).
 */
int shard_assign(const uint64_t *weights, size_t count, unsigned of, unsigned *owner, struct iwarp_sentence *error);

/* A digest (base/digest.h) of what is divided: each unit's texts and numbers in order. */
void shard_digest_show(uint64_t digest, char text[SHARD_DIGEST_OCTETS]);

#endif
