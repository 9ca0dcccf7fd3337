/* SPDX-License-Identifier: BSD-2-Clause */
/* warpcheck new-check ID: the skeleton of a check, made of the requirement's row. */
#ifndef CONFORMANCE_ENGINE_CMD_NEW_CHECK_H
#define CONFORMANCE_ENGINE_CMD_NEW_CHECK_H

/* argv[0] is the name of the command. Returns the exit status. */
int cmd_new_check(int argc, char **argv);

#endif
