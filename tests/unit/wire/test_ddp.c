/* SPDX-License-Identifier: BSD-2-Clause */
/* DDP Segment headers. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/guard.h"
#include "tests/unit/suites.h"
#include "wire/ddp.h"

Suite *ddp_suite(void);

static const uint8_t tagged_octets[] = {
    0xC1, 0x40, 0x11, 0x22, 0x33, 0x44, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0xA6, 0xA7, 0xA8, 'd', 'a', 't', 'a',
};
static const uint8_t untagged_octets[] = {
    0x41, 0x44, 0xDE, 0xAD, 0xBE, 0xEF, 0x01, 0x02, 0x03, 0x04,
    0x05, 0x06, 0x07, 0x08, 0x09, 0x0A, 0x0B, 0x0C, 'd',  'a',
};

START_TEST(tagged_segment_is_parsed_and_packed)
{
    const uint8_t *p = tagged_octets, *end = tagged_octets + sizeof(tagged_octets);
    struct ddp_segment segment;
    uint8_t header[18];

    ck_assert_uint_eq(ddp_parse(&p, end, &segment), WIRE_OK);
    ck_assert_ptr_eq(p, end);
    ck_assert(segment.tagged && segment.last);
    ck_assert_uint_eq(segment.version, 1);
    ck_assert_uint_eq(segment.reserved, 0);
    ck_assert_uint_eq(segment.control, 0x40);
    ck_assert_uint_eq(segment.stag, 0x11223344);
    ck_assert_uint_eq(segment.to, UINT64_C(0xA1A2A3A4A5A6A7A8));
    ck_assert_uint_eq(segment.ulp_word | segment.qn | segment.msn | segment.mo, 0);
    ck_assert_ptr_eq(segment.header, tagged_octets);
    ck_assert_uint_eq(segment.header_octets, 14);
    ck_assert_ptr_eq(segment.payload, tagged_octets + 14);
    ck_assert_uint_eq(segment.payload_octets, 4);
    ck_assert_uint_eq(ddp_pack_header(&segment, header), 14);
    ck_assert_mem_eq(header, tagged_octets, 14);
}
END_TEST

START_TEST(untagged_segment_is_parsed_and_packed)
{
    const uint8_t *p = untagged_octets, *end = untagged_octets + sizeof(untagged_octets);
    struct ddp_segment segment;
    uint8_t header[18];

    ck_assert_uint_eq(ddp_parse(&p, end, &segment), WIRE_OK);
    ck_assert_ptr_eq(p, end);
    ck_assert(!segment.tagged && segment.last);
    ck_assert_uint_eq(segment.control, 0x44);
    ck_assert_uint_eq(segment.ulp_word, 0xDEADBEEF);
    ck_assert_uint_eq(segment.qn, 0x01020304);
    ck_assert_uint_eq(segment.msn, 0x05060708);
    ck_assert_uint_eq(segment.mo, 0x090A0B0C);
    ck_assert_uint_eq(segment.stag, 0);
    ck_assert_uint_eq(segment.to, 0);
    ck_assert_uint_eq(segment.header_octets, 18);
    ck_assert_ptr_eq(segment.payload, untagged_octets + 18);
    ck_assert_uint_eq(segment.payload_octets, 2);
    ck_assert_uint_eq(ddp_pack_header(&segment, header), 18);
    ck_assert_mem_eq(header, untagged_octets, 18);
}
END_TEST

/* _i: the first octet. Each gives its fields, its own error when DV is not 1, and itself when packed. */
START_TEST(every_first_octet)
{
    uint8_t octets[40], header[18];
    uint64_t state = (uint64_t)_i;

    for (int round = 0; round < 50; round++) {
        bool is_tagged = _i & 0x80;
        size_t length = is_tagged ? 14 : 18, count = length + noise(&state) % 20;
        struct ddp_segment segment;
        wire_result expected = (_i & 3) == 1 ? WIRE_OK
                               : is_tagged   ? TERM_DDP_TAGGED_VERSION
                                             : TERM_DDP_UNTAGGED_VERSION;

        noise_fill(&state, octets, sizeof(octets));
        octets[0] = (uint8_t)_i;
        uint8_t *placed = guard_place(octets, count);
        const uint8_t *p = placed;

        ck_assert_uint_eq(ddp_parse(&p, placed + count, &segment), expected);
        ck_assert_ptr_eq(p, placed + count);
        ck_assert_int_eq(segment.tagged, is_tagged);
        ck_assert_int_eq(segment.last, (_i & 0x40) != 0);
        ck_assert_uint_eq(segment.reserved, _i >> 2 & 0xF);
        ck_assert_uint_eq(segment.version, _i & 3);
        ck_assert_uint_eq(segment.payload_octets, count - length);
        ck_assert_uint_eq(ddp_pack_header(&segment, header), length);
        ck_assert_mem_eq(header, octets, length);
        guard_free(placed, count);
    }
}
END_TEST

START_TEST(cut_ddp_header_asks_for_more)
{
    const uint8_t *octets = _i ? tagged_octets : untagged_octets;
    size_t header = _i ? 14 : 18;
    struct ddp_segment segment;

    for (size_t count = 0; count <= header; count++) {
        uint8_t *placed = guard_place(octets, count);
        const uint8_t *p = placed;

        ck_assert_uint_eq(ddp_parse(&p, placed + count, &segment), count < header ? WIRE_MORE : WIRE_OK);
        ck_assert_ptr_eq(p, count < header ? placed : placed + count);
        guard_free(placed, count);
    }
    ck_assert_uint_eq(segment.payload_octets, 0);
}
END_TEST

/* RFC 5041 7.1: the range may end at 2^64 and no further. */
START_TEST(tagged_offset_wrap)
{
    ck_assert(!ddp_to_wraps(0, 0));
    ck_assert(!ddp_to_wraps(UINT64_MAX, 0));
    ck_assert(!ddp_to_wraps(UINT64_MAX, 1)); /* ends at 2^64 */
    ck_assert(ddp_to_wraps(UINT64_MAX, 2));
    ck_assert(!ddp_to_wraps(UINT64_MAX - 9, 10));
    ck_assert(ddp_to_wraps(UINT64_MAX - 9, 11));
    ck_assert(!ddp_to_wraps(0, UINT64_MAX));
    ck_assert(!ddp_to_wraps(1, UINT64_MAX));
    ck_assert(ddp_to_wraps(2, UINT64_MAX));
}
END_TEST

Suite *ddp_suite(void)
{
    Suite *suite = suite_create("ddp");
    TCase *tcase = tcase_create("segments");

    tcase_add_test(tcase, tagged_segment_is_parsed_and_packed);
    tcase_add_test(tcase, untagged_segment_is_parsed_and_packed);
    tcase_add_loop_test(tcase, every_first_octet, 0, 256);
    tcase_add_loop_test(tcase, cut_ddp_header_asks_for_more, 0, 2);
    tcase_add_test(tcase, tagged_offset_wrap);
    suite_add_tcase(suite, tcase);
    return suite;
}
