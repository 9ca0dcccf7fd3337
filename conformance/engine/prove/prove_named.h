/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The requirements that a defect names, each of which has to catch it: all that a check or a rule judges on the lower
 * layer of the run, except those of reference-stack/defects/defects-uncaught.tsv, which says of each why it cannot.
 */
#ifndef CONFORMANCE_ENGINE_PROVE_NAMED_H
#define CONFORMANCE_ENGINE_PROVE_NAMED_H

#include <jansson.h>
#include <stdint.h>

#include "conformance/requirements/catalogue.h"
#include "conformance/requirements/pics.h"
#include "reference-stack/defects/defect.h"

/* What judges a defect. Everything in it is the caller's, and outlives the calls. */
struct prove_judges {
    const json_t *decided; /* ids on which a check of the run came to a verdict: an array */
    uint32_t flows;        /* kinds of flows that rules see: 1 << enum flow_kind each */
    const struct catalogue *catalogue;
    const struct pics *pics;
    const char *llp; /* as --llp names it */
};

/* Whether an array of ids has this one. */
bool prove_named_has(const json_t *ids, const char *id);

/*
 * A new array of the ids that `defect` names, that something judges and that are not in `caught`, an array of ids, nor
 * excused by the table on this lower layer; NULL without memory.
 */
json_t *prove_named_uncaught(const struct prove_judges *judges, const struct defect *defect, const json_t *caught);

/* A new array of the ids that the table excuses here and that have caught the defect: lines without need. */
json_t *prove_named_needless(const struct prove_judges *judges, const struct defect *defect, const json_t *caught);

#endif
