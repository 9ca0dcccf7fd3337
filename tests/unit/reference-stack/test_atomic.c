/* SPDX-License-Identifier: BSD-2-Clause */
/* Atomic Request and Response Headers, Immediate Data. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/guard.h"
#include "tests/unit/suites.h"
#include "wire/atomic.h"

Suite *atomic_suite(void);

START_TEST(request_by_hand)
{
    uint8_t octets[52], packed[52];
    struct atomic_request request;
    const uint8_t *p = octets;

    for (size_t i = 0; i < 52; i++)
        octets[i] = (uint8_t)(0x80 + i);
    ck_assert_uint_eq(atomic_request_parse(&p, octets + 52, &request), WIRE_OK);
    ck_assert_ptr_eq(p, octets + 52);
    ck_assert_uint_eq(request.reserved, 0x8081828);
    ck_assert_uint_eq(request.opcode, 3);
    ck_assert_uint_eq(request.id, 0x84858687);
    ck_assert_uint_eq(request.stag, 0x88898A8B);
    ck_assert_uint_eq(request.to, UINT64_C(0x8C8D8E8F90919293));
    ck_assert_uint_eq(request.data, UINT64_C(0x9495969798999A9B));
    ck_assert_uint_eq(request.mask, UINT64_C(0x9C9D9E9FA0A1A2A3));
    ck_assert_uint_eq(request.compare_data, UINT64_C(0xA4A5A6A7A8A9AAAB));
    ck_assert_uint_eq(request.compare_mask, UINT64_C(0xACADAEAFB0B1B2B3));
    atomic_request_pack(&request, packed);
    ck_assert_mem_eq(packed, octets, 52);
}
END_TEST

START_TEST(response_by_hand)
{
    static const uint8_t octets[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    struct atomic_response response;
    const uint8_t *p = octets;
    uint8_t packed[12];

    ck_assert_uint_eq(atomic_response_parse(&p, octets + 12, &response), WIRE_OK);
    ck_assert_ptr_eq(p, octets + 12);
    ck_assert_uint_eq(response.id, 0x01020304);
    ck_assert_uint_eq(response.value, UINT64_C(0x05060708090A0B0C));
    atomic_response_pack(&response, packed);
    ck_assert_mem_eq(packed, octets, 12);
}
END_TEST

START_TEST(random_round_trips)
{
    uint64_t state = (uint64_t)_i;
    uint8_t octets[52], packed[52];

    for (int round = 0; round < 100; round++) {
        struct atomic_request request;
        struct atomic_response response;
        const uint8_t *p = octets;

        noise_fill(&state, octets, sizeof(octets));
        noise_fill(&state, packed, sizeof(packed)); /* what stood there before must not show through */
        ck_assert_uint_eq(atomic_request_parse(&p, octets + 52, &request), WIRE_OK);
        atomic_request_pack(&request, packed);
        ck_assert_mem_eq(packed, octets, 52);
        p = octets;
        ck_assert_uint_eq(atomic_response_parse(&p, octets + 12, &response), WIRE_OK);
        noise_fill(&state, packed, sizeof(packed));
        atomic_response_pack(&response, packed);
        ck_assert_mem_eq(packed, octets, 12);
    }
}
END_TEST

START_TEST(cut_atomic_headers_ask_for_more)
{
    uint8_t octets[64] = {0};

    for (size_t count = 0; count <= 60; count++) {
        uint8_t *placed = guard_place(octets, count);
        struct atomic_request request;
        struct atomic_response response;
        const uint8_t *p = placed;

        ck_assert_uint_eq(atomic_request_parse(&p, placed + count, &request), count < 52 ? WIRE_MORE : WIRE_OK);
        ck_assert_uint_eq((size_t)(p - placed), count < 52 ? 0 : 52);
        p = placed;
        ck_assert_uint_eq(atomic_response_parse(&p, placed + count, &response), count < 12 ? WIRE_MORE : WIRE_OK);
        ck_assert_uint_eq((size_t)(p - placed), count < 12 ? 0 : 12);
        guard_free(placed, count);
    }
}
END_TEST

START_TEST(names_and_sizes)
{
    ck_assert_str_eq(wire_name_of(atomic_opcode_names, 0), "FetchAdd");
    ck_assert_str_eq(wire_name_of(atomic_opcode_names, 1), "Swap");
    ck_assert_str_eq(wire_name_of(atomic_opcode_names, 2), "CmpSwap");
    ck_assert_ptr_null(wire_name_of(atomic_opcode_names, 3));
    ck_assert_uint_eq(atomic_request_layout.octets, 52);
    ck_assert_uint_eq(atomic_response_layout.octets, 12);
    ck_assert_uint_eq(immediate_layout.octets, 8);
}
END_TEST

Suite *atomic_suite(void)
{
    Suite *suite = suite_create("atomic");
    TCase *tcase = tcase_create("atomic");

    tcase_add_test(tcase, request_by_hand);
    tcase_add_test(tcase, response_by_hand);
    tcase_add_loop_test(tcase, random_round_trips, 0, 8);
    tcase_add_test(tcase, cut_atomic_headers_ask_for_more);
    tcase_add_test(tcase, names_and_sizes);
    suite_add_tcase(suite, tcase);
    return suite;
}
