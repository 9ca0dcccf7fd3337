/* SPDX-License-Identifier: BSD-2-Clause */
/* What refuses namespaces is read from files below a folder that is none of this machine's. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generator/link/netns_refused.h"

Suite *netns_refused_suite(void);

static char root[64];

static void setup(void)
{
    (void)snprintf(root, sizeof(root), "/tmp/netns-refused.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
}

static void run(const char *command)
{
    ck_assert_int_eq(system(command), 0); /* NOLINT(cert-env33-c): names that mkdtemp() made */
}

static void teardown(void)
{
    char command[128];

    (void)snprintf(command, sizeof(command), "rm -rf %s", root);
    run(command);
}

static void put(const char *path, const char *text)
{
    char command[512], whole[256];
    FILE *file;

    (void)snprintf(whole, sizeof(whole), "%s%s", root, path);
    (void)snprintf(command, sizeof(command), "mkdir -p \"$(dirname %s)\"", whole);
    run(command);
    file = fopen(whole, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

static const char of_a_root[] = "22 1 8:1 / / rw shared:1 - ext4 /dev/vda rw\n23 22 0:5 / /proc rw - proc proc rw\n";
static const char of_a_chroot[] = "23 22 0:5 / /proc rw - proc proc rw\n24 22 0:6 / /dev rw - tmpfs / rw\n";

static const struct {
    int number;
    const char *path, *text; /* NULL: there is no such file */
    const char *mounts;
    const char *part;
} causes[] = {
    {EPERM, "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n", of_a_root, "AppArmor restricts them"},
    {EACCES, "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1", of_a_chroot, "AppArmor restricts them"},
    {EPERM, "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "0\n", of_a_root, "a container's filter"},
    {EPERM, "/proc/sys/kernel/unprivileged_userns_clone", "0\n", of_a_root, "kernel.unprivileged_userns_clone=1"},
    {EPERM, "/proc/sys/kernel/unprivileged_userns_clone", "1\n", of_a_root, "a container's filter"},
    {EPERM, "/proc/sys/user/max_user_namespaces", "0\n", of_a_root, "user.max_user_namespaces=10000"},
    {EPERM, "/proc/sys/user/max_user_namespaces", "01\n", of_a_root, "a container's filter"},
    {ENOSPC, "/proc/sys/user/max_user_namespaces", "5\n", of_a_root, "user.max_user_namespaces=10000"},
    {EPERM, "/.dockerenv", "", of_a_root, "docker run --security-opt seccomp=unconfined"},
    {EPERM, "/run/.containerenv", "", of_a_root, "podman run --security-opt seccomp=unconfined"},
    {EPERM, NULL, NULL, of_a_chroot, "a chroot has none"},
    {EPERM, NULL, NULL, of_a_root, "a container's filter"},
    {EPERM, NULL, NULL, NULL, "a container's filter"},
    {EINVAL, NULL, NULL, of_a_root, "without user namespaces"},
};

START_TEST(cause_is_named_with_its_remedy)
{
    struct iwarp_sentence error;

    if (causes[_i].path != NULL)
        put(causes[_i].path, causes[_i].text);
    if (causes[_i].mounts != NULL)
        put("/proc/self/mountinfo", causes[_i].mounts);
    (void)iwarp_sentence_set(&error, "cannot do it: %s", strerror(causes[_i].number));
    ck_assert_int_eq(netns_refused(root, causes[_i].number, &error), -1);
    ck_assert_msg(strncmp(error.text, "cannot do it: ", 14) == 0, "%s", error.text);
    ck_assert_msg(strstr(error.text, causes[_i].part) != NULL, "'%s' lacks '%s'", error.text, causes[_i].part);
    ck_assert_msg(strstr(error.text, "--simulate needs no namespaces (docs/containers.md)") != NULL, "%s", error.text);
    ck_assert_int_eq(netns_refused(root, causes[_i].number, NULL), -1);
}
END_TEST

START_TEST(restriction_is_known)
{
    ck_assert(!netns_restricted(root));
    put("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n");
    ck_assert(netns_restricted(root));
}
END_TEST

Suite *netns_refused_suite(void)
{
    Suite *suite = suite_create("netns_refused");
    TCase *tests = tcase_create("netns_refused");

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, cause_is_named_with_its_remedy, 0, (int)(sizeof(causes) / sizeof(causes[0])));
    tcase_add_test(tests, restriction_is_known);
    suite_add_tcase(suite, tests);
    return suite;
}
