/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory of one input. While an input runs, what the project's own code asks malloc() for comes from here (the
 * linker wraps the calls: mk/variant.mk), at a tenth of the time that the sanitizer's allocator takes, which was most
 * of the time that an input took. Nothing gets lost by it: each piece has poisoned space around it, what is given
 * back is poisoned and not given out again during the same input, and what has not been given back at the input's end
 * is found at once.
 *
 * So does what jansson asks for. A piece that is large, and what other libraries allocate, is the sanitizer's as
 * ever. FUZZ_ARENA=0 in the environment makes all of it so: then a report names where a piece came from.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include <jansson.h>
#include <sys/mman.h>

#include "tests/fuzz/fuzz.h"

enum { UNIT = 16, RED_ZONE = 16, PIECE_MAX = 1 << 20, KEPT_OCTETS = 16 << 20 };

#define ARENA_OCTETS ((size_t)256 << 20)
#define IN_USE       UINT64_C(0x5AFE5AFE5AFE5AFE)

void *__real_malloc(size_t octets);
void *__real_calloc(size_t count, size_t octets);
void *__real_realloc(void *memory, size_t octets);
void __real_free(void *memory);
int __real_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

void *__wrap_malloc(size_t octets);
void *__wrap_calloc(size_t count, size_t octets);
void *__wrap_realloc(void *memory, size_t octets);
void __wrap_free(void *memory);
int __wrap_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* In front of each piece, poisoned as the space after it is. */
struct head {
    size_t octets;
    uint64_t in_use; /* IN_USE, or something else */
};

static struct {
    uint8_t *begin, *at, *end;
    size_t live;
    bool on; /* an input runs */
} arena;

static void arena_make(void)
{
    const char *text = getenv("FUZZ_ARENA");

    if (text != NULL && strcmp(text, "0") == 0)
        return;
    arena.begin = mmap(NULL, ARENA_OCTETS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    FUZZ_HOLDS(arena.begin != MAP_FAILED);
    arena.at = arena.begin;
    arena.end = arena.begin + ARENA_OCTETS;
    __asan_poison_memory_region(arena.begin, ARENA_OCTETS);
    json_set_alloc_funcs(__wrap_malloc, __wrap_free);
}

static bool is_ours(const void *memory)
{
    return (const uint8_t *)memory >= arena.begin && (const uint8_t *)memory < arena.end;
}

static struct head head_get(const void *memory)
{
    return ((const struct head *)memory)[-1];
}

static void head_set(void *memory, size_t octets, uint64_t in_use)
{
    ((struct head *)memory)[-1] = (struct head){octets, in_use};
}

/* NULL: the piece is too large, or no input runs. */
static void *take(size_t octets)
{
    size_t whole = sizeof(struct head) + (octets + UNIT - 1) / UNIT * UNIT + RED_ZONE;
    uint8_t *memory;

    if (!arena.on || octets > PIECE_MAX || whole > (size_t)(arena.end - arena.at))
        return NULL;
    memory = arena.at + sizeof(struct head);
    arena.at += whole;
    arena.live++;
    head_set(memory, octets, IN_USE);
    __asan_unpoison_memory_region(memory, octets);
    return memory;
}

static void give_back(void *memory)
{
    struct head head = head_get(memory);

    FUZZ_HOLDS(head.in_use == IN_USE); /* else it was given back twice, or never given out */
    head_set(memory, head.octets, 0);
    arena.live--;
    __asan_poison_memory_region(memory, head.octets);
}

void *__wrap_malloc(size_t octets)
{
    void *memory = take(octets);

    return memory != NULL ? memory : __real_malloc(octets);
}

void *__wrap_calloc(size_t count, size_t octets)
{
    void *memory = octets == 0 || count <= PIECE_MAX / octets ? take(count * octets) : NULL;

    return memory != NULL ? memset(memory, 0, count * octets) : __real_calloc(count, octets);
}

void *__wrap_realloc(void *memory, size_t octets)
{
    size_t had;
    void *moved;

    if (memory != NULL && !is_ours(memory))
        return __real_realloc(memory, octets);
    if (memory == NULL)
        return __wrap_malloc(octets);
    had = head_get(memory).octets;
    moved = __wrap_malloc(octets);
    if (moved == NULL)
        return NULL;
    memcpy(moved, memory, had < octets ? had : octets);
    give_back(memory);
    return moved;
}

void __wrap_free(void *memory)
{
    if (is_ours(memory))
        give_back(memory);
    else
        __real_free(memory);
}

int __wrap_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool made;
    static unsigned inputs;
    int result;

    if (!made)
        arena_make();
    made = true;
    arena.on = arena.begin != NULL;
    fuzz_compares = inputs++ % FUZZ_COMPARES_EVERY == 0;
    result = __real_LLVMFuzzerTestOneInput(data, size);
    arena.on = false;
    FUZZ_HOLDS(arena.live == 0); /* else the input leaves memory behind: FUZZ_ARENA=0 says where it came from */
    if ((size_t)(arena.at - arena.begin) > KEPT_OCTETS)
        (void)madvise(arena.begin + KEPT_OCTETS, ARENA_OCTETS - KEPT_OCTETS, MADV_DONTNEED);
    arena.at = arena.begin;
    return result;
}

void fuzz_keep_begin(void)
{
    arena.on = false;
}

void fuzz_keep_end(void)
{
    arena.on = arena.begin != NULL;
}
