/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The evidence of a check (conformance/engine/evidence/recorder.h), as somebody needs it who repeats the check without
 * warpcheck: what went over the tester's TCP connections, and what the upper tester was asked, in order. Reads pcapng
 * as generator/packet/pcapng.h writes it: little-endian, one interface.
 */
#ifndef CONFORMANCE_ENGINE_REPRODUCER_EVIDENCE_H
#define CONFORMANCE_ENGINE_REPRODUCER_EVIDENCE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sentence.h"
#include "generator/packet/packet.h"

enum { REPRO_CONNECTIONS_MAX = 1000 };

/* One thing that happened: a TCP segment with octets, SYN, FIN or RST, or a command to the upper tester. */
struct repro_event {
    uint64_t frame;         /* from 1; of a command that of the frame before it */
    uint64_t time_ns;       /* of a segment */
    json_t *asked, *answer; /* a command; NULL: a segment */
    unsigned connection;    /* place in `connections` */
    bool from_dut;
    uint8_t flags; /* enum tcp_flag */
    uint32_t sequence;
    const uint8_t *octets; /* payload, in the evidence's own octets */
    size_t count;
};

struct repro_connection {
    uint16_t own_port, dut_port;
    bool opened_by_dut;
    uint16_t mss;    /* that the tester announced; 0: none */
    size_t opened;   /* place of its SYN in `events` */
    size_t over;     /* place of the first FIN or RST; SIZE_MAX: none */
    uint64_t stream; /* the upper tester's number of it; 0: not known */
};

/* A MAD to or from the device's CM. */
struct repro_mad {
    uint64_t frame;
    bool from_dut;
    const uint8_t *octets; /* MAD_OCTETS, in the evidence's own octets */
    size_t after;          /* so many of `events` were before it */
};

struct repro_evidence {
    const char *id;
    struct repro_event *events;
    size_t count, room;
    struct repro_connection *connections;
    size_t connection_count;
    size_t begun; /* place in `events` at which the check itself begins, after the good exchange */
    bool cut;     /* a frame, or a command, is not there whole */
    struct repro_mad *mads;
    size_t mad_count;
    size_t mads_begun; /* as `begun`, in `mads` */
    struct net_address cm_own, cm_dut;
    uint64_t sctp; /* frames of SCTP */
    char own[48], dut[48];
};

/*
 * Fills *evidence from the octets of a file, which have to stay; `id`: the requirement of the check. 0, or -1 with the
 * sentence set: it is no such file, or memory is short. repro_evidence_free() in each case.
 */
int repro_evidence_read(struct repro_evidence *evidence, const char *id, const uint8_t *octets, size_t size,
                        struct iwarp_sentence *error);
void repro_evidence_free(struct repro_evidence *evidence);

#endif
