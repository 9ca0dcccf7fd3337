/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CONFORMANCE_ENGINE_CMD_COMPLETE_H
#define CONFORMANCE_ENGINE_CMD_COMPLETE_H

/* warpcheck complete -- PROGRAM WORD...: 0, 2 usage, 4 the candidates could not be found or written. */
int cmd_complete(int argc, char **argv);

#endif
