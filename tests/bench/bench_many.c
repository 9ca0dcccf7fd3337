/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_many LAYER COUNT once|row: a pcap on standard output of COUNT short conversations of the layer (tcp, sctp, cm),
 * all of them open at once, or one after another. What `audit -` takes of time and memory for them is measured by
 * tests/bench/run.sh.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/many.h"

static uint64_t time_us = UINT64_C(1000000000000);

static void put(enum many_layer layer, uint32_t number, unsigned step)
{
    uint8_t frame[MANY_FRAME_MAX];
    uint32_t octets = (uint32_t)many_frame(layer, number, step, frame);
    uint32_t record[4] = {(uint32_t)(time_us / 1000000), (uint32_t)(time_us % 1000000), octets, octets};

    time_us += 2;
    if (octets == 0 || fwrite(record, sizeof(record), 1, stdout) != 1 || fwrite(frame, octets, 1, stdout) != 1) {
        (void)fprintf(stderr, "bench_many: cannot write\n");
        exit(EXIT_FAILURE);
    }
}

int main(int argc, char **argv)
{
    static const uint32_t head[6] = {0xA1B2C3D4, 2 | 4 << 16, 0, 0, 65535, 1};
    enum many_layer layer = argc == 4 ? many_layer_of(argv[1]) : MANY_LAYERS;
    uint32_t count = argc == 4 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;

    if (layer == MANY_LAYERS || count == 0 || (strcmp(argv[3], "once") != 0 && strcmp(argv[3], "row") != 0)) {
        (void)fprintf(stderr, "usage: bench_many tcp|sctp|cm COUNT once|row\n");
        return 2;
    }
    if (fwrite(head, sizeof(head), 1, stdout) != 1)
        return EXIT_FAILURE;
    if (strcmp(argv[3], "row") == 0) {
        for (uint32_t number = 0; number < count; number++)
            for (unsigned step = 0; step < many_steps(layer); step++)
                put(layer, number, step);
    } else {
        for (unsigned step = 0; step < many_steps(layer); step++)
            for (uint32_t number = 0; number < count; number++)
                put(layer, number, step);
    }
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
