/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The skeleton of a check: a script that loads and runs, with all that the catalogue knows of the requirement, one
 * example of a stimulus and of an outcome as comments, and a verdict INCONCLUSIVE that names what has to be filled in.
 */
#ifndef CONFORMANCE_ENGINE_SKELETON_H
#define CONFORMANCE_ENGINE_SKELETON_H

#include <stdio.h>

#include "conformance/engine/plan/coverage.h"
#include "conformance/requirements/catalogue.h"

/*
 * Writes the script. `coverage`: what decides the requirement already, and its defects. `command`, one line of plain
 * text: how to try the script.
 */
void skeleton_write(FILE *out, const struct requirement *requirement, const struct coverage *coverage,
                    const char *command);

#endif
