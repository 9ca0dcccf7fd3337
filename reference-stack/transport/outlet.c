/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/transport/outlet.h"

#include <string.h>

/* Would a segment that TCP cuts off behind `before` octets cut the next `octets` in two? */
static bool straddles(size_t before, size_t octets, size_t emss)
{
    return before % emss + octets > emss && before % emss != 0;
}

static void send_waiting(struct outlet *outlet, void *transport)
{
    if (outlet->octets != 0)
        outlet->send(transport, outlet->spans, outlet->span_count);
    outlet->span_count = 0;
    outlet->octets = 0;
    outlet->copied = 0;
}

static bool borrowed(const struct iwarp_output *output, size_t span)
{
    return span == output->ulp_span && output->spans[span].count > OUTLET_BORROWED;
}

/* Octets of the output that have to be copied if it is to wait. */
static size_t to_copy(const struct iwarp_output *output)
{
    size_t octets = 0;

    for (size_t i = 0; i < output->span_count; i++)
        octets += borrowed(output, i) ? 0 : output->spans[i].count;
    return octets;
}

/* Can the output go behind what waits? It need not be copied yet. */
static bool goes_along(const struct outlet *outlet, const struct iwarp_output *output, size_t emss)
{
    return output->fpdu && !straddles(outlet->octets, output->octets, emss) &&
           outlet->octets + output->octets <= OUTLET_OCTETS &&
           outlet->span_count + output->span_count <= OUTLET_SPANS && outlet->copied + to_copy(output) <= OUTLET_OCTETS;
}

static void append(struct outlet *outlet, struct iwarp_span span, bool copy)
{
    struct iwarp_span *last = outlet->span_count == 0 ? NULL : &outlet->spans[outlet->span_count - 1];
    uint8_t *end = outlet->staged + outlet->copied;
    bool joins = copy && last != NULL && outlet->copied != 0 && last->octets + last->count == end;

    outlet->octets += span.count;
    if (copy) {
        memcpy(end, span.octets, span.count);
        span.octets = end;
        outlet->copied += span.count;
    }
    if (joins)
        last->count += span.count;
    else
        outlet->spans[outlet->span_count++] = span;
}

size_t outlet_drain(struct outlet *outlet, void *transport, struct iwarp_stream *stream, size_t emss, uint64_t now)
{
    struct iwarp_output output;
    size_t drained = 0;

    if (emss == 0)
        emss = 1;
    while (outlet->room(transport) > outlet->octets) {
        bool waits;

        iwarp_stream_set_packed(stream, outlet->octets % emss);
        if (iwarp_stream_output(stream, &output) == 0)
            break;
        waits = output.fpdu && output.octets <= OUTLET_OCTETS / 2 && to_copy(&output) <= OUTLET_WAITING;

        if (outlet->octets != 0 && !goes_along(outlet, &output, emss))
            send_waiting(outlet, transport);
        for (size_t i = 0; i < output.span_count; i++)
            append(outlet, output.spans[i], waits && !borrowed(&output, i));
        if (!waits)
            send_waiting(outlet, transport);
        drained += output.octets;
        iwarp_stream_output_done(stream, output.octets, now);
    }
    send_waiting(outlet, transport);
    return drained;
}
