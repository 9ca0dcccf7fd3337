/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/transport/output_batch.h"

#include <string.h>

/* Would a segment that TCP cuts off after `before` octets cut the next `octets` in two? */
static bool straddles(size_t before, size_t octets, size_t emss)
{
    return before % emss + octets > emss && before % emss != 0;
}

static void send_waiting(struct output_batch *output_batch, void *transport)
{
    if (output_batch->octets != 0)
        output_batch->send(transport, output_batch->spans, output_batch->span_count);
    output_batch->span_count = 0;
    output_batch->octets = 0;
    output_batch->copied = 0;
}

static bool borrowed(const struct iwarp_output *output, size_t span)
{
    return span == output->ulp_span && output->spans[span].count > OUTPUT_BATCH_BORROWED;
}

/* Octets of the output that have to be copied if it is to wait. */
static size_t to_copy(const struct iwarp_output *output)
{
    size_t octets = 0;

    for (size_t i = 0; i < output->span_count; i++)
        octets += borrowed(output, i) ? 0 : output->spans[i].count;
    return octets;
}

/* Can the output go after what waits? It need not be copied yet. */
static bool goes_along(const struct output_batch *output_batch, const struct iwarp_output *output, size_t emss)
{
    return output->fpdu && !straddles(output_batch->octets, output->octets, emss) &&
           output_batch->octets + output->octets <= OUTPUT_BATCH_OCTETS &&
           output_batch->span_count + output->span_count <= OUTPUT_BATCH_SPANS &&
           output_batch->copied + to_copy(output) <= OUTPUT_BATCH_OCTETS;
}

static void append(struct output_batch *output_batch, struct iwarp_span span, bool copy)
{
    struct iwarp_span *last = output_batch->span_count == 0 ? NULL : &output_batch->spans[output_batch->span_count - 1];
    uint8_t *end = output_batch->staged + output_batch->copied;
    bool joins = copy && last != NULL && output_batch->copied != 0 && last->octets + last->count == end;

    output_batch->octets += span.count;
    if (copy) {
        memcpy(end, span.octets, span.count);
        span.octets = end;
        output_batch->copied += span.count;
    }
    if (joins)
        last->count += span.count;
    else
        output_batch->spans[output_batch->span_count++] = span;
}

size_t output_batch_drain(struct output_batch *output_batch, void *transport, struct iwarp_stream *stream, size_t emss,
                          uint64_t now)
{
    struct iwarp_output output;
    size_t drained = 0;

    if (emss == 0)
        emss = 1;
    while (output_batch->room(transport) > output_batch->octets) {
        bool waits;

        iwarp_stream_set_packed(stream, output_batch->octets % emss);
        if (iwarp_stream_output(stream, &output) == 0)
            break;
        waits = output.fpdu && output.octets <= OUTPUT_BATCH_OCTETS / 2 && to_copy(&output) <= OUTPUT_BATCH_WAITING;

        if (output_batch->octets != 0 && !goes_along(output_batch, &output, emss))
            send_waiting(output_batch, transport);
        for (size_t i = 0; i < output.span_count; i++)
            append(output_batch, output.spans[i], waits && !borrowed(&output, i));
        if (!waits)
            send_waiting(output_batch, transport);
        drained += output.octets;
        iwarp_stream_output_done(stream, output.octets, now);
    }
    send_waiting(output_batch, transport);
    return drained;
}
