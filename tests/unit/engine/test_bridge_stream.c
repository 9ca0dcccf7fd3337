/* SPDX-License-Identifier: BSD-2-Clause */
/* Segments that cross a bridge: what is held, when it goes, and as what. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/octets.h"
#include "conformance/engine/bridge/bridge_emit.h"
#include "generator/packet/packet.h"
#include "tests/unit/suites.h"

Suite *bridge_stream_suite(void);

enum { SENT_MOST = 16, FRAME = 3000, MSS_ROOM = 1500, MILLISECONDS = 1000000 };

struct bench {
    struct bridge_streams streams;
    struct bridge_connection *connection;
    struct {
        unsigned side;
        size_t octets;
        uint8_t frame[FRAME];
        struct packet packet;
    } sent[SENT_MOST];
    size_t count;
    enum bridge_wait expired;
};

static void on_send(void *user, unsigned side, uint8_t *frame, size_t octets, bool changed)
{
    struct bench *bench = user;
    const char *reason = NULL;

    (void)changed;
    ck_assert_uint_lt(bench->count, SENT_MOST);
    ck_assert_uint_le(octets, FRAME);
    bench->sent[bench->count].side = side;
    bench->sent[bench->count].octets = octets;
    memcpy(bench->sent[bench->count].frame, frame, octets);
    ck_assert_int_eq(packet_parse(&bench->sent[bench->count].packet, bench->sent[bench->count].frame, octets, &reason),
                     0);
    ck_assert(bench->sent[bench->count].packet.ip_checksum_ok);
    ck_assert(bench->sent[bench->count].packet.tcp_checksum_ok);
    bench->count++;
}

static void on_expired(void *user, const struct bridge_expiry *expiry)
{
    ((struct bench *)user)->expired = expiry->wait;
}

/* One segment from `side`: A is 10.0.0.1, and its numbers begin at 1000; those of B at 5000. */
static void send_segment(struct bench *bench, unsigned side, uint8_t flags, uint32_t sequence, uint32_t acknowledgment,
                         const char *payload, const struct packet_range *sack)
{
    struct packet_tcp fields = {.source_port = side == 0 ? 4000 : 9999,
                                .destination_port = side == 0 ? 9999 : 4000,
                                .sequence = sequence,
                                .acknowledgment = acknowledgment,
                                .flags = flags,
                                .window = 1000,
                                .payload = (const uint8_t *)payload,
                                .payload_octets = strlen(payload)};
    uint8_t frame[FRAME], option[40];
    struct bridge_packet packet;
    size_t octets;

    ck_assert_int_eq(net_address_parse(&fields.source, side == 0 ? "10.0.0.1" : "10.0.0.2"), 0);
    ck_assert_int_eq(net_address_parse(&fields.destination, side == 0 ? "10.0.0.2" : "10.0.0.1"), 0);
    if (sack != NULL) {
        fields.options = option;
        fields.options_octets = packet_sack_option(option, sack, 1);
    }
    octets = packet_build_tcp(frame, sizeof(frame), &fields);
    ck_assert_uint_ne(octets, 0);
    ck_assert(bridge_packet_parse(frame, octets, &packet));
    bench->connection = bridge_streams_input(&bench->streams, side, frame, octets, &packet);
    ck_assert_ptr_nonnull(bench->connection);
    bridge_streams_flush(&bench->streams, bench->connection, side);
}

/* An FPDU of the sender at `side` is known to end before `end`. */
static void frame_to(struct bench *bench, unsigned side, uint32_t end)
{
    bench->connection->engaged = true;
    bench->connection->direction[side].framed = true;
    bench->connection->direction[side].framed_to = end;
}

static struct bench *begin(void)
{
    struct bench *bench = calloc(1, sizeof(*bench));

    ck_assert_ptr_nonnull(bench);
    bench->streams = (struct bridge_streams){.holds = true,
                                             .mtu = {MSS_ROOM, MSS_ROOM},
                                             .now_ns = 1000,
                                             .send = on_send,
                                             .expired = on_expired,
                                             .user = bench};
    ck_assert_int_eq(bridge_streams_begin(&bench->streams), 0);
    send_segment(bench, 0, TCP_FLAG_SYN, 999, 0, "", NULL);
    send_segment(bench, 1, TCP_FLAG_SYN | TCP_FLAG_ACK, 4999, 1000, "", NULL);
    send_segment(bench, 0, TCP_FLAG_ACK, 1000, 5000, "", NULL);
    send_segment(bench, 1, TCP_FLAG_ACK, 5000, 1000, "", NULL);
    ck_assert_uint_eq(bench->count, 4);
    bench->count = 0;
    return bench;
}

static void end(struct bench *bench)
{
    bridge_streams_free(&bench->streams);
    free(bench);
}

static void check_sent(const struct bench *bench, size_t index, unsigned side, uint32_t sequence, const char *payload)
{
    const struct packet *packet = &bench->sent[index].packet;

    ck_assert_uint_lt(index, bench->count);
    ck_assert_uint_eq(bench->sent[index].side, side);
    ck_assert_uint_eq(packet->sequence, sequence);
    ck_assert_uint_eq(packet->payload_octets, strlen(payload));
    ck_assert_mem_eq(packet->payload, payload, strlen(payload));
}

START_TEST(part_of_an_fpdu_waits_for_the_rest)
{
    struct bench *bench = begin();

    frame_to(bench, 0, 1000);
    send_segment(bench, 0, TCP_FLAG_ACK, 1000, 5000, "abc", NULL);
    send_segment(bench, 0, TCP_FLAG_ACK, 1000, 5000, "abc", NULL); /* again: it is held already */
    ck_assert_uint_eq(bench->count, 0);
    frame_to(bench, 0, 1006);
    send_segment(bench, 0, TCP_FLAG_ACK | TCP_FLAG_PSH, 1003, 5000, "def", NULL);
    ck_assert_uint_eq(bench->count, 2);
    check_sent(bench, 0, 1, 1000, "abc");
    check_sent(bench, 1, 1, 1003, "def");
    send_segment(bench, 0, TCP_FLAG_ACK, 1006, 5000, "ghi", NULL); /* and without the rest not for ever */
    ck_assert_uint_eq(bench->count, 2);
    ck_assert_uint_le(bridge_streams_time(&bench->streams, 2000), BRIDGE_FRAGMENT_MS * MILLISECONDS);
    (void)bridge_streams_time(&bench->streams, 2000 + BRIDGE_FRAGMENT_MS * UINT64_C(1000000));
    check_sent(bench, 2, 1, 1006, "ghi");
    ck_assert_uint_eq(bench->streams.unchanged_late, 1);
    end(bench);
}
END_TEST

START_TEST(retransmission_has_the_same_change_and_acknowledgments_fit)
{
    struct bench *bench = begin();
    struct packet_range sack = {1010, 1013};

    frame_to(bench, 0, 1006);
    ck_assert_int_eq(bridge_map_replace(&bench->connection->direction[0].map, 1003, 1006, (const uint8_t *)"LONGER", 6),
                     0);
    send_segment(bench, 0, TCP_FLAG_ACK, 1000, 5000, "abcdef", NULL);
    check_sent(bench, 0, 1, 1000, "abcLONGER");
    send_segment(bench, 0, TCP_FLAG_ACK, 1000, 5000, "abcdef", NULL);
    check_sent(bench, 1, 1, 1000, "abcLONGER");
    send_segment(bench, 0, TCP_FLAG_ACK, 1004, 5000, "ef", NULL); /* other boundaries */
    check_sent(bench, 2, 1, 1007, "ER");
    frame_to(bench, 0, 1012);
    send_segment(bench, 0, TCP_FLAG_ACK, 1006, 5000, "ghijkl", NULL);
    check_sent(bench, 3, 1, 1009, "ghijkl");
    send_segment(bench, 1, TCP_FLAG_ACK, 5000, 1007, "", &sack); /* a part, and something after it */
    ck_assert_uint_eq(bench->sent[4].packet.acknowledgment, 1004);
    ck_assert_uint_eq(bench->sent[4].packet.sacks, 1);
    ck_assert_uint_eq(bench->sent[4].packet.sack[0].from, 1007);
    ck_assert_uint_eq(bench->sent[4].packet.sack[0].to, 1010);
    send_segment(bench, 1, TCP_FLAG_ACK, 5000, 1015, "answer", NULL);
    check_sent(bench, 5, 0, 5000, "answer");
    ck_assert_uint_eq(bench->sent[5].packet.acknowledgment, 1012);
    send_segment(bench, 0, TCP_FLAG_ACK | TCP_FLAG_FIN, 1012, 5006, "", NULL);
    check_sent(bench, 6, 1, 1015, "");
    send_segment(bench, 0, TCP_FLAG_ACK, 1000, 5006, "abcdef", NULL); /* it has crossed the acknowledgment */
    check_sent(bench, 7, 1, 1000, "abcLONGER");
    end(bench);
}
END_TEST

START_TEST(window_shrinks_by_what_is_inserted)
{
    struct bench *bench = begin();

    ck_assert_int_eq(
        bridge_map_replace(&bench->connection->direction[0].map, 1003, 1003, (const uint8_t *)"0123456789", 10), 0);
    send_segment(bench, 1, TCP_FLAG_ACK, 5000, 1000, "", NULL);
    ck_assert_uint_eq(bench->sent[0].packet.acknowledgment, 1000);
    ck_assert_uint_eq(bench->sent[0].packet.window, 990);
    end(bench);
}
END_TEST

START_TEST(dropped_octets_are_acknowledged_to_their_sender)
{
    struct bench *bench = begin();

    frame_to(bench, 0, 1006);
    ck_assert_int_eq(bridge_map_replace(&bench->connection->direction[0].map, 1003, 1006, NULL, 0), 0);
    send_segment(bench, 0, TCP_FLAG_ACK, 1000, 5000, "abc", NULL);
    send_segment(bench, 1, TCP_FLAG_ACK, 5000, 1003, "", NULL); /* what follows is nothing: so all is acknowledged */
    ck_assert_uint_eq(bench->sent[1].packet.acknowledgment, 1006);
    send_segment(bench, 0, TCP_FLAG_ACK, 1003, 5000, "def", NULL);
    ck_assert_uint_eq(bench->count, 3);
    ck_assert_uint_eq(bench->sent[2].side, 0); /* nothing for B, which has nothing to answer */
    ck_assert_uint_eq(bench->sent[2].packet.acknowledgment, 1006);
    ck_assert_uint_eq(bench->sent[2].packet.sequence, 5000);
    frame_to(bench, 0, 1009);
    send_segment(bench, 0, TCP_FLAG_ACK, 1006, 5000, "ghi", NULL);
    check_sent(bench, 3, 1, 1003, "ghi");
    end(bench);
}
END_TEST

START_TEST(delay_holds_the_octets_from_there_on)
{
    struct bench *bench = begin();

    frame_to(bench, 0, 1006);
    bridge_stream_wait(&bench->connection->direction[0], BRIDGE_DELAYED, 1003, 1003, 5000000);
    send_segment(bench, 0, TCP_FLAG_ACK, 1000, 5000, "abcdef", NULL);
    ck_assert_uint_eq(bench->count, 1);
    check_sent(bench, 0, 1, 1000, "abc");
    send_segment(bench, 0, TCP_FLAG_ACK, 1006, 5000, "", NULL); /* acknowledgments go on */
    ck_assert_uint_eq(bench->count, 2);
    send_segment(bench, 0, TCP_FLAG_ACK | TCP_FLAG_FIN, 1006, 5000, "", NULL); /* and a FIN does not */
    ck_assert_uint_eq(bench->count, 2);
    (void)bridge_streams_time(&bench->streams, 4999999);
    ck_assert_uint_eq(bench->count, 2);
    ck_assert_uint_eq(bridge_streams_time(&bench->streams, 5000000), UINT64_MAX);
    check_sent(bench, 2, 1, 1003, "def");
    ck_assert_uint_eq(bench->sent[3].packet.flags & TCP_FLAG_FIN, TCP_FLAG_FIN);
    ck_assert_int_eq(bench->expired, BRIDGE_GOES); /* as it was meant */
    end(bench);
}
END_TEST

START_TEST(stall_that_nobody_ends_is_reported)
{
    struct bench *bench = begin();

    frame_to(bench, 0, 1003);
    bridge_stream_wait(&bench->connection->direction[0], BRIDGE_STALLED, 1000, 1000, 9000);
    send_segment(bench, 0, TCP_FLAG_ACK, 1000, 5000, "abc", NULL);
    ck_assert_uint_eq(bench->count, 0);
    (void)bridge_streams_time(&bench->streams, 9000);
    check_sent(bench, 0, 1, 1000, "abc");
    ck_assert_int_eq(bench->expired, BRIDGE_STALLED);
    end(bench);
}
END_TEST

START_TEST(cuts_and_lost_segments)
{
    struct bench *bench = begin();
    struct bridge_direction *direction = &bench->connection->direction[0];

    frame_to(bench, 0, 1006);
    direction->cuts[direction->cut_count++] = 1001;
    direction->cuts[direction->cut_count++] = 1004;
    direction->loses = true;
    direction->lose = 1002;
    send_segment(bench, 0, TCP_FLAG_ACK | TCP_FLAG_PSH, 1000, 5000, "abcdef", NULL);
    ck_assert_uint_eq(bench->count, 0);
    send_segment(bench, 0, TCP_FLAG_ACK | TCP_FLAG_PSH, 1000, 5000, "abcdef", NULL);
    ck_assert_uint_eq(bench->count, 3);
    check_sent(bench, 0, 1, 1000, "a");
    check_sent(bench, 1, 1, 1001, "bcd");
    check_sent(bench, 2, 1, 1004, "ef");
    ck_assert_uint_eq(bench->sent[1].packet.flags & TCP_FLAG_PSH, 0);
    ck_assert_uint_eq(bench->sent[2].packet.flags & TCP_FLAG_PSH, TCP_FLAG_PSH);
    end(bench);
}
END_TEST

START_TEST(segment_longer_than_the_mtu_is_cut)
{
    struct bench *bench = begin();
    char payload[2001];

    memset(payload, 'x', sizeof(payload) - 1);
    payload[sizeof(payload) - 1] = '\0';
    send_segment(bench, 0, TCP_FLAG_ACK, 1000, 5000, payload, NULL);
    ck_assert_uint_eq(bench->count, 2);
    ck_assert_uint_eq(bench->sent[0].packet.payload_octets, 1460);
    ck_assert_uint_eq(bench->sent[1].packet.payload_octets, 540);
    ck_assert_uint_eq(bench->sent[1].packet.sequence, 2460);
    end(bench);
}
END_TEST

START_TEST(closed_connection_is_reset_or_finished_for_both)
{
    struct bench *bench = begin();

    bridge_stream_close(&bench->streams, bench->connection, true);
    ck_assert_uint_eq(bench->count, 2);
    ck_assert_uint_eq(bench->sent[0].packet.flags, TCP_FLAG_RST | TCP_FLAG_ACK);
    ck_assert_uint_eq(bench->sent[0].packet.sequence, 5000);
    ck_assert_uint_eq(bench->sent[1].packet.sequence, 1000);
    send_segment(bench, 0, TCP_FLAG_ACK, 1000, 5000, "abc", NULL);
    ck_assert_uint_eq(bench->count, 2);
    end(bench);

    bench = begin();
    bridge_stream_close(&bench->streams, bench->connection, false);
    ck_assert_uint_eq(bench->sent[0].packet.flags, TCP_FLAG_FIN | TCP_FLAG_ACK);
    send_segment(bench, 0, TCP_FLAG_ACK | TCP_FLAG_FIN, 1000, 5001, "abc", NULL);
    ck_assert_uint_eq(bench->count, 3);
    ck_assert_uint_eq(bench->sent[2].side, 0);
    ck_assert_uint_eq(bench->sent[2].packet.acknowledgment, 1004);
    ck_assert_uint_eq(bench->sent[2].packet.sequence, 5001);
    end(bench);
}
END_TEST

START_TEST(checksum_left_to_a_card_is_completed)
{
    struct bench *bench = begin();
    uint8_t *frame;
    struct bridge_packet packet;
    uint32_t sum = 0;

    send_segment(bench, 0, TCP_FLAG_ACK, 1000, 5000, "abc", NULL);
    frame = bench->sent[0].frame;
    ck_assert(!bridge_packet_complete(frame, bench->sent[0].octets)); /* it has one */
    ck_assert(bridge_packet_parse(frame, bench->sent[0].octets, &packet));
    for (size_t i = 0; i < 8; i += 2)
        sum += octets_get16(frame + packet.ip + 12 + i);
    sum += 6 + (uint32_t)(packet.end - packet.transport);
    sum = (sum & 0xFFFF) + (sum >> 16);
    octets_put16(frame + packet.transport + 16, (uint16_t)sum);
    ck_assert(bridge_packet_complete(frame, bench->sent[0].octets));
    ck_assert_int_eq(packet_parse(&bench->sent[0].packet, frame, bench->sent[0].octets, NULL), 0);
    ck_assert(bench->sent[0].packet.tcp_checksum_ok);
    end(bench);
}
END_TEST

START_TEST(packet_that_is_cut_anywhere_is_not_read)
{
    struct bench *bench = begin();
    struct bridge_packet packet;

    send_segment(bench, 0, TCP_FLAG_ACK, 1000, 5000, "abc", NULL);
    for (size_t octets = 0; octets < bench->sent[0].octets; octets++) {
        uint8_t *cut = malloc(octets + 1);

        memcpy(cut, bench->sent[0].frame, octets);
        ck_assert(!bridge_packet_parse(cut, octets, &packet));
        ck_assert(!bridge_packet_complete(cut, octets));
        free(cut);
    }
    end(bench);
}
END_TEST

/* Of 65,536 connections that may be known those that wait are few: time costs what they cost. */
START_TEST(time_passes_by_connections_that_wait_for_nothing)
{
    struct bench *bench = begin();

    ck_assert_uint_eq(bridge_streams_time(&bench->streams, 2000), UINT64_MAX);
    ck_assert_uint_eq(bench->streams.looked_at, 1);
    ck_assert_uint_eq(bridge_streams_time(&bench->streams, 3000), UINT64_MAX);
    ck_assert_uint_eq(bench->streams.looked_at, 1);
    frame_to(bench, 0, 1000);
    send_segment(bench, 0, TCP_FLAG_ACK, 1000, 5000, "abc", NULL);
    for (unsigned i = 2; i < 5; i++) {
        ck_assert_uint_lt(bridge_streams_time(&bench->streams, 3000 + i), UINT64_MAX);
        ck_assert_uint_eq(bench->streams.looked_at, i);
    }
    end(bench);
}
END_TEST

/* The same of a release: what is stalled is among those that wait. */
START_TEST(release_passes_by_connections_that_wait_for_nothing)
{
    struct bench *bench = begin();
    struct bridge_direction *direction = &bench->connection->direction[0];

    ck_assert_uint_eq(bridge_streams_time(&bench->streams, 2000), UINT64_MAX);
    bridge_streams_release(&bench->streams);
    ck_assert_uint_eq(bench->streams.looked_at, 1);
    frame_to(bench, 0, 1000);
    send_segment(bench, 0, TCP_FLAG_ACK, 1000, 5000, "abc", NULL);
    bridge_stream_wait(direction, BRIDGE_STALLED, 1000, 1003, 1000000);
    bridge_streams_release(&bench->streams);
    ck_assert_uint_eq(bench->streams.looked_at, 2);
    ck_assert_int_eq(direction->wait, BRIDGE_GOES);
    end(bench);
}
END_TEST

START_TEST(sender_that_floods_is_held_up_to_a_limit)
{
    struct bench *bench = begin();
    struct bridge_direction *direction;
    uint32_t at = 1000;

    frame_to(bench, 0, 1000);
    direction = &bench->connection->direction[0];
    bridge_stream_wait(direction, BRIDGE_STALLED, 1000, 1000, UINT64_MAX);
    direction->held_frames = BRIDGE_HELD_FRAMES_MOST - 5; /* as after so many */
    for (; bench->streams.refused < 3; at++)
        send_segment(bench, 0, TCP_FLAG_ACK, at, 5000, "x", NULL);
    ck_assert_uint_eq(direction->held_frames, BRIDGE_HELD_FRAMES_MOST);
    direction->held_frames = 1;
    direction->held_octets = BRIDGE_HELD_MOST - 50; /* as of long ones */
    send_segment(bench, 0, TCP_FLAG_ACK, at, 5000, "x", NULL);
    ck_assert_uint_eq(bench->streams.refused, 4);
    ck_assert_uint_eq(bench->count, 0);
    send_segment(bench, 1, TCP_FLAG_ACK, 5000, 1000, "goes", NULL); /* the other direction does not wait */
    check_sent(bench, 0, 0, 5000, "goes");
    end(bench);
}
END_TEST

/* Beside the command's own traffic there may be that of others, and what was left of an earlier run. */
START_TEST(own_connections_alone_are_for_scripts)
{
    struct bridge_listener listener = {.port = 0};
    struct bridge_streams streams = {.listener = &listener};
    struct bridge_key to_b = {.family = 4, .port = {40000, 7000}}, to_a = {.family = 4, .port = {7000, 40000}};

    ck_assert(!bridge_streams_has(&streams, &to_b, false)); /* before it is known where B listens */
    listener = (struct bridge_listener){.port = 7000, .sctp = true};
    ck_assert(bridge_streams_has(&streams, &to_b, true));
    ck_assert(!bridge_streams_has(&streams, &to_b, false));
    ck_assert(!bridge_streams_has(&streams, &to_a, true));
    streams.listener = NULL;
    ck_assert(bridge_streams_has(&streams, &to_a, false));
}
END_TEST

Suite *bridge_stream_suite(void)
{
    Suite *suite = suite_create("bridge_stream");
    TCase *cases = tcase_create("bridge_stream");

    tcase_add_test(cases, own_connections_alone_are_for_scripts);
    tcase_add_test(cases, part_of_an_fpdu_waits_for_the_rest);
    tcase_add_test(cases, retransmission_has_the_same_change_and_acknowledgments_fit);
    tcase_add_test(cases, window_shrinks_by_what_is_inserted);
    tcase_add_test(cases, dropped_octets_are_acknowledged_to_their_sender);
    tcase_add_test(cases, delay_holds_the_octets_from_there_on);
    tcase_add_test(cases, stall_that_nobody_ends_is_reported);
    tcase_add_test(cases, cuts_and_lost_segments);
    tcase_add_test(cases, segment_longer_than_the_mtu_is_cut);
    tcase_add_test(cases, closed_connection_is_reset_or_finished_for_both);
    tcase_add_test(cases, checksum_left_to_a_card_is_completed);
    tcase_add_test(cases, packet_that_is_cut_anywhere_is_not_read);
    tcase_add_test(cases, time_passes_by_connections_that_wait_for_nothing);
    tcase_add_test(cases, release_passes_by_connections_that_wait_for_nothing);
    tcase_add_test(cases, sender_that_floods_is_held_up_to_a_limit);
    suite_add_tcase(suite, cases);
    return suite;
}
