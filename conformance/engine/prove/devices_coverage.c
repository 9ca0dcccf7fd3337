/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/prove/devices_coverage.h"

#include <stdlib.h>

/* Notes what one device differs at: `drawn` by point, `together` by pair of points. */
static void note(const struct choice_device *device, size_t points, size_t *drawn, bool *together)
{
    for (size_t i = 0; i < device->count; i++) {
        drawn[device->choices[i].point]++;
        for (size_t j = i + 1; j < device->count; j++)
            together[device->choices[i].point * points + device->choices[j].point] = true;
    }
}

static void sum_up(const size_t *drawn, const bool *together, size_t devices, struct devices_coverage *coverage)
{
    size_t points = coverage->points;

    coverage->least_drawn = coverage->least_left = devices;
    coverage->pairs = points * (points - (points != 0)) / 2;
    for (size_t i = 0; i < points; i++) {
        if (drawn[i] < coverage->least_drawn)
            coverage->least_drawn = drawn[i];
        if (devices - drawn[i] < coverage->least_left)
            coverage->least_left = devices - drawn[i];
        for (size_t j = i + 1; j < points; j++)
            coverage->pairs_drawn += together[i * points + j];
    }
}

int devices_coverage_find(const struct prove_devices_config *config, struct devices_coverage *coverage,
                          struct iwarp_sentence *error)
{
    size_t points = choice_point_count(config->table, config->layer);
    size_t *drawn = calloc(points + 1, sizeof(*drawn));
    bool *together = calloc(points * points + 1, sizeof(*together));
    int status = 0;

    if (drawn == NULL || together == NULL) {
        free(drawn);
        free(together);
        return iwarp_sentence_set(error, "out of memory for what was drawn");
    }
    *coverage = (struct devices_coverage){.points = points};
    for (size_t i = 0; status == 0 && i < config->count; i++) {
        struct choice_device *device = choice_device_draw(config->table, config->layer, config->first + i, error);

        if (device == NULL)
            status = -1;
        else
            note(device, points, drawn, together);
        free(device);
    }
    if (status == 0)
        sum_up(drawn, together, config->count, coverage);
    free(drawn);
    free(together);
    return status;
}
