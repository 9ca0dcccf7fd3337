/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/run/lab_options.h"

#include <string.h>

#include "conformance/engine/run/lab_launcher.h"

enum { SIW = 1, RXE = 2, SCTP = 4, ANY = SIW | RXE | SCTP };

/* Each option, whether it is given, and the devices that it is for. */
struct given {
    const char *name;
    bool is;
    unsigned devices;
};

static unsigned device_of(const char *dut)
{
    if (dut == NULL || !lab_is(dut))
        return 0;
    return strncmp(dut, "linux-siw", 9) == 0 ? SIW : strncmp(dut, "linux-rxe", 9) == 0 ? RXE : SCTP;
}

static int for_device(const struct given *option, const char *dut, struct iwarp_sentence *error)
{
    if (!option->is || (option->devices & device_of(dut)) != 0)
        return 0;
    return iwarp_sentence_set(error, "%s is for --dut linux-siw%s%s", option->name,
                              option->devices == ANY ? ", linux-rxe and linux-sctp" : "",
                              strcmp(option->name, "--ipsec") == 0
                                  ? ": a device's profile has a member \"ipsec\" (docs/ipsec.md)"
                                  : " (docs/lab-kernels.md)");
}

int lab_options_check(const struct lab_options *options, const char *dut, struct iwarp_sentence *error)
{
    const struct given given[] = {
        {"--guest", options->guest != NULL, SIW},
        {"--guest-token", options->guest_token != NULL, SIW},
        {"--siw-source", options->siw_source != NULL, SIW},
        {"--kernel-tree", options->kernel_tree != NULL, ANY},
        {"--kernel-config", options->kernel_config_count != 0, ANY},
        {"--panic-on-warn", options->panic_on_warn, ANY},
        {"--ipsec", options->ipsec, SIW},
    };

    for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++) {
        if (for_device(&given[i], dut, error) != 0)
            return -1;
        if (options->guest != NULL && i > 1 && given[i].is)
            return iwarp_sentence_set(error, "--guest excludes %s: that guest runs already", given[i].name);
    }
    if ((options->guest == NULL) != (options->guest_token == NULL))
        return iwarp_sentence_set(error, "--guest needs --guest-token FILE, and --guest-token needs --guest ADDRESS");
    if (options->kernel_config_count != 0 && options->kernel_tree == NULL)
        return iwarp_sentence_set(error, "--kernel-config needs --kernel-tree DIR, the kernel's source");
    if (options->ipsec && options->kernel_tree != NULL)
        return iwarp_sentence_set(error, "--ipsec excludes --kernel-tree: its guest has Debian's kernel");
    return 0;
}
