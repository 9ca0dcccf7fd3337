/* SPDX-License-Identifier: BSD-2-Clause */
/* `iwarp-peer --cm`: a CM agent over UDP as a program. */
#ifndef REFERENCE_STACK_CMD_PEER_CM_H
#define REFERENCE_STACK_CMD_PEER_CM_H

#include <stdbool.h>

struct defect_list;
struct iwarp_sentence;

/* --cm is among the arguments. */
bool cmd_peer_cm_wanted(int argc, char **argv);

/* The program's exit status. */
int cmd_peer_cm(int argc, char **argv);

/*
 * Prints the rows, as --list-defects and --list-variants do, and frees the list; NULL: complains of `why`. Returns the
 * exit status.
 */
int cmd_peer_print_defects(struct defect_list *list, const struct iwarp_sentence *why);

#endif
