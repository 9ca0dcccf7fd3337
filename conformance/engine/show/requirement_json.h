/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CONFORMANCE_ENGINE_REQUIREMENT_JSON_H
#define CONFORMANCE_ENGINE_REQUIREMENT_JSON_H

#include <jansson.h>

#include "conformance/engine/plan/coverage.h"
#include "conformance/requirements/catalogue.h"

/*
 * A requirement as `list --format jsonl` writes it: every column under its name, then "check" (path or null), "rule"
 * (function or null), "defects" (array of ids) and "no_defect" (why none can break it, or null). A new reference, or
 * NULL if there is no memory.
 */
json_t *requirement_json(const struct requirement *requirement, const struct coverage *coverage);

#endif
