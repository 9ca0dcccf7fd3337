/* SPDX-License-Identifier: BSD-2-Clause */
/* audit_expect.c: what was found, and how it differs; audit_expect_file.c: the file. */
#ifndef CONFORMANCE_ENGINE_AUDIT_EXPECT_INTERNAL_H
#define CONFORMANCE_ENGINE_AUDIT_EXPECT_INTERNAL_H

#include <limits.h>

#include "conformance/engine/audit/audit_expect.h"
#include "base/hash.h"

enum { DIGEST_OCTETS = 48 };

#define ALL_FLOWS "*"

/* A requirement, role and flow of a capture: expected, found, or both. */
struct expectation {
    const char *id, *role, *flow; /* in `key` */
    /* what is expected, where `line` is not 0 */
    size_t line;
    bool old; /* of a version without flow, count and outcome: for its note and day alone */
    enum verdict wanted;
    uint64_t wanted_count;
    char *outcome, *review_by, *digest, *note;
    /* what was found, where `results` is not 0 */
    uint64_t results, count; /* their counts added up */
    enum verdict worst;
    uint64_t frame;       /* of the first of them */
    char *text, *allowed; /* of the first of them: the outcome, and what the requirement allows */
    char *first_flow;     /* of ALL_FLOWS */
    uint64_t outcomes;    /* sum of the digests of all outcomes */
    bool various;         /* they are not all the same */
    json_t *held;         /* array of results that wait for the end of the capture */
    bool reported;        /* they did not wait: there are more than are expected */
    /* how the two compare (audit_expect_compare) */
    struct expectation *renamed; /* what was expected of the capture's former name, */
    const char *old_name;        /* this one; NULL: none */
    bool moved;                  /* what is expected here was found under another name */
    UT_hash_handle hh;
    size_t key_octets;
    char key[];
};

struct expected_capture {
    struct expectation *all;    /* by requirement, role and flow */
    char *file;                 /* as it was named to the audit; NULL: nothing was found in it */
    bool elsewhere;             /* another shard audits it, */
    bool audited;               /* or this one */
    bool waits;                 /* it has held results */
    char digest[DIGEST_OCTETS]; /* of the file, once it was asked for; "": not known */
    bool digested;
    UT_hash_handle hh;
    char name[];
};

struct audit_expect {
    struct audit_expect_config config;
    char folder[PATH_MAX]; /* of the file, with a slash at its end; "" when it is not known */
    struct expected_capture *captures;
    struct expected_capture *last; /* the results of a capture stand together */
    char *last_file;
    char digest[DIGEST_OCTETS]; /* of the file */
};

/* Made where it is new; NULL without memory. */
struct expected_capture *expected_capture_of(struct audit_expect *expect, const char *name);
struct expectation *expectation_of(struct expected_capture *capture, const char *id, const char *role,
                                   const char *flow);
/* NULL: there is none. */
struct expectation *expectation_find(const struct expected_capture *capture, const char *id, const char *role,
                                     const char *flow);

/*
 * "CRC 0x12345678", or "3 outcomes, 0123456789abcdef" where results have different ones; malloc'd, NULL without memory.
 */
char *expectation_outcome(const struct expectation *found);

/* The digest of a capture's octets, "" where it cannot be read again. Computed once. */
const char *expected_capture_digest(struct expected_capture *capture);
/* The same of a capture that nothing was found in: it is named from the folder of the expectations. */
const char *expected_capture_digest_now(const struct audit_expect *expect, struct expected_capture *capture);

/*
 * The expectation whose capture has gone, and which has the digest, requirement, role and flow of what was found in a
 * capture that is new.
 */
struct expectation *expectation_of_renamed(const struct audit_expect *expect, struct expected_capture *capture,
                                           const struct expectation *found, const char **old_name);

/* Reads the file of config.path. -1 with a sentence. */
int audit_expect_read(struct audit_expect *expect, struct iwarp_sentence *error);

#endif
