/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What commands give up before they read what a device, a script or a capture says (reference-stack/program/confine.h), and whose
 * files they write as root: a tester that keeps no capability writes evidence into a user's folder as that user.
 */
#ifndef CONFORMANCE_ENGINE_RUN_CONFINE_H
#define CONFORMANCE_ENGINE_RUN_CONFINE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "reference-stack/program/confine.h"

/* Capabilities of commands that read files of others as root, and write where they are told to. */
#define RUN_CONFINE_FILES (UINT64_C(1) << 1 | UINT64_C(1) << 2) /* CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH */

/* Who writes the output. */
struct run_identity {
    bool changes; /* false: who we are */
    uid_t user;
    gid_t group;
};

/*
 * For root: the owner of the output folder, or of the folder that it will be made in; without an output folder, the user who
 * called sudo. Everybody else stays as he is.
 */
struct run_identity run_identity_of(const char *output);

/* Between these two files are made as that user; capabilities come back. -1 with a sentence. */
int run_identity_assume(const struct run_identity *identity, struct sentence *error);
void run_identity_resume(const struct run_identity *identity);

/* For good. Where a user namespace does not know that user, nothing changes. -1 with a sentence. */
int run_identity_become(const struct run_identity *identity, struct sentence *error);

/* Confines the process; it may write below `output` (NULL: nowhere), and into temporary files with `temporary`. */
int run_confine(const char *output, bool temporary, unsigned needs, uint64_t capabilities, struct sentence *error);

/* The folder that a file is made in, or the file itself where it is there and is no regular one (a pipe, a device). */
const char *run_confine_place(const char *file, char *text, size_t room);

#endif
