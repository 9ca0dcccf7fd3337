/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The embedded environment: a user and a network namespace of the process' own, holding a veth pair. On one end
 * (wc0) the kernel's TCP owns an address, for a DUT that is an ordinary program; on the other (wc1) the lower tester
 * uses an address that the kernel does not own, so that no RST of the kernel's ever interferes.
 */
#ifndef GENERATOR_NETNS_H
#define GENERATOR_NETNS_H

#include <stdint.h>

#include "base/sentence.h"

#define NETNS_KERNEL_INTERFACE "wc0"
#define NETNS_TESTER_INTERFACE "wc1"
#define NETNS_KERNEL_IPV4      "10.77.0.2"
#define NETNS_KERNEL_IPV6      "fd77::2"
#define NETNS_TESTER_IPV4      "10.77.0.3"
#define NETNS_TESTER_IPV6      "fd77::3"

/* The tester's MAC on wc1: locally administered. */
#define NETNS_TESTER_MAC                                                                                               \
    {                                                                                                                  \
        0x02, 0x77, 0x63, 0x00, 0x00, 0x03                                                                             \
    }

struct netns_config {
    const char *kernel_interface; /* NULL in any of these: the name or address above */
    const char *tester_interface;
    const char *kernel_ipv4;
    const char *kernel_ipv6;
    unsigned mtu; /* 0: 1500 */
};

/*
 * Moves the calling process into new namespaces and builds the veth pair in them: addresses, MTU, offloads off so that
 * frames look as on a wire, lo up. Works as root and as an ordinary user. It cannot be undone. The process must be
 * single-threaded. NULL config: all defaults. Returns 0, or -1 with one sentence (namespaces forbidden, `ip` not found,
 * ...); after -1 the process may already be in the new namespaces and should end.
 */
int netns_enter(const struct netns_config *config, struct iwarp_sentence *error);

#endif
