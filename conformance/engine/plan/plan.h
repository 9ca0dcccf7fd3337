/* SPDX-License-Identifier: BSD-2-Clause */
/* What a run is going to do: each selected check in each role, with the reason where it has to be skipped. */
#ifndef CONFORMANCE_ENGINE_PLAN_H
#define CONFORMANCE_ENGINE_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "conformance/engine/script/script.h"
#include "conformance/engine/option/shard.h"
#include "conformance/requirements/catalogue.h"
#include "conformance/requirements/pics.h"
#include "conformance/requirements/select.h"

struct plan_item {
    const struct check *check;
    const struct requirement *requirement; /* NULL: an id that the catalogue does not have (a stand-alone script) */
    const char *role;                      /* of the DUT: "responder" or "initiator" */
    enum iwarp_sctp_profile sctp;          /* the LLP that it drives here; UNDECIDED: MPA over TCP */
    struct iwarp_sentence skip;            /* why not; "" when it is to be run */
    bool hazard;                           /* the device may not survive it: runs alone, after all others */
};

struct plan {
    struct plan_item *items;
    size_t count;
    size_t decidable;     /* requirements that are selected and that a check of the plan, or a rule, decides */
    bool *decides;        /* by requirement index: it is one of these */
    bool short_of_memory; /* why it was not made; otherwise a script is to blame */
    bool selects_rules;   /* some selected requirement has a rule: a live run decides it too */
};

struct plan_config {
    const struct catalogue *catalogue;
    const struct pics *pics;
    const struct selection *selection;
    bool sctp; /* the checks that drive a device over SCTP, and no others; false: those over TCP */
    enum iwarp_sctp_profile profile; /* with `sctp`: the checks of this profile alone; UNDECIDED: of both */
    bool sctp_alone;                 /* of those over SCTP, leave out what runs over TCP just as well */
    bool destructive;
    bool cm;          /* checks that drive a CM, and no others */
    bool every_llp;   /* both kinds */
    bool own_scripts; /* the checks are somebody's own, and not those that come with the program */
    bool
        starts_initiator; /* the profile's connect_command does: no upper tester is needed to make the device connect */
};

/* 0, or -1 with a sentence (memory, a predicate that cannot be read: "script:line: ..."). */
int plan_make(struct plan *plan, const struct script_host *host, const struct plan_config *config,
              struct iwarp_sentence *error);
/* Hazards come last; otherwise the order stays. 0, or -1 with a sentence (memory). */
int plan_put_hazards_last(struct plan *plan, struct iwarp_sentence *error);

/*
 * Keeps this shard's items, in their order; the checks of one requirement stay together. `digest` becomes that of the
 * whole plan. 0, or -1 with a sentence (memory).
 */
int plan_shard(struct plan *plan, const struct shard *shard, char digest[SHARD_DIGEST_OCTETS],
               struct iwarp_sentence *error);

void plan_free(struct plan *plan);

#endif
