/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The exercises of the course: the table that the program carries (exercises.tsv, whose head describes its columns). It
 * names what is hidden in each exercise; what a right answer is follows from what the tool finds then
 * (course_findings.h).
 */
#ifndef CONFORMANCE_ENGINE_COURSE_EXERCISE_H
#define CONFORMANCE_ENGINE_COURSE_EXERCISE_H

#include <stddef.h>

#include "base/sentence.h"

enum { COURSE_EXERCISES_MAX = 64, COURSE_LESSONS = 6 };

enum course_kind {
    COURSE_CAPTURE, /* a capture of an exchange in which one side has the defect */
    COURSE_PEER,    /* a peer with the defect, over kernel TCP */
    COURSE_RUN,     /* a simulated device with the defect, for the checks */
    COURSE_CHECK,   /* the student's own check has to find the defect */
    COURSE_KINDS
};

/* What an answer consists of, in this order; a set. */
enum course_asks {
    COURSE_ASKS_REQUIREMENT = 1 << 0,
    COURSE_ASKS_FRAME = 1 << 1,
    COURSE_ASKS_ROLE = 1 << 2,
    COURSE_ASKS_SCRIPT = 1 << 3,
};

struct course_exercise {
    unsigned number; /* from 1, without gaps */
    unsigned lesson; /* from 1 to COURSE_LESSONS, never falling */
    enum course_kind kind;
    unsigned asks;
    const char *situation; /* a capture of situations.lua; "": none */
    const char *side;      /* who has the defect: "initiator" or "responder" */
    const char *defect;    /* of defects.tsv */
    const char *title, *task, *hint;
};

struct course_table {
    struct course_exercise exercises[COURSE_EXERCISES_MAX];
    size_t count;
    char *text; /* what the strings point into */
};

/* Reads a table: 0, or -1 with a sentence that names the line; course_table_free() in either case. */
int course_table_parse(struct course_table *table, const char *text, size_t octets, struct iwarp_sentence *error);

/* The table that the program carries. */
int course_table_load(struct course_table *table, struct iwarp_sentence *error);
void course_table_free(struct course_table *table);

/* The exercise that `word` numbers; NULL with a sentence. */
const struct course_exercise *course_exercise_named(const struct course_table *table, const char *word,
                                                    struct iwarp_sentence *error);

/* "REQUIREMENT FRAME": what is asked for, as the command line has it. */
const char *course_asks_text(const struct course_exercise *exercise);

/* "capture" and so on. */
const char *course_kind_name(enum course_kind kind);

#endif
