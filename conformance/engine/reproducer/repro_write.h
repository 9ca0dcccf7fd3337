/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A reproducer: one file of C with plain sockets that repeats what failed (repro_plan.h). Its fixed parts are those
 * blocks of reports/assets/reproducer.c.in that its steps need.
 */
#ifndef CONFORMANCE_ENGINE_REPRODUCER_WRITE_H
#define CONFORMANCE_ENGINE_REPRODUCER_WRITE_H

#include <stdio.h>

#include "conformance/engine/reproducer/repro_plan.h"

enum { REPRO_LINES_MAX = 150, REPRO_HEX_LINE = 122 };

/* Blocks of the fixed parts; "all" is always there. */
enum repro_block {
    REPRO_UPPER = 1 << 0,
    REPRO_TEXT = 1 << 1,
    REPRO_FPDU = 1 << 2,
    REPRO_CRC_SAME = 1 << 3,
    REPRO_FIELD = 1 << 4,
    REPRO_LISTEN = 1 << 5,
    REPRO_VALUE = 1 << 6,
    REPRO_ACCEPTED = 1 << 7,
    REPRO_DELIVERED = 1 << 8,
    REPRO_MEMORY_OCTETS = 1 << 9,
    REPRO_PUSH = 1 << 10,
    REPRO_COMPULSORY = 1 << 11, /* no block: it cannot do without an upper tester */
    REPRO_LEARN = 1 << 12,      /* of a CM: numbers of the device */
    REPRO_CONNECT = 1 << 13,    /* of a CM: a command that names the tester's address */
};

struct repro_writer {
    struct repro_plan *plan;
    FILE *out;
    unsigned blocks;
    bool number_known[REPRO_KEPT_MAX]; /* the stream's number is known */
    unsigned streams;                  /* bits: its number is asked for somewhere */
    bool listening;
    char push[40];                     /* the beginning of the call that sends a segment */
    bool pushed;                       /* it was written */
    uint32_t sequence[REPRO_KEPT_MAX]; /* of the tester's next octet */
    size_t missing[REPRO_KEPT_MAX];    /* octets of an FPDU that a segment has cut */
    bool began[REPRO_KEPT_MAX];        /* the tester's start-up frame was sent */
    uint64_t sent_ns[REPRO_KEPT_MAX];  /* when octets went over it last, in either direction */
    unsigned silence;                  /* seconds that the device may take; 0: the usual ones */
    struct iwarp_sentence *error;
};

/* The text, malloc'd. 0; 1 with the sentence set: it cannot be repeated so; -1 with the sentence set. */
int repro_write(struct repro_plan *plan, const char *tool, char **text, struct iwarp_sentence *error);

/* 0 if a reproducer may have so many lines; else 1 with the sentence set, and *text is freed. */
int repro_lines_fit(char **text, struct iwarp_sentence *error);

/* A call with octets as hex digits (repro_hex()), which may need several lines: `call` up to the string, and `end`
 * behind it. */
void repro_write_hex(struct repro_writer *writer, const char *call, const char *hex, const char *end);

/* `text` in a comment, behind what stands in the line: plain characters, and no end of the comment. */
void repro_write_comment(struct repro_writer *writer, const char *text);

/* What the ladder says of this frame; "". */
const char *repro_summary(const struct repro_writer *writer, uint64_t frame);

/* A command to the upper tester, if the kept connections need it. 0, 1 or -1 as above. */
int repro_write_command(struct repro_writer *writer, size_t event);

/* A segment of the tester. 0, 1 or -1 as above. */
int repro_write_sent(struct repro_writer *writer, size_t event);

/*
 * The ULPDU or start-up frame in hex, with "|S0^0x..|" and "|T0+..|" for what the device chose, and ".." for what
 * it chooses here; malloc'd, NULL without memory or with too many variables. *live: there is such a thing.
 */
char *repro_hex(struct repro_writer *writer, const uint8_t *octets, size_t count, size_t event, bool *live);

#endif
