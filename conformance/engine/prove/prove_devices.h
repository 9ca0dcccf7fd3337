/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Draws legal devices by seed, and runs the suite against each: the reference stack with the choices that the seed has
 * drawn (reference-stack/defects/choice.h). There must be no FAIL, and no WARN except of the requirements that the rows
 * of its choices name. A device that draws one is reduced to the fewest choices that still do. What is INCONCLUSIVE is
 * reported with its sentence.
 */
#ifndef CONFORMANCE_ENGINE_PROVE_DEVICES_H
#define CONFORMANCE_ENGINE_PROVE_DEVICES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conformance/engine/option/shard.h"
#include "conformance/engine/script/script.h"
#include "conformance/requirements/catalogue.h"
#include "conformance/requirements/pics.h"
#include "reference-stack/defects/choice.h"

/* What one device drew. */
struct device_outcome {
    uint64_t seed;
    const char *choices;     /* as choice_device_text() writes them */
    const json_t *surplus;   /* strings: FAIL, script errors, and WARN that no row of its choices names */
    const json_t *undecided; /* strings: INCONCLUSIVE, each with its reason */
    const char *reduced;     /* the fewest choices that draw one of the surplus still; NULL: nothing is surplus */
    const char *by;          /* the id of that one */
    size_t met;              /* checks that were run */
};

struct prove_devices_config {
    const struct catalogue *catalogue;
    const struct pics *pics;
    struct script_host *host;
    const struct choice_table *table;
    enum choice_layer layer;
    const char *choices; /* the device, as choice_device_text() writes it; NULL: devices by seed */
    uint64_t first;      /* their seeds: this one, */
    size_t count;        /* and so many after it, with it; 1 where `choices` is given */
    uint64_t seed;       /* of the runs */
    unsigned jobs;       /* processes, at most PROVE_JOBS_MAX */
    struct shard shard;  /* every N-th device, from the I-th on; 0 of 0: all */
    void (*outcome)(void *user, const struct device_outcome *outcome);
    /* FAIL, WARN or a script error without any choice, as text. */
    void (*alarm)(void *user, const char *text);
    void (*progress)(void *user, size_t done, size_t total); /* NULL: not called */
    void *user;
};

/* How the choices of all devices cover the points of the layer. */
struct devices_coverage {
    size_t points;
    size_t least_drawn, least_left; /* of the devices: how many of them differ at a point, or do not, at the least */
    size_t pairs, pairs_drawn;      /* of points: one device differs at both */
};

struct prove_devices_summary {
    size_t devices, good, undecided, false_alarms, checks, rules, met, pairs_of_checks;
    struct devices_coverage coverage;
};

/*
 * 0 when the suite was run with each device, also if there are alarms; -1 with a sentence (an unknown choice, a worker
 * died, memory).
 */
int prove_devices_run(const struct prove_devices_config *config, struct prove_devices_summary *summary,
                      struct iwarp_sentence *error);

#endif
