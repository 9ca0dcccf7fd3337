/* SPDX-License-Identifier: BSD-2-Clause */
/* Root is asked for to open a real interface, and given up at once: capabilities(7). */
#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "generator/link_net.h"

/* A number in the environment, as sudo leaves its caller's; 0 where there is none: root called as root. */
static unsigned long number_of(const char *name)
{
    const char *text = getenv(name);
    char *end;
    unsigned long number;

    if (text == NULL || *text == '\0')
        return 0;
    errno = 0;
    number = strtoul(text, &end, 10);
    return *end == '\0' && errno == 0 && number < UINT32_MAX ? number : 0;
}

/* Keeps CAP_NET_RAW if it is there, and nothing else. The C library has no call for this; libcap is not needed for it. */
static int keep_net_raw(struct sentence *error)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[2] = {{0}};
    uint32_t net_raw = UINT32_C(1) << CAP_NET_RAW;

    if (syscall(SYS_capget, &header, sets) != 0)
        return sentence_set(error, "cannot read the process' capabilities: %s", strerror(errno));
    net_raw &= sets[0].permitted;
    memset(sets, 0, sizeof(sets));
    sets[0].permitted = sets[0].effective = net_raw;
    if (syscall(SYS_capset, &header, sets) != 0)
        return sentence_set(error, "cannot drop all capabilities but CAP_NET_RAW: %s", strerror(errno));
    return 0;
}

static int not_the_caller(uid_t user, gid_t group, struct sentence *error)
{
    return sentence_set(error, "cannot become the user who called sudo (uid %u, gid %u): %s", (unsigned)user,
                        (unsigned)group, strerror(errno));
}

static int become_caller(struct sentence *error)
{
    uid_t user = (uid_t)number_of("SUDO_UID");
    gid_t group = (gid_t)number_of("SUDO_GID");

    if (geteuid() != 0 || user == 0)
        return 0;
    if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0 || setgroups(1, &group) != 0 || setresgid(group, group, group) != 0 ||
        setresuid(user, user, user) != 0)
        return not_the_caller(user, group, error);
    return 0;
}

int link_net_act_as_caller(bool caller, struct sentence *error)
{
    uid_t user = (uid_t)number_of("SUDO_UID");
    gid_t group = (gid_t)number_of("SUDO_GID");

    if (getuid() != 0 || user == 0)
        return 0;
    if (caller ? setegid(group) != 0 || seteuid(user) != 0 : seteuid(0) != 0 || setegid(0) != 0)
        return not_the_caller(user, group, error);
    return 0;
}

int link_net_drop_privileges(struct sentence *error)
{
    if (become_caller(error) != 0 || keep_net_raw(error) != 0)
        return -1;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return sentence_set(error, "cannot forbid new privileges: %s", strerror(errno));
    return 0;
}
