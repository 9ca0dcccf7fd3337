/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a check looked at last on its connection: that is what its verdict is about, however many frames
 * (acknowledgments, other connections) crossed the link before the verdict was said.
 */
#ifndef CONFORMANCE_ENGINE_LAST_SEEN_H
#define CONFORMANCE_ENGINE_LAST_SEEN_H

#include <stdint.h>

enum last_seen_kind {
    LAST_SEEN_NONE,    /* the check has read nothing */
    LAST_SEEN_OCTETS,  /* octets of the device, up to `end` */
    LAST_SEEN_FIN,     /* the device's FIN */
    LAST_SEEN_RESET,   /* the device's RST */
    LAST_SEEN_UPPER,   /* the device's upper tester reported what was delivered: no frame of the device shows it */
    LAST_SEEN_DEATH,   /* the device died of what the tester had sent until `time_ns`, on any connection */
    LAST_SEEN_SILENCE, /* nothing came within the time limit */
};

struct last_seen {
    enum last_seen_kind kind;
    uint16_t own_port, dut_port; /* of the connection */
    uint32_t end;                /* the device's sequence number after the last octet */
    uint64_t time_ns;
    uint64_t latest; /* frames that the recorder had seen when the verdict was said */
};

#endif
