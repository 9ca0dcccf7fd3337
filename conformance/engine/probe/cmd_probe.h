/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CONFORMANCE_ENGINE_CMD_PROBE_H
#define CONFORMANCE_ENGINE_CMD_PROBE_H

/*
 * `warpcheck probe`: what a device is, in seconds, and a profile of it. Returns the exit status: 0 the device answered
 * and nothing is wrong with what was seen, 1 a defect was seen, 2 usage, 4 the device could not be reached, or serves
 * nothing that it can be judged by.
 */
int cmd_probe(int argc, char **argv);

#endif
