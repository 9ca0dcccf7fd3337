/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks are Lua scripts (conformance/scripts/<layer>/<section>-<topic>.lua); docs/writing-checks.md says how they are
 * written. A script host holds the checks that were loaded into it, and runs one of them at a time on a rig. Scripts
 * can use the rig, but no files and no clock; changes that one script makes are not visible to another.
 */
#ifndef CONFORMANCE_ENGINE_SCRIPT_H
#define CONFORMANCE_ENGINE_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>

#include "conformance/engine/evidence/recorder.h"
#include "conformance/engine/rig/rig.h"
#include "reports/results/result.h"
#include "wire/ddp_sctp.h"
#include "base/sentence.h"

struct script_host;

enum { CHECK_ROLES = 2 };

/*
 * One id that a `check { ... }` of a script decides; a check with `also` is there once for each of its ids. Strings
 * belong to the host.
 */
struct check {
    const char *id;       /* requirement */
    const char *purpose;  /* one line: what the check shows */
    const char *requires; /* capability predicate in addition to the catalogue's, or NULL */
    const char *path;     /* of the script */
    int line;             /* of the `check` */
    bool responder;       /* runs with the DUT in this role */
    bool initiator;
    double lasts;                 /* seconds that it takes on a healthy device, when these are many; 0: few */
    bool destructive;             /* may crash a peer: only with --destructive */
    bool unjudged;                /* rules do not judge its traffic */
    bool frees;                   /* no device can break the row: what fails is the exchange that shows it */
    enum iwarp_sctp_profile sctp; /* it drives a device over SCTP, in this profile; UNDECIDED: over MPA and TCP */
    /* llp = "any": it drives DDP and what is above it, over whichever of the two the run has; `sctp` is UNDECIDED. */
    bool any_llp;
    /*
     * llp = "any-end": the same where a DDP stream has an end of its own, a FIN or a Terminate of its session: not in
     * the draft.
     */
    bool with_end;
    bool cm; /* llp = "cm": it drives a device's CM, and rests on nothing that the device serves over TCP */
    struct script_room *room; /* the Lua state that it lives in */
    int table;                /* reference to the Lua table there, the same for all ids of it */
};

/* What one run of a check gave. Strings belong to the host until the next run. */
struct outcome {
    enum verdict verdict;
    const char *expected;
    const char *actual;
    const char *message;
    const char *reading;        /* AMBIGUOUS */
    const char *cause;          /* another reading fits what came: its name (wire/hint.h); NULL: none is known */
    const char *hint;           /* and that reading in words */
    int line;                   /* of the script, where it was decided */
    struct last_seen looked_at; /* what the check had read last by then; nothing when a script failed */
    bool link_failed;           /* the rig is unusable: stop */
    bool unready;    /* the good exchange before the stimulus failed, although the device has served such a one */
    bool not_served; /* the device does not serve what the check rests on: the message says what */
    bool broken;     /* FAIL because of the good exchange after the stimulus, even if the check itself passed */
};

/*
 * True if the message of an INCONCLUSIVE result says that the check's script failed: a fault of the check, not of the
 * device.
 */
bool script_error_matches(const char *message);

/* NULL with a sentence. */
struct script_host *script_host_new(struct iwarp_sentence *error);
void script_host_free(struct script_host *host);

/*
 * Loads one script, into a Lua state of its own with the check library; `path` is what messages call it. -1 with
 * "path:line: what" in the sentence; the checks of that script are not there then.
 */
int script_load(struct script_host *host, const char *path, const void *octets, size_t count,
                struct iwarp_sentence *error);

/* Loads every script compiled in. */
int script_load_embedded(struct script_host *host, struct iwarp_sentence *error);

/* Loads one script file, or every .lua below a folder. */
int script_load_path(struct script_host *host, const char *path, struct iwarp_sentence *error);

/* A digest of the contents of all scripts that were loaded, in this order, and of the library. */
uint64_t script_digest(const struct script_host *host);

/* What was loaded last failed because the system's memory was short, not because of the script. */
bool script_short_of_memory(const struct script_host *host);

/* The checks in the order they were loaded. */
size_t script_check_count(const struct script_host *host);
const struct check *script_check_at(const struct script_host *host, size_t i);

/*
 * Runs a check on the rig, with the DUT as "responder" or "initiator": a good exchange, the stimulus and its outcome, a
 * good exchange again. `recorder` may be NULL.
 */
void script_run(struct script_host *host, const struct check *check, const char *role, struct rig *rig,
                struct recorder *recorder, struct outcome *outcome);

#endif
