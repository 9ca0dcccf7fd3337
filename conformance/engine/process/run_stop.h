/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a command ends before its time. The first SIGINT or SIGTERM asks it to end; the second one ends the process at
 * once, with exit status 4. A script that hangs in one call ends the process in the same way. What a command writes
 * between run_stop_hold() and run_stop_release() is complete before the process ends, so that a file of results
 * consists of whole lines.
 */
#ifndef CONFORMANCE_ENGINE_RUN_STOP_H
#define CONFORMANCE_ENGINE_RUN_STOP_H

#include <stdbool.h>

/* Handles SIGINT and SIGTERM from now on. `command` is the name in the sentence on stderr, such as "run". */
void run_stop_install(const char *command);

/* SIGINT or SIGTERM has come: the command ends as soon as it can. */
bool run_stopped(void);

/* The process does not end between these two. Calls nest. They cost no system call. */
void run_stop_hold(void);
void run_stop_release(void);

/* A file that is not complete: it is removed if the process ends at once. NULL: there is no such file any more. */
void run_stop_discard(const char *path);

/*
 * In a child process of the command: SIGINT from the terminal is the parent's to handle, SIGTERM ends the child, and so
 * does the parent's end. -1: the parent has ended already.
 */
int run_stop_child(int parent);

/*
 * Watches a call into a script. The script's work is limited by a count, not by time, so that a slow machine gives the
 * same result. After each STUCK_SECONDS of processor time a signal handler calls `stuck`, which returns true if almost
 * nothing was counted since then. The script is then in a function that does not count, and has to stop; if `stuck`
 * returns true once more, the process ends. NULL: the call is over. Nothing happens before run_stop_install().
 */
void run_stop_watch(bool (*stuck)(void));

enum { STUCK_SECONDS = 30 };

#endif
