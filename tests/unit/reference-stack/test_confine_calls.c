/* SPDX-License-Identifier: BSD-2-Clause */
/* A confined process makes the calls that it must not make; libraries that have another way find it. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "reference-stack/program/confine_calls.h"
#include "reference-stack/program/confine_files.h"
#include "tests/unit/confined.h"

Suite *confine_calls_suite(void);

/* ---- system calls ------------------------------------------------------------------------------------------------ */

static int tries_program(void)
{
    char *const arguments[] = {"true", NULL};

    return execv("/bin/true", arguments);
}

static int tries_namespace(void)
{
    return unshare(CLONE_NEWUSER);
}

static int tries_clone(void)
{
    return (int)syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL);
}

static int tries_ptrace(void)
{
    return (int)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
}

static int tries_packets(void)
{
    return socket(AF_PACKET, SOCK_RAW, 0);
}

static int tries_netlink(void)
{
    return socket(AF_NETLINK, SOCK_RAW, 0);
}

static int tries_vsock(void)
{
    return socket(AF_VSOCK, SOCK_STREAM, 0);
}

static int tries_user(void)
{
    return setresuid(geteuid(), geteuid(), geteuid());
}

static int tries_clock(void)
{
    struct timespec time = {.tv_sec = 1};

    return clock_settime(CLOCK_REALTIME, &time);
}

static int tries_mount(void)
{
    return mount("none", "/tmp", "tmpfs", 0, NULL);
}

static int tries_keys(void)
{
    return (int)syscall(SYS_keyctl, 0, -3, 0, 0, 0);
}

static int tries_bpf(void)
{
    return (int)syscall(SYS_bpf, 0, NULL, 0);
}

static int tries_uring(void)
{
    return (int)syscall(SYS_io_uring_setup, 1, NULL);
}

static int tries_typing(void)
{
    return ioctl(STDIN_FILENO, TIOCSTI, "x");
}

static int tries_clone3(void)
{
    return (int)syscall(SYS_clone3, NULL, 0);
}

/* The table does not name it: it is absent, as in a kernel that never had it. */
static int tries_unnamed(void)
{
    return (int)syscall(SYS_inotify_init1, 0);
}

static const struct {
    const char *name;
    int (*tries)(void); /* -1 with errno */
    int number;         /* of the error */
} forbidden[] = {
    {"a program", tries_program, EPERM},
    {"a user namespace", tries_namespace, EPERM},
    {"a user namespace by clone()", tries_clone, EPERM},
    {"ptrace()", tries_ptrace, EPERM},
    {"a packet socket", tries_packets, EPERM},
    {"a netlink socket", tries_netlink, EPERM},
    {"another family", tries_vsock, EPERM},
    {"setresuid()", tries_user, EPERM},
    {"the clock", tries_clock, EPERM},
    {"a mount", tries_mount, EPERM},
    {"the keyring", tries_keys, EPERM},
    {"bpf()", tries_bpf, EPERM},
    {"io_uring", tries_uring, ENOSYS},
    {"typing at the terminal", tries_typing, EPERM},
    {"clone3()", tries_clone3, ENOSYS},
    {"what no row names", tries_unnamed, ENOSYS},
};

static int current;

static int is_refused(void)
{
    errno = 0;
    if (forbidden[current].tries() != -1)
        return WRONG;
    return errno == forbidden[current].number || (forbidden[current].tries == tries_program && errno == EACCES) ? HELD
                                                                                                                : WRONG;
}

START_TEST(call_is_refused)
{
    current = _i;
    if (confined_filtered())
        ck_assert_msg(confined(CONFINE_CONNECTIONS, 0, is_refused) == HELD, "%s", forbidden[_i].name);
}
END_TEST

static int has_no_network(void)
{
    if (!confined_filtered() && confine_files_abi() < 4)
        return HELD;
    return confined_connects() ? WRONG : HELD;
}

static int has_network(void)
{
    return confined_connects() ? HELD : WRONG;
}

START_TEST(network_is_for_those_who_need_it)
{
    ck_assert_int_eq(confined(0, 0, has_no_network), HELD);
    ck_assert_int_eq(confined(CONFINE_CONNECTIONS, 0, has_network), HELD);
}
END_TEST

/* ---- libraries --------------------------------------------------------------------------------------------------- */

static bool is_absent(int (*tries)(void))
{
    errno = 0;
    return tries() == -1 && errno == ENOSYS;
}

/* Before confine(): what libraries have another way for is absent, all else is as it was. */
static int libraries_find_another_way(void)
{
    char *const arguments[] = {"true", NULL};
    struct iwarp_sentence error;

    if (confine_libraries(&error) != 0 || confined_status("NoNewPrivs", 10) != 1)
        return WRONG;
    if (confined_filtered() && (!is_absent(tries_uring) || !is_absent(tries_clone3)))
        return WRONG;
    if (!confined_connects() || !confined_opens(confined_outside, "new", O_WRONLY | O_CREAT))
        return WRONG;
    (void)execv("/bin/true", arguments);
    return WRONG;
}

START_TEST(libraries_learn_it_early)
{
    ck_assert_int_eq(unconfined(libraries_find_another_way), HELD);
}
END_TEST

static void on_connection(uv_stream_t *server, int status)
{
    int *count = server->data;

    *count = status == 0 ? *count + 1 : -1;
    uv_stop(server->loop);
}

static int loop_lives(uv_loop_t *loop, uv_tcp_t *server, const int *count)
{
    struct sockaddr_in name;
    int octets = sizeof(name), client = socket(AF_INET, SOCK_STREAM, 0);

    if (client < 0 || uv_tcp_getsockname(server, (struct sockaddr *)&name, &octets) != 0 ||
        connect(client, (struct sockaddr *)&name, sizeof(name)) != 0)
        return WRONG;
    (void)uv_run(loop, UV_RUN_DEFAULT);
    (void)close(client);
    return *count == 1 ? HELD : WRONG;
}

/*
 * libuv makes its loop before confine(), as iwarp-peer has it. It may have a ring then, and aborts when that is
 * refused.
 */
static int loop_is_confined(void)
{
    struct confine_config config = {NULL, 0, CONFINE_CONNECTIONS, 0};
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct iwarp_sentence error;
    int count = 0;
    uv_loop_t loop;
    uv_tcp_t server;

    if (confine_libraries(&error) != 0 || uv_loop_init(&loop) != 0 || uv_tcp_init(&loop, &server) != 0)
        return WRONG;
    server.data = &count;
    if (uv_tcp_bind(&server, (const struct sockaddr *)&name, 0) != 0 ||
        uv_listen((uv_stream_t *)&server, 1, on_connection) != 0 || confine(&config, &error) != 0)
        return WRONG;
    return loop_lives(&loop, &server, &count);
}

START_TEST(loop_made_before_goes_on)
{
    ck_assert_int_eq(unconfined(loop_is_confined), HELD);
}
END_TEST

/* ---- the table --------------------------------------------------------------------------------------------------- */

static size_t times_named(const char *name, size_t length)
{
    size_t times = 0;

    for (size_t i = 0; i < confine_calls_count; i++)
        for (const char *at = confine_calls[i].names; *at != '\0'; at += strcspn(at, " "), at += *at == ' ')
            times += strcspn(at, " ") == length && strncmp(at, name, length) == 0;
    return times;
}

START_TEST(each_call_has_one_row)
{
    ck_assert_uint_gt(confine_calls_count, 0);
    for (size_t i = 0; i < confine_calls_count; i++) {
        ck_assert_str_ne(confine_calls[i].reason, "");
        for (const char *at = confine_calls[i].names; *at != '\0'; at += strcspn(at, " "), at += *at == ' ') {
            size_t length = strcspn(at, " ");

            ck_assert_uint_gt(length, 0);
            ck_assert_uint_lt(length, 40);
            ck_assert_msg(times_named(at, length) == 1, "%.*s", (int)length, at);
        }
    }
}
END_TEST

Suite *confine_calls_suite(void)
{
    Suite *suite = suite_create("confine_calls");
    TCase *tests = tcase_create("confine_calls");

    tcase_add_checked_fixture(tests, confined_setup, confined_teardown);
    tcase_add_loop_test(tests, call_is_refused, 0, (int)(sizeof(forbidden) / sizeof(forbidden[0])));
    tcase_add_test(tests, network_is_for_those_who_need_it);
    tcase_add_test(tests, libraries_learn_it_early);
    tcase_add_test(tests, loop_made_before_goes_on);
    tcase_add_test(tests, each_call_has_one_row);
    suite_add_tcase(suite, tests);
    return suite;
}
