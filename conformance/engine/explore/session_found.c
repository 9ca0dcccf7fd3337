/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/explore/session_found.h"

#include <string.h>

#include "conformance/engine/explore/session_text.h"

static struct session *session_of(const struct session_listener *listener, const char *id)
{
    char own[SESSION_ID_OCTETS];

    for (size_t i = 0; i < listener->count; i++)
        if (strcmp(session_id(&listener->sessions[i], own), id) == 0)
            return &listener->sessions[i];
    return NULL;
}

void session_listener_journal(const struct session_listener *listener, const struct journal *journal)
{
    struct session *session = session_of(listener, journal->id);

    for (size_t i = 0; session != NULL && i < journal->rule_count; i++) {
        const struct result *result = &journal->rules[i].result;

        if (result->verdict == VERDICT_FAIL || result->verdict == VERDICT_WARN)
            listener->found(listener->user, session, result);
    }
}

void session_listener_result(const struct session_listener *listener, const struct result *result)
{
    struct session *session = result_is_by_rule(result) ? NULL : session_of(listener, result->id);

    if (session != NULL)
        listener->found(listener->user, session, result);
}
