/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the whole matrix has to show besides killed defects. Every check itself catches a defect that names its id, in
 * each of its roles, and with the verdict of its level (a MUST with FAIL). A defect that breaks a MUST draws FAIL,
 * except those of reference-stack/defects/defects-warn.tsv. No two defects share an operation. Requirements that no
 * defect can break (reference-stack/defects/defects-none.tsv) are left out.
 */
#ifndef CONFORMANCE_ENGINE_PROVE_DEMANDS_H
#define CONFORMANCE_ENGINE_PROVE_DEMANDS_H

#include <stdbool.h>
#include <stddef.h>

#include "conformance/engine/script/script.h"
#include "conformance/requirements/catalogue.h"
#include "reference-stack/defects/defect.h"

struct prove_demands;

/* NULL when there is no memory. */
struct prove_demands *prove_demands_new(void);
void prove_demands_free(struct prove_demands *demands);

/*
 * Notes that `defect` drew "ID role VERDICT". Ids that the defect does not name are ignored. 0, or -1 when there is no
 * memory.
 */
int prove_demands_kill(struct prove_demands *demands, const struct defect *defect, const char *kill);

/* Does reference-stack/defects/defects-warn.tsv say why this defect (its id) draws no FAIL? */
bool prove_demands_may_warn(const char *defect);

/* Calls `unmet` with a sentence for each demand that is not met, and returns their number. */
size_t prove_demands_tell(const struct prove_demands *demands, const struct script_host *host,
                          const struct catalogue *catalogue, const struct defect_list *defects,
                          void (*unmet)(void *user, const char *text), void *user);

#endif
