/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/show/requirement_json.h"

#include "conformance/requirements/no_defect.h"

static json_t *string_or_null(const char *text)
{
    return text != NULL ? json_string(text) : json_null();
}

json_t *requirement_json(const struct requirement *requirement, const struct coverage *coverage)
{
    json_t *object = json_object(), *defects = json_array();
    struct no_defect none;
    int failed = object == NULL || defects == NULL;

    for (unsigned i = 0; i < REQUIREMENT_COLUMNS && !failed; i++)
        failed = json_object_set_new(object, requirement_column_name((enum requirement_column)i),
                                     json_string(requirement->column[i])) != 0;
    for (size_t i = 0; i < coverage->defect_count && !failed; i++)
        failed = json_array_append_new(defects, json_string(coverage->defects[i])) != 0;
    failed = failed || json_object_set_new(object, "check", string_or_null(coverage->check_path)) != 0 ||
             json_object_set_new(object, "rule", string_or_null(coverage->rule_name)) != 0 ||
             json_object_set(object, "defects", defects) != 0 ||
             json_object_set_new(object, "no_defect",
                                 string_or_null(no_defect_find(requirement->id, &none) ? none.reason : NULL)) != 0;
    json_decref(defects);
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}
