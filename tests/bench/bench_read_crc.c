/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_read_crc FILE: reads a pcap file of this machine's order of octets in blocks of 256 KiB and runs CRC32C over what follows the headers of each
 * frame, where it was read to, nothing else: the yardstick for `warpcheck audit`, which cannot do with less. Prints frames,
 * octets and a checksum of the CRCs.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wire/crc32c.h"

enum {
    FILE_HEADER = 24,
    FRAME_HEADER = 16,
    CAPTURED_AT = 8,
    HEADERS = 54, /* Ethernet, IPv4, TCP */
    BLOCK = 1 << 18
};

static uint8_t octets[2 * BLOCK]; /* the frame that a block ends in comes before the next one */
static uint64_t frames, judged;
static uint32_t sum;

/* The CRC of each whole frame among these; returns the octets of whole frames. */
static size_t take(const uint8_t *at, size_t count)
{
    size_t done = 0;

    while (count - done >= FRAME_HEADER) {
        uint32_t captured;

        memcpy(&captured, at + done + CAPTURED_AT, sizeof(captured));
        if (captured > count - done - FRAME_HEADER)
            break;
        done += FRAME_HEADER;
        if (captured > HEADERS) {
            sum ^= crc32c(at + done + HEADERS, captured - HEADERS);
            judged += captured - HEADERS;
        }
        done += captured;
        frames++;
    }
    return done;
}

int main(int argc, char **argv)
{
    size_t left = 0, begin = FILE_HEADER;
    ssize_t got;
    int file;

    if (argc != 2 || (file = open(argv[1], O_RDONLY)) < 0) {
        (void)fprintf(stderr, "usage: bench_read_crc FILE\n");
        return 2;
    }
    while ((got = read(file, octets + left, BLOCK)) > 0) {
        size_t count = left + (size_t)got;
        size_t done = begin + take(octets + begin, count - begin);

        left = count - done;
        if (left > BLOCK)
            break;
        memmove(octets, octets + done, left);
        begin = 0;
    }
    (void)close(file);
    (void)printf("%" PRIu64 " frames, %" PRIu64 " octets, %08" PRIx32 "\n", frames, judged, sum);
    return got == 0 && left == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
