/* SPDX-License-Identifier: BSD-2-Clause */
/* The link on an interface: what it takes, what it leaves, how long it waits, and what it says when it cannot. */
#define _GNU_SOURCE
#include <check.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "generator/link/link_net.h"
#include "generator/link/netns.h"
#include "reference-stack/program/confine.h"
#include "tests/unit/suites.h"

START_TEST(stepped_wall_clock_moves_no_frame)
{
    const uint64_t hour = UINT64_C(3600) * 1000000000, now = 5 * hour, last = now - 2000;

    ck_assert_uint_eq(link_net_frame_time(last, now - 1000, now), now - 1000);
    ck_assert_uint_eq(link_net_frame_time(last, last, now), last); /* two in one tick */
    ck_assert_uint_eq(link_net_frame_time(last, now, now), now);
    ck_assert_uint_eq(link_net_frame_time(last, now - 1000 + hour, now), now);
    ck_assert_uint_eq(link_net_frame_time(last, now - 1000 - hour, now), now);
    ck_assert_uint_eq(link_net_frame_time(0, now - 1000, now), now - 1000);
}
END_TEST

Suite *link_net_suite(void);

#define MILLISECOND UINT64_C(1000000)
#define BURST       600u /* frames that nobody reads meanwhile */

static const uint8_t tester_mac[6] = NETNS_TESTER_MAC;
static const uint8_t other_mac[6] = {0x02, 1, 2, 3, 4, 5};

static void enter(void)
{
    struct iwarp_sentence error = {""};

    ck_assert_msg(netns_enter(NULL, &error) == 0, "%s", error.text);
}

static struct link *open_link(const char *interface, const uint8_t mac[6])
{
    struct link_net_config config = {.interface = interface};
    struct iwarp_sentence error = {""};
    struct link *link;

    memcpy(config.mac, mac, 6);
    link = link_net_open(&config, &error);
    ck_assert_msg(link != NULL, "%s", error.text);
    return link;
}

/* A frame of an EtherType for experiments (RFC 5342), which the kernel leaves alone, with one octet to tell it by. */
static void send_frame(struct link *link, const uint8_t to[6], const uint8_t from[6], uint8_t mark, size_t octets)
{
    uint8_t frame[1514] = {0};

    memcpy(frame, to, 6);
    memcpy(frame + 6, from, 6);
    frame[12] = 0x88;
    frame[13] = 0xb5;
    frame[14] = mark;
    ck_assert_msg(link_send(link, frame, octets) == 0, "%s", link->error.text);
}

START_TEST(frames_for_us_and_no_others)
{
    struct link *ours;
    struct link *theirs;
    struct link_frame frame;
    struct timespec wall;
    uint8_t arp[60] = {0};

    enter();
    ours = open_link(NETNS_TESTER_INTERFACE, tester_mac);
    theirs = open_link(NETNS_KERNEL_INTERFACE, other_mac);
    ck_assert_int_eq(memcmp(link_net_mac(ours), tester_mac, 6), 0);
    send_frame(theirs, other_mac, other_mac, 1, 100); /* not ours */
    send_frame(ours, tester_mac, tester_mac, 2, 100); /* our own, though it bears our address */
    send_frame(theirs, tester_mac, other_mac, 3, 1514);
    ck_assert_uint_ne(packet_build_arp(arp, sizeof(arp), PACKET_ARP_REQUEST, other_mac, (const uint8_t *)"abcd",
                                       other_mac, (const uint8_t *)"efgh"),
                      0);
    ck_assert_int_eq(link_send(theirs, arp, sizeof(arp)), 0);
    ck_assert_int_eq(link_receive(ours, &frame, link_now(ours) + 1000 * MILLISECOND), 1);
    ck_assert_uint_eq(frame.length, 1514);
    ck_assert_uint_eq(frame.wire_length, 1514);
    ck_assert_uint_eq(frame.octets[14], 3);
    (void)clock_gettime(CLOCK_REALTIME, &wall);
    ck_assert_uint_le(frame.time_ns / 1000000000, (uint64_t)wall.tv_sec);
    ck_assert_uint_ge(frame.time_ns / 1000000000 + 5, (uint64_t)wall.tv_sec);
    ck_assert_int_eq(link_receive(ours, &frame, link_now(ours) + 1000 * MILLISECOND), 1);
    ck_assert_uint_eq(frame.octets[13], 0x06); /* ARP */
    ck_assert_int_eq(link_receive(ours, &frame, link_now(ours) + 50 * MILLISECOND), 0);
    ck_assert_uint_eq(link_net_dropped(ours), 0);
    link_close(ours);
    link_close(theirs);
}
END_TEST

/*
 * Frames joined by the interface may be of 64 KiB, and libpcap keeps so much room for each. A burst fits all the same.
 */
START_TEST(burst_fits_where_frames_are_joined)
{
    struct ethtool_value on = {.cmd = ETHTOOL_SGRO, .data = 1};
    struct ifreq request = {.ifr_name = NETNS_TESTER_INTERFACE, .ifr_data = (void *)&on};
    struct link *ours;
    struct link *theirs;
    struct link_frame frame;
    int handle;

    enter();
    handle = socket(AF_INET, SOCK_DGRAM, 0);
    ck_assert_int_eq(ioctl(handle, SIOCETHTOOL, &request), 0);
    (void)close(handle);
    ours = open_link(NETNS_TESTER_INTERFACE, tester_mac);
    theirs = open_link(NETNS_KERNEL_INTERFACE, other_mac);
    for (unsigned i = 0; i < BURST; i++)
        send_frame(theirs, tester_mac, other_mac, (uint8_t)i, 1514);
    for (unsigned i = 0; i < BURST; i++) {
        ck_assert_int_eq(link_receive(ours, &frame, link_now(ours) + 1000 * MILLISECOND), 1);
        ck_assert_uint_eq(frame.octets[14], (uint8_t)i);
    }
    ck_assert_uint_eq(link_net_dropped(ours), 0);
    link_close(ours);
    link_close(theirs);
}
END_TEST

START_TEST(deadline_is_kept)
{
    struct link *link;
    struct link_frame frame;
    uint64_t before;

    enter();
    link = open_link(NETNS_TESTER_INTERFACE, tester_mac);
    before = link_now(link);
    ck_assert_int_eq(link_receive(link, &frame, before + 30 * MILLISECOND), 0);
    ck_assert_uint_ge(link_now(link), before + 30 * MILLISECOND);
    ck_assert_int_eq(link_receive(link, &frame, before), 0); /* past: looks, and does not wait */
    link_close(link);
}
END_TEST

START_TEST(frame_beyond_the_mtu_is_an_error)
{
    uint8_t frame[3000] = {0};
    struct link *link;

    enter();
    link = open_link(NETNS_TESTER_INTERFACE, tester_mac);
    ck_assert_int_eq(link_send(link, frame, sizeof(frame)), -1);
    ck_assert_msg(strstr(link->error.text, "wc1: cannot send a frame of 3000 octets") != NULL, "%s", link->error.text);
    link_close(link);
}
END_TEST

START_TEST(link_says_what_is_wrong)
{
    struct link_net_config config = {.interface = "wc9"};
    struct iwarp_sentence error = {""};

    enter();
    ck_assert_ptr_null(link_net_open(&config, &error));
    ck_assert_msg(strstr(error.text, "wc9: no such interface") != NULL, "%s", error.text);
    config.interface = "a-name-that-is-too-long";
    ck_assert_ptr_null(link_net_open(&config, &error));
    ck_assert_ptr_nonnull(strstr(error.text, "not a name"));
    /* NOLINTNEXTLINE(cert-env33-c): a constant command in a namespace of its own */
    ck_assert_int_eq(system("PATH=/usr/sbin:/sbin:$PATH ip link set wc1 down"), 0);
    config.interface = "wc1";
    ck_assert_ptr_null(link_net_open(&config, &error));
    ck_assert_msg(strstr(error.text, "wc1: the interface is down") != NULL, "%s", error.text);
}
END_TEST

/*
 * Two testers with one address on one interface: the second is refused, until the first has gone. Another address is
 * another's.
 */
START_TEST(an_address_is_one_testers)
{
    struct link_net_config config = {.interface = "wc1"};
    struct iwarp_sentence error = {""};
    struct link *first, *second;

    enter();
    ck_assert_int_eq(net_address_parse(&config.ipv4, "10.77.0.3"), 0);
    ck_assert_int_eq(net_address_parse(&config.ipv6, "fd77::3"), 0);
    first = link_net_open(&config, &error);
    ck_assert_msg(first != NULL, "%s", error.text);
    ck_assert_ptr_null(link_net_open(&config, &error));
    ck_assert_str_eq(error.text,
                     "wc1: another run of warpcheck answers for 10.77.0.3; expected an address that is this "
                     "run's alone");
    config.ipv4.family = 0;
    ck_assert_ptr_null(link_net_open(&config, &error));
    ck_assert_ptr_nonnull(strstr(error.text, "answers for fd77::3;"));
    ck_assert_int_eq(net_address_parse(&config.ipv6, "fd77::4"), 0);
    second = link_net_open(&config, &error);
    ck_assert_msg(second != NULL, "%s", error.text);
    link_close(second);
    link_close(first);
    ck_assert_int_eq(net_address_parse(&config.ipv6, "fd77::3"), 0);
    second = link_net_open(&config, &error);
    ck_assert_msg(second != NULL, "%s", error.text);
    link_close(second);
}
END_TEST

static int open_loopback(struct iwarp_sentence *error)
{
    struct link_net_config config = {.interface = "lo"};

    return link_net_open(&config, error) != NULL ? 0 : -1;
}

START_TEST(missing_privileges_are_named)
{
    struct iwarp_sentence error = {""};
    struct iwarp_sentence said = {""};

    enter();
    ck_assert_msg(confine_privileges(0, &error) == 0, "%s", error.text);
    ck_assert_int_eq(open_loopback(&said), -1);
    ck_assert_msg(strstr(said.text, "privileges") != NULL, "%s", said.text);
}
END_TEST

Suite *link_net_suite(void)
{
    Suite *suite = suite_create("link_net");
    TCase *tests = tcase_create("link_net");

    tcase_add_test(tests, frames_for_us_and_no_others);
    tcase_add_test(tests, burst_fits_where_frames_are_joined);
    tcase_add_test(tests, deadline_is_kept);
    tcase_add_test(tests, frame_beyond_the_mtu_is_an_error);
    tcase_add_test(tests, link_says_what_is_wrong);
    tcase_add_test(tests, an_address_is_one_testers);
    tcase_add_test(tests, missing_privileges_are_named);
    tcase_add_test(tests, stepped_wall_clock_moves_no_frame);
    suite_add_tcase(suite, tests);
    return suite;
}
