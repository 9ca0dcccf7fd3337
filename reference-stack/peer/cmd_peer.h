/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REFERENCE_STACK_CMD_PEER_H
#define REFERENCE_STACK_CMD_PEER_H

/* `iwarp-peer` and `warpcheck peer`: argv[0] is the name to use in messages. Returns the exit status. */
int cmd_peer(int argc, char **argv);

#endif
