/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * capture_chop SEED HOW IN OUT: a classic pcap file made worse, always the same way for one SEED. HOW is a word of
 * letters:
 *
 *     d  ranges of frames dropped        r  frames change places with near ones       2  frames come twice
 *     s  frames cut to some length       x  single octets after the headers changed
 *
 * Times stay in rising order, as in a capture that was taken so.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES_MAX = 100000, HEAD = 24, RECORD = 16, REACH = 6, HEADERS = 54 };

struct frame {
    uint8_t *octets;
    uint32_t captured, length;
};

struct capture {
    uint8_t head[HEAD];
    struct frame frames[FRAMES_MAX];
    size_t count;
    uint64_t state;
};

static uint32_t draw(struct capture *capture, uint32_t below)
{
    uint64_t z = capture->state += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return (uint32_t)((z ^ z >> 31) % below);
}

static uint32_t get32(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void put32(FILE *file, uint32_t value)
{
    for (unsigned i = 0; i < 32; i += 8)
        fputc((int)(value >> i & 0xFF), file);
}

static int read_capture(struct capture *capture, const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t record[RECORD];

    if (file == NULL || fread(capture->head, 1, HEAD, file) != HEAD || get32(capture->head) != 0xA1B2C3D4)
        return -1;
    while (capture->count < FRAMES_MAX && fread(record, 1, RECORD, file) == RECORD) {
        struct frame *frame = &capture->frames[capture->count];

        frame->captured = get32(record + 8);
        frame->length = get32(record + 12);
        frame->octets = malloc((size_t)frame->captured + 1);
        if (frame->octets == NULL || fread(frame->octets, 1, frame->captured, file) != frame->captured)
            return -1;
        capture->count++;
    }
    return fclose(file);
}

static void drop_range(struct capture *capture)
{
    size_t from = draw(capture, (uint32_t)capture->count), count = 1 + draw(capture, (uint32_t)capture->count / 8 + 1);

    if (from + count > capture->count)
        count = capture->count - from;
    memmove(&capture->frames[from], &capture->frames[from + count],
            (capture->count - from - count) * sizeof(capture->frames[0]));
    capture->count -= count;
}

static bool is_edge(const struct frame *frame)
{
    size_t flags = 14 + (frame->octets[12] == 0x86 ? 40 : 20) + 13; /* Ethernet, IP without options */

    return frame->captured > flags && (frame->octets[flags] & (2 | 4)) != 0;
}

/* Nothing changes places with a SYN or RST: what stands on their other side is of another connection, or of none. */
static void reorder(struct capture *capture)
{
    for (size_t i = 0; i + 1 < capture->count; i++) {
        size_t other = i + 1 + draw(capture, REACH);
        struct frame frame;
        bool edge = false;

        if (draw(capture, 4) != 0 || other >= capture->count)
            continue;
        for (size_t j = i; j <= other; j++)
            edge = edge || is_edge(&capture->frames[j]);
        if (edge)
            continue;
        frame = capture->frames[i];
        capture->frames[i] = capture->frames[other];
        capture->frames[other] = frame;
    }
}

static void repeat(struct capture *capture)
{
    size_t at = draw(capture, (uint32_t)capture->count), to = at + 1 + draw(capture, REACH);

    if (capture->count == FRAMES_MAX)
        return;
    if (to > capture->count)
        to = capture->count;
    memmove(&capture->frames[to + 1], &capture->frames[to], (capture->count - to) * sizeof(capture->frames[0]));
    capture->frames[to] = capture->frames[at];
    capture->count++;
}

static void cut(struct capture *capture)
{
    uint32_t length = HEADERS + draw(capture, 500);

    for (size_t i = 0; i < capture->count; i++)
        if (capture->frames[i].captured > length)
            capture->frames[i].captured = length;
}

static void damage(struct capture *capture)
{
    for (unsigned i = 0; i < 5; i++) {
        struct frame *frame = &capture->frames[draw(capture, (uint32_t)capture->count)];

        if (frame->captured > HEADERS)
            frame->octets[HEADERS + draw(capture, frame->captured - HEADERS)] ^= (uint8_t)(1u << draw(capture, 8));
    }
}

static void worsen(struct capture *capture, char how)
{
    if (capture->count == 0)
        return;
    switch (how) {
    case 'd': drop_range(capture); break;
    case 'r': reorder(capture); break;
    case '2': repeat(capture); break;
    case 's': cut(capture); break;
    case 'x': damage(capture); break;
    default: fprintf(stderr, "capture_chop: '%c'?\n", how); exit(2);
    }
}

int main(int argc, char **argv)
{
    struct capture *capture = calloc(1, sizeof(*capture));
    FILE *file;

    if (argc != 5 || capture == NULL || read_capture(capture, argv[3]) != 0) {
        fprintf(stderr, "usage: capture_chop SEED [dr2sx]... IN OUT\n");
        free(capture);
        return 2;
    }
    capture->state = strtoull(argv[1], NULL, 10);
    for (const char *how = argv[2]; *how != '\0'; how++)
        worsen(capture, *how);
    file = fopen(argv[4], "wb");
    if (file == NULL)
        return 2;
    fwrite(capture->head, 1, HEAD, file);
    for (size_t i = 0; i < capture->count; i++) {
        put32(file, 1700000000);
        put32(file, (uint32_t)i * 250);
        put32(file, capture->frames[i].captured);
        put32(file, capture->frames[i].length);
        fwrite(capture->frames[i].octets, 1, capture->frames[i].captured, file);
    }
    return fclose(file) == 0 ? 0 : 2;
}
