/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/file/save.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ATTEMPTS = 100 };

static int write_all(int fd, const char *octets, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, octets, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            errno = ENOSPC;
        if (n <= 0)
            return -1;
        octets += n;
        size -= (size_t)n;
    }
    return 0;
}

static int failed(const struct place *place, int cause, struct iwarp_sentence *error)
{
    return iwarp_sentence_set(error, "%s: cannot write: %s", place->path, strerror(cause));
}

bool save_in_place(const struct place *place)
{
    struct stat status;

    return place->folder == AT_FDCWD && stat(place->name, &status) == 0 && !S_ISREG(status.st_mode) &&
           !S_ISDIR(status.st_mode);
}

/* Whoever writes a file holds this lock on it; it goes with the process. Some filesystems have no locks. */
static bool lock(int fd)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    return fcntl(fd, F_SETLK, &whole) == 0 || (errno != EACCES && errno != EAGAIN);
}

/* The file is still the one of that name. */
static bool is_named(int fd, int folder, const char *name)
{
    struct stat open_file, named;

    return fstat(fd, &open_file) == 0 && fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           open_file.st_dev == named.st_dev && open_file.st_ino == named.st_ino;
}

/* Removes what a killed program left. -1 and errno: somebody writes there, or it is no file. */
static int remove_stale(const struct save *save)
{
    int fd = openat(save->place.folder, save->part, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat status;
    int rc = -1;

    if (fd < 0)
        return errno == ENOENT ? 0 : -1;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        errno = EEXIST;
    else if (!lock(fd))
        errno = EBUSY;
    else if (!is_named(fd, save->place.folder, save->part) || unlinkat(save->place.folder, save->part, 0) == 0)
        rc = 0;
    int cause = errno;
    close(fd);
    errno = cause;
    return rc;
}

/* One attempt: 0; 1: somebody was quicker, try again; -1 and errno. */
static int begin_once(struct save *save)
{
    save->fd = openat(save->place.folder, save->part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (save->fd < 0)
        return errno == EEXIST && remove_stale(save) == 0 ? 1 : -1;
    if (lock(save->fd) && is_named(save->fd, save->place.folder, save->part))
        return 0;
    close(save->fd);
    save->fd = -1;
    return 1;
}

int save_begin(struct save *save, const struct place *place, struct iwarp_sentence *error)
{
    size_t length = strlen(place->name);
    int rc = 1;

    *save = (struct save){.fd = -1, .place = *place, .part = malloc(length + sizeof(".part"))};
    if (!save->part)
        return iwarp_sentence_set(error, "%s: out of memory", place->path);
    memcpy(save->part, place->name, length);
    memcpy(save->part + length, ".part", sizeof(".part"));
    for (int i = 0; rc > 0 && i < ATTEMPTS; i++)
        rc = begin_once(save);
    if (rc == 0)
        return 0;
    if (errno == EBUSY)
        (void)iwarp_sentence_set(error, "%s: another process is writing it", place->path);
    else
        (void)failed(place, errno, error);
    free(save->part);
    save->part = NULL;
    return -1;
}

int save_sync(int fd)
{
    return fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP ? 0 : -1; /* a pipe has nothing to sync */
}

/* The file takes its name, or goes. 0, or errno. */
static int name_file(struct save *save, bool keep)
{
    int cause = keep && save_sync(save->fd) != 0 ? errno : 0;

    if (keep && cause == 0 && renameat(save->place.folder, save->part, save->place.folder, save->place.name) != 0)
        cause = errno;
    if (!keep || cause != 0)
        (void)unlinkat(save->place.folder, save->part, 0);
    free(save->part);
    save->part = NULL;
    return cause;
}

int save_end(struct save *save, bool keep, struct iwarp_sentence *error)
{
    int cause = name_file(save, keep);

    if (close(save->fd) != 0 && keep && cause == 0)
        cause = errno;
    save->fd = -1;
    return cause == 0 ? 0 : failed(&save->place, cause, error);
}

int save_keep_open(struct save *save, struct iwarp_sentence *error)
{
    int cause = name_file(save, true), fd = save->fd;

    save->fd = -1;
    if (cause == 0)
        return fd;
    close(fd);
    return failed(&save->place, cause, error);
}

/* A device or a pipe is written to, never replaced by a file of its name. */
static int write_in_place(const struct place *place, const char *octets, size_t size, struct iwarp_sentence *error)
{
    int fd = open(place->name, O_WRONLY | O_CLOEXEC);
    int rc = fd >= 0 ? write_all(fd, octets, size) : -1;

    if (rc != 0)
        (void)failed(place, errno, error);
    if (fd >= 0 && close(fd) != 0 && rc == 0)
        rc = failed(place, errno, error);
    return rc;
}

int save_file(const struct place *place, const char *octets, size_t size, struct iwarp_sentence *error)
{
    struct save save;
    int rc;

    if (place->folder == AT_FDCWD && strcmp(place->name, "-") == 0)
        return write_all(STDOUT_FILENO, octets, size) == 0
                   ? 0
                   : iwarp_sentence_set(error, "standard output: cannot write the report: %s", strerror(errno));
    if (save_in_place(place))
        return write_in_place(place, octets, size, error);
    if (place->name[0] == '\0')
        return write_all(place->folder, octets, size) == 0 ? 0 : failed(place, errno, error);
    if (save_begin(&save, place, error) != 0)
        return -1;
    rc = write_all(save.fd, octets, size) == 0 ? 0 : failed(place, errno, error);
    return save_end(&save, rc == 0, rc == 0 ? error : NULL) == 0 ? rc : -1;
}

int save_new(const struct place *place, const void *octets, size_t size, struct iwarp_sentence *error)
{
    int fd = openat(place->folder, place->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    int rc = fd >= 0 ? write_all(fd, octets, size) : -1;

    if (rc != 0)
        (void)failed(place, errno, error);
    if (fd >= 0 && close(fd) != 0 && rc == 0)
        rc = failed(place, errno, error);
    if (fd >= 0 && rc != 0)
        (void)unlinkat(place->folder, place->name, 0);
    return rc;
}
