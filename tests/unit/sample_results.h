/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of the reports share: a folder to write in, results with every verdict and with hostile text. */
#ifndef TESTS_UNIT_SAMPLE_RESULTS_H
#define TESTS_UNIT_SAMPLE_RESULTS_H

#include <stddef.h>

#include "reports/results/result.h"

/* Markup, control characters, terminal escapes, invalid UTF-8, a bidirectional override, "]]>". */
extern const char sample_hostile[];

/* How sample_hostile reads after cleaning. */
extern const char sample_hostile_shown[];

extern const struct run_info sample_info;

/* A fresh folder under $TMPDIR; the caller removes it with sample_remove(). */
char *sample_folder(void);
void sample_remove(char *folder);

/* "FOLDER/name" in a static buffer, good until the eighth call after it. */
const char *sample_path(const char *folder, const char *name);

/* The file as a malloc'd NUL-terminated string; *size may be NULL. Fails the test when it cannot be read. */
char *sample_read(const char *path, size_t *size);
void sample_write(const char *path, const char *octets, size_t size);

/* A ladder of `count` steps, step `bad` marked (none if it is >= count); a new reference. */
json_t *sample_steps(size_t count, size_t bad, const char *text);

/*
 * Writes FOLDER/results.jsonl of an audit of three captures, whole, damaged, foreign, with one result of that verdict.
 */
void sample_audit(const char *folder, enum verdict verdict);

/* Writes FOLDER/results.jsonl: one result of each verdict, FAIL, KNOWN and WARN with hostile text everywhere. */
void sample_results(const char *folder, int finished);

/* A path as the writers take it. */
#define PLACE(name) (&(struct place){AT_FDCWD, (name), (name)})

#endif
