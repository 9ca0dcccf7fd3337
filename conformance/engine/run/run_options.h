/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `warpcheck run`. */
#ifndef CONFORMANCE_ENGINE_RUN_OPTIONS_H
#define CONFORMANCE_ENGINE_RUN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conformance/engine/evidence/recorder.h"
#include "conformance/engine/option/format_option.h"
#include "reference-stack/program/option_table.h"
#include "conformance/engine/option/shard.h"
#include "conformance/engine/run/exit_code.h"
#include "conformance/engine/run/lab_options.h"
#include "conformance/requirements/select.h"
#include "wire/ddp_sctp.h"
#include "base/sentence.h"

enum {
    RUN_OPTIONS_LIST_MAX = 64,
    EVIDENCE_LIMIT = 16, /* MiB */
    EVIDENCE_LIMIT_MOST = 1 << 20,
    RUN_JOBS_MOST = 64,
    RUN_JOBS_LEAST = 8, /* without -j: checks that run at the same time, for each processor, on the embedded device */
    RUN_JOBS_ITSELF = 16,
};

/* Strings belong to argv. */
struct run_options {
    struct selection selection;
    int word_count; /* the command as it was typed: its name and all its words; borrowed */
    char *const *words;
    const char *profile; /* --dut */
    const char *output;  /* -o */
    const char *defects[RUN_OPTIONS_LIST_MAX];
    size_t defect_count;
    const char *variants[RUN_OPTIONS_LIST_MAX];
    size_t variant_count;
    const char *choices;
    const char *scripts[RUN_OPTIONS_LIST_MAX]; /* --script, --scripts: instead of those built in */
    size_t script_count;
    uint64_t seed;
    unsigned jobs;               /* processes that run checks side by side: -j, or what suits the device */
    struct shard shard;          /* --shard */
    enum evidence_kept evidence; /* --evidence */
    uint64_t evidence_limit;     /* --evidence-limit, in octets */
    bool simulate;
    struct lab_options lab;
    const char *llp; /* --llp as it was given; NULL: it was not */
    bool cm;         /* --llp cm */
    bool ipv6;
    bool sctp; /* --llp sctp or sctp-draft02, or the profile's "llp" */
    /* With `sctp`: what the device speaks; UNDECIDED: each profile in its turn, as only a simulated device can. */
    enum iwarp_sctp_profile sctp_profile;
    bool resume;
    bool force; /* what an earlier run left in `output` is removed */
    bool dry_run;
    struct format_option format;
    bool all;     /* show passes too */
    bool ladders; /* show ladders */
    bool quiet;   /* show the closing lines alone */
    bool destructive;
    const char *compare;      /* --compare: an earlier run's results; NULL: none */
    enum exit_code exit_code; /* --exit-code */
    bool accept_known;        /* known deviations alone are no reason for an exit status */
    bool help;
};

/* Of a struct run_options. */
extern const struct option_table run_option_table;

/* 0, or -1 with a sentence for the user. */
int run_options_parse(struct run_options *options, int argc, char **argv, struct iwarp_sentence *error);

#endif
