/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CONFORMANCE_ENGINE_CMD_RUN_H
#define CONFORMANCE_ENGINE_CMD_RUN_H

/*
 * warpcheck run [OPTION...] [SELECT...]: 0 conforms, 1 fails, 2 usage (also bad profiles and scripts), 3 nothing was
 * selected, 4 inconclusive (also: no rig could be made, the disk is full).
 */
int cmd_run(int argc, char **argv);

#endif
