/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Captures cut around findings: the last frames of the flow before it, and the next ones. Bounded in memory (the frames
 * that are kept), on disk (files and octets, the oldest go) and in time (a file is complete after EVIDENCE_SECONDS).
 */
#ifndef CONFORMANCE_ENGINE_MONITOR_EVIDENCE_H
#define CONFORMANCE_ENGINE_MONITOR_EVIDENCE_H

#include <stdint.h>

#include "base/sentence.h"
#include "conformance/engine/monitor/monitor_flow.h"

struct monitor_evidence; /* opaque */

enum {
    EVIDENCE_BEFORE = 64, /* frames of the flow up to the finding, */
    EVIDENCE_AFTER = 16,  /* and after it */
    EVIDENCE_OPEN = 16,   /* captures that wait for frames: the first one is complete when one more begins */
    EVIDENCE_SECONDS = 5,
    EVIDENCE_NAME = 112,
};

struct monitor_evidence_config {
    const char *folder;   /* that is there */
    size_t memory;        /* octets for frames */
    unsigned most_files;  /* in the folder, by the names that this gives */
    uint64_t most_octets; /* in all of them */
};

/* Files of an earlier process count. NULL with a sentence. */
struct monitor_evidence *monitor_evidence_open(const struct monitor_evidence_config *config,
                                               struct iwarp_sentence *error);
/* Completes what is open. NULL is allowed. */
void monitor_evidence_close(struct monitor_evidence *evidence);

/* Keeps the frame, before it is judged; captures that wait for it get it. */
void monitor_evidence_frame(struct monitor_evidence *evidence, const struct flow_frame *frame);

/* What a capture is cut around. */
struct monitor_cut {
    const char *id;
    uint64_t key;
    uint64_t time_ns; /* of the finding */
    uint64_t frame;   /* that shows it */
    uint32_t link;    /* of its interface */
    struct monitor_flow flow;
    const char *comment; /* of the capture */
};

/*
 * Begins a capture; `name` becomes that of its file in the folder. -1 with a sentence: it cannot be written, and no file
 * is left.
 */
int monitor_evidence_cut(struct monitor_evidence *evidence, const struct monitor_cut *cut, char name[EVIDENCE_NAME],
                         struct iwarp_sentence *error);

/* Completes what has waited long enough. */
void monitor_evidence_time(struct monitor_evidence *evidence, uint64_t now_ns);

/* Captures of which frames were lost since the last call, as the disk is full; *why becomes the first reason. */
uint64_t monitor_evidence_lost(struct monitor_evidence *evidence, struct iwarp_sentence *why);

#endif
