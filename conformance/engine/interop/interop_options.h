/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of interop. */
#ifndef CONFORMANCE_ENGINE_INTEROP_OPTIONS_H
#define CONFORMANCE_ENGINE_INTEROP_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/sentence.h"
#include "conformance/engine/interop/interop_device.h"

enum { INTEROP_TESTS_MOST = 64 };
enum interop_keeps { INTEROP_KEEPS_ALL, INTEROP_KEEPS_FAIL, INTEROP_KEEPS_NONE };

struct interop_options {
    const char *devices[INTEROP_DEVICES_MOST];
    size_t device_count;
    const char *tests[INTEROP_TESTS_MOST];
    size_t test_count;
    const char *output;
    unsigned seconds;
    enum interop_keeps keeps;
    bool destructive, force, list, quiet, help;
};

int interop_usage(FILE *out);
int interop_options_parse(struct interop_options *options, int argc, char **argv, struct iwarp_sentence *error);

#endif
