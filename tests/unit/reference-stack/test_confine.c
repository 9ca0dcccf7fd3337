/* SPDX-License-Identifier: BSD-2-Clause */
/* A confined process tries what it must not do, and does what it may. Each case is a child, which nothing can set free. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "reference-stack/program/confine_files.h"

Suite *confine_suite(void);

enum { HELD = 0, WRONG = 1, UNCONFINED = 3 };

static char inside[64], outside[64];
static char path[256];

static const char *in(const char *folder, const char *name)
{
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static void make_file(const char *name)
{
    int file = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, "x", 1), 1);
    ck_assert_int_eq(close(file), 0);
}

static void setup(void)
{
    (void)snprintf(inside, sizeof(inside), "/tmp/confine-in.XXXXXX");
    (void)snprintf(outside, sizeof(outside), "/tmp/confine-out.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(inside));
    ck_assert_ptr_nonnull(mkdtemp(outside));
    ck_assert_int_eq(mkdir(in(inside, "below"), 0777), 0);
    make_file(in(inside, "old"));
    make_file(in(outside, "old"));
    ck_assert_int_eq(symlink(outside, in(inside, "link")), 0);
}

static void teardown(void)
{
    char command[256];

    (void)snprintf(command, sizeof(command), "rm -rf %s %s", inside, outside);
    ck_assert_int_eq(system(command), 0); /* NOLINT(cert-env33-c): names that mkdtemp() made */
}

/* What the child found: an exit status of the list above. */
static int confined(unsigned needs, uint64_t capabilities, int (*body)(void))
{
    const char *writable[] = {inside, "/nowhere/at/all"};
    struct confine_config config = {writable, 2, needs, capabilities};
    int status;
    pid_t child = fork();

    ck_assert_int_ge(child, 0);
    if (child == 0) {
        struct sentence error;

        if (confine(&config, &error) != 0)
            _exit(UNCONFINED);
        _exit(body());
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status), "signal %d", WTERMSIG(status));
    return WEXITSTATUS(status);
}

/* ---- what the kernel says ---------------------------------------------------------------------------------------- */

static unsigned long long status_of(const char *name, int base)
{
    char line[256];
    FILE *file = fopen("/proc/self/status", "re");
    unsigned long long value = ~0ULL;

    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        if (strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ':')
            value = strtoull(line + strlen(name) + 1, NULL, base);
    if (file != NULL)
        (void)fclose(file);
    return value;
}

static bool has_filter(void)
{
    return !CONFINE_SANITISED && prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0;
}

static int status_shows_it(void)
{
    bool root = geteuid() == 0;
    int securebits = prctl(PR_GET_SECUREBITS, 0, 0, 0, 0);

    if (status_of("CapEff", 16) != 0 || status_of("CapPrm", 16) != 0 || status_of("CapInh", 16) != 0 ||
        status_of("CapAmb", 16) != 0 || status_of("NoNewPrivs", 10) != 1)
        return WRONG;
    if (root && (status_of("CapBnd", 16) != 0 || (securebits & 1) == 0))
        return WRONG;
    return !CONFINE_SANITISED && status_of("Seccomp", 10) != 2 && status_of("Seccomp", 10) != ~0ULL ? WRONG : HELD;
}

START_TEST(nothing_is_left)
{
    ck_assert_int_eq(confined(0, 0, status_shows_it), HELD);
    ck_assert_int_eq(confined(CONFINE_CONNECTIONS | CONFINE_SIGNALS, 0, status_shows_it), HELD);
}
END_TEST

static int status_shows_one(void)
{
    uint64_t one = UINT64_C(1) << CAP_DAC_READ_SEARCH;

    return status_of("CapEff", 16) == one && status_of("CapBnd", 16) == one ? HELD : WRONG;
}

START_TEST(what_is_needed_stays)
{
    if (geteuid() == 0)
        ck_assert_int_eq(confined(0, UINT64_C(1) << CAP_DAC_READ_SEARCH, status_shows_one), HELD);
}
END_TEST

static int becomes_nobody(void)
{
    struct sentence error;

    return confine_become(0, 0, &error) != 0 && geteuid() == 65534 && getegid() == 65534 ? HELD : WRONG;
}

START_TEST(user_changes_for_good)
{
    struct confine_config config = {NULL, 0, 0, 0};
    int status;
    pid_t child;

    child = fork();
    if (child == 0) {
        struct sentence error;

        if (geteuid() != 0) /* an ordinary user cannot become another one */
            _exit(confine_become(65534, 65534, &error) != 0 && error.text[0] != '\0' ? HELD : WRONG);
        if (confine_become(65534, 65534, &error) != 0 || confine(&config, &error) != 0)
            _exit(UNCONFINED);
        _exit(becomes_nobody() == HELD ? status_shows_it() : WRONG);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}
END_TEST

/* ---- files ------------------------------------------------------------------------------------------------------- */

static bool opens(const char *folder, const char *name, int flags)
{
    int file = open(in(folder, name), flags | O_CLOEXEC, 0666);

    if (file >= 0)
        (void)close(file);
    return file >= 0;
}

static int files_are_kept(void)
{
    char other[256];

    if (!opens(inside, "new", O_WRONLY | O_CREAT) || !opens(inside, "old", O_WRONLY | O_TRUNC) ||
        !opens(inside, "below/new", O_WRONLY | O_CREAT) || !opens(outside, "old", O_RDONLY) ||
        !opens("/dev", "null", O_WRONLY) || mkdir(in(inside, "folder"), 0777) != 0)
        return WRONG;
    (void)snprintf(other, sizeof(other), "%s/below/moved", inside);
    if (rename(in(inside, "new"), other) != 0 || unlink(other) != 0)
        return WRONG;
    if (confine_files_abi() == 0)
        return HELD;
    if (opens(outside, "new", O_WRONLY | O_CREAT) || opens(outside, "old", O_WRONLY) ||
        opens(inside, "link/old", O_WRONLY) || opens(inside, "link/new", O_WRONLY | O_CREAT))
        return WRONG;
    (void)snprintf(other, sizeof(other), "%s/moved", outside);
    if (unlink(in(outside, "old")) == 0 || mkdir(in(outside, "folder"), 0777) == 0 ||
        rename(in(inside, "old"), other) == 0 || symlink("/", in(outside, "root")) == 0)
        return WRONG;
    return confine_files_abi() < 3 || truncate(in(outside, "old"), 0) != 0 ? HELD : WRONG;
}

START_TEST(files_outside_do_not_change)
{
    ck_assert_int_eq(confined(0, 0, files_are_kept), HELD);
}
END_TEST

/* ---- system calls ------------------------------------------------------------------------------------------------ */

static bool tcp_connects(void)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t octets = sizeof(name);
    int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
    bool good = server >= 0 && client >= 0 && bind(server, (struct sockaddr *)&name, octets) == 0 &&
                listen(server, 1) == 0 && getsockname(server, (struct sockaddr *)&name, &octets) == 0 &&
                connect(client, (struct sockaddr *)&name, octets) == 0;

    if (server >= 0)
        (void)close(server);
    if (client >= 0)
        (void)close(client);
    return good;
}

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

static const struct {
    const char *name;
    int (*tries)(void); /* -1 with errno */
} forbidden[] = {
    {"a program", tries_program},
    {"a user namespace", tries_namespace},
    {"a user namespace by clone()", tries_clone},
    {"ptrace()", tries_ptrace},
    {"a packet socket", tries_packets},
    {"a netlink socket", tries_netlink},
    {"another family", tries_vsock},
    {"setresuid()", tries_user},
    {"the clock", tries_clock},
    {"a mount", tries_mount},
    {"the keyring", tries_keys},
    {"bpf()", tries_bpf},
    {"io_uring", tries_uring},
    {"typing at the terminal", tries_typing},
};

static int current;

static int is_refused(void)
{
    errno = 0;
    if (forbidden[current].tries() != -1)
        return WRONG;
    return errno == EPERM || (forbidden[current].tries == tries_program && errno == EACCES) ? HELD : WRONG;
}

START_TEST(call_is_refused)
{
    current = _i;
    if (has_filter())
        ck_assert_msg(confined(CONFINE_CONNECTIONS, 0, is_refused) == HELD, "%s", forbidden[_i].name);
}
END_TEST

static int has_no_network(void)
{
    if (!has_filter() && confine_files_abi() < 4)
        return HELD;
    return tcp_connects() ? WRONG : HELD;
}

static int has_network(void)
{
    return tcp_connects() ? HELD : WRONG;
}

START_TEST(network_is_for_those_who_need_it)
{
    ck_assert_int_eq(confined(0, 0, has_no_network), HELD);
    ck_assert_int_eq(confined(CONFINE_CONNECTIONS, 0, has_network), HELD);
}
END_TEST

static void *thread(void *argument)
{
    *(bool *)argument = true;
    return NULL;
}

/* What the C library does on its own account: threads, children, temporary files, time. */
static int works_on(void)
{
    struct timespec pause = {.tv_nsec = 1};
    struct itimerval none = {{0, 0}, {0, 0}};
    pthread_t id;
    bool ran = false;
    int status = 1;
    pid_t child = fork();

    if (child == 0)
        _exit(0);
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        return WRONG;
    if (pthread_create(&id, NULL, thread, &ran) != 0 || pthread_join(id, NULL) != 0 || !ran)
        return WRONG;
    if (nanosleep(&pause, NULL) != 0 || setitimer(ITIMER_PROF, &none, NULL) != 0 || kill(getpid(), 0) != 0)
        return WRONG;
    return HELD;
}

START_TEST(the_rest_works)
{
    ck_assert_int_eq(confined(0, 0, works_on), HELD);
}
END_TEST

static int confines_itself_again(void)
{
    struct confine_config config = {NULL, 0, 0, 0};
    struct sentence error;

    if (confine(&config, &error) != 0)
        return WRONG;
    return confine_files_abi() == 0 || !opens(inside, "old", O_WRONLY) ? HELD : WRONG;
}

/* audit's processes: each is confined once more, to less. */
START_TEST(confinement_only_grows)
{
    ck_assert_int_eq(confined(0, 0, confines_itself_again), HELD);
}
END_TEST

static int children_survive(void)
{
    int ends[2];
    int status;
    pid_t child;

    if (pipe(ends) != 0)
        return WRONG;
    child = fork();
    if (child == 0) {
        char octet;

        (void)close(ends[1]);
        _exit(read(ends[0], &octet, 1) == 0 ? 0 : 1);
    }
    if (kill(child, SIGKILL) != 0 || waitpid(child, &status, 0) != child)
        return WRONG;
    return WIFSIGNALED(status) ? HELD : WRONG;
}

START_TEST(own_children_can_be_ended)
{
    ck_assert_int_eq(confined(CONFINE_SIGNALS, 0, children_survive), HELD);
}
END_TEST

START_TEST(it_is_said_what_there_is)
{
    char text[64];

    ck_assert_str_eq(confine_describe(text, sizeof(text)), text);
    ck_assert_int_eq(strstr(text, "seccomp") != NULL && strstr(text, "neither") == NULL, has_filter());
    ck_assert_int_eq(strstr(text, "Landlock ABI") != NULL, confine_files_abi() > 0);
}
END_TEST

Suite *confine_suite(void)
{
    Suite *suite = suite_create("confine");
    TCase *tests = tcase_create("confine");

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, nothing_is_left);
    tcase_add_test(tests, what_is_needed_stays);
    tcase_add_test(tests, user_changes_for_good);
    tcase_add_test(tests, files_outside_do_not_change);
    tcase_add_loop_test(tests, call_is_refused, 0, (int)(sizeof(forbidden) / sizeof(forbidden[0])));
    tcase_add_test(tests, network_is_for_those_who_need_it);
    tcase_add_test(tests, the_rest_works);
    tcase_add_test(tests, confinement_only_grows);
    tcase_add_test(tests, own_children_can_be_ended);
    tcase_add_test(tests, it_is_said_what_there_is);
    suite_add_tcase(suite, tests);
    return suite;
}
