/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Protocols that carry neither IP nor TCP nor SCTP, by their numbers. They alone are foreign without a look into them:
 * what stands in no table here is unknown, and unjudged.
 */
#include "conformance/flow/link/flow_link_internal.h"

/* ---- EtherTypes -------------------------------------------------------------------------------------------------- */

/* In ascending order. */
static const uint16_t ethertypes[] = {
    0x0600,         /* XNS */
    0x0806,         /* ARP */
    0x0808,         /* Frame Relay ARP */
    0x0842,         /* Wake on LAN */
    0x2001,         /* NHRP, in GRE */
    0x22EA,         /* SRP */
    0x22F0,         /* AVTP */
    0x6001,         /* DEC MOP dump */
    0x6002,         /* DEC MOP remote console */
    0x6003,         /* DECnet */
    0x6004,         /* DEC LAT */
    0x6005,         /* DEC diagnostics */
    0x6007,         /* DEC LAVC */
    0x7034,         /* Cabletron */
    0x8035,         /* RARP */
    0x809B,         /* AppleTalk */
    0x80F3,         /* AppleTalk ARP */
    0x8102,         /* breath of life */
    0x8137,         /* IPX */
    0x8138, 0x8204, /* QNX Qnet */
    0x86A2,         /* Banyan */
    0x8808,         /* Ethernet flow control */
    0x8809,         /* LACP and other slow protocols */
    0x8863,         /* PPPoE Discovery */
    0x886D,         /* Intel teaming probes */
    0x886F,         /* Microsoft Network Load Balancing */
    0x887B,         /* HomePlug 1.0 */
    0x888E,         /* EAPOL */
    0x8892,         /* PROFINET */
    0x8899,         /* Realtek remote control */
    0x889A,         /* HyperSCSI */
    0x88A2,         /* ATA over Ethernet */
    0x88A4,         /* EtherCAT */
    0x88AB,         /* POWERLINK */
    0x88B8,         /* GOOSE */
    0x88B9,         /* GSE */
    0x88BA,         /* sampled values */
    0x88C7,         /* 802.11i preauthentication */
    0x88CA,         /* TIPC */
    0x88CC,         /* LLDP */
    0x88CD,         /* SERCOS III */
    0x88E1,         /* HomePlug AV */
    0x88E3,         /* MRP */
    0x88F5,         /* MVRP */
    0x88F6,         /* MMRP */
    0x88F7,         /* PTP */
    0x88F8,         /* NC-SI */
    0x88FB,         /* PRP supervision */
    0x8902,         /* CFM, Y.1731 */
    0x8906,         /* FCoE */
    0x890D,         /* 802.11 management over Ethernet */
    0x8914,         /* FCoE initialization */
    0x892D,         /* 802.1Qbg */
    0x8940,         /* ECP */
    0x8947,         /* GeoNetworking */
    0x9000,         /* configuration test (loopback) */
    0x9003,         /* Broadcom layer 2 diagnostics */
    0xFEFE,         /* OSI network layer: IS-IS, ES-IS */
};

static bool is_listed(const uint16_t *list, size_t count, unsigned number)
{
    size_t from = 0;

    while (count > 0) {
        size_t half = count / 2;

        if (list[from + half] == number)
            return true;
        if (list[from + half] < number) {
            from += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return false;
}

enum flow_row flow_known_ethertype(unsigned type)
{
    if (type == 0x0806)
        return FLOW_ROW_ARP;
    return is_listed(ethertypes, sizeof(ethertypes) / sizeof(ethertypes[0]), type) ? FLOW_ROW_ETHERTYPE
                                                                                   : FLOW_ROW_ETHERTYPE_UNKNOWN;
}

/* Families of BSD loopback frames, of any system: OSI, SNA, DECnet, AppleTalk, IPX, NETGRAPH, Bluetooth. */
bool flow_known_family(uint32_t family)
{
    static const uint16_t families[] = {7, 11, 12, 16, 23, 32, 36};

    return is_listed(families, sizeof(families) / sizeof(families[0]), family);
}

/* ---- LLC --------------------------------------------------------------------------------------------------------- */

/*
 * Service access points: null, LLC management, SNA, XNS-like ones, STP, MMS, Banyan, Novell, NetBIOS, IBM's management
 * and remote load, OSI. 0x06 (IP), 0x98 (ARP over LLC, foreign by itself) and 0xAA (SNAP) are looked at by the caller.
 */
static const uint16_t access_points[] = {0x00, 0x02, 0x04, 0x05, 0x08, 0x0C, 0x0E, 0x42, 0x4E, 0x7E,
                                         0x80, 0x8E, 0x98, 0xBC, 0xE0, 0xF0, 0xF4, 0xF8, 0xFC, 0xFE};

enum flow_row flow_known_llc(unsigned destination, unsigned source)
{
    enum { GROUP = 1, RESPONSE = 1, GLOBAL = 0xFF };
    size_t count = sizeof(access_points) / sizeof(access_points[0]);

    if (destination == GLOBAL && source == GLOBAL) /* IPX without an LLC header */
        return FLOW_ROW_LLC;
    return (is_listed(access_points, count, destination) || is_listed(access_points, count, destination & ~GROUP)) &&
                   (is_listed(access_points, count, source) || is_listed(access_points, count, source & ~RESPONSE))
               ? FLOW_ROW_LLC
               : FLOW_ROW_LLC_UNKNOWN;
}

/* Protocols of a manufacturer after a SNAP header. */
enum flow_row flow_known_snap(unsigned organization, unsigned protocol)
{
    static const struct {
        uint32_t organization;
        uint16_t protocol;
    } known[] = {
        {0x00000C, 0x0104},                     /* Cisco: PAgP */
        {0x00000C, 0x010B},                     /* PVSTP+ */
        {0x00000C, 0x010C},                     /* VLAN bridge */
        {0x00000C, 0x0111},                     /* UDLD */
        {0x00000C, 0x0115},                     /* the same */
        {0x00000C, 0x2000},                     /* CDP */
        {0x00000C, 0x2001},                     /* CGMP */
        {0x00000C, 0x2003},                     /* VTP */
        {0x00000C, 0x2004},                     /* DTP */
        {0x00000C, 0x200A},                     /* STP uplink fast */
        {0x000081, 0x01A1},                     /* Nortel: discovery */
        {0x000081, 0x01A2}, {0x0080C2, 0x000E}, /* bridged: spanning tree */
        {0x0080C2, 0x000F}, {0x00E02B, 0x00BB}, /* Extreme: EDP */
        {0x00E052, 0x2000},                     /* Foundry: FDP */
        {0x080007, 0x809B},                     /* Apple: AppleTalk */
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (known[i].organization == organization && known[i].protocol == protocol)
            return FLOW_ROW_LLC;
    return FLOW_ROW_LLC_UNKNOWN;
}

/* ---- IP protocols ------------------------------------------------------------------------------------------------ */

enum flow_row flow_known_ip_protocol(unsigned protocol)
{
    static const uint16_t known[] = {
        3,   /* GGP */
        5,   /* ST */
        7,   /* CBT */
        8,   /* EGP */
        9,   /* IGRP */
        27,  /* RDP */
        33,  /* DCCP */
        46,  /* RSVP */
        54,  /* NARP */
        59,  /* nothing follows (RFC 8200 4.7) */
        88,  /* EIGRP */
        89,  /* OSPF */
        112, /* VRRP, CARP */
        113, /* PGM */
        124, /* IS-IS over IPv4 */
        138, /* MANET */
    };

    switch (protocol) {
    case 1:
    case 58: return FLOW_ROW_ICMP;
    case 2: return FLOW_ROW_IGMP;
    default:
        return is_listed(known, sizeof(known) / sizeof(known[0]), protocol) ? FLOW_ROW_IP_PROTOCOL
                                                                            : FLOW_ROW_IP_PROTOCOL_UNKNOWN;
    }
}
