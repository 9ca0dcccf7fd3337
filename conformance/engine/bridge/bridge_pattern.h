/* SPDX-License-Identifier: BSD-2-Clause */
/* Octets of which each seed has others, as upper testers take and show them: two hex digits an octet. Pure. */
#ifndef CONFORMANCE_ENGINE_BRIDGE_PATTERN_H
#define CONFORMANCE_ENGINE_BRIDGE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

/* The caller's to free(); NULL is out of memory. */
char *bridge_pattern(unsigned seed, size_t octets);

/* Octets from `at` on are the pattern's from there. `partly`: each of them may be 0 as well. `text` has at least as many. */
bool bridge_pattern_is(const char *text, size_t at, size_t octets, unsigned seed, bool partly);

/* Octets from `at` on are 0. */
bool bridge_pattern_zero(const char *text, size_t at, size_t octets);

#endif
