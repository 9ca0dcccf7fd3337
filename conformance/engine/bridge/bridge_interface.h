/* SPDX-License-Identifier: BSD-2-Clause */
/* One of the two interfaces: frames in by libpcap's ring, frames out by the same socket, and what was lost. */
#ifndef CONFORMANCE_ENGINE_BRIDGE_INTERFACE_H
#define CONFORMANCE_ENGINE_BRIDGE_INTERFACE_H

#include <pcap/pcap.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/sentence.h"
#include "generator/link/link_capture.h"

enum { BRIDGE_SNAP_OCTETS = 65535 + 14 + 4 * 4 };

struct bridge_interface {
    const char *name;
    pcap_t *link; /* NULL: it is gone */
    int file;     /* to wait on */
    size_t mtu;   /* octets of an IP packet */
    uint64_t nanoseconds_per_tick;
    uint64_t frames, octets; /* came in */
    uint64_t sent, unsent;   /* went out; could not, though not too long */
    uint64_t too_long;       /* longer than the MTU, and not cut */
    struct link_capture_losses lost;
};

/* Frames that come in alone; those that the host itself sends there are not seen. -1 with a sentence. */
int bridge_interface_open(struct bridge_interface *interface, const char *name, uint64_t buffer,
                          struct iwarp_sentence *error);
void bridge_interface_close(struct bridge_interface *interface);

/* True: it went. False: it is counted why not; an interface that is gone is closed. */
bool bridge_interface_send(struct bridge_interface *interface, const uint8_t *frame, size_t octets);

#endif
