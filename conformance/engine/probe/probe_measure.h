/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures a device above TCP: start-ups, first FPDUs (conformance/scripts/lib/9-probe.lua), the good exchanges that it
 * serves (services.h), and the findings of rules in the traffic of all these.
 */
#ifndef CONFORMANCE_ENGINE_PROBE_MEASURE_H
#define CONFORMANCE_ENGINE_PROBE_MEASURE_H

#include <jansson.h>

#include "conformance/engine/probe/probe_wire.h"
#include "conformance/engine/script/script.h"
#include "base/sentence.h"

/*
 * Measures, and appends lines to `found`: start-ups, FPDUs, exchanges, and each defect once (with its id).
 * *capabilities: what the upper tester answered to that verb, a new reference, NULL where nobody answered. `wire`
 * watches the link meanwhile. 0, or -1 with a sentence: the link or memory failed; what was found by then is in
 * `found`.
 */
int probe_measure(struct script_host *host, struct rig *rig, struct probe_wire *wire, json_t *found,
                  json_t **capabilities, struct iwarp_sentence *error);

/* The line of this type whose member `name` is `value`; NULL where there is none. Borrowed. */
const json_t *probe_line(const json_t *found, const char *type, const char *name, const char *value);

/* Has the device served a start-up, or begun one? Without that nothing shows that it speaks MPA. */
bool probe_accepts_any(const json_t *found);

#endif
