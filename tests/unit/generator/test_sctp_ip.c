/* SPDX-License-Identifier: BSD-2-Clause */
/* SCTP in frames: what is built is read again, over IP and in UDP, and nothing else is. */
#include "generator/sctp/sctp_ip.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/guard.h"
#include "tests/unit/suites.h"
#include "base/octets.h"

Suite *sctp_ip_suite(void);

static const uint8_t packet[] = {0x13, 0xB3, 0x13, 0xB3, 1, 2, 3, 4, 5, 6, 7, 8, 9};

static size_t build(uint8_t *frame, size_t room, bool six, uint16_t port)
{
    struct packet_ip ip = {.identification = 7};
    const struct sctp_ip_ports ports = {port, port};

    (void)net_address_parse(&ip.source, six ? "fd77::3" : "10.77.0.3");
    (void)net_address_parse(&ip.destination, six ? "fd77::2" : "10.77.0.2");
    return sctp_ip_build(frame, room, &ip, &ports, packet, sizeof(packet));
}

/* The sum over pseudo-header and datagram with its checksum in place (RFC 768, RFC 8200 section 8.1). */
static bool udp_checksum_fits(const uint8_t *frame, bool six)
{
    const uint8_t *ip = frame + PACKET_ETHERNET_OCTETS, *udp = ip + (six ? PACKET_IPV6_OCTETS : PACKET_IPV4_OCTETS);
    size_t addresses = six ? 32 : 8, length = octets_get16(udp + 4);
    uint8_t all[64 + 64] = {0};

    memcpy(all, ip + (six ? 8 : 12), addresses);
    octets_put16(all + addresses, 17);
    octets_put16(all + addresses + 2, (uint16_t)length);
    memcpy(all + addresses + 4, udp, length);
    return packet_checksum(all, addresses + 4 + length, 0) == 0;
}

START_TEST(sctp_packet_survives_ip_and_udp)
{
    bool six = (_i & 1) != 0;
    uint16_t port = (_i & 2) != 0 ? 9899 : 0;
    struct sctp_datagram got;
    uint8_t frame[128];
    size_t count = build(frame, sizeof(frame), six, port);

    ck_assert_uint_ne(count, 0);
    ck_assert(sctp_ip_open(frame, count, port, &got));
    ck_assert_uint_eq(got.octets, sizeof(packet));
    ck_assert_mem_eq(got.packet, packet, sizeof(packet));
    ck_assert_uint_eq(got.source.family, six ? 6 : 4);
    ck_assert_uint_eq(got.source.octets[six ? 15 : 3], 3);
    ck_assert_uint_eq(got.destination.octets[six ? 15 : 3], 2);
    ck_assert(port == 0 || udp_checksum_fits(frame, six));
    ck_assert(!sctp_ip_open(frame, count, port == 0 ? 9899 : 0, &got));
    ck_assert(!sctp_ip_open(frame, count, 9900, &got));
}
END_TEST

/* As many octets as there are: whole or nothing, and no octet after them is read. */
START_TEST(cut_sctp_packet_is_whole_or_nothing)
{
    bool six = (_i & 1) != 0;
    uint16_t port = (_i & 2) != 0 ? 9899 : 0;
    struct sctp_datagram got;
    uint8_t frame[128];
    size_t count = build(frame, sizeof(frame), six, port);

    for (size_t n = 0; n <= count; n++) {
        uint8_t *placed = guard_place(frame, n);

        ck_assert_int_eq(sctp_ip_open(placed, n, port, &got), n == count);
        guard_free(placed, n);
    }
    for (size_t room = 0; room < count; room++)
        ck_assert_uint_eq(build(frame, room, six, port), 0);
}
END_TEST

/* UDP lengths that contradict the IP packet's. */
START_TEST(contradicting_udp_lengths_are_refused)
{
    static const uint16_t lengths[] = {0, 7, 8 + sizeof(packet) + 1, 0xFFFF};
    struct sctp_datagram got;
    uint8_t frame[128];
    size_t count = build(frame, sizeof(frame), true, 9899);

    octets_put16(frame + PACKET_ETHERNET_OCTETS + PACKET_IPV6_OCTETS + 4, lengths[_i]);
    ck_assert(!sctp_ip_open(frame, count, 9899, &got));
}
END_TEST

Suite *sctp_ip_suite(void)
{
    Suite *suite = suite_create("sctp_ip");
    TCase *tcase = tcase_create("frames");

    tcase_add_loop_test(tcase, sctp_packet_survives_ip_and_udp, 0, 4);
    tcase_add_loop_test(tcase, cut_sctp_packet_is_whole_or_nothing, 0, 4);
    tcase_add_loop_test(tcase, contradicting_udp_lengths_are_refused, 0, 4);
    suite_add_tcase(suite, tcase);
    return suite;
}
