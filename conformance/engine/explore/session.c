/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/explore/session.h"

#include <stdio.h>
#include <string.h>

static void add(struct session_members *members, struct session_member member)
{
    if (members->count < SESSION_MEMBERS)
        members->at[members->count++] = member;
}

void session_add(struct session_members *members, const char *name, int64_t number)
{
    add(members, (struct session_member){name, SESSION_NUMBER, number, NULL});
}

void session_add_flag(struct session_members *members, const char *name, bool value)
{
    add(members, (struct session_member){name, SESSION_FLAG, value, NULL});
}

void session_add_word(struct session_members *members, const char *name, const char *word)
{
    add(members, (struct session_member){name, SESSION_WORD, 0, word});
}

void session_drop(struct session_members *members, const char *name)
{
    for (size_t i = 0; i < members->count; i++)
        if (strcmp(members->at[i].name, name) == 0)
            members->at[i--] = members->at[--members->count];
}

const struct session_member *session_find(const struct session_members *members, const char *name)
{
    for (size_t i = 0; i < members->count; i++)
        if (strcmp(members->at[i].name, name) == 0)
            return &members->at[i];
    return NULL;
}

int64_t session_number(const struct session_members *members, const char *name, int64_t otherwise)
{
    const struct session_member *member = session_find(members, name);

    return member != NULL ? member->number : otherwise;
}

struct session_step *session_add_step(struct session *session, const char *name)
{
    struct session_step *step;

    if (session->step_count == SESSION_STEPS)
        return NULL;
    step = &session->steps[session->step_count++];
    memset(step, 0, sizeof(*step));
    step->name = name;
    return step;
}

bool session_is_wrong(const struct session *session)
{
    for (size_t i = 0; i < session->step_count; i++)
        if (session->steps[i].wrong.present)
            return true;
    return session->wrong_start.present;
}

void session_allow(struct session *session, const char *reaction)
{
    for (size_t i = 0; i < session->reaction_count; i++)
        if (strcmp(session->reactions[i], reaction) == 0)
            return;
    if (session->reaction_count < SESSION_REACTIONS)
        (void)snprintf(session->reactions[session->reaction_count++], SESSION_REACTION_OCTETS, "%s", reaction);
}
