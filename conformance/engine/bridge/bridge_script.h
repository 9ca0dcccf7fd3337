/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Impairments in Lua, in the sandbox of checks:
 *
 *     impair { name = "late-response", when = { message = "RDMA Read Response", stream = 2, nth = 3 },
 *              act = function(unit, event) unit:delay(0.5) end }
 *
 * docs/bridge.md lists what a trigger may name, and what can be done to a unit.
 */
#ifndef CONFORMANCE_ENGINE_BRIDGE_SCRIPT_H
#define CONFORMANCE_ENGINE_BRIDGE_SCRIPT_H

#include "base/sentence.h"
#include "conformance/engine/bridge/bridge_expect.h"
#include "conformance/engine/bridge/bridge_sctp.h"
#include "conformance/engine/bridge/bridge_stream.h"
#include "conformance/engine/bridge/bridge_trigger.h"
#include "conformance/engine/bridge/bridge_unit.h"

struct bridge_script; /* opaque */

/* What became of an impairment. */
struct bridge_impairment {
    char *name, *purpose;
    struct bridge_trigger trigger;
    int when, act; /* references: a table or a function; a function */
    uint64_t applied;
    struct bridge_expect expect;
    struct bridge_seen seen;
    struct iwarp_sentence why; /* it was due and not applied: the first reason; empty: none */
    bool broken;               /* its script raised an error: it is not called any more */
};

/* What a call of act() is about, and what it did. */
struct bridge_call {
    struct bridge_streams *streams;
    struct bridge_connection *connection; /* over TCP, and then `at` and `end` are octets; */
    struct bridge_sctp *sctp;
    struct bridge_association *association; /* over SCTP, and `at` is a TSN */
    uint64_t stream;                        /* which connection of iWARP it is; 0: it began before the bridge */
    unsigned side;                          /* of the sender */
    uint32_t at, end;
    struct bridge_unit unit;
    struct bridge_impairment *impairment;
    uint64_t hold_ns; /* the longest that something is held */
    bool released;    /* other directions may go on */
    bool swaps, closes, resets;
    char done[80];                 /* "dropped, delayed by 0.5 s" */
    struct iwarp_sentence refused; /* why something was not done; empty: all was */
};

/* `seed` is that of math.random. NULL with a sentence. */
struct bridge_script *bridge_script_new(uint64_t seed, struct iwarp_sentence *error);
void bridge_script_free(struct bridge_script *script); /* NULL is allowed */

/* Reads the impairments of a file. -1 with a sentence: "FILE:line: what". */
int bridge_script_load(struct bridge_script *script, const char *path, struct iwarp_sentence *error);

/* The same of a text that is there already; `path` names it. */
int bridge_script_read(struct bridge_script *script, const char *path, const void *octets, size_t count,
                       struct iwarp_sentence *error);
/* Those for another LLP are left out; each one that names no stream gets one of its own, in their order. */
void bridge_script_spread(struct bridge_script *script, enum bridge_llp llp);

size_t bridge_script_count(const struct bridge_script *script);
/* The last stream that an impairment names; 0: none does. */
uint64_t bridge_script_streams(const struct bridge_script *script);
struct bridge_impairment *bridge_script_at(const struct bridge_script *script, size_t index);

/*
 * Asks the impairment at `index` about an event of that stream. 1: it is due, and act() has said in `call` what is to be
 * done; 0: it is not due; -1 with a sentence: an error of the script's.
 */
int bridge_script_ask(struct bridge_script *script, size_t index, struct bridge_call *call,
                      const struct flow_event *event, struct iwarp_sentence *error);

#endif
