/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `--shard i/n`: one command shared out among n that know nothing of each other. Each computes the same division of the
 * whole and does its own part: the parts are disjoint, together they are the whole, and a digest of what was divided
 * goes into the results, so that parts of different wholes are never merged (reports/merge/merge.h).
 */
#ifndef CONFORMANCE_ENGINE_SHARD_H
#define CONFORMANCE_ENGINE_SHARD_H

#include <stddef.h>
#include <stdint.h>

#include "reports/merge/merge.h"
#include "base/sentence.h"

enum { SHARDS_MAX = MERGE_SHARDS_MAX, SHARD_DIGEST_OCTETS = 17 };

struct shard {
    unsigned index; /* from 1 */
    unsigned of;    /* 0: not shared out */
};

/* "2/4". 0, or -1 with the sentence set. */
int shard_parse(struct shard *shard, const char *text, struct sentence *error);

/* "2/4" again. */
void shard_label(const struct shard *shard, char *text, size_t room);

/*
 * Divides `count` units by their weights among `of` shards: owner[k] becomes the shard (from 1) of unit k. The heaviest
 * first, each to the shard that has least: no shard is heavier than the lightest by more than one unit. The same for
 * the same weights, everywhere. 0, or -1 with the sentence set (memory).
 */
int shard_assign(const uint64_t *weights, size_t count, unsigned of, unsigned *owner, struct sentence *error);

/* A digest of what is divided: begin with SHARD_DIGEST_START, add each unit's texts and numbers in order. */
#define SHARD_DIGEST_START UINT64_C(14695981039346656037)
uint64_t shard_digest_text(uint64_t digest, const char *text);
uint64_t shard_digest_octets(uint64_t digest, const void *octets, size_t count);
uint64_t shard_digest_number(uint64_t digest, uint64_t number);
void shard_digest_show(uint64_t digest, char text[SHARD_DIGEST_OCTETS]);

#endif
