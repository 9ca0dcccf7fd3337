/* SPDX-License-Identifier: BSD-2-Clause */
/* warpcheck monitor: a live interface judged by the rules, for days. */
#ifndef CONFORMANCE_ENGINE_CMD_MONITOR_H
#define CONFORMANCE_ENGINE_CMD_MONITOR_H

/*
 * warpcheck monitor -i IF [SELECT...] [OPTION...]: 0 conforms; 1 some requirement is broken; 2 usage, or an interface
 * that cannot be opened; 3 no MPA traffic; 4 something was not judged, an interface went away, or findings could not be
 * written. The first of 1, 4, 3 that holds.
 */
int cmd_monitor(int argc, char **argv);

#endif
