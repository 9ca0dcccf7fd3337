/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of options that are an amount with a unit: sizes and times. */
#ifndef REFERENCE_STACK_AMOUNT_H
#define REFERENCE_STACK_AMOUNT_H

#include <stdint.h>

#include "base/sentence.h"

enum { AMOUNT_TEXT_OCTETS = 24 };

/* The most that an option for memory or a file's size takes, and the longest time that something may go on. */
#define AMOUNT_MEMORY_MOST  (UINT64_C(1) << 40)
#define AMOUNT_SECONDS_MOST (UINT64_C(3650) * 86400)

/*
 * "512M": octets, with K, M or G for 2^10, 2^20 or 2^30 of them. 0, or -1 with a sentence that names the option, the
 * limits and `example`, "512M or 4G".
 */
int amount_octets(const char *option, const char *value, uint64_t least, uint64_t most, const char *example,
                  uint64_t *octets, struct iwarp_sentence *error);

/* The same number as amount_octets() reads it, with the largest unit that divides it. Returns `text`. */
const char *amount_octets_text(uint64_t octets, char text[AMOUNT_TEXT_OCTETS]);

/* "90s", "30m", "24h", "7d"; seconds without a unit. 0, or -1 with a sentence. */
int amount_seconds(const char *option, const char *value, uint64_t least, uint64_t most, uint64_t *seconds,
                   struct iwarp_sentence *error);

/* The same number as amount_seconds() reads it, with the largest unit that divides it: "2m". Returns `text`. */
const char *amount_seconds_text(uint64_t seconds, char text[AMOUNT_TEXT_OCTETS]);

#endif
