/* SPDX-License-Identifier: BSD-2-Clause */
/* What the fuzz targets share. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <sanitizer/asan_interface.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A target may define this: called once, before the first input. */
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* A target may define this: it changes an input, and returns its new size; `seed` is the source of its choices. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);

/* libFuzzer's own mutations, for custom mutators. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);

/* A property that holds for every input; one for which it does not is kept by the fuzzer. */
#define FUZZ_HOLDS(condition)                                                                                          \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            (void)fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);                       \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

/* A copy of exactly `count` octets, so that the sanitizer sees a step past its end; the caller frees it. */
static inline uint8_t *fuzz_copy(const uint8_t *octets, size_t count)
{
    uint8_t *copy = malloc(count != 0 ? count : 1);

    if (copy == NULL)
        abort();
    if (count != 0)
        memcpy(copy, octets, count);
    return copy;
}

/* The same as a string, with an end mark. */
static inline char *fuzz_text(const uint8_t *octets, size_t count)
{
    char *text = malloc(count + 1);

    if (text == NULL)
        abort();
    if (count != 0)
        memcpy(text, octets, count);
    text[count] = '\0';
    return text;
}

/* Reads what the sanitizer says is not there: a step past the end, or of memory that was given back, is reported. */
static inline void fuzz_touch(const void *octets, size_t count)
{
    const volatile uint8_t *bad = count != 0 ? __asan_region_is_poisoned((void *)(uintptr_t)octets, count) : NULL;

    if (bad != NULL)
        (void)*bad;
}

/* The next choice of a mutator: *state begins as its seed. */
static inline uint32_t fuzz_choice(uint32_t *state, uint32_t below)
{
    *state = *state * UINT32_C(1664525) + UINT32_C(1013904223);
    return below == 0 ? 0 : (*state >> 8) % below;
}

/* libFuzzer sees what the present input compares: one input in so many (compares.c). */
enum { FUZZ_COMPARES_EVERY = 8 };
extern bool fuzz_compares;

/*
 * What a target makes once and keeps for all inputs is made between fuzz_keep_begin() and fuzz_keep_end(), or in
 * LLVMFuzzerInitialize(): memory that is asked for at other times has to be given back before the input ends (input.c).
 */
void fuzz_keep_begin(void);
void fuzz_keep_end(void);

/* Is it one JSON object with the member "ok", and where that is false with "error", a string? (valid.c) */
bool fuzz_is_answer(const char *text, size_t count);

/*
 * A file in memory, for what reads a path; "/proc/self/fd/N". One for each slot, made at its first use and kept. Its
 * contents are the octets that were put there last.
 */
enum { FUZZ_FILES = 8 };
const char *fuzz_file(unsigned slot, const void *octets, size_t count);

/* The path of a slot that was made. */
const char *fuzz_path(unsigned slot);

/* The parts of an input, between lines that begin with '=', into the slots from 0 on: their paths, at most so many. */
size_t fuzz_parts(const uint8_t *data, size_t size, const char **paths, size_t most);

/* What is in the file of this slot now, as a string that the caller frees; *count are its octets, NULL: not wanted. */
char *fuzz_file_read(unsigned slot, size_t *count);

#endif
