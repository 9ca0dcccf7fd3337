/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Deliberate faults of MPA that act on TCP and on events for the ULP: part of the list in defect_internal.h.
 */
#ifndef REFERENCE_STACK_DEFECT_MPA_H
#define REFERENCE_STACK_DEFECT_MPA_H

/* clang-format off */
#define DEFECT_BEHAVIOURS_MPA(B) \
    /* Start-up frames */ \
    B(MARKER_IN_START,             "marker-in-start",             "a start-up frame of more than 512 octets has a Marker in it") \
    B(WORD_BEHIND,                 "word-behind",                 "the enhanced word stands after the ULP's Private Data") \
    B(DEPTHS_KEPT,                 "depths-kept",                 "initiator: each Request has the IRD and ORD of the device's first") \
    B(PRIVATE_BESIDE_WORD,         "private-beside-word",         "512 octets of the ULP's Private Data are taken beside the word") \
    B(WORD_AWAITED,                "word-awaited",                "a start-up frame with S = 1 is not complete without 4 octets of Private Data") \
    B(DEPTH_ONE_MORE,              "depth-one-more",              "an ORD of one more than can be served is accepted") \
    B(WORD_FLAGS_AWAIT,            "word-flags-await",            "a Request with A = 0 and one of B, C, D set is never whole") \
    B(P2P_ALWAYS,                  "p2p-always",                  "initiator: A = 1 whatever the ULP asks for") \
    /* FPDUs, obeyed by defect_frame.c */ \
    B(ULPDU_TWICE,                 "ulpdu-twice",                 "a short Send is twice in its FPDU, under one ULPDU_Length") \
    B(POINTER_TO_FIRST,            "marker-pointer-to-first",     "a Marker points to the first FPDU that began after the Marker before") \
    B(CRC_OF_PREVIOUS,             "crc-of-previous",             "each FPDU but the first has the CRC of the one before") \
    B(CRC_WITH_NEXT,               "crc-with-next",               "within a message the CRC field goes out with the next FPDU") \
    /* FPDUs received */ \
    B(PARTIAL_EXPIRES,             "partial-expires",             "the part of an FPDU that has come is forgotten after a second") \
    B(MO_IN_ONE_SEGMENT,           "mo-in-one-segment",           "what completes an MO in a second TCP segment loses an octet") \
    B(CRC_DELIVERED,               "crc-delivered",               "without agreed CRCs the CRC field goes up after the ULPDU") \
    /* FPDUs after a gap */ \
    B(EARLY_KEPT,                  "early-kept",                  "what comes after a gap waits until it closes") \
    B(EARLY_CHAIN,                 "early-chain",                 "after a gap the next FPDU is sought as if there were no Markers, and none there is an error") \
    B(ORDER_ARRIVAL,               "order-arrival",               "DDP is told the order of arrival for that of sending") \
    /* EMSS and MULPDU */ \
    B(MULPDU_REMAINING,            "mulpdu-remaining",            "MULPDU is what is left of the TCP segment, however little") \
    B(MULPDU_OF_MTU,               "mulpdu-of-mtu",               "MULPDU is reckoned from the MTU, without taking off IP and TCP headers") \
    B(MULPDU_CLAMPS_EMSS,          "mulpdu-clamps-emss",          "MULPDU is 128 at an EMSS below 128, and by the formula alone from there on") \
    B(MULPDU_OF_WORDS,             "mulpdu-of-words",             "Markers are counted in EMSS after EMSS mod 4 was taken off") \
    B(OVERSIZE_TRUNCATED,          "oversize-truncated",          "a ULPDU beyond MULPDU is cut to it without a word") \
    B(OVERSIZE_TAKEN,              "oversize-taken",              "a ULPDU of any length is taken") \
    B(OVERSIZE_AT_LIMIT,           "oversize-at-limit",           "a ULPDU of any length is taken where MULPDU is the largest that there is") \
    B(PRIVATE_509_CUT,             "private-509-cut",             "509 octets of Private Data are taken beside the word, and 508 are sent") \
    B(REJECT_EMPTY_RESETS,         "reject-empty-resets",         "a refused Request without Private Data is answered by a RST") \
    B(RTR_EXTRA_REFUSED,           "rtr-extra-refused",           "the Reply names the Send RTR unasked, and it is refused then") \
    B(EMSS_ONCE,                   "emss-once",                   "a change of EMSS is not heard of") \
    B(EMSS_BETWEEN,                "emss-between",                "a change of EMSS is not heard of while a message is on its way") \
    B(EMSS_OF_FIRST,               "emss-of-first",               "the device's first connection tells the EMSS for all") \
    /* Peers of Rev 0 */ \
    B(RDMAC_OWN_M,                 "rdmac-own-m",                 "Rev 0: the own wish for Markers counts") \
    B(RDMAC_OWN_C,                 "rdmac-own-c",                 "Rev 0: the own wish for CRCs counts") \
    B(RDMAC_VERSION_1,             "rdmac-version-1",             "Rev 0: DV and RV are 1 all the same") \
    B(EVENT_VERSION_1,             "event-version-1",             "Rev 0: the ULP is told that DDP's version is 1") \
    /* Events for the ULP */ \
    B(EVENT_REVISION_0,            "event-revision-0",            "the ULP is told that the peer's Rev is 0") \
    B(FIN_UNTOLD,                  "fin-untold",                  "the peer's FIN is not told") \
    B(FIN_IN_FPDU_UNTOLD,          "fin-in-fpdu-untold",          "a FIN in the middle of an FPDU is told as an orderly close") \
    B(RESET_UNTOLD,                "reset-untold",                "a reset or lost connection is not told") \
    /* The driver, obeyed by peer.c and peer_streaming.c */ \
    B(STREAMING_UNREAD,            "streaming-unread",            "MPA takes over with the first octets of the peer's last streaming message") \
    B(NAGLE,                       "nagle",                       "an FPDU waits until the one before is acknowledged") \
    B(ROLE_BY_SYN,                 "role-by-syn",                 "who opens the TCP connection is the MPA Initiator")
/* clang-format on */

#endif
