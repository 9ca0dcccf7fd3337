/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a profile's device is, and the tester's places that reach it: addresses, ports, MACs, and the router between.
 */
#ifndef CONFORMANCE_ENGINE_PROFILE_PLACE_H
#define CONFORMANCE_ENGINE_PROFILE_PLACE_H

#include <jansson.h>
#include <stdint.h>

#include "base/sentence.h"
#include "conformance/engine/profile/profile.h"

/*
 * Reads "address", "gateway", the profile's own place and those of "beside" into the profile, whose `json` is set. -1
 * with "path: where: what is wrong, what was expected".
 */
int profile_places(struct profile *profile, const char *path, struct iwarp_sentence *error);

/* A port from 1 to 65535, or -1 with such a sentence. */
int profile_port(const char *path, const json_t *json, const char *name, uint16_t *port, struct iwarp_sentence *error);

#endif
