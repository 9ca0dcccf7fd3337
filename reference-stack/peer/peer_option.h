/* SPDX-License-Identifier: BSD-2-Clause */
/* What iwarp-peer says of an option that getopt_long() could not take. */
#ifndef REFERENCE_STACK_PEER_OPTION_H
#define REFERENCE_STACK_PEER_OPTION_H

#include <getopt.h>

/*
 * Complains of argv[optind - 1], and returns the status of wrong usage. `answer` is what getopt_long() said, ':' (no
 * value) or '?'; `known` ends with an entry without a name; `where` follows "is no option": " of --cm" or "".
 */
int peer_option_refuse(int answer, char **argv, const struct option *known, const char *where);

#endif
