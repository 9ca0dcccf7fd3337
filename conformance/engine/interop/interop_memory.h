/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory of both sides in an exchange: registered, written and read by commands, and compared with what it should hold.
 */
#ifndef CONFORMANCE_ENGINE_INTEROP_MEMORY_H
#define CONFORMANCE_ENGINE_INTEROP_MEMORY_H

#include "conformance/engine/interop/interop_exchange.h"

/* Memory of a side, filled with zeros or counted through. */
int interop_region(struct interop_exchange *x, enum interop_side side, json_int_t octets, json_t *access, bool counted,
                   struct upper_region *region);

/* A command to write `octets` to a place in memory of the other side. */
json_t *interop_write(const struct interop_exchange *x, enum interop_side from, json_int_t stag,
                      const struct upper_region *target, json_int_t offset, json_int_t octets);

/* Compares memory: `counted` octets of the pattern from its beginning, then zeros. */
int interop_compare(struct interop_exchange *x, enum interop_side side, const struct upper_region *region,
                    json_int_t octets, json_int_t counted, const char *what);

/* Whether `hex` is `octets` of the pattern 0, 1, ... 250, 0, 1, ... that `length` makes. */
bool interop_is_pattern(const char *hex, json_int_t octets);

#endif
