/* SPDX-License-Identifier: BSD-2-Clause */
/* The other end of a veth: a kernel's TCP at that end leaves checksums to a card that is not there. */
#ifndef CONFORMANCE_ENGINE_PROBE_VETH_H
#define CONFORMANCE_ENGINE_PROBE_VETH_H

#include <net/if.h>
#include <stdbool.h>

struct probe_veth {
    char peer[IF_NAMESIZE]; /* name of the other end in its own network namespace; "": not known */
    bool elsewhere;         /* that end is in another network namespace */
};

/*
 * What the kernel says about the other end of `interface`. An interface index counts in one namespace only, so the
 * kernel is asked which namespace the peer is in (rtnetlink: IFLA_LINK, IFLA_LINK_NETNSID). False: `interface` is no
 * veth, or nothing is known.
 */
bool probe_veth_find(const char *interface, struct probe_veth *found);

#endif
