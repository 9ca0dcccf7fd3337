/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/rig/upper_tester.h"

#include <stdlib.h>

json_t *upper_tester_call(struct rig *rig, const json_t *request, struct sentence *error)
{
    json_error_t where;
    json_t *answer;
    char *line;
    char *text;

    if (!rig->upper_tester) {
        (void)sentence_set(error, "the device has no upper tester (profile: \"control\")");
        return NULL;
    }
    line = json_dumps(request, JSON_COMPACT);
    if (line == NULL) {
        (void)sentence_set(error, "a command for the upper tester cannot be written as JSON");
        return NULL;
    }
    text = rig->ops->command(rig, line, error);
    free(line);
    if (text == NULL)
        return NULL;
    answer = json_loads(text, 0, &where);
    if (!json_is_object(answer)) {
        (void)sentence_set(error, "the upper tester's answer is not a JSON object: %.200s", text);
        json_decref(answer);
        answer = NULL;
    }
    free(text);
    return answer;
}

int upper_tester_listen(struct rig *rig, uint16_t port, struct sentence *error)
{
    json_t *request = json_pack("{s:s, s:i}", "verb", "listen", "port", (int)port);
    json_t *answer = upper_tester_call(rig, request, error);
    int status = -1;

    if (answer != NULL) {
        if (json_is_true(json_object_get(answer, "ok")))
            status = 0;
        else
            (void)sentence_set(error, "the upper tester cannot listen on port %u: %s", port,
                               json_is_string(json_object_get(answer, "error"))
                                   ? json_string_value(json_object_get(answer, "error"))
                                   : "no reason given");
    }
    json_decref(request);
    json_decref(answer);
    return status;
}
