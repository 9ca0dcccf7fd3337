/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options of a command, each declared once. A row has its lines of the help text, in which its names and the name
 * of its value stand; the member that it sets; and its effect on verdicts. From the rows come parsing, the help text -
 * with it the manual page, completion and hints (help_text.h) -, the conditions of a run, and the command line that
 * repeats a check.
 */
#ifndef REFERENCE_STACK_OPTION_TABLE_H
#define REFERENCE_STACK_OPTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct iwarp_sentence;

enum option_kind {
    OPTION_FLAG,   /* bool; without a value */
    OPTION_TEXT,   /* const char * */
    OPTION_LIST,   /* const char *[`most`]; its size_t stands at `count` */
    OPTION_NUMBER, /* uint64_t from `least` to `most` */
    OPTION_COUNT,  /* unsigned, the same */
    OPTION_OCTETS, /* uint64_t, a size such as "512M" from `least` to `most` (amount.h); 0: not set */
    OPTION_TIME,   /* uint64_t, seconds from `least` to `most`, such as "30m"; 0: not set */
    OPTION_OWN,    /* `parse` reads it */
    OPTION_EARLY,  /* a flag that the command looks for before it reads the others: nothing is set */
};

/* What an option changes. No row is without one: 0 is none. */
enum option_effect {
    OPTION_SHOWS = 1, /* what is shown, written or kept, and how fast; verdicts stay */
    OPTION_JUDGES,    /* verdicts: it stands in the conditions of a run, and in the command that repeats a check */
    OPTION_REPEATED,  /* verdicts: it stands in that command; the conditions have a digest of what it names */
    OPTION_APART,     /* verdicts: both have a place of their own for it */
};

/* Where options are repeated. */
enum option_use { OPTION_CONDITIONS, OPTION_REPLAY };

struct option_row {
    const char
        *help; /* "  --seed N         chooses ports, sequence numbers and simulated worlds (1)\n", and lines after it */
    enum option_effect effect;
    enum option_kind kind;
    size_t member, count; /* offsets within the command's options */
    uint64_t least, most;
    const char *unit; /* of a number: "MiB"; NULL: none. Of OPTION_OCTETS an example, "512M or 4G" */
    const char *also; /* another name, which the help does not show; NULL: none */
    bool joined;      /* of "-o": "-oDIR" is read, too; numbers are read so in any case: "-j2" */
    /* OPTION_OWN: `value` is NULL where the help names none. 0, or -1 with a sentence. */
    int (*parse)(void *options, const char *value, struct iwarp_sentence *error);
    /* OPTION_OWN that is repeated: its value there; NULL: it is not repeated. */
    const char *(*value)(const void *options, enum option_use use);
    /* What a %s in `help` stands for; NULL: there is none. Returns `text`. */
    const char *(*names)(char *text, size_t room);
};

struct option_table {
    const char *command;                           /* "run"; NULL: of another program than warpcheck */
    const char *head;                              /* of the help text: what stands before the rows */
    const char *(*names)(char *text, size_t room); /* what a %s in `head` stands for, as in a row */
    const char *tail;                              /* and after them; NULL: nothing */
    const char *more; /* help lines of options that the command reads by other means; NULL: none */
    const struct option_row *rows;
    size_t count;
};

/* Writes the help text, without `more`. -1 when it could not be written. */
int option_table_print(const struct option_table *table, FILE *out);

/*
 * Takes the option argv[*index], with its value: "--seed 1", "--seed=1", "-j 2", "-j2". Returns 1 if it was taken
 * (*index then stands after it), 0 if the argument does not begin with '-' or is "-", -1 with a sentence: it is
 * unknown, its value is missing or wrong.
 */
int option_table_parse(const struct option_table *table, void *options, int argc, char **argv, int *index,
                       struct iwarp_sentence *error);

/* Whether the argument, with a value or without, is an option of this table. */
bool option_table_has(const struct option_table *table, const char *argument);

/* -1 with the sentence about an argument that no row knows: of a command that takes no "-" either. */
int option_table_unknown(const struct option_table *table, const char *argument, struct iwarp_sentence *error);

/* 0, or -1 with a sentence that names the option, the value and the numbers from `least` to `most`; `unit` as above. */
int option_number(const char *option, const char *value, const char *unit, uint64_t least, uint64_t most,
                  uint64_t *number, struct iwarp_sentence *error);

/* Sets *jsonl by the value of a --format that is text or jsonl. 0, or -1 with a sentence. */
int option_jsonl(const char *value, bool *jsonl, struct iwarp_sentence *error);

/* Calls `put` for each option that is set and belongs there, in the order of the rows; `value`: NULL for a flag. */
void option_table_repeat(const struct option_table *table, const void *options, enum option_use use,
                         void (*add)(void *user, const char *name, const char *value), void *user);

/*
 * Appends the same of OPTION_REPLAY to a command for a shell, which has `used` octets (shell_word.h). Returns its
 * octets.
 */
size_t option_table_replay(const struct option_table *table, const void *options, char *text, size_t room, size_t used);

#endif
