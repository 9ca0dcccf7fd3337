/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "conformance/engine/ipsec/ipsec_program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "conformance/engine/process/child_end.h"

bool ipsec_program_find(const char *name, char *path, size_t room)
{
    static const char *const daemons[] = {"/usr/sbin", "/sbin", "/usr/local/sbin", "/usr/bin", "/bin"};
    const char *at = getenv("PATH");

    while (at != NULL && *at != '\0') {
        size_t octets = strcspn(at, ":");

        if (octets != 0 && snprintf(path, room, "%.*s/%s", (int)octets, at, name) < (int)room &&
            access(path, X_OK) == 0)
            return true;
        at += octets + (at[octets] == ':');
    }
    for (size_t i = 0; i < sizeof(daemons) / sizeof(daemons[0]); i++)
        if (snprintf(path, room, "%s/%s", daemons[i], name) < (int)room && access(path, X_OK) == 0)
            return true;
    return false;
}

static void set_in_folder(const char *variable, const char *folder, const char *name)
{
    char path[PATH_MAX];

    if (snprintf(path, sizeof(path), "%s/%s", folder, name) < (int)sizeof(path))
        (void)setenv(variable, path, 1);
}

/* In the child. */
_Noreturn static void execute(const struct ipsec_call *call, const char *path, int output)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    sigset_t none;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
    (void)signal(SIGPIPE, SIG_DFL);
    if (call->network >= 0 && setns(call->network, CLONE_NEWNET) != 0)
        _exit(126);
    (void)dup2(null, STDIN_FILENO);
    (void)dup2(output, STDOUT_FILENO);
    (void)dup2(output, STDERR_FILENO);
    (void)close_range(3, ~0U, 0);
    if (call->folder != NULL) {
        set_in_folder("STRONGSWAN_CONF", call->folder, "strongswan.conf");
        set_in_folder("SWANCTL_DIR", call->folder, "swanctl");
    }
    (void)unsetenv("NOTIFY_SOCKET");
    execv(path, (char *const *)call->words);
    _exit(127);
}

/* Reads what it says until its end or the deadline. What is beyond the room is read and dropped. */
static bool hear(int output, struct ipsec_said *said, int64_t deadline)
{
    for (;;) {
        struct pollfd file = {.fd = output, .events = POLLIN};
        int64_t rest = deadline - monotonic_ms();
        char octets[4096];
        ssize_t got;
        size_t room;

        if (rest <= 0)
            return false;
        if (poll(&file, 1, (int)rest) <= 0)
            continue;
        got = read(output, octets, sizeof(octets));
        if (got == 0 || (got < 0 && errno != EINTR))
            return true;
        room = sizeof(said->text) - 1 - said->octets;
        if (got > 0) {
            memcpy(said->text + said->octets, octets, (size_t)got < room ? (size_t)got : room);
            said->octets += (size_t)got < room ? (size_t)got : room;
        }
    }
}

static pid_t start(const struct ipsec_call *call, int output, struct iwarp_sentence *error)
{
    char path[PATH_MAX];
    pid_t pid;

    if (!ipsec_program_find(call->words[0], path, sizeof(path)))
        return iwarp_sentence_set(error, "%s is not installed", call->words[0]);
    pid = fork();
    if (pid == 0)
        execute(call, path, output);
    return pid > 0 ? pid : iwarp_sentence_set(error, "cannot start %s: %s", call->words[0], strerror(errno));
}

int ipsec_program_run(const struct ipsec_call *call, struct ipsec_said *said, struct iwarp_sentence *error)
{
    int pipes[2], status = 0;
    bool ended, good;
    pid_t pid;

    said->octets = 0;
    if (pipe2(pipes, O_CLOEXEC) != 0)
        return iwarp_sentence_set(error, "cannot start %s: %s", call->words[0], strerror(errno));
    pid = start(call, pipes[1], error);
    close(pipes[1]);
    if (pid < 0) {
        close(pipes[0]);
        return -1;
    }
    ended = hear(pipes[0], said, monotonic_ms() + (int64_t)call->seconds * 1000);
    said->text[said->octets] = '\0';
    if (!ended)
        (void)kill(pid, SIGKILL);
    good = child_end(pid, call->words[0], &status, error) == 0;
    close(pipes[0]);
    if (!ended)
        return iwarp_sentence_set(error, "%s did not end within %u seconds", call->words[0], call->seconds);
    return good ? status : -1;
}

pid_t ipsec_program_start(const struct ipsec_call *call, struct iwarp_sentence *error)
{
    char path[PATH_MAX];
    int output;
    pid_t pid;

    if (snprintf(path, sizeof(path), "%s/output", call->folder) >= (int)sizeof(path) ||
        (output = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600)) < 0)
        return iwarp_sentence_set(error, "%s/output: %s", call->folder, strerror(errno));
    pid = start(call, output, error);
    close(output);
    return pid;
}
