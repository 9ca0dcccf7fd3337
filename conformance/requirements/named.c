/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/requirements/named.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/nearest.h"

enum { NEAREST = 5 };

const struct requirement *requirement_named(const struct catalogue *catalogue, const char *id)
{
    const struct requirement *requirement = catalogue_find(catalogue, id);

    if (requirement == NULL && catalogue_nearest(catalogue, id, &requirement, 1) == 1 &&
        strcasecmp(requirement->id, id) != 0)
        requirement = NULL;
    return requirement;
}

int requirement_not_found(const struct catalogue *catalogue, const char *id, struct iwarp_sentence *error)
{
    const struct requirement *nearest[NEAREST];
    size_t count = catalogue_nearest(catalogue, id, nearest, NEAREST);
    char names[256] = "";
    size_t used = 0;

    for (size_t i = 0; i < count && used < sizeof(names); i++)
        used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i == 0 ? "nearest are " : ", ",
                                 nearest[i]->id);
    return iwarp_sentence_set(error, "no requirement has the id %.60s; %s", id,
                              count == 0 ? "warpcheck list shows them all" : names);
}

int requirement_unmatched(const struct catalogue *catalogue, const char *pattern, struct iwarp_sentence *error)
{
    const struct requirement *nearest = NULL;
    char hint[NEAREST_HINT_OCTETS];

    if (strpbrk(pattern, "*?[") == NULL && catalogue_nearest(catalogue, pattern, &nearest, 1) == 0)
        nearest = NULL;
    return iwarp_sentence_set(error, "nothing selected: no requirement has an id like %.60s%s", pattern,
                              nearest_hint(nearest != NULL ? nearest->id : NULL, hint));
}
