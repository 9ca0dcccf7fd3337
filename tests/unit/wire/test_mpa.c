/* SPDX-License-Identifier: BSD-2-Clause */
/* MPA start-up frames: flags, revisions, the enhanced word, limits, and what is reported as soon as it is known. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/guard.h"
#include "tests/unit/suites.h"
#include "wire/mpa.h"

Suite *mpa_suite(void);

static const char *const keys[] = {[IWARP_MPA_REQUEST] = "MPA ID Req Frame", [IWARP_MPA_REPLY] = "MPA ID Rep Frame"};

/* Octets of a frame written by hand: key, flags, revision, PD_Length; then `count` octets of Private Data. */
static size_t write_frame(uint8_t *out, enum iwarp_mpa_start_kind kind, uint8_t flags, uint8_t revision,
                          uint16_t pd_length, const void *private_data, size_t count)
{
    memcpy(out, keys[kind], 16);
    out[16] = flags;
    out[17] = revision;
    out[18] = (uint8_t)(pd_length >> 8);
    out[19] = (uint8_t)pd_length;
    if (count != 0)
        memcpy(out + 20, private_data, count);
    return 20 + count;
}

static wire_result parse(const uint8_t *octets, size_t count, enum iwarp_mpa_start_kind kind,
                         struct iwarp_mpa_start *start, size_t *used)
{
    uint8_t *placed = guard_place(octets, count);
    const uint8_t *p = placed;
    wire_result result = mpa_start_parse(&p, placed + count, kind, start);

    *used = (size_t)(p - placed);
    return result;
}

/* Takes a parsed frame to the form that mpa_start_pack() wants, packs it, and expects the octets it came from. */
static void expect_repacked(const struct iwarp_mpa_start *parsed, const uint8_t *octets, size_t count)
{
    struct iwarp_mpa_start start = *parsed;
    uint8_t packed[MPA_START_MAX];
    size_t ulp;

    start.private_data = iwarp_mpa_start_ulp_data(parsed, &ulp);
    start.private_octets = (uint16_t)ulp;
    ck_assert_uint_eq(mpa_start_pack(&start, packed, sizeof(packed)), count);
    ck_assert_mem_eq(packed, octets, count);
    ck_assert_uint_eq(mpa_start_pack(&start, packed, count - 1), 0);
}

/* _i is the flags octet: all 256, as Request and Reply, in Rev 0, 1, 2, 3 and 255, with 8 octets of Private Data. */
START_TEST(all_flags_and_revisions)
{
    static const uint8_t revisions[] = {0, 1, 2, 3, 255};
    uint8_t flags = (uint8_t)_i, octets[64];
    struct iwarp_mpa_start start;
    size_t used;

    for (size_t i = 0; i < sizeof(revisions) * 2; i++) {
        enum iwarp_mpa_start_kind kind = i & 1 ? IWARP_MPA_REPLY : IWARP_MPA_REQUEST;
        uint8_t revision = revisions[i / 2];
        bool word = flags & 0x10 && revision >= 2;
        size_t count = write_frame(octets, kind, flags, revision, 8, "\x92\x34\x56\x78wxyz", 8), ulp;

        ck_assert_uint_eq(parse(octets, count, kind, &start, &used), WIRE_OK);
        ck_assert_uint_eq(used, count);
        ck_assert_int_eq(start.kind, kind);
        ck_assert_int_eq(start.markers, (flags & 0x80) != 0);
        ck_assert_int_eq(start.crc, (flags & 0x40) != 0);
        ck_assert_int_eq(start.rejected, (flags & 0x20) != 0);
        ck_assert_int_eq(start.enhanced, (flags & 0x10) != 0);
        ck_assert_uint_eq(start.reserved, flags & 0x0F);
        ck_assert_uint_eq(start.revision, revision);
        ck_assert_uint_eq(start.private_octets, 8);
        ck_assert_mem_eq(start.private_data, "\x92\x34\x56\x78wxyz", 8);
        ck_assert_int_eq(iwarp_mpa_start_has_word(&start), word);
        ck_assert_mem_eq(iwarp_mpa_start_ulp_data(&start, &ulp), word ? "wxyz" : "\x92\x34\x56\x78", 4);
        ck_assert_uint_eq(ulp, word ? 4 : 8);
        /* 0x9234 5678: A, IRD 0x1234; D, ORD 0x1678. */
        ck_assert_int_eq(start.peer_to_peer, word);
        ck_assert_int_eq(start.rtr_send, false);
        ck_assert_int_eq(start.rtr_write, false);
        ck_assert_int_eq(start.rtr_read, word);
        ck_assert_uint_eq(start.ird, word ? 0x1234 : 0);
        ck_assert_uint_eq(start.ord, word ? 0x1678 : 0);
        expect_repacked(&start, octets, count);
    }
}
END_TEST

/* A, B, C, D in all combinations with IRD and ORD that are distinguished, the limits included. */
START_TEST(enhanced_word_survives_a_round_trip)
{
    static const uint16_t depths[] = {0, 1, 4, 0x1555, 0x3FFE, MPA_DEPTH_NOT_NEGOTIATED};
    bool a = _i & 8, b = _i & 4, c = _i & 2, d = _i & 1;
    struct iwarp_mpa_start start;
    uint8_t octets[64];
    size_t used;

    for (size_t i = 0; i < 36; i++) {
        uint16_t ird = depths[i / 6], ord = depths[i % 6];
        uint8_t word[4] = {(uint8_t)(a << 7 | b << 6 | ird >> 8), (uint8_t)ird, (uint8_t)(c << 7 | d << 6 | ord >> 8),
                           (uint8_t)ord};
        size_t count = write_frame(octets, IWARP_MPA_REPLY, 0x50, 2, 4, word, 4);

        ck_assert_uint_eq(parse(octets, count, IWARP_MPA_REPLY, &start, &used), WIRE_OK);
        ck_assert_int_eq(start.peer_to_peer, a);
        ck_assert_int_eq(start.rtr_send, b);
        ck_assert_int_eq(start.rtr_write, c);
        ck_assert_int_eq(start.rtr_read, d);
        ck_assert_uint_eq(start.ird, ird);
        ck_assert_uint_eq(start.ord, ord);
        expect_repacked(&start, octets, count);
    }
}
END_TEST

/* CRC, enhanced, A, C, D, IRD = ORD = 4, no ULP data. */
START_TEST(request_matches_the_example)
{
    static const uint8_t expected[24] = "MPA ID Req Frame\x50\x02\x00\x04\x80\x04\xC0\x04";
    struct iwarp_mpa_start start = {.kind = IWARP_MPA_REQUEST,
                                    .crc = true,
                                    .enhanced = true,
                                    .revision = 2,
                                    .peer_to_peer = true,
                                    .rtr_write = true,
                                    .rtr_read = true,
                                    .ird = 4,
                                    .ord = 4};
    uint8_t packed[24];

    ck_assert_uint_eq(mpa_start_pack(&start, packed, sizeof(packed)), 24);
    ck_assert_mem_eq(packed, expected, 24);

    struct iwarp_mpa_start minimal = {.kind = IWARP_MPA_REQUEST, .crc = true, .revision = 1};

    ck_assert_uint_eq(mpa_start_pack(&minimal, packed, 20), 20);
    ck_assert_mem_eq(packed, "MPA ID Req Frame\x40\x01\x00\x00", 20);
}
END_TEST

/* Every cut of a frame: more is asked for, nothing is used, nothing after the end is read. */
START_TEST(cut_start_frame_asks_for_more)
{
    enum iwarp_mpa_start_kind kind = _i & 1 ? IWARP_MPA_REPLY : IWARP_MPA_REQUEST;
    uint8_t private_data[40] = {0x80, 4, 0xC0, 4}, octets[64];
    size_t count = write_frame(octets, kind, _i & 2 ? 0x50 : 0x40, 2, 40, private_data, 40), used;
    struct iwarp_mpa_start start;

    for (size_t cut = 0; cut < count; cut++) {
        ck_assert_uint_eq(parse(octets, cut, kind, &start, &used), WIRE_MORE);
        ck_assert_uint_eq(used, 0);
    }
    ck_assert_uint_eq(parse(octets, count, kind, &start, &used), WIRE_OK);
    /* What follows the frame is left alone. */
    octets[count] = 0xFF;
    ck_assert_uint_eq(parse(octets, count + 1, kind, &start, &used), WIRE_OK);
    ck_assert_uint_eq(used, count);
}
END_TEST

/* A wrong octet in the Key is reported when that octet is there, and not before. */
START_TEST(key_mismatch_is_reported_early)
{
    uint8_t octets[20];
    struct iwarp_mpa_start start;
    size_t used;

    for (int kind = IWARP_MPA_REQUEST; kind <= IWARP_MPA_REPLY; kind++)
        for (unsigned bit = 0; bit < 8; bit++) {
            write_frame(octets, (enum iwarp_mpa_start_kind)kind, 0x40, 1, 0, NULL, 0);
            octets[_i] ^= (uint8_t)(1 << bit);
            for (size_t count = 0; count <= 20; count++) {
                wire_result expected = count > (size_t)_i ? TERM_MPA_START_FRAME : WIRE_MORE;

                ck_assert_uint_eq(parse(octets, count, (enum iwarp_mpa_start_kind)kind, &start, &used), expected);
                ck_assert_uint_eq(used, 0);
            }
        }
}
END_TEST

/* The other kind's Key differs in the tenth octet. */
START_TEST(key_of_the_other_kind_is_refused)
{
    uint8_t octets[20];
    struct iwarp_mpa_start start;
    size_t used;

    write_frame(octets, IWARP_MPA_REPLY, 0x40, 1, 0, NULL, 0);
    for (size_t count = 0; count <= 20; count++)
        ck_assert_uint_eq(parse(octets, count, IWARP_MPA_REQUEST, &start, &used),
                          count >= 10 ? TERM_MPA_START_FRAME : WIRE_MORE);
    ck_assert_int_eq(mpa_start_kind_of(octets, 20), IWARP_MPA_REPLY);
    ck_assert_int_eq(mpa_start_kind_of(octets, 16), IWARP_MPA_REPLY);
    ck_assert_int_eq(mpa_start_kind_of(guard_place(octets, 15), 15), -1);
    write_frame(octets, IWARP_MPA_REQUEST, 0, 0, 0, NULL, 0);
    ck_assert_int_eq(mpa_start_kind_of(octets, 20), IWARP_MPA_REQUEST);
    octets[15] = 'E';
    ck_assert_int_eq(mpa_start_kind_of(octets, 20), -1);
}
END_TEST

/* PD_Length 0 to 512 is waited for; 513 and more is wrong at octet 20, without waiting for what it announces. */
START_TEST(private_data_limits)
{
    static const uint16_t good[] = {0, 1, 3, 4, 251, 252, 255, 256, 508, 511, 512};
    static const uint16_t bad[] = {513, 1024, 0x7FFF, 0x8000, 0xFFFF};
    uint8_t private_data[512], octets[MPA_START_MAX];
    uint64_t state = 8;
    struct iwarp_mpa_start start;
    size_t used;

    noise_fill(&state, private_data, sizeof(private_data));
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        size_t count = write_frame(octets, IWARP_MPA_REQUEST, 0x40, 1, good[i], private_data, good[i]);

        ck_assert_uint_eq(parse(octets, count, IWARP_MPA_REQUEST, &start, &used), WIRE_OK);
        ck_assert_uint_eq(used, 20u + good[i]);
        ck_assert_uint_eq(start.private_octets, good[i]);
        ck_assert_mem_eq(start.private_data, private_data, good[i]);
        expect_repacked(&start, octets, count);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        write_frame(octets, IWARP_MPA_REPLY, 0x40, 1, bad[i], private_data, 512);
        ck_assert_uint_eq(parse(octets, 20, IWARP_MPA_REPLY, &start, &used), TERM_MPA_START_FRAME);
        ck_assert_uint_eq(parse(octets, 532, IWARP_MPA_REPLY, &start, &used), TERM_MPA_START_FRAME);
        ck_assert_uint_eq(parse(octets, 19, IWARP_MPA_REPLY, &start, &used), WIRE_MORE);
    }
}
END_TEST

/* S = 1 in Rev 2 with PD_Length 0 to 3 cannot hold the word; in Rev 1 the bit means nothing. */
START_TEST(no_room_for_the_word)
{
    uint8_t octets[32];
    struct iwarp_mpa_start start;
    size_t used, count = write_frame(octets, IWARP_MPA_REQUEST, 0x50, 2, (uint16_t)_i, "\x80\x04\xC0\x04", (size_t)_i);

    ck_assert_uint_eq(parse(octets, count, IWARP_MPA_REQUEST, &start, &used), _i < 4 ? TERM_MPA_START_FRAME : WIRE_OK);
    octets[17] = 1;
    ck_assert_uint_eq(parse(octets, count, IWARP_MPA_REQUEST, &start, &used), WIRE_OK);
    ck_assert(!iwarp_mpa_start_has_word(&start));
    ck_assert_uint_eq(start.private_octets, _i);
}
END_TEST

/* With the word 508 octets are left to the ULP; the carry of 252 + 4 into the high octet is right. */
START_TEST(start_frame_is_packed_up_to_its_limits)
{
    uint8_t private_data[513] = {0}, packed[MPA_START_MAX + 8];
    struct iwarp_mpa_start start = {.kind = IWARP_MPA_REPLY, .revision = 1, .private_data = private_data};

    start.private_octets = 512;
    ck_assert_uint_eq(mpa_start_pack(&start, packed, sizeof(packed)), 532);
    start.private_octets = 513;
    ck_assert_uint_eq(mpa_start_pack(&start, packed, sizeof(packed)), 0);
    start.enhanced = true; /* in Rev 1: a stray bit, no word */
    start.private_octets = 512;
    ck_assert_uint_eq(mpa_start_pack(&start, packed, sizeof(packed)), 532);
    start.revision = 2;
    ck_assert_uint_eq(mpa_start_pack(&start, packed, sizeof(packed)), 0);
    for (uint16_t ulp = 0; ulp <= 508; ulp++) {
        start.private_octets = ulp;
        ck_assert_uint_eq(mpa_start_pack(&start, packed, sizeof(packed)), 24u + ulp);
        ck_assert_uint_eq(packed[18] << 8 | packed[19], 4 + ulp);
    }
    start.private_octets = 509;
    ck_assert_uint_eq(mpa_start_pack(&start, packed, sizeof(packed)), 0);
}
END_TEST

Suite *mpa_suite(void)
{
    Suite *suite = suite_create("mpa");
    TCase *tcase = tcase_create("start-up frames");

    tcase_add_loop_test(tcase, all_flags_and_revisions, 0, 256);
    tcase_add_loop_test(tcase, enhanced_word_survives_a_round_trip, 0, 16);
    tcase_add_test(tcase, request_matches_the_example);
    tcase_add_loop_test(tcase, cut_start_frame_asks_for_more, 0, 4);
    tcase_add_loop_test(tcase, key_mismatch_is_reported_early, 0, 16);
    tcase_add_test(tcase, key_of_the_other_kind_is_refused);
    tcase_add_test(tcase, private_data_limits);
    tcase_add_loop_test(tcase, no_room_for_the_word, 0, 5);
    tcase_add_test(tcase, start_frame_is_packed_up_to_its_limits);
    suite_add_tcase(suite, tcase);
    return suite;
}
