/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Selection of requirements: 'MPA-7.*' --layer mpa --level must --role responder. Patterns are alternatives, and so are
 * the values of one option; different options have to hold together. Without patterns and options everything is
 * selected.
 */
#ifndef CONFORMANCE_REQUIREMENTS_SELECT_H
#define CONFORMANCE_REQUIREMENTS_SELECT_H

#include <stdbool.h>
#include <stddef.h>

#include "conformance/requirements/catalogue.h"

struct iwarp_sentence;

#define SELECTION_LIMIT 64 /* patterns; and sections */

/* All strings belong to the caller (argv); {0} selects everything. */
struct selection {
    const char *pattern[SELECTION_LIMIT]; /* ids or fnmatch(3) globs over ids; case is ignored */
    size_t pattern_count;
    const char *section[SELECTION_LIMIT]; /* "7.1" takes 7.1 and 7.1.2, not 7.10; globs are possible */
    size_t section_count;
    const char
        *subject[SELECTION_LIMIT]; /* a role, "initiator" or "responder", takes the subjects that bind both, too */
    size_t subject_count;
    unsigned levels;          /* 1 << enum requirement_level; 0: all */
    unsigned layers;          /* 1 << enum requirement_layer; 0: all */
    unsigned observabilities; /* 1 << enum requirement_observability; 0: all */
};

/* Lines that a program can put into its usage text, one option a line, newline after each. */
extern const char selection_usage[];

/*
 * Takes one argument of a command line, argv[*index], and its value where the option has one ("--layer mpa" and
 * "--layer=mpa", also lists "--layer mpa,ddp"). An argument that does not begin with '-' is a pattern.
 * Returns 1 if it was taken (*index then stands after it), 0 if it is no option of a selection (nothing changed),
 * -1 with a sentence if it is one and wrong. The strings of argv are kept, not copied; the values of lists are cut
 * out of argv in place.
 */
int selection_option(struct selection *selection, int argc, char **argv, int *index, struct iwarp_sentence *error);

bool selection_matches(const struct selection *selection, const struct requirement *requirement);

/* How many requirements match. 0 is never success: the commands end with exit status 3. */
size_t selection_count(const struct selection *selection, const struct catalogue *catalogue);

/*
 * The first pattern that no requirement of the catalogue matches; the options do not count here. NULL if each pattern
 * matches. This finds a misspelt id next to a good one.
 */
const char *selection_unmatched(const struct selection *selection, const struct catalogue *catalogue);

#endif
