/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs each legal variant of the reference stack against every check and rule. There must be no FAIL, and no WARN
 * except of the requirements that the variant's row names; each of these has to report a WARN. A check that the variant
 * cannot change has the same outcome as without it, and is not run (prove_meets.h).
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
    const char *const *surplus; /* as text: FAIL, script errors, and WARN that its row does not name */
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
    enum iwarp_sctp_profile profile; /* as in struct prove_config */
    uint64_t seed;
    unsigned jobs;      /* processes, at most PROVE_JOBS_MAX */
    struct shard shard; /* every N-th variant, from the I-th on; 0 of 0: all */
    /*
     * Each check is run with each variant, also if the variant cannot change it (prove_meets.h). The outcome of such a
     * check is compared with its outcome without the variant: a difference is surplus.
     */
    bool whole;
    void (*outcome)(void *user, const struct variant_outcome *outcome);
    /* FAIL, WARN or a script error without any variant, as text. */
    void (*alarm)(void *user, const char *text);
    void (*progress)(void *user, size_t done, size_t total); /* NULL: not called */
    void *user;
};

struct prove_variants_summary {
    size_t variants, good;
    size_t left_out; /* over SCTP: those that act in MPA, in TCP or in a CM alone */
    size_t undecided;
    size_t false_alarms; /* without any variant */
    size_t checks, rules;
    size_t met, pairs; /* pairs of a variant and a check that were run, of all such pairs */
};

/*
 * 0 when the suite was run with each variant, also if there are alarms; -1 with a sentence (unknown variant, a worker
 * died, memory).
 */
int prove_variants_run(const struct prove_variants_config *config, struct prove_variants_summary *summary,
                       struct iwarp_sentence *error);

#endif
