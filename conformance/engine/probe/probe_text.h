/* SPDX-License-Identifier: BSD-2-Clause */
/* The report of a probe for people. */
#ifndef CONFORMANCE_ENGINE_PROBE_TEXT_H
#define CONFORMANCE_ENGINE_PROBE_TEXT_H

#include <jansson.h>
#include <stdio.h>

/* All lines of `found` in words; stdio keeps the error. */
void probe_text_write(const json_t *found, FILE *out);

#endif
