/* SPDX-License-Identifier: BSD-2-Clause */
/* More situations for dissector_corpus: messages of several segments, ULPs, and streams that are hard to follow. */
#include <stdlib.h>
#include <string.h>

#include "tests/e2e/dissector_talk.h"

static const struct mpa_start plain = {.revision = 1}, with_crc = {.revision = 1, .crc = true};
static const struct mpa_start with_markers = {.revision = 1, .crc = true, .markers = true};

/* ---- start-up ------------------------------------------------------------------------------------------------------ */

/* Both start-up frames cut before the end of their first 20 octets. */
static void split_start(struct talk *talk)
{
    static const uint8_t data[40] = "private data that is cut somewhere";
    struct mpa_start request = {.revision = 1, .crc = true, .private_octets = sizeof(data), .private_data = data};

    talk_open(talk);
    talk_handshake(talk);
    talk_start(talk, 0, request);
    talk_frame(talk, 0, ACK, 0, 10);
    talk_flush(talk, 0, MSS);
    talk_start(talk, 1, with_crc);
    talk_frame(talk, 1, ACK, 0, 19);
    talk_flush(talk, 1, MSS);
    talk_message_send(talk, 0, 31);
    talk_flush(talk, 0, MSS);
    talk_message_send(talk, 1, 30);
    talk_flush(talk, 1, 9);
    talk_finish(talk);
}

/* The second part of the Request comes first. */
static void start_out_of_order(struct talk *talk)
{
    talk_open(talk);
    talk_handshake(talk);
    talk_start(talk, 0, with_crc);
    talk_start(talk, 1, with_crc);
    talk_frame(talk, 0, ACK, 12, talk->octets[0]);
    talk_frame(talk, 0, ACK, 0, 12);
    talk_flush(talk, 1, MSS);
    talk_message_send(talk, 0, 32);
    talk_flush(talk, 0, MSS);
    talk_message_send(talk, 1, 33);
    talk_flush(talk, 1, MSS);
    talk_finish(talk);
}

static void revision_0(struct talk *talk)
{
    talk_set_up(talk, (struct mpa_start){.revision = 0, .crc = true, .markers = true},
                (struct mpa_start){.revision = 0, .crc = true, .markers = true});
    talk_message_send(talk, 0, 600);
    talk_flush(talk, 0, MSS);
    talk_message_send(talk, 1, 600);
    talk_flush(talk, 1, MSS);
    talk_finish(talk);
}

/* iSER's CM header, both flags. */
static void private_iser(struct talk *talk)
{
    static const uint8_t data[4] = {0xC0, 0, 0, 0};

    talk_set_up(talk, (struct mpa_start){.revision = 1, .private_octets = sizeof(data), .private_data = data},
                (struct mpa_start){.revision = 1, .private_octets = sizeof(data), .private_data = data});
    talk_finish(talk);
}

/* Replies that do not answer their Requests, a connection each. */
static void faulty_replies(struct talk *talk)
{
    const struct mpa_start request = {
        .revision = 2, .enhanced = true, .peer_to_peer = true, .rtr_write = true, .ird = 4, .ord = 4};
    struct mpa_start replies[5] = {request, request, request, request, request};

    replies[0].rtr_write = false;                   /* no kind of RTR */
    replies[1].peer_to_peer = false;                /* A is not echoed */
    replies[2].ord = 9;                             /* more than the Request's IRD */
    replies[3] = (struct mpa_start){.revision = 3}; /* a revision that was not asked for */
    replies[4].revision = 1;                        /* S without Rev 2 */
    for (size_t i = 0; i < sizeof(replies) / sizeof(replies[0]); i++) {
        talk_set_up(talk, request, replies[i]);
        talk_finish(talk);
        talk->port++;
    }
}

/* ---- messages ------------------------------------------------------------------------------------------------------ */

/* Writes, Sends and a Read Response of three segments each; a Send between those of the Read Response. */
static void long_messages(struct talk *talk)
{
    struct ddp_segment response = {
        .tagged = true, .control = rdmap_control(RDMAP_READ_RESPONSE), .stag = 0xA1, .to = 0x1000};

    talk_set_up(talk, with_crc, with_crc);
    talk_message_tagged(talk, 0, RDMAP_WRITE, 0xB1, 3, 400);
    talk_message_long_send(talk, 0, 3, 200);
    talk_message_read(talk, 0, 900);
    talk_flush(talk, 0, MSS);
    talk_segment(talk, 1, response, NULL, 0, 300);
    talk_message_send(talk, 1, 40);
    response.to += 300;
    talk_segment(talk, 1, response, NULL, 0, 300);
    response.to += 300;
    response.last = true;
    talk_segment(talk, 1, response, NULL, 0, 300);
    talk_flush(talk, 1, 500);
    talk_message_tagged(talk, 0, RDMAP_WRITE, 0xB2, 2, 64);
    talk_flush(talk, 0, MSS);
    talk_finish(talk);
}

/* The middle of a Send, and the end of a Write, are missing in the capture. */
static void messages_with_holes(struct talk *talk)
{
    static const size_t segments[] = {3, 2, 1};

    talk_set_up(talk, with_crc, with_crc);
    for (size_t i = 0; i < sizeof(segments) / sizeof(segments[0]); i++)
        talk_message_long_send(talk, 0, (unsigned)segments[i], 500);
    talk_message_tagged(talk, 0, RDMAP_WRITE, 0xB1, 2, 500);
    talk_message_tagged(talk, 0, RDMAP_WRITE, 0xB2, 2, 500);
    for (unsigned i = 0; i < 10; i++) /* so that the holes are known not to be filled any more */
        talk_message_send(talk, 0, 20);
    talk->fpdus = 0;
    for (size_t i = 1; i < talk->marks[0]; i++) { /* mark[0] is the end of the Request */
        if (i == 2 || i == 8)
            talk->sent[0] = talk->mark[0][i];
        else
            talk_frame(talk, 0, ACK, talk->mark[0][i - 1], talk->mark[0][i]), talk->fpdus++;
        talk_frame(talk, 1, ACK, talk->octets[1], talk->octets[1]);
    }
    talk_finish(talk);
}

/* AOpCodes of both profiles, one that neither has, masks, and reserved bits that are set. */
static void atomics(struct talk *talk)
{
    static const uint8_t opcodes[] = {ATOMIC_FETCH_ADD, ATOMIC_SWAP, ATOMIC_COMPARE_SWAP, 7};

    talk_set_up(talk, with_crc, with_crc);
    for (uint32_t i = 0; i < sizeof(opcodes); i++) {
        struct atomic_request request = {i == 2 ? 0x123 : 0, opcodes[i], 100 + i, 0xC1, 0x3000, 5, 0xFF00, 9, 0x00FF};
        uint8_t header[ATOMIC_REQUEST_OCTETS];

        atomic_request_pack(&request, header);
        talk_untagged(talk, 0, RDMAP_ATOMIC_REQUEST, DDP_QN_READ_REQUEST, header, sizeof(header), 0);
        talk_flush(talk, 0, MSS);
        talk_message_atomic_response(talk, 1, 100 + i);
        talk_flush(talk, 1, MSS);
    }
    talk_finish(talk);
}

static void behind_the_terminate(struct talk *talk)
{
    size_t at;

    talk_set_up(talk, with_crc, with_crc);
    at = talk->octets[0] + FPDU_LENGTH_OCTETS;
    talk_message_tagged(talk, 0, RDMAP_WRITE, 0xDEAD, 1, 64);
    talk_flush(talk, 0, MSS);
    talk_message_terminate(talk, 1, TERM_DDP_INVALID_STAG, talk->stream[0] + at, false);
    talk_message_send(talk, 1, 20);
    talk_flush(talk, 1, MSS);
    talk_finish(talk);
}

/* Terminates with the codes that RFC 6581 8 adds, a connection each. */
static void terminate_mpa(struct talk *talk)
{
    static const wire_result triples[] = {TERM_MPA_CATASTROPHIC, TERM_MPA_INSUFFICIENT_IRD, TERM_MPA_NO_MATCHING_RTR};
    const struct mpa_start word = {
        .revision = 2, .enhanced = true, .peer_to_peer = true, .rtr_write = true, .ird = 4, .ord = 4};

    for (size_t i = 0; i < sizeof(triples) / sizeof(triples[0]); i++) {
        struct terminate terminate = {.triple = triples[i]};
        uint8_t octets[TERMINATE_MAX];

        talk_set_up(talk, word, word);
        talk_untagged(talk, 0, RDMAP_TERMINATE, DDP_QN_TERMINATE, octets,
                      terminate_pack(&terminate, octets, sizeof(octets)), 0);
        talk_flush(talk, 0, MSS);
        talk_finish(talk);
        talk->port++;
    }
}

/* ---- ULPs ---------------------------------------------------------------------------------------------------------- */

static void send_words(struct talk *talk, unsigned side, const uint32_t *words, size_t count)
{
    uint8_t octets[1024];

    for (size_t i = 0; i < count; i++)
        octets_put32(octets + 4 * i, words[i]);
    talk_untagged(talk, side, RDMAP_SEND, DDP_QN_SEND, octets, 4 * count, 0);
    talk_flush(talk, side, MSS);
}

/* An NFS NULL call in one Send, and one in two segments of a Send; replies. */
static void nfs_rdma(struct talk *talk)
{
    enum { MESSAGE = 0, NFS = 100003 };
    static const uint32_t call[] = {0x77, 1, 8, MESSAGE, 0, 0, 0, 0x77, 0, 2, NFS, 3, 0, 0, 0, 0, 0};
    static const uint32_t reply[] = {0x77, 1, 8, MESSAGE, 0, 0, 0, 0x77, 1, 0, 0, 0, 0};
    struct ddp_segment ddp = {.control = rdmap_control(RDMAP_SEND), .msn = 2};
    uint8_t octets[sizeof(call)];

    talk_set_up(talk, with_crc, with_crc);
    send_words(talk, 0, call, sizeof(call) / 4);
    send_words(talk, 1, reply, sizeof(reply) / 4);
    for (size_t i = 0; i < sizeof(call) / 4; i++)
        octets_put32(octets + 4 * i, call[i] == 0x77 ? 0x78 : call[i]);
    talk_segment(talk, 0, ddp, octets, 32, 0);
    ddp.mo = 32;
    ddp.last = true;
    talk_segment(talk, 0, ddp, octets + 32, sizeof(octets) - 32, 0);
    talk->msn[0][0] = 2;
    talk_flush(talk, 0, 60);
    talk_finish(talk);
}

static void smb_direct(struct talk *talk)
{
    static const uint8_t request[20] = {0, 1, 0, 1, 0, 0, 10, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 0, 2, 0};
    static const uint8_t response[32] = {0, 1, 0, 1, 0, 1, 0, 0, 255, 0, 255, 0, 0, 0, 0, 0,
                                         0, 0, 2, 0, 0, 4, 0, 0, 0,   4, 0,   0, 0, 0, 2, 0};

    talk_set_up(talk, with_crc, with_crc);
    talk_untagged(talk, 0, RDMAP_SEND, DDP_QN_SEND, request, sizeof(request), 0);
    talk_flush(talk, 0, MSS);
    talk_untagged(talk, 1, RDMAP_SEND, DDP_QN_SEND, response, sizeof(response), 0);
    talk_flush(talk, 1, MSS);
    talk_finish(talk);
}

/* ---- streams ------------------------------------------------------------------------------------------------------- */

/* The capture ends, without a FIN, behind a hole. */
static void waits_at_the_end(struct talk *talk)
{
    size_t from;

    talk_set_up(talk, with_crc, with_crc);
    talk_message_send(talk, 0, 50);
    talk_flush(talk, 0, MSS);
    from = talk->octets[0];
    for (unsigned i = 0; i < 3; i++)
        talk_message_send(talk, 0, 60 + i);
    talk_frame(talk, 0, ACK, from, from + 30);
    talk_frame(talk, 0, ACK, talk->mark[0][talk->marks[0] - 3], talk->octets[0]);
}

static void unaligned(struct talk *talk)
{
    talk->mss = MSS;
    talk_set_up(talk, with_crc, with_crc);
    for (unsigned i = 0; i < 40; i++) {
        talk_message_send(talk, 0, 300 + i);
        while (talk->octets[0] - talk->sent[0] >= 477)
            talk_frame(talk, 0, ACK, talk->sent[0], talk->sent[0] + 477);
        if (i % 8 == 0)
            talk_frame(talk, 1, ACK, talk->octets[1], talk->octets[1]);
    }
    talk_flush(talk, 0, 477);
    talk_finish(talk);
}

/* Only one side was captured; no FIN tells more. */
static void one_side(struct talk *talk, unsigned side, struct mpa_start word)
{
    talk_open(talk);
    talk_start(talk, 0, word);
    talk_start(talk, 1, word);
    talk->sent[1 - side] = talk->octets[1 - side];
    talk_frame(talk, side, side == 0 ? SYN : SYN | ACK, 0, 0);
    talk_flush(talk, side, MSS);
    for (unsigned i = 0; i < 40; i++) {
        talk_message_send(talk, side, 50 + 7 * i);
        talk_flush(talk, side, MSS);
    }
    talk_frame(talk, side, FIN | ACK, talk->octets[side], talk->octets[side]);
}

static void one_way_responder(struct talk *talk)
{
    one_side(talk, 1, with_crc);
}

static void one_way_with_markers(struct talk *talk)
{
    one_side(talk, 0, with_markers);
}

static void one_way_without_crc(struct talk *talk)
{
    one_side(talk, 0, plain);
}

static void snapped(struct talk *talk, struct mpa_start word)
{
    talk->snap = 96;
    talk_set_up(talk, word, word);
    for (unsigned i = 0; i < 4; i++) {
        talk_message_send(talk, 0, 600 + i);
        talk_message_tagged(talk, 0, RDMAP_WRITE, 0xB1, 1, 700 + i);
        talk_flush(talk, 0, MSS);
    }
    talk->fpdus -= 4; /* the second one of each segment is not there */
    talk_finish(talk);
}

static void snapped_without_crc(struct talk *talk)
{
    snapped(talk, plain);
}

static void snapped_with_markers(struct talk *talk)
{
    snapped(talk, with_markers);
}

/* A lost segment of unaligned FPDUs that have neither CRC nor Markers: headers are all there is. */
static void lost_without_crc(struct talk *talk)
{
    size_t from;

    talk_set_up(talk, plain, plain);
    from = talk->sent[0];
    for (unsigned i = 0; i < 30; i++)
        talk_message_send(talk, 0, 100 + 3 * i);
    talk_frame(talk, 0, ACK, from, from + 300);
    talk->sent[0] = from + 800;
    talk->fpdus = 0;
    for (size_t i = 1; i < talk->marks[0]; i++)
        talk->fpdus += talk->mark[0][i - 1] < from + 300 || talk->mark[0][i - 1] >= from + 800;
    while (talk->sent[0] < talk->octets[0]) {
        size_t left = talk->octets[0] - talk->sent[0];

        talk_frame(talk, 0, ACK, talk->sent[0], talk->sent[0] + (left < 500 ? left : 500));
        talk_frame(talk, 1, ACK, talk->octets[1], talk->octets[1]);
    }
    talk_finish(talk);
}

/* An FPDU a segment, with several Markers in each. */
static void markers_alone(struct talk *talk)
{
    talk_set_up(talk, with_markers, with_markers);
    for (unsigned i = 0; i < 4; i++) {
        talk_message_send(talk, i % 2, 1250 + i);
        talk_flush(talk, i % 2, MSS);
    }
    talk_finish(talk);
}

static void wrap_unaligned(struct talk *talk)
{
    talk->isn[0] = UINT32_MAX - 4200;
    talk->isn[1] = UINT32_MAX - 6000;
    talk_set_up(talk, with_crc, with_crc);
    for (unsigned i = 0; i < 20; i++)
        talk_message_send(talk, i % 2, 400 + i);
    talk_flush(talk, 0, 510);
    talk_flush(talk, 1, 511);
    talk_finish(talk);
}

/* A retransmission with other octets: the first ones count. */
static void overlap_differs(struct talk *talk)
{
    size_t from;

    talk_set_up(talk, with_crc, with_crc);
    from = talk->sent[0];
    talk_message_send(talk, 0, 100);
    talk_message_send(talk, 0, 110);
    talk_frame(talk, 0, ACK, from, from + 60);
    memset(talk->stream[0] + from + 40, 0xEE, 20);
    talk_frame(talk, 0, ACK, from + 40, talk->octets[0]);
    talk_finish(talk);
}

/* Octets that are no iWARP, on a connection whose start was not captured. */
static void not_iwarp(struct talk *talk)
{
    talk_open(talk);
    for (unsigned i = 0; i < 3000; i++)
        talk->stream[0][talk->octets[0]++] = (uint8_t)(i * i % 251);
    talk_flush(talk, 0, 1000);
    talk_frame(talk, 0, FIN | ACK, talk->octets[0], talk->octets[0]);
}

static void reset(struct talk *talk)
{
    talk_set_up(talk, with_crc, with_crc);
    talk_message_send(talk, 0, 70);
    talk_frame(talk, 0, ACK, talk->sent[0], talk->octets[0] - 30);
    talk->fpdus = 0;
    talk_frame(talk, 1, RST | ACK, talk->octets[1], talk->octets[1]);
}

/* Three connections whose segments take turns, with other framing each. */
static void three_flows(struct talk *talk)
{
    const struct mpa_start words[3] = {plain, with_crc, with_markers};
    struct talk *flows[3];

    for (unsigned i = 0; i < 3; i++) {
        flows[i] = calloc(1, sizeof(*flows[i]));
        flows[i]->file = talk->file;
        flows[i]->port = (uint16_t)(talk->port + i);
        flows[i]->time_us = 100 * i;
        flows[i]->isn[0] = flows[i]->isn[1] = 7000 * (i + 1);
        talk_set_up(flows[i], words[i], words[i]);
    }
    for (unsigned turn = 0; turn < 12; turn++) {
        struct talk *flow = flows[turn % 3];

        talk_message_send(flow, 0, 700 + turn);
        talk_message_send(flow, 0, 800 + turn);
        talk_flush(flow, 0, 1000);
        talk_message_send(flow, 1, 40 + turn);
        talk_flush(flow, 1, MSS);
    }
    for (unsigned i = 0; i < 3; i++) {
        talk_finish(flows[i]);
        talk->fpdus += flows[i]->fpdus;
        free(flows[i]);
    }
}

const struct capture more_captures[] = {
    {"split-start", split_start},
    {"start-out-of-order", start_out_of_order},
    {"revision-0", revision_0},
    {"private-iser", private_iser},
    {"faulty-replies", faulty_replies},
    {"terminate-mpa", terminate_mpa},
    {"long-messages", long_messages},
    {"messages-with-holes", messages_with_holes},
    {"atomics", atomics},
    {"behind-the-terminate", behind_the_terminate},
    {"nfs-rdma", nfs_rdma},
    {"smb-direct", smb_direct},
    {"waits-at-the-end", waits_at_the_end},
    {"unaligned", unaligned},
    {"one-way-responder", one_way_responder},
    {"one-way-with-markers", one_way_with_markers},
    {"one-way-without-crc", one_way_without_crc},
    {"markers-alone", markers_alone},
    {"snapped-without-crc", snapped_without_crc},
    {"snapped-with-markers", snapped_with_markers},
    {"lost-without-crc", lost_without_crc},
    {"wrap-unaligned", wrap_unaligned},
    {"overlap-differs", overlap_differs},
    {"not-iwarp", not_iwarp},
    {"reset", reset},
    {"three-flows", three_flows},
    {NULL, NULL},
};
