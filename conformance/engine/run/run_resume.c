/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/run/run_resume.h"

#include <string.h>

bool run_resume_earlier(const struct results_done *done, const struct plan_item *item, struct journal *journal)
{
    const struct results_kept *kept = results_done_find(done, item->check->id, item->role);

    return kept != NULL && journal_from_json(kept->journal, journal) == 0;
}

bool run_resume_superseded(const struct results_done *done, size_t i, struct journal *journal)
{
    json_t *object = json_array_get(results_done_repeated(done), i);

    return object != NULL && journal_from_json(object, journal) == 0;
}

unsigned run_resume_repeated(const struct results_done *done, const struct plan_item *item)
{
    const json_t *object;
    unsigned count = 0;
    size_t i;

    json_array_foreach(results_done_repeated(done), i, object)
    {
        const char *id = json_string_value(json_object_get(object, "id"));
        const char *role = json_string_value(json_object_get(object, "role"));

        count += id != NULL && role != NULL && strcmp(id, item->check->id) == 0 && strcmp(role, item->role) == 0;
    }
    return count;
}

bool run_resume_result(const struct results_done *done, const struct plan_item *item, struct result *result)
{
    const struct results_kept *kept = results_done_find(done, item->check->id, item->role);
    const char *found = kept != NULL ? json_string_value(json_object_get(kept->journal, "found")) : NULL;

    return found != NULL && result_from_json(kept->result, result) == 0 &&
           verdict_from_name(found, &result->verdict) == 0;
}
