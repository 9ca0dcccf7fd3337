/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the link shows of a device below MPA: whether somebody answers for its address, and whether its segments have
 * good checksums. A tester's TCP drops a segment with a wrong checksum and reports nothing: the user would see a silent
 * device.
 */
#ifndef CONFORMANCE_ENGINE_PROBE_WIRE_H
#define CONFORMANCE_ENGINE_PROBE_WIRE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "conformance/engine/probe/probe_veth.h"
#include "conformance/engine/rig/rig.h"

struct probe_wire {
    struct rig *rig;
    struct net_address gateway; /* the router before the device; family 0: it is on the tester's link */
    link_tap *next;             /* the tap that watched the link before */
    void *next_context;
    uint64_t asked_ns; /* the first question for its MAC; 0: none yet */
    bool neighbour;    /* it was answered: */
    uint8_t mac[6];
    uint8_t own_mac[6]; /* that the tester's frames have */
    uint64_t neighbour_ns;
    uint64_t echo_ns; /* when the ICMP echo request left; 0: not yet */
    bool echo;        /* it was answered */
    bool rival;       /* somebody else has our address: */
    uint8_t rival_mac[6];
    bool rival_asked;
    bool unreachable; /* ICMP says that the device, or its port, cannot be reached */
    uint8_t unreachable_code;
    unsigned segments; /* of TCP, from the device */
    unsigned wrong;    /* of these with a wrong checksum */
    unsigned partial;  /* of these with the sum of the pseudo-header alone */
    unsigned resets;   /* of these RST */
    size_t largest;    /* octets of payload */
};

/* Watches the rig's link from now on; this tap gets each frame before the existing tap. */
void probe_wire_watch(struct probe_wire *wire, struct rig *rig);

/*
 * Sends a request for our own address, which no other host should have, and an ICMP echo request to the device; waits
 * for answers. -1: the link failed.
 */
int probe_wire_ask(struct probe_wire *wire);

/*
 * Appends what was seen to `found`, as lines of the report. `veth`: the other end, if the tester's interface is a veth;
 * NULL: it is not. -1 without memory.
 */
int probe_wire_report(const struct probe_wire *wire, const struct probe_veth *veth, json_t *found);

#endif
