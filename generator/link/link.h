/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A link carries whole Ethernet frames (no FCS) between the lower tester and a DUT. Every kind of link is one ops
 * table: `net` (libnet and libpcap on an interface, link_net.h) and `sim` (virtual time, link_sim.h). There is no sleep
 * function: to sleep, receive until a deadline. On a simulated link this takes no wall-clock time.
 */
#ifndef GENERATOR_LINK_H
#define GENERATOR_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sentence.h"

#define LINK_NEVER          UINT64_MAX /* a deadline that never comes */
#define LINK_ETHERNET_MTU   1500u      /* for links that report no MTU */
#define LINK_FRAME_CAPACITY 65549u     /* largest frame that a link carries: 65535 octets after an Ethernet header */

struct link;

/*
 * A frame as the link delivered it. `octets` belongs to the link, and is valid until the next link_receive() or
 * link_close(): link_send() leaves it as it is.
 */
struct link_frame {
    const uint8_t *octets;
    size_t length;      /* octets present */
    size_t wire_length; /* octets that were on the wire; more than `length` where the capture cut the frame */
    uint64_t time_ns;   /* when it was seen, on the clock of link_now() */
};

struct link_ops {
    int (*send)(struct link *link, const uint8_t *frame, size_t octets);
    int (*receive)(struct link *link, struct link_frame *out, uint64_t deadline_ns);
    uint64_t (*now)(struct link *link);
    void (*close)(struct link *link);
};

/* Called for every frame of link_send() and link_receive(); the pcapng writer uses it. */
typedef void link_tap(void *context, const uint8_t *frame, size_t octets, uint64_t time_ns, bool inbound);

struct link {
    const struct link_ops *ops;
    struct iwarp_sentence error; /* what went wrong, after a call that returned -1 */
    bool send_failed;            /* a send from within a callback failed (tcp_link_emit()) */
    link_tap *tap;               /* NULL: none */
    void *tap_context;
    size_t mtu; /* octets of the longest IP packet that the link takes in one piece */
};

/* The link's clock in nanoseconds: wall-clock based and never stepping back on `net`, virtual on `sim`. */
static inline uint64_t link_now(struct link *link)
{
    return link->ops->now(link);
}

/* Sends one whole Ethernet frame. Returns 0, or -1 with link->error set; a frame lost by a simulated wire returns 0. */
static inline int link_send(struct link *link, const uint8_t *frame, size_t octets)
{
    if (link->tap != NULL)
        link->tap(link->tap_context, frame, octets, link->ops->now(link), false);
    return link->ops->send(link, frame, octets);
}

/*
 * Waits for a frame until `deadline_ns` on the link's clock. Returns 1 with a frame in *out, 0 at the deadline, -1 with
 * link->error set. A simulated link also returns 0 when nothing more can happen, and a real one early after a signal.
 * If the deadline is in the past, a frame that has already arrived is still returned.
 */
static inline int link_receive(struct link *link, struct link_frame *out, uint64_t deadline_ns)
{
    int got = link->ops->receive(link, out, deadline_ns);

    if (got == 1 && link->tap != NULL)
        link->tap(link->tap_context, out->octets, out->length, out->time_ns, true);
    return got;
}

/* Closes the link and frees it. NULL is allowed. */
static inline void link_close(struct link *link)
{
    if (link != NULL)
        link->ops->close(link);
}

#endif
