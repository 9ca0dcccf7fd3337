/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How commands drop privileges before they read input from a device, a script or a capture
 * (reference-stack/program/confine.h), and as which user root writes files: a tester that keeps no capability writes
 * evidence into a user's folder as that user.
 */
#ifndef CONFORMANCE_ENGINE_RUN_CONFINE_H
#define CONFORMANCE_ENGINE_RUN_CONFINE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "reference-stack/program/confine.h"

/* CAP_DAC_READ_SEARCH, without which root cannot read the files of others. */
#define RUN_CONFINE_READING (UINT64_C(1) << 2)

/* What a command reads and where it writes, for run_confine_files(). */
struct run_files {
    const char *const *read; /* files and folders */
    size_t read_count;
    const char *write; /* a folder, or a file that is there; NULL: nowhere */
};

/*
 * The capabilities without which root could not read these files, or not write there: CAP_DAC_READ_SEARCH and
 * CAP_DAC_OVERRIDE are for files of others alone. 0 for everybody else, and where root's own rights suffice.
 */
uint64_t run_confine_files(const struct run_files *files);

/*
 * Who writes the output. Nothing else changes with the user: a process that has asked to end with its parent still does.
 */
struct run_identity {
    bool changes; /* false: who we are */
    uid_t user;
    gid_t group;
};

/*
 * For root: the owner of the output folder, or of the folder that it will be made in; without an output folder, the
 * user who called sudo. For all other users nothing changes.
 */
struct run_identity run_identity_of(const char *output);

/* Between these two files are made as that user; capabilities come back. -1 with a sentence. */
int run_identity_assume(const struct run_identity *identity, struct iwarp_sentence *error);
void run_identity_resume(const struct run_identity *identity);

/* For good. Where a user namespace does not know that user, nothing changes. -1 with a sentence. */
int run_identity_become(const struct run_identity *identity, struct iwarp_sentence *error);

/* Confines the process; it may write below `output` (NULL: nowhere). */
int run_confine(const char *output, unsigned needs, uint64_t capabilities, struct iwarp_sentence *error);

/* The folder that a file is made in, or the file itself where it is there and is no regular one (a pipe, a device). */
const char *run_confine_place(const char *file, char *text, size_t room);

#endif
