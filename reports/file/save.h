/* SPDX-License-Identifier: BSD-2-Clause */
/* A file that appears under its name when it is complete, or not at all. */
#ifndef REPORTS_SAVE_H
#define REPORTS_SAVE_H

#include <stdbool.h>
#include <stddef.h>

#include "reports/file/place.h"
#include "base/sentence.h"

/* A file that is being written. */
struct save {
    int fd; /* to write to */
    struct place place;
    char *part; /* its name until it is complete */
};

/*
 * Begins with NAME.part, which is made new: a link of that name is not followed, what a killed program left there is
 * removed, and while another process writes there this fails. 0; -1 with the sentence set.
 */
int save_begin(struct save *save, const struct place *place, struct iwarp_sentence *error);

/*
 * Ends it: with `keep` the octets reach the disk and the file takes its name, which replaces an older file or link;
 * without `keep` nothing is left. 0; -1 with the sentence set: nothing is left, and an older file stays. Once only.
 */
int save_end(struct save *save, bool keep, struct iwarp_sentence *error);

/* Like save_end() with `keep`, but the file stays open: its descriptor, which is the caller's then; -1. */
int save_keep_open(struct save *save, struct iwarp_sentence *error);

/*
 * Writes `size` octets to `place`, so that a full disk leaves the older file there. The path "-" is standard output. A
 * device or a pipe that the user names is written to, and never replaced; so is a file that is open already
 * (reports/file/place.h). 0; -1 with the sentence set.
 */
int save_file(const struct place *place, const char *octets, size_t size, struct iwarp_sentence *error);

/*
 * Writes a file that must not be there yet, straight under its name: of a folder whose other files say when it is
 * complete. 0; -1 with the sentence set: nothing is left.
 */
int save_new(const struct place *place, const void *octets, size_t size, struct iwarp_sentence *error);

/* fsync(2); what has nothing to sync is fine. 0, or -1 and errno. */
int save_sync(int fd);

/* True: the user names a device or a pipe, perhaps by a link, and no file. */
bool save_in_place(const struct place *place);

#endif
