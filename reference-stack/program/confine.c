/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "reference-stack/program/confine.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "reference-stack/program/confine_calls.h"
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
static int keep_capabilities(uint64_t keep, struct iwarp_sentence *error)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[2] = {{0}};
    bool changes = false;

    if (syscall(SYS_capget, &header, sets) != 0)
        return iwarp_sentence_set(error, "cannot read the process' capabilities: %s", strerror(errno));
    for (int i = 0; i < 2; i++) {
        uint32_t kept = sets[i].permitted & (uint32_t)(keep >> (32 * i));

        changes |= sets[i].effective != kept || sets[i].permitted != kept || sets[i].inheritable != 0;
        sets[i] = (struct __user_cap_data_struct){.effective = kept, .permitted = kept};
    }
    /* A process that is confined already may not even ask. */
    if (changes && syscall(SYS_capset, &header, sets) != 0)
        return iwarp_sentence_set(error, "cannot drop the process' capabilities: %s", strerror(errno));
    return 0;
}

/* Clears or sets bits of the effective set; none is set that is not permitted. */
static bool effective_change(uint64_t capabilities, bool set)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[2] = {{0}};

    if (syscall(SYS_capget, &header, sets) != 0)
        return false;
    for (int i = 0; i < 2; i++) {
        uint32_t bits = (uint32_t)(capabilities >> (32 * i));

        sets[i].effective = set ? sets[i].effective | (bits & sets[i].permitted) : sets[i].effective & ~bits;
    }
    return syscall(SYS_capset, &header, sets) == 0;
}

bool confine_lower(uint64_t capabilities)
{
    return effective_change(capabilities, false);
}

void confine_raise(uint64_t capabilities)
{
    (void)effective_change(capabilities, true);
}

int confine_privileges(uint64_t keep, struct iwarp_sentence *error)
{
    close_ways_back(keep);
    if (keep_capabilities(keep, error) != 0)
        return -1;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return iwarp_sentence_set(error, "cannot forbid new privileges: %s", strerror(errno));
    return 0;
}

int confine_become(uid_t user, gid_t group, struct iwarp_sentence *error)
{
    bound_capabilities(0); /* the other user cannot do it any more */
    if (setgroups(1, &group) != 0 || setresgid(group, group, group) != 0 || setresuid(user, user, user) != 0)
        return iwarp_sentence_set(error, "cannot become user %u, group %u: %s", (unsigned)user, (unsigned)group,
                                  strerror(errno));
    return 0;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

int confine_libraries(struct iwarp_sentence *error)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return iwarp_sentence_set(error, "cannot forbid new privileges: %s", strerror(errno));
    return confine_calls_absent(error);
}

int confine(const struct confine_config *config, struct iwarp_sentence *error)
{
    if (confine_privileges(config->capabilities, error) != 0)
        return -1;
    (void)confine_files(config);
    return confine_calls_filter(config->needs, error);
}

const char *confine_describe(char *text, size_t room)
{
    bool filters = confine_calls_filtered() && prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0;
    int abi = confine_files_abi();

    if (abi > 0)
        (void)snprintf(text, room, "%sLandlock ABI %d", filters ? "seccomp, " : "", abi);
    else
        (void)snprintf(text, room, "%s", filters ? "seccomp" : "neither seccomp nor Landlock");
    return text;
}
