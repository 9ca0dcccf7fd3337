/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The network in which the tester's IKE and ESP run, a namespace of its own between the lower tester and the device:
 *
 *   lower tester -- veth (in the caller's namespace) -- inner [ ipsec0: ESP ] outer -- the profile's interface -- device
 *
 * `outer` is a macvlan on the profile's interface, with an address that no machine uses, so that nothing of the host's
 * own changes. What the lower tester sends to the device's address goes into ipsec0, whose other side is charon's, and
 * nowhere else; what reaches `outer` without ESP is not forwarded. So all that the lower tester sees came out of ESP.
 */
#ifndef CONFORMANCE_ENGINE_IPSEC_NETWORK_H
#define CONFORMANCE_ENGINE_IPSEC_NETWORK_H

#include "base/sentence.h"
#include "generator/packet/packet.h"

#define IPSEC_INNER  "inner"
#define IPSEC_OUTER  "outer"
#define IPSEC_TUNNEL "ipsec0" /* kernel-libipsec names it so, and the kernel's has the same name */

enum {
    IPSEC_MTU = 1400,      /* what is left below ESP, in UDP, in a tunnel, of 1500 octets */
    IPSEC_INTERFACE_ID = 1 /* if_id of the kernel's SAs and policies */
};

struct ipsec_network {
    const char *interface;            /* the profile's */
    const char *veth;                 /* what the lower tester's end is to be called */
    struct net_address own, device;   /* of the lower tester and of the device's streams */
    struct net_address address, peer; /* of the tester's IKE and of the device's */
    struct net_address gateway;       /* before the device; family 0: none */
};

/* Moves the calling process into such a namespace and makes it, as far as it can before charon runs. */
int ipsec_network_enter(const struct ipsec_network *network, struct iwarp_sentence *error);

/*
 * Makes ipsec0 of the kernel's ESP (an xfrm interface), in the namespace just made. False with a sentence: this kernel
 * has no such interface, or no ESP; nothing is left behind.
 */
bool ipsec_network_kernel_esp(struct iwarp_sentence *why);

/*
 * To be called when ipsec0 is there, the kernel's or charon's: from now on the lower tester's frames go there.
 */
int ipsec_network_join(const struct ipsec_network *network, struct iwarp_sentence *error);

#endif
