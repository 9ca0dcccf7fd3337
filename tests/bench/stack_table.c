/* SPDX-License-Identifier: BSD-2-Clause */
/* Both, in turns. */
#include "tests/bench/stack_table.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/atomic.h"
#include "wire/crc32c.h"

static const char *const names[] = {"Write", "Read", "Send", "Send ping-pong", "FetchAdd"};

enum { ROUNDS_MAX = 99, AIMED = 65536, AIMED_ROUNDS = 3, SIZES = 6, CELLS = (SEND + 1) * SIZES + 2 };

/* A line of the table. */
struct cell {
    enum kind kind;
    size_t size;
    int rounds, done;
    double theirs[ROUNDS_MAX], ours[ROUNDS_MAX], ratios[ROUNDS_MAX], processor[ROUNDS_MAX];
    struct usage their_use, our_use; /* of all rounds together */
};

static bool aimed(enum kind kind, size_t size)
{
    return kind == PING || (kind != ATOMIC && size >= AIMED);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof(*values), by_size);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static void usage_add(struct usage *sum, const struct usage *use)
{
    sum->user += use->user;
    sum->system += use->system;
    sum->switches += use->switches;
}

/* One more round, if the cell is to have it. */
static void cell_round(struct cell *cell, stack_run *run, double limit)
{
    struct result theirs = {.rate = 1, .each = {.user = 1}}, ours;
    int i = cell->done;

    if (i == cell->rounds)
        return;
    if (cell->kind != ATOMIC)
        theirs = run(true, cell->kind, cell->size, limit);
    ours = run(false, cell->kind, cell->size, limit);
    cell->theirs[i] = theirs.rate;
    cell->ours[i] = ours.rate;
    /* Of throughputs, or of the times of a round trip. */
    cell->ratios[i] = cell->kind == PING ? theirs.rate / ours.rate : ours.rate / theirs.rate;
    cell->processor[i] = (ours.each.user + ours.each.system) / (theirs.each.user + theirs.each.system);
    usage_add(&cell->our_use, &ours.each);
    usage_add(&cell->their_use, &theirs.each);
    cell->done++;
}

/* What a MB or a round has taken: where the processor's time goes. */
static void usage_print(const struct cell *cell)
{
    double each = (cell->kind == PING ? 1e6 : 1e12) / cell->done, count = each / 1e6;
    const struct usage *ours = &cell->our_use, *theirs = &cell->their_use;

    printf("    %s: %.1f us in user space, %.1f us in the kernel, %.2f context switches; plain: %.1f, %.1f, %.2f\n",
           cell->kind == PING ? "a round" : "a MB", ours->user * each, ours->system * each, ours->switches * count,
           theirs->user * each, theirs->system * each, theirs->switches * count);
}

/* Of a MB in runs of which the stack makes its CRCs: each end computes one. */
static void crc_print(void)
{
    enum { RUN = 6144, RUNS = 10000 };
    static uint8_t octets[1 << 20];
    struct usage before, each;
    uint32_t sum = 0;

    memset(octets, 3, sizeof(octets));
    before = usage_now();
    for (size_t i = 0; i < RUNS; i++)
        sum ^= crc32c(octets + i * RUN % (sizeof(octets) - RUN), RUN);
    each = usage_each(&before, (double)RUNS * RUN);
    printf("  CRC32C of a MB: %.1f us at each end (%08x)\n", 1e12 * (each.user + each.system), (unsigned)sum);
}

/* Returns the ratio. */
static double cell_print(struct cell *cell, const char *other)
{
    double theirs = median(cell->theirs, cell->done), ours = median(cell->ours, cell->done);
    double ratio = median(cell->ratios, cell->done);

    printf("  %-16s %8zu octets  ", names[cell->kind], cell->kind == ATOMIC ? ATOMIC_TARGET_OCTETS : cell->size);
    if (cell->kind == ATOMIC) {
        printf("%9.0f a second\n", ours);
        return ratio;
    }
    if (cell->kind == PING)
        printf("%9.2f us a round  plain %s %9.2f us    ", 1e6 / ours, other, 1e6 / theirs);
    else
        printf("%9.1f MB/s        plain %s %9.1f MB/s  ", ours / 1e6, other, theirs / 1e6);
    printf("ratio %.2f (%.2f to %.2f)  cpu %.2f\n", ratio, cell->ratios[0], cell->ratios[cell->done - 1],
           median(cell->processor, cell->done));
    if (aimed(cell->kind, cell->size))
        usage_print(cell);
    return ratio;
}

/* Makes a cell for each kind and size that was chosen; returns the number of cells. */
static int cells_choose(struct cell *cells, const char *only, size_t only_size, int rounds)
{
    static const size_t sizes[SIZES] = {64, 1024, 4096, 16384, 65536, 1 << 20};
    int count = 0;

    for (enum kind kind = WRITE; kind <= ATOMIC; kind++) {
        for (size_t i = 0; i < (kind <= SEND ? SIZES : 1); i++) {
            size_t size = kind == ATOMIC ? 1 : sizes[i];

            if ((only != NULL && strcmp(only, names[kind]) != 0) || (only_size != 0 && only_size != size))
                continue;
            cells[count++] =
                (struct cell){.kind = kind, .size = size, .rounds = aimed(kind, size) ? AIMED_ROUNDS * rounds : rounds};
        }
    }
    return count;
}

void stack_table(int argc, char **argv, const char *other, stack_run *run)
{
    static struct cell cells[CELLS];
    double limit = argc > 1 ? atof(argv[1]) : 0.3;
    int rounds = argc > 2 ? atoi(argv[2]) : 3;
    const char *only = argc > 3 && *argv[3] != '\0' ? argv[3] : NULL;
    size_t only_size = argc > 4 ? (size_t)atol(argv[4]) : 0;
    double ratios[SEND + 1][2] = {{0}}, latency = 0;
    int count;

    rounds = rounds < 1 ? 1 : rounds > ROUNDS_MAX / AIMED_ROUNDS ? ROUNDS_MAX / AIMED_ROUNDS : rounds;
    count = cells_choose(cells, only, only_size, rounds);
    for (int round = 0; round < AIMED_ROUNDS * rounds; round++)
        for (int i = 0; i < count; i++)
            cell_round(&cells[i], run, limit);
    for (int i = 0; i < count; i++) {
        double ratio = cell_print(&cells[i], other);

        if (cells[i].kind == PING)
            latency = ratio;
        else if (aimed(cells[i].kind, cells[i].size) || only_size != 0)
            ratios[cells[i].kind][cells[i].size > AIMED] = ratio;
    }
    crc_print();
    printf("ratios");
    for (int large = 0; large < 2; large++)
        for (enum kind kind = WRITE; kind <= SEND; kind++)
            printf(" %.2f", ratios[kind][large]);
    printf(" %.2f\n", latency);
}
