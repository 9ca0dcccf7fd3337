/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules that a user wrote in Lua (docs/writing-rules.md): `audit --rules FILE.lua`. Each is a requirement with an id,
 * which the catalogue has for this audit, and a function that is called with each event of the kinds that it wants.
 */
#ifndef CONFORMANCE_ENGINE_LUA_RULES_H
#define CONFORMANCE_ENGINE_LUA_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "conformance/flow/event/flow.h"
#include "conformance/requirements/catalogue.h"
#include "reports/results/result.h"
#include "base/sentence.h"

struct lua_rules; /* opaque */

/* Without a file. NULL with the sentence set. */
struct lua_rules *lua_rules_new(struct iwarp_sentence *error);
void lua_rules_free(struct lua_rules *rules); /* NULL is allowed */

/* What a file declares. 0, or -1 with "FILE:line: what, and what was expected". */
int lua_rules_load(struct lua_rules *rules, const char *path, struct iwarp_sentence *error);

/*
 * The catalogue with these rules at its end, which the caller frees. 0, or -1 with the sentence set: an id is a
 * requirement's or another rule's.
 */
int lua_rules_catalogue(const struct lua_rules *rules, struct catalogue **catalogue, struct iwarp_sentence *error);

/* Leaves out the rules that are not selected. */
void lua_rules_select(struct lua_rules *rules, bool (*selected)(const char *id, void *argument), void *argument);

/* Judges an event, and those that `next` leads to. */
void lua_rules_event(struct lua_rules *rules, const struct flow_event *event);

/* A result of one side of a flow, and which message of result.frame it is about (step_place.h). */
struct lua_found {
    struct result result; /* without a file: the caller knows it */
    const struct flow *flow;
    enum flow_direction direction;
    unsigned step;
};

/*
 * To be called at a flow's end: calls `take` for each rule and side that the traffic of `flow` exercised, and frees the
 * flow's state. A rule whose script failed gives an INCONCLUSIVE result.
 */
void lua_rules_flow_end(struct lua_rules *rules, const struct flow *flow,
                        void (*report)(void *user, const struct lua_found *found), void *user);

#endif
