/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CONFORMANCE_ENGINE_CMD_INTEROP_H
#define CONFORMANCE_ENGINE_CMD_INTEROP_H

/* `warpcheck interop`; argv[0] is the command's name. Returns the exit status. */
int cmd_interop(int argc, char **argv);

#endif
