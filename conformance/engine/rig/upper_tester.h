/* SPDX-License-Identifier: BSD-2-Clause */
/* The engine's side of the upper tester protocol (docs/upper-tester.md). */
#ifndef CONFORMANCE_ENGINE_UPPER_TESTER_H
#define CONFORMANCE_ENGINE_UPPER_TESTER_H

#include <jansson.h>

#include "conformance/engine/rig/rig.h"

/*
 * One command: `request` is an object with a member "verb", borrowed. Returns the answer, a new reference: an object
 * with a member "ok". NULL with a sentence when the upper tester is absent, died or answers no JSON object.
 */
json_t *upper_tester_call(struct rig *rig, const json_t *request, struct iwarp_sentence *error);

/* A listener with the device's defaults. 0 or -1 with a sentence. */
int upper_tester_listen(struct rig *rig, uint16_t port, struct iwarp_sentence *error);

#endif
