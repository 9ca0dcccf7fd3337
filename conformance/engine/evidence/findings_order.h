/* SPDX-License-Identifier: BSD-2-Clause */
/* The findings of a capture in the order of their frames, so that one pass over the file finds the place of each. */
#ifndef CONFORMANCE_ENGINE_FINDINGS_ORDER_H
#define CONFORMANCE_ENGINE_FINDINGS_ORDER_H

#include "conformance/engine/evidence/findings.h"
#include "conformance/engine/capture/capture_series.h"

struct findings_order {
    struct held_finding *findings[FINDINGS_HELD];
    size_t count, next;
};

void findings_order_make(struct findings_order *order, const struct findings *findings);

/* Where this frame lies in the file, for the findings about it. Frames come in their order. */
void findings_order_place(struct findings_order *order, const struct capture_series *series,
                          const struct flow_frame *frame);

#endif
