/* SPDX-License-Identifier: BSD-2-Clause */
/* Which defects and variants can be met over SCTP: what acts in MPA or TCP alone has no meaning there. */
#ifndef CONFORMANCE_ENGINE_PROVE_LLP_H
#define CONFORMANCE_ENGINE_PROVE_LLP_H

#include <stdbool.h>

#include "conformance/engine/plan/plan.h"
#include "reference-stack/defects/defect.h"

struct prove_llp_reason {
    char text[256];
};

/*
 * True if the defect or variant does not apply over SCTP (`draft`: by draft-stewart-rddp-sctp-02). `reason` becomes the
 * sentence of its line in reference-stack/defects/defects-llp.tsv.
 */
bool prove_llp_is_foreign(const struct defect *defect, bool draft, struct prove_llp_reason *reason);

/* Does a check of the plan decide a requirement that the defect names? */
bool prove_llp_is_checked(const struct plan *plan, const struct defect *defect);

/*
 * Does a check of the plan, or a rule that judges associations or their streams? Not a rule of MPA, nor one whose
 * capability the device lacks.
 */
bool prove_llp_is_driven(const struct plan *plan, const struct catalogue *catalogue, const struct pics *pics,
                         const struct defect *defect);

#endif
