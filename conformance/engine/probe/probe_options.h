/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `warpcheck probe`. */
#ifndef CONFORMANCE_ENGINE_PROBE_OPTIONS_H
#define CONFORMANCE_ENGINE_PROBE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "generator/packet/packet.h"
#include "base/sentence.h"

enum { PROBE_DEFECTS_MAX = 64 };

/* Strings belong to argv. */
struct probe_options {
    const char *profile;        /* PROFILE; NULL: an address, or the reference stack */
    struct net_address address; /* ADDRESS:PORT; family 0: none */
    uint16_t port;
    const char *interface, *own_address, *gateway, *control, *control_token, *name; /* besides ADDRESS:PORT */
    const char *output;                                                             /* -o */
    const char *defects[PROBE_DEFECTS_MAX];
    size_t defect_count;
    uint64_t seed;
    bool simulate, ipv6, jsonl, force, help;
};

/* Prints the help text. -1 when it could not be written. */
int probe_usage(FILE *out);

/* 0, or -1 with a sentence for the user. */
int probe_options_parse(struct probe_options *options, int argc, char **argv, struct iwarp_sentence *error);

#endif
