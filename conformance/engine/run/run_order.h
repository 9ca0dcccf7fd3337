/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The order in which checks begin that run at the same time. Long checks begin first: a check that waits for 12 s and
 * begins last makes the whole run 12 s longer. The results keep the order of the plan.
 */
#ifndef CONFORMANCE_ENGINE_RUN_ORDER_H
#define CONFORMANCE_ENGINE_RUN_ORDER_H

#include <stddef.h>

#include "conformance/engine/plan/plan.h"

struct run_order {
    size_t *places; /* in the plan, each one once */
    size_t count;
    size_t early; /* so many of them, at the beginning, take long */
};

/*
 * Checks that say how long they last come first, the longest before the others; then the rest as planned. 0; -1:
 * memory.
 */
int run_order_make(struct run_order *order, const struct plan *plan);
void run_order_free(struct run_order *order);

#endif
