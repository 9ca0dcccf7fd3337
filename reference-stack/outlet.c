/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/outlet.h"

#include <string.h>

/* Would a segment that TCP cuts off behind `staged` octets cut the next `octets` in two? */
static bool straddles(size_t staged, size_t octets, size_t emss)
{
    return staged % emss + octets > emss && staged % emss != 0;
}

static size_t stage(struct outlet *outlet, size_t staged, const struct iwarp_output *output)
{
    for (size_t i = 0; i < output->span_count; i++) {
        memcpy(outlet->staged + staged, output->spans[i].octets, output->spans[i].count);
        staged += output->spans[i].count;
    }
    return staged;
}

static void send_staged(struct outlet *outlet, void *transport, size_t *staged)
{
    struct iwarp_span span = {outlet->staged, *staged};

    if (*staged != 0)
        outlet->send(transport, &span, 1);
    *staged = 0;
}

/* A large one, behind what waits. */
static void send_along(struct outlet *outlet, void *transport, size_t *staged, const struct iwarp_output *output)
{
    struct iwarp_span spans[IWARP_OUTPUT_SPANS + 1];
    size_t count = 0;

    if (*staged != 0)
        spans[count++] = (struct iwarp_span){outlet->staged, *staged};
    for (size_t i = 0; i < output->span_count; i++)
        spans[count++] = output->spans[i];
    outlet->send(transport, spans, count);
    *staged = 0;
}

void outlet_drain(struct outlet *outlet, void *transport, struct iwarp_stream *stream, size_t emss, uint64_t now)
{
    struct iwarp_output output;
    size_t staged = 0;

    if (emss == 0)
        emss = 1;
    while (outlet->room(transport) > staged && iwarp_stream_output(stream, &output) != 0) {
        if (staged != 0 && (!output.fpdu || straddles(staged, output.octets, emss) ||
                            (output.octets <= OUTLET_SMALL && staged + output.octets > OUTLET_OCTETS)))
            send_staged(outlet, transport, &staged);
        if (output.fpdu && output.octets <= OUTLET_SMALL)
            staged = stage(outlet, staged, &output);
        else
            send_along(outlet, transport, &staged, &output);
        iwarp_stream_output_done(stream, output.octets, now);
    }
    send_staged(outlet, transport, &staged);
}
