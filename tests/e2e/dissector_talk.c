/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/e2e/dissector_talk.h"

#include <string.h>

/* ---- frames -------------------------------------------------------------------------------------------------------- */

static uint32_t sum(uint32_t value, const uint8_t *octets, size_t count)
{
    for (size_t i = 0; i < count; i++)
        value += i % 2 == 0 ? (uint32_t)octets[i] << 8 : octets[i];
    return value;
}

static uint16_t fold(uint32_t value)
{
    while (value >> 16 != 0)
        value = (value & 0xFFFF) + (value >> 16);
    return (uint16_t)~value;
}

static size_t put_network(const struct talk *talk, unsigned side, uint8_t *at, size_t length, uint32_t *pseudo)
{
    static const uint8_t four[2][4] = {{10, 77, 0, 1}, {10, 77, 0, 2}};
    uint8_t six[2][16] = {{0xFD, 0x77, [15] = 1}, {0xFD, 0x77, [15] = 2}};

    *pseudo = 6 + (uint32_t)length;
    if (talk->ipv6) {
        memset(at, 0, 40);
        at[0] = 0x60;
        octets_put16(at + 4, (uint16_t)length);
        at[6] = 6;
        at[7] = 64;
        memcpy(at + 8, six[side], 16);
        memcpy(at + 24, six[1 - side], 16);
        *pseudo = sum(*pseudo, at + 8, 32);
        return 40;
    }
    memset(at, 0, 20);
    at[0] = 0x45;
    octets_put16(at + 2, (uint16_t)(20 + length));
    octets_put16(at + 4, talk->id);
    at[6] = 0x40;
    at[8] = 64;
    at[9] = 6;
    memcpy(at + 12, four[side], 4);
    memcpy(at + 16, four[1 - side], 4);
    octets_put16(at + 10, fold(sum(0, at, 20)));
    *pseudo = sum(*pseudo, at + 12, 8);
    return 20;
}

static void put_little(FILE *file, uint32_t value, unsigned octets)
{
    for (unsigned i = 0; i < octets; i++)
        fputc((int)(value >> 8 * i & 0xFF), file);
}

void talk_frame(struct talk *talk, unsigned side, uint8_t flags, size_t from, size_t to)
{
    uint8_t octets[FRAME_MAX], *tcp;
    bool option = (flags & SYN) != 0 && talk->mss != 0;
    size_t length = (option ? 24 : 20) + (to - from), total, kept;
    uint32_t pseudo;

    memset(octets, 0, 14);
    octets[5] = (uint8_t)(2 - side);
    octets[0] = octets[6] = 0x52;
    octets[11] = (uint8_t)(1 + side);
    octets_put16(octets + 12, talk->ipv6 ? 0x86DD : 0x0800);
    talk->id++;
    tcp = octets + 14 + put_network(talk, side, octets + 14, length, &pseudo);
    memset(tcp, 0, 20);
    octets_put16(tcp, side == 0 ? talk->port : 7174);
    octets_put16(tcp + 2, side == 0 ? 7174 : talk->port);
    octets_put32(tcp + 4, talk->isn[side] + ((flags & SYN) != 0 ? 0 : 1) + (uint32_t)from);
    if ((flags & ACK) != 0)
        octets_put32(tcp + 8, talk->isn[1 - side] + 1 + (uint32_t)talk->sent[1 - side]);
    tcp[12] = 0x50;
    tcp[13] = flags;
    octets_put16(tcp + 14, 0xFFFF);
    if (option) {
        tcp[12] = 0x60;
        octets_put32(tcp + 20, 0x02040000u | talk->mss);
    } else {
        memcpy(tcp + 20, talk->stream[side] + from, to - from);
    }
    octets_put16(tcp + 16, fold(sum(pseudo, tcp, length)));
    total = (size_t)(tcp - octets) + length;
    kept = talk->snap != 0 && talk->snap < total ? talk->snap : total;
    talk->time_us += 250;
    put_little(talk->file, (uint32_t)(1700000000 + talk->time_us / 1000000), 4);
    put_little(talk->file, (uint32_t)(talk->time_us % 1000000), 4);
    put_little(talk->file, (uint32_t)kept, 4);
    put_little(talk->file, (uint32_t)total, 4);
    fwrite(octets, 1, kept, talk->file);
    if (to > talk->sent[side])
        talk->sent[side] = to;
}

void talk_handshake(struct talk *talk)
{
    talk_frame(talk, 0, SYN, 0, 0);
    talk_frame(talk, 1, SYN | ACK, 0, 0);
    talk_frame(talk, 0, ACK, 0, 0);
}

void talk_flush(struct talk *talk, unsigned side, size_t size)
{
    while (talk->sent[side] < talk->octets[side]) {
        size_t left = talk->octets[side] - talk->sent[side];

        talk_frame(talk, side, ACK, talk->sent[side], talk->sent[side] + (left < size ? left : size));
    }
}

void talk_finish(struct talk *talk)
{
    talk_frame(talk, 0, FIN | ACK, talk->octets[0], talk->octets[0]);
    talk_frame(talk, 1, FIN | ACK, talk->octets[1], talk->octets[1]);
    talk->sent[0]++;
    talk->sent[1]++;
    talk_frame(talk, 0, ACK, talk->octets[0] + 1, talk->octets[0] + 1);
}

/* ---- units --------------------------------------------------------------------------------------------------------- */

static void mark(struct talk *talk, unsigned side)
{
    talk->mark[side][talk->marks[side]++] = talk->octets[side];
}

void talk_start(struct talk *talk, unsigned side, struct mpa_start start)
{
    start.kind = side == 0 ? MPA_REQUEST : MPA_REPLY;
    talk->octets[side] += mpa_start_pack(&start, talk->stream[side] + talk->octets[side], MPA_START_MAX);
    talk->framing[1 - side].markers = start.markers;
    talk->framing[0].crc = talk->framing[1].crc = talk->framing[0].crc || start.crc;
    mark(talk, side);
}

void talk_ulpdu(struct talk *talk, unsigned side, const uint8_t *octets, size_t count)
{
    size_t taken = fpdu_pack(octets, count, &talk->framing[side], talk->stream[side] + talk->octets[side],
                             STREAM_MAX - talk->octets[side]);

    talk->octets[side] += taken;
    talk->framing[side].position += (uint32_t)taken;
    talk->fpdus++;
    mark(talk, side);
}

void talk_segment(struct talk *talk, unsigned side, struct ddp_segment ddp, const uint8_t *header, size_t header_octets,
                  size_t payload)
{
    uint8_t octets[8192];
    size_t at;

    ddp.version = DDP_VERSION;
    at = ddp_pack_header(&ddp, octets);
    if (header_octets != 0)
        memcpy(octets + at, header, header_octets);
    at += header_octets;
    for (size_t i = 0; i < payload; i++)
        octets[at++] = (uint8_t)(i * 7 + 1);
    talk_ulpdu(talk, side, octets, at);
}

void talk_untagged(struct talk *talk, unsigned side, enum rdmap_opcode opcode, uint32_t qn, const uint8_t *header,
                   size_t header_octets, size_t payload)
{
    struct ddp_segment ddp = {.last = true, .control = rdmap_control(opcode), .qn = qn, .msn = ++talk->msn[side][qn]};

    ddp.ulp_word = rdmap_opcode_rows[opcode].invalidates ? 0x1234 : 0;
    talk_segment(talk, side, ddp, header, header_octets, payload);
}

void talk_message_send(struct talk *talk, unsigned side, size_t payload)
{
    talk_untagged(talk, side, RDMAP_SEND, DDP_QN_SEND, NULL, 0, payload);
}

void talk_message_long_send(struct talk *talk, unsigned side, unsigned segments, size_t each)
{
    struct ddp_segment ddp = {.control = rdmap_control(RDMAP_SEND), .msn = ++talk->msn[side][0]};

    for (unsigned i = 0; i < segments; i++) {
        ddp.last = i == segments - 1;
        talk_segment(talk, side, ddp, NULL, 0, each);
        ddp.mo += (uint32_t)each;
    }
}

void talk_message_tagged(struct talk *talk, unsigned side, enum rdmap_opcode opcode, uint32_t stag, unsigned segments,
                         size_t each)
{
    struct ddp_segment ddp = {.tagged = true, .control = rdmap_control(opcode), .stag = stag, .to = 0x1000};

    for (unsigned i = 0; i < segments; i++) {
        ddp.last = i == segments - 1;
        talk_segment(talk, side, ddp, NULL, 0, each);
        ddp.to += each;
    }
}

void talk_message_read(struct talk *talk, unsigned side, uint32_t octets)
{
    struct read_request read = {0xA1, 0x1000, octets, 0xB1, 0x2000};
    uint8_t header[READ_REQUEST_OCTETS];

    read_request_pack(&read, header);
    talk_untagged(talk, side, RDMAP_READ_REQUEST, DDP_QN_READ_REQUEST, header, sizeof(header), 0);
}

void talk_message_atomic(struct talk *talk, unsigned side, enum atomic_opcode opcode, uint32_t id)
{
    struct atomic_request request = {0, (uint8_t)opcode, id, 0xC1, 0x3000, 5, 0, 0, 0};
    uint8_t header[ATOMIC_REQUEST_OCTETS];

    atomic_request_pack(&request, header);
    talk_untagged(talk, side, RDMAP_ATOMIC_REQUEST, DDP_QN_READ_REQUEST, header, sizeof(header), 0);
}

void talk_message_atomic_response(struct talk *talk, unsigned side, uint32_t id)
{
    struct atomic_response response = {id, 42};
    uint8_t header[ATOMIC_RESPONSE_OCTETS];

    atomic_response_pack(&response, header);
    talk_untagged(talk, side, RDMAP_ATOMIC_RESPONSE, DDP_QN_ATOMIC_RESPONSE, header, sizeof(header), 0);
}

void talk_message_terminate(struct talk *talk, unsigned side, wire_result triple, const uint8_t *quoted, bool rdmap)
{
    struct terminate terminate = {.triple = triple, .m = true, .d = true, .r = rdmap};
    uint8_t octets[TERMINATE_MAX];

    terminate.has_length = true;
    terminate.ddp_segment_length = (uint16_t)fpdu_get_ULPDU_Length(quoted - FPDU_LENGTH_OCTETS);
    terminate.ddp_header = quoted;
    terminate.ddp_header_octets = (quoted[0] & 0x80) != 0 ? DDP_TAGGED_OCTETS : DDP_UNTAGGED_OCTETS;
    terminate.rdmap_header = quoted + terminate.ddp_header_octets;
    terminate.rdmap_header_octets = READ_REQUEST_OCTETS;
    talk_untagged(talk, side, RDMAP_TERMINATE, DDP_QN_TERMINATE, octets,
                  terminate_pack(&terminate, octets, sizeof(octets)), 0);
}

/* ---- connections --------------------------------------------------------------------------------------------------- */

void talk_open(struct talk *talk)
{
    memset(talk->octets, 0, sizeof(talk->octets));
    memset(talk->sent, 0, sizeof(talk->sent));
    memset(talk->marks, 0, sizeof(talk->marks));
    memset(talk->msn, 0, sizeof(talk->msn));
    memset(talk->framing, 0, sizeof(talk->framing));
    talk->isn[0] += 1000;
    talk->isn[1] += 5000;
}

void talk_set_up(struct talk *talk, struct mpa_start request, struct mpa_start reply)
{
    talk_open(talk);
    talk_handshake(talk);
    talk_start(talk, 0, request);
    talk_start(talk, 1, reply);
    talk_flush(talk, 0, MSS);
    talk_flush(talk, 1, MSS);
}
