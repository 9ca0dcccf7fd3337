/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* ppoll */
#include "conformance/engine/process/worker_process.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "base/monotonic.h"
#include "conformance/engine/process/run_stop.h"

#define SECOND UINT64_C(1000000000)

enum { JOIN_MILLISECONDS = 100 };

static volatile sig_atomic_t news; /* SIGCHLD has come and was not handled yet */

static void on_child(int number)
{
    (void)number;
    news = 1;
}

void worker_process_watch(void)
{
    struct sigaction action = {.sa_handler = on_child, .sa_flags = SA_RESTART};

    (void)sigaction(SIGCHLD, &action, NULL);
}

int worker_process_poll(struct pollfd *waits, size_t count, int milliseconds)
{
    struct timespec limit = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    sigset_t watched, before;
    int ready = 0, saved;

    (void)sigemptyset(&watched);
    (void)sigaddset(&watched, SIGINT);
    (void)sigaddset(&watched, SIGTERM);
    (void)sigaddset(&watched, SIGCHLD);
    (void)sigprocmask(SIG_BLOCK, &watched, &before);
    if (!run_stopped() && !news)
        ready = ppoll(waits, count, milliseconds >= 0 ? &limit : NULL, &before);
    saved = errno;
    if (news) {
        news = 0;
        ready = -1;
        saved = EINTR;
    }
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    errno = saved;
    return ready;
}

void worker_process_check(struct worker_process *worker)
{
    int status;

    while (worker->pid > 0 && waitpid(worker->pid, &status, WNOHANG | WUNTRACED | WCONTINUED) == worker->pid) {
        if (WIFSTOPPED(status)) {
            worker->stopped_ns = monotonic_ns();
        } else if (WIFCONTINUED(status)) {
            worker->stopped_ns = 0;
        } else {
            worker->ended = status;
            worker->pid = 0;
        }
    }
    if (worker->pid > 0 && worker->stopped_ns != 0 &&
        monotonic_ns() - worker->stopped_ns >= WORKER_STOPPED_SECONDS * SECOND) {
        worker->killed_for_delay = true;
        worker_process_kill(worker);
    }
}

int worker_process_wait(const struct worker_process *worker, int most)
{
    uint64_t since;
    int left;

    if (worker->pid == 0 || worker->stopped_ns == 0)
        return most;
    since = monotonic_ns() - worker->stopped_ns;
    left = since >= WORKER_STOPPED_SECONDS * SECOND
               ? 0
               : (int)((WORKER_STOPPED_SECONDS * SECOND - since) / 1000000) + 1; /* not too early */
    return most >= 0 && most < left ? most : left;
}

const char *worker_process_reason(const struct worker_process *worker, struct iwarp_sentence *text)
{
    if (worker->killed_for_delay)
        (void)iwarp_sentence_set(text, "it was stopped for %d s", WORKER_STOPPED_SECONDS);
    else if (WIFSIGNALED(worker->ended))
        (void)iwarp_sentence_set(text, "signal %d", WTERMSIG(worker->ended));
    else
        (void)iwarp_sentence_set(text, "exit status %d", WEXITSTATUS(worker->ended));
    return text->text;
}

void worker_process_join(struct worker_process *worker)
{
    worker_process_check(worker);
    while (worker->pid > 0 && !worker->killed_for_delay) {
        (void)worker_process_poll(NULL, 0, worker_process_wait(worker, JOIN_MILLISECONDS));
        worker_process_check(worker);
        if (run_stopped())
            worker_process_kill(worker);
    }
}

void worker_process_kill(struct worker_process *worker)
{
    if (worker->pid <= 0 || kill(worker->pid, SIGKILL) != 0)
        return;
    while (waitpid(worker->pid, &worker->ended, 0) < 0 && errno == EINTR)
        continue;
    worker->pid = 0;
}
