/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A whole capture through the decoder: records of frames (records.h), without libpcap in between. Every pointer of
 * every event is followed, so that a sanitizer sees what a rule would read; and the account of what became of the
 * frames and octets adds up, whatever they are.
 */
#include "conformance/flow/cm/flow_cm.h"
#include "conformance/flow/decoder.h"
#include "conformance/flow/sctp/flow_sctp.h"
#include "conformance/flow/notation/notation.h"
#include "tests/fuzz/records.h"

static void sink_one(void *ctx, const struct flow_event *event)
{
    char name[FLOW_NAME_MAX], text[NOTATION_MAX];

    (void)ctx;
    FUZZ_HOLDS(event->flow != NULL && event->frame != 0 && event->first_frame <= event->frame);
    flow_name(event->flow, event->direction, name, sizeof(name));
    notation_event(event, text, sizeof(text));
    if (event->sctp != NULL) {
        fuzz_touch(event->sctp->chunk.start, event->sctp->chunk.octets);
        if (event->sctp->data != NULL)
            fuzz_touch(event->sctp->data->user, event->sctp->data->user_have);
    }
    if (event->session != NULL) {
        fuzz_touch(event->session->octets, event->session->have);
        if (event->session->message.private_data != NULL)
            fuzz_touch(event->session->message.private_data, event->session->message.private_octets);
    }
    if (event->cm != NULL) {
        fuzz_touch(event->cm->mad, event->cm->have);
        if (event->cm->message.private_data != NULL)
            fuzz_touch(event->cm->message.private_data, event->cm->message.private_octets);
        if (event->cm->message.has_ari && event->cm->message.ari.suggested != NULL)
            fuzz_touch(event->cm->message.ari.suggested, event->cm->message.ari.suggested_octets);
    }
    if (event->start != NULL) {
        fuzz_touch(event->start->octets, event->start->octet_count);
        if (event->start->frame.private_data != NULL)
            fuzz_touch(event->start->frame.private_data, event->start->frame.private_octets);
    }
    if (event->ulpdu != NULL) {
        FUZZ_HOLDS(event->ulpdu->have <= event->ulpdu->length);
        fuzz_touch(event->ulpdu->octets, event->ulpdu->have);
    }
    if (event->kind == FLOW_RDMAP) {
        const struct terminate *terminate = &event->rdmap->terminate;

        FUZZ_HOLDS(event->ddp->payload_have <= event->ddp->segment.payload_octets);
        fuzz_touch(event->ddp->segment.header, event->ddp->segment.header_octets);
        fuzz_touch(event->ddp->segment.payload, event->ddp->payload_have);
        if (event->rdmap->header == FLOW_HEADER_TERMINATE && terminate->ddp_header != NULL)
            fuzz_touch(terminate->ddp_header, terminate->ddp_header_octets);
        if (event->rdmap->request != NULL)
            fuzz_touch(event->rdmap->request, sizeof(struct flow_request));
    }
    for (unsigned i = 0; i < FLOW_DIRECTIONS && event->flow->half != NULL; i++)
        for (uint32_t request = 0; request < event->flow->half[i].request_count; request++)
            fuzz_touch(flow_request_at(&event->flow->half[i], request), sizeof(struct flow_request));
}

static void sink(void *ctx, const struct flow_event *event)
{
    for (; event != NULL; event = event->next)
        sink_one(ctx, event);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct flow_config config = {.flows_max = 16, .half_buffer_max = 4096, .rule_state_octets = 16};
    struct flow_decoder *decoder = flow_decoder_create(&config, sink, NULL);
    struct fuzz_records records;
    struct flow_frame frame;

    FUZZ_HOLDS(decoder != NULL);
    fuzz_records_begin(&records, data, size);
    while (fuzz_records_next(&records, &frame)) {
        flow_decoder_frame(decoder, &frame);
        free((void *)(uintptr_t)frame.octets);
    }
    flow_decoder_finish(decoder);
    FUZZ_HOLDS(flow_totals_balanced(flow_decoder_totals(decoder)));
    flow_decoder_destroy(decoder);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    return fuzz_records_mutate(data, size, room, seed);
}
