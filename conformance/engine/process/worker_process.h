/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that work for a command: whether they still run, and their end. A worker that another process has stopped
 * (SIGSTOP) would make the command wait for ever: it is killed after WORKER_STOPPED_SECONDS. When the terminal stops
 * the whole command, the command continues together with its workers, and nothing is ended.
 */
#ifndef CONFORMANCE_ENGINE_WORKER_PROCESS_H
#define CONFORMANCE_ENGINE_WORKER_PROCESS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/sentence.h"

enum { WORKER_STOPPED_SECONDS = 5 };

/* Begins as {0}. */
struct worker_process {
    pid_t pid;             /* 0: not started, or waited for */
    int ended;             /* pid 0: its status, as waitpid() gives it */
    uint64_t stopped_ns;   /* when it was seen to be stopped (CLOCK_MONOTONIC), 0: it runs */
    bool killed_for_delay; /* it was stopped too long, and ended by worker_process_check() */
};

/* The end or the stop of a worker interrupts worker_process_poll() from now on. */
void worker_process_watch(void);

/*
 * poll(), which SIGINT, SIGTERM and news of a worker interrupt even if they came before it. `milliseconds` -1: no
 * limit. Returns what poll() returns, but 0 at once when the command is to stop (run_stopped()). Where that is not
 * positive, worker_process_check() is due for each worker.
 */
int worker_process_poll(struct pollfd *waits, size_t count, int milliseconds);

/* Takes the news of one worker: it has ended, stopped or continued. */
void worker_process_check(struct worker_process *worker);

/* Milliseconds until worker_process_check() has to be called again, at most `most` (-1: no limit). */
int worker_process_wait(const struct worker_process *worker, int most);

/* Why it ended, for a sentence: "signal 9", "exit status 1", "it was stopped for 5 s". */
const char *worker_process_reason(const struct worker_process *worker, struct iwarp_sentence *text);

/* Waits for one that is about to end; it is not waited for longer than it may be stopped. */
void worker_process_join(struct worker_process *worker);

/* Kills the process and waits for its end. If it belongs to another user, it may not be killed: it then goes on. */
void worker_process_kill(struct worker_process *worker);

#endif
