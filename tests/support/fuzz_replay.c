/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A fuzz target without a fuzzer and without sanitizers, for processors that have neither (tools/arch.sh): each input
 * below the files and folders that are named goes through once. What has to hold for every input is checked by the
 * target itself. The last line says how many.
 */
#define _GNU_SOURCE
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/fuzz/fuzz.h"

enum { FOLDERS_OPEN = 16, INPUT_MOST = 1 << 20 };

#pragma weak LLVMFuzzerInitialize

bool fuzz_compares;

/* What the sanitizer would offer: there is none. */
void *__asan_region_is_poisoned(void *begin, size_t size);
void __asan_poison_memory_region(void const volatile *begin, size_t size);
void __asan_unpoison_memory_region(void const volatile *begin, size_t size);

void *__asan_region_is_poisoned(void *begin, size_t size)
{
    (void)begin;
    (void)size;
    return NULL;
}

void __asan_poison_memory_region(void const volatile *begin, size_t size)
{
    (void)begin;
    (void)size;
}

void __asan_unpoison_memory_region(void const volatile *begin, size_t size)
{
    (void)begin;
    (void)size;
}

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room)
{
    (void)data;
    (void)room;
    return size; /* no input is changed here */
}

void fuzz_keep_begin(void)
{
}

void fuzz_keep_end(void)
{
}

static unsigned long inputs;

static int replay(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    static uint8_t octets[INPUT_MOST];
    uint8_t *copy;
    size_t count;
    FILE *file;

    (void)status;
    (void)walk;
    if (type != FTW_F)
        return 0;
    file = fopen(path, "rb");
    FUZZ_HOLDS(file != NULL);
    count = fread(octets, 1, sizeof(octets), file);
    FUZZ_HOLDS(!ferror(file) && count < sizeof(octets));
    (void)fclose(file);
    copy = fuzz_copy(octets, count);
    (void)LLVMFuzzerTestOneInput(copy, count);
    free(copy);
    inputs++;
    return 0;
}

int main(int argc, char **argv)
{
    if (LLVMFuzzerInitialize != NULL)
        (void)LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; i < argc; i++)
        if (nftw(argv[i], replay, FOLDERS_OPEN, FTW_PHYS) != 0) {
            (void)fprintf(stderr, "%s: cannot be read\n", argv[i]);
            return EXIT_FAILURE;
        }
    (void)printf("%lu inputs\n", inputs);
    return inputs != 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
