/* SPDX-License-Identifier: BSD-2-Clause */
/* Long help on a terminal goes through the user's pager. */
#ifndef CONFORMANCE_ENGINE_PAGER_H
#define CONFORMANCE_ENGINE_PAGER_H

/*
 * When standard output and standard input are a terminal, what is written to standard output from now on is shown by
 * the command in PAGER; without PAGER by less, which leaves at once where one screen holds the text. PAGER set and
 * empty, PAGER=cat and TERM=dumb mean none. This process becomes the pager, and the call returns in a child: whoever
 * called the program waits for the pager. Where none can be started, the text goes to the terminal as it is.
 */
void pager_begin(void);

#endif
