/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/file/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reports/file/save.h"

/* Opens FOLDER/NAME; neither may be a link. -1 and errno. */
static int open_file(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *dir = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
    int folder = dir ? open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    const char *name = slash ? slash + 1 : path;
    int fd = folder >= 0 ? openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
    int cause = errno;

    if (folder >= 0)
        close(folder);
    free(dir);
    errno = cause;
    return fd;
}

static bool is_absent(int cause)
{
    return cause == ENOENT || cause == ENOTDIR || cause == ELOOP;
}

/* What is left of the file from here on, malloc'd; NULL and errno when it cannot be read. */
static uint8_t *read_octets(int fd, size_t size)
{
    uint8_t *octets = malloc(size + 1);
    size_t done = 0;

    if (octets)
        octets[size] = 0;
    while (octets && done < size) {
        ssize_t n = read(fd, octets + done, size - done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            errno = EIO; /* it has become shorter: half of it is not the file */
        if (n <= 0) {
            free(octets);
            return NULL;
        }
        done += (size_t)n;
    }
    return octets;
}

int whole_file_read(const char *path, size_t limit, uint8_t **octets, size_t *size, struct iwarp_sentence *error)
{
    int fd = open_file(path);
    struct stat status;
    int rc = 0;

    *octets = NULL;
    *size = 0;
    if (fd < 0)
        return is_absent(errno) ? 0 : iwarp_sentence_set(error, "%s: cannot read: %s", path, strerror(errno));
    if (fstat(fd, &status) != 0) {
        rc = iwarp_sentence_set(error, "%s: cannot read: %s", path, strerror(errno));
    } else if (S_ISREG(status.st_mode) && (uint64_t)status.st_size <= limit) {
        *size = (size_t)status.st_size;
        *octets = read_octets(fd, *size);
        if (!*octets)
            rc = iwarp_sentence_set(error, "%s: cannot read: %s", path, strerror(errno));
    }
    close(fd);
    return rc;
}

int whole_file_copy(const char *path, size_t limit, const struct place *to, bool *missing, struct iwarp_sentence *error)
{
    uint8_t *octets;
    size_t size;
    int rc = whole_file_read(path, limit, &octets, &size, error);

    *missing = octets == NULL;
    if (octets)
        rc = save_new(to, octets, size, error);
    free(octets);
    return rc;
}
