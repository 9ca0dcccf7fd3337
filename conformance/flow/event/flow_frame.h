/* SPDX-License-Identifier: BSD-2-Clause */
/* What the decoder is fed with: captured frames, or packets whose lower headers the caller has decoded. */
#ifndef FLOW_FLOW_FRAME_H
#define FLOW_FLOW_FRAME_H

#include <stddef.h>
#include <stdint.h>

/* X(name, number): LINKTYPE_ numbers (as in capture files) that the decoder reads. */
/* clang-format off */
#define FLOW_LINKS(X) \
    X(ETHERNET, 1)       /* 802.1Q and 802.1ad tags, any number */ \
    X(NULL, 0)           /* BSD loopback, the family in either octet order */ \
    X(PPP, 9)            /* the PPP header, be it as in HDLC (RFC 1662) or from the protocol on */ \
    X(RAW_12, 12)        /* raw IP as some systems number it */ \
    X(RAW_14, 14) \
    X(PPP_HDLC, 50) \
    X(PPPOE, 51)         /* from the PPPoE header on */ \
    X(RAW, 101)          /* IPv4 or IPv6 by its version */ \
    X(CISCO_HDLC, 104) \
    X(LOOP, 108)         /* OpenBSD loopback: the family in network order */ \
    X(LINUX_SLL, 113) \
    X(PPP_DIRECTED, 166) /* an octet for the direction, then PPP from the protocol on */ \
    X(ERF, 197)          /* records of type InfiniBand and Ethernet */ \
    X(MPLS, 219) \
    X(IPV4, 228) \
    X(IPV6, 229) \
    X(INFINIBAND, 247)   /* from the LRH on */ \
    X(LINUX_SLL2, 276)
/* clang-format on */

enum flow_link {
#define FLOW_LINK_NUMBER(name, number) FLOW_LINK_##name = (number),
    FLOW_LINKS(FLOW_LINK_NUMBER)
#undef FLOW_LINK_NUMBER
};

#define FLOW_LINK_NONE UINT32_MAX /* the capture does not describe the interface: the frame is counted, not decoded */

/* One captured frame; `octets` is borrowed for the call. */
struct flow_frame {
    uint32_t link; /* LINKTYPE number */
    uint64_t time_ns;
    uint64_t number;       /* from 1; events name frames by it */
    const uint8_t *octets; /* `captured` of them */
    size_t captured;       /* octets captured (caplen) */
    size_t length;         /* octets on the wire (len); more than `captured` when the capture cut the frame */
};

/* One TCP segment whose network headers the caller has taken off already. */
struct flow_packet {
    uint64_t time_ns;
    uint64_t number;                     /* as in struct flow_frame */
    uint8_t family;                      /* 4 or 6 */
    const uint8_t *source, *destination; /* network order: 4 or 16 octets each */
    const uint8_t *octets;               /* from the TCP header's first octet on, borrowed for the call */
    size_t captured;                     /* octets captured */
    size_t length;                       /* octets on the wire: header and payload, nothing after them */
    size_t encapsulation; /* SCTP: octets of the header between IP's and this one; 8 in UDP (RFC 6951), else 0 */
};

#endif
