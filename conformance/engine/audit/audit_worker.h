/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A worker process of audit -j, and the format of its two pipes. It reads ranges of files (struct audit_order), judges
 * them in that order, and writes records: READY, then for each file any number of RESULT, WHY, FLOW_END and READING,
 * and one END.
 */
#ifndef CONFORMANCE_ENGINE_AUDIT_WORKER_H
#define CONFORMANCE_ENGINE_AUDIT_WORKER_H

#include <stdint.h>
#include <sys/types.h>

#include "conformance/engine/audit/audit_workers.h"

/* These files of the list, one after another. */
struct audit_order {
    uint32_t first, count;
};

enum audit_record_kind {
    AUDIT_RECORD_READY,    /* it has begun, and waits for orders */
    AUDIT_RECORD_RESULT,   /* the octets are its line of results.jsonl, none where nobody wants it */
    AUDIT_RECORD_WHY,      /* the octets are the line of why a flow ended */
    AUDIT_RECORD_FLOW_END, /* the results of a flow are complete */
    AUDIT_RECORD_READING,  /* `number` frames of the file are read */
    AUDIT_RECORD_END,      /* the octets are a struct audit_ending */
};

/* Before its octets. */
struct audit_record {
    uint32_t file;        /* its place in the list */
    uint16_t kind;        /* enum audit_record_kind */
    uint16_t verdict;     /* RESULT */
    uint32_t requirement; /* RESULT: its place in the catalogue */
    uint32_t octets;
    uint64_t number; /* READING; RESULT: its count times ROLE_SLOTS, and its role */
};

struct audit_ending {
    enum audit_file status;
    struct iwarp_sentence error;
    struct flow_totals totals; /* of this file */
};

/* Runs a worker in the child process that `parent` has just made, until `orders` ends. Returns its exit status. */
int audit_worker_live(const struct audit_workers_config *config, pid_t parent, int orders, int records);

#endif
