/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options of the devices that come with the project (lab_launcher.h). Their script takes them; this program reads them
 * to refuse what cannot be before anything is built or booted (docs/lab-kernels.md).
 */
#ifndef CONFORMANCE_ENGINE_LAB_OPTIONS_H
#define CONFORMANCE_ENGINE_LAB_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/sentence.h"

enum { LAB_CONFIGS_MOST = 8 };

/* Strings belong to argv; NULL: not given. */
struct lab_options {
    bool ipsec;
    bool panic_on_warn;
    const char *siw_source;
    const char *kernel_tree;
    const char *kernel_configs[LAB_CONFIGS_MOST];
    size_t kernel_config_count;
    const char *guest, *guest_token;
};

/*
 * 0, or -1 with a sentence: an option is given without a lab's device (`dut`: what follows --dut, NULL: nothing), or
 * with one that does not take it, or two exclude each other, or one needs another.
 */
int lab_options_check(const struct lab_options *options, const char *dut, struct iwarp_sentence *error);

#endif
