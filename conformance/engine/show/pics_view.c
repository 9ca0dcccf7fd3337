/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/show/pics_view.h"

#include <inttypes.h>
#include <string.h>

#include "base/sentence.h"

bool pics_depends(const struct pics_view *view, const struct requirement *requirement, const struct pics_item *item)
{
    const struct pics_item *named[PICS_PREDICATE_ITEMS];
    size_t count = pics_named(view->pics, requirement->capability, named, PICS_PREDICATE_ITEMS);

    for (size_t i = 0; i < count; i++)
        if (named[i] == item)
            return true;
    return false;
}

bool pics_applicable(const struct pics_view *view, const struct requirement *requirement)
{
    return pics_evaluate(view->pics, requirement->capability, NULL, NULL) == 1;
}

/* Would it be applicable if this item alone were answered otherwise? */
static bool applicable_otherwise(const struct pics_view *view, const struct requirement *requirement,
                                 const struct pics_item *item)
{
    char value[PICS_VALUE_ROOM];
    bool result;

    (void)snprintf(value, sizeof(value), "%s", item->value);
    (void)pics_set(view->pics, item->name, pics_holds(view->pics, item->name) ? "no" : "yes", NULL);
    result = pics_applicable(view, requirement);
    (void)pics_set(view->pics, item->name, value, NULL);
    return result;
}

void pics_effect(const struct pics_view *view, const struct pics_item *item, struct pics_effect *effect)
{
    memset(effect, 0, sizeof(*effect));
    for (size_t i = 0; i < catalogue_count(view->catalogue); i++) {
        const struct requirement *requirement = catalogue_at(view->catalogue, i);

        if (!pics_depends(view, requirement, item))
            continue;
        effect->named++;
        if (pics_applicable(view, requirement)) {
            effect->applicable++;
        } else {
            effect->left_out++;
            effect->alone += applicable_otherwise(view, requirement, item);
        }
    }
}

const char *pics_said_by(const struct pics_view *view, const struct pics_item *item)
{
    if (json_object_get(json_object_get(view->profile, "capabilities"), item->name) != NULL)
        return "capabilities";
    return view->device != NULL && strcmp(item->name, "upper_tester") == 0 ? "control" : NULL;
}

/* Is `value`, a word or a number, in the list? */
static bool list_holds(const json_t *list, const char *value)
{
    const json_t *member;
    size_t i;

    json_array_foreach(list, i, member)
    {
        char text[PICS_VALUE_ROOM];

        (void)snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT, json_integer_value(member));
        if ((json_is_string(member) && strcmp(json_string_value(member), value) == 0) ||
            (json_is_integer(member) && strcmp(text, value) == 0))
            return true;
    }
    return false;
}

bool pics_reported(const struct pics_view *view, const struct pics_item *item, char value[static PICS_VALUE_ROOM])
{
    const char *equals = strchr(item->reported, '=');
    char name[64];
    const json_t *member;

    (void)snprintf(name, sizeof(name), "%.*s",
                   (int)(equals != NULL ? (size_t)(equals - item->reported) : strlen(item->reported)), item->reported);
    member = json_object_get(view->reported, name);
    if (equals != NULL && json_is_array(member))
        (void)snprintf(value, PICS_VALUE_ROOM, "%s", list_holds(member, equals + 1) ? "yes" : "no");
    else if (equals == NULL && json_is_boolean(member))
        (void)snprintf(value, PICS_VALUE_ROOM, "%s", json_is_true(member) ? "yes" : "no");
    else if (equals == NULL && json_is_integer(member) && json_integer_value(member) >= 0 &&
             json_integer_value(member) <= 999999999)
        (void)snprintf(value, PICS_VALUE_ROOM, "%" JSON_INTEGER_FORMAT, json_integer_value(member));
    else
        return false;
    return true;
}
