/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A confined process tries what it must not do, and does what it may. Each case is a child, which nothing can set free.
 */
#define _GNU_SOURCE
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "reference-stack/program/confine_files.h"
#include "tests/unit/confined.h"

Suite *confine_suite(void);

static int status_shows_it(void)
{
    bool root = geteuid() == 0;
    int securebits = prctl(PR_GET_SECUREBITS, 0, 0, 0, 0);

    if (confined_status("CapEff", 16) != 0 || confined_status("CapPrm", 16) != 0 ||
        confined_status("CapInh", 16) != 0 || confined_status("CapAmb", 16) != 0 ||
        confined_status("NoNewPrivs", 10) != 1)
        return WRONG;
    if (root && (confined_status("CapBnd", 16) != 0 || (securebits & 1) == 0))
        return WRONG;
    return !CONFINE_SANITISED && confined_status("Seccomp", 10) != 2 && confined_status("Seccomp", 10) != ~0ULL ? WRONG
                                                                                                                : HELD;
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

    return confined_status("CapEff", 16) == one && confined_status("CapBnd", 16) == one ? HELD : WRONG;
}

START_TEST(what_is_needed_stays)
{
    if (geteuid() == 0)
        ck_assert_int_eq(confined(0, UINT64_C(1) << CAP_DAC_READ_SEARCH, status_shows_one), HELD);
}
END_TEST

static int becomes_nobody(void)
{
    struct iwarp_sentence error;

    return confine_become(0, 0, &error) != 0 && geteuid() == 65534 && getegid() == 65534 ? HELD : WRONG;
}

START_TEST(user_changes_for_good)
{
    struct confine_config config = {NULL, 0, 0, 0};
    int status;
    pid_t child;

    child = fork();
    if (child == 0) {
        struct iwarp_sentence error;

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

static int files_are_kept(void)
{
    char other[256];

    if (!confined_opens(confined_inside, "new", O_WRONLY | O_CREAT) ||
        !confined_opens(confined_inside, "old", O_WRONLY | O_TRUNC) ||
        !confined_opens(confined_inside, "below/new", O_WRONLY | O_CREAT) ||
        !confined_opens(confined_outside, "old", O_RDONLY) || !confined_opens("/dev", "null", O_WRONLY) ||
        mkdir(confined_path(confined_inside, "folder"), 0777) != 0)
        return WRONG;
    (void)snprintf(other, sizeof(other), "%s/below/moved", confined_inside);
    if (rename(confined_path(confined_inside, "new"), other) != 0 || unlink(other) != 0)
        return WRONG;
    if (confine_files_abi() == 0)
        return HELD;
    if (confined_opens(confined_outside, "new", O_WRONLY | O_CREAT) ||
        confined_opens(confined_outside, "old", O_WRONLY) || confined_opens(confined_inside, "link/old", O_WRONLY) ||
        confined_opens(confined_inside, "link/new", O_WRONLY | O_CREAT))
        return WRONG;
    (void)snprintf(other, sizeof(other), "%s/moved", confined_outside);
    if (unlink(confined_path(confined_outside, "old")) == 0 ||
        mkdir(confined_path(confined_outside, "folder"), 0777) == 0 ||
        rename(confined_path(confined_inside, "old"), other) == 0 ||
        symlink("/", confined_path(confined_outside, "root")) == 0)
        return WRONG;
    return confine_files_abi() < 3 || truncate(confined_path(confined_outside, "old"), 0) != 0 ? HELD : WRONG;
}

START_TEST(files_outside_do_not_change)
{
    ck_assert_int_eq(confined(0, 0, files_are_kept), HELD);
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
    struct iwarp_sentence error;

    if (confine(&config, &error) != 0)
        return WRONG;
    return confine_files_abi() == 0 || !confined_opens(confined_inside, "old", O_WRONLY) ? HELD : WRONG;
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

/* ---- versions of Landlock ---------------------------------------------------------------------------------------- */

static int landlock_version;

static int keeps_outside(void)
{
    const char *writable[] = {confined_inside};
    struct confine_config config = {writable, 1, 0, 0};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || confine_files_as(&config, landlock_version) != 0)
        return UNCONFINED;
    return confined_opens(confined_inside, "new", O_WRONLY | O_CREAT) &&
                   !confined_opens(confined_outside, "new", O_WRONLY | O_CREAT) &&
                   !confined_opens(confined_outside, "old", O_WRONLY) &&
                   confined_opens(confined_outside, "old", O_RDONLY) && confined_opens("/dev", "null", O_WRONLY)
               ? HELD
               : WRONG;
}

/* Every version up to this kernel's, and on the newest known kernel those that do not exist yet. */
START_TEST(each_version_keeps_files)
{
    int newest = confine_files_abi(), status;
    pid_t child;

    landlock_version = _i == 0 ? newest + 92 : _i;
    if (newest < 7 && (_i == 0 || _i > newest))
        return;
    child = fork();
    if (child == 0)
        _exit(keeps_outside());
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(status == 0, "version %d: status %d", landlock_version, status);
}
END_TEST

static int tries_device(void)
{
    int file = open("/dev/null", O_RDWR | O_CLOEXEC);
    int octets;

    errno = 0;
    return file >= 0 && ioctl(file, BLKGETSIZE64, &octets) == -1 && errno == EACCES ? HELD : WRONG;
}

START_TEST(devices_are_not_controlled)
{
    if (confine_files_abi() >= 5)
        ck_assert_int_eq(confined(0, 0, tries_device), HELD);
}
END_TEST

START_TEST(it_is_said_what_there_is)
{
    char text[64];

    ck_assert_str_eq(confine_describe(text, sizeof(text)), text);
    ck_assert_int_eq(strstr(text, "seccomp") != NULL && strstr(text, "neither") == NULL, confined_filtered());
    ck_assert_int_eq(strstr(text, "Landlock ABI") != NULL, confine_files_abi() > 0);
}
END_TEST

Suite *confine_suite(void)
{
    Suite *suite = suite_create("confine");
    TCase *tests = tcase_create("confine");

    tcase_add_checked_fixture(tests, confined_setup, confined_teardown);
    tcase_add_test(tests, nothing_is_left);
    tcase_add_test(tests, what_is_needed_stays);
    tcase_add_test(tests, user_changes_for_good);
    tcase_add_test(tests, files_outside_do_not_change);
    tcase_add_test(tests, the_rest_works);
    tcase_add_test(tests, confinement_only_grows);
    tcase_add_test(tests, own_children_can_be_ended);
    tcase_add_loop_test(tests, each_version_keeps_files, 0, 8);
    tcase_add_test(tests, devices_are_not_controlled);
    tcase_add_test(tests, it_is_said_what_there_is);
    suite_add_tcase(suite, tests);
    return suite;
}
