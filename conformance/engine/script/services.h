/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which good exchanges a device serves in one of its roles. A device need not serve all of them, and a check that
 * depends on an exchange which the device does not serve decides nothing. What was learned is a JSON object, so that a
 * run can keep it in its results and `probe` can write it down:
 *
 *   {"role": "responder", "speaks": true, "copies_tag": true,
 *    "exchanges": {"startup": true, "enhanced startup": true, "empty read": true, "read": true,
 *                  "send to": "the ULP was not told of the Send", "send from": true},
 *    "causes": {"send to": {"name": "silence-for-send", "hint": "nothing comes in place of a Send"}}}
 *
 * `speaks`: what the device answered to a good start-up frame was MPA, even if it was wrong. An exchange is true where
 * it was served, a sentence that says why not where it was not, and missing where nobody could ask for it (no upper
 * tester). `causes`: what the failure of an exchange has in common with other failures (reports/results/cause.h), where
 * that is known; missing without any. `copies_tag`: the Response to an empty Read has the STag and TO of the Request
 * (RDMAP-5.2.2-12). `rejects`: a good Request was answered by a Reply with R = 1; missing where none was. `answers_in`:
 * seconds that its slowest answer took, where that is more than checks would wait for silence otherwise; else missing.
 * `aborts_silently`: true where each error aborted its stream of the draft without a Terminate (SCTP-7.2-15); else missing.
 * The exchanges themselves are in conformance/scripts/lib/3-services.lua, from least to most.
 */
#ifndef CONFORMANCE_ENGINE_SERVICES_H
#define CONFORMANCE_ENGINE_SERVICES_H

#include <jansson.h>

#include "conformance/engine/script/script.h"

/* The names of the exchanges, NULL after the last; and what each is called in messages ("a start-up"). */
extern const char *const services_names[];
const char *services_title(const char *name);

/*
 * Tries each exchange on the rig, with the device as "responder" or "initiator"; one that fails is tried again, as a
 * device may be busy. `recorder` may be NULL. A new reference; NULL with a sentence where nothing was learned: the
 * link, the upper tester or memory failed.
 */
json_t *services_learn(struct script_host *host, const char *role, struct rig *rig, struct recorder *recorder,
                       struct iwarp_sentence *error);

/*
 * The good exchange that checks rest on where the device serves it, in place of the least that it serves; NULL: that
 * one. Borrowed. -1 with a sentence where no check can rest on it. `at` is what the sentence calls the place that it
 * comes from.
 */
int services_prefer(struct script_host *host, const char *name, const char *at, struct iwarp_sentence *error);

/* From now on checks know this of the device (a reference of the host's own); NULL: they take it that all is served. */
void services_use(struct script_host *host, json_t *services);

/* What the profile answers to the questions about the device, for rig.claims() (borrowed); NULL: yes to each. */
struct pics;
void services_answers(struct script_host *host, const struct pics *pics);

/* The Private Data that its ULP wants in start-up frames, for rig.private_data() (borrowed); NULL: any will do. */
struct profile;
void services_private_data(struct script_host *host, const struct profile *profile);

/* True when the exchange was served; and why it was not, NULL where it was or nobody could ask. */
bool services_has(const json_t *services, const char *name);
const char *services_why_not(const json_t *services, const char *name);

/* The cause of that, and its hint: NULL where none is known. */
const char *services_cause(const json_t *services, const char *name, const char **hint);

/* True when the device answered a good start-up frame by MPA. */
bool services_speaks(const json_t *services);

#endif
