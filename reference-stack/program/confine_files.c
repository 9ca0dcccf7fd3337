/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading stays as it is; what is refused is to change files, to execute them, and what later versions add: TCP
 * connections, control of devices that are opened later, abstract Unix sockets and signals to processes outside. Of a
 * kernel that is newer than the versions below, what the newest of them knows is used: a later version changes nothing
 * of it.
 *
 * The C library has no calls for this, and the headers of an older kernel know less than a newer kernel has: numbers
 * and structures are landlock(7)'s.
 */
#define _GNU_SOURCE
#include "reference-stack/program/confine_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* When it ends, a coverage build writes its counts into the folders of its objects, which can be anywhere. */
#ifdef CONFINE_FILES_OPEN
#define LEFT_OUT 1
#else
#define LEFT_OUT 0
#endif

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule       445
#define SYS_landlock_restrict_self  446
#endif

enum { VERSION_FLAG = 1, RULE_PATH_BENEATH = 1 };

/* Rights by the version that brought them. 7 brought records of what was refused, and no right. */
enum { NEWEST = 7 };
#define FS_EXECUTE     (UINT64_C(1) << 0)
#define FS_WRITE_FILE  (UINT64_C(1) << 1)
#define FS_CHANGES     (UINT64_C(0x1FF) << 4) /* make and remove: files, folders, devices, sockets, pipes, links */
#define FS_REFER       (UINT64_C(1) << 13)    /* 2: to move files between folders */
#define FS_TRUNCATE    (UINT64_C(1) << 14)    /* 3 */
#define FS_IOCTL_DEV   (UINT64_C(1) << 15)    /* 5: ioctl() of devices */
#define FS_DEVICES     (UINT64_C(1) << 6 | UINT64_C(1) << 11) /* of FS_CHANGES: character and block devices */
#define NET_TCP        UINT64_C(3)                            /* 4: bind and connect */
#define SCOPE_ABSTRACT UINT64_C(1)                            /* 6 */
#define SCOPE_SIGNAL   UINT64_C(2)                            /* 6 */

struct ruleset {
    uint64_t files, connections, scoped;
};

struct path_rule {
    uint64_t allowed;
    int32_t parent;
} __attribute__((packed));

bool confine_under_valgrind(void)
{
    const char *preloaded = getenv("LD_PRELOAD");

    return preloaded != NULL && strstr(preloaded, "/vgpreload_") != NULL;
}

int confine_files_abi(void)
{
    long abi =
        LEFT_OUT || confine_under_valgrind() ? 0 : syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, VERSION_FLAG);

    return abi > 0 ? (int)abi : 0;
}

static uint64_t rights_of(int abi)
{
    return (CONFINE_SANITISED ? 0 : FS_EXECUTE) | FS_WRITE_FILE | FS_CHANGES | (abi >= 2 ? FS_REFER : 0) |
           (abi >= 3 ? FS_TRUNCATE : 0) | (abi >= 5 ? FS_IOCTL_DEV : 0);
}

/* An older kernel takes a shorter structure. */
static size_t ruleset_octets(int abi)
{
    return abi >= 6 ? sizeof(struct ruleset) : abi >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
}

static void allow(int rules, const char *path, int abi)
{
    struct path_rule rule = {.parent = open(path, O_PATH | O_CLOEXEC)};
    struct stat status;

    if (rule.parent < 0)
        return;
    if (fstat(rule.parent, &status) == 0) {
        rule.allowed = rights_of(abi) & ~(FS_EXECUTE | FS_DEVICES | FS_IOCTL_DEV);
        if (!S_ISDIR(status.st_mode))
            rule.allowed &= FS_WRITE_FILE | FS_TRUNCATE;
        (void)syscall(SYS_landlock_add_rule, rules, RULE_PATH_BENEATH, &rule, 0);
    }
    (void)close(rule.parent);
}

int confine_files_as(const struct confine_config *config, int version)
{
    int abi = version < NEWEST ? version : NEWEST;
    struct ruleset set = {.files = rights_of(abi)};
    int rules, status;

    if (abi <= 0)
        return -1;
    if ((config->needs & CONFINE_CONNECTIONS) == 0)
        set.connections = NET_TCP;
    set.scoped = SCOPE_ABSTRACT | ((config->needs & CONFINE_SIGNALS) == 0 ? SCOPE_SIGNAL : 0);
    rules = (int)syscall(SYS_landlock_create_ruleset, &set, ruleset_octets(abi), 0);
    if (rules < 0)
        return -1;
    allow(rules, "/dev/null", abi);
    for (size_t i = 0; i < config->writable_count; i++)
        allow(rules, config->writable[i], abi);
    status = (int)syscall(SYS_landlock_restrict_self, rules, 0);
    (void)close(rules);
    return status == 0 ? 0 : -1;
}

int confine_files(const struct confine_config *config)
{
    return confine_files_as(config, confine_files_abi());
}
