/* SPDX-License-Identifier: BSD-2-Clause */
/* One conversation carried in every way a network may: always the same FPDUs have to come out. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/flow/decoder.h"
#include "generator/packet/packet.h"
#include "tests/unit/flow_talk.h"
#include "tests/unit/guard.h"
#include "tests/unit/suites.h"
#include "wire/marker.h"

Suite *flow_stream_suite(void);

static struct talk *conversation(unsigned markers, bool crc, unsigned count)
{
    struct talk *talk = talk_new(NULL);

    talk_start_simple(talk, (markers & 1) != 0, (markers & 2) != 0, crc);
    talk_mix(talk, 0, count);
    talk_mix(talk, 1, count);
    return talk;
}

/* What the conversation looks like when each FPDU has a segment of its own. */
static struct talk *reference(unsigned markers, bool crc, unsigned count)
{
    struct talk *talk = conversation(markers, crc, count);

    talk_syn(talk);
    for (unsigned side = 0; side < 2; side++)
        talk_segment(talk, side, 0, talk->start[side]);
    for (unsigned side = 0; side < 2; side++)
        for (size_t i = 0; i < talk->fpdus[side]; i++)
            talk_segment(talk, side, talk->boundary[side][i], talk->boundary[side][i + 1]);
    talk_finish(talk);
    EXPECT(talk->good[0] == count && talk->good[1] == count && talk->wrong == 0, "reference: %s | %s", talk->log[0],
           talk->log[1]);
    EXPECT(talk->gaps == 0 && talk->undecoded == 0 && talk->ends == 1, "reference: %s | %s", talk->log[0],
           talk->log[1]);
    return talk;
}

static void expect_same(const struct talk *talk, const struct talk *expected, const char *what, size_t number)
{
    for (unsigned side = 0; side < 2; side++)
        EXPECT(strcmp(talk->log[side], expected->log[side]) == 0, "%s %zu: side %u:\n%s\nexpected\n%s", what, number,
               side, talk->log[side], expected->log[side]);
    EXPECT(talk->wrong == 0, "%s %zu: %u payloads wrong", what, number, talk->wrong);
}

/* Loop: bit 0 Initiator wants Markers, bit 1 Responder does, bit 2 CRC, bit 3 IPv6, bit 4 near the wrap of 2^32. */
START_TEST(segmentation_does_not_change_the_events)
{
    static const size_t sizes[] = {1, 2, 3, 5, 7, 19, 20, 21, 511, 512, 513, 1460, 3000, 65000};
    unsigned markers = (unsigned)_i & 3;
    bool crc = (_i & 4) != 0;
    struct talk *expected = reference(markers, crc, 13);

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct talk *talk = conversation(markers, crc, 13);

        talk->ipv6 = (_i & 8) != 0;
        if ((_i & 16) != 0) {
            talk->isn[0] = UINT32_MAX - 5000;
            talk->isn[1] = UINT32_MAX - 10;
        }
        talk_syn(talk);
        talk_all(talk, sizes[i]);
        talk_finish(talk);
        expect_same(talk, expected, "segments of", sizes[i]);
        ck_assert_uint_eq(flow_decoder_totals(talk->decoder)->crc_checked, crc ? 26 : 0);
        talk_free(talk);
    }
    talk_free(expected);
}
END_TEST

START_TEST(fpdu_behind_the_reply)
{
    struct talk *expected = reference(3, true, 5);
    struct talk *talk = conversation(3, true, 5);

    talk_syn(talk);
    talk_segment(talk, 0, 0, talk->start[0]);
    talk_segment(talk, 1, 0, talk->octets[1]);
    talk_segment(talk, 0, talk->start[0], talk->octets[0]);
    talk_finish(talk);
    expect_same(talk, expected, "coalesced with the Reply", 0);
    talk_free(talk);
    talk_free(expected);
}
END_TEST

/* FPDUs of the Initiator that were captured before the Reply, and a Reply captured before its Request. */
START_TEST(directions_out_of_order)
{
    struct talk *expected = reference(2, true, 6);
    struct talk *talk = conversation(2, true, 6);

    talk_syn(talk);
    talk_segment(talk, 0, 0, talk->start[0]);
    talk_run(talk, 0, talk->start[0], talk->octets[0], 600);
    talk_run(talk, 1, 0, talk->octets[1], 600);
    talk_finish(talk);
    expect_same(talk, expected, "FPDUs before the Reply", 0);
    talk_free(talk);

    talk = conversation(2, true, 6);
    talk_syn(talk);
    talk_segment(talk, 1, 0, talk->start[1]);
    talk_segment(talk, 0, 0, talk->start[0]);
    talk_run(talk, 0, talk->start[0], talk->octets[0], 600);
    talk_run(talk, 1, talk->start[1], talk->octets[1], 600);
    talk_finish(talk);
    expect_same(talk, expected, "Reply before the Request", 0);
    ck_assert(talk->roles_known);
    talk_free(talk);
    talk_free(expected);
}
END_TEST

/* Segments of both sides in disorder, some twice, some overlapping their neighbours. */
START_TEST(reordered_and_repeated)
{
    struct talk *expected = reference((unsigned)_i & 3, true, 13);
    struct talk *talk = conversation((unsigned)_i & 3, true, 13);
    uint64_t state = (uint64_t)_i + 1;
    size_t from[512], to[512], count = 0;

    talk->isn[0] = UINT32_MAX - 3000;
    talk_syn(talk);
    talk_segment(talk, 0, 0, talk->start[0]);
    talk_segment(talk, 1, 0, talk->start[1]);
    for (unsigned side = 0; side < 2; side++) {
        count = 0;
        for (size_t at = talk->start[side]; at < talk->octets[side] && count < 512; count++) {
            size_t size = 1 + noise(&state) % 1400;

            from[count] = at;
            at = at + size < talk->octets[side] ? at + size : talk->octets[side];
            to[count] = at;
            if (noise(&state) % 3 == 0) /* reach back over what came before */
                from[count] -= noise(&state) % (from[count] - talk->start[side] + 1) % 900;
        }
        for (size_t i = 0; i < count; i++) {
            size_t other = i + noise(&state) % (count - i < 6 ? count - i : 6);
            size_t swap_from = from[i], swap_to = to[i];

            from[i] = from[other];
            to[i] = to[other];
            from[other] = swap_from;
            to[other] = swap_to;
        }
        for (size_t i = 0; i < count; i++) {
            talk_segment(talk, side, from[i], to[i]);
            if (noise(&state) % 4 == 0)
                talk_segment(talk, side, from[i], to[i]);
        }
    }
    ck_assert_uint_eq(flow_decoder_totals(talk->decoder)->gaps, 0);
    talk_finish(talk);
    expect_same(talk, expected, "disorder", (size_t)_i);
    ck_assert_uint_eq(talk->conflicts, 0);
    ck_assert_uint_gt(talk->retransmitted, 0);
    talk_free(talk);
    talk_free(expected);
}
END_TEST

/* The first octets count; that others came in their place is reported. */
START_TEST(conflicting_overlap_is_reported)
{
    struct talk *talk = conversation(0, true, 6);
    size_t from = talk->boundary[0][5], to = talk->boundary[0][6];

    talk_syn(talk);
    talk_segment(talk, 0, 0, talk->start[0]);
    talk_segment(talk, 1, 0, talk->start[1]);
    talk_segment(talk, 0, talk->start[0], from);
    talk_segment(talk, 0, from, to - 4); /* a partial FPDU is held */
    talk->stream[0][from + 40] ^= 0xFF;
    talk_segment(talk, 0, from, to - 4);
    talk_segment(talk, 0, from + 30, to);
    talk_finish(talk);
    ck_assert_uint_eq(talk->good[0], 6);
    ck_assert_uint_eq(talk->wrong, 0);
    ck_assert_uint_eq(talk->conflicts, 2);
    talk_free(talk);

    /* the same in the queue after a hole */
    talk = conversation(0, true, 6);
    talk_syn(talk);
    talk_segment(talk, 0, 0, talk->start[0]);
    talk_segment(talk, 1, 0, talk->start[1]);
    talk_segment(talk, 0, from, to);
    talk->stream[0][from + 40] ^= 0xFF;
    talk_segment(talk, 0, talk->start[0] + 8, to);
    talk_segment(talk, 0, talk->start[0], talk->start[0] + 8);
    talk_finish(talk);
    ck_assert_uint_eq(talk->good[0], 6);
    ck_assert_uint_eq(talk->wrong, 0);
    ck_assert_uint_eq(talk->conflicts, 1);
    talk_free(talk);
}
END_TEST

/*
 * RFC 5044 4.3: the Marker at the boundary may go out at once, long before its FPDU. What the FPDU's sender had
 * received counts from the first octet that says anything of that FPDU.
 */
START_TEST(marker_goes_ahead)
{
    struct talk *talk = talk_new(NULL);
    size_t half = (MARKER_SPACING - 2 * MARKER_OCTETS) / 2;
    size_t from;

    talk_start_simple(talk, false, true, true);
    /* Two FPDUs that with their Marker fill the first 512 octets, so that the next Marker is due between FPDUs. */
    for (unsigned i = 0; i < 2; i++)
        talk_send(talk, 0, half - FPDU_LENGTH_OCTETS - DDP_UNTAGGED_OCTETS - FPDU_CRC_OCTETS + (i == 0 ? 0 : 4));
    talk_send(talk, 0, 10);
    talk_send(talk, 1, 10);
    ck_assert_uint_eq(talk->boundary[0][2] - talk->start[0], MARKER_SPACING);
    talk_syn(talk);
    talk_segment(talk, 0, 0, talk->start[0]);
    talk_segment_with(talk, 1, 0, talk->start[1], TCP_FLAG_ACK, talk->start[0]);
    from = talk->boundary[0][2];
    talk_segment_with(talk, 0, talk->start[0], from + MARKER_OCTETS, TCP_FLAG_ACK, talk->start[1]);
    talk_segment_with(talk, 1, talk->start[1], talk->octets[1], TCP_FLAG_ACK, from + MARKER_OCTETS);
    talk_segment_with(talk, 0, from + MARKER_OCTETS, talk->octets[0], TCP_FLAG_ACK, talk->octets[1]);
    talk_finish(talk);
    ck_assert_uint_eq(talk->good[0], 3);
    ck_assert_uint_eq(talk->received[0], talk->octets[1]);
    talk_free(talk);
}
END_TEST

START_TEST(crc_and_marker_errors)
{
    struct talk *talk = conversation(2, true, 6);
    size_t at = talk->boundary[0][5];

    talk->stream[0][at + 30] ^= 1;
    talk_syn(talk);
    talk_all(talk, 1460);
    talk_finish(talk);
    ck_assert_uint_eq(talk->good[0], 5);
    ck_assert_uint_eq(talk->headers[0], 5); /* a receiver drops what has a bad CRC */
    ck_assert_uint_eq(talk->good[1], 6);
    ck_assert_ptr_nonnull(strstr(talk->log[0], "!crc"));
    ck_assert_uint_eq(flow_decoder_totals(talk->decoder)->crc_errors, 1);
    ck_assert_uint_eq(talk->gaps, 0);
    talk_free(talk);
}
END_TEST

/* Without CRCs a Marker that is wrong is reported; with CRC off the field may hold anything. */
START_TEST(marker_wrong_without_crc)
{
    struct talk *talk = conversation(2, false, 1);

    talk->stream[0][talk->start[0] + 3] = 8;
    talk_syn(talk);
    talk_all(talk, 1460);
    talk_finish(talk);
    ck_assert_ptr_nonnull(strstr(talk->log[0], "f0:18!marker"));
    ck_assert_uint_eq(flow_decoder_totals(talk->decoder)->marker_errors, 1);
    talk_free(talk);
}
END_TEST

START_TEST(four_tuple_again)
{
    struct talk *talk = conversation(0, true, 3);

    talk_syn(talk);
    talk_all(talk, 1460);
    talk->isn[0] += 1000000; /* no FIN was captured */
    talk->isn[1] += 2000000;
    talk_syn(talk);
    talk_all(talk, 1460);
    talk_finish(talk);
    ck_assert_uint_eq(talk->flows, 2);
    ck_assert_uint_eq(talk->ends, 2);
    ck_assert_uint_eq(talk->good[0], 6);
    ck_assert_uint_eq(talk->good[1], 6);
    ck_assert_uint_eq(talk->undecoded, 0);
    talk_free(talk);
}
END_TEST

START_TEST(fin_and_rst_are_reported_once)
{
    struct talk *talk = conversation(0, true, 3);

    talk_syn(talk);
    talk_all(talk, 1460);
    talk_segment_with(talk, 0, talk->octets[0], talk->octets[0], TCP_FLAG_FIN | TCP_FLAG_ACK, 0);
    talk_segment_with(talk, 0, talk->octets[0], talk->octets[0], TCP_FLAG_FIN | TCP_FLAG_ACK, 0);
    talk_segment_with(talk, 1, talk->octets[1], talk->octets[1], TCP_FLAG_RST | TCP_FLAG_ACK, 0);
    talk_finish(talk);
    ck_assert_ptr_nonnull(strstr(talk->log[0], "s0:3.3 c0 e"));
    ck_assert_ptr_nonnull(strstr(talk->log[1], "s1:3.3 c1:rst "));
    talk_free(talk);
}
END_TEST

/* A FIN that overtook its data. */
START_TEST(fin_out_of_order)
{
    struct talk *talk = conversation(0, true, 3);

    talk_syn(talk);
    talk_segment(talk, 0, 0, talk->start[0]);
    talk_segment(talk, 1, 0, talk->start[1]);
    talk_segment_with(talk, 0, talk->boundary[0][2], talk->octets[0], TCP_FLAG_FIN | TCP_FLAG_ACK, 0);
    ck_assert_ptr_null(strstr(talk->log[0], "c0"));
    talk_segment(talk, 0, talk->start[0], talk->boundary[0][2]);
    ck_assert_ptr_nonnull(strstr(talk->log[0], "s0:3.3 c0"));
    talk_free(talk);
}
END_TEST

START_TEST(keepalive_is_nothing)
{
    struct talk *talk = conversation(0, true, 3);

    talk_syn(talk);
    talk_all(talk, 1460);
    talk_segment(talk, 0, talk->octets[0] - 1, talk->octets[0]);
    talk_segment(talk, 0, talk->octets[0] - 1, talk->octets[0] - 1);
    talk_finish(talk);
    ck_assert_uint_eq(talk->retransmitted, 1);
    ck_assert_uint_eq(talk->conflicts, 0);
    ck_assert_uint_eq(talk->good[0], 3);
    talk_free(talk);
}
END_TEST

START_TEST(other_traffic_is_left_alone)
{
    static const char http[] = "GET / HTTP/1.1\r\nHost: MPA ID Req Frame\r\n\r\n";
    struct talk *talk = talk_new(NULL);

    memcpy(talk->stream[0], http, sizeof(http));
    talk_syn(talk);
    for (unsigned i = 0; i < 50; i++)
        talk_segment(talk, 0, i * sizeof(http), (i + 1) * sizeof(http));
    talk_finish(talk);
    ck_assert_str_eq(talk->log[0], "");
    ck_assert_uint_eq(flow_decoder_totals(talk->decoder)->flows, 0);
    ck_assert_uint_eq(flow_decoder_totals(talk->decoder)->connections, 1);
    talk_free(talk);
}
END_TEST

/* The ULP speaks first, then the connection becomes an MPA one (RFC 5044 7.1: streaming mode). */
START_TEST(streaming_mode_before_mpa_is_decoded)
{
    struct talk *talk = conversation(0, true, 3);
    static const uint8_t login[] = "login please";

    talk_syn(talk);
    for (unsigned side = 0; side < 2; side++) {
        talk_build(talk, side, talk->isn[side] + 1, 0, TCP_FLAG_ACK, login, sizeof(login));
        talk_give(talk);
        talk->isn[side] += sizeof(login);
    }
    talk_all(talk, 1460);
    talk_finish(talk);
    ck_assert_uint_eq(talk->good[0], 3);
    ck_assert_uint_eq(talk->good[1], 3);
    ck_assert_ptr_nonnull(strstr(talk->log[0], "m0:ok"));
    talk_free(talk);
}
END_TEST

/* More connections than the decoder follows. */
START_TEST(decoder_follows_a_bounded_number_of_flows)
{
    struct flow_config config = {.flows_max = 8};
    struct talk *talk = talk_new(&config);

    talk_start_simple(talk, false, false, true);
    talk_mix(talk, 0, 3);
    for (unsigned i = 0; i < 100; i++) {
        talk->port = (uint16_t)(1000 + i);
        talk_syn(talk);
        talk_all(talk, 1460);
    }
    ck_assert_uint_eq(talk->ends, 92);
    talk_finish(talk);
    ck_assert_uint_eq(talk->ends, 100);
    ck_assert_uint_eq(talk->good[0], 300);
    ck_assert_uint_eq(flow_decoder_totals(talk->decoder)->account.row[FLOW_ROW_EVICTED].items, 0);
    talk_free(talk);
}
END_TEST

/* Who goes is who was idle, not who came first. */
START_TEST(eviction_spares_the_busy)
{
    struct flow_config config = {.flows_max = 8};
    struct talk *talk = talk_new(&config);
    enum { BUSY = 999, SENDS = 40 };

    talk_start_simple(talk, false, false, true);
    for (unsigned i = 0; i < SENDS; i++)
        talk_send(talk, 0, 100);
    talk->port = BUSY;
    talk_syn(talk);
    talk_segment(talk, 0, 0, talk->start[0]);
    talk_segment(talk, 1, 0, talk->start[1]);
    for (unsigned i = 0; i < SENDS; i++) {
        talk->port = (uint16_t)(1000 + i);
        talk_syn(talk);
        talk_segment(talk, 0, 0, talk->start[0]);
        talk->port = BUSY;
        talk_segment(talk, 0, talk->boundary[0][i], i + 1 < SENDS ? talk->boundary[0][i + 1] : talk->octets[0]);
    }
    ck_assert_uint_eq(flow_decoder_totals(talk->decoder)->flows, 1 + SENDS);
    ck_assert_uint_eq(talk->good[0], SENDS);
    talk_free(talk);
}
END_TEST

Suite *flow_stream_suite(void)
{
    Suite *suite = suite_create("flow_stream");
    TCase *tests = tcase_create("stream");

    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, segmentation_does_not_change_the_events, 0, 32);
    tcase_add_test(tests, fpdu_behind_the_reply);
    tcase_add_test(tests, directions_out_of_order);
    tcase_add_loop_test(tests, reordered_and_repeated, 0, 40);
    tcase_add_test(tests, conflicting_overlap_is_reported);
    tcase_add_test(tests, marker_goes_ahead);
    tcase_add_test(tests, crc_and_marker_errors);
    tcase_add_test(tests, marker_wrong_without_crc);
    tcase_add_test(tests, four_tuple_again);
    tcase_add_test(tests, fin_and_rst_are_reported_once);
    tcase_add_test(tests, fin_out_of_order);
    tcase_add_test(tests, keepalive_is_nothing);
    tcase_add_test(tests, other_traffic_is_left_alone);
    tcase_add_test(tests, streaming_mode_before_mpa_is_decoded);
    tcase_add_test(tests, decoder_follows_a_bounded_number_of_flows);
    tcase_add_test(tests, eviction_spares_the_busy);
    suite_add_tcase(suite, tests);
    return suite;
}
