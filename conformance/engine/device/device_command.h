/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The commands of a profile that warpcheck runs on the tester's host: `restart_command` starts a lost device again,
 * `connect_command` starts an initiator. A run that judges a device is confined and cannot execute programs. So a
 * helper process is forked before that. The helper knows both commands from then on; the run can ask for these two and
 * for nothing else.
 *
 * A command is an array of arguments, and no shell reads it. It runs as the user who writes the output, without
 * capabilities that this user does not have, in a process group of its own, with no files but /dev/null and its output.
 * Its output goes to a file of the evidence folder. Its processes end with the run, also those that it left after.
 */
#ifndef CONFORMANCE_ENGINE_DEVICE_COMMAND_H
#define CONFORMANCE_ENGINE_DEVICE_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conformance/engine/process/run_confine.h"
#include "base/sentence.h"

enum device_command_which { DEVICE_RESTART, DEVICE_CONNECT, DEVICE_COMMANDS };

enum {
    DEVICE_COMMAND_ARGUMENTS = 64,          /* of one command, at most */
    DEVICE_COMMAND_OUTPUT = 1 << 20,        /* octets of output kept in one file */
    DEVICE_COMMAND_LABEL = 160,             /* octets of a label, with the final zero */
    DEVICE_COMMAND_END_MILLISECONDS = 2000, /* between SIGTERM and SIGKILL */
};

struct device_command_config {
    const char *const
        *command[DEVICE_COMMANDS]; /* ended by NULL; NULL: there is none. Borrowed until the call returns */
    int folder;                    /* of the evidence; -1: the output is not kept */
    struct run_identity identity;
};

/* Where a started command is to connect to, and what it is started for. */
struct device_command_start {
    enum device_command_which which;
    const char *address; /* "{address}" in the arguments, WARPCHECK_ADDRESS */
    uint16_t port;       /* "{port}" in the arguments, WARPCHECK_PORT */
    const char
        *label; /* of the check, "MPA-7.1.2-05-initiator": begins the name of the output's file. WARPCHECK_CHECK */
};

/* How a command's own process stands. */
struct device_command_state {
    bool started; /* ever */
    bool running;
    int status; /* of waitpid(), when it has ended by itself */
    bool ended; /* by itself: nobody asked for it */
};

struct device_command;

/* Forks the helper. NULL with a sentence. */
struct device_command *device_command_new(const struct device_command_config *config, struct iwarp_sentence *error);

/* Ends what runs and the helper. NULL is allowed. */
void device_command_free(struct device_command *commands);

bool device_command_has(const struct device_command *commands, enum device_command_which which);

/* Starts a command; one that still runs is ended before. -1 with a sentence. */
int device_command_start(struct device_command *commands, const struct device_command_start *start,
                         struct iwarp_sentence *error);

/* Ends a command and the processes of its group. */
void device_command_stop(struct device_command *commands, enum device_command_which which);

/* The state, after `patience_ms` at most for a command that runs to end by itself. */
struct device_command_state device_command_state(struct device_command *commands, enum device_command_which which,
                                                 int patience_ms);

/* "signal 11 (Segmentation fault)", "exit status 3" */
const char *device_command_end_text(int status, char *text, size_t room);

#endif
