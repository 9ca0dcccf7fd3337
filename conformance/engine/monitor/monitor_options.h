/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `warpcheck monitor`. */
#ifndef CONFORMANCE_ENGINE_MONITOR_OPTIONS_H
#define CONFORMANCE_ENGINE_MONITOR_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sentence.h"
#include "conformance/engine/monitor/monitor_interface.h"
#include "conformance/engine/monitor/monitor_journal.h"
#include "conformance/requirements/catalogue.h"
#include "conformance/requirements/select.h"
#include "reference-stack/program/option_table.h"

struct monitor_options {
    struct selection selection;
    const char *interfaces[MONITOR_INTERFACES];
    size_t interface_count; /* at least 1 */
    const char *filter;     /* NULL: every frame */
    uint64_t buffer;        /* octets of each ring */
    uint64_t memory;        /* struct flow_config's; 0: the default */
    uint64_t idle;          /* seconds; 0: nothing open ends by time */
    bool allow_gaps;
    bool jsonl, all, quiet;
    const char *log;                        /* file of findings, NULL: none */
    uint64_t rotate_octets, rotate_seconds; /* 0: not by that */
    unsigned rotate_keep;
    const char *metrics; /* file; NULL: none */
    unsigned metrics_seconds;
    const char *evidence; /* folder; NULL: none */
    unsigned evidence_files;
    uint64_t evidence_octets;
    uint64_t evidence_memory;
    enum monitor_journal journal;
    unsigned a_minute; /* findings said to people */
    uint64_t duration; /* seconds; 0: until it is stopped */
    uint64_t frames;   /* 0: the same */
};

/* Of a struct monitor_options. */
extern const struct option_table monitor_option_table;

/*
 * Reads argv; `options` begins as {0}. Returns the exit status: 0 to go on; EXIT_USAGE or EXIT_NOTHING_SELECTED with the
 * sentence set.
 */
int monitor_options_parse(struct monitor_options *options, const struct catalogue *catalogue, int argc, char **argv,
                          struct iwarp_sentence *error);

#endif
