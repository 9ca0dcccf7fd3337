/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/results/evidence_names.h"

#include <string.h>

#include "reports/results/results_log.h"

static int note(json_t *names, const char *path)
{
    if (path == NULL || strncmp(path, EVIDENCE "/", sizeof(EVIDENCE)) != 0)
        return 0;
    return json_object_set_new(names, path, json_true());
}

static int on_result(void *user, const struct result *result, json_t *object)
{
    (void)object;
    return note(user, result->evidence);
}

static int on_journal(void *user, const struct journal *journal, json_t *object)
{
    (void)object;
    return note(user, journal->evidence);
}

int evidence_names(const struct place *results, json_t *names, struct iwarp_sentence *error)
{
    struct results_reader reader = {.on_result = on_result, .on_journal = on_journal, .user = names};

    return results_read_place(results, &reader, error);
}
