/* SPDX-License-Identifier: BSD-2-Clause */
/* For the tests of conformance/flow: encapsulations of a frame, an IP packet or a TCP segment, and frames with them. */
#ifndef TESTS_UNIT_FLOW_ENCAPSULATION_H
#define TESTS_UNIT_FLOW_ENCAPSULATION_H

#include "tests/unit/flow_talk.h"

enum { ENCAPSULATED = 2048, ENCAPSULATION_MOST = 128, ETHERNET = 14, IPV4 = 20, IPV6 = 40, UDP = 8 };

/* What the encapsulation's last header stands after, and what it is. */
enum outer {
    ETHERTYPE, /* `number` */
    LENGTH,    /* the frame's length, so that an LLC header is next */
    OVER_IPV4, /* the IP protocol `number` */
    OVER_IPV6,
    OVER_UDP, /* from and to `number` */
    OVER_UDP6,
    ERF,          /* record type `number` */
    COOKED,       /* SLL with that protocol */
    IB_UNRELIABLE /* RoCEv1: UD Send Only to a queue pair */
};

enum inner { IP, FRAME_OF_ETHERNET, SEGMENT /* of TCP, without IP */ };

/*
 * What is made of the inside: nothing; it may be foreign, and is not judged else; it is decoded as if it stood alone.
 */
enum sight { HIDDEN, GUESSED, OPENED };

struct encapsulation {
    const char *name;
    enum outer outer;
    unsigned number;
    enum inner inner;
    enum sight sight;
    size_t count; /* of header[] */
    uint8_t header[40];
};

extern const struct encapsulation encapsulations[];
extern const size_t encapsulation_count;

/* The frame with what is inside, after the encapsulation's header. */
struct made {
    uint32_t link;
    uint8_t octets[ENCAPSULATED];
    size_t count;
};

/* Writes the headers around so many octets, into zeros; how many they have. The link is that of the frame. */
size_t encapsulation_put(const struct encapsulation *with, size_t octets, uint8_t *frame);
uint32_t encapsulation_link(const struct encapsulation *with);
/* A frame with the encapsulation, and in it so many octets. */
struct made encapsulation_make(const struct encapsulation *with, const uint8_t *inner, size_t octets);
/* The part of the frame that was built last which such an encapsulation has inside. */
void encapsulation_inner(struct talk *talk, enum inner inner, const uint8_t **octets, size_t *count);
/* The same packet as ICMP, which is foreign wherever it is. */
void encapsulation_icmp(uint8_t *ip);
/* Ends of Ethernet and the EtherType; an IPv4 header for so many octets. */
void encapsulation_ends(uint8_t *frame, unsigned type);
void encapsulation_ipv4(uint8_t *ip, unsigned protocol, size_t payload);

#endif
