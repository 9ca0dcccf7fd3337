/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * user_namespaces(7) has the kernel's own reasons; AppArmor's restriction is that of Ubuntu 23.10 and later,
 * kernel.unprivileged_userns_clone Debian's.
 */
#include "generator/link/netns_refused.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define RESTRICTION "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"
#define CLONE       "/proc/sys/kernel/unprivileged_userns_clone"
#define MOST        "/proc/sys/user/max_user_namespaces"

enum { PATH_OCTETS = 4096 };

static const char *below(const char *root, const char *path, char *text)
{
    (void)snprintf(text, PATH_OCTETS, "%s%s", root, path);
    return text;
}

/* The file holds this one digit. */
static bool is_digit(const char *root, const char *path, char digit)
{
    char text[PATH_OCTETS];
    FILE *file = fopen(below(root, path, text), "re");
    int first, second;

    if (file == NULL)
        return false;
    first = fgetc(file);
    second = fgetc(file);
    (void)fclose(file);
    return first == digit && (second == '\n' || second == EOF);
}

static bool is_there(const char *root, const char *path)
{
    char text[PATH_OCTETS];

    return access(below(root, path, text), F_OK) == 0;
}

/* A line of mountinfo (proc(5)): its fifth field is where something is mounted. */
static bool is_mounted_at_root(const char *line)
{
    for (int field = 0; field < 4; field++) {
        line = strchr(line, ' ');
        if (line == NULL)
            return false;
        line++;
    }
    return line[0] == '/' && line[1] == ' ';
}

/* The kernel refuses user namespaces to those whose root is not that of a mount. */
static bool is_chroot(const char *root)
{
    char text[PATH_OCTETS];
    FILE *file = fopen(below(root, "/proc/self/mountinfo", text), "re");
    bool read = false, has_root = false;

    while (file != NULL && fgets(text, sizeof(text), file) != NULL) {
        read = true;
        has_root |= is_mounted_at_root(text);
    }
    if (file != NULL)
        (void)fclose(file);
    return read && !has_root;
}

bool netns_restricted(const char *root)
{
    return is_digit(root, RESTRICTION, '1');
}

static const char *cause_of(const char *root, int number)
{
    if (netns_restricted(root))
        return "AppArmor restricts them: install the profile of docs/containers.md, or sysctl "
               "kernel.apparmor_restrict_unprivileged_userns=0";
    if (is_digit(root, CLONE, '0'))
        return "they are off: sysctl kernel.unprivileged_userns_clone=1";
    if (number == ENOSPC || is_digit(root, MOST, '0'))
        return "there may be no more of them: sysctl user.max_user_namespaces=10000";
    if (is_there(root, "/.dockerenv"))
        return "Docker's filter refuses them: docker run --security-opt seccomp=unconfined";
    if (is_there(root, "/run/.containerenv"))
        return "the container's filter refuses them: podman run --security-opt seccomp=unconfined";
    if (number == EPERM && is_chroot(root))
        return "a chroot has none: enter it by systemd-nspawn or pivot_root";
    if (number == EINVAL)
        return "the process has more than one thread, or the kernel was built without user namespaces";
    return "a container's filter of system calls, a chroot or a security module refuses them";
}

int netns_refused(const char *root, int number, struct iwarp_sentence *error)
{
    struct iwarp_sentence first;

    if (error == NULL)
        return -1;
    first = *error;
    return iwarp_sentence_set(error, "%s; %s, or run as root. --simulate needs no namespaces (docs/containers.md)",
                              first.text, cause_of(root, number));
}
