/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/evidence/findings_order.h"

#include <stdlib.h>

static int frame_order(const void *a, const void *b)
{
    uint64_t left = (*(struct held_finding *const *)a)->result.frame;
    uint64_t right = (*(struct held_finding *const *)b)->result.frame;

    return left < right ? -1 : left > right;
}

void findings_order_make(struct findings_order *order, const struct findings *findings)
{
    *order = (struct findings_order){.count = 0};
    for (struct held_finding *finding = findings->first; finding != NULL; finding = finding->next)
        if (finding->result.frame != 0 && order->count < FINDINGS_HELD)
            order->findings[order->count++] = finding;
    qsort(order->findings, order->count, sizeof(order->findings[0]), frame_order);
}

void findings_order_place(struct findings_order *order, const struct capture_series *series,
                          const struct flow_frame *frame)
{
    uint64_t offset = 0;
    bool known = order->next < order->count && order->findings[order->next]->result.frame == frame->number &&
                 capture_series_place(series, frame, &offset);

    for (; order->next < order->count && order->findings[order->next]->result.frame <= frame->number; order->next++) {
        struct result *result = &order->findings[order->next]->result;

        if (known && result->frame == frame->number) {
            result->offset = offset;
            result->octets = frame->captured;
        }
    }
}
