/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dissector_corpus FOLDER: writes small captures, one for each situation that a dissector of iWARP has to master, always
 * the same; and FOLDER/sent.tsv: how many FPDUs each has whose headers were captured. Times and checksums of IP and TCP
 * are right.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/atomic.h"
#include "wire/ddp.h"
#include "wire/fpdu.h"
#include "wire/mpa.h"
#include "wire/rdmap.h"

enum { STREAM_MAX = 1 << 16, MARKS_MAX = 256, FRAME_MAX = 9000, FIN = 1, SYN = 2, RST = 4, ACK = 16, MSS = 1460 };

/* Both streams of a connection, and the capture that they go into. */
struct talk {
    uint8_t stream[2][STREAM_MAX];
    size_t octets[2], sent[2];
    size_t mark[2][MARKS_MAX]; /* where units end */
    size_t marks[2];
    struct fpdu_framing framing[2];
    uint32_t isn[2], msn[2][4];
    uint16_t port;
    bool ipv6;
    unsigned fpdus;
    size_t snap;
    uint64_t time_us;
    uint16_t id;
    FILE *file;
    const char *name;
};

static FILE *manifest;

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

/* One frame: octets [from, to) of a side's stream. */
static void frame(struct talk *talk, unsigned side, uint8_t flags, size_t from, size_t to)
{
    uint8_t octets[FRAME_MAX], *tcp;
    size_t length = 20 + (to - from), total, kept;
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
    memcpy(tcp + 20, talk->stream[side] + from, to - from);
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

static void handshake(struct talk *talk)
{
    frame(talk, 0, SYN, 0, 0);
    frame(talk, 1, SYN | ACK, 0, 0);
    frame(talk, 0, ACK, 0, 0);
}

/* All that is not sent yet, in segments of at most `size`. */
static void flush(struct talk *talk, unsigned side, size_t size)
{
    while (talk->sent[side] < talk->octets[side]) {
        size_t left = talk->octets[side] - talk->sent[side];

        frame(talk, side, ACK, talk->sent[side], talk->sent[side] + (left < size ? left : size));
    }
}

static void finish(struct talk *talk)
{
    frame(talk, 0, FIN | ACK, talk->octets[0], talk->octets[0]);
    frame(talk, 1, FIN | ACK, talk->octets[1], talk->octets[1]);
    talk->sent[0]++;
    talk->sent[1]++;
    frame(talk, 0, ACK, talk->octets[0] + 1, talk->octets[0] + 1);
}

/* ---- units --------------------------------------------------------------------------------------------------------- */

static void mark(struct talk *talk, unsigned side)
{
    talk->mark[side][talk->marks[side]++] = talk->octets[side];
}

static void start(struct talk *talk, unsigned side, struct mpa_start start)
{
    start.kind = side == 0 ? MPA_REQUEST : MPA_REPLY;
    talk->octets[side] += mpa_start_pack(&start, talk->stream[side] + talk->octets[side], MPA_START_MAX);
    talk->framing[1 - side].markers = start.markers;
    talk->framing[0].crc = talk->framing[1].crc = talk->framing[0].crc || start.crc;
    mark(talk, side);
}

static void ulpdu(struct talk *talk, unsigned side, const uint8_t *octets, size_t count)
{
    size_t taken = fpdu_pack(octets, count, &talk->framing[side], talk->stream[side] + talk->octets[side],
                             STREAM_MAX - talk->octets[side]);

    talk->octets[side] += taken;
    talk->framing[side].position += (uint32_t)taken;
    talk->fpdus++;
    mark(talk, side);
}

/* A segment of a message; `header` stands before the payload, which counts up. */
static void segment(struct talk *talk, unsigned side, struct ddp_segment ddp, const uint8_t *header,
                    size_t header_octets, size_t payload)
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
    ulpdu(talk, side, octets, at);
}

static void untagged(struct talk *talk, unsigned side, enum rdmap_opcode opcode, uint32_t qn, const uint8_t *header,
                     size_t header_octets, size_t payload)
{
    struct ddp_segment ddp = {.last = true, .control = rdmap_control(opcode), .qn = qn, .msn = ++talk->msn[side][qn]};

    ddp.ulp_word = rdmap_opcode_rows[opcode].invalidates ? 0x1234 : 0;
    segment(talk, side, ddp, header, header_octets, payload);
}

static void message_send(struct talk *talk, unsigned side, size_t payload)
{
    untagged(talk, side, RDMAP_SEND, DDP_QN_SEND, NULL, 0, payload);
}

/* A Send of several segments of `each` octets. */
static void message_long_send(struct talk *talk, unsigned side, unsigned segments, size_t each)
{
    struct ddp_segment ddp = {.control = rdmap_control(RDMAP_SEND), .msn = ++talk->msn[side][0]};

    for (unsigned i = 0; i < segments; i++) {
        ddp.last = i == segments - 1;
        segment(talk, side, ddp, NULL, 0, each);
        ddp.mo += (uint32_t)each;
    }
}

static void message_tagged(struct talk *talk, unsigned side, enum rdmap_opcode opcode, uint32_t stag, unsigned segments,
                           size_t each)
{
    struct ddp_segment ddp = {.tagged = true, .control = rdmap_control(opcode), .stag = stag, .to = 0x1000};

    for (unsigned i = 0; i < segments; i++) {
        ddp.last = i == segments - 1;
        segment(talk, side, ddp, NULL, 0, each);
        ddp.to += each;
    }
}

static void message_read(struct talk *talk, unsigned side, uint32_t octets)
{
    struct read_request read = {0xA1, 0x1000, octets, 0xB1, 0x2000};
    uint8_t header[READ_REQUEST_OCTETS];

    read_request_pack(&read, header);
    untagged(talk, side, RDMAP_READ_REQUEST, DDP_QN_READ_REQUEST, header, sizeof(header), 0);
}

static void message_atomic(struct talk *talk, unsigned side, enum atomic_opcode opcode, uint32_t id)
{
    struct atomic_request request = {0, (uint8_t)opcode, id, 0xC1, 0x3000, 5, 0, 7, UINT64_MAX};
    uint8_t header[ATOMIC_REQUEST_OCTETS];

    atomic_request_pack(&request, header);
    untagged(talk, side, RDMAP_ATOMIC_REQUEST, DDP_QN_READ_REQUEST, header, sizeof(header), 0);
}

static void message_atomic_response(struct talk *talk, unsigned side, uint32_t id)
{
    struct atomic_response response = {id, 42};
    uint8_t header[ATOMIC_RESPONSE_OCTETS];

    atomic_response_pack(&response, header);
    untagged(talk, side, RDMAP_ATOMIC_RESPONSE, DDP_QN_ATOMIC_RESPONSE, header, sizeof(header), 0);
}

/* A Terminate that quotes the DDP (and RDMAP) header of the ULPDU that begins at `quoted`. */
static void message_terminate(struct talk *talk, unsigned side, wire_result triple, const uint8_t *quoted, bool rdmap)
{
    struct terminate terminate = {.triple = triple, .m = true, .d = true, .r = rdmap};
    uint8_t octets[TERMINATE_MAX];

    terminate.has_length = true;
    terminate.ddp_segment_length = (uint16_t)fpdu_get_ULPDU_Length(quoted - FPDU_LENGTH_OCTETS);
    terminate.ddp_header = quoted;
    terminate.ddp_header_octets = (quoted[0] & 0x80) != 0 ? DDP_TAGGED_OCTETS : DDP_UNTAGGED_OCTETS;
    terminate.rdmap_header = quoted + terminate.ddp_header_octets;
    terminate.rdmap_header_octets = READ_REQUEST_OCTETS;
    untagged(talk, side, RDMAP_TERMINATE, DDP_QN_TERMINATE, octets, terminate_pack(&terminate, octets, sizeof(octets)),
             0);
}

/* ---- captures ------------------------------------------------------------------------------------------------------ */

static const struct mpa_start plain = {.revision = 1}, with_crc = {.revision = 1, .crc = true};

static void open_streams(struct talk *talk)
{
    memset(talk->octets, 0, sizeof(talk->octets));
    memset(talk->sent, 0, sizeof(talk->sent));
    memset(talk->marks, 0, sizeof(talk->marks));
    memset(talk->msn, 0, sizeof(talk->msn));
    memset(talk->framing, 0, sizeof(talk->framing));
    talk->isn[0] += 1000;
    talk->isn[1] += 5000;
}

/* Start-up in frames of their own, behind the handshake. */
static void set_up(struct talk *talk, struct mpa_start request, struct mpa_start reply)
{
    open_streams(talk);
    handshake(talk);
    start(talk, 0, request);
    start(talk, 1, reply);
    flush(talk, 0, MSS);
    flush(talk, 1, MSS);
}

static void every_opcode(struct talk *talk)
{
    struct mpa_start enhanced = {.revision = 2,
                                 .crc = true,
                                 .enhanced = true,
                                 .peer_to_peer = true,
                                 .ird = 4,
                                 .ord = 3,
                                 .rtr_write = true,
                                 .rtr_read = true};
    const uint8_t immediate[IMMEDIATE_OCTETS] = {1, 2, 3, 4, 5, 6, 7, 8};
    struct mpa_start reply = enhanced;

    reply.rtr_read = false;
    set_up(talk, enhanced, reply);
    message_tagged(talk, 0, RDMAP_WRITE, 0, 1, 0);
    flush(talk, 0, MSS);
    message_send(talk, 0, 40);
    untagged(talk, 0, RDMAP_SEND_INVALIDATE, 0, NULL, 0, 41);
    untagged(talk, 0, RDMAP_SEND_SE, 0, NULL, 0, 42);
    untagged(talk, 0, RDMAP_SEND_SE_INVALIDATE, 0, NULL, 0, 43);
    untagged(talk, 0, RDMAP_IMMEDIATE, 0, immediate, sizeof(immediate), 0);
    untagged(talk, 0, RDMAP_IMMEDIATE_SE, 0, immediate, sizeof(immediate), 0);
    flush(talk, 0, MSS);
    message_tagged(talk, 0, RDMAP_WRITE, 0xB1, 2, 700);
    flush(talk, 0, MSS);
    message_read(talk, 0, 900);
    flush(talk, 0, MSS);
    message_tagged(talk, 1, RDMAP_READ_RESPONSE, 0xA1, 3, 300);
    flush(talk, 1, MSS);
    message_atomic(talk, 0, ATOMIC_FETCH_ADD, 77);
    message_atomic(talk, 0, ATOMIC_COMPARE_SWAP, 78);
    message_atomic(talk, 0, ATOMIC_SWAP, 79);
    flush(talk, 0, MSS);
    message_atomic_response(talk, 1, 77);
    message_atomic_response(talk, 1, 78);
    message_atomic_response(talk, 1, 79);
    flush(talk, 1, MSS);
    finish(talk);
}

static void terminate_untagged(struct talk *talk)
{
    size_t at;

    set_up(talk, plain, plain);
    message_send(talk, 0, 24);
    at = talk->octets[0] + FPDU_LENGTH_OCTETS;
    message_read(talk, 0, 900);
    flush(talk, 0, MSS);
    message_terminate(talk, 1, TERM_RDMAP_BOUNDS, talk->stream[0] + at, true);
    flush(talk, 1, MSS);
    finish(talk);
}

static void terminate_tagged(struct talk *talk)
{
    size_t at;

    set_up(talk, plain, plain);
    at = talk->octets[0] + FPDU_LENGTH_OCTETS;
    message_tagged(talk, 0, RDMAP_WRITE, 0xDEAD, 1, 64);
    flush(talk, 0, MSS);
    message_terminate(talk, 1, TERM_DDP_INVALID_STAG, talk->stream[0] + at, false);
    flush(talk, 1, MSS);
    finish(talk);
}

static void mixed(struct talk *talk, unsigned side)
{
    message_send(talk, side, 20);
    message_send(talk, side, 701);
    message_tagged(talk, side, RDMAP_WRITE, 0xB1, 1, 2900);
    message_send(talk, side, 62);
    message_send(talk, side, 1250);
}

static void markers(struct talk *talk, bool initiator_wants, bool responder_wants, bool crc)
{
    struct mpa_start request = {.revision = 1, .crc = crc, .markers = initiator_wants};
    struct mpa_start reply = {.revision = 1, .crc = crc, .markers = responder_wants};

    set_up(talk, request, reply);
    mixed(talk, 0);
    flush(talk, 0, MSS);
    mixed(talk, 1);
    flush(talk, 1, 900);
    finish(talk);
}

static void markers_both(struct talk *talk)
{
    markers(talk, true, true, true);
}

static void markers_one_way(struct talk *talk)
{
    markers(talk, true, false, true);
}

static void markers_without_crc(struct talk *talk)
{
    markers(talk, true, true, false);
}

static void marker_wrong(struct talk *talk)
{
    struct mpa_start wants = {.revision = 1, .markers = true};

    set_up(talk, wants, wants);
    mixed(talk, 0);
    talk->stream[0][talk->mark[0][0] + 512 + 3] ^= 0x08;
    talk->stream[0][talk->mark[0][0] + 1024 + 1] = 0x01; /* reserved */
    flush(talk, 0, MSS);
    finish(talk);
}

static void octet_by_octet(struct talk *talk)
{
    open_streams(talk);
    handshake(talk);
    start(talk, 0, with_crc);
    start(talk, 1, with_crc);
    flush(talk, 0, 7);
    flush(talk, 1, 1);
    message_send(talk, 0, 20);
    message_send(talk, 0, 3);
    flush(talk, 0, 5);
    message_send(talk, 1, 17);
    flush(talk, 1, 1);
    finish(talk);
}

static void short_tails(struct talk *talk)
{
    set_up(talk, with_crc, with_crc);
    for (unsigned i = 1; i < 8; i++) {
        message_send(talk, 0, 20 + i);
        message_send(talk, 0, 50);
        /* the segment ends i octets into the second FPDU */
        frame(talk, 0, ACK, talk->sent[0], talk->mark[0][talk->marks[0] - 2] + i);
        flush(talk, 0, MSS);
    }
    finish(talk);
}

static void behind_the_reply(struct talk *talk)
{
    open_streams(talk);
    handshake(talk);
    start(talk, 0, with_crc);
    flush(talk, 0, MSS);
    start(talk, 1, with_crc);
    message_send(talk, 1, 30);
    message_send(talk, 1, 31);
    flush(talk, 1, MSS);
    message_send(talk, 0, 32);
    flush(talk, 0, MSS);
    finish(talk);
}

static void many_in_one(struct talk *talk)
{
    set_up(talk, plain, plain);
    for (unsigned i = 0; i < 9; i++)
        message_send(talk, 0, 16 + i);
    flush(talk, 0, MSS);
    message_send(talk, 1, 44);
    flush(talk, 1, MSS);
    finish(talk);
}

/* Four segments that FPDUs straddle, in the order 0 2 1 3. */
static void out_of_order(struct talk *talk)
{
    size_t from;

    set_up(talk, with_crc, with_crc);
    from = talk->sent[0];
    for (unsigned i = 0; i < 6; i++)
        message_send(talk, 0, 100 + 3 * i);
    frame(talk, 0, ACK, from, from + 200);
    frame(talk, 0, ACK, from + 400, from + 600);
    frame(talk, 0, ACK, from + 200, from + 400);
    flush(talk, 0, MSS);
    finish(talk);
}

static void retransmitted(struct talk *talk)
{
    size_t from;

    set_up(talk, with_crc, with_crc);
    from = talk->sent[0];
    message_send(talk, 0, 100);
    message_send(talk, 0, 110);
    flush(talk, 0, MSS);
    frame(talk, 0, ACK, from, talk->octets[0]);
    message_send(talk, 0, 120);
    frame(talk, 0, ACK, from + 50, talk->octets[0]);
    finish(talk);
}

/* One segment of unaligned FPDUs is missing in the capture; the peer has it. */
static void lost(struct talk *talk, struct mpa_start word)
{
    size_t from;
    unsigned whole;

    set_up(talk, word, word);
    from = talk->sent[0];
    for (unsigned i = 0; i < 40; i++)
        message_send(talk, 0, 100 + 3 * i);
    frame(talk, 0, ACK, from, from + 300);
    talk->sent[0] = from + 800;
    for (whole = 0; talk->mark[0][1 + whole] <= from + 300; whole++)
        ;
    talk->fpdus = whole + 1; /* the one that is cut by the hole has its headers */
    for (unsigned i = 0; i < 40; i++)
        talk->fpdus += talk->mark[0][i] >= from + 800;
    while (talk->sent[0] < talk->octets[0]) {
        size_t left = talk->octets[0] - talk->sent[0];

        frame(talk, 0, ACK, talk->sent[0], talk->sent[0] + (left < 500 ? left : 500));
        frame(talk, 1, ACK, talk->octets[1], talk->octets[1]);
    }
    finish(talk);
}

static void lost_with_crc(struct talk *talk)
{
    lost(talk, with_crc);
}

static void lost_with_markers(struct talk *talk)
{
    lost(talk, (struct mpa_start){.revision = 1, .crc = true, .markers = true});
}

static void four_tuple_reuse(struct talk *talk)
{
    set_up(talk, plain, plain);
    message_send(talk, 0, 33);
    flush(talk, 0, MSS);
    finish(talk);
    talk->isn[0] += 70000;
    talk->isn[1] += 90000;
    set_up(talk, (struct mpa_start){.revision = 1, .crc = true, .markers = true},
           (struct mpa_start){.revision = 1, .crc = true, .markers = true});
    message_send(talk, 0, 34);
    message_send(talk, 0, 1200);
    flush(talk, 0, MSS);
    finish(talk);
}

static void snapped(struct talk *talk)
{
    talk->snap = 128;
    set_up(talk, with_crc, with_crc);
    message_send(talk, 0, 700);
    flush(talk, 0, MSS);
    message_tagged(talk, 0, RDMAP_WRITE, 0xB1, 2, 900);
    flush(talk, 0, 920);
    message_read(talk, 1, 500);
    flush(talk, 1, MSS);
    message_tagged(talk, 0, RDMAP_READ_RESPONSE, 0xA1, 1, 500);
    flush(talk, 0, MSS);
    finish(talk);
}

/* The capture begins behind the start-up frames. */
static void mid_stream(struct talk *talk, struct mpa_start word)
{
    open_streams(talk);
    start(talk, 0, word);
    start(talk, 1, word);
    message_send(talk, 0, 500);
    talk->sent[0] = talk->octets[0];
    talk->sent[1] = talk->octets[1];
    talk->fpdus = 0;
    for (unsigned i = 0; i < 4; i++) {
        message_send(talk, 0, 900 + i);
        flush(talk, 0, MSS);
    }
    for (unsigned i = 0; i < 2; i++) {
        message_send(talk, 1, 300 + i);
        flush(talk, 1, MSS);
    }
    finish(talk);
}

static void mid_stream_with_crc(struct talk *talk)
{
    mid_stream(talk, with_crc);
}

static void mid_stream_with_markers(struct talk *talk)
{
    mid_stream(talk, (struct mpa_start){.revision = 1, .crc = true, .markers = true});
}

static void mid_stream_without_crc(struct talk *talk)
{
    mid_stream(talk, plain);
    talk->fpdus -= 2; /* a first one each way only makes it likely */
}

/* Only what the Initiator sent was captured. */
static void one_way(struct talk *talk)
{
    open_streams(talk);
    start(talk, 0, with_crc);
    start(talk, 1, with_crc);
    talk->sent[1] = talk->octets[1];
    frame(talk, 0, SYN, 0, 0);
    frame(talk, 0, ACK, 0, 0);
    flush(talk, 0, MSS);
    for (unsigned i = 0; i < 40; i++) {
        message_send(talk, 0, 50 + i);
        flush(talk, 0, MSS);
    }
    frame(talk, 0, FIN | ACK, talk->octets[0], talk->octets[0]);
}

static void sequence_wrap(struct talk *talk)
{
    talk->isn[0] = UINT32_MAX - 3000;
    talk->isn[1] = UINT32_MAX - 7000;
    markers_both(talk);
}

static void bad_crc(struct talk *talk)
{
    set_up(talk, with_crc, with_crc);
    for (unsigned i = 0; i < 3; i++) {
        message_send(talk, 0, 40 + i);
        if (i == 1)
            talk->stream[0][talk->octets[0] - 10] ^= 1;
        flush(talk, 0, MSS);
    }
    finish(talk);
}

static void short_sends(struct talk *talk)
{
    static const size_t sizes[] = {0, 1, 4, 8, 12, 15, 16};

    set_up(talk, plain, plain);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        message_send(talk, 0, sizes[i]);
        flush(talk, 0, MSS);
    }
    finish(talk);
}

static void long_sends(struct talk *talk)
{
    set_up(talk, with_crc, with_crc);
    message_long_send(talk, 0, 3, 600);
    message_long_send(talk, 0, 2, 64);
    flush(talk, 0, 1000);
    finish(talk);
}

static void short_ulpdus(struct talk *talk)
{
    const uint8_t octets[4] = {0x41, 0x43};

    set_up(talk, with_crc, with_crc);
    ulpdu(talk, 0, octets, 0);
    flush(talk, 0, MSS);
    ulpdu(talk, 0, octets, 4);
    flush(talk, 0, MSS);
    talk->fpdus = 0; /* neither has a header */
    message_send(talk, 0, 20);
    flush(talk, 0, MSS);
    finish(talk);
}

static void rejected(struct talk *talk)
{
    const uint8_t words[] = "no";

    set_up(talk, with_crc,
           (struct mpa_start){.revision = 1, .rejected = true, .private_octets = 2, .private_data = words});
    finish(talk);
}

static void not_negotiated(struct talk *talk)
{
    struct mpa_start word = {
        .revision = 2, .enhanced = true, .ird = MPA_DEPTH_NOT_NEGOTIATED, .ord = MPA_DEPTH_NOT_NEGOTIATED};

    set_up(talk, word, word);
    message_send(talk, 0, 20);
    flush(talk, 0, MSS);
    finish(talk);
}

static void wrong_rtr(struct talk *talk)
{
    struct mpa_start word = {
        .revision = 2, .enhanced = true, .peer_to_peer = true, .rtr_read = true, .ird = 1, .ord = 1};

    set_up(talk, word, word);
    message_tagged(talk, 0, RDMAP_WRITE, 0, 1, 0);
    flush(talk, 0, MSS);
    finish(talk);
}

static void private_data(struct talk *talk)
{
    static const uint8_t rpc[] = {0xF6, 0xAB, 0x0E, 0x18, 1, 1, 3, 3};
    static const uint8_t nvme[32] = {0, 0, 1, 0, 128, 0, 127, 0}, depths[] = {0, 0, 0, 16, 0, 0, 0, 1};

    set_up(talk, (struct mpa_start){.revision = 1, .private_octets = sizeof(rpc), .private_data = rpc},
           (struct mpa_start){.revision = 1, .private_octets = sizeof(rpc), .private_data = rpc});
    finish(talk);
    talk->port++;
    set_up(talk, (struct mpa_start){.revision = 1, .private_octets = sizeof(nvme), .private_data = nvme}, plain);
    finish(talk);
    talk->port++;
    set_up(talk, (struct mpa_start){.revision = 1, .private_octets = sizeof(depths), .private_data = depths}, plain);
    finish(talk);
}

static void malformed_start(struct talk *talk)
{
    open_streams(talk);
    handshake(talk);
    start(talk, 0, plain);
    octets_put16(talk->stream[0] + 18, 600);
    message_send(talk, 0, 20);
    talk->fpdus = 0;
    flush(talk, 0, MSS);
    finish(talk);
}

static void over_ipv6(struct talk *talk)
{
    talk->ipv6 = true;
    markers_both(talk);
}

static const struct capture {
    const char *name;
    void (*make)(struct talk *talk);
} captures[] = {
    {"every-opcode", every_opcode},
    {"terminate-untagged", terminate_untagged},
    {"terminate-tagged", terminate_tagged},
    {"markers-both", markers_both},
    {"markers-one-way", markers_one_way},
    {"markers-without-crc", markers_without_crc},
    {"marker-wrong", marker_wrong},
    {"octet-by-octet", octet_by_octet},
    {"short-tails", short_tails},
    {"behind-the-reply", behind_the_reply},
    {"many-in-one", many_in_one},
    {"out-of-order", out_of_order},
    {"retransmitted", retransmitted},
    {"lost-with-crc", lost_with_crc},
    {"lost-with-markers", lost_with_markers},
    {"four-tuple-reuse", four_tuple_reuse},
    {"snapped", snapped},
    {"mid-stream-with-crc", mid_stream_with_crc},
    {"mid-stream-with-markers", mid_stream_with_markers},
    {"mid-stream-without-crc", mid_stream_without_crc},
    {"one-way", one_way},
    {"sequence-wrap", sequence_wrap},
    {"bad-crc", bad_crc},
    {"short-sends", short_sends},
    {"long-sends", long_sends},
    {"short-ulpdus", short_ulpdus},
    {"rejected", rejected},
    {"not-negotiated", not_negotiated},
    {"wrong-rtr", wrong_rtr},
    {"private-data", private_data},
    {"malformed-start", malformed_start},
    {"over-ipv6", over_ipv6},
};

static void make(const char *folder, const struct capture *capture)
{
    static const uint8_t head[] = {0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0};
    struct talk *talk = calloc(1, sizeof(*talk));
    char path[4096];

    snprintf(path, sizeof(path), "%s/%s.pcap", folder, capture->name);
    talk->file = fopen(path, "wb");
    if (talk->file == NULL) {
        perror(path);
        exit(2);
    }
    talk->port = 40000;
    talk->isn[0] = 100000;
    talk->isn[1] = 900000;
    fwrite(head, 1, sizeof(head), talk->file);
    capture->make(talk);
    fprintf(manifest, "%s\t%u\n", capture->name, talk->fpdus);
    fclose(talk->file);
    free(talk);
}

int main(int argc, char **argv)
{
    char path[4096];

    if (argc != 2) {
        fprintf(stderr, "usage: dissector_corpus FOLDER\n");
        return 2;
    }
    snprintf(path, sizeof(path), "%s/sent.tsv", argv[1]);
    manifest = fopen(path, "w");
    if (manifest == NULL) {
        perror(path);
        return 2;
    }
    for (size_t i = 0; i < sizeof(captures) / sizeof(captures[0]); i++)
        make(argv[1], &captures[i]);
    return fclose(manifest) == 0 ? 0 : 2;
}
