/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "conformance/engine/device/device_command.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/engine/device/device_helper.h"

struct device_command {
    int socket;
    pid_t helper;
    bool has[DEVICE_COMMANDS];
};

struct device_command *device_command_new(const struct device_command_config *config, struct iwarp_sentence *error)
{
    struct device_command *commands = calloc(1, sizeof(*commands));
    int sockets[2];

    if (commands == NULL || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) {
        (void)iwarp_sentence_set(error, "cannot prepare the device's commands: %s", strerror(errno));
        free(commands);
        return NULL;
    }
    for (int i = 0; i < DEVICE_COMMANDS; i++)
        commands->has[i] = config->command[i] != NULL;
    (void)fflush(NULL);
    commands->helper = fork();
    if (commands->helper == 0) {
        close(sockets[0]);
        device_helper_serve(sockets[1], config);
    }
    close(sockets[1]);
    commands->socket = sockets[0];
    if (commands->helper > 0)
        return commands;
    (void)iwarp_sentence_set(error, "cannot start a process for the device's commands: %s", strerror(errno));
    close(sockets[0]);
    free(commands);
    return NULL;
}

void device_command_free(struct device_command *commands)
{
    if (commands == NULL)
        return;
    close(commands->socket);
    while (waitpid(commands->helper, NULL, 0) < 0 && errno == EINTR)
        continue;
    free(commands);
}

bool device_command_has(const struct device_command *commands, enum device_command_which which)
{
    return commands != NULL && commands->has[which];
}

/* The helper answers each request with one answer; it has ended when none comes. */
static void ask(struct device_command *commands, const struct device_helper_request *request,
                struct device_helper_answer *answer)
{
    ssize_t got = -1;

    memset(answer, 0, sizeof(*answer));
    if (send(commands->socket, request, sizeof(*request), MSG_NOSIGNAL) == (ssize_t)sizeof(*request))
        while ((got = recv(commands->socket, answer, sizeof(*answer), 0)) < 0 && errno == EINTR)
            continue;
    if (got == (ssize_t)sizeof(*answer))
        return;
    memset(answer, 0, sizeof(*answer));
    (void)iwarp_sentence_set(&answer->error, "the process that runs the device's commands has ended");
}

int device_command_start(struct device_command *commands, const struct device_command_start *start,
                         struct iwarp_sentence *error)
{
    struct device_helper_request request = {.verb = HELPER_START, .which = start->which, .port = start->port};
    struct device_helper_answer answer;

    (void)snprintf(request.address, sizeof(request.address), "%s", start->address);
    (void)snprintf(request.label, sizeof(request.label), "%s", start->label);
    ask(commands, &request, &answer);
    return answer.error.text[0] == '\0' ? 0 : iwarp_sentence_set(error, "%s", answer.error.text);
}

void device_command_stop(struct device_command *commands, enum device_command_which which)
{
    struct device_helper_request request = {.verb = HELPER_STOP, .which = which};
    struct device_helper_answer answer;

    ask(commands, &request, &answer);
}

struct device_command_state device_command_state(struct device_command *commands, enum device_command_which which,
                                                 int patience_ms)
{
    struct device_helper_request request = {.verb = HELPER_STATE, .which = which, .patience_ms = patience_ms};
    struct device_helper_answer answer;

    ask(commands, &request, &answer);
    return answer.state;
}

const char *device_command_end_text(int status, char *text, size_t room)
{
    if (WIFSIGNALED(status))
        (void)snprintf(text, room, "signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        (void)snprintf(text, room, "exit status %d", WEXITSTATUS(status));
    return text;
}
