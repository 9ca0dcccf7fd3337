/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rings: a capture that its tool has divided into files. The names show which files belong together:
 *
 *   dump.pcap dump.pcap1 dump.pcap2         tcpdump -C
 *   dump.pcap00 dump.pcap01                 tcpdump -C -W, which begins again with 0 when all numbers are in use
 *   name_00001_20260101120000.pcapng        dumpcap -b; editcap -c and -i
 *   name_20260101120000_00001.pcapng        dumpcap -b nametimenum:2
 *
 * and the same with .gz, .zst or .lz4 after it. Two or more files of one folder whose names differ only in the number
 * (and in dumpcap's time, and in that last ending) are a ring.
 */
#ifndef CONFORMANCE_ENGINE_CAPTURE_RING_H
#define CONFORMANCE_ENGINE_CAPTURE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sentence.h"

enum ring_kind {
    RING_NONE,    /* no name of the forms above */
    RING_TCPDUMP, /* the number stands after the ending */
    RING_DUMPCAP, /* number and time stand before the ending */
};

enum {
    RING_DIGITS_MAX = 9,          /* of tcpdump's numbers */
    RING_DUMPCAP_NUMBERS = 100000 /* dumpcap counts modulo this */
};

/* What a path says of its place in a ring. */
struct ring_name {
    enum ring_kind kind;
    size_t stem;       /* octets of the path that the names of all files of the ring begin with */
    size_t tail;       /* where the ending begins that they have in common, */
    size_t tail_count; /* its octets */
    uint32_t number;   /* 0 when the name has none */
    bool numbered;
    bool packed;   /* .gz, .zst or .lz4 follows */
    uint64_t time; /* RING_DUMPCAP: its 14 digits YYYYMMDDhhmmss as a number; else 0 */
};

/* Reads the last part of a path. */
void ring_name_read(const char *path, struct ring_name *name);

struct capture_ring {
    char **files;      /* owned: by number, after capture_ring_order() as they were written */
    uint32_t *numbers; /* of files[] */
    size_t count;
    enum ring_kind kind;
    bool ordered;           /* by capture_ring_order(), as is what follows */
    uint64_t missing;       /* numbers between those of the files for which there is no file, */
    uint32_t missing_first; /* and the first of them */
};

/*
 * Finds the rings among paths[0..count). Where paths[i] is the first file of one, rings[i] becomes this ring, which
 * takes the strings of its other files: their paths[] become NULL. rings[] begins with NULLs. Of two files with one
 * number (one of them compressed) one is in the ring. What is no regular file is in no ring. -1 with the sentence set
 * without memory; what was found by then stays good.
 */
int capture_ring_find(char **paths, struct capture_ring **rings, size_t count, struct iwarp_sentence *error);

/*
 * Puts the files in the order in which they were written; opens each of them for the time stamp of its first frame.
 * That is the order of their numbers. Where the time stamps fall once in this order and the last is older than the
 * first, the numbers were used again, and the file after the fall is the oldest. tcpdump's files are in the order of
 * their time stamps if these contradict the numbers in other ways. A file without frames keeps its place after the file
 * before it. -1 with the sentence set without memory.
 */
int capture_ring_order(struct capture_ring *ring, struct iwarp_sentence *error);

/*
 * "in/dump.pcap1 to in/dump.pcap: a ring of 3 files, read as one capture", and in `gap` what is missing, "" for
 * nothing.
 */
void capture_ring_describe(const struct capture_ring *ring, struct iwarp_sentence *text, struct iwarp_sentence *gap);

void capture_ring_free(struct capture_ring *ring); /* NULL is allowed */

#endif
