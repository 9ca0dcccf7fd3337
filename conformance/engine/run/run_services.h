/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the device of a run serves (conformance/engine/script/services.h). It is learned once for each role, before the
 * first check in that role, and again when the device seems to have changed. If a device never answered a good start-up
 * frame by MPA, no check judges it.
 */
#ifndef CONFORMANCE_ENGINE_RUN_SERVICES_H
#define CONFORMANCE_ENGINE_RUN_SERVICES_H

#include <jansson.h>

#include "conformance/engine/script/services.h"

enum { RUN_SERVICES_ROLES = 2, RUN_SERVICES_GAPS_OCTETS = 1024 };

/* Zero: nothing is known yet. */
struct run_services {
    json_t *known[RUN_SERVICES_ROLES]; /* responder, initiator */
    unsigned unready; /* checks in a row, in either role, whose good exchange before the stimulus failed */
    unsigned relearned;
    bool spoke[RUN_SERVICES_ROLES]; /* it has served a start-up at least once, even if not when it was tried again */
};

/* What learning needs of the run. */
struct run_services_context {
    struct script_host *host;
    struct rig *(*open)(void *user, const char *id, const char *role,
                        struct iwarp_sentence *why); /* a rig, made as new */
    void (*close)(void *user, struct rig *rig);
    struct recorder *(*record)(void *user, struct rig *rig, const char *role,
                               bool begins);   /* the same for the evidence */
    int (*keep)(void *user, json_t *services); /* -1: it cannot be kept */
    void *user;
};

/*
 * Takes what the run learned earlier (--resume); takes no reference. An object without a role, or with an unknown one,
 * is ignored.
 */
void run_services_resume(struct run_services *services, json_t *learned);

/*
 * To be called before a check in this role: learns what is not known, and passes it to the checks. False, with the
 * reason: the check cannot be run, as the device serves nothing, or as nothing could be learned.
 */
bool run_services_prepare(struct run_services *services, const struct run_services_context *context, const char *role,
                          struct iwarp_sentence *why);

/* After a check: whether the good exchange before its stimulus failed. */
void run_services_note(struct run_services *services, const struct outcome *outcome);

/* The device is lost: it is learned again before the next check, in place of some checks later. */
void run_services_doubt(struct run_services *services);

/* Is this the message of a result that could not be decided as the device does not serve what the check needs? */
bool run_services_are_cause(const char *message);

/*
 * The cause for which the device does not serve a good exchange, in either role, where it is a mistake in its framing
 * that shows by another reading of the octets (wire/hint.h); NULL: there is none. *hint becomes the cause in words.
 */
const char *run_services_framing(const struct run_services *services, const char **hint);

/*
 * Makes `why` the message of the outcome of a check that cannot be run; the outcome keeps the pointer. If the device
 * does not serve the start-up, the outcome gets the cause that such results share, and its hint.
 */
void run_services_say(const struct run_services *services, const char *role, const char *why, struct outcome *outcome);

/*
 * Lists what the device does not serve, for a sentence: " as responder: a start-up (nothing within the time limit)".
 * Returns `text`, which is "" if the device serves all.
 */
const char *run_services_gaps(const struct run_services *services, char text[RUN_SERVICES_GAPS_OCTETS]);

void run_services_free(struct run_services *services);

#endif
