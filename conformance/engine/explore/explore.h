/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sessions that nobody wrote: made by seed, some with a deviation, whose allowed reactions the correct stack predicts;
 * played against a device; and what was found, grouped by its cause.
 */
#ifndef CONFORMANCE_ENGINE_EXPLORE_H
#define CONFORMANCE_ENGINE_EXPLORE_H

#include <jansson.h>

#include "conformance/engine/explore/session_run.h"
#include "reference-stack/defects/defect.h"

enum {
    EXPLORE_BATCH = 50,
    EXPLORE_LIVE_BATCH = 250, /* a run on the wire begins with a few seconds of its own, in a guest with more */
    EXPLORE_REPLAYS = 5,
};

struct explore_config {
    struct session_world world;
    const struct defect_list *variants;
    struct session_device *device;
    uint64_t seed, first; /* the sessions' numbers begin here */
    uint64_t sessions;
    unsigned wrong; /* how many of a hundred have a deviation */
    unsigned jobs;
    bool first_only; /* stop at the first failure */
    bool warns;      /* a WARN is a failure, too */
    void (*progress)(void *user, size_t done, size_t total);
    void *user;
};

/* What several sessions failed with in the same way. */
struct explore_group {
    char *cause;        /* what they have in common: the rule's id, or what the check says */
    char *verdict, *id; /* id: of the rule; NULL: the session's own judgement */
    char *message, *expected, *actual;
    struct session *reduced; /* explore_reduce(); NULL: there is none */
    uint64_t number;         /* of its first session */
    uint64_t count;
    unsigned run;   /* on the wire: number of the run that has its first session */
    unsigned again; /* of EXPLORE_REPLAYS, in which its first session failed so again... */
    bool replayed;  /* ...where that was tried */
};

struct explore_summary {
    struct explore_group *groups;
    size_t group_count;
    uint64_t sessions, wrong, failed, undecided, skipped;
    char *reason; /* of the first that could not be decided; NULL: none */
    uint64_t undecided_number;
    char *skipped_reason; /* of the first that the device has no means for; NULL: none */
    bool *met, *refused;  /* by entry of validation_table: some session of the correct stack came by it */
    bool stopped;         /* first_only, or by a signal */
};

/*
 * Makes session `number` and the reactions that it allows; -1 with a sentence. `oracle` is what was learned of the
 * correct stack.
 */
int explore_make(const struct explore_config *config, struct session_device *oracle, struct session *sessions,
                 uint64_t number, size_t count, struct explore_summary *summary, struct iwarp_sentence *error);

/* Fills in the reactions that these sessions allow; their order changes. The same. */
int explore_predict(const struct explore_config *config, struct session_device *oracle, struct session *sessions,
                    size_t count, struct explore_summary *summary, struct iwarp_sentence *error);

/* 0, or -1 with a sentence; explore_summary_free() in either case. */
int explore_run(const struct explore_config *config, struct explore_summary *summary, struct iwarp_sentence *error);
void explore_summary_free(struct explore_summary *summary);

/* What a result has in common with others of the same cause: without its numbers. A new string, NULL: memory. */
char *explore_cause(const struct result *result);

/* Is the result a failure? */
bool explore_fails(const struct explore_config *config, const struct result *result);

#endif
