/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A link on a real interface (or a veth end): frames leave through libnet's link-layer injection and arrive through
 * libpcap, in immediate mode and promiscuously, so that the tester can use an address that the kernel does not own. Our
 * own frames are not echoed.
 */
#ifndef GENERATOR_LINK_NET_H
#define GENERATOR_LINK_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "generator/link/link.h"
#include "generator/packet/packet.h"

struct link_net_config {
    const char *interface;   /* such as "wc1" */
    uint8_t mac[6];          /* the tester's MAC; all zero: the interface's own (see link_net_mac()) */
    struct net_address ipv4; /* the tester's addresses: IP to others is not captured; family 0: none */
    struct net_address ipv6;
};

/*
 * Opens the link. Returns NULL with a sentence for: no such interface, no privileges, interface down, not Ethernet,
 * an address that another tester on this interface answers for (address_claim.h).
 * Needs CAP_NET_RAW. The caller closes it with link_close().
 */
struct link *link_net_open(const struct link_net_config *config, struct iwarp_sentence *error);

/* The MAC that the tester uses on this link, six octets. */
const uint8_t *link_net_mac(const struct link *link);

/* Frames that the kernel dropped because we were slow. If not 0, checks have missed frames. */
uint64_t link_net_dropped(struct link *link);

/* The interface is down, or has no carrier: nobody at its other end. False also if the kernel does not report it. */
bool link_net_is_down(const struct link *link);

/*
 * The time of a frame on the clock of link_now(), all in nanoseconds. The kernel gives a captured frame the time of the
 * wall clock, which somebody may set during a run; link_now() never steps. A time before that of the last frame
 * (`last_ns`) or after now shows that the clock was stepped: the frame then gets the time now. A time in the future
 * would move the timers of the tester's TCP, and none of them would expire during the run.
 */
uint64_t link_net_frame_time(uint64_t last_ns, uint64_t captured_ns, uint64_t now_ns);

#endif
