/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/run/run_order.h"

#include <stdlib.h>

/* Hazards keep their place, which is the last. */
static bool is_early(const struct plan_item *item)
{
    return item->check->lasts > 0 && !item->hazard;
}

/* Puts the place among the long ones, behind those that last as long or longer. */
static void place_early(struct run_order *order, const struct plan *plan, size_t place)
{
    size_t i = order->early++;

    for (; i > 0 && plan->items[order->places[i - 1]].check->lasts < plan->items[place].check->lasts; i--)
        order->places[i] = order->places[i - 1];
    order->places[i] = place;
}

int run_order_make(struct run_order *order, const struct plan *plan)
{
    *order = (struct run_order){.places = calloc(plan->count + 1, sizeof(*order->places))};
    if (order->places == NULL)
        return -1;
    for (size_t i = 0; i < plan->count; i++)
        if (is_early(&plan->items[i]))
            place_early(order, plan, i);
    order->count = order->early;
    for (size_t i = 0; i < plan->count; i++)
        if (!is_early(&plan->items[i]))
            order->places[order->count++] = i;
    return 0;
}

void run_order_free(struct run_order *order)
{
    free(order->places);
    *order = (struct run_order){0};
}
