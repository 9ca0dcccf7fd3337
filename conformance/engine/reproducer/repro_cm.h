/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A reproducer of a device's CM (IBTA Annex A11): the MADs of the exchanges of a check up to the one that decides, as
 * raw RoCEv2 datagrams from UDP port 4791 with their ICRC. Its fixed parts: reports/assets/reproducer-cm.c.in.
 */
#ifndef CONFORMANCE_ENGINE_REPRODUCER_CM_H
#define CONFORMANCE_ENGINE_REPRODUCER_CM_H

#include "conformance/engine/reproducer/repro_evidence.h"
#include "reports/results/result.h"

/* The text, malloc'd. 0; 1 with the sentence set: it cannot be repeated so; -1 with the sentence set. */
int repro_cm_write(const struct repro_evidence *evidence, const struct result *result, const char *tool, char **text,
                   struct iwarp_sentence *error);

#endif
