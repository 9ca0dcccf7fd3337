/* SPDX-License-Identifier: BSD-2-Clause */
/* The search for FPDUs in a connection whose beginning was not captured. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/flow/mpa/flow_search.h"
#include "generator/packet/packet.h"
#include "tests/unit/flow_talk.h"
#include "tests/unit/suites.h"

Suite *flow_search_suite(void);

static uint32_t state = 1;

static uint32_t random_number(void)
{
    state = state * 1664525 + 1013904223;
    return state >> 8;
}

static void fill_random(uint8_t *octets, size_t count)
{
    for (size_t i = 0; i < count; i++)
        octets[i] = (uint8_t)random_number();
}

enum { STREAM = 1 << 20 };

/* In pieces of any size: whether the search excludes an FPDU stream. */
static bool excluded(const uint8_t *octets, size_t count)
{
    struct flow_side side = {0};
    bool excludes = false;

    for (size_t at = 0; at < count && !excludes;) {
        size_t piece = 1 + random_number() % (random_number() % 4 == 0 ? 5 : 3000);

        if (piece > count - at)
            piece = count - at;
        (void)flow_search_octets(&side, octets + at, piece);
        excludes = flow_search_excludes(&side);
        at += piece;
    }
    flow_search_release(&side);
    return excludes;
}

/* FPDUs of any lengths, from any octet on, with and without Markers, are never excluded. */
START_TEST(fpdus_are_not_excluded)
{
    uint8_t *stream = malloc(STREAM), *ulpdu = malloc(ULPDU_LENGTH_MAX);

    for (unsigned round = 0; round < 60; round++) {
        struct fpdu_framing framing = {round % 2 != 0, round % 3 != 0, 0};
        size_t count = 0, most = round % 5 == 0 ? 64768 : round % 5 == 1 ? 1450 : 20000, from;

        while (count + 2 * (size_t)64768 < STREAM) {
            size_t octets = 20 + random_number() % (most - 19), packed;
            struct ddp_segment segment = {
                .last = true, .version = 1, .control = rdmap_control(IWARP_RDMAP_SEND), .msn = 1};

            if (random_number() % 8 == 0)
                octets = most;
            fill_random(ulpdu, octets);
            if (random_number() % 2 == 0)
                segment =
                    (struct ddp_segment){.tagged = true, .version = 1, .control = rdmap_control(IWARP_RDMAP_WRITE)};
            ddp_pack_header(&segment, ulpdu);
            packed = fpdu_pack(ulpdu, octets, &framing, stream + count, STREAM - count);
            ck_assert_uint_ne(packed, 0);
            count += packed;
            framing.position += (uint32_t)packed;
        }
        from = random_number() % 70000;
        ck_assert_msg(!excluded(stream + from, count - from), "round %u, from %zu", round, from);
    }
    free(stream);
    free(ulpdu);
}
END_TEST

/* The header of an FPDU may be the last octets of a piece: what follows it proves it all the same. */
START_TEST(header_at_the_end_of_a_piece_counts)
{
    enum { HEADER = 4, SENDS = 2, OCTETS = 100 };
    uint8_t stream[SENDS * (OCTETS + 8)], ulpdu[OCTETS] = {0};
    struct fpdu_framing framing = {false, true, 0};
    struct flow_side side = {0};
    size_t first, count;

    for (unsigned i = count = first = 0; i < SENDS; i++, first = first == 0 ? count : first) {
        ddp_pack_header(
            &(struct ddp_segment){.last = true, .version = 1, .control = rdmap_control(IWARP_RDMAP_SEND), .msn = i + 1},
            ulpdu);
        count += fpdu_pack(ulpdu, OCTETS, &framing, stream + count, sizeof(stream) - count);
    }
    ck_assert_uint_eq(flow_search_octets(&side, stream, HEADER), SIZE_MAX);
    ck_assert_uint_eq(flow_search_octets(&side, stream + HEADER, count - HEADER), first - HEADER);
    flow_search_release(&side);
}
END_TEST

/* Other streams are, most of them: octets as of TLS, and a text. */
START_TEST(others_are_excluded)
{
    static const char text[] = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
    uint8_t *stream = malloc(STREAM);
    unsigned found = 0;

    for (unsigned round = 0; round < 20; round++) {
        fill_random(stream, STREAM);
        found += excluded(stream, STREAM);
    }
    ck_assert_uint_ge(found, 19);
    for (size_t i = 0; i < STREAM; i++)
        stream[i] = (uint8_t)text[i % (sizeof(text) - 1)];
    ck_assert(excluded(stream, STREAM));
    ck_assert(!excluded(stream, 130000)); /* two FPDUs may be that long */
    memset(stream, 0, STREAM);
    ck_assert(excluded(stream, STREAM));
    free(stream);
}
END_TEST

/* A late connection with one long direction, as of a download; a gap begins the search anew. Loop: with a gap. */
START_TEST(search_in_a_long_direction_is_linear)
{
    enum { PIECE = 1448, PIECES = 140 };
    struct talk *talk = talk_new(NULL);
    uint8_t octets[PIECE];

    for (unsigned i = 0; i < PIECES; i++) {
        fill_random(octets, PIECE);
        talk_build(talk, 1, 7000 + i * PIECE + (_i != 0 && i >= PIECES / 2 ? 100 : 0), 1, TCP_FLAG_ACK, octets, PIECE);
        talk_give(talk);
    }
    talk_finish(talk);
    ck_assert_uint_eq(talk_octets(talk, _i != 0 ? FLOW_ROW_UNRECOGNISED : FLOW_ROW_TCP), PIECE * PIECES);
    talk_free(talk);
}
END_TEST

Suite *flow_search_suite(void)
{
    Suite *suite = suite_create("flow_search");
    TCase *tests = tcase_create("search");

    tcase_add_test(tests, fpdus_are_not_excluded);
    tcase_add_test(tests, header_at_the_end_of_a_piece_counts);
    tcase_add_test(tests, others_are_excluded);
    tcase_add_loop_test(tests, search_in_a_long_direction_is_linear, 0, 2);
    suite_add_tcase(suite, tests);
    return suite;
}
