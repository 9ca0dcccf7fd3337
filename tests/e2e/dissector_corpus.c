/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dissector_corpus FOLDER: writes small captures, one for each situation that a dissector of iWARP has to master, always
 * the same; and FOLDER/sent.tsv: how many FPDUs each has whose headers were captured. Times and checksums of IP and TCP
 * are right.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/e2e/dissector_talk.h"

static FILE *manifest;

/* ---- captures ------------------------------------------------------------------------------------------------------ */

static const struct mpa_start plain = {.revision = 1}, with_crc = {.revision = 1, .crc = true};

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
    talk_set_up(talk, enhanced, reply);
    talk_message_tagged(talk, 0, RDMAP_WRITE, 0, 1, 0);
    talk_flush(talk, 0, MSS);
    talk_message_send(talk, 0, 40);
    talk_untagged(talk, 0, RDMAP_SEND_INVALIDATE, 0, NULL, 0, 41);
    talk_untagged(talk, 0, RDMAP_SEND_SE, 0, NULL, 0, 42);
    talk_untagged(talk, 0, RDMAP_SEND_SE_INVALIDATE, 0, NULL, 0, 43);
    talk_untagged(talk, 0, RDMAP_IMMEDIATE, 0, immediate, sizeof(immediate), 0);
    talk_untagged(talk, 0, RDMAP_IMMEDIATE_SE, 0, immediate, sizeof(immediate), 0);
    talk_flush(talk, 0, MSS);
    talk_message_tagged(talk, 0, RDMAP_WRITE, 0xB1, 2, 700);
    talk_flush(talk, 0, MSS);
    talk_message_read(talk, 0, 900);
    talk_flush(talk, 0, MSS);
    talk_message_tagged(talk, 1, RDMAP_READ_RESPONSE, 0xA1, 3, 300);
    talk_flush(talk, 1, MSS);
    talk_message_atomic(talk, 0, ATOMIC_FETCH_ADD, 77);
    talk_message_atomic(talk, 0, ATOMIC_COMPARE_SWAP, 78);
    talk_message_atomic(talk, 0, ATOMIC_SWAP, 79);
    talk_flush(talk, 0, MSS);
    talk_message_atomic_response(talk, 1, 77);
    talk_message_atomic_response(talk, 1, 78);
    talk_message_atomic_response(talk, 1, 79);
    talk_flush(talk, 1, MSS);
    talk_finish(talk);
}

static void terminate_untagged(struct talk *talk)
{
    size_t at;

    talk_set_up(talk, plain, plain);
    talk_message_send(talk, 0, 24);
    at = talk->octets[0] + FPDU_LENGTH_OCTETS;
    talk_message_read(talk, 0, 900);
    talk_flush(talk, 0, MSS);
    talk_message_terminate(talk, 1, TERM_RDMAP_BOUNDS, talk->stream[0] + at, true);
    talk_flush(talk, 1, MSS);
    talk_finish(talk);
}

static void terminate_tagged(struct talk *talk)
{
    size_t at;

    talk_set_up(talk, plain, plain);
    at = talk->octets[0] + FPDU_LENGTH_OCTETS;
    talk_message_tagged(talk, 0, RDMAP_WRITE, 0xDEAD, 1, 64);
    talk_flush(talk, 0, MSS);
    talk_message_terminate(talk, 1, TERM_DDP_INVALID_STAG, talk->stream[0] + at, false);
    talk_flush(talk, 1, MSS);
    talk_finish(talk);
}

static void mixed(struct talk *talk, unsigned side)
{
    talk_message_send(talk, side, 20);
    talk_message_send(talk, side, 701);
    talk_message_tagged(talk, side, RDMAP_WRITE, 0xB1, 1, 2900);
    talk_message_send(talk, side, 62);
    talk_message_send(talk, side, 1250);
}

static void markers(struct talk *talk, bool initiator_wants, bool responder_wants, bool crc)
{
    struct mpa_start request = {.revision = 1, .crc = crc, .markers = initiator_wants};
    struct mpa_start reply = {.revision = 1, .crc = crc, .markers = responder_wants};

    talk_set_up(talk, request, reply);
    mixed(talk, 0);
    talk_flush(talk, 0, MSS);
    mixed(talk, 1);
    talk_flush(talk, 1, 900);
    talk_finish(talk);
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

    talk_set_up(talk, wants, wants);
    mixed(talk, 0);
    talk->stream[0][talk->mark[0][0] + 512 + 3] ^= 0x08;
    talk->stream[0][talk->mark[0][0] + 1024 + 1] = 0x01; /* reserved */
    talk_flush(talk, 0, MSS);
    talk_finish(talk);
}

static void octet_by_octet(struct talk *talk)
{
    talk_open(talk);
    talk_handshake(talk);
    talk_start(talk, 0, with_crc);
    talk_start(talk, 1, with_crc);
    talk_flush(talk, 0, 7);
    talk_flush(talk, 1, 1);
    talk_message_send(talk, 0, 20);
    talk_message_send(talk, 0, 3);
    talk_flush(talk, 0, 5);
    talk_message_send(talk, 1, 17);
    talk_flush(talk, 1, 1);
    talk_finish(talk);
}

static void short_tails(struct talk *talk)
{
    talk_set_up(talk, with_crc, with_crc);
    for (unsigned i = 1; i < 8; i++) {
        talk_message_send(talk, 0, 20 + i);
        talk_message_send(talk, 0, 50);
        /* the segment ends i octets into the second FPDU */
        talk_frame(talk, 0, ACK, talk->sent[0], talk->mark[0][talk->marks[0] - 2] + i);
        talk_flush(talk, 0, MSS);
    }
    talk_finish(talk);
}

static void behind_the_reply(struct talk *talk)
{
    talk_open(talk);
    talk_handshake(talk);
    talk_start(talk, 0, with_crc);
    talk_flush(talk, 0, MSS);
    talk_start(talk, 1, with_crc);
    talk_message_send(talk, 1, 30);
    talk_message_send(talk, 1, 31);
    talk_flush(talk, 1, MSS);
    talk_message_send(talk, 0, 32);
    talk_flush(talk, 0, MSS);
    talk_finish(talk);
}

static void many_in_one(struct talk *talk)
{
    talk_set_up(talk, plain, plain);
    for (unsigned i = 0; i < 9; i++)
        talk_message_send(talk, 0, 16 + i);
    talk_flush(talk, 0, MSS);
    talk_message_send(talk, 1, 44);
    talk_flush(talk, 1, MSS);
    talk_finish(talk);
}

/* Four segments that FPDUs straddle, in the order 0 2 1 3. */
static void out_of_order(struct talk *talk)
{
    size_t from;

    talk_set_up(talk, with_crc, with_crc);
    from = talk->sent[0];
    for (unsigned i = 0; i < 6; i++)
        talk_message_send(talk, 0, 100 + 3 * i);
    talk_frame(talk, 0, ACK, from, from + 200);
    talk_frame(talk, 0, ACK, from + 400, from + 600);
    talk_frame(talk, 0, ACK, from + 200, from + 400);
    talk_flush(talk, 0, MSS);
    talk_finish(talk);
}

static void retransmitted(struct talk *talk)
{
    size_t from;

    talk_set_up(talk, with_crc, with_crc);
    from = talk->sent[0];
    talk_message_send(talk, 0, 100);
    talk_message_send(talk, 0, 110);
    talk_flush(talk, 0, MSS);
    talk_frame(talk, 0, ACK, from, talk->octets[0]);
    talk_message_send(talk, 0, 120);
    talk_frame(talk, 0, ACK, from + 50, talk->octets[0]);
    talk_finish(talk);
}

/* One segment of unaligned FPDUs is missing in the capture; the peer has it. */
static void lost(struct talk *talk, struct mpa_start word)
{
    size_t from;
    unsigned whole;

    talk_set_up(talk, word, word);
    from = talk->sent[0];
    for (unsigned i = 0; i < 40; i++)
        talk_message_send(talk, 0, 100 + 3 * i);
    talk_frame(talk, 0, ACK, from, from + 300);
    talk->sent[0] = from + 800;
    for (whole = 0; talk->mark[0][1 + whole] <= from + 300; whole++)
        ;
    talk->fpdus = whole + 1; /* the one that is cut by the hole has its headers */
    for (unsigned i = 0; i < 40; i++)
        talk->fpdus += talk->mark[0][i] >= from + 800;
    while (talk->sent[0] < talk->octets[0]) {
        size_t left = talk->octets[0] - talk->sent[0];

        talk_frame(talk, 0, ACK, talk->sent[0], talk->sent[0] + (left < 500 ? left : 500));
        talk_frame(talk, 1, ACK, talk->octets[1], talk->octets[1]);
    }
    talk_finish(talk);
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
    talk_set_up(talk, plain, plain);
    talk_message_send(talk, 0, 33);
    talk_flush(talk, 0, MSS);
    talk_finish(talk);
    talk->isn[0] += 70000;
    talk->isn[1] += 90000;
    talk_set_up(talk, (struct mpa_start){.revision = 1, .crc = true, .markers = true},
                (struct mpa_start){.revision = 1, .crc = true, .markers = true});
    talk_message_send(talk, 0, 34);
    talk_message_send(talk, 0, 1200);
    talk_flush(talk, 0, MSS);
    talk_finish(talk);
}

static void snapped(struct talk *talk)
{
    talk->snap = 128;
    talk_set_up(talk, with_crc, with_crc);
    talk_message_send(talk, 0, 700);
    talk_flush(talk, 0, MSS);
    talk_message_tagged(talk, 0, RDMAP_WRITE, 0xB1, 2, 900);
    talk_flush(talk, 0, 920);
    talk_message_read(talk, 1, 500);
    talk_flush(talk, 1, MSS);
    talk_message_tagged(talk, 0, RDMAP_READ_RESPONSE, 0xA1, 1, 500);
    talk_flush(talk, 0, MSS);
    talk_finish(talk);
}

/* The capture begins behind the start-up frames. */
static void mid_stream(struct talk *talk, struct mpa_start word)
{
    talk_open(talk);
    talk_start(talk, 0, word);
    talk_start(talk, 1, word);
    talk_message_send(talk, 0, 500);
    talk->sent[0] = talk->octets[0];
    talk->sent[1] = talk->octets[1];
    talk->fpdus = 0;
    for (unsigned i = 0; i < 4; i++) {
        talk_message_send(talk, 0, 900 + i);
        talk_flush(talk, 0, MSS);
    }
    for (unsigned i = 0; i < 2; i++) {
        talk_message_send(talk, 1, 300 + i);
        talk_flush(talk, 1, MSS);
    }
    talk_finish(talk);
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
    talk_open(talk);
    talk_start(talk, 0, with_crc);
    talk_start(talk, 1, with_crc);
    talk->sent[1] = talk->octets[1];
    talk_frame(talk, 0, SYN, 0, 0);
    talk_frame(talk, 0, ACK, 0, 0);
    talk_flush(talk, 0, MSS);
    for (unsigned i = 0; i < 40; i++) {
        talk_message_send(talk, 0, 50 + i);
        talk_flush(talk, 0, MSS);
    }
    talk_frame(talk, 0, FIN | ACK, talk->octets[0], talk->octets[0]);
}

static void sequence_wrap(struct talk *talk)
{
    talk->isn[0] = UINT32_MAX - 3000;
    talk->isn[1] = UINT32_MAX - 7000;
    markers_both(talk);
}

static void bad_crc(struct talk *talk)
{
    talk_set_up(talk, with_crc, with_crc);
    for (unsigned i = 0; i < 3; i++) {
        talk_message_send(talk, 0, 40 + i);
        if (i == 1)
            talk->stream[0][talk->octets[0] - 10] ^= 1;
        talk_flush(talk, 0, MSS);
    }
    talk_finish(talk);
}

static void short_sends(struct talk *talk)
{
    static const size_t sizes[] = {0, 1, 4, 8, 12, 15, 16};

    talk_set_up(talk, plain, plain);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        talk_message_send(talk, 0, sizes[i]);
        talk_flush(talk, 0, MSS);
    }
    talk_finish(talk);
}

static void long_sends(struct talk *talk)
{
    talk_set_up(talk, with_crc, with_crc);
    talk_message_long_send(talk, 0, 3, 600);
    talk_message_long_send(talk, 0, 2, 64);
    talk_flush(talk, 0, 1000);
    talk_finish(talk);
}

/* A message without its beginning. */
static void send_at_offset(struct talk *talk)
{
    struct ddp_segment ddp = {.last = true, .control = rdmap_control(RDMAP_SEND), .msn = 1, .mo = 4000};

    talk_set_up(talk, with_crc, with_crc);
    talk_segment(talk, 0, ddp, NULL, 0, 97);
    talk_flush(talk, 0, MSS);
    talk_finish(talk);
}

static void short_ulpdus(struct talk *talk)
{
    const uint8_t octets[4] = {0x41, 0x43};

    talk_set_up(talk, with_crc, with_crc);
    talk_ulpdu(talk, 0, octets, 0);
    talk_flush(talk, 0, MSS);
    talk_ulpdu(talk, 0, octets, 4);
    talk_flush(talk, 0, MSS);
    talk->fpdus = 0; /* neither has a header */
    talk_message_send(talk, 0, 20);
    talk_flush(talk, 0, MSS);
    talk_finish(talk);
}

static void rejected(struct talk *talk)
{
    const uint8_t words[] = "no";

    talk_set_up(talk, with_crc,
                (struct mpa_start){.revision = 1, .rejected = true, .private_octets = 2, .private_data = words});
    talk_finish(talk);
}

static void not_negotiated(struct talk *talk)
{
    struct mpa_start word = {
        .revision = 2, .enhanced = true, .ird = MPA_DEPTH_NOT_NEGOTIATED, .ord = MPA_DEPTH_NOT_NEGOTIATED};

    talk_set_up(talk, word, word);
    talk_message_send(talk, 0, 20);
    talk_flush(talk, 0, MSS);
    talk_finish(talk);
}

static void wrong_rtr(struct talk *talk)
{
    struct mpa_start word = {
        .revision = 2, .enhanced = true, .peer_to_peer = true, .rtr_read = true, .ird = 1, .ord = 1};

    talk_set_up(talk, word, word);
    talk_message_tagged(talk, 0, RDMAP_WRITE, 0, 1, 0);
    talk_flush(talk, 0, MSS);
    talk_finish(talk);
}

static void private_data(struct talk *talk)
{
    static const uint8_t rpc[] = {0xF6, 0xAB, 0x0E, 0x18, 1, 1, 3, 3};
    static const uint8_t nvme[32] = {0, 0, 1, 0, 128, 0, 127, 0}, depths[] = {0, 0, 0, 16, 0, 0, 0, 1};

    talk_set_up(talk, (struct mpa_start){.revision = 1, .private_octets = sizeof(rpc), .private_data = rpc},
                (struct mpa_start){.revision = 1, .private_octets = sizeof(rpc), .private_data = rpc});
    talk_finish(talk);
    talk->port++;
    talk_set_up(talk, (struct mpa_start){.revision = 1, .private_octets = sizeof(nvme), .private_data = nvme}, plain);
    talk_finish(talk);
    talk->port++;
    talk_set_up(talk, (struct mpa_start){.revision = 1, .private_octets = sizeof(depths), .private_data = depths},
                plain);
    talk_finish(talk);
}

static void malformed_start(struct talk *talk)
{
    talk_open(talk);
    talk_handshake(talk);
    talk_start(talk, 0, plain);
    octets_put16(talk->stream[0] + 18, 600);
    talk_message_send(talk, 0, 20);
    talk->fpdus = 0;
    talk_flush(talk, 0, MSS);
    talk_finish(talk);
}

static void over_ipv6(struct talk *talk)
{
    talk->ipv6 = true;
    markers_both(talk);
}

static const struct capture captures[] = {
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
    {"send-at-offset", send_at_offset},
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
    for (size_t i = 0; more_captures[i].name != NULL; i++)
        make(argv[1], &more_captures[i]);
    return fclose(manifest) == 0 ? 0 : 2;
}
