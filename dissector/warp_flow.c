/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dissector/warp_flow.h"

#include <string.h>

#include "conformance/flow/ulp/flow_ulp_layout.h"
#include "wire/terminate_meant.h"

struct warp_flow *warp_flow_new(void)
{
    return wmem_new0(wmem_file_scope(), struct warp_flow);
}

static void message_clear(struct warp_message *message)
{
    if (message->octets != NULL)
        wmem_destroy_array(message->octets);
    if (message->items != NULL)
        wmem_destroy_array(message->items);
    memset(message, 0, sizeof(*message));
}

void warp_flow_free(struct warp_flow *flow)
{
    for (unsigned i = 0; i < FLOW_DIRECTIONS; i++) {
        struct warp_half *half = &flow->halves[i];

        for (unsigned j = 0; j < FLOW_QUEUES; j++)
            message_clear(&half->queue[j]);
        for (unsigned j = 0; j < 2; j++)
            message_clear(&half->tagged[j]);
        if (half->quotes != NULL)
            wmem_free(wmem_file_scope(), half->quotes);
        if (half->pending != NULL)
            wmem_destroy_array(half->pending);
    }
    wmem_free(wmem_file_scope(), flow);
}

/*
 * ---- frames of a unit ---------------------------------------------------------------------------------------------
 */

void warp_flow_pending(struct warp_flow *flow, enum flow_direction direction, struct warp_record *record)
{
    struct warp_half *half = &flow->halves[direction];

    if (half->pending != NULL && wmem_array_get_count(half->pending) >= WARP_PENDING_MAX) {
        wmem_destroy_array(half->pending);
        half->pending = NULL;
    }
    if (half->pending == NULL)
        half->pending = wmem_array_new(wmem_file_scope(), sizeof(record));
    wmem_array_append_one(half->pending, record);
}

void warp_flow_complete(struct warp_flow *flow, enum flow_direction direction, uint32_t first, uint32_t last)
{
    struct warp_half *half = &flow->halves[direction];
    wmem_array_t *before = half->pending;
    guint count = before == NULL ? 0 : wmem_array_get_count(before);

    half->pending = NULL;
    for (guint i = 0; i < count; i++) {
        struct warp_record *record = *(struct warp_record **)wmem_array_index(before, i);

        if (record->frame >= last)
            warp_flow_pending(flow, direction, record);
        else if (record->frame >= first && record->completed_in == 0)
            record->completed_in = last;
    }
    if (before != NULL)
        wmem_destroy_array(before);
}

/*
 * ---- messages -----------------------------------------------------------------------------------------------------
 */

static struct warp_message *message_of(struct warp_half *half, const struct flow_event *event)
{
    const struct ddp_segment *segment = &event->ddp->segment;

    if (segment->tagged)
        return &half->tagged[event->rdmap->message.opcode == IWARP_RDMAP_READ_RESPONSE];
    return segment->qn < FLOW_QUEUES ? &half->queue[segment->qn] : NULL;
}

static void message_append(struct warp_message *message, const struct flow_ddp *ddp)
{
    const struct ddp_segment *segment = &ddp->segment;
    guint have = message->octets != NULL ? wmem_array_get_count(message->octets) : 0;
    bool next = segment->tagged ? segment->to == message->first_to + have : segment->mo == have;

    if (message->broken || !next || ddp->payload_have != segment->payload_octets ||
        have + segment->payload_octets > WARP_MESSAGE_MAX) {
        message->broken = true;
        return;
    }
    if (message->octets == NULL)
        message->octets = wmem_array_new(wmem_file_scope(), 1);
    if (ddp->payload_have != 0)
        wmem_array_append(message->octets, segment->payload, (guint)ddp->payload_have);
}

/* Of another message than the one in progress: by MSN, or by STag. */
static bool message_is_other(const struct warp_message *message, const struct ddp_segment *segment)
{
    return segment->tagged ? segment->stag != message->stag : segment->msn != message->msn;
}

/* The message that a segment belongs to begins anew: with it, or unseen before it. */
static void message_begin(struct warp_message *message, const struct ddp_segment *segment, bool seen, uint32_t frame)
{
    message_clear(message);
    message->first_frame = seen ? frame : 0;
    message->broken = !seen;
    message->first_to = segment->to;
    message->stag = segment->stag;
    message->msn = segment->msn;
}

/* `keep`: reassemble it. */
static void message_segment(struct warp_message *message, const struct flow_event *event, struct warp_item *item,
                            bool keep)
{
    const struct flow_rdmap *rdmap = event->rdmap;
    const struct ddp_segment *segment = &event->ddp->segment;
    bool first = rdmap->first;

    if (!first && message_is_other(message, segment))
        first = true; /* the end of the one before is missing */
    if (first) {
        message_begin(message, segment, segment->tagged ? rdmap->first : segment->mo == 0, item->last_frame);
        if (rdmap->last)
            return;
    }
    item->fpdu.message_first_frame = message->first_frame;
    if (message->items == NULL)
        message->items = wmem_array_new(wmem_file_scope(), sizeof(item));
    wmem_array_append_one(message->items, item);
    if (keep)
        message_append(message, event->ddp);
    if (!rdmap->last)
        return;
    for (guint i = 0; i < wmem_array_get_count(message->items); i++)
        (*(struct warp_item **)wmem_array_index(message->items, i))->fpdu.message_in = item->last_frame;
    if (keep && !message->broken && message->octets != NULL) {
        item->fpdu.message_size = wmem_array_get_count(message->octets);
        item->fpdu.message =
            wmem_memdup(wmem_file_scope(), wmem_array_get_raw(message->octets), item->fpdu.message_size);
    }
    message_clear(message);
}

/*
 * ---- requests and responses ---------------------------------------------------------------------------------------
 */

static void record_request(struct warp_half *half, const struct flow_event *event, struct warp_item *item)
{
    if (half->requests == NULL)
        half->requests = wmem_map_new(wmem_file_scope(), g_direct_hash, g_direct_equal);
    wmem_map_insert(half->requests, GUINT_TO_POINTER(event->ddp->segment.msn), item);
}

static void record_response(struct warp_half *requester, const struct flow_event *event, struct warp_item *item)
{
    const struct flow_request *request = event->rdmap->request;
    struct warp_item *asking =
        requester->requests == NULL ? NULL : wmem_map_lookup(requester->requests, GUINT_TO_POINTER(request->msn));

    item->fpdu.request_frame = (uint32_t)request->frame;
    item->fpdu.request_ns = request->time_ns;
    item->fpdu.request_size = request->opcode == IWARP_RDMAP_READ_REQUEST ? request->read.octets : ATOMIC_TARGET_OCTETS;
    if (asking == NULL)
        return;
    item->fpdu.request_frame = asking->last_frame;
    if (asking->fpdu.response_frame == 0)
        asking->fpdu.response_frame = item->last_frame;
    if (event->rdmap->last) {
        asking->fpdu.response_last_frame = item->last_frame;
        asking->fpdu.response_ns = event->time_ns;
        wmem_map_remove(requester->requests, GUINT_TO_POINTER(request->msn));
    }
}

/*
 * ---- what a Terminate quotes --------------------------------------------------------------------------------------
 */

static void quote_keep(struct warp_half *half, const struct ddp_segment *segment, struct warp_item *item)
{
    struct warp_quote *quote;

    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a flow that delivers a segment has both directions */
    if (half->quotes == NULL)
        half->quotes = wmem_alloc0_array(wmem_file_scope(), struct warp_quote, WARP_QUOTES);
    quote = &half->quotes[half->quote_count++ % WARP_QUOTES];
    quote->octets = (uint8_t)segment->header_octets;
    quote->item = item;
    memcpy(quote->header, segment->header, segment->header_octets);
}

/* The last segment of the other side that has the quoted header. */
static void quote_find(const struct warp_half *half, const struct terminate *terminate, struct warp_item *item)
{
    uint32_t kept = half->quote_count < WARP_QUOTES ? half->quote_count : WARP_QUOTES;

    if (half->quotes == NULL || terminate->ddp_header == NULL)
        return;
    for (uint32_t i = 1; i <= kept; i++) {
        const struct warp_quote *quote = &half->quotes[(half->quote_count - i) % WARP_QUOTES];

        if (quote->octets != terminate->ddp_header_octets ||
            memcmp(quote->header, terminate->ddp_header, quote->octets) != 0)
            continue;
        item->fpdu.culprit_frame = quote->item->last_frame;
        quote->item->fpdu.terminate_frame = item->last_frame;
        return;
    }
}

void warp_flow_message(struct warp_flow *flow, const struct flow_event *event, struct warp_item *item, bool sends,
                       bool tagged)
{
    struct warp_half *half = &flow->halves[event->direction];
    struct warp_half *other = &flow->halves[flow_reverse(event->direction)];
    const struct flow_rdmap *rdmap = event->rdmap;
    const struct ddp_segment *segment = &event->ddp->segment;
    struct warp_message *message = message_of(half, event);

    if (item == NULL || item->kind != WARP_FPDU)
        return;
    item->fpdu.has_rdmap = true;
    item->fpdu.first = rdmap->first;
    item->fpdu.last = rdmap->last;
    item->fpdu.message_octets = rdmap->message_octets;
    item->fpdu.ulp = flow_ulp_layout(event);
    if (message != NULL)
        message_segment(message, event, item, segment->tagged ? tagged : sends && rdmap_is_send(rdmap->message.opcode));
    quote_keep(half, segment, item);
    if (rdmap->header == FLOW_HEADER_READ_REQUEST || rdmap->header == FLOW_HEADER_ATOMIC_REQUEST)
        record_request(half, event, item);
    if (rdmap->request != NULL)
        record_response(other, event, item);
    if (rdmap->header == FLOW_HEADER_TERMINATE) {
        struct terminate_meant meant;

        terminate_read_meant(segment->payload, event->ddp->payload_have, &meant);
        quote_find(other, &meant.read, item);
    }
}
