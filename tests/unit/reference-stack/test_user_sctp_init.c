/* SPDX-License-Identifier: BSD-2-Clause */
/* INIT and INIT ACK with addresses that libusrsctp does not list. */
#include <check.h>
#include <string.h>

#include "reference-stack/transport/user_sctp_init.h"
#include "tests/unit/suites.h"
#include "wire/octets.h"
#include "wire/sctp.h"

Suite *user_sctp_init_suite(void);

enum { INIT_OCTETS = 20, COOKIE_OCTETS = 7 };

/* A packet with one chunk of this type, which ends with a parameter of 7 octets; its pad is left out where `cut`. */
static size_t packet_of(uint8_t *packet, uint8_t type, bool cut)
{
    size_t chunk = INIT_OCTETS + COOKIE_OCTETS;
    uint8_t *p = packet + SCTP_COMMON_OCTETS;

    memset(packet, 0, SCTP_COMMON_OCTETS + chunk + 1);
    p[0] = type;
    octets_put16(p + 2, (uint16_t)chunk);
    octets_put32(p + 4, 0x11223344); /* Initiate Tag */
    octets_put32(p + 8, 65536);      /* a_rwnd */
    octets_put16(p + 12, 10);        /* OS */
    octets_put16(p + 14, 10);        /* MIS */
    octets_put16(p + INIT_OCTETS, SCTP_PARAMETER_COOKIE);
    octets_put16(p + INIT_OCTETS + 2, COOKIE_OCTETS);
    return SCTP_COMMON_OCTETS + chunk + !cut;
}

START_TEST(addresses_follow_what_is_there)
{
    uint8_t packet[64], listed[USER_SCTP_INIT_ROOM];
    const uint8_t types[] = {SCTP_INIT, SCTP_INIT_ACK};

    for (int i = 0; i < 4; i++) {
        size_t octets = packet_of(packet, types[i / 2], i % 2);
        size_t with = user_sctp_list_addresses(packet, octets, 2, listed);
        const uint8_t *p = listed + SCTP_COMMON_OCTETS;
        struct sctp_chunk chunk;
        struct sctp_init init;

        ck_assert_uint_eq(with, SCTP_COMMON_OCTETS + INIT_OCTETS + COOKIE_OCTETS + 1 + 2 * 8);
        ck_assert_int_eq(sctp_chunk_parse(&p, listed + with, &chunk), WIRE_OK);
        ck_assert_int_eq(sctp_init_parse(&chunk, &init), WIRE_OK);
        ck_assert_uint_eq(chunk.octets, with - SCTP_COMMON_OCTETS);
        ck_assert_uint_eq(init.addresses, 2);
        ck_assert_uint_eq(init.tag, 0x11223344);
        ck_assert_uint_eq(octets_get32(listed + with - 4), 0xC0000202);
    }
}
END_TEST

START_TEST(others_are_left_as_they_are)
{
    uint8_t packet[64], listed[USER_SCTP_INIT_ROOM];
    size_t octets = packet_of(packet, SCTP_COOKIE_ACK, false);

    ck_assert_uint_eq(user_sctp_list_addresses(packet, octets, 2, listed), 0);
    ck_assert_uint_eq(user_sctp_list_addresses(packet, SCTP_COMMON_OCTETS - 1, 2, listed), 0);
    octets = packet_of(packet, SCTP_INIT, false);
    ck_assert_uint_eq(user_sctp_list_addresses(packet, octets, USER_SCTP_INIT_ROOM / 8, listed), 0);
    ck_assert_uint_ne(user_sctp_list_addresses(packet, octets, USER_SCTP_INIT_ROOM / 8 - 5, listed), 0);
}
END_TEST

Suite *user_sctp_init_suite(void)
{
    Suite *suite = suite_create("user_sctp_init");
    TCase *tcase = tcase_create("addresses");

    tcase_add_test(tcase, addresses_follow_what_is_there);
    tcase_add_test(tcase, others_are_left_as_they_are);
    suite_add_tcase(suite, tcase);
    return suite;
}
