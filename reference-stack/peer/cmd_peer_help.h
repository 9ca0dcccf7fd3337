/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `iwarp-peer --help` says: the one place that declares its options. A format, whose one argument is the program's
 * name.
 */
#ifndef REFERENCE_STACK_CMD_PEER_HELP_H
#define REFERENCE_STACK_CMD_PEER_HELP_H

extern const char cmd_peer_help[];

#endif
