/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A claim on an address of an interface: two testers that use the same address disturb each other's connections, and
 * each reports the other's frames as the device's. The kernel drops the claim when the process ends, for any reason.
 */
#ifndef GENERATOR_ADDRESS_CLAIM_H
#define GENERATOR_ADDRESS_CLAIM_H

#include "generator/packet/packet.h"
#include "base/sentence.h"

/*
 * Claims the address on the interface for this process, within its network namespace. Returns a descriptor, which the
 * caller closes to give the claim up, or -1 with a sentence when another process has it. Returns -1 without a sentence
 * for an address of family 0, or if the system has no such sockets.
 */
int address_claim(const char *interface, const struct net_address *address, struct iwarp_sentence *error);

#endif
