/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/folder/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reports/file/text.h"

#define LOCK_NAME ".lock"

enum { PATH_OCTETS = 4096, ATTEMPTS = 100 };

struct folder {
    int fd, lock;
    char path[PATH_OCTETS];
    char file[PATH_OCTETS + 256]; /* of the last folder_place() */
};

/* ---- the folder -------------------------------------------------------------------------------------------------- */

int folder_make(const char *path, struct iwarp_sentence *error)
{
    char text[PATH_OCTETS];

    (void)snprintf(text, sizeof(text), "%s", path);
    for (char *at = text + 1; *at != '\0'; at++) {
        if (*at != '/')
            continue;
        *at = '\0';
        (void)mkdir(text, 0777);
        *at = '/';
    }
    if (mkdir(text, 0777) != 0 && errno != EEXIST)
        return iwarp_sentence_set(error, "cannot make the folder %.300s: %s", path, strerror(errno));
    return 0;
}

static int open_folder(struct folder *folder, const struct folder_config *config, struct iwarp_sentence *error)
{
    if (snprintf(folder->path, sizeof(folder->path), "%s", config->path) >= (int)sizeof(folder->path))
        return iwarp_sentence_set(error, "the output folder's path is too long");
    if (config->use != FOLDER_AGAIN && folder_make(folder->path, error) != 0)
        return -1;
    folder->fd = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder->fd < 0)
        return iwarp_sentence_set(error, "%.300s: cannot open the folder: %s", folder->path, strerror(errno));
    return 0;
}

/* ---- the lock ---------------------------------------------------------------------------------------------------- */

static int locked_by_another(const struct folder *folder, int fd, struct iwarp_sentence *error)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    if (fcntl(fd, F_GETLK, &whole) == 0 && whole.l_type != F_UNLCK && whole.l_pid > 0)
        return iwarp_sentence_set(error, "%.300s: another warpcheck (process %ld) writes into this folder",
                                  folder->path, (long)whole.l_pid);
    return iwarp_sentence_set(error, "%.300s: another warpcheck writes into this folder", folder->path);
}

/* 0 with the lock; 1: whoever had it has just removed the file, try again; -1 with the sentence set. */
static int lock_once(struct folder *folder, struct iwarp_sentence *error)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    struct stat open_file, named;
    int fd = openat(folder->fd, LOCK_NAME, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    int rc = -1;

    if (fd < 0)
        return iwarp_sentence_set(error, "%.300s: cannot make the lock file " LOCK_NAME ": %s", folder->path,
                                  strerror(errno));
    if (fstat(fd, &open_file) != 0 || !S_ISREG(open_file.st_mode))
        (void)iwarp_sentence_set(error, "%.300s: " LOCK_NAME " is no file", folder->path);
    else if (fcntl(fd, F_SETLK, &whole) != 0)
        (void)(errno == EACCES || errno == EAGAIN
                   ? locked_by_another(folder, fd, error)
                   : iwarp_sentence_set(error, "%.300s: cannot be locked: %s", folder->path, strerror(errno)));
    else if (fstatat(folder->fd, LOCK_NAME, &named, AT_SYMLINK_NOFOLLOW) != 0 || named.st_ino != open_file.st_ino ||
             named.st_dev != open_file.st_dev)
        rc = 1;
    else
        rc = 0;
    if (rc != 0)
        close(fd);
    else
        folder->lock = fd;
    return rc;
}

static int acquire_lock(struct folder *folder, struct iwarp_sentence *error)
{
    int rc = 1;

    for (int i = 0; rc > 0 && i < ATTEMPTS; i++)
        rc = lock_once(folder, error);
    return rc > 0 ? iwarp_sentence_set(error, "%.300s: cannot be locked", folder->path) : rc;
}

/* ---- what is in it ----------------------------------------------------------------------------------------------- */

/*
 * Finds an entry of the folder other than the lock: *name is malloc'd, or NULL if there is none. -1 with the sentence
 * set if the folder cannot be read.
 */
static int find_any(const struct folder *folder, char **name, struct iwarp_sentence *error)
{
    int fd = openat(folder->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *entry;
    int rc = 0;

    if (listing == NULL) {
        (void)iwarp_sentence_set(error, "%.300s: cannot read the folder: %s", folder->path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    while (errno = 0, (entry = readdir(listing)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            strcmp(entry->d_name, LOCK_NAME) != 0)
            break;
    if (entry == NULL && errno != 0)
        rc = iwarp_sentence_set(error, "%.300s: cannot read the folder: %s", folder->path, strerror(errno));
    *name = entry != NULL ? text_clean_line(entry->d_name) : NULL;
    if (entry != NULL && *name == NULL)
        rc = iwarp_sentence_set(error, "%.300s: out of memory", folder->path);
    closedir(listing);
    return rc;
}

static int make_ready(const struct folder *folder, const struct folder_config *config, struct iwarp_sentence *error)
{
    int (*clear)(const struct place *, struct iwarp_sentence *) = config->clear ? config->clear : folder_clear_run;
    struct place itself = folder_itself(folder);
    char *name = NULL;

    if (config->use == FOLDER_FORCE)
        return clear(&itself, error);
    if (config->use != FOLDER_NEW)
        return 0;
    if (find_any(folder, &name, error) != 0)
        return -1;
    if (name == NULL)
        return 0;
    (void)iwarp_sentence_set(error, "%.200s: the folder is not empty (%.60s is there): %s", folder->path, name,
                             config->hint);
    free(name);
    return FOLDER_NOT_EMPTY;
}

int folder_claim(struct folder **folder, const struct folder_config *config, struct iwarp_sentence *error)
{
    struct folder *taken = malloc(sizeof(*taken));
    int rc;

    *folder = NULL;
    if (taken == NULL)
        return iwarp_sentence_set(error, "%s: out of memory", config->path);
    *taken = (struct folder){.fd = -1, .lock = -1};
    rc = open_folder(taken, config, error) == 0 ? acquire_lock(taken, error) : -1;
    if (rc == 0)
        rc = make_ready(taken, config, error);
    if (rc == 0)
        *folder = taken;
    else
        folder_leave(taken);
    return rc;
}

void folder_leave(struct folder *folder)
{
    if (folder == NULL)
        return;
    if (folder->lock >= 0) {
        (void)unlinkat(folder->fd, LOCK_NAME, 0);
        close(folder->lock);
    }
    if (folder->fd >= 0)
        close(folder->fd);
    free(folder);
}

struct place folder_place(struct folder *folder, const char *name)
{
    (void)snprintf(folder->file, sizeof(folder->file), "%s/%s", folder->path, name);
    return (struct place){folder->fd, folder->file + strlen(folder->path) + 1, folder->file};
}

struct place folder_itself(const struct folder *folder)
{
    return (struct place){folder->fd, ".", folder->path};
}

int folder_open_below(const struct folder *folder, const char *name, struct iwarp_sentence *error)
{
    int fd;

    if (mkdirat(folder->fd, name, 0777) != 0 && errno != EEXIST)
        return iwarp_sentence_set(error, "cannot make the folder %.300s/%.60s: %s", folder->path, name,
                                  strerror(errno));
    fd = openat(folder->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd >= 0 ? fd
                   : iwarp_sentence_set(error, "%.300s/%.60s: not a folder, or a link to one: %s", folder->path, name,
                                        strerror(errno));
}
