/* SPDX-License-Identifier: BSD-2-Clause */
/* The helper process that runs a profile's commands: what they are given, what is kept of them, and that they end. */
#define _GNU_SOURCE
#include "conformance/engine/device/device_command.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

Suite *device_command_suite(void);

enum { PATIENCE = 60000 };

static char folder[] = "/tmp/warpcheck-command-XXXXXX";
static int folder_fd;
static struct device_command *commands;
static struct iwarp_sentence error;

static void setup(void)
{
    (void)snprintf(folder, sizeof(folder), "/tmp/warpcheck-command-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_ge(folder_fd, 0);
    commands = NULL;
}

static void teardown(void)
{
    device_command_free(commands);
    (void)unlinkat(folder_fd, "X-1.restart.txt", 0);
    (void)unlinkat(folder_fd, "X-1.connect.txt", 0);
    close(folder_fd);
    ck_assert_int_eq(rmdir(folder), 0);
}

static void make(const char *const *restart, const char *const *connect)
{
    struct device_command_config config = {.command = {restart, connect}, .folder = folder_fd};

    commands = device_command_new(&config, &error);
    ck_assert_msg(commands != NULL, "%s", error.text);
}

static void start(enum device_command_which which)
{
    struct device_command_start what = {which, "192.0.2.7", 9999, "X-1"};

    ck_assert_msg(device_command_start(commands, &what, &error) == 0, "%s", error.text);
}

static const char *kept(const char *name)
{
    static char text[8192];
    int fd = openat(folder_fd, name, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;

    ck_assert_int_ge(got, 0);
    text[got] = '\0';
    close(fd);
    return text;
}

/* Arguments come as they stand, with the two placeholders filled in; the environment says the same. */
START_TEST(arguments_and_environment)
{
    static const char *const command[] = {
        "sh",
        "-c",
        "echo \"$1|$2\"; echo \"$WARPCHECK_ADDRESS $WARPCHECK_PORT $WARPCHECK_CHECK\"; exit 3",
        "sh",
        "{address}:{port}",
        "a b; $HOME {no}",
        NULL};
    struct device_command_state state;
    char text[80];

    make(command, NULL);
    ck_assert(device_command_has(commands, DEVICE_RESTART));
    ck_assert(!device_command_has(commands, DEVICE_CONNECT));
    start(DEVICE_RESTART);
    state = device_command_state(commands, DEVICE_RESTART, PATIENCE);
    ck_assert(state.started && state.ended && !state.running);
    ck_assert_str_eq(device_command_end_text(state.status, text, sizeof(text)), "exit status 3");
    ck_assert_str_eq(kept("X-1.restart.txt"), "192.0.2.7:9999|a b; $HOME {no}\n192.0.2.7 9999 X-1\n");
}
END_TEST

START_TEST(a_signal_is_reported)
{
    static const char *const command[] = {"sh", "-c", "kill -SEGV $$", NULL};
    struct device_command_state state;
    char text[80];

    make(command, NULL);
    start(DEVICE_RESTART);
    state = device_command_state(commands, DEVICE_RESTART, PATIENCE);
    ck_assert(state.ended && WIFSIGNALED(state.status));
    ck_assert_str_eq(device_command_end_text(state.status, text, sizeof(text)), "signal 11 (Segmentation fault)");
}
END_TEST

START_TEST(a_program_that_is_not_there)
{
    static const char *const command[] = {"/no/such/program", NULL};
    struct device_command_state state;

    make(NULL, command);
    start(DEVICE_CONNECT);
    state = device_command_state(commands, DEVICE_CONNECT, PATIENCE);
    ck_assert(state.ended && WIFEXITED(state.status) && WEXITSTATUS(state.status) == 127);
    ck_assert_str_eq(kept("X-1.connect.txt"), "warpcheck: /no/such/program: No such file or directory\n");
}
END_TEST

/* A command that does not exist is refused; the helper stays alive. */
START_TEST(no_such_command)
{
    static const char *const command[] = {"true", NULL};
    struct device_command_start what = {DEVICE_CONNECT, "192.0.2.7", 9999, "X-1"};

    make(command, NULL);
    ck_assert_int_eq(device_command_start(commands, &what, &error), -1);
    ck_assert_str_eq(error.text, "the profile has no connect_command");
    start(DEVICE_RESTART);
    ck_assert(device_command_state(commands, DEVICE_RESTART, PATIENCE).ended);
}
END_TEST

/* The number that the command has written, once it has: its own process's, or a child's. */
static pid_t written_pid(const char *word)
{
    char text[64];

    for (;;) {
        const char *line = strstr(kept("X-1.restart.txt"), word);

        if (line != NULL && strchr(line, '\n') != NULL) {
            (void)snprintf(text, sizeof(text), "%s", line + strlen(word));
            return (pid_t)strtol(text, NULL, 10);
        }
        ck_assert(device_command_state(commands, DEVICE_RESTART, 20).running);
    }
}

static bool is_gone(pid_t pid)
{
    return kill(pid, 0) != 0 && errno == ESRCH;
}

/* QEMU's user emulation refuses it, and a daemon whose parent has ended has no parent there. */
static bool can_adopt(void)
{
    return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
}

/* One that ignores SIGTERM, its child, and its daemon: all of them end. What was asked for is no end by itself. */
START_TEST(command_ends_with_its_child_and_daemon)
{
    static const char *const command[] = {
        "sh", "-c",
        "trap '' TERM; sleep 1000 & echo child $!; setsid sleep 1001 & echo daemon $!; echo own $$; wait; wait", NULL};
    pid_t own, child, daemon;

    make(command, NULL);
    start(DEVICE_RESTART);
    own = written_pid("own ");
    child = written_pid("child ");
    daemon = written_pid("daemon ");
    device_command_stop(commands, DEVICE_RESTART);
    ck_assert(is_gone(own));
    ck_assert(!device_command_state(commands, DEVICE_RESTART, 0).ended);
    ck_assert(!device_command_state(commands, DEVICE_RESTART, 0).running);
    device_command_free(commands);
    commands = NULL;
    ck_assert(is_gone(child));
    if (can_adopt())
        ck_assert(is_gone(daemon));
    else
        ck_assert_int_eq(kill(daemon, SIGKILL), 0);
}
END_TEST

/* Output beyond the limit is dropped, and the command does not wait for anybody. */
START_TEST(output_beyond_the_limit_is_dropped)
{
    static const char *const command[] = {"sh", "-c", "head -c 3000000 /dev/zero", NULL};
    struct device_command_state state;

    make(command, NULL);
    start(DEVICE_RESTART);
    state = device_command_state(commands, DEVICE_RESTART, PATIENCE);
    ck_assert(state.ended && WIFEXITED(state.status) && WEXITSTATUS(state.status) == 0);
    device_command_stop(commands, DEVICE_RESTART);
    (void)kept("X-1.restart.txt");
    int fd = openat(folder_fd, "X-1.restart.txt", O_RDONLY | O_CLOEXEC);
    ck_assert_int_eq(lseek(fd, 0, SEEK_END), DEVICE_COMMAND_OUTPUT);
    close(fd);
}
END_TEST

Suite *device_command_suite(void)
{
    Suite *suite = suite_create("device_command");
    TCase *tests = tcase_create("commands");

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, arguments_and_environment);
    tcase_add_test(tests, a_signal_is_reported);
    tcase_add_test(tests, a_program_that_is_not_there);
    tcase_add_test(tests, no_such_command);
    tcase_add_test(tests, command_ends_with_its_child_and_daemon);
    tcase_add_test(tests, output_beyond_the_limit_is_dropped);
    suite_add_tcase(suite, tests);
    return suite;
}
