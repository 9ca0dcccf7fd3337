/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/peer/peer_option.h"

#include <stdio.h>
#include <string.h>

#include "reference-stack/program/complaint.h"
#include "base/exit_status.h"
#include "base/nearest.h"

static const char *option_at(const void *known, size_t index)
{
    return ((const struct option *)known)[index].name;
}

int peer_option_refuse(int answer, char **argv, const struct option *known, const char *where)
{
    const char *argument = argv[optind - 1], *nearest;
    char word[NEAREST_WORD_MAX + 1], name[NEAREST_WORD_MAX + 3], hint[NEAREST_HINT_OCTETS];
    size_t count = 0;

    if (answer == ':')
        return complain(EXIT_USAGE, "%s needs a value, see --help", argument);
    while (known[count].name != NULL)
        count++;
    argument += strspn(argument, "-");
    (void)snprintf(word, sizeof(word), "%.*s", (int)strcspn(argument, "="), argument);
    nearest = nearest_name(word, option_at, known, count);
    if (nearest != NULL && strcmp(nearest, word) == 0)
        nearest = NULL; /* it takes no value, and was given one */
    if (nearest != NULL)
        (void)snprintf(name, sizeof(name), "--%s", nearest);
    return complain(EXIT_USAGE, "'%s' is no option%s, or has no value%s (see --help)", argv[optind - 1], where,
                    nearest_hint(nearest != NULL ? name : NULL, hint));
}
