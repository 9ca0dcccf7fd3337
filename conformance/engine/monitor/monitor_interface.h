/* SPDX-License-Identifier: BSD-2-Clause */
/* An interface that is monitored: libpcap's ring on it, and what the ring lost. */
#ifndef CONFORMANCE_ENGINE_MONITOR_INTERFACE_H
#define CONFORMANCE_ENGINE_MONITOR_INTERFACE_H

#include <pcap/pcap.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/sentence.h"
#include "conformance/flow/event/flow_frame.h"
#include "generator/link/link_capture.h"

enum { MONITOR_INTERFACES = 8, MONITOR_SNAP_OCTETS = 262144, MONITOR_BLOCK_MS = 100 };

struct monitor_interface {
    const char *name;
    pcap_t *in; /* NULL: it is gone */
    int file;   /* to wait on */
    uint32_t link;
    uint64_t nanoseconds_per_tick;
    uint64_t frames, octets;
    struct link_capture_losses lost;
};

/*
 * Opens the ring of `buffer` octets; `filter` (NULL: none) is the kernel's to apply. -1 with a sentence. Closed by
 * monitor_interface_close(). The name outlives it.
 */
int monitor_interface_open(struct monitor_interface *interface, const char *name, uint64_t buffer, const char *filter,
                           struct iwarp_sentence *error);
void monitor_interface_close(struct monitor_interface *interface);

/*
 * Hands over the frames that are there, up to `most`; numbers are the caller's. Returns how many; -1 with a sentence: the
 * interface is gone, or cannot be read any more.
 */
int monitor_interface_read(struct monitor_interface *interface, int most,
                           void (*give)(void *user, struct flow_frame *frame), void *user,
                           struct iwarp_sentence *error);

#endif
