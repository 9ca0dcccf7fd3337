/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/audit/audit_order.h"

#include <stdlib.h>

static int frame_order(const void *a, const void *b)
{
    uint64_t left = (*(struct audit_finding *const *)a)->result.frame;
    uint64_t right = (*(struct audit_finding *const *)b)->result.frame;

    return left < right ? -1 : left > right;
}

void audit_order_make(struct audit_order *order, const struct audit_findings *findings)
{
    *order = (struct audit_order){.count = 0};
    for (struct audit_finding *finding = findings->first; finding != NULL; finding = finding->next)
        if (finding->result.frame != 0 && order->count < FINDINGS_HELD)
            order->findings[order->count++] = finding;
    qsort(order->findings, order->count, sizeof(order->findings[0]), frame_order);
}

void audit_order_place(struct audit_order *order, const struct capture_series *series, const struct flow_frame *frame)
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
