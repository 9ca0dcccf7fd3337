/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Devices that come with the project: `--dut linux-siw` is no file but a virtual machine that a script boots, and
 * against which the script runs this program again with a profile (conformance/labs/).
 */
#ifndef CONFORMANCE_ENGINE_LAB_LAUNCHER_H
#define CONFORMANCE_ENGINE_LAB_LAUNCHER_H

#include <stddef.h>

#include "base/nearest.h"
#include "base/sentence.h"

/*
 * Hands over to the script of the device that `--dut` names, with all other arguments (argv[0] is the subcommand's
 * name): does not return then. 0: it names none, a file is meant. -1 with a sentence: it names one that cannot be
 * started. Scripts are looked for in $WARPCHECK_LABS, beside the program's folder (a build in the tree), and in
 * share/warpcheck/labs.
 */
int lab_launch(const char *dut, int argc, char **argv, struct sentence *error);

/* For `--dut` with a file that does not exist: ", did you mean "linux-siw"?" in `hint`, or "". Returns `hint`. */
const char *lab_hint(const char *dut, char hint[NEAREST_HINT_OCTETS]);

/* The index-th of these devices' names; NULL beyond the last one. */
const char *lab_name(size_t index);

#endif
