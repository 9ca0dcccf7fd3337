/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/option/selected_options.h"

#include "base/exit_status.h"
#include "conformance/requirements/named.h"

int selected_options_parse(const struct option_table *table, void *options, struct selection *selection,
                           const struct catalogue *catalogue, int argc, char **argv, int *index,
                           struct iwarp_sentence *error)
{
    const char *argument = argv[*index];
    int taken = selection_option(selection, argc, argv, index, error);

    if (taken == 0)
        taken = option_table_parse(table, options, argc, argv, index, error);
    if (taken == 0)
        taken = option_table_unknown(table, argument, error);
    if (taken < 0)
        return EXIT_USAGE;
    if (argument[0] == '-' || selection_unmatched(selection, catalogue) == NULL)
        return 0;
    (void)requirement_unmatched(catalogue, argument, error);
    return EXIT_NOTHING_SELECTED;
}

int selected_options_check(const struct selection *selection, const struct catalogue *catalogue,
                           struct iwarp_sentence *error)
{
    if (selection_count(selection, catalogue) != 0)
        return 0;
    (void)iwarp_sentence_set(error, "nothing selected: no requirement fits all options");
    return EXIT_NOTHING_SELECTED;
}
