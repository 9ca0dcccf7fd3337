/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The place of a file: its name in a folder that is held open, and its name in messages. The folder stays the same even
 * if its path is renamed or replaced.
 */
#ifndef REPORTS_PLACE_H
#define REPORTS_PLACE_H

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

struct place {
    int folder;       /* descriptor; AT_FDCWD: `name` is a path that the user gave */
    const char *name; /* without a slash in a held folder; "": `folder` is no folder but the file itself, open */
    const char *path; /* for messages */
};

/* openat(2); of a file that is open already another descriptor, at its beginning. */
static inline int place_open(const struct place *place, int flags, mode_t mode)
{
    if (place->name[0] != '\0')
        return openat(place->folder, place->name, flags | O_CLOEXEC, mode);
    return lseek(place->folder, 0, SEEK_SET) == 0 ? fcntl(place->folder, F_DUPFD_CLOEXEC, 0) : -1;
}

/* A path that the user gave; links in it are followed, but for the last one where a file takes its name. */
static inline struct place place_at(const char *path)
{
    return (struct place){.folder = AT_FDCWD, .name = path, .path = path};
}

#endif
