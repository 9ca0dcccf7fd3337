/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* FNM_CASEFOLD */
#include "conformance/requirements/select.h"

#include <fnmatch.h>
#include <string.h>
#include <strings.h>

#include "base/sentence.h"

const char selection_usage[] =
    "  SELECT             an id or a glob over ids, such as 'MPA-7.*' (several: any of them)\n"
    "  --layer L          tcp, sctp, mpa, ddp, rdmap, cm, ulp\n"
    "  --level L          must, should, may, or one level as the catalogue spells it\n"
    "  --section S        7.1 selects 7.1 and 7.1.2; a glob is possible\n"
    "  --role R           initiator or responder (includes requirements on both), or any other subject alone\n"
    "  --observability O  active, passive, local, spec\n";

static bool is_device_role(const char *subject)
{
    return strcasecmp(subject, "initiator") == 0 || strcasecmp(subject, "responder") == 0;
}

/* "must" stands for everything that fails a device: MUST, MUST NOT, MUST(format), SHALL. */
static unsigned level_mask(const char *value)
{
    unsigned mask = 0;

    if (strcasecmp(value, "must") == 0)
        return 1U << REQUIREMENT_MUST | 1U << REQUIREMENT_MUST_NOT | 1U << REQUIREMENT_MUST_FORMAT |
               1U << REQUIREMENT_SHALL;
    if (strcasecmp(value, "should") == 0)
        return 1U << REQUIREMENT_SHOULD | 1U << REQUIREMENT_SHOULD_NOT;
    for (unsigned i = 0; i < REQUIREMENT_LEVELS; i++)
        if (strcasecmp(value, requirement_level_name((enum requirement_level)i)) == 0)
            mask = 1U << i;
    return mask;
}

static unsigned layer_mask(const char *value)
{
    for (unsigned i = 0; i < REQUIREMENT_LAYERS; i++)
        if (strcasecmp(value, requirement_layer_name((enum requirement_layer)i)) == 0)
            return 1U << i;
    return 0;
}

static unsigned observability_mask(const char *value)
{
    for (unsigned i = 0; i < REQUIREMENT_OBSERVABILITIES; i++)
        if (strcasecmp(value, requirement_observability_name((enum requirement_observability)i)) == 0)
            return 1U << i;
    return 0;
}

static int list_add(const char **list, size_t *count, const char *value, const char *what, struct iwarp_sentence *error)
{
    if (*count == SELECTION_LIMIT)
        return iwarp_sentence_set(error, "more than %d %s in one selection", SELECTION_LIMIT, what);
    list[(*count)++] = value;
    return 0;
}

static int mask_add(unsigned *mask, unsigned bits, const char *option, const char *value, const char *known,
                    struct iwarp_sentence *error)
{
    if (bits == 0)
        return iwarp_sentence_set(error, "%s \"%.60s\" is unknown, %s was expected", option, value, known);
    *mask |= bits;
    return 0;
}

static int subject_add(struct selection *selection, const char *value, struct iwarp_sentence *error)
{
    static const char *const subjects[] = {"initiator",   "responder", "both", "sender",        "receiver",
                                           "data-source", "data-sink", "ulp",  "implementation"};

    for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++)
        if (strcasecmp(value, subjects[i]) == 0)
            return list_add(selection->subject, &selection->subject_count, subjects[i], "roles", error);
    return iwarp_sentence_set(
        error, "--role \"%.60s\" is unknown, initiator, responder or a subject of the catalogue was expected", value);
}

enum option { OPTION_LAYER, OPTION_LEVEL, OPTION_SECTION, OPTION_ROLE, OPTION_SUBJECT, OPTION_OBSERVABILITY, OPTIONS };
static const char *const option_names[OPTIONS] = {"--layer", "--level",   "--section",
                                                  "--role",  "--subject", "--observability"};

static int value_add(struct selection *selection, enum option option, const char *value, struct iwarp_sentence *error)
{
    switch (option) {
    case OPTION_LAYER:
        return mask_add(&selection->layers, layer_mask(value), "--layer", value,
                        "tcp, sctp, mpa, ddp, rdmap, cm or ulp", error);
    case OPTION_LEVEL:
        return mask_add(&selection->levels, level_mask(value), "--level", value,
                        "must, should, may or a level of the catalogue", error);
    case OPTION_OBSERVABILITY:
        return mask_add(&selection->observabilities, observability_mask(value), "--observability", value,
                        "active, passive, local or spec", error);
    case OPTION_SECTION: return list_add(selection->section, &selection->section_count, value, "sections", error);
    default: return subject_add(selection, value, error);
    }
}

/* "mpa,ddp": each of the list, cut in place. */
static int values_add(struct selection *selection, enum option option, char *values, struct iwarp_sentence *error)
{
    char *value;

    while ((value = strsep(&values, ",")) != NULL) {
        if (value[0] == '\0')
            return iwarp_sentence_set(error, "%s has an empty value", option_names[option]);
        if (value_add(selection, option, value, error) != 0)
            return -1;
    }
    return 0;
}

int selection_option(struct selection *selection, int argc, char **argv, int *index, struct iwarp_sentence *error)
{
    char *argument = argv[*index];

    if (argument[0] != '-') {
        if (argument[0] == '\0')
            return iwarp_sentence_set(error, "an empty pattern selects nothing");
        ++*index;
        return list_add(selection->pattern, &selection->pattern_count, argument, "patterns", error) == 0 ? 1 : -1;
    }
    for (unsigned i = 0; i < OPTIONS; i++) {
        size_t length = strlen(option_names[i]);

        if (strncmp(argument, option_names[i], length) != 0 || (argument[length] != '\0' && argument[length] != '='))
            continue;
        if (argument[length] == '\0' && *index + 1 >= argc)
            return iwarp_sentence_set(error, "%s needs a value", option_names[i]);
        if (argument[length] == '\0')
            ++*index;
        ++*index;
        return values_add(selection, (enum option)i, argument[length] == '=' ? argument + length + 1 : argv[*index - 1],
                          error) == 0
                   ? 1
                   : -1;
    }
    return 0;
}

static bool pattern_matches(const char *pattern, const char *id)
{
    return fnmatch(pattern, id, FNM_CASEFOLD) == 0;
}

/* A section takes those below it: 7.1 takes 7.1.2. */
static bool section_matches(const char *pattern, const char *section)
{
    size_t length = strlen(pattern);

    return fnmatch(pattern, section, FNM_CASEFOLD) == 0 ||
           (strncasecmp(pattern, section, length) == 0 && section[length] == '.');
}

static bool subject_matches(const char *subject, const struct requirement *requirement)
{
    return is_device_role(subject) ? requirement_binds(requirement, subject)
                                   : strcmp(subject, requirement->subject) == 0;
}

bool selection_matches(const struct selection *selection, const struct requirement *requirement)
{
    bool pattern = selection->pattern_count == 0, section = selection->section_count == 0,
         subject = selection->subject_count == 0;

    for (size_t i = 0; i < selection->pattern_count && !pattern; i++)
        pattern = pattern_matches(selection->pattern[i], requirement->id);
    for (size_t i = 0; i < selection->section_count && !section; i++)
        section = section_matches(selection->section[i], requirement->section);
    for (size_t i = 0; i < selection->subject_count && !subject; i++)
        subject = subject_matches(selection->subject[i], requirement);
    return pattern && section && subject &&
           (selection->levels == 0 || (selection->levels >> requirement->level & 1) != 0) &&
           (selection->layers == 0 || (selection->layers >> requirement->layer & 1) != 0) &&
           (selection->observabilities == 0 || (selection->observabilities >> requirement->observability & 1) != 0);
}

size_t selection_count(const struct selection *selection, const struct catalogue *catalogue)
{
    size_t count = 0;

    for (size_t i = 0; i < catalogue_count(catalogue); i++)
        count += selection_matches(selection, catalogue_at(catalogue, i));
    return count;
}

const char *selection_unmatched(const struct selection *selection, const struct catalogue *catalogue)
{
    for (size_t i = 0; i < selection->pattern_count; i++) {
        bool matched = false;

        for (size_t j = 0; j < catalogue_count(catalogue) && !matched; j++)
            matched = pattern_matches(selection->pattern[i], catalogue_at(catalogue, j)->id);
        if (!matched)
            return selection->pattern[i];
    }
    return NULL;
}
