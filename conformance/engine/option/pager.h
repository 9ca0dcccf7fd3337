/* SPDX-License-Identifier: BSD-2-Clause */
/* Long help on a terminal goes through the user's pager. */
#ifndef CONFORMANCE_ENGINE_PAGER_H
#define CONFORMANCE_ENGINE_PAGER_H

/*
 * If standard output and standard input are a terminal, the command in PAGER shows what is written to standard output
 * from now on. Without PAGER it is less, which ends at once if the text fits on one screen. An empty PAGER, PAGER=cat
 * and TERM=dumb mean no pager. This process becomes the pager, and the call returns in a child: so the program's caller
 * waits for the pager. If no pager can be started, the text goes directly to the terminal.
 */
void pager_begin(void);

#endif
