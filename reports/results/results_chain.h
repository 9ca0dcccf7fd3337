/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All lines of a results.jsonl before its summary, as a number of lines and a CRC32C over their octets: the summary has
 * both, so that a line that is lost, or another one, shows. It guards against accidents; against people there is
 * SHA256SUMS (docs/trust.md).
 */
#ifndef REPORTS_RESULTS_CHAIN_H
#define REPORTS_RESULTS_CHAIN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Begins as RESULTS_CHAIN_START. */
struct results_chain {
    uint64_t lines;
    uint32_t state;
};

#define RESULTS_CHAIN_START ((struct results_chain){0, 0xFFFFFFFFu})

/* Adds octets, newlines included. */
void results_chain_add(struct results_chain *chain, const char *octets, size_t count);

/* Sets the member "chain" of a summary. 0, or -1 without memory. */
int results_chain_set(const struct results_chain *chain, json_t *summary);

/* Whether the summary has the member, and another number of lines or other octets. */
bool results_chain_differs(const struct results_chain *chain, const json_t *summary);

#endif
