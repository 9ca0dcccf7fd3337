/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/program/option_unknown.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference-stack/program/help_text.h"
#include "base/nearest.h"
#include "base/sentence.h"

enum { OPTION_OCTETS = NEAREST_WORD_MAX + 1 };

struct search {
    char word[OPTION_OCTETS]; /* the argument without "=VALUE" */
    char best[OPTION_OCTETS]; /* "" so far */
    unsigned distance;        /* of the best one; at first beyond the limit */
    bool takes_value;         /* the best one does */
};

static void compare_name(struct search *search, const struct help_option *option)
{
    char name[OPTION_OCTETS];
    unsigned distance;

    (void)snprintf(name, sizeof(name), "%.*s", (int)option->name_length, option->name);
    distance = nearest_distance(search->word, name);
    if (distance >= search->distance && search->best[0] == '\0' && nearest_begins(search->word, name))
        distance = search->distance - 1;
    /* Any two options of one letter are one letter apart: that is no misspelling. */
    if (distance >= search->distance || (strlen(name) < 3 && distance != 0))
        return;
    search->distance = distance;
    search->takes_value = option->value != NULL;
    (void)snprintf(search->best, sizeof(search->best), "%s", name);
}

static void look_through(struct search *search, const char *usage)
{
    struct help help;
    struct help_option option;

    /* A text without a usage line, as that of the selection, is read all the same. */
    (void)help_parse(&help, usage, NULL);
    for (size_t i = 0; i < help.count; i++) {
        const char *at = help.parts[i].term;

        while (help.parts[i].kind == HELP_ROW && help_option_next(&at, &option))
            compare_name(search, &option);
    }
    help_free(&help);
}

int option_unknown(const char *command, const char *argument, const char *usage, const char *more,
                   struct iwarp_sentence *error)
{
    struct search search = {.distance = 0};
    char hint[NEAREST_HINT_OCTETS], help[64];
    char *own;

    (void)snprintf(search.word, sizeof(search.word), "%.*s", (int)strcspn(argument, "="), argument);
    search.distance = nearest_limit(search.word) + 1;
    own = usage == NULL ? help_ask("/proc/self/exe", command, NULL) : NULL;
    if (usage != NULL || own != NULL)
        look_through(&search, usage != NULL ? usage : own);
    free(own);
    if (more != NULL)
        look_through(&search, more);
    (void)snprintf(help, sizeof(help), command != NULL ? "warpcheck %s --help" : "--help", command);
    if (search.best[0] != '\0' && strcmp(search.word, search.best) == 0)
        return iwarp_sentence_set(error, "%s %s (%s describes it)", search.best,
                                  !search.takes_value             ? "takes no value, or cannot stand here"
                                  : strchr(argument, '=') != NULL ? "takes its value as the next word"
                                                                  : "needs a value",
                                  help);
    return iwarp_sentence_set(error, "unknown option %.60s%s (%s lists them)", argument,
                              nearest_hint(search.best[0] != '\0' ? search.best : NULL, hint), help);
}
