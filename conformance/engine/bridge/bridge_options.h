/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `warpcheck bridge`. */
#ifndef CONFORMANCE_ENGINE_BRIDGE_OPTIONS_H
#define CONFORMANCE_ENGINE_BRIDGE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sentence.h"
#include "conformance/engine/bridge/bridge_stream.h"
#include "conformance/engine/bridge/bridge_trigger.h"
#include "conformance/engine/option/format_option.h"
#include "conformance/requirements/catalogue.h"
#include "conformance/requirements/select.h"
#include "reference-stack/program/option_table.h"

enum { BRIDGE_SCRIPTS_MOST = 64, BRIDGE_TRAFFIC_MOST = 10000 };

/* A set of impairments that the program carries. */
struct bridge_suite {
    const char *name;
    enum bridge_llp llp;
    bool fields; /* those that conformance/impairments/fields.lua makes */
};

struct bridge_options {
    struct selection selection;
    const char *interfaces[BRIDGE_SIDES];
    size_t interface_count;
    const char *scripts[BRIDGE_SCRIPTS_MOST];
    size_t script_count;
    const struct bridge_suite *suite;        /* NULL: none */
    const char *capture;                     /* folder; NULL: none */
    const char *output;                      /* that of -o; NULL: none */
    const char *upper_testers[BRIDGE_SIDES]; /* ADDRESS:PORT; NULL: the devices' own programs make the traffic */
    const char *token;                       /* of both, a file; NULL: none */
    const char *address_b;                   /* at which A reaches B; NULL: that of B's upper tester */
    uint64_t connections;                    /* 0: as many as impairments name */
    uint64_t seed;
    uint64_t buffer;   /* octets of each ring */
    uint64_t memory;   /* struct flow_config's; 0: the default */
    uint64_t hold;     /* seconds: the longest that something is held */
    uint64_t duration; /* seconds; 0: until it is stopped */
    uint64_t frames;   /* 0: the same */
    struct format_option format;
    bool allow_gaps, all, quiet, force;
};

/* Of a struct bridge_options. */
extern const struct option_table bridge_option_table;

/*
 * Reads argv; `options` begins as {0}. Returns the exit status: 0 to go on; EXIT_USAGE or EXIT_NOTHING_SELECTED with the
 * sentence set.
 */
int bridge_options_parse(struct bridge_options *options, const struct catalogue *catalogue, int argc, char **argv,
                         struct iwarp_sentence *error);

#endif
