/* SPDX-License-Identifier: BSD-2-Clause */
/* The arguments of a command that judges traffic by selected requirements: patterns of their ids, and options. */
#ifndef CONFORMANCE_ENGINE_SELECTED_OPTIONS_H
#define CONFORMANCE_ENGINE_SELECTED_OPTIONS_H

#include "base/sentence.h"
#include "conformance/requirements/catalogue.h"
#include "conformance/requirements/select.h"
#include "reference-stack/program/option_table.h"

/*
 * Reads argv[*index] and what belongs to it, and sets *index after it: a member of `options` by its row in the table, or
 * the selection. Returns the exit status: 0 to go on; EXIT_USAGE, or EXIT_NOTHING_SELECTED for a pattern that no
 * requirement fits, with the sentence set.
 */
int selected_options_parse(const struct option_table *table, void *options, struct selection *selection,
                           const struct catalogue *catalogue, int argc, char **argv, int *index,
                           struct iwarp_sentence *error);

/* 0, or EXIT_NOTHING_SELECTED with the sentence set: patterns and options together leave no requirement. */
int selected_options_check(const struct selection *selection, const struct catalogue *catalogue,
                           struct iwarp_sentence *error);

#endif
