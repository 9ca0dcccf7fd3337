/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two files of a bundle (report_bundle.h): replay.sh, which runs the checks of its results again, and README.txt, which
 * describes the results.
 */
#ifndef CONFORMANCE_ENGINE_BUNDLE_REPLAY_H
#define CONFORMANCE_ENGINE_BUNDLE_REPLAY_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#include "reports/results/excerpt.h"

#define BUNDLE_PROFILE "profile.json"

enum { BUNDLE_WORD_OCTETS = 4096 };

/* The values of --dut and --script in a command that repeats a check; "" without. The last --script counts. */
void bundle_replay_files(const char *replay, char dut[static BUNDLE_WORD_OCTETS],
                         char script[static BUNDLE_WORD_OCTETS]);

/*
 * What the file at `path` is called in the archive: "FOLDER/NAME", with a number where another file has that name.
 * `added`: what is there, name -> path. Returns `name`.
 */
const char *bundle_name(json_t *added, const char *folder, const char *path, char *name, size_t room);

/* Writes the shell script. Each word of a command is read and quoted again: the results may come from a stranger. */
void bundle_write_replay(FILE *out, const struct excerpt *excerpt, json_t *added, const json_t *missing);

/* Plain text. */
void bundle_write_readme(FILE *out, const struct excerpt *excerpt, json_t *added, const json_t *missing);

#endif
