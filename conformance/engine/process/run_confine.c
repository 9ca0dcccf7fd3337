/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "conformance/engine/process/run_confine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

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

static const char *parent_of(const char *path, char *text, size_t room)
{
    char *slash;

    (void)snprintf(text, room, "%s", path);
    for (slash = text + strlen(text); slash > text + 1 && slash[-1] == '/';)
        *--slash = '\0';
    slash = strrchr(text, '/');
    if (slash == NULL)
        return ".";
    slash[slash == text] = '\0';
    return text;
}

/* Of the folder, or of the nearest one above it that is there. */
static bool owner_of(const char *folder, struct stat *status)
{
    char path[PATH_MAX], text[PATH_MAX], above[PATH_MAX];

    (void)snprintf(path, sizeof(path), "%s", folder);
    while (stat(path, status) != 0) {
        if (errno != ENOENT || strcmp(path, ".") == 0 || strcmp(path, "/") == 0)
            return false;
        (void)snprintf(above, sizeof(above), "%s", parent_of(path, text, sizeof(text)));
        (void)snprintf(path, sizeof(path), "%s", above);
    }
    return true;
}

struct run_identity run_identity_of(const char *output)
{
    struct run_identity identity = {false, 0, 0};
    struct stat status;

    if (geteuid() != 0)
        return identity;
    if (output == NULL) {
        identity.user = (uid_t)number_of("SUDO_UID");
        identity.group = (gid_t)number_of("SUDO_GID");
    } else if (owner_of(output, &status)) {
        identity.user = status.st_uid;
        identity.group = status.st_gid;
    }
    identity.changes = identity.user != 0;
    return identity;
}

/* The signal that ends a child with its parent is gone after a change of the user (PR_SET_PDEATHSIG(2const)). */
struct parent_signal {
    int number; /* 0: none was asked for */
    pid_t parent;
};

static struct parent_signal parent_signal_of(void)
{
    struct parent_signal kept = {.parent = getppid()};

    (void)prctl(PR_GET_PDEATHSIG, &kept.number);
    return kept;
}

static void parent_signal_keep(const struct parent_signal *kept)
{
    if (kept->number == 0)
        return;
    (void)prctl(PR_SET_PDEATHSIG, kept->number);
    if (getppid() != kept->parent)
        (void)raise(kept->number); /* it ended meanwhile */
}

int run_identity_assume(const struct run_identity *identity, struct iwarp_sentence *error)
{
    const struct parent_signal kept = parent_signal_of();

    if (!identity->changes)
        return 0;
    if (setegid(identity->group) == 0 && seteuid(identity->user) == 0) {
        parent_signal_keep(&kept);
        return 0;
    }
    run_identity_resume(identity);
    return iwarp_sentence_set(error, "cannot write as user %u, group %u: %s", (unsigned)identity->user,
                              (unsigned)identity->group, strerror(errno));
}

void run_identity_resume(const struct run_identity *identity)
{
    const struct parent_signal kept = parent_signal_of();

    if (!identity->changes)
        return;
    if (seteuid(0) != 0 || setegid(0) != 0)
        abort(); /* the real user is root: the kernel does not refuse this */
    parent_signal_keep(&kept);
}

int run_identity_become(const struct run_identity *identity, struct iwarp_sentence *error)
{
    const struct parent_signal kept = parent_signal_of();

    if (!identity->changes)
        return 0;
    if (confine_become(identity->user, identity->group, error) == 0) {
        parent_signal_keep(&kept);
        return 0;
    }
    return errno == EINVAL && geteuid() == 0 ? 0 : -1; /* a user namespace that has one user */
}

enum { DAC_OVERRIDE = 1, DAC_READ_SEARCH = 2 }; /* capabilities(7) */

static bool can(const char *path, int how)
{
    return faccessat(AT_FDCWD, path, how, AT_EACCESS) == 0 || (errno != EACCES && errno != EPERM);
}

uint64_t run_confine_files(const struct run_files *files)
{
    const uint64_t both = UINT64_C(1) << DAC_OVERRIDE | UINT64_C(1) << DAC_READ_SEARCH;
    uint64_t needed = 0;
    char parent[PATH_MAX];
    struct stat status;

    if (geteuid() != 0)
        return 0;
    if (!confine_lower(both))
        return both; /* it is not known which are needed */
    for (size_t i = 0; i < files->read_count && needed == 0; i++)
        if (!can(files->read[i], R_OK))
            needed = UINT64_C(1) << DAC_READ_SEARCH;
    if (files->write != NULL) {
        const char *place = files->write;
        char text[PATH_MAX];

        while (stat(place, &status) != 0 && errno == ENOENT && strcmp(place, "/") != 0 && strcmp(place, ".") != 0) {
            (void)snprintf(parent, sizeof(parent), "%s", parent_of(place, text, sizeof(text)));
            place = parent;
        }
        if (!can(place, W_OK))
            needed |= UINT64_C(1) << DAC_OVERRIDE;
    }
    confine_raise(both);
    return needed;
}

int run_confine(const char *output, unsigned needs, uint64_t capabilities, struct iwarp_sentence *error)
{
    const char *writable[1] = {output};
    struct confine_config config = {
        .writable = writable, .writable_count = output != NULL, .needs = needs, .capabilities = capabilities};

    return confine(&config, error);
}

const char *run_confine_place(const char *file, char *text, size_t room)
{
    struct stat status;

    if (stat(file, &status) == 0 && !S_ISREG(status.st_mode))
        return file;
    return parent_of(file, text, room);
}
