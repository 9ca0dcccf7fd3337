/* SPDX-License-Identifier: BSD-2-Clause */
/* The command `warpcheck explore`. */
#ifndef CONFORMANCE_ENGINE_CMD_EXPLORE_H
#define CONFORMANCE_ENGINE_CMD_EXPLORE_H

int cmd_explore(int argc, char **argv);

#endif
