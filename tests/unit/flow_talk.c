/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/flow_talk.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/flow/decoder.h"
#include "generator/packet/packet.h"

static uint8_t pattern(uint32_t msn, size_t at)
{
    return (uint8_t)(msn * 31 + at * 7 + (at >> 8));
}

static void note(struct talk *talk, unsigned side, const char *text)
{
    size_t have = strlen(talk->log[side]);

    snprintf(talk->log[side] + have, TALK_LOG - have, "%s ", text);
}

static void check_payload(struct talk *talk, const struct flow_event *event)
{
    const struct ddp_segment *segment = &event->ddp->segment;

    if (event->ulpdu->result != WIRE_OK || segment->tagged || segment->qn != DDP_QN_SEND)
        return;
    for (size_t i = 0; i < event->ddp->payload_have; i++)
        if (segment->payload[i] != pattern(segment->msn, i)) {
            talk->wrong++;
            return;
        }
}

/* All units of the other side that the sender of this one had received have to be reported by now. */
static void check_order(struct talk *talk, const struct flow_event *event)
{
    unsigned side = event->direction, other = 1 - side;
    size_t received = (uint32_t)event->received - talk->isn[other] - 1;

    talk->reported[side] = (uint32_t)event->end - talk->isn[side] - 1;
    talk->received[side] = event->received == 0 ? 0 : received;
    if (event->received == 0 || received > talk->octets[other] || event->flow->unordered)
        return;
    for (size_t i = 0; i <= talk->fpdus[other] && talk->boundary[other][i] <= received; i++)
        if (talk->boundary[other][i] > talk->reported[other]) {
            talk->before++;
            return;
        }
}

static void note_end(struct talk *talk, const struct flow *flow)
{
    talk->ends++;
    talk->flows = (unsigned)flow->number;
    talk->late = flow->late;
    talk->roles_known = flow->roles_known;
    for (unsigned i = 0; i < 2; i++) {
        talk->conflicts += flow->half[i].tcp->conflicts;
        talk->retransmitted += flow->half[i].tcp->octets->again;
        talk->sent[i] = *flow->half[i].tcp->octets;
        talk->syns_refused += flow->half[i].tcp->syns_refused;
        talk->resets_refused += flow->half[i].tcp->resets_refused;
        talk->urgent += flow->half[i].tcp->urgent;
    }
}

static void sink_one(void *ctx, const struct flow_event *event)
{
    struct talk *talk = ctx;
    unsigned side = event->direction;
    char text[64] = "";

    switch (event->kind) {
    case FLOW_TCP_OPEN: snprintf(text, sizeof(text), "o%u", side); break;
    case FLOW_TCP_CLOSE: snprintf(text, sizeof(text), "c%u%s", side, event->close->reset ? ":rst" : ""); break;
    case FLOW_MPA_START:
        check_order(talk, event);
        snprintf(text, sizeof(text), "m%u:%s", side,
                 event->start->result == WIRE_OK     ? "ok"
                 : event->start->result == WIRE_MORE ? "more"
                                                     : "bad");
        break;
    case FLOW_ULPDU:
        check_order(talk, event);
        ck_assert(event->ulpdu->mpa != NULL && event->ulpdu->message == NULL && event->flow->half[side].tcp != NULL);
        talk->good[side] += event->ulpdu->result == WIRE_OK;
        snprintf(text, sizeof(text), "f%u:%u%s", side, event->ulpdu->length,
                 event->ulpdu->result == WIRE_OK        ? ""
                 : event->ulpdu->result == TERM_MPA_CRC ? "!crc"
                 : event->ulpdu->cut                    ? "~"
                                                        : "!marker");
        break;
    case FLOW_DDP: check_payload(talk, event); return;
    case FLOW_SCTP:
    case FLOW_SESSION:
    case FLOW_CM: return;
    case FLOW_RDMAP:
        talk->headers[side]++;
        snprintf(text, sizeof(text), "s%u:%u.%u", side, event->rdmap->message.opcode,
                 event->ddp->segment.tagged ? (unsigned)event->rdmap->message_octets : event->ddp->segment.msn);
        break;
    case FLOW_GAP:
        talk->gaps++;
        snprintf(text, sizeof(text), "g%u", side);
        break;
    case FLOW_UNDECODED:
        talk->undecoded++;
        snprintf(text, sizeof(text), "u%u:%d", side, (int)event->reason);
        break;
    case FLOW_END:
        note_end(talk, event->flow);
        snprintf(text, sizeof(text), "e");
        break;
    }
    note(talk, side, text);
}

static void sink(void *ctx, const struct flow_event *event)
{
    for (; event != NULL; event = event->next)
        sink_one(ctx, event);
}

struct talk *talk_new(const struct flow_config *config)
{
    struct talk *talk = calloc(1, sizeof(*talk));

    if (talk == NULL)
        abort();
    talk->decoder = flow_decoder_create(config, sink, talk);
    talk->isn[0] = 1000;
    talk->isn[1] = 500000;
    talk->port = 7174;
    talk->link = FLOW_LINK_ETHERNET;
    talk->time_ns = UINT64_C(1700000000000000000);
    return talk;
}

void talk_free(struct talk *talk)
{
    flow_decoder_destroy(talk->decoder);
    free(talk);
}

/* ---- streams ----------------------------------------------------------------------------------------------------- */

void talk_start(struct talk *talk, struct iwarp_mpa_start request, struct iwarp_mpa_start reply)
{
    bool crc = request.crc || reply.crc;

    request.kind = IWARP_MPA_REQUEST;
    reply.kind = IWARP_MPA_REPLY;
    talk->octets[0] = talk->start[0] = mpa_start_pack(&request, talk->stream[0], TALK_STREAM);
    talk->octets[1] = talk->start[1] = mpa_start_pack(&reply, talk->stream[1], TALK_STREAM);
    talk->framing[0] = (struct fpdu_framing){reply.markers, crc, 0};
    talk->framing[1] = (struct fpdu_framing){request.markers, crc, 0};
}

void talk_start_simple(struct talk *talk, bool initiator_wants, bool responder_wants, bool crc)
{
    static const uint8_t data[] = "private data";
    struct iwarp_mpa_start request = {.markers = initiator_wants, .crc = crc, .revision = 1, .private_octets = 7};
    struct iwarp_mpa_start reply = {.markers = responder_wants, .revision = 1, .private_octets = 12};

    request.private_data = reply.private_data = data;
    talk_start(talk, request, reply);
}

void talk_ulpdu(struct talk *talk, unsigned side, const uint8_t *ulpdu, size_t octets)
{
    size_t count = fpdu_pack(ulpdu, octets, &talk->framing[side], talk->stream[side] + talk->octets[side],
                             TALK_STREAM - talk->octets[side]);

    if (count == 0 || talk->fpdus[side] + 1 >= TALK_MARKS)
        abort();
    talk->boundary[side][talk->fpdus[side]++] = talk->octets[side];
    talk->octets[side] += count;
    talk->boundary[side][talk->fpdus[side]] = talk->octets[side];
    talk->framing[side].position += (uint32_t)count;
}

void talk_send(struct talk *talk, unsigned side, size_t octets)
{
    static uint8_t ulpdu[1 << 16];
    struct ddp_segment segment = {.last = true, .version = 1, .control = rdmap_control(IWARP_RDMAP_SEND)};

    segment.msn = ++talk->msn[side];
    ddp_pack_header(&segment, ulpdu);
    for (size_t i = 0; i < octets; i++)
        ulpdu[DDP_UNTAGGED_OCTETS + i] = pattern(segment.msn, i);
    talk_ulpdu(talk, side, ulpdu, DDP_UNTAGGED_OCTETS + octets);
}

void talk_mix(struct talk *talk, unsigned side, unsigned count)
{
    static const size_t sizes[] = {0, 1, 2, 3, 16, 100, 464, 484, 485, 1000, 1424, 4000, 9000};

    for (unsigned i = 0; i < count; i++)
        talk_send(talk, side, sizes[i % (sizeof(sizes) / sizeof(sizes[0]))]);
}

/* ---- network ----------------------------------------------------------------------------------------------------- */

void talk_build(struct talk *talk, unsigned side, uint32_t seq, uint32_t ack, uint8_t flags, const uint8_t *payload,
                size_t octets)
{
    static const char *const addresses[2][2] = {{"10.77.0.2", "10.77.0.3"}, {"fd77::2", "fd77::3"}};
    const uint8_t options[] = {2, 4, 0x05, 0xB4, 1, 3, 3, talk->scale}; /* MSS; NOP, Window Scale */
    struct packet_tcp fields = {
        .source_port = side == 0 ? 40000 : talk->port,
        .destination_port = side == 0 ? talk->port : 40000,
        .sequence = seq,
        .acknowledgment = ack,
        .flags = flags,
        .window = talk->window != 0 ? talk->window : 65535,
        .spoil_checksum = talk->spoil,
        .payload = payload,
        .payload_octets = octets,
    };

    if ((flags & TCP_FLAG_SYN) != 0) {
        fields.options = options;
        fields.options_octets = talk->scale != 0 ? 8 : 4;
    }
    net_address_parse(&fields.source, addresses[talk->ipv6][side]);
    net_address_parse(&fields.destination, addresses[talk->ipv6][1 - side]);
    talk->frame_length = packet_build_tcp(talk->frame_octets, sizeof(talk->frame_octets), &fields);
    if (talk->frame_length == 0)
        abort();
}

/* What a caller does that has taken the headers off: Ethernet, and IP without options. */
static void give_segment(struct talk *talk, const struct flow_frame *frame)
{
    const uint8_t *ip = frame->octets + 14;
    size_t header = 14 + (talk->ipv6 ? 40 : 20);
    size_t addresses = talk->ipv6 ? 8 : 12, each = talk->ipv6 ? 16 : 4;
    struct flow_packet packet = {
        .time_ns = frame->time_ns,
        .number = frame->number,
        .family = talk->ipv6 ? 6 : 4,
        .source = ip + addresses,
        .destination = ip + addresses + each,
        .octets = frame->octets + header,
        .captured = frame->captured - header,
        .length = frame->length - header,
    };

    talk->returned_direction = FLOW_DIRECTIONS;
    talk->returned = flow_decoder_segment(talk->decoder, &packet, &talk->returned_direction);
}

void talk_give(struct talk *talk)
{
    struct flow_frame frame = {
        .link = talk->link,
        .time_ns = talk->time_ns += 10000,
        .number = ++talk->frame,
        .captured = talk->snap != 0 && talk->snap < talk->frame_length ? talk->snap : talk->frame_length,
        .length = talk->frame_length,
    };
    uint8_t *copy = malloc(frame.captured != 0 ? frame.captured : 1); /* so that ASan sees each octet read beyond */

    if (copy == NULL)
        abort();
    memcpy(copy, talk->frame_octets, frame.captured);
    frame.octets = copy;
    if (talk->segments)
        give_segment(talk, &frame);
    else
        flow_decoder_frame(talk->decoder, &frame);
    free(copy);
}

void talk_syn(struct talk *talk)
{
    talk_build(talk, 0, talk->isn[0], 0, TCP_FLAG_SYN, NULL, 0);
    talk_give(talk);
    talk_build(talk, 1, talk->isn[1], talk->isn[0] + 1, TCP_FLAG_SYN | TCP_FLAG_ACK, NULL, 0);
    talk_give(talk);
}

void talk_segment_with(struct talk *talk, unsigned side, size_t from, size_t to, uint8_t flags, size_t acked)
{
    talk_build(talk, side, talk->isn[side] + 1 + (uint32_t)from, talk->isn[1 - side] + 1 + (uint32_t)acked, flags,
               talk->stream[side] + from, to - from);
    talk_give(talk);
}

void talk_segment(struct talk *talk, unsigned side, size_t from, size_t to)
{
    talk_segment_with(talk, side, from, to, TCP_FLAG_ACK, 0);
}

void talk_run(struct talk *talk, unsigned side, size_t from, size_t to, size_t size)
{
    for (size_t at = from; at < to; at += size)
        talk_segment(talk, side, at, to - at < size ? to : at + size);
}

void talk_all(struct talk *talk, size_t size)
{
    talk_run(talk, 0, 0, talk->start[0], size);
    talk_run(talk, 1, 0, talk->start[1], size);
    talk_run(talk, 0, talk->start[0], talk->octets[0], size);
    talk_run(talk, 1, talk->start[1], talk->octets[1], size);
}

void talk_finish(struct talk *talk)
{
    flow_decoder_finish(talk->decoder);
    if (!flow_totals_balanced(flow_decoder_totals(talk->decoder)))
        abort();
}

uint64_t talk_octets(const struct talk *talk, enum flow_row row)
{
    return flow_decoder_totals(talk->decoder)->account.row[row].octets;
}

uint64_t talk_items(const struct talk *talk, enum flow_row row)
{
    return flow_decoder_totals(talk->decoder)->account.row[row].items;
}

bool talk_whole(const struct talk *talk)
{
    return flow_account_whole(&flow_decoder_totals(talk->decoder)->account);
}
