/* SPDX-License-Identifier: BSD-2-Clause */
/* Marker arithmetic against an oracle that lays the stream's octets one by one. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/guard.h"
#include "tests/unit/suites.h"
#include "wire/marker.h"

Suite *marker_suite(void);

enum { POINTERS_MAX = 140 };

/* What an FPDU looks like whose first octet is TCP octet `seq` of a stream with SeqStart `seq_start`. */
struct laid {
    size_t octets;
    size_t markers;
    size_t pointer[POINTERS_MAX]; /* octets from ULPDU_Length to each Marker */
};

/* RFC 5044 4.3 to the letter: before each octet that is not yet laid, look whether a Marker is due. */
static struct laid lay(uint32_t seq_start, uint32_t seq, size_t content)
{
    struct laid laid = {0};
    size_t length_at = SIZE_MAX; /* index of ULPDU_Length in this FPDU's octets */

    for (size_t i = 0; i < content; i++) {
        if ((uint32_t)(seq + laid.octets - seq_start) % 512 == 0) {
            laid.pointer[laid.markers++] = length_at == SIZE_MAX ? 0 : laid.octets - length_at;
            laid.octets += 4;
        }
        if (length_at == SIZE_MAX)
            length_at = laid.octets;
        laid.octets++;
    }
    return laid;
}

static void expect_laid(uint32_t seq_start, uint32_t seq, size_t content)
{
    struct laid laid = lay(seq_start, seq, content);
    uint32_t position = seq - seq_start;

    EXPECT(marker_count(position, content) == laid.markers, "position %u, content %zu: %zu, expected %zu", position,
           content, marker_count(position, content), laid.markers);
    for (size_t i = 0; i < laid.markers; i++)
        EXPECT(marker_pointer(position, i) == laid.pointer[i], "position %u, Marker %zu: %u, expected %zu", position, i,
               marker_pointer(position, i), laid.pointer[i]);
}

/* Every phase, and contents around every place where a further Marker comes in. */
START_TEST(markers_are_laid_at_every_phase)
{
    uint32_t phase = (uint32_t)_i * 4;

    for (size_t content = 8; content < 2200; content += 4)
        expect_laid(0, phase, content);
    for (size_t content = 64000; content <= 64776; content += 36)
        expect_laid(0, phase, content);
}
END_TEST

START_TEST(any_seq_start)
{
    static const uint32_t starts[] = {0, 1, 511, 512, 0x7FFFFFFF, 0x80000000, 0xFFFFFE01, 0xFFFFFFFE, 0xFFFFFFFF};
    uint64_t state = (uint64_t)_i;
    uint32_t start = _i < 9 ? starts[_i] : (uint32_t)noise(&state);
    uint32_t seq = start;

    /* One stream of 300 FPDUs from SeqStart on: start + octets passes 2^32 for the late starts. */
    for (int i = 0; i < 300; i++) {
        size_t content = 8 + noise(&state) % 400 * 4;
        struct laid laid = lay(start, seq, content);

        expect_laid(start, seq, content);
        ck_assert_uint_eq(laid.octets, content + 4 * laid.markers);
        seq += (uint32_t)laid.octets;
    }
    /* And around the place where the position itself passes 2^32, 4 GiB later. */
    for (uint32_t back = 4; back < 4096; back += 4)
        for (size_t content = 8; content < 1600; content += 100)
            expect_laid(start, start - back, content);
}
END_TEST

START_TEST(distance_to_the_next)
{
    for (uint32_t i = 0; i < 4096; i++) {
        uint32_t position = i - 2048; /* -2048 to 2047: across the wrap */
        unsigned distance = 0;

        while ((position + distance) % 512 != 0)
            distance++;
        EXPECT(marker_distance(position) == distance, "position %u: %u, expected %u", position,
               marker_distance(position), distance);
    }
}
END_TEST

/* The numbers of RFC 5044 itself. */
START_TEST(markers_follow_the_published_numbers)
{
    ck_assert_uint_eq(marker_count(0, 48), 1); /* Figure 5: Marker 0000 in front of the first FPDU */
    ck_assert_uint_eq(marker_pointer(0, 0), 0);
    ck_assert_uint_eq(marker_count(0x1EC, 48), 1); /* Figure 6 */
    ck_assert_uint_eq(marker_pointer(0x1EC, 0), 0x14);
    ck_assert_uint_eq(marker_pointer(0, 1), 0x1FC); /* second Marker of an FPDU after a Marker: 508 */
    ck_assert_uint_eq(marker_pointer(0, 2), 0x3FC);
    ck_assert_uint_eq(marker_pointer(508, 0), 4);
    ck_assert_uint_eq(marker_pointer(508, 1), 516);
    ck_assert_uint_eq(marker_count(508, 4), 0); /* what ends where a Marker is due leaves it to the next FPDU */
    ck_assert_uint_eq(marker_count(508, 5), 1);
    ck_assert_uint_eq(marker_count(0, 508), 1);
    ck_assert_uint_eq(marker_count(0, 509), 2);
}
END_TEST

Suite *marker_suite(void)
{
    Suite *suite = suite_create("marker");
    TCase *tcase = tcase_create("marker");

    tcase_add_loop_test(tcase, markers_are_laid_at_every_phase, 0, 128);
    tcase_add_loop_test(tcase, any_seq_start, 0, 24);
    tcase_add_test(tcase, distance_to_the_next);
    tcase_add_test(tcase, markers_follow_the_published_numbers);
    suite_add_tcase(suite, tcase);
    return suite;
}
