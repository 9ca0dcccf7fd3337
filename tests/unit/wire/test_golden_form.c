/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The host forms of headers against octets that were written by hand from the figures of the texts. test_golden.c does
 * it for the tables of fields; a parser and a packer that both exchange two members of a form would agree with each
 * other, too. Each octet of a header has another value here, so that no exchange goes unseen.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/suites.h"
#include "wire/atomic.h"
#include "wire/ddp.h"
#include "wire/fpdu.h"
#include "wire/terminate.h"

Suite *golden_form_suite(void);

/* RFC 5041 4.2: T, no L, Rsvd 0, DV 1. */
START_TEST(tagged_segment_matches_octet_for_octet)
{
    static const uint8_t octets[14] = {0x81, 0x42, 1, 2, 3, 4, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18};
    const uint8_t *p = octets;
    struct ddp_segment segment;
    uint8_t packed[18] = {0};

    ck_assert_uint_eq(ddp_parse(&p, octets + sizeof(octets), &segment), WIRE_OK);
    ck_assert(segment.tagged && !segment.last);
    ck_assert_uint_eq(segment.reserved, 0);
    ck_assert_uint_eq(segment.version, 1);
    ck_assert_uint_eq(segment.control, 0x42);
    ck_assert_uint_eq(segment.stag, 0x01020304);
    ck_assert_uint_eq(segment.to, UINT64_C(0x1112131415161718));
    ck_assert_uint_eq(ddp_pack_header(&segment, packed), sizeof(octets));
    ck_assert_mem_eq(packed, octets, sizeof(octets));
}
END_TEST

/* RFC 5041 4.3 and RFC 5040 4.1: no T, L, a Send with Invalidate. */
START_TEST(untagged_segment_matches_octet_for_octet)
{
    static const uint8_t octets[18] = {0x41, 0x44, 1,    2,    3,    4,    0x11, 0x12, 0x13,
                                       0x14, 0x21, 0x22, 0x23, 0x24, 0x31, 0x32, 0x33, 0x34};
    const uint8_t *p = octets;
    struct ddp_segment segment;
    uint8_t packed[18] = {0};

    ck_assert_uint_eq(ddp_parse(&p, octets + sizeof(octets), &segment), WIRE_OK);
    ck_assert(!segment.tagged && segment.last);
    ck_assert_uint_eq(segment.control, 0x44);
    ck_assert_uint_eq(segment.ulp_word, 0x01020304);
    ck_assert_uint_eq(segment.qn, 0x11121314);
    ck_assert_uint_eq(segment.msn, 0x21222324);
    ck_assert_uint_eq(segment.mo, 0x31323334);
    ck_assert_uint_eq(ddp_pack_header(&segment, packed), sizeof(octets));
    ck_assert_mem_eq(packed, octets, sizeof(octets));
}
END_TEST

/* RFC 7306 5.2.1: CmpSwap; the reserved bits are zero. */
START_TEST(atomic_request_matches_octet_for_octet)
{
    static const uint8_t octets[52] = {
        0,    0,    0,    2,    0x01, 0x02, 0x03, 0x04, 0x11, 0x12, 0x13, 0x14, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26,
        0x27, 0x28, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48,
        0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68,
    };
    const uint8_t *p = octets;
    struct atomic_request request;
    uint8_t packed[52] = {0};

    ck_assert_uint_eq(atomic_request_parse(&p, octets + sizeof(octets), &request), WIRE_OK);
    ck_assert_ptr_eq(p, octets + sizeof(octets));
    ck_assert_uint_eq(request.reserved, 0);
    ck_assert_uint_eq(request.opcode, IWARP_ATOMIC_COMPARE_SWAP);
    ck_assert_uint_eq(request.id, 0x01020304);
    ck_assert_uint_eq(request.stag, 0x11121314);
    ck_assert_uint_eq(request.to, UINT64_C(0x2122232425262728));
    ck_assert_uint_eq(request.data, UINT64_C(0x3132333435363738));
    ck_assert_uint_eq(request.mask, UINT64_C(0x4142434445464748));
    ck_assert_uint_eq(request.compare_data, UINT64_C(0x5152535455565758));
    ck_assert_uint_eq(request.compare_mask, UINT64_C(0x6162636465666768));
    atomic_request_pack(&request, packed);
    ck_assert_mem_eq(packed, octets, sizeof(octets));
}
END_TEST

/* RFC 7306 5.2.2 */
START_TEST(atomic_response_matches_octet_for_octet)
{
    static const uint8_t octets[12] = {0x01, 0x02, 0x03, 0x04, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18};
    const uint8_t *p = octets;
    struct atomic_response response;
    uint8_t packed[12] = {0};

    ck_assert_uint_eq(atomic_response_parse(&p, octets + sizeof(octets), &response), WIRE_OK);
    ck_assert_uint_eq(response.id, 0x01020304);
    ck_assert_uint_eq(response.value, UINT64_C(0x1112131415161718));
    atomic_response_pack(&response, packed);
    ck_assert_mem_eq(packed, octets, sizeof(octets));
}
END_TEST

static void expect_terminate(const uint8_t *octets, size_t count, const struct terminate *expected)
{
    const uint8_t *p = octets;
    struct terminate terminate;
    uint8_t packed[IWARP_TERMINATE_MAX] = {0};

    ck_assert_uint_eq(terminate_parse(&p, octets + count, &terminate), WIRE_OK);
    ck_assert_uint_eq(terminate.triple, expected->triple);
    ck_assert(terminate.m == expected->m && terminate.d == expected->d && terminate.r == expected->r);
    ck_assert_uint_eq(terminate.has_length, expected->has_length);
    if (terminate.has_length)
        ck_assert_uint_eq(terminate.ddp_segment_length, expected->ddp_segment_length);
    ck_assert_ptr_eq(terminate.ddp_header, expected->ddp_header);
    ck_assert_uint_eq(terminate.ddp_header_octets, expected->ddp_header_octets);
    ck_assert_ptr_eq(terminate.rdmap_header, expected->rdmap_header);
    ck_assert_uint_eq(terminate.rdmap_header_octets, expected->rdmap_header_octets);
    ck_assert_uint_eq(terminate_pack(expected, packed, sizeof(packed)), count);
    ck_assert_mem_eq(packed, octets, count);
}

/* RFC 5040 4.8, Figure 10: MPA CRC Error, which quotes nothing; M, D and R are 0. */
START_TEST(terminate_without_headers_matches_octet_for_octet)
{
    static const uint8_t octets[4] = {0x20, 0x02, 0, 0};

    expect_terminate(octets, sizeof(octets), &(struct terminate){.triple = TERM_MPA_CRC});
}
END_TEST

/* Tagged Buffer Error, Base or bounds violation: M and D, the length and the tagged header. */
START_TEST(terminate_of_a_write)
{
    static const uint8_t octets[20] = {0x11, 0x01, 0xC0, 0,    0x01, 0x02, 0xC1, 0x40, 1,    2,
                                       3,    4,    0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18};

    expect_terminate(octets, sizeof(octets),
                     &(struct terminate){.triple = TERM_DDP_BOUNDS,
                                         .m = true,
                                         .d = true,
                                         .has_length = true,
                                         .ddp_segment_length = 0x0102,
                                         .ddp_header = octets + 6,
                                         .ddp_header_octets = 14});
}
END_TEST

/* Remote Protection Error, Access rights violation, of a Read Request: M, D and R; the length and both headers. */
START_TEST(terminate_of_a_read)
{
    static const uint8_t octets[52] = {
        0x01, 0x02, 0xE0, 0, 0, 46, /* Terminate Control, DDP Segment Length */
        0x41, 0x41, 0,    0, 0, 0,  0, 0, 0, 1, 0, 0, 0, 1, [24] = 0x11, 0x12, 0x13, /* DDP, SinkSTag */
    };

    expect_terminate(octets, sizeof(octets),
                     &(struct terminate){.triple = TERM_RDMAP_ACCESS,
                                         .m = true,
                                         .d = true,
                                         .r = true,
                                         .has_length = true,
                                         .ddp_segment_length = 46,
                                         .ddp_header = octets + 6,
                                         .ddp_header_octets = 18,
                                         .rdmap_header = octets + 24,
                                         .rdmap_header_octets = 28});
}
END_TEST

/*
 * RFC 5044 4.1, 4.3, 4.4: a ULPDU of 5 octets whose FPDU begins 8 octets in front of a Marker's place. The Marker
 * stands after length, ULPDU and pad, and points back over them; it goes into the CRC, which leaves with its least
 * significant octet first. The CRC was computed bit by bit, from the polynomial 0x1EDC6F41 of RFC 3720 12.1 alone.
 */
START_TEST(fpdu_with_marker)
{
    static const uint8_t octets[16] = {0, 5, 'w', 'a', 'r', 'p', '!', 0, 0, 0, 0, 8, 0xB4, 0x88, 0x07, 0xCA};
    const struct fpdu_framing framing = {.markers = true, .crc = true, .position = 504};
    static uint8_t scratch[FPDU_SCRATCH_OCTETS];
    const uint8_t *p = octets;
    struct fpdu fpdu;
    uint8_t packed[sizeof(octets) + 1] = {0};

    ck_assert_uint_eq(fpdu_parse(&p, octets + sizeof(octets), &framing, scratch, &fpdu), WIRE_OK);
    ck_assert_uint_eq(fpdu.ulpdu_length, 5);
    ck_assert_mem_eq(fpdu.ulpdu, "warp!", 5);
    ck_assert_uint_eq(fpdu.markers, 1);
    ck_assert_uint_eq(fpdu.octets, sizeof(octets));
    ck_assert_uint_eq(fpdu_pack((const uint8_t *)"warp!", 5, &framing, packed, sizeof(packed)), sizeof(octets));
    ck_assert_mem_eq(packed, octets, sizeof(octets));
}
END_TEST

Suite *golden_form_suite(void)
{
    Suite *suite = suite_create("golden_form");
    TCase *tcase = tcase_create("golden_form");

    tcase_add_test(tcase, tagged_segment_matches_octet_for_octet);
    tcase_add_test(tcase, untagged_segment_matches_octet_for_octet);
    tcase_add_test(tcase, atomic_request_matches_octet_for_octet);
    tcase_add_test(tcase, atomic_response_matches_octet_for_octet);
    tcase_add_test(tcase, terminate_without_headers_matches_octet_for_octet);
    tcase_add_test(tcase, terminate_of_a_write);
    tcase_add_test(tcase, terminate_of_a_read);
    tcase_add_test(tcase, fpdu_with_marker);
    suite_add_tcase(suite, tcase);
    return suite;
}
