/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a check looked at last on its connection: that is what its verdict is about, however many frames
 * (acknowledgments, other connections) crossed the link before the verdict was said.
 */
#ifndef CONFORMANCE_ENGINE_SIGHTING_H
#define CONFORMANCE_ENGINE_SIGHTING_H

#include <stdint.h>

enum sighting_kind {
    SIGHTING_NONE,    /* the check has read nothing */
    SIGHTING_OCTETS,  /* octets of the device, up to `end` */
    SIGHTING_FIN,     /* the device's FIN */
    SIGHTING_RESET,   /* the device's RST */
    SIGHTING_TOLD,    /* the device's upper tester reported what was delivered: no frame of the device shows it */
    SIGHTING_DEATH,   /* the device died of what the tester had sent until `time_ns`, on any connection */
    SIGHTING_SILENCE, /* nothing came within the time limit */
};

struct sighting {
    enum sighting_kind kind;
    uint16_t own_port, dut_port; /* of the connection */
    uint32_t end;                /* the device's sequence number after the last octet */
    uint64_t time_ns;
    uint64_t latest; /* frames that the recorder had seen when the verdict was said */
};

#endif
