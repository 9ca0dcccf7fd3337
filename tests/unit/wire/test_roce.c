/* SPDX-License-Identifier: BSD-2-Clause */
/* The RoCEv2 packet around a MAD: that of Linux rxe is made again octet for octet from what stands in its headers. */
#include <check.h>
#include <pcap/pcap.h>
#include <string.h>

#include "tests/unit/guard.h"
#include "tests/unit/suites.h"
#include "wire/cm_pack.h"
#include "wire/roce.h"

Suite *roce_suite(void);

enum { ETHERNET = 14, UDP = 8 };

/* The way of a frame with a CM message, and its packet from the BTH on; NULL: it has none. */
static const uint8_t *take(const uint8_t *frame, size_t count, struct roce_path *path)
{
    const uint8_t *ip = frame + ETHERNET, *udp;
    size_t header = octets_get16(frame + 12) == 0x0800 ? 20 : 40;

    memset(path, 0, sizeof(*path));
    if (count != ETHERNET + header + UDP + UD_MAD_OCTETS)
        return NULL;
    path->family = header == 20 ? 4 : 6;
    if (path->family == 4) {
        path->identification = octets_get16(ip + 4);
        path->may_fragment = (ip[6] & 0x40) == 0;
    }
    memcpy(path->source, ip + (path->family == 4 ? 12 : 8), path->family == 4 ? 4 : 16);
    memcpy(path->destination, ip + (path->family == 4 ? 16 : 24), path->family == 4 ? 4 : 16);
    udp = ip + header;
    path->source_port = octets_get16(udp);
    path->destination_port = octets_get16(udp + 2);
    return path->destination_port == ROCE_V2_PORT && ud_mad_parse(udp + UDP, UD_MAD_OCTETS) != NULL ? udp + UDP : NULL;
}

/* How many packets of a capture were made again, by family. */
static void make_again(const char *name, unsigned made[2])
{
    char why[PCAP_ERRBUF_SIZE];
    pcap_t *file = pcap_open_offline(name, why);
    struct pcap_pkthdr *head;
    const uint8_t *frame, *packet;

    ck_assert_msg(file != NULL, "%s", why);
    while (pcap_next_ex(file, &head, &frame) == 1) {
        struct roce_path path;
        struct ud_header header;
        uint8_t again[UD_MAD_OCTETS];

        packet = take(frame, head->caplen, &path);
        if (packet == NULL)
            continue;
        header = (struct ud_header){(uint32_t)bth_get_PSN(packet), bth_get_M(packet) != 0, bth_get_A(packet) != 0};
        roce_pack(again, &path, &header, ud_mad_parse(packet, UD_MAD_OCTETS));
        ck_assert_mem_eq(again, packet, UD_MAD_OCTETS);
        ck_assert(roce_icrc_good(&path, packet));
        path.destination[0] ^= 1;
        ck_assert(!roce_icrc_good(&path, packet));
        made[path.family == 6]++;
    }
    pcap_close(file);
}

/* Captured of rping and ucmatose between two kernels (pcaps/linux-rxe/README.md). */
START_TEST(packets_of_linux_rxe_are_rebuilt)
{
    unsigned made[2] = {0, 0};

    make_again("pcaps/linux-rxe/rxe-cm.pcap", made);
    ck_assert_uint_eq(made[0], 12);
    ck_assert_uint_eq(made[1], 5);
}
END_TEST

START_TEST(generated_roce_packets_are_rebuilt)
{
    unsigned made[2] = {0, 0};

    make_again("pcaps/generated/cm-roce-v2.pcap", made);
    make_again("pcaps/generated/cm-roce-v2-ipv6.pcap", made);
    ck_assert_uint_ge(made[0], 10);
    ck_assert_uint_eq(made[0], made[1]);
}
END_TEST

/* Everything that is not a UD packet to queue pair 1 is refused, whatever its size, and none is read past its end. */
START_TEST(packet_without_a_mad_is_refused)
{
    uint8_t mad[MAD_OCTETS], packet[UD_MAD_OCTETS], other[UD_MAD_OCTETS];

    cm_begin(mad, CM_REQ, 1);
    ud_mad_pack(packet, &(struct ud_header){.psn = 0xFFFFFF, .migrated = true}, mad);
    ck_assert_ptr_eq(ud_mad_parse(packet, sizeof(packet)), packet + BTH_OCTETS + DETH_OCTETS);
    ck_assert_mem_eq(ud_mad_parse(packet, sizeof(packet)), mad, MAD_OCTETS);
    ck_assert_uint_eq(bth_get_PSN(packet), 0xFFFFFF);
    for (size_t count = 0; count < sizeof(packet); count++) {
        uint8_t *placed = guard_place(packet, count);

        ck_assert_ptr_null(ud_mad_parse(placed, count));
        guard_free(placed, count);
    }
    for (size_t i = 0; i < 5; i++) {
        memcpy(other, packet, sizeof(other));
        other[(const uint8_t[]){0, 1, 1, 7, 15}[i]] ^= (const uint8_t[]){1, 0x10, 1, 2, 1}[i];
        ck_assert_ptr_null(ud_mad_parse(other, sizeof(other)));
    }
}
END_TEST

START_TEST(addresses_and_times)
{
    static const uint8_t four[4] = {192, 0, 2, 1}, expected[16] = {[12] = 192, [14] = 2, [15] = 1};
    uint8_t out[16];

    memset(out, 0xFF, sizeof(out));
    ip_cm_set_address(out, 4, four);
    ck_assert_mem_eq(out, expected, sizeof(out));
    ip_cm_set_address(out, 6, expected);
    ck_assert_mem_eq(out, expected, sizeof(out));
    ck_assert_uint_eq(ip_cm_service_id(6, 3260), UINT64_C(0x0000000001060CBC));
    ck_assert_uint_eq(ip_cm_service_id(132, 2049), UINT64_C(0x0000000001840801));
    ck_assert_uint_eq(cm_time_ns(0), 4096);
    ck_assert_uint_eq(cm_time_ns(20), UINT64_C(4294967296));
    ck_assert_uint_eq(cm_time_ns(31), UINT64_C(4096) << 31);
}
END_TEST

Suite *roce_suite(void)
{
    Suite *suite = suite_create("roce");
    TCase *tcase = tcase_create("packets");

    tcase_add_test(tcase, packets_of_linux_rxe_are_rebuilt);
    tcase_add_test(tcase, generated_roce_packets_are_rebuilt);
    tcase_add_test(tcase, packet_without_a_mad_is_refused);
    tcase_add_test(tcase, addresses_and_times);
    suite_add_tcase(suite, tcase);
    return suite;
}
