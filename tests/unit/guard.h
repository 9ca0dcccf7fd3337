/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Support for tests of parsers: octets that end where the mapped memory ends, so that reading one octet too many
 * kills the test, and repeatable noise.
 */
#ifndef TESTS_UNIT_GUARD_H
#define TESTS_UNIT_GUARD_H

#include <check.h>
#include <stddef.h>
#include <stdint.h>

enum { GUARD_OCTETS_MAX = 0x20000 };

/*
 * Copies `count` octets (at most GUARD_OCTETS_MAX; NULL stands for zeros) to a place of this process alone whose end
 * is an inaccessible page. Returns the copy, which is valid for good: each call maps its own pages.
 */
uint8_t *guard_place(const uint8_t *octets, size_t count);

/* Unmaps what guard_place() gave for `count` octets. */
void guard_free(uint8_t *octets, size_t count);

/* ck_assert_msg() for inner loops: Check writes a note to a file for each assertion, this only for one that fails. */
#define EXPECT(condition, ...)                                                                                         \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            ck_abort_msg(__VA_ARGS__);                                                                                 \
    } while (0)

/* The next number of a repeatable series (splitmix64); any state is a good beginning. */
uint64_t noise(uint64_t *state);

/* Fills `count` octets with noise. */
void noise_fill(uint64_t *state, uint8_t *octets, size_t count);

#endif
