/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ladder of a result: who sent what, when, as a picture (SVG) and as text. Made from `steps` of results.jsonl,
 * which is as hostile as any input: members of the wrong type count as absent.
 */
#ifndef REPORTS_LADDER_H
#define REPORTS_LADDER_H

#include "reports/page/markup.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define LADDER_STEPS_SHOWN 24 /* longer ladders lose their middle, never the offending step */

struct ladder_step {
    double seconds;
    bool from_dut;
    bool offending;                    /* has a mark or a note */
    const char *kind, *summary, *note; /* never NULL; kind "tcp", "mpa", "fpdu", "terminate", "note" or other */
    uint64_t frame;
    const char *octets; /* hexadecimal digits, "" for none; hex_digits is their number, checked and even */
    size_t hex_digits;
    uint64_t length;                   /* octets on the wire, more than hex_digits / 2 when the dump was cut */
    uint64_t mark_offset, mark_length; /* within the octets; length 0: no mark */
};

/* Reads one element of `steps`; strings point into it. -1 when it is not an object. */
int ladder_step_read(const json_t *object, struct ladder_step *step);

/*
 * Which steps to show of `count`: fills shown[] (at most LADDER_STEPS_SHOWN indices, ascending) and returns how many.
 * The first four and those around the first offending step (or the end) stay.
 */
size_t ladder_choose(const json_t *steps, size_t shown[LADDER_STEPS_SHOWN]);

/* The two ends: "tester" and "DUT" of a live run, the addresses of a flow in an audit. */
struct ladder_ends {
    const char *left, *right; /* left: from "tester", right: from "dut" */
};

/*
 * Writes an <svg> element. `standalone`: with its own style sheet, to stand in a file; otherwise the page's style sheet
 * colours it (classes ld-*).
 */
void ladder_svg(struct markup *markup, const json_t *steps, const struct ladder_ends *ends, bool standalone);

/* The same for a terminal of `columns` (60 to 200 are kept to), lines ended by '\n', malloc'd; NULL without memory. */
char *ladder_text(const json_t *steps, const struct ladder_ends *ends, unsigned columns);

#endif
