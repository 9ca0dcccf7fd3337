/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * interop.jsonl: what `warpcheck interop` found out, one object a line, written as it goes.
 *
 *   {"type":"interop","version":1,"tool":...,"started":...,"devices":[{"name":...,"what":...}],
 *    "tests":[{"letters":"W","name":"write","group":"Operations","title":...}]}
 *   {"type":"exchange","initiator":"a","responder":"b","test":"write","verdict":"PASS","expected":...,"actual":...,
 *    "steps":[...],"capture":"a+b.write.pcapng","milliseconds":12}
 *   {"type":"end","ended":...}        without it the command was stopped
 */
#ifndef REPORTS_INTEROP_RESULTS_H
#define REPORTS_INTEROP_RESULTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/sentence.h"
#include "reports/results/result.h"

#define INTEROP_FILE "interop.jsonl"

enum { INTEROP_VERSION = 1, INTEROP_SIZE_MOST = 64 }; /* devices, and test cases, at most */

struct interop_results {
    json_t *head;
    size_t devices, tests;
    json_t **exchanges; /* [(initiator * devices + responder) * tests + test]; NULL: there was none */
    bool finished;
};

/* An empty table of that head, whose reference is taken. -1 with a sentence: what is wrong with it. */
int interop_results_begin(struct interop_results *results, json_t *head, struct iwarp_sentence *error);

/*
 * Adds an exchange (a new reference is made). -1 with a sentence: it names no device or test of the head, no verdict of
 * a matrix, or stands there already. */
int interop_results_add(struct interop_results *results, json_t *exchange, struct iwarp_sentence *error);

/* Reads a file. 0, or -1 with "path:line: what is wrong"; interop_results_free() in either case. */
int interop_results_read(struct interop_results *results, const char *path, struct iwarp_sentence *error);

void interop_results_free(struct interop_results *results);

const char *interop_results_device(const struct interop_results *results, size_t device, const char *member);
const char *interop_results_test(const struct interop_results *results, size_t test, const char *member);

/* NULL: there was none. */
const json_t *interop_results_exchange(const struct interop_results *results, size_t initiator, size_t responder,
                                       size_t test);
enum verdict interop_results_verdict(const json_t *exchange);

/* How many exchanges have each verdict. */
void interop_results_count(const struct interop_results *results, size_t counts[VERDICT_COUNT]);

#endif
