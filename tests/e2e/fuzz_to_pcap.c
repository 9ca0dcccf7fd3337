/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_to_pcap FOLDER: inputs of tests/fuzz/fuzz_capture.c as capture files for Wireshark, FOLDER/LINKTYPE.pcap: the
 * frames of all inputs of a link type, one input after the other. The paths of the inputs come from stdin, each with a
 * NUL after it: a corpus that has grown overnight has more of them than a command line holds.
 */
#define _POSIX_C_SOURCE 200809L /* getdelim */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* In the order of fuzz_capture.c: Ethernet, raw IP, BSD loopback, SLL, SLL2, OpenBSD loopback, InfiniBand, ERF. */
static const uint32_t links[] = {1, 101, 0, 113, 276, 108, 247, 197};
enum { LINKS = sizeof(links) / sizeof(links[0]), INPUT_MAX = 1 << 20 };

static void put32(FILE *file, uint32_t value)
{
    for (unsigned i = 0; i < 32; i += 8)
        fputc((int)(value >> i & 0xFF), file);
}

static FILE *open_capture(const char *folder, uint32_t link)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%u.pcap", folder, link);
    file = fopen(path, "wb");
    if (file == NULL) {
        perror(path);
        exit(2);
    }
    put32(file, 0xA1B2C3D4);
    put32(file, 2 | 4 << 16);
    put32(file, 0);
    put32(file, 0);
    put32(file, 262144);
    put32(file, link);
    return file;
}

static void put_frames(FILE *file, const uint8_t *data, size_t size, uint64_t *time_us)
{
    for (size_t at = 1; size - at >= 3;) {
        size_t captured = (size_t)data[at] << 8 | data[at + 1], cut = data[at + 2];

        at += 3;
        if (captured > size - at)
            captured = size - at;
        *time_us += 1000;
        put32(file, (uint32_t)(1700000000 + *time_us / 1000000));
        put32(file, (uint32_t)(*time_us % 1000000));
        put32(file, (uint32_t)captured);
        put32(file, (uint32_t)(captured + cut));
        fwrite(data + at, 1, captured, file);
        at += captured;
    }
}

int main(int argc, char **argv)
{
    static uint8_t data[INPUT_MAX];
    FILE *files[LINKS];
    uint64_t time_us = 0;
    char *path = NULL;
    size_t room = 0;

    if (argc != 2) {
        fprintf(stderr, "usage: fuzz_to_pcap FOLDER <PATHS\n");
        return 2;
    }
    for (size_t i = 0; i < LINKS; i++)
        files[i] = open_capture(argv[1], links[i]);
    while (getdelim(&path, &room, '\0', stdin) > 0) {
        FILE *input = fopen(path, "rb");
        size_t size = input == NULL ? 0 : fread(data, 1, sizeof(data), input);

        if (size != 0)
            put_frames(files[data[0] % LINKS], data, size, &time_us);
        if (input != NULL)
            fclose(input);
    }
    for (size_t i = 0; i < LINKS; i++)
        fclose(files[i]);
    free(path);
    return 0;
}
