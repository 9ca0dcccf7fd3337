/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session of `warpcheck explore`: data, a list of steps with numbers, which the script library plays (t:follow,
 * conformance/scripts/lib/9-explored.lua). What names a step, and which members a step has, is that file's; here they
 * are words with a number each. So whatever makes, prints or reduces a session works on lists of members alone.
 * docs/exploring.md shows one.
 */
#ifndef CONFORMANCE_ENGINE_EXPLORE_SESSION_H
#define CONFORMANCE_ENGINE_EXPLORE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/sctp_profile.h"

enum {
    SESSION_MEMBERS = 14,
    SESSION_STEPS = 40,
    SESSION_REGIONS = 4,
    SESSION_REACTIONS = 24,
    SESSION_REACTION_OCTETS = 32,
};

enum session_kind { SESSION_NUMBER, SESSION_FLAG, SESSION_WORD };

/* Names and words are literals, or belong to wire/'s tables. */
struct session_member {
    const char *name;
    enum session_kind kind;
    int64_t number;   /* a flag: 0 or 1 */
    const char *word; /* SESSION_WORD; else NULL */
};

struct session_members {
    struct session_member at[SESSION_MEMBERS];
    size_t count;
};

/* What is wrong in a step, or in the tester's start-up frame; `frame`: in the FPDU or DATA chunk around a segment. */
struct session_wrong {
    bool present;
    struct session_members what;
    struct session_members frame;
};

struct session_step {
    const char *name; /* "device send" */
    struct session_members members;
    struct session_wrong wrong;
};

/* Memory of the device; access: NULL or a list in Lua, "{ \"read\" }". */
struct session_region {
    struct session_members members;
    const char *access;
};

struct session {
    uint64_t seed, number;        /* what it was made of */
    enum iwarp_sctp_profile sctp; /* the lower layer; UNDECIDED: MPA over TCP */
    bool initiator;               /* the device's role */
    bool atomics;                 /* some step has one */
    bool untouched;               /* what is wrong changes no memory, and is not delivered */
    bool beyond;                  /* more Reads are open than IRD */
    struct session_members open, own, word, device;
    struct session_wrong wrong_start;
    struct session_region regions[SESSION_REGIONS];
    size_t region_count;
    struct session_step steps[SESSION_STEPS];
    size_t step_count;
    const char *ends; /* NULL: the tester's FIN */
    char reactions[SESSION_REACTIONS][SESSION_REACTION_OCTETS];
    size_t reaction_count;
};

/* Appends a member; one for which there is no room is left out. */
void session_add(struct session_members *members, const char *name, int64_t number);
void session_add_flag(struct session_members *members, const char *name, bool value);
void session_add_word(struct session_members *members, const char *name, const char *word);

/* Takes the member away. */
void session_drop(struct session_members *members, const char *name);

/* NULL: it is not there. */
const struct session_member *session_find(const struct session_members *members, const char *name);

/* Its number; `otherwise` where it is not there. */
int64_t session_number(const struct session_members *members, const char *name, int64_t otherwise);

/* A new last step, or NULL: there is no room. */
struct session_step *session_add_step(struct session *session, const char *name);

/* Is some step wrong, or the start-up frame? */
bool session_is_wrong(const struct session *session);

/* A reaction that is allowed, once. */
void session_allow(struct session *session, const char *reaction);

#endif
