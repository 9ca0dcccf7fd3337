/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "reference-stack/program/confine.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "reference-stack/program/confine_files.h"

/* ---- privileges -------------------------------------------------------------------------------------------------- */

/* No program that is executed has more than those. It takes CAP_SETPCAP, without which there is nothing to drop. */
static void bound_capabilities(uint64_t keep)
{
    for (unsigned long capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++)
        if (capability >= 64 || (keep >> capability & 1) == 0)
            (void)prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
}

/* Nothing beyond those comes back, not with user 0 either. */
static void close_ways_back(uint64_t keep)
{
    bound_capabilities(keep);
    (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    (void)prctl(PR_SET_SECUREBITS,
                SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED |
                    SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED,
                0, 0, 0);
}

/* The C library has no call for this; libcap is not needed for it. */
static int keep_capabilities(uint64_t keep, struct sentence *error)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[2] = {{0}};
    bool changes = false;

    if (syscall(SYS_capget, &header, sets) != 0)
        return sentence_set(error, "cannot read the process' capabilities: %s", strerror(errno));
    for (int i = 0; i < 2; i++) {
        uint32_t kept = sets[i].permitted & (uint32_t)(keep >> (32 * i));

        changes |= sets[i].effective != kept || sets[i].permitted != kept || sets[i].inheritable != 0;
        sets[i] = (struct __user_cap_data_struct){.effective = kept, .permitted = kept};
    }
    /* A process that is confined already may not even ask. */
    if (changes && syscall(SYS_capset, &header, sets) != 0)
        return sentence_set(error, "cannot drop the process' capabilities: %s", strerror(errno));
    return 0;
}

int confine_privileges(uint64_t keep, struct sentence *error)
{
    close_ways_back(keep);
    if (keep_capabilities(keep, error) != 0)
        return -1;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return sentence_set(error, "cannot forbid new privileges: %s", strerror(errno));
    return 0;
}

int confine_become(uid_t user, gid_t group, struct sentence *error)
{
    bound_capabilities(0); /* the other user cannot do it any more */
    if (setgroups(1, &group) != 0 || setresgid(group, group, group) != 0 || setresuid(user, user, user) != 0)
        return sentence_set(error, "cannot become user %u, group %u: %s", (unsigned)user, (unsigned)group,
                            strerror(errno));
    return 0;
}

/* ---- system calls ------------------------------------------------------------------------------------------------ */

/* What neither a tester, nor a device, nor a reader of captures has a use for. Names that a kernel lacks are left out. */
static const char *const never[] = {
    /* other programs and processes */
    "execve",
    "execveat",
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "process_madvise",
    "pidfd_getfd",
    "kcmp",
    "uselib",
    "personality",
    /* namespaces and mounts */
    "unshare",
    "setns",
    "mount",
    "umount",
    "umount2",
    "pivot_root",
    "chroot",
    "move_mount",
    "open_tree",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "mount_setattr",
    "quotactl",
    "quotactl_fd",
    "swapon",
    "swapoff",
    /* other users */
    "setuid",
    "setgid",
    "setreuid",
    "setregid",
    "setresuid",
    "setresgid",
    "setgroups",
    "setfsuid",
    "setfsgid",
    "setuid32",
    "setgid32",
    "setreuid32",
    "setregid32",
    "setresuid32",
    "setresgid32",
    "setgroups32",
    "setfsuid32",
    "setfsgid32",
    "capset",
    "chown",
    "fchown",
    "lchown",
    "fchownat",
    "chown32",
    "fchown32",
    "lchown32",
    /* files by other ways than their paths */
    "open_by_handle_at",
    "name_to_handle_at",
    "mknod",
    "mknodat",
    "fanotify_init",
    /* the kernel */
    "init_module",
    "finit_module",
    "delete_module",
    "create_module",
    "kexec_load",
    "kexec_file_load",
    "reboot",
    "acct",
    "syslog",
    "bpf",
    "perf_event_open",
    "userfaultfd",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "lookup_dcookie",
    "nfsservctl",
    "vhangup",
    "iopl",
    "ioperm",
    "modify_ldt",
    "vm86",
    "vm86old",
    "sethostname",
    "setdomainname",
    "add_key",
    "request_key",
    "keyctl",
    "migrate_pages",
    "move_pages",
    /* time */
    "settimeofday",
    "clock_settime",
    "clock_adjtime",
    "adjtimex",
    "stime",
};

static const char *const connecting[] = {"socket", "socketpair", "connect", "bind",
                                         "listen", "accept",     "accept4", "socketcall"};

/* clone()'s flags for namespaces; clone3() hides them in memory, and the C library goes back to clone() without it. */
static const uint64_t namespaces[] = {0x00020000, 0x02000000, 0x04000000, 0x08000000,
                                      0x10000000, 0x20000000, 0x40000000};

/* ioctl()s that put words into a terminal's mouth: TIOCSTI, TIOCLINUX. */
static const uint64_t terminal_requests[] = {0x5412, 0x541C};

enum { FAMILY_LOCAL = 1, FAMILY_IPV4 = 2, FAMILY_IPV6 = 10 };
enum { FILTER_OCTETS = 96 << 10 }; /* that libseccomp uses at most for the rules below */

static void refuse(scmp_filter_ctx filter, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int number = seccomp_syscall_resolve_name(names[i]);

        if (number >= 0)
            (void)seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), number, 0);
    }
}

/* Sockets of the Internet's families and of Unix's, and of no others: neither packets nor the kernel's own. */
static void refuse_families(scmp_filter_ctx filter)
{
    (void)seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(socket), 1, SCMP_A0(SCMP_CMP_GT, FAMILY_IPV6, 0));
    for (scmp_datum_t family = 0; family < FAMILY_IPV6; family++)
        if (family != FAMILY_LOCAL && family != FAMILY_IPV4)
            (void)seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(socket), 1, SCMP_A0(SCMP_CMP_EQ, family, 0));
}

/* libseccomp crashes when it runs out of memory within a rule: what it needs has to be there before. */
static bool has_room(void)
{
    void *room = malloc(FILTER_OCTETS);

    free(room); /* it stays the process's, which has one thread */
    return room != NULL;
}

/* True when the filter is in place. A kernel without seccomp has none. */
static bool filter_calls(unsigned needs)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    int clone3 = seccomp_syscall_resolve_name("clone3");
    bool loaded;

    if (filter == NULL)
        return false;
    refuse(filter, never, sizeof(never) / sizeof(never[0]));
    for (size_t i = 0; i < sizeof(namespaces) / sizeof(namespaces[0]); i++)
        (void)seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                               SCMP_A0(SCMP_CMP_MASKED_EQ, namespaces[i], namespaces[i]));
    if (clone3 >= 0)
        (void)seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), clone3, 0);
    for (size_t i = 0; i < sizeof(terminal_requests) / sizeof(terminal_requests[0]); i++)
        (void)seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ioctl), 1,
                               SCMP_A1(SCMP_CMP_MASKED_EQ, UINT32_MAX, terminal_requests[i]));
    if ((needs & CONFINE_CONNECTIONS) != 0)
        refuse_families(filter);
    else
        refuse(filter, connecting, sizeof(connecting) / sizeof(connecting[0]));
    loaded = seccomp_load(filter) == 0;
    seccomp_release(filter);
    return loaded;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static bool has_filter(void)
{
    return !CONFINE_SANITISED && !confine_under_valgrind();
}

int confine(const struct confine_config *config, struct sentence *error)
{
    if (confine_privileges(config->capabilities, error) != 0)
        return -1;
    (void)confine_files(config);
    if (has_filter() && !has_room())
        return sentence_set(error, "out of memory for the filter of system calls");
    if (has_filter())
        (void)filter_calls(config->needs);
    return 0;
}

const char *confine_describe(char *text, size_t room)
{
    bool filters = has_filter() && prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0;
    int abi = confine_files_abi();

    if (abi > 0)
        (void)snprintf(text, room, "%sLandlock ABI %d", filters ? "seccomp, " : "", abi);
    else
        (void)snprintf(text, room, "%s", filters ? "seccomp" : "neither seccomp nor Landlock");
    return text;
}
