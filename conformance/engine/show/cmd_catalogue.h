/* SPDX-License-Identifier: BSD-2-Clause */
/* The subcommands that show the catalogue. argv[0] is the subcommand's name; each returns the exit status. */
#ifndef CONFORMANCE_ENGINE_CMD_CATALOGUE_H
#define CONFORMANCE_ENGINE_CMD_CATALOGUE_H

/*
 * warpcheck list [SELECT...] [OPTION...]: 0, 2 usage, 3 nothing selected (also a pattern that fits no id), 4 the output
 * could not be written. Values of options that are lists are cut in argv.
 */
int cmd_list(int argc, char **argv);

/* warpcheck explain ID...: 0, 2 usage or unknown id (the nearest ids are named), 4 the output could not be written. */
int cmd_explain(int argc, char **argv);

#endif
