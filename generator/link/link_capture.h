/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The live capture of an Ethernet interface, by libpcap: opened alike for a link and for what keeps frames of others.
 */
#ifndef GENERATOR_LINK_CAPTURE_H
#define GENERATOR_LINK_CAPTURE_H

#include <pcap/pcap.h>
#include <stdbool.h>
#include <stdint.h>

struct iwarp_sentence;

struct link_capture_settings {
    int snap_octets;   /* of a frame, so many are kept */
    int buffer_octets; /* of the kernel's ring */
    int block_ms;  /* frames may wait so long in a block of the ring, which then has many: 0: each is given at once */
    bool any_link; /* Ethernet is not all that the caller reads: pcap_datalink() says what the interface has */
};

/*
 * Starts to capture, both directions, in promiscuous mode; reading does not wait. *nanoseconds_per_tick: of the frames'
 * tv_usec, 1, or 1000 where the interface has microseconds alone. The caller closes it with pcap_close(). NULL with a
 * sentence that says what helps.
 */
pcap_t *link_capture_open(const char *interface, const struct link_capture_settings *settings,
                          uint64_t *nanoseconds_per_tick, struct iwarp_sentence *error);

/* Has the kernel leave out what the filter (pcap-filter(7)) does not name. 0, or -1 with a sentence. */
int link_capture_filter(pcap_t *in, const char *interface, const char *filter, struct iwarp_sentence *error);

/* Frames that were lost so far: no room in the ring; by the interface or its driver. */
struct link_capture_losses {
    uint64_t ring, interface;
};

/* Brings *losses up to date. How many frames more than at the last call; 0 also where nothing is known, or `in` is NULL. */
uint64_t link_capture_lost(pcap_t *in, struct link_capture_losses *losses);

/* Nanoseconds since 1970 of a captured frame. */
uint64_t link_capture_time(const struct pcap_pkthdr *header, uint64_t nanoseconds_per_tick);

#endif
