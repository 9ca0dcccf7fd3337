/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/run/run_services.h"

#include <stdio.h>
#include <string.h>

#include "wire/hint.h"

/*
 * After UNREADY_MOST checks in a row whose opening exchange failed, learn the device again, at most RELEARNED_MOST
 * times.
 */
enum { UNREADY_MOST = 3, RELEARNED_MOST = 4 };

static const char *const role_names[RUN_SERVICES_ROLES] = {"responder", "initiator"};

static size_t index_of(const char *role)
{
    return role != NULL && strcmp(role, role_names[1]) == 0;
}

void run_services_resume(struct run_services *services, json_t *learned)
{
    const char *role = json_string_value(json_object_get(learned, "role"));
    size_t i = index_of(role);

    if (role == NULL || strcmp(role, role_names[i]) != 0 || !json_is_object(json_object_get(learned, "exchanges")))
        return;
    json_decref(services->known[i]);
    services->known[i] = json_incref(learned);
    services->spoke[i] = services->spoke[i] || services_speaks(learned);
}

/* 0, or -1 with the reason. */
static int learn(struct run_services *services, const struct run_services_context *context, size_t i,
                 struct iwarp_sentence *why)
{
    struct rig *rig = context->open(context->user, "served", role_names[i], why);
    struct iwarp_sentence end;
    json_t *learned;
    bool dying;

    if (rig == NULL)
        return -1;
    learned = services_learn(context->host, role_names[i], rig,
                             context->record(context->user, rig, role_names[i], true), why);
    (void)context->record(context->user, rig, role_names[i], false);
    dying = rig_impaired(rig, &end);
    context->close(context->user, rig);
    if (learned == NULL)
        return -1;
    json_decref(services->known[i]);
    services->known[i] = learned;
    services->spoke[i] = services->spoke[i] || services_speaks(learned);
    if (dying) /* what a device leaves undone while it dies does not describe the new device with which the run continues */
        return 0;
    return context->keep(context->user, learned) == 0
               ? 0
               : iwarp_sentence_set(why, "what the device serves cannot be kept");
}

/* Forgets what the device serves, so that it is learned again: the device may have died, or have come back. */
static void forget(struct run_services *services)
{
    for (size_t i = 0; i < RUN_SERVICES_ROLES; i++) {
        json_decref(services->known[i]);
        services->known[i] = NULL;
    }
    services->unready = 0;
    services->relearned++;
}

bool run_services_prepare(struct run_services *services, const struct run_services_context *context, const char *role,
                          struct iwarp_sentence *why)
{
    size_t i = index_of(role), other = 1 - i;
    const char *reason;

    if (services->unready >= UNREADY_MOST && services->relearned < RELEARNED_MOST)
        forget(services);
    services_use(context->host, NULL);
    if (services->known[i] == NULL && learn(services, context, i, why) != 0)
        return false;
    /* A device that opens connections by MPA, and answers none, has a fault; one that does neither is no MPA device. */
    if (!services_speaks(services->known[i])) {
        if (services->known[other] == NULL && learn(services, context, other, why) != 0)
            return false;
        reason = services_why_not(services->known[i], "startup");
        if (!services_speaks(services->known[other]) && reason != NULL)
            return iwarp_sentence_set(why, "the device does not serve %s as %s%s: %.400s",
                                      services->spoke[i] ? "start-ups any more" : "a start-up", role,
                                      services->spoke[i] ? ", as it did before" : "", reason) == 0;
    }
    services_use(context->host, services->known[i]);
    return true;
}

void run_services_note(struct run_services *services, const struct outcome *outcome)
{
    if (outcome->unready)
        services->unready++;
    else if (outcome->verdict != VERDICT_SKIP)
        services->unready = 0;
}

void run_services_doubt(struct run_services *services)
{
    services->unready = UNREADY_MOST;
}

bool run_services_are_cause(const char *message)
{
    static const char sign[] = "the device does not serve ";

    return message != NULL && strncmp(message, sign, sizeof(sign) - 1) == 0;
}

const char *run_services_framing(const struct run_services *services, const char **hint)
{
    for (size_t role = 0; role < RUN_SERVICES_ROLES; role++)
        for (size_t i = 0; services->known[role] != NULL && services_names[i] != NULL; i++) {
            const char *cause = services_cause(services->known[role], services_names[i], hint);

            if (hint_framing_of(cause) == HINT_FRAMING_READ)
                return cause;
        }
    return NULL;
}

void run_services_say(const struct run_services *services, const char *role, const char *why, struct outcome *outcome)
{
    static const char *const silent[RUN_SERVICES_ROLES] = {"startup-not-served-as-responder",
                                                           "startup-not-served-as-initiator"};
    size_t index = index_of(role);

    outcome->message = why;
    if (!run_services_are_cause(why))
        return;
    outcome->cause = services_cause(services->known[index], services_names[0], &outcome->hint);
    if (outcome->cause == NULL) {
        outcome->cause = services->spoke[index] ? "startup-no-longer-served" : silent[index];
        outcome->hint = services->spoke[index] ? "the device does not serve start-ups any more, as it did before"
                                               : "the device does not serve a start-up";
    }
}

/* " as responder: a start-up (nothing within 2 s), ...;" after `used` octets; returns how many there are then. */
static size_t describe_role(const json_t *known, const char *role, char *text, size_t room, size_t used)
{
    const char *lead = "";

    for (size_t i = 0; services_names[i] != NULL && used < room; i++) {
        const char *why = services_why_not(known, services_names[i]);

        if (why == NULL)
            continue;
        if (lead[0] == '\0')
            used += (size_t)snprintf(text + used, room - used, "%s as %s:", used > 0 ? ";" : "", role);
        if (used < room)
            used += (size_t)snprintf(text + used, room - used, "%s %s (%.160s)", lead,
                                     services_title(services_names[i]), why);
        lead = ",";
    }
    return used;
}

const char *run_services_gaps(const struct run_services *services, char text[RUN_SERVICES_GAPS_OCTETS])
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < RUN_SERVICES_ROLES && used < RUN_SERVICES_GAPS_OCTETS; i++)
        if (services->known[i] != NULL)
            used = describe_role(services->known[i], role_names[i], text, RUN_SERVICES_GAPS_OCTETS, used);
    return text;
}

void run_services_free(struct run_services *services)
{
    for (size_t i = 0; i < RUN_SERVICES_ROLES; i++)
        json_decref(services->known[i]);
    memset(services, 0, sizeof(*services));
}
