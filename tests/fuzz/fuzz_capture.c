/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A whole capture through the decoder. The input is a classic pcap file's records without libpcap in between: octet 0
 * chooses the link type, then records of
 *
 *     captured (16 bits), cut (8 bits: so many more octets on the wire), octets
 *
 * Every pointer of every event is followed, so that a sanitizer sees what a rule would read; and the account of what became
 * of the frames and octets adds up, whatever they are.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/flow/flow_cm.h"
#include "conformance/flow/flow_sctp.h"
#include "conformance/flow/notation.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint8_t swallowed;

static void swallow(const uint8_t *octets, size_t count)
{
    uint8_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum ^= octets[i];
    swallowed = sum;
}

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void sink(void *ctx, const struct flow_event *event)
{
    char name[FLOW_NAME_MAX], text[NOTATION_MAX];

    (void)ctx;
    check(event->flow != NULL && event->frame != 0 && event->first_frame <= event->frame);
    flow_name(event->flow, event->direction, name, sizeof(name));
    notation_event(event, text, sizeof(text));
    if (event->sctp != NULL) {
        swallow(event->sctp->chunk.start, event->sctp->chunk.octets);
        if (event->sctp->data != NULL)
            swallow(event->sctp->data->user, event->sctp->data->user_have);
    }
    if (event->session != NULL) {
        swallow(event->session->octets, event->session->have);
        if (event->session->message.private_data != NULL)
            swallow(event->session->message.private_data, event->session->message.private_octets);
    }
    if (event->cm != NULL) {
        swallow(event->cm->mad, event->cm->have);
        if (event->cm->message.private_data != NULL)
            swallow(event->cm->message.private_data, event->cm->message.private_octets);
        if (event->cm->message.has_ari && event->cm->message.ari.suggested != NULL)
            swallow(event->cm->message.ari.suggested, event->cm->message.ari.suggested_octets);
    }
    if (event->start != NULL) {
        swallow(event->start->octets, event->start->octet_count);
        if (event->start->frame.private_data != NULL)
            swallow(event->start->frame.private_data, event->start->frame.private_octets);
    }
    if (event->fpdu != NULL) {
        check(event->fpdu->ulpdu_have <= event->fpdu->fpdu.ulpdu_length);
        swallow(event->fpdu->fpdu.ulpdu, event->fpdu->ulpdu_have);
    }
    if (event->kind == FLOW_RDMAP) {
        const struct terminate *terminate = &event->rdmap->terminate;

        check(event->ddp->payload_have <= event->ddp->segment.payload_octets);
        swallow(event->ddp->segment.header, event->ddp->segment.header_octets);
        swallow(event->ddp->segment.payload, event->ddp->payload_have);
        if (event->rdmap->header == FLOW_HEADER_TERMINATE && terminate->ddp_header != NULL)
            swallow(terminate->ddp_header, terminate->ddp_header_octets);
        if (event->rdmap->request != NULL)
            swallow((const uint8_t *)event->rdmap->request, sizeof(struct flow_request));
    }
    for (unsigned i = 0; i < FLOW_DIRECTIONS; i++)
        for (uint32_t request = 0; request < event->flow->half[i].request_count; request++)
            swallow((const uint8_t *)flow_request_at(&event->flow->half[i], request), sizeof(struct flow_request));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t links[] = {FLOW_LINK_ETHERNET,   FLOW_LINK_RAW,  FLOW_LINK_NULL,       FLOW_LINK_LINUX_SLL,
                                     FLOW_LINK_LINUX_SLL2, FLOW_LINK_LOOP, FLOW_LINK_INFINIBAND, FLOW_LINK_ERF};
    struct flow_config config = {.flows_max = 16, .half_buffer_max = 4096, .rule_state_octets = 16};
    struct flow_decoder *decoder;
    struct flow_frame frame = {0};

    if (size == 0)
        return 0;
    decoder = flow_decoder_create(&config, sink, NULL);
    if (decoder == NULL)
        abort();
    frame.link = links[data[0] % (sizeof(links) / sizeof(links[0]))];
    for (size_t at = 1; size - at >= 3;) {
        size_t captured = (size_t)data[at] << 8 | data[at + 1], cut = data[at + 2];
        uint8_t *copy;

        at += 3;
        if (captured > size - at)
            captured = size - at;
        copy = malloc(captured != 0 ? captured : 1);
        if (copy == NULL)
            abort();
        memcpy(copy, data + at, captured);
        frame.octets = copy;
        frame.captured = captured;
        frame.length = captured + cut;
        frame.number++;
        frame.time_ns += 1000000;
        flow_decoder_frame(decoder, &frame);
        free(copy);
        at += captured;
    }
    flow_decoder_finish(decoder);
    check(flow_totals_balanced(flow_decoder_totals(decoder)));
    flow_decoder_destroy(decoder);
    return 0;
}
