/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An output folder. One command owns it while it writes there. The folder is held open: all files go into it even if
 * its path is renamed or replaced. It is locked: a second command is refused. The lock ends with the process, also if
 * that crashes. Links inside the folder are never followed.
 */
#ifndef REPORTS_FOLDER_H
#define REPORTS_FOLDER_H

#include <stdbool.h>

#include "reports/file/place.h"
#include "base/sentence.h"

enum folder_use {
    FOLDER_NEW,    /* it has to be empty; it is made where it is not there */
    FOLDER_FORCE,  /* the same, but what an earlier command left is removed first, and other files may be there */
    FOLDER_RESUME, /* what is there may be continued; it is made where it is not there */
    FOLDER_AGAIN,  /* an existing folder; nothing is removed */
};

struct folder_config {
    const char *path;
    enum folder_use use;
    const char *hint; /* what the user can do with a folder that is not empty: "--force ..." */
    /*
     * FOLDER_FORCE: removes what an earlier command left in the held folder, and nothing else. 0, or -1 with the
     * sentence set. NULL: folder_clear_run().
     */
    int (*clear)(const struct place *folder, struct iwarp_sentence *error);
};

enum folder_error { FOLDER_FAILED = -1, FOLDER_NOT_EMPTY = -2 };

struct folder; /* opaque */

/* Makes the folders above it and the folder itself, those that are not there. 0, or -1 with the sentence set. */
int folder_make(const char *path, struct iwarp_sentence *error);

/*
 * Takes the folder. 0; FOLDER_NOT_EMPTY when something is in it that has to go first, FOLDER_FAILED when it cannot be
 * made or another command owns it, both with the sentence set.
 */
int folder_claim(struct folder **folder, const struct folder_config *config, struct iwarp_sentence *error);

/* Gives it back; NULL is allowed. Nothing of the lock is left. */
void folder_leave(struct folder *folder);

/* A file directly in the folder. The place is valid until the next call, or until the folder is left. */
struct place folder_place(struct folder *folder, const char *name);

/* The folder itself. */
struct place folder_itself(const struct folder *folder);

/*
 * Opens the folder `name` in it, making it if need be: a descriptor, to be closed by the caller; -1 with the sentence
 * set.
 */
int folder_open_below(const struct folder *folder, const char *name, struct iwarp_sentence *error);

/*
 * Removes what run, audit and report --merge write: reports, evidence, console and results. -1 with the sentence set.
 */
int folder_clear_run(const struct place *folder, struct iwarp_sentence *error);

/* The reports and the console alone. */
int folder_clear_reports(const struct folder *folder, struct iwarp_sentence *error);

#endif
