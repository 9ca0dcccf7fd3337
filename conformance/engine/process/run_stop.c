/* SPDX-License-Identifier: BSD-2-Clause */
/* All that a handler does is async-signal-safe (signal-safety(7)): it sets flags, calls write() and _exit(). */
#include "conformance/engine/process/run_stop.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/exit_status.h"

enum { SENTENCE_OCTETS = 200 };

enum reason { REASON_NONE, REASON_SIGNALS, REASON_SCRIPT, REASONS };

static volatile sig_atomic_t stopped; /* signals that have come */
static volatile sig_atomic_t held;
static volatile sig_atomic_t ending; /* an enum reason: the process ends when nothing is held */
static volatile sig_atomic_t installed;
static volatile sig_atomic_t expired; /* the call into a script was found stuck */
static bool (*volatile stuck_now)(void);
static const char *volatile incomplete;

/* Made in advance, because a signal handler must not call printf(). */
static char sentences[REASONS][SENTENCE_OCTETS];

static void end_now(enum reason reason)
{
    const char *sentence = sentences[reason];
    ssize_t wrote = write(STDERR_FILENO, sentence, strlen(sentence));

    (void)wrote; /* stderr may be closed; the exit status still shows it */
    if (incomplete != NULL)
        (void)unlink(incomplete);
    _exit(EXIT_ENVIRONMENT);
}

static void end_for(enum reason reason)
{
    if (held == 0)
        end_now(reason);
    ending = (sig_atomic_t)reason;
}

static void on_signal(int number)
{
    int saved = errno;

    (void)number;
    if (stopped++ != 0)
        end_for(REASON_SIGNALS);
    errno = saved;
}

static void on_timer(int number)
{
    bool (*stuck)(void) = stuck_now;

    (void)number;
    if (stuck != NULL && stuck() && expired++ != 0)
        end_for(REASON_SCRIPT);
}

void run_stop_install(const char *command)
{
    struct sigaction action = {.sa_handler = on_signal};
    struct sigaction timer = {.sa_handler = on_timer, .sa_flags = SA_RESTART};

    (void)snprintf(sentences[REASON_SIGNALS], SENTENCE_OCTETS,
                   "\nwarpcheck %s: interrupted twice, it ends at once; the results so far are kept\n", command);
    (void)snprintf(sentences[REASON_SCRIPT], SENTENCE_OCTETS,
                   "\nwarpcheck %s: a call in a script does not end; warpcheck stops at once; the results so far are "
                   "kept\n",
                   command);
    stopped = 0;
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGPROF, &timer, NULL);
    installed = 1;
}

bool run_stopped(void)
{
    return stopped != 0;
}

void run_stop_hold(void)
{
    held++;
}

void run_stop_release(void)
{
    held--;
    if (held == 0 && ending != REASON_NONE)
        end_now((enum reason)ending);
}

void run_stop_discard(const char *path)
{
    incomplete = path;
}

int run_stop_child(int parent)
{
    incomplete = NULL;
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGTERM, SIG_DFL);
    held = 0;
    ending = REASON_NONE;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    return getppid() == parent ? 0 : -1;
}

void run_stop_watch(bool (*stuck)(void))
{
    struct itimerval times = {{0, 0}, {0, 0}};

    if (!installed)
        return;
    if (stuck != NULL)
        times.it_value.tv_sec = times.it_interval.tv_sec = STUCK_SECONDS;
    stuck_now = stuck;
    expired = 0;
    (void)setitimer(ITIMER_PROF, &times, NULL);
}
