/* SPDX-License-Identifier: BSD-2-Clause */
/* The other end of a veth: a kernel's TCP at that end leaves checksums to a card that is not there. */
#ifndef CONFORMANCE_ENGINE_PROBE_VETH_H
#define CONFORMANCE_ENGINE_PROBE_VETH_H

#include <net/if.h>
#include <stdbool.h>

/* The name of the other end of the veth `interface`. False: it is no veth, or that end is in another network namespace. */
bool probe_veth_peer(const char *interface, char peer[IF_NAMESIZE]);

#endif
