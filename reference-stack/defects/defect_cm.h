/* SPDX-License-Identifier: BSD-2-Clause */
/* Deliberate faults of the CM agent: part of the list in defect_internal.h. */
#ifndef REFERENCE_STACK_DEFECT_CM_H
#define REFERENCE_STACK_DEFECT_CM_H

/* clang-format off */
#define DEFECT_BEHAVIOURS_CM(B) \
    /* The server's judgement */ \
    B(CM_MINOR_EQUAL,              "cm-minor-equal",              "a REQ needs the server's own MinV") \
    B(CM_MINOR_WITHOUT_ZERO,       "cm-minor-without-zero",       "a server with a MinV above 0 refuses MinV 0") \
    B(CM_IPV_DEFAULT_6,            "cm-ipv-default-6",            "an IPV that is not 4 is taken for 6") \
    B(CM_IPV_OCTET,                "cm-ipv-octet",                "the octet with IPV and Res has to be 0x40 or 0x60") \
    B(CM_UNFORMATTED_TAKEN,        "cm-unformatted-taken",        "Private Data that does not begin with version 0 and IPV 4 or 6 is taken as it is") \
    B(CM_IPV_BEFORE_VERSION,       "cm-ipv-before-version",       "versions are judged only in REQs whose IPV is good") \
    B(CM_PORT_ALONE,               "cm-port-alone",               "a listener is found by the low 16 bits of a Service ID") \
    B(CM_PORT_SWAPPED,             "cm-port-swapped",             "a listener is found by its port in host order too") \
    B(CM_RES_REFUSED,              "cm-res-refused",              "a REQ whose Res is not zero is refused without a reason") \
    B(CM_CONSUMER_JUDGED,          "cm-consumer-judged",          "a REQ with consumer data that is not zero is not answered") \
    /* Events */ \
    B(CM_CONSUMER_CLEARED,         "cm-consumer-cleared",         "the ULP sees zeros for the consumer data") \
    B(CM_HEADER_ALWAYS,            "cm-header-always",            "the ULP never sees the first 36 octets of a REQ's Private Data") \
    B(CM_REJECT_PROVES,            "cm-reject-proves",            "a client takes any REJ with reason 28 for proof of the service") \
    /* What is sent */ \
    B(CM_REPLY_HEADER,             "cm-reply-header",             "the service's header stands before the Private Data of a REP") \
    B(CM_ADDRESSES_SWAPPED,        "cm-addresses-swapped",        "source and destination address are exchanged in a REQ") \
    B(CM_SOURCE_PORT_HOST_ORDER,   "cm-source-port-host-order",   "the source port stands low octet first in a REQ") \
    B(CM_SOURCE_UNSPECIFIED,       "cm-source-unspecified",       "a REQ has no address of the client's") \
    B(CM_DESTINATION_GID,          "cm-destination-gid",          "a REQ has the path's GID as destination address") \
    B(CM_IPV4_LEFT,                "cm-ipv4-left",                "IPv4 addresses stand in the first four octets of their fields") \
    B(CM_IPV4_MAPPED,              "cm-ipv4-mapped",              "IPv4 addresses stand after ::ffff:") \
    B(CM_IPV4_DIRTY,               "cm-ipv4-dirty",               "the octets before an IPv4 address are not cleared") \
    B(CM_SERVICE_ID_SWAPPED,       "cm-service-id-swapped",       "the Service ID stands low octet first in a REQ") \
    B(CM_SERVICE_PORT_FIRST,       "cm-service-port-first",       "the Service ID has the port before the protocol") \
    B(CM_PROTOCOL_AS_TCP,          "cm-protocol-as-tcp",          "the Service ID has TCP's number for a protocol that has no name") \
    B(CM_SUGGESTED_AT_3,           "cm-suggested-at-3",           "the suggested value begins at octet 3 of the ARI") \
    B(CM_LENGTH_WITH_UNSPECIFIED,  "cm-length-with-unspecified",  "an ARI with code 00 has a length that is not 0")
/* clang-format on */

#endif
