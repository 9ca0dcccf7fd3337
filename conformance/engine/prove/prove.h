/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kill matrix: the reference stack with each defect in turn, in simulation, against every check and rule; and the
 * correct stack over many seeds, which must draw no FAIL and no WARN. A check or rule catches a defect when its verdict
 * is FAIL or WARN. A defect is killed when each requirement that it names catches it, as far as a check or rule judges
 * that one on the lower layer of the run (prove_named.h has the exceptions).
 */
#ifndef CONFORMANCE_ENGINE_PROVE_H
#define CONFORMANCE_ENGINE_PROVE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conformance/engine/script/script.h"
#include "conformance/engine/option/shard.h"
#include "conformance/engine/prove/prove_workers.h"
#include "conformance/requirements/catalogue.h"
#include "conformance/requirements/pics.h"
#include "reference-stack/defects/defect.h"

struct prove_config {
    bool sctp; /* checks that run over TCP and SCTP run over SCTP, and meet the defects of the stack there */
    enum iwarp_sctp_profile
        profile; /* with `sctp`: the checks of this text alone; UNDECIDED: of both, others by RFC 5043 */
    const struct catalogue *catalogue;
    const struct pics *pics;
    struct script_host *host;
    const struct defect_list *defects;
    const char *const *only; /* ids of the defects to prove; all when only_count is 0 */
    size_t only_count;
    uint64_t seed;
    unsigned seeds;     /* of the correct stack */
    unsigned jobs;      /* processes, at most PROVE_JOBS_MAX */
    struct shard shard; /* only this part of the seeds and defects */
    bool whole;         /* every defect against every check, also when one that it names has caught it already */

    /*
     * One defect's row: "killed", true or false; "killed_by", ids that caught it, in the order of checks, then rules;
     * "kills", the same as "ID role VERDICT"; "uncaught", ids that it names and that did not.
     */
    void (*defect)(void *user, const struct defect *defect, const json_t *row);
    /* The defect does not apply over SCTP; `reason` says why. NULL: not called. */
    void (*left_out)(void *user, const struct defect *defect, const char *reason);
    /* Called when all checks were run against the correct stack with this seed. NULL: not called. */
    void (*correct)(void *user, uint64_t seed);
    /*
     * If `defect` is NULL: a wrong verdict on the correct stack, with its seed. Otherwise: a script error with this
     * defect.
     */
    void (*alarm)(void *user, const struct defect *defect, uint64_t seed, const char *text);
    void (*progress)(void *user, size_t done, size_t total);
    void *user;
};

struct prove_summary {
    size_t defects, killed;
    size_t false_alarms; /* FAIL or WARN of the correct stack, and script errors with defects */
    size_t undecided;    /* INCONCLUSIVE of the correct stack */
    size_t left_out;     /* defects that do not apply over SCTP */
    size_t checks, rules;
    size_t units;                   /* seeds and defects that were met */
    char plan[SHARD_DIGEST_OCTETS]; /* with a shard: digest of what was shared out */
};

/*
 * 0 when the matrix was made, also if it has survivors or alarms; -1 with a sentence (unknown defect, a worker died,
 * memory).
 */
int prove_run(const struct prove_config *config, struct prove_summary *summary, struct iwarp_sentence *error);

#endif
