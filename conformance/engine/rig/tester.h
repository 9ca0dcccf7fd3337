/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A tester is an endpoint of our own on the rig's link: it sends what it is asked to send, and keeps what the device
 * answers. The TCP endpoint is one (tester_tcp.h). rig_pump() moves frames and time to every tester of a rig, so a
 * tester for another protocol needs these four functions and nothing else of the rig. Testers are sans-I/O: a tester
 * gets the time from its caller, and it sends frames by link_send() on the link that it was made for.
 */
#ifndef CONFORMANCE_ENGINE_TESTER_H
#define CONFORMANCE_ENGINE_TESTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "generator/packet/packet.h"
#include "base/sentence.h"

struct rig;
struct tester;

/* The outcome of one exchange that measures the round trip. */
struct tester_exchange {
    uint64_t round_trip_ns; /* 0: not known, because something had to be sent twice */
    bool refused;           /* the device answered that nothing listens: the exchange may work later */
};

struct tester_ops {
    /*
     * A frame from the link, seen at `now` on the link's clock. Each tester of a rig gets every frame; it ignores
     * frames of other protocols, frames for other addresses and malformed frames. The octets are valid during the call
     * only.
     */
    void (*input)(struct tester *tester, const uint8_t *frame, size_t octets, uint64_t now);

    /* When tick() has to be called next; LINK_NEVER: no timer runs. */
    uint64_t (*deadline)(const struct tester *tester);

    /* Fires the timers that are due at `now`. A call before the deadline is harmless. */
    void (*tick)(struct tester *tester, uint64_t now);

    /*
     * Makes one exchange with the rig's device and measures its round trip. The function waits by rig_pump(). 0, or -1
     * with a sentence: the device did not answer, it refused (then `refused` is set), or the link failed.
     */
    int (*measure)(struct tester *tester, struct rig *rig, struct tester_exchange *exchange,
                   struct iwarp_sentence *error);

    /*
     * Is there a connection of this tester with the device at `peer`, whichever of them opened it? Rules judge the
     * device on connections of the tester alone. NULL: the tester knows no connections.
     */
    bool (*owns)(const struct tester *tester, const struct net_address *peer, uint16_t own_port, uint16_t peer_port);
};

/* The first member of every tester. */
struct tester {
    const struct tester_ops *ops;
    struct tester *next; /* on the same rig: rig_attach() */
};

#endif
