/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/save.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_all(int fd, const char *octets, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, octets, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        octets += n;
        size -= (size_t)n;
    }
    return 0;
}

/* A device or a pipe is written to, never replaced by a file of its name. */
static int save_in_place(const char *path, const char *octets, size_t size, struct sentence *error)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    int rc = fd >= 0 ? write_all(fd, octets, size) : -1;
    if (rc != 0)
        sentence_set(error, "%s: cannot write the report: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return rc;
}

int save_file(const char *path, const char *octets, size_t size, struct sentence *error)
{
    if (strcmp(path, "-") == 0)
        return write_all(STDOUT_FILENO, octets, size) == 0
                   ? 0
                   : sentence_set(error, "standard output: cannot write the report: %s", strerror(errno));
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return save_in_place(path, octets, size, error);
    char *part = malloc(strlen(path) + sizeof(".part"));
    if (!part)
        return sentence_set(error, "%s: out of memory", path);
    sprintf(part, "%s.part", path);
    int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    int rc = fd >= 0 ? write_all(fd, octets, size) : -1;
    int cause = errno;
    if (fd >= 0 && close(fd) != 0 && rc == 0) {
        rc = -1;
        cause = errno;
    }
    if (rc == 0 && rename(part, path) != 0) {
        rc = -1;
        cause = errno;
    }
    if (rc != 0) {
        sentence_set(error, "%s: cannot write the report: %s", path, strerror(cause));
        if (fd >= 0)
            unlink(part);
    }
    free(part);
    return rc;
}
