/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/rig/upper_tester.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/device/control.h"

enum { PLAIN_VALUES = 64 };

static bool is_plain_value(const json_t *value)
{
    /* The parser takes no zero octet in a string. */
    return json_is_string(value) ? strlen(json_string_value(value)) == json_string_length(value)
                                 : !json_is_array(value) && !json_is_object(value);
}

/* Is it what JSON's text of it would be parsed to, and small? */
static bool is_plain(const json_t *request)
{
    const char *name;
    json_t *value, *element;
    size_t i;

    if (json_object_size(request) > PLAIN_VALUES)
        return false;
    json_object_foreach((json_t *)(uintptr_t)request, name, value)
    {
        if (!json_is_array(value) && !is_plain_value(value))
            return false;
        if (json_array_size(value) > PLAIN_VALUES)
            return false;
        json_array_foreach(value, i, element)
        {
            if (!is_plain_value(element))
                return false;
        }
    }
    return true;
}

json_t *upper_tester_call(struct rig *rig, const json_t *request, struct iwarp_sentence *error)
{
    char *line;
    char *text;

    if (!rig->upper_tester) {
        (void)iwarp_sentence_set(error, "the device has no upper tester (profile: \"control\")");
        return NULL;
    }
    if (rig->ops->answer != NULL && is_plain(request))
        return rig->ops->answer(rig, request, error);
    line = json_dumps(request, JSON_COMPACT);
    if (line == NULL) {
        (void)iwarp_sentence_set(error, "a command for the upper tester cannot be written as JSON");
        return NULL;
    }
    text = rig->ops->command(rig, line, error);
    free(line);
    return text != NULL ? control_answer(text, error) : NULL;
}

int upper_tester_listen(struct rig *rig, uint16_t port, struct iwarp_sentence *error)
{
    json_t *request = json_pack("{s:s, s:i}", "verb", "listen", "port", (int)port);
    json_t *answer = upper_tester_call(rig, request, error);
    int status = -1;

    if (answer != NULL) {
        if (json_is_true(json_object_get(answer, "ok")))
            status = 0;
        else
            (void)iwarp_sentence_set(error, "the upper tester cannot listen on port %u: %s", port,
                                     json_is_string(json_object_get(answer, "error"))
                                         ? json_string_value(json_object_get(answer, "error"))
                                         : "no reason given");
    }
    json_decref(request);
    json_decref(answer);
    return status;
}
