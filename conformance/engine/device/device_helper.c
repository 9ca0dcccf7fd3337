/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "conformance/engine/device/device_helper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/monotonic.h"

enum {
    ARGUMENT_OCTETS = 4096,
    KEPT_SOCKET = 3,
    KEPT_FOLDER = 4,
    KEPT = 5,
    CHILDREN_MAX = 100000,
    POLLED = 2 + DEVICE_COMMANDS
};

/* A command that was started. */
struct process {
    pid_t pid;  /* its own, and its group's; 0: none runs */
    int output; /* the pipe that it writes to; -1: closed */
    int file;   /* where the output goes; -1: nowhere */
    size_t written;
    struct device_command_state state;
};

struct helper {
    int socket, folder, signals;
    char **command[DEVICE_COMMANDS];
    struct process process[DEVICE_COMMANDS];
};

static const char *const suffixes[DEVICE_COMMANDS] = {"restart", "connect"};

/* ---- starting ---------------------------------------------------------------------------------------------------- */

/* An argument with "{address}" and "{port}" filled in, in `text` of ARGUMENT_OCTETS. False: too long. */
static bool fill_in(const char *argument, const struct device_helper_request *request, char *text)
{
    size_t used = 0;
    char port[8];

    (void)snprintf(port, sizeof(port), "%u", request->port);
    while (*argument != '\0') {
        const char *value = strncmp(argument, "{address}", 9) == 0 ? request->address
                            : strncmp(argument, "{port}", 6) == 0  ? port
                                                                   : NULL;
        size_t octets = value != NULL ? strlen(value) : 1;

        if (used + octets >= ARGUMENT_OCTETS)
            return false;
        memcpy(text + used, value != NULL ? value : argument, octets);
        used += octets;
        argument += value == NULL ? 1 : value == port ? 6 : 9;
    }
    text[used] = '\0';
    return true;
}

/* In the child: nothing of the helper's but its output. */
_Noreturn static void execute(char **command, const struct device_helper_request *request, int output)
{
    static char texts[DEVICE_COMMAND_ARGUMENTS][ARGUMENT_OCTETS];
    char *arguments[DEVICE_COMMAND_ARGUMENTS + 1] = {NULL};
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    sigset_t none;
    char port[8];

    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)signal(SIGINT, SIG_DFL); /* what is ignored stays ignored in a new program */
    (void)signal(SIGTERM, SIG_DFL);
    (void)signal(SIGPROF, SIG_DFL);
    (void)dup2(null, STDIN_FILENO);
    (void)dup2(output, STDOUT_FILENO);
    (void)dup2(output, STDERR_FILENO);
    (void)close_range(KEPT_SOCKET, ~0U, 0);
    (void)snprintf(port, sizeof(port), "%u", request->port);
    (void)setenv("WARPCHECK_ADDRESS", request->address, 1);
    (void)setenv("WARPCHECK_PORT", port, 1);
    (void)setenv("WARPCHECK_CHECK", request->label, 1);
    for (size_t i = 0; i < DEVICE_COMMAND_ARGUMENTS && command[i] != NULL; i++) {
        if (!fill_in(command[i], request, texts[i]))
            _exit(126);
        arguments[i] = texts[i];
    }
    if (arguments[0] == NULL)
        _exit(126);
    execvp(arguments[0], arguments);
    (void)dprintf(STDERR_FILENO, "warpcheck: %s: %s\n", arguments[0], strerror(errno));
    _exit(127);
}

/* "MPA-7.1.2-05-initiator.connect.txt"; a command that is started again for the same check adds to it. */
static int open_output(const struct helper *helper, const struct device_helper_request *request)
{
    char name[DEVICE_COMMAND_LABEL + 16];

    if (helper->folder < 0 || request->label[0] == '.' || strchr(request->label, '/') != NULL)
        return -1;
    (void)snprintf(name, sizeof(name), "%s.%s.txt", request->label, suffixes[request->which]);
    return openat(helper->folder, name, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666);
}

static int start(struct helper *helper, const struct device_helper_request *request, struct iwarp_sentence *error)
{
    struct process *process = &helper->process[request->which];
    int pipes[2];
    pid_t pid;

    if (helper->command[request->which] == NULL)
        return iwarp_sentence_set(error, "the profile has no %s_command", suffixes[request->which]);
    if (pipe2(pipes, O_CLOEXEC) != 0)
        return iwarp_sentence_set(error, "cannot start the %s_command: %s", suffixes[request->which], strerror(errno));
    pid = fork();
    if (pid == 0)
        execute(helper->command[request->which], request, pipes[1]);
    close(pipes[1]);
    if (pid < 0) {
        close(pipes[0]);
        return iwarp_sentence_set(error, "cannot start the %s_command: %s", suffixes[request->which], strerror(errno));
    }
    (void)setpgid(pid, pid); /* both do it: whoever comes first */
    (void)fcntl(pipes[0], F_SETFL, O_NONBLOCK);
    *process = (struct process){.pid = pid,
                                .output = pipes[0],
                                .file = open_output(helper, request),
                                .state = {.started = true, .running = true}};
    return 0;
}

/* ---- what comes of it -------------------------------------------------------------------------------------------- */

/* Output beyond the limit is read and dropped: the command must not wait for us. */
static void read_output(struct process *process)
{
    char octets[4096];
    ssize_t got;

    while (process->output >= 0 && (got = read(process->output, octets, sizeof(octets))) != 0) {
        size_t room = DEVICE_COMMAND_OUTPUT - process->written;
        size_t count = got > 0 && (size_t)got < room ? (size_t)got : got > 0 ? room : 0;

        if (got < 0)
            return;
        if (process->file >= 0 && count != 0 && write(process->file, octets, count) != (ssize_t)count) {
            close(process->file); /* the disk is full: the run itself says so */
            process->file = -1;
        }
        process->written += count;
    }
    if (process->output >= 0)
        close(process->output);
    process->output = -1;
}

static void close_output(struct process *process)
{
    read_output(process);
    if (process->output >= 0)
        close(process->output);
    if (process->file >= 0)
        close(process->file);
    process->output = process->file = -1;
}

/*
 * Sees which commands have ended. They stay zombies until stop(), so that the number of their group belongs to nobody
 * else.
 */
static void look_for_ends(struct helper *helper)
{
    struct signalfd_siginfo ignored;

    while (read(helper->signals, &ignored, sizeof(ignored)) > 0)
        continue;
    for (size_t i = 0; i < DEVICE_COMMANDS; i++) {
        struct process *process = &helper->process[i];
        siginfo_t end = {.si_pid = 0};

        if (!process->state.running || waitid(P_PID, (id_t)process->pid, &end, WEXITED | WNOHANG | WNOWAIT) != 0 ||
            end.si_pid == 0)
            continue;
        process->state.running = false;
        process->state.ended = true;
        process->state.status = end.si_code == CLD_EXITED ? W_EXITCODE(end.si_status, 0) : end.si_status;
        read_output(process);
    }
}

/* Waits until something happens to a command, or is asked. True: something is asked. */
static bool wait_for(struct helper *helper, bool requests, int milliseconds)
{
    struct pollfd files[POLLED] = {{.fd = helper->signals, .events = POLLIN},
                                   {.fd = requests ? helper->socket : -1, .events = POLLIN}};

    for (size_t i = 0; i < DEVICE_COMMANDS; i++)
        files[2 + i] = (struct pollfd){.fd = helper->process[i].output, .events = POLLIN};
    if (poll(files, POLLED, milliseconds) <= 0)
        return false;
    for (size_t i = 0; i < DEVICE_COMMANDS; i++)
        read_output(&helper->process[i]);
    look_for_ends(helper);
    return files[1].revents != 0;
}

static void wait_for_end(struct helper *helper, const struct process *process, int milliseconds)
{
    int64_t until = monotonic_ms() + milliseconds;

    while (process->state.running && monotonic_ms() < until)
        (void)wait_for(helper, false, (int)(until - monotonic_ms()));
}

/* Its process, and the others of its group: SIGTERM first. */
static void stop(struct helper *helper, struct process *process)
{
    bool ended = process->state.ended;

    if (process->pid == 0)
        return;
    (void)kill(-process->pid, SIGTERM);
    (void)kill(-process->pid, SIGCONT);
    wait_for_end(helper, process, DEVICE_COMMAND_END_MILLISECONDS);
    (void)kill(-process->pid, SIGKILL);
    while (waitpid(process->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    process->state.running = false;
    process->state.ended = ended;
    process->pid = 0;
    close_output(process);
}

/*
 * Children that left their group: daemons of a command. They are ours since their parents ended
 * (PR_SET_CHILD_SUBREAPER).
 */
static void kill_children(void)
{
    FILE *children = fopen("/proc/thread-self/children", "re");
    int pid;

    while (children != NULL && fscanf(children, "%d", &pid) == 1)
        (void)kill(pid, SIGKILL);
    if (children != NULL)
        (void)fclose(children);
}

_Noreturn static void end_all(struct helper *helper)
{
    for (size_t i = 0; i < DEVICE_COMMANDS; i++)
        stop(helper, &helper->process[i]);
    for (int i = 0; i < CHILDREN_MAX; i++) { /* a child's children become ours when it ends */
        kill_children();
        if (waitpid(-1, NULL, 0) < 0 && errno == ECHILD)
            break;
    }
    _exit(0);
}

static void answer(struct helper *helper)
{
    struct device_helper_request request;
    struct device_helper_answer reply;
    struct process *process;

    memset(&reply, 0, sizeof(reply));
    if (recv(helper->socket, &request, sizeof(request), 0) != (ssize_t)sizeof(request) ||
        (unsigned)request.which >= DEVICE_COMMANDS)
        end_all(helper);
    request.address[sizeof(request.address) - 1] = request.label[sizeof(request.label) - 1] = '\0';
    process = &helper->process[request.which];
    if (request.verb == HELPER_STATE)
        wait_for_end(helper, process, request.patience_ms);
    else
        stop(helper, process);
    if (request.verb == HELPER_START)
        (void)start(helper, &request, &reply.error);
    look_for_ends(helper);
    reply.state = process->state;
    if (send(helper->socket, &reply, sizeof(reply), MSG_NOSIGNAL) != (ssize_t)sizeof(reply))
        end_all(helper);
}

/* ---- the process ------------------------------------------------------------------------------------------------- */

/* A copy that outlives the profile. */
static char **copy_of(const char *const *command)
{
    char **copy = command != NULL ? calloc(DEVICE_COMMAND_ARGUMENTS + 1, sizeof(*copy)) : NULL;

    for (size_t i = 0; copy != NULL && i < DEVICE_COMMAND_ARGUMENTS && command[i] != NULL; i++)
        if ((copy[i] = strdup(command[i])) == NULL)
            _exit(1);
    if (command != NULL && copy == NULL)
        _exit(1);
    return copy;
}

/* The helper keeps two files of the run: its end of the socket, and the evidence folder. */
static void keep_files(struct helper *helper, int socket, int folder)
{
    int high_socket = fcntl(socket, F_DUPFD_CLOEXEC, 64),
        high_folder = folder >= 0 ? fcntl(folder, F_DUPFD_CLOEXEC, 64) : -1;

    helper->socket = dup3(high_socket, KEPT_SOCKET, O_CLOEXEC);
    helper->folder = high_folder >= 0 ? dup3(high_folder, KEPT_FOLDER, O_CLOEXEC) : -1;
    (void)close_range(high_folder >= 0 ? KEPT : KEPT_FOLDER, ~0U, 0);
}

_Noreturn void device_helper_serve(int socket, const struct device_command_config *config)
{
    struct helper helper = {.folder = -1};
    struct iwarp_sentence why;
    sigset_t child;

    for (size_t i = 0; i < DEVICE_COMMANDS; i++) {
        helper.command[i] = copy_of(config->command[i]);
        helper.process[i].output = helper.process[i].file = -1;
    }
    keep_files(&helper, socket, config->folder);
    if (run_identity_become(&config->identity, &why) != 0)
        _exit(1);
    (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    (void)setpgid(0, 0); /* Ctrl-C is for the run, which ends the helper when it ends */
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGTERM, SIG_IGN);
    (void)signal(SIGPROF, SIG_IGN);
    (void)sigemptyset(&child);
    (void)sigaddset(&child, SIGCHLD);
    (void)sigprocmask(SIG_BLOCK, &child, NULL);
    helper.signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    if (helper.signals < 0)
        _exit(1);
    for (;;)
        if (wait_for(&helper, true, -1))
            answer(&helper);
}
