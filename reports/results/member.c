/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/results/member.h"

#include "reports/results/result.h"

int member_set_text(json_t *object, const char *key, const char *text)
{
    return text ? json_object_set_new(object, key, result_text(text)) : 0;
}

int member_set_count(json_t *object, const char *key, uint64_t count)
{
    uint64_t largest = INT64_MAX; /* a JSON integer of jansson is signed */
    return json_object_set_new(object, key, json_integer((json_int_t)(count < largest ? count : largest)));
}

const char *member_text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

uint64_t member_count(const json_t *object, const char *key)
{
    json_int_t value = json_integer_value(json_object_get(object, key));
    return value > 0 ? (uint64_t)value : 0;
}
