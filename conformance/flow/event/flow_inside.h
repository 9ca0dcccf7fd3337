/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tunnel that a packet came in. Connections in two tunnels may have the same addresses and ports, so that the
 * tunnel is a part of the key of each. What sets tunnels apart is the same in both directions.
 */
#ifndef FLOW_FLOW_INSIDE_H
#define FLOW_FLOW_INSIDE_H

#include <stdint.h>

/* X(name, words): the innermost tunnel around a packet, as flow_name() has it. */
#define FLOW_TUNNELS(X)                                                                                                \
    X(IP, "IP")                                                                                                        \
    X(GRE, "GRE")                                                                                                      \
    X(ERSPAN, "ERSPAN")                                                                                                \
    X(ETHERIP, "EtherIP")                                                                                              \
    X(PIM, "PIM")                                                                                                      \
    X(MPLS, "MPLS")                                                                                                    \
    X(PPP, "PPP")                                                                                                      \
    X(PPPOE, "PPPoE")                                                                                                  \
    X(L2TP, "L2TP")                                                                                                    \
    X(PBB, "802.1ah")                                                                                                  \
    X(VN_TAG, "VN-Tag")                                                                                                \
    X(FABRIC_PATH, "FabricPath")                                                                                       \
    X(BRIDGED, "Ethernet")                                                                                             \
    X(WIRELESS, "802.11")                                                                                              \
    X(VXLAN, "VXLAN")                                                                                                  \
    X(GENEVE, "Geneve")                                                                                                \
    X(GTP, "GTP-U")                                                                                                    \
    X(LISP, "LISP")                                                                                                    \
    X(TZSP, "TZSP")                                                                                                    \
    X(UDP, "UDP")

enum flow_tunnel_kind {
    FLOW_IN_NOTHING,
#define FLOW_TUNNEL_KIND(name, words) FLOW_IN_##name,
    FLOW_TUNNELS(FLOW_TUNNEL_KIND)
#undef FLOW_TUNNEL_KIND
        FLOW_TUNNEL_KINDS
};

struct flow_tunnel {
    uint32_t ends;    /* a sum over the addresses of all tunnels around the packet, and their networks */
    uint32_t network; /* the number that the innermost one has for the network in it: a VNI, a key; 0: it has none */
    uint8_t kind;     /* enum flow_tunnel_kind */
    uint8_t guessed;  /* 1: nothing but the octets themselves say that there is a tunnel. What is in it is not judged */
    uint8_t zero[2];
};

/* flow.c: the words of FLOW_TUNNELS. */
const char *flow_tunnel_name(enum flow_tunnel_kind kind);

#endif
