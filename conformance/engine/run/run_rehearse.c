/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/run/run_rehearse.h"

#include <string.h>

#include "conformance/engine/run/runner.h"

static int skip_as_reported(void *user, const struct result *result)
{
    struct plan *plan = user;

    if (result->verdict != VERDICT_SKIP || strcmp(result->by, "check") != 0)
        return 0;
    for (size_t i = 0; i < plan->count; i++) {
        struct plan_item *item = &plan->items[i];

        if (strcmp(item->check->id, result->id) == 0 && strcmp(item->role, result->role) == 0 &&
            item->skip.text[0] == '\0')
            (void)iwarp_sentence_set(&item->skip, "%s", result->message != NULL ? result->message : "it skips itself");
    }
    return 0;
}

static bool skipped(void *user, const struct plan_item *item)
{
    (void)user;
    return item->skip.text[0] != '\0';
}

int run_rehearse(struct plan *plan, struct script_host *host, const struct catalogue *catalogue,
                 struct iwarp_sentence *error)
{
    struct selection everything = {0};
    struct runner_totals totals;
    struct runner_config config = {
        .host = host,
        .plan = plan,
        .selection = &everything,
        .catalogue = catalogue,
        /* An initiator that is planned is one that the profile's connect_command starts. */
        .sim = {.seed = 1, .no_upper_tester = true, .starts_initiator = true},
        .evidence = {.folder = -1},
        .items = {.left_out = skipped},
        .report = {.result = skip_as_reported, .user = plan},
    };

    return runner_run(&config, &totals, error);
}
