/* SPDX-License-Identifier: BSD-2-Clause */
#define _XOPEN_SOURCE   700 /* nftw() */
#define _DEFAULT_SOURCE 1   /* mkdtemp() */
#include "conformance/engine/process/temporary_folder.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FOLDERS_OPEN = 16 };

int temporary_folder_make(char path[TEMPORARY_FOLDER_OCTETS], struct iwarp_sentence *error)
{
    const char *below = getenv("TMPDIR");

    if (below == NULL || below[0] != '/' ||
        snprintf(path, TEMPORARY_FOLDER_OCTETS, "%s/warpcheck-XXXXXX", below) >= TEMPORARY_FOLDER_OCTETS)
        (void)snprintf(path, TEMPORARY_FOLDER_OCTETS, "/tmp/warpcheck-XXXXXX");
    if (mkdtemp(path) == NULL)
        return iwarp_sentence_set(error, "cannot make a temporary folder: %s", strerror(errno));
    return 0;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status;
    (void)kind;
    (void)where;
    (void)remove(path);
    return 0;
}

void temporary_folder_remove(const char *path)
{
    (void)nftw(path, remove_one, FOLDERS_OPEN, FTW_DEPTH | FTW_PHYS);
}
