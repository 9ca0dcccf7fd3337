/* SPDX-License-Identifier: BSD-2-Clause */
/* IP fragments: the same conversation with its packets in pieces, and pieces that contradict one another. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/flow/decoder.h"
#include "generator/packet/packet.h"
#include "tests/unit/flow_talk.h"
#include "tests/unit/suites.h"

Suite *flow_fragment_suite(void);

enum { LINK = 14, IPV4 = 20, IPV6 = 40, FRAGMENT_HEADER = 8, SENDS = 12 };

static uint32_t identification;

/* Gives octets [from, to) of the IP payload in talk's frame as one fragment. */
static void give_piece(struct talk *talk, const uint8_t *frame, size_t payload, size_t from, size_t to)
{
    size_t ip = talk->ipv6 ? IPV6 : IPV4, header = LINK + ip + (talk->ipv6 ? FRAGMENT_HEADER : 0);
    uint8_t *out = talk->frame_octets;
    bool more = to < payload;

    memcpy(out, frame, LINK + ip);
    if (talk->ipv6) {
        out[LINK + 6] = 44;
        octets_put16(out + LINK + 4, (uint16_t)(to - from + FRAGMENT_HEADER));
        memset(out + LINK + IPV6, 0, FRAGMENT_HEADER);
        out[LINK + IPV6] = frame[LINK + 6];
        octets_put16(out + LINK + IPV6 + 2, (uint16_t)(from | more));
        octets_put32(out + LINK + IPV6 + 4, identification);
    } else {
        octets_put16(out + LINK + 2, (uint16_t)(IPV4 + to - from));
        octets_put16(out + LINK + 4, (uint16_t)identification);
        octets_put16(out + LINK + 6, (uint16_t)((more ? 0x2000 : 0) | from / 8));
    }
    memcpy(out + header, frame + LINK + ip + from, to - from);
    talk->frame_length = header + to - from;
    talk_give(talk);
}

/* A segment's frame, copied, and its IP payload's length; the caller frees it. */
static uint8_t *segment_frame(struct talk *talk, unsigned side, size_t from, size_t to, size_t *payload)
{
    uint8_t *frame;

    identification++;
    talk_build(talk, side, talk->isn[side] + 1 + (uint32_t)from, 0, TCP_FLAG_ACK, talk->stream[side] + from, to - from);
    *payload = talk->frame_length - LINK - (talk->ipv6 ? IPV6 : IPV4);
    frame = malloc(talk->frame_length);
    memcpy(frame, talk->frame_octets, talk->frame_length);
    return frame;
}

enum order { IN_ORDER, BACKWARDS, TWICE, TWICE_LATER, MIXED };

/* A step with which every piece is given once. */
static size_t step_of(size_t count)
{
    size_t step = 7;

    while (count % step == 0)
        step += 4;
    return step == 7 || step == 11 ? step : 1;
}

static void give_pieces(struct talk *talk, const uint8_t *frame, size_t payload, size_t size, enum order order)
{
    size_t count = (payload + size - 1) / size;

    for (size_t i = 0; i < count; i++) {
        size_t k = order == BACKWARDS ? count - 1 - i : order == MIXED ? (i * step_of(count) + 3) % count : i;
        size_t end = (k + 1) * size < payload ? (k + 1) * size : payload;

        give_piece(talk, frame, payload, k * size, end);
        if (order == TWICE)
            give_piece(talk, frame, payload, k * size, end);
    }
    for (size_t i = 0; order == TWICE_LATER && i < count; i++)
        give_piece(talk, frame, payload, i * size, (i + 1) * size < payload ? (i + 1) * size : payload);
}

static void give_segment(struct talk *talk, unsigned side, size_t from, size_t to, size_t size, enum order order)
{
    size_t payload;
    uint8_t *frame = segment_frame(talk, side, from, to, &payload);

    give_pieces(talk, frame, payload, size, order);
    free(frame);
}

static struct talk *begin(bool ipv6)
{
    struct talk *talk = talk_new(NULL);

    talk->ipv6 = ipv6;
    talk_start_simple(talk, false, false, true);
    talk_mix(talk, 0, SENDS);
    talk_syn(talk);
    talk_segment(talk, 0, 0, talk->start[0]);
    talk_segment(talk, 1, 0, talk->start[1]);
    return talk;
}

/* Fragments of any size in any order are judged as the packet would have been. Loop: order, IPv6. */
START_TEST(fragments_are_judged_as_the_whole_packet)
{
    static const size_t sizes[] = {8, 16, 24, 1000, 1480};
    enum order order = (enum order)(_i / 2);

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct talk *talk = begin(_i % 2 != 0);
        size_t step = 4000;

        for (size_t at = talk->start[0]; at < talk->octets[0]; at += step)
            give_segment(talk, 0, at, at + step < talk->octets[0] ? at + step : talk->octets[0], sizes[i], order);
        talk_finish(talk);
        ck_assert_uint_eq(talk->good[0], SENDS);
        ck_assert(talk_whole(talk));
        ck_assert_uint_eq(talk_octets(talk, FLOW_ROW_IWARP), talk->octets[0] + talk->start[1]);
        ck_assert_uint_eq(talk_octets(talk, FLOW_ROW_AGAIN) != 0, order == TWICE || order == TWICE_LATER);
        talk_free(talk);
    }
}
END_TEST

/* One fragment is missing: the frames of the others are not judged, and the octets are missing in the stream. */
START_TEST(lost_fragment_leaves_its_packet_missing)
{
    struct talk *talk = begin(_i != 0);
    size_t payload, frames = 0;
    uint8_t *frame = segment_frame(talk, 0, talk->start[0], talk->start[0] + 2000, &payload);

    for (size_t at = 0; at < payload; at += 800, frames++)
        if (at != 800)
            give_piece(talk, frame, payload, at, at + 800 < payload ? at + 800 : payload);
    free(frame);
    talk_segment(talk, 0, talk->start[0] + 2000, talk->octets[0]);
    talk_finish(talk);
    ck_assert_uint_eq(flow_decoder_totals(talk->decoder)->account.row[FLOW_ROW_FRAGMENT_LOST].frames, frames - 1);
    ck_assert_uint_eq(talk_octets(talk, FLOW_ROW_GAP), 2000);
    ck_assert(!talk_whole(talk));
    talk_free(talk);
}
END_TEST

/* What comes later than a minute belongs to another packet. */
START_TEST(fragment_after_a_minute_is_of_another_packet)
{
    struct talk *talk = begin(_i != 0);
    size_t payload;
    uint8_t *frame = segment_frame(talk, 0, talk->start[0], talk->start[0] + 2000, &payload);

    give_piece(talk, frame, payload, 0, 800);
    talk->time_ns += UINT64_C(61) * 1000 * 1000 * 1000;
    identification++;
    give_piece(talk, frame, payload, 0, 800); /* another packet: the first one is given up */
    identification--;
    give_piece(talk, frame, payload, 800, payload);
    talk_finish(talk);
    ck_assert_uint_eq(flow_decoder_totals(talk->decoder)->account.row[FLOW_ROW_FRAGMENT_LOST].frames, 3);
    ck_assert_uint_eq(talk->good[0], 0);
    free(frame);
    talk_free(talk);
}
END_TEST

/* Overlaps with another content: nobody knows what a receiver makes of it. In IPv6 no overlap is allowed at all. */
START_TEST(overlap_with_other_content_is_unjudged)
{
    bool ipv6 = _i % 2 != 0, differ = _i / 2 != 0;
    struct talk *talk = begin(ipv6);
    const struct flow_count *row = &flow_decoder_totals(talk->decoder)->account.row[FLOW_ROW_FRAGMENT_OVERLAP];
    size_t payload, end = talk->boundary[0][5];
    uint8_t *frame = segment_frame(talk, 0, talk->start[0], end, &payload);

    give_piece(talk, frame, payload, 0, 80);
    if (differ)
        frame[LINK + (ipv6 ? IPV6 : IPV4) + 70] ^= 0xFF;
    give_piece(talk, frame, payload, 64, 128);
    give_piece(talk, frame, payload, 128, payload);
    talk_segment(talk, 0, end, talk->octets[0]);
    talk_finish(talk);
    ck_assert_uint_eq(row->frames, differ || ipv6 ? 3 : 0);
    ck_assert(talk_whole(talk) == (!differ && !ipv6));
    ck_assert_uint_eq(talk->good[0], differ || ipv6 ? SENDS - 5 : SENDS);
    free(frame);
    talk_free(talk);
}
END_TEST

/* Lengths that cannot be: beyond 65,535 octets, no multiple of 8, after the end, two ends. Loop: IPv6. */
START_TEST(impossible_fragment_lengths_are_refused)
{
    enum { PAYLOAD = 2020 };

    for (unsigned i = 0; i < 4; i++) {
        struct talk *talk = begin(_i != 0);
        const struct flow_account *account = &flow_decoder_totals(talk->decoder)->account;
        size_t payload, offset_at = LINK + (talk->ipv6 ? IPV6 + 2 : 6);
        uint8_t *frame = segment_frame(talk, 0, talk->start[0], talk->start[0] + 4000, &payload);

        if (i == 0) {
            give_piece(talk, frame, payload, 0, 801);
        } else if (i == 1) { /* the ping of death */
            give_piece(talk, frame, PAYLOAD, 800, PAYLOAD);
            octets_put16(talk->frame_octets + offset_at, talk->ipv6 ? 0xFFF8 : 0x1FFF);
            talk_give(talk);
        } else if (i == 2) {
            give_piece(talk, frame, PAYLOAD, 1600, PAYLOAD);
            give_piece(talk, frame, payload, 2024, 2040);
        } else {
            give_piece(talk, frame, PAYLOAD, 1600, PAYLOAD);
            give_piece(talk, frame, 1608, 1600, 1608);
        }
        talk_finish(talk);
        ck_assert_uint_eq(account->row[FLOW_ROW_FRAGMENT_LENGTH].frames, i < 2);
        ck_assert_uint_eq(account->row[FLOW_ROW_FRAGMENT_OVERLAP].frames, i == 2 ? 2 : 0);
        ck_assert(!talk_whole(talk));
        free(frame);
        talk_free(talk);
    }
}
END_TEST

/* Fragments that the capture cut: the packet is there as far as the first of them. */
START_TEST(cut_fragments_give_the_packet_to_the_cut)
{
    struct talk *talk = begin(_i != 0);

    talk->snap = 600;
    give_segment(talk, 0, talk->start[0], talk->octets[0], 800, IN_ORDER);
    talk_finish(talk);
    ck_assert_uint_gt(talk->good[0], 0);
    ck_assert_uint_gt(talk_octets(talk, FLOW_ROW_FRAGMENT_CUT), 0);
    ck_assert_uint_gt(talk_octets(talk, FLOW_ROW_SNAPPED), 0);
    talk_free(talk);
}
END_TEST

/* More packets in fragments than are held: the oldest go. */
START_TEST(oldest_fragmented_packets_are_dropped)
{
    enum { PACKETS = 3000 };
    struct talk *talk = begin(_i != 0);
    const struct flow_account *account = &flow_decoder_totals(talk->decoder)->account;
    size_t payload;
    uint8_t *frame = segment_frame(talk, 0, talk->start[0], talk->octets[0], &payload);

    for (unsigned i = 0; i < PACKETS; i++) {
        identification++;
        give_piece(talk, frame, payload, 800, 808);
    }
    ck_assert_uint_gt(account->row[FLOW_ROW_FRAGMENT_ROOM].frames, 0);
    talk_finish(talk);
    ck_assert_uint_eq(account->row[FLOW_ROW_FRAGMENT_ROOM].frames + account->row[FLOW_ROW_FRAGMENT_LOST].frames,
                      PACKETS);
    free(frame);
    talk_free(talk);
}
END_TEST

/* What made room for others is counted no more: after many packets one that waits is still kept beside the next. */
START_TEST(packets_that_are_gone_take_no_room)
{
    enum { PACKETS = 700, FIRST = 12000 };
    struct talk *talk = begin(_i != 0);
    size_t begins = talk->start[0], payload, whole;
    uint8_t *frame, *others;
    uint32_t waiting;

    talk_mix(talk, 0, SENDS);
    others = segment_frame(talk, 0, begins, begins + FIRST, &whole);
    ck_assert_uint_gt(PACKETS * whole, FLOW_FRAGMENTS_MAX);
    for (unsigned i = 0; i < PACKETS; i++, identification++)
        give_pieces(talk, others, whole, 8000, IN_ORDER);
    frame = segment_frame(talk, 0, begins + FIRST, talk->octets[0], &payload);
    waiting = identification;
    give_piece(talk, frame, payload, 0, 800);
    identification++;
    give_pieces(talk, others, whole, 8000, IN_ORDER);
    identification = waiting;
    give_piece(talk, frame, payload, 800, payload);
    talk_finish(talk);
    ck_assert_uint_eq(talk->good[0], 2 * SENDS);
    free(frame);
    free(others);
    talk_free(talk);
}
END_TEST

/* The identification is used again, before and after the first packet's end. */
START_TEST(identification_may_be_used_again)
{
    struct talk *talk = begin(_i != 0);
    size_t middle = talk->boundary[0][4], payload;
    uint8_t *frame;

    give_segment(talk, 0, talk->start[0], middle, 80, IN_ORDER);
    identification--;
    frame = segment_frame(talk, 0, middle, talk->octets[0], &payload);
    give_pieces(talk, frame, payload, 1480, IN_ORDER);
    talk_finish(talk);
    ck_assert_uint_eq(talk->good[0], SENDS);
    ck_assert(talk_whole(talk));
    free(frame);
    talk_free(talk);
}
END_TEST

/* Fragments of other protocols are foreign; of UDP the first fragment says so. */
START_TEST(fragments_of_other_protocols_are_foreign)
{
    static const struct {
        uint8_t protocol;
        enum flow_row row;
        bool first;
    } kinds[] = {{1, FLOW_ROW_ICMP, true}, {17, FLOW_ROW_UDP, true}, {17, FLOW_ROW_FRAGMENT_LOST, false}};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct talk *talk = begin(_i != 0);
        size_t payload;
        uint8_t *frame = segment_frame(talk, 0, talk->start[0], talk->octets[0], &payload);

        frame[LINK + (talk->ipv6 ? 6 : 9)] = kinds[i].protocol;
        if (kinds[i].first)
            give_piece(talk, frame, payload, 0, 800);
        give_piece(talk, frame, payload, 800, 1600);
        talk_finish(talk);
        ck_assert_uint_eq(flow_decoder_totals(talk->decoder)->account.row[kinds[i].row].frames, kinds[i].first ? 2 : 1);
        ck_assert(talk_whole(talk) == kinds[i].first);
        free(frame);
        talk_free(talk);
    }
}
END_TEST

/* A Fragment header within a reassembled packet. */
START_TEST(fragment_header_in_a_reassembled_packet_is_refused)
{
    struct talk *talk = begin(true);
    size_t payload;
    uint8_t *frame = segment_frame(talk, 0, talk->start[0], talk->octets[0], &payload);

    frame[LINK + 6] = 44;
    memset(frame + LINK + IPV6, 0, 8);
    frame[LINK + IPV6] = 6;
    frame[LINK + IPV6 + 3] = 1;
    give_pieces(talk, frame, payload, 1480, IN_ORDER);
    talk_finish(talk);
    ck_assert_uint_ne(flow_decoder_totals(talk->decoder)->account.row[FLOW_ROW_IP_HEADER].frames, 0);
    free(frame);
    talk_free(talk);
}
END_TEST

Suite *flow_fragment_suite(void)
{
    Suite *suite = suite_create("flow_fragment");
    TCase *tests = tcase_create("fragments");

    tcase_add_loop_test(tests, fragments_are_judged_as_the_whole_packet, 0, 10);
    tcase_add_loop_test(tests, lost_fragment_leaves_its_packet_missing, 0, 2);
    tcase_add_loop_test(tests, fragment_after_a_minute_is_of_another_packet, 0, 2);
    tcase_add_loop_test(tests, overlap_with_other_content_is_unjudged, 0, 4);
    tcase_add_loop_test(tests, impossible_fragment_lengths_are_refused, 0, 2);
    tcase_add_loop_test(tests, cut_fragments_give_the_packet_to_the_cut, 0, 2);
    tcase_add_loop_test(tests, oldest_fragmented_packets_are_dropped, 0, 2);
    tcase_add_loop_test(tests, packets_that_are_gone_take_no_room, 0, 2);
    tcase_add_loop_test(tests, identification_may_be_used_again, 0, 2);
    tcase_add_loop_test(tests, fragments_of_other_protocols_are_foreign, 0, 2);
    tcase_add_test(tests, fragment_header_in_a_reassembled_packet_is_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
