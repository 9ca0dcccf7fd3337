/* SPDX-License-Identifier: BSD-2-Clause */
#include "generator/packet/frame.h"

#include <check.h>
#include <string.h>

#include "wire/crc32c.h"
#include "wire/marker.h"

static uint8_t ulpdu[1500];
static uint8_t out[4096];

static void setup(void)
{
    for (size_t i = 0; i < sizeof(ulpdu); i++)
        ulpdu[i] = (uint8_t)(i * 13 + (i >> 8));
}

static struct frame_spec spec_of(size_t octets, bool markers, uint32_t position)
{
    return (struct frame_spec){.ulpdu = ulpdu, .ulpdu_octets = octets, .framing = {markers, true, position}};
}

/* With nothing overridden the builder and wire/ agree, octet for octet. */
START_TEST(by_the_book)
{
    uint8_t packed[4096];

    for (size_t octets = 0; octets <= sizeof(ulpdu); octets += 7) {
        struct frame_spec spec = spec_of(octets, _i & 1, (uint32_t)_i / 2 * 4);
        size_t count = frame_build(&spec, out, sizeof(out));

        ck_assert_uint_eq(count, fpdu_pack(ulpdu, octets, &spec.framing, packed, sizeof(packed)));
        ck_assert_mem_eq(out, packed, count);
    }
}
END_TEST

/* The room that is promised is what is used, whatever is overridden, and one octet less is refused. */
START_TEST(room_is_exact)
{
    static const uint8_t pad[11];

    for (size_t octets = 0; octets < 1100; octets += 3) {
        struct frame_spec spec = spec_of(octets, _i & 1, 508);
        size_t room;

        spec.set_pad = _i & 2;
        spec.pad = pad;
        spec.pad_octets = octets % 11;
        spec.omit_crc = _i & 4;
        room = frame_room(&spec);
        ck_assert_uint_eq(frame_build(&spec, out, room), room);
        ck_assert_uint_eq(frame_build(&spec, out, room - 1), 0);
    }
}
END_TEST

START_TEST(any_field_of_a_frame_can_be_overridden)
{
    struct frame_spec spec = spec_of(20, false, 0);
    uint32_t right;

    ck_assert_uint_eq(frame_build(&spec, out, sizeof(out)), 28);
    right = octets_get32_little(out + 24);
    ck_assert_uint_eq(right, crc32c(out, 24));

    spec.crc_flip = 0x10;
    (void)frame_build(&spec, out, sizeof(out));
    ck_assert_uint_eq(octets_get32_little(out + 24), right ^ 0x10);
    spec.crc_flip = 0;
    spec.crc_swapped = true;
    (void)frame_build(&spec, out, sizeof(out));
    ck_assert_uint_eq(octets_get32(out + 24), right);
    spec.crc_swapped = false;
    spec.set_crc = true;
    spec.crc = 7;
    (void)frame_build(&spec, out, sizeof(out));
    ck_assert_uint_eq(octets_get32_little(out + 24), 7);
    spec.set_crc = false;
    spec.set_length = true;
    spec.length = 99;
    (void)frame_build(&spec, out, sizeof(out));
    ck_assert_uint_eq(fpdu_get_ULPDU_Length(out), 99);
    ck_assert_msg(octets_get32_little(out + 24) == crc32c(out, 24), "the CRC covers what is sent");
}
END_TEST

START_TEST(marker_is_touched)
{
    struct frame_spec spec = spec_of(600, true, 0);

    spec.touch_marker = true;
    spec.marker_index = 1;
    spec.marker_pointer_flip = 0x0004;
    spec.marker_reserved = 0xBEEF;
    ck_assert_uint_gt(frame_build(&spec, out, sizeof(out)), 512 + MARKER_OCTETS);
    ck_assert_uint_eq(marker_get_FPDUPTR(out), 0);
    ck_assert_uint_eq(marker_get_FPDUPTR(out + 512), marker_pointer(0, 1) ^ 4);
    ck_assert_uint_eq(marker_get_Reserved(out + 512), 0xBEEF);
}
END_TEST

Suite *frame_suite(void);

Suite *frame_suite(void)
{
    Suite *suite = suite_create("frame");
    TCase *tests = tcase_create("frame");

    tcase_add_checked_fixture(tests, setup, NULL);
    tcase_add_loop_test(tests, by_the_book, 0, 16);
    tcase_add_loop_test(tests, room_is_exact, 0, 8);
    tcase_add_test(tests, any_field_of_a_frame_can_be_overridden);
    tcase_add_test(tests, marker_is_touched);
    suite_add_tcase(suite, tests);
    return suite;
}
