/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Devices that come with the project: `--dut linux-siw` names no file but a virtual machine. A script boots it, and
 * runs this program again against it, with a profile (conformance/labs/).
 */
#ifndef CONFORMANCE_ENGINE_LAB_LAUNCHER_H
#define CONFORMANCE_ENGINE_LAB_LAUNCHER_H

#include <stddef.h>

#include "base/nearest.h"
#include "base/sentence.h"

/*
 * Executes the script of the device that `--dut` names, with all other arguments (argv[0] is the subcommand's name),
 * and does not return. 0: `--dut` names no such device, but a file. -1 with a sentence: the script cannot be started.
 * Scripts are looked for in $WARPCHECK_LABS, next to the program's folder (a build in the tree), and in
 * share/warpcheck/labs.
 */
int lab_launch(const char *dut, int argc, char **argv, struct iwarp_sentence *error);

/* Whether that is the name of a lab's device, and of no file. */
bool lab_is(const char *dut);

/* For `--dut` with a file that does not exist: ", did you mean "linux-siw"?" in `hint`, or "". Returns `hint`. */
const char *lab_hint(const char *dut, char hint[NEAREST_HINT_OCTETS]);

/* The index-th of these devices' names; NULL beyond the last one. */
const char *lab_name(size_t index);

#endif
