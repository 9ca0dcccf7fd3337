/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The frame builder against libnet's, octet by octet, and against the parser; the parser against frames that break off,
 * contradict themselves, or are noise.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <libnet.h>

#include "generator/packet/packet.h"
#include "generator/link/random.h"
#include "tests/unit/guard.h"
#include "tests/unit/suites.h"

Suite *packet_suite(void);

static const uint8_t mac_a[6] = {0x02, 0x77, 0, 0, 0, 3};
static const uint8_t mac_b[6] = {0x02, 0x77, 0, 0, 0, 2};

static struct net_address address(const char *text)
{
    struct net_address out;

    ck_assert_int_eq(net_address_parse(&out, text), 0);
    return out;
}

/* Random fields, payload in `payload`, of either family. */
static struct packet_tcp random_fields(struct random *random, uint8_t family, const uint8_t *payload,
                                       const uint8_t *options)
{
    struct packet_tcp fields = {
        .source = address(family == 4 ? "10.77.0.3" : "fd77::3"),
        .destination = address(family == 4 ? "10.77.0.2" : "fd77::2"),
        .hop_limit = (uint8_t)(1 + random_below(random, 255)),
        .traffic_class = (uint8_t)random_next(random),
        .identification = (uint16_t)random_next(random),
        .flow_label = (uint32_t)random_below(random, 1 << 20),
        .source_port = (uint16_t)random_next(random),
        .destination_port = (uint16_t)random_next(random),
        .sequence = (uint32_t)random_next(random),
        .acknowledgment = (uint32_t)random_next(random),
        .flags = (uint8_t)random_next(random),
        .window = (uint16_t)random_next(random),
        .urgent = (uint16_t)random_next(random),
        .options = options,
        .options_octets = random_below(random, 11) * 4,
        .payload = payload,
        .payload_octets = random_below(random, 1400),
    };

    memcpy(fields.ethernet_source, mac_a, 6);
    memcpy(fields.ethernet_destination, mac_b, 6);
    return fields;
}

static void libnet_tcp(libnet_t *net, const struct packet_tcp *f)
{
    /* libnet keeps options in a block of their own, in front of which the TCP header goes. */
    if (f->options_octets > 0)
        ck_assert_int_ne(libnet_build_tcp_options(f->options, (uint32_t)f->options_octets, net, 0), -1);
    ck_assert_int_ne(libnet_build_tcp(f->source_port, f->destination_port, f->sequence, f->acknowledgment, f->flags,
                                      f->window, 0, f->urgent,
                                      (uint16_t)(LIBNET_TCP_H + f->options_octets + f->payload_octets),
                                      f->payload_octets > 0 ? f->payload : NULL, (uint32_t)f->payload_octets, net, 0),
                     -1);
}

static void libnet_ip(libnet_t *net, const struct packet_tcp *f)
{
    size_t upper = LIBNET_TCP_H + f->options_octets + f->payload_octets;

    if (f->source.family == 4) {
        uint32_t source;
        uint32_t destination;

        memcpy(&source, f->source.octets, 4);
        memcpy(&destination, f->destination.octets, 4);
        ck_assert_int_ne(libnet_build_ipv4((uint16_t)(LIBNET_IPV4_H + upper), f->traffic_class, f->identification,
                                           f->fragmentable ? 0 : IP_DF, f->hop_limit, IPPROTO_TCP, 0, source,
                                           destination, NULL, 0, net, 0),
                         -1);
    } else {
        struct libnet_in6_addr source;
        struct libnet_in6_addr destination;

        memcpy(&source, f->source.octets, 16);
        memcpy(&destination, f->destination.octets, 16);
        ck_assert_int_ne(libnet_build_ipv6(f->traffic_class, f->flow_label, (uint16_t)upper, IPPROTO_TCP, f->hop_limit,
                                           source, destination, NULL, 0, net, 0),
                         -1);
    }
}

static void expect_same(libnet_t *net, const uint8_t *frame, size_t octets)
{
    uint8_t *theirs = NULL;
    uint32_t their_octets = 0;

    ck_assert_msg(libnet_adv_cull_packet(net, &theirs, &their_octets) == 1, "%s", libnet_geterror(net));
    ck_assert_uint_eq(their_octets, octets);
    for (size_t i = 0; i < octets; i++)
        ck_assert_msg(frame[i] == theirs[i], "octet %zu of %zu is 0x%02x, libnet's is 0x%02x", i, octets, frame[i],
                      theirs[i]);
    libnet_adv_free_packet(net, theirs);
}

static libnet_t *open_libnet(void)
{
    char why[LIBNET_ERRBUF_SIZE] = "";
    libnet_t *net = libnet_init(LIBNET_NONE, NULL, why);

    ck_assert_msg(net != NULL, "libnet without a device: %s", why);
    net->injection_type = LIBNET_LINK_ADV; /* what libnet_adv_cull_packet() asks for; nothing is ever sent */
    return net;
}

START_TEST(tcp_frames_are_libnets)
{
    struct random random = {(uint64_t)_i + 1};
    uint8_t family = _i % 2 == 0 ? 4 : 6;
    uint8_t payload[1400];
    uint8_t options[40];
    uint8_t frame[1600];

    for (size_t i = 0; i < sizeof(payload); i++)
        payload[i] = (uint8_t)random_next(&random);
    memset(options, 1, sizeof(options));
    packet_mss_option(options, 1460);
    for (int round = 0; round < 20; round++) {
        struct packet_tcp fields = random_fields(&random, family, payload, options);
        libnet_t *net = open_libnet();
        size_t octets;

        fields.fragmentable = family == 4 && round % 2 != 0;
        /*
         * libnet 1.1.6 writes the flow label's lowest octet into the middle one too: compare labels where that is so.
         */
        fields.flow_label = (fields.flow_label & 0xf00ff) | (fields.flow_label & 0xff) << 8;
        octets = packet_build_tcp(frame, sizeof(frame), &fields);
        ck_assert_uint_ne(octets, 0);
        libnet_tcp(net, &fields);
        libnet_ip(net, &fields);
        ck_assert_int_ne(libnet_build_ethernet(mac_b, mac_a, family == 4 ? 0x0800 : 0x86dd, NULL, 0, net, 0), -1);
        expect_same(net, frame, octets);
        libnet_destroy(net);
    }
}
END_TEST

START_TEST(arp_frames_are_libnets)
{
    static const uint8_t zero[6];
    static const uint8_t all[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    const uint8_t *target = _i == PACKET_ARP_REQUEST ? zero : mac_b;
    uint8_t frame[60];
    size_t octets = packet_build_arp(frame, sizeof(frame), (uint16_t)_i, mac_a, (const uint8_t *)"abcd", mac_b,
                                     (const uint8_t *)"wxyz");
    libnet_t *net = open_libnet();

    ck_assert_int_ne(libnet_build_arp(ARPHRD_ETHER, ETHERTYPE_IP, 6, 4, (uint16_t)_i, mac_a, (const uint8_t *)"abcd",
                                      target, (const uint8_t *)"wxyz", NULL, 0, net, 0),
                     -1);
    ck_assert_int_ne(
        libnet_build_ethernet(_i == PACKET_ARP_REQUEST ? all : mac_b, mac_a, ETHERTYPE_ARP, NULL, 0, net, 0), -1);
    expect_same(net, frame, octets);
    libnet_destroy(net);
}
END_TEST

START_TEST(parser_reads_what_the_builder_wrote)
{
    struct random random = {(uint64_t)_i + 99};
    uint8_t payload[1400] = {7};
    uint8_t options[40];
    uint8_t frame[1600];
    struct packet_tcp f;
    struct packet p;
    const char *reason = "";
    size_t octets;

    memset(options, 1, sizeof(options));
    f = random_fields(&random, _i % 2 == 0 ? 4 : 6, payload, options);
    f.fragmentable = f.source.family == 4 && _i % 4 == 0;
    octets = packet_build_tcp(frame, sizeof(frame), &f);
    ck_assert_msg(packet_parse(&p, frame, octets, &reason) == 0, "%s", reason);
    ck_assert_int_eq(p.kind, PACKET_TCP);
    ck_assert(p.ip_checksum_ok && p.tcp_checksum_ok);
    ck_assert(p.fragmentable == f.fragmentable);
    ck_assert(net_address_equal(&p.source, &f.source) && net_address_equal(&p.destination, &f.destination));
    ck_assert(p.source_port == f.source_port && p.destination_port == f.destination_port);
    ck_assert(p.sequence == f.sequence && p.acknowledgment == f.acknowledgment);
    ck_assert(p.flags == f.flags && p.window == f.window && p.urgent == f.urgent && p.hop_limit == f.hop_limit);
    ck_assert_uint_eq(p.payload_octets, f.payload_octets);
    ck_assert_int_eq(memcmp(p.payload, payload, p.payload_octets), 0);
    ck_assert_uint_eq(p.options_octets, f.options_octets);
    /* Each bit counts: whichever is turned after the Ethernet header, a checksum or the parser notices. */
    for (size_t i = 14; i < octets; i += 1 + i / 100) {
        frame[i] ^= (uint8_t)(1 << (i % 8));
        if (packet_parse(&p, frame, octets, NULL) == 0 && p.kind == PACKET_TCP && p.ip_checksum_ok && p.tcp_checksum_ok)
            ck_assert_msg(f.source.family == 6 && i < 14 + 8, "octet %zu changed unnoticed", i); /* no checksum there */
        frame[i] ^= (uint8_t)(1 << (i % 8));
    }
}
END_TEST

START_TEST(overrides_are_taken)
{
    uint8_t frame[200];
    struct packet_tcp f = {.source = address("10.0.0.1"),
                           .destination = address("10.0.0.2"),
                           .payload = (const uint8_t *)"x",
                           .payload_octets = 1,
                           .overrides = PACKET_SET_IP_LENGTH | PACKET_SET_IP_CHECKSUM | PACKET_SET_TCP_CHECKSUM |
                                        PACKET_SET_DATA_OFFSET | PACKET_SET_IP_VERSION,
                           .ip_length = 0x1234,
                           .ip_checksum = 0x5678,
                           .tcp_checksum = 0x9abc,
                           .data_offset = 15,
                           .ip_version = 7};

    ck_assert_uint_eq(packet_build_tcp(frame, sizeof(frame), &f), 55);
    ck_assert_uint_eq(frame[14], 0x75);
    ck_assert_int_eq(memcmp(frame + 16, "\x12\x34", 2), 0);
    ck_assert_int_eq(memcmp(frame + 24, "\x56\x78", 2), 0);
    ck_assert_uint_eq(frame[46], 0xf0);
    ck_assert_int_eq(memcmp(frame + 50, "\x9a\xbc", 2), 0);
    f.overrides = 0;
    ck_assert_uint_eq(packet_build_tcp(frame, 54, &f), 0); /* does not fit */
    f.options_octets = 41;
    ck_assert_uint_eq(packet_build_tcp(frame, sizeof(frame), &f), 0);
    f.options_octets = 0;
    f.destination = address("::1");
    ck_assert_uint_eq(packet_build_tcp(frame, sizeof(frame), &f), 0);
    f.source = address("::2");
    f.traffic_class = 0x12;
    f.flow_label = 0x34567;
    ck_assert_uint_eq(packet_build_tcp(frame, sizeof(frame), &f), 75);
    ck_assert_int_eq(memcmp(frame + 14, "\x61\x23\x45\x67\x00\x15\x06\x40", 8), 0); /* RFC 8200 section 3 */
}
END_TEST

START_TEST(neighbour_discovery_there_and_back)
{
    struct net_address own = address("fd77::3");
    struct net_address peer = address("fd77::12:3456");
    struct net_address group = address("ff02::1:ff12:3456");
    uint8_t frame[100];
    struct packet p;
    size_t octets;

    octets = packet_build_neighbour_solicitation(frame, sizeof(frame), mac_a, own.octets, peer.octets);
    ck_assert_uint_eq(octets, 86);
    ck_assert_int_eq(packet_parse(&p, frame, octets, NULL), 0);
    ck_assert_int_eq(p.kind, PACKET_SOLICITATION);
    ck_assert(net_address_equal(&p.target, &peer) && net_address_equal(&p.source, &own));
    ck_assert(net_address_equal(&p.destination, &group));
    ck_assert_int_eq(memcmp(p.ethernet_destination, "\x33\x33\xff\x12\x34\x56", 6), 0);
    ck_assert_int_eq(memcmp(p.neighbour_mac, mac_a, 6), 0);
    ck_assert_uint_eq(p.hop_limit, 255);
    octets = packet_build_neighbour_advertisement(frame, sizeof(frame), mac_a, own.octets, mac_b, peer.octets);
    ck_assert_int_eq(packet_parse(&p, frame, octets, NULL), 0);
    ck_assert_int_eq(p.kind, PACKET_ADVERTISEMENT);
    ck_assert(net_address_equal(&p.target, &own));
    ck_assert_int_eq(memcmp(p.neighbour_mac, mac_a, 6), 0);
    frame[octets - 1] ^= 1;
    ck_assert_int_eq(packet_parse(&p, frame, octets, NULL), -1); /* its checksum */
    ck_assert_uint_eq(packet_build_neighbour_solicitation(frame, 85, mac_a, own.octets, peer.octets), 0);
}
END_TEST

/* Every length of every kind of frame, each ending where its memory ends. */
START_TEST(frames_that_break_off_are_named)
{
    uint8_t frames[4][200];
    size_t lengths[4];
    struct packet_tcp f = {.source = address("10.0.0.1"),
                           .destination = address("10.0.0.2"),
                           .options = (const uint8_t *)"\x02\x04\x05\xb4",
                           .options_octets = 4,
                           .payload = (const uint8_t *)"hello",
                           .payload_octets = 5};

    lengths[0] = packet_build_tcp(frames[0], 200, &f);
    f.source = address("::1");
    f.destination = address("::2");
    lengths[1] = packet_build_tcp(frames[1], 200, &f);
    lengths[2] = packet_build_arp(frames[2], 200, 1, mac_a, mac_a, mac_b, mac_b);
    lengths[3] = packet_build_neighbour_solicitation(frames[3], 200, mac_a, f.source.octets, f.destination.octets);
    for (int kind = 0; kind < 4; kind++)
        for (size_t octets = 0; octets < lengths[kind]; octets++) {
            uint8_t *frame = guard_place(frames[kind], octets);
            const char *reason = NULL;
            struct packet p;

            ck_assert_int_eq(packet_parse(&p, frame, octets, &reason), -1);
            ck_assert_ptr_nonnull(reason);
            guard_free(frame, octets);
        }
}
END_TEST

START_TEST(noise_is_survived)
{
    struct random random = {(uint64_t)_i};
    uint8_t frame[120];

    for (int round = 0; round < 20000; round++) {
        size_t octets = random_below(&random, sizeof(frame) + 1);
        uint8_t *placed;
        struct packet p;

        for (size_t i = 0; i < octets; i++)
            frame[i] = (uint8_t)random_next(&random);
        if (octets > 14) { /* more often than by chance: a known EtherType and version */
            static const uint8_t types[][3] = {{8, 0, 0x45}, {0x86, 0xdd, 0x60}, {8, 6, 0}, {0x81, 0, 0}, {8, 0, 0x4f}};

            memcpy(frame + 12, types[round % 5], 3);
            if (octets > 40 && round % 2 == 0) {
                frame[16] = 0; /* plausible lengths */
                frame[18] = 0;
                frame[20] = round % 4 == 0 ? 58 : 6;
                frame[23] = 6;
            }
        }
        placed = guard_place(frame, octets);
        (void)packet_parse(&p, placed, octets, NULL);
        guard_free(placed, octets);
    }
}
END_TEST

START_TEST(mss_option_is_found)
{
    static const struct {
        uint8_t options[12];
        uint16_t mss;
    } table[] = {
        {{2, 4, 0x05, 0xb4}, 1460},
        {{1, 1, 2, 4, 0x02, 0x18}, 536},
        {{8, 10, 0, 0, 0, 0, 0, 0, 0, 0, 2, 4}, 0}, /* breaks off */
        {{3, 3, 7, 2, 4, 0x01, 0x00}, 256},
        {{0, 2, 4, 0x05, 0xb4}, 0},    /* after the end of the list */
        {{9, 0, 2, 4, 0x05, 0xb4}, 0}, /* a length of 0 */
        {{9, 1, 2, 4, 0x05, 0xb4}, 0},
        {{2, 3, 5, 1}, 0},
    };
    struct packet_tcp f = {.source = address("10.0.0.1"), .destination = address("10.0.0.2"), .options_octets = 12};
    uint8_t frame[100];
    struct packet p;
    size_t octets;

    f.options = table[_i].options;
    octets = packet_build_tcp(frame, sizeof(frame), &f);
    ck_assert_int_eq(packet_parse(&p, frame, octets, NULL), 0);
    ck_assert_uint_eq(p.mss, table[_i].mss);
}
END_TEST

START_TEST(vlan_tags_and_padding_and_fragments)
{
    struct packet_tcp f = {.source = address("10.0.0.1"), .destination = address("10.0.0.2")};
    uint8_t frame[100] = {0};
    uint8_t tagged[104] = {0};
    struct packet p;

    ck_assert_uint_eq(packet_build_tcp(frame, sizeof(frame), &f), 54);
    ck_assert_int_eq(packet_parse(&p, frame, 60, NULL), 0); /* Ethernet's padding is not payload */
    ck_assert_uint_eq(p.payload_octets, 0);
    memcpy(tagged, frame, 12);
    /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): octets, no string */
    memcpy(tagged + 12, "\x81\x00\x00\x05", 4);
    memcpy(tagged + 16, frame + 12, 42);
    ck_assert_int_eq(packet_parse(&p, tagged, 58, NULL), 0);
    ck_assert_int_eq(p.kind, PACKET_TCP);
    ck_assert_uint_eq(p.ethertype, 0x0800);
    ck_assert_int_eq(packet_parse(&p, tagged, 15, NULL), -1);
    frame[20] |= 0x20; /* MF */
    ck_assert_int_eq(packet_parse(&p, frame, 54, NULL), 0);
    ck_assert_int_eq(p.kind, PACKET_FRAGMENT);
}
END_TEST

START_TEST(addresses_as_text)
{
    char text[46];
    struct net_address a = address("fd77:0::3");
    struct net_address b = address("10.77.0.3");

    ck_assert_str_eq(net_address_format(&a, text, sizeof(text)), "fd77::3");
    ck_assert_str_eq(net_address_format(&b, text, sizeof(text)), "10.77.0.3");
    ck_assert(!net_address_equal(&a, &b));
    ck_assert_int_eq(net_address_parse(&a, "10.77.0.256"), -1);
    ck_assert_int_eq(net_address_parse(&a, ""), -1);
    ck_assert_uint_eq(a.family, 0);
}
END_TEST

/* RFC 1071 section 3's example, and an odd length. */
START_TEST(checksum_of_the_rfc)
{
    static const uint8_t octets[] = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7, 0xab};

    ck_assert_uint_eq(packet_checksum(octets, 8, 0), (uint16_t)~0xddf2);
    ck_assert_uint_eq(packet_checksum(octets, 9, 0), (uint16_t) ~(0xddf2 + 0xab00 - 0x10000 + 1));
    ck_assert_uint_eq(packet_checksum(octets, 0, 0), 0xffff);
}
END_TEST

Suite *packet_suite(void)
{
    Suite *suite = suite_create("packet");
    TCase *building = tcase_create("building");
    TCase *parsing = tcase_create("parsing");

    tcase_add_loop_test(building, tcp_frames_are_libnets, 0, 10);
    tcase_add_loop_test(building, arp_frames_are_libnets, PACKET_ARP_REQUEST, PACKET_ARP_REPLY + 1);
    tcase_add_test(building, overrides_are_taken);
    tcase_add_test(building, checksum_of_the_rfc);
    tcase_add_loop_test(parsing, parser_reads_what_the_builder_wrote, 0, 20);
    tcase_add_test(parsing, neighbour_discovery_there_and_back);
    tcase_add_test(parsing, frames_that_break_off_are_named);
    tcase_add_loop_test(parsing, noise_is_survived, 0, 2);
    tcase_add_loop_test(parsing, mss_option_is_found, 0, 8);
    tcase_add_test(parsing, vlan_tags_and_padding_and_fragments);
    tcase_add_test(parsing, addresses_as_text);
    suite_add_tcase(suite, building);
    suite_add_tcase(suite, parsing);
    return suite;
}
