/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The legal variants of the reference stack, each against every check and rule: no FAIL, and no WARN but of the
 * requirements that the variant's row names, each of which has to report it so. A check that cannot meet the variant
 * comes to the same as without it, and is not run (prove_meets.h).
 */
#ifndef CONFORMANCE_ENGINE_PROVE_VARIANTS_H
#define CONFORMANCE_ENGINE_PROVE_VARIANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conformance/engine/option/shard.h"
#include "conformance/engine/script/script.h"
#include "conformance/requirements/catalogue.h"
#include "conformance/requirements/pics.h"
#include "reference-stack/defects/defect.h"

/* What one variant drew. */
struct variant_outcome {
    const struct defect *variant;
    const char *const *surplus; /* in words: FAIL, script errors, and WARN that its row does not name */
    size_t surplus_count;
    const char *const *unseen; /* ids of its row that did not report a WARN */
    size_t unseen_count;
    size_t undecided; /* INCONCLUSIVE */
    size_t met;       /* checks that were run */
    bool good;        /* neither surplus nor unseen */
};

struct prove_variants_config {
    const struct catalogue *catalogue;
    const struct pics *pics;
    struct script_host *host;
    const struct defect_list *variants;
    const char *const *only; /* ids of the variants to prove; all when only_count is 0 */
    size_t only_count;
    bool sctp; /* the checks over SCTP; a row's WARNs, which are those over TCP, may then be missing */
    enum ddp_sctp_profile profile; /* as in struct prove_config */
    uint64_t seed;
    unsigned jobs;      /* processes, at most PROVE_JOBS_MAX */
    struct shard shard; /* every N-th variant, from the I-th on; 0 of 0: all */
    /*
     * Each variant meets each check, also those that cannot meet it (prove_meets.h), and what such a check comes to is
     * compared with what it comes to without the variant: a difference is surplus.
     */
    bool whole;
    void (*outcome)(void *user, const struct variant_outcome *outcome);
    /* Without any variant: FAIL, WARN or a script error, in words. */
    void (*alarm)(void *user, const char *text);
    void (*progress)(void *user, size_t done, size_t total); /* NULL: no wish */
    void *user;
};

struct prove_variants_summary {
    size_t variants, good;
    size_t left_out; /* over SCTP: those that act in MPA, in TCP or in a CM alone */
    size_t undecided;
    size_t false_alarms; /* without any variant */
    size_t checks, rules;
    size_t met, pairs; /* of so many pairs of a variant and a check so many were run */
};

/*
 * 0 when each variant has met the suite, whatever it drew; -1 with a sentence (unknown variant, a worker died, memory).
 */
int prove_variants_run(const struct prove_variants_config *config, struct prove_variants_summary *summary,
                       struct sentence *error);

#endif
