/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Known deviations: the outcomes that a profile excuses, each with the requirement that it breaks, the finding that it
 * is a result of, and a day up to which it is excused.
 *
 *   { "requirement": "DDP-7.1-04", "role": "responder", "by": "check",
 *     "message": "the last segment ends one octet after the buffer",
 *     "actual": "Terminate DDP / Untagged Buffer Error / Invalid MSN - no buffer available (0x1202)",
 *     "finding": "8: too long is called no buffer", "note": "reported upstream", "review_by": "2027-06-30" }
 *
 * `actual` is what the device did, in full, as results.jsonl has it; `message`, which may be left out, is the step at
 * which it did so, in full too. In both <number> stands for decimal digits and <hex> for hexadecimal ones, and nothing
 * else for anything but itself. `outcome` may stand in place of both: the digest that results.jsonl has of them, for
 * outcomes that are not to be published. An entry excuses a FAIL with this outcome and no other, or names a WARN where
 * its `verdict` says so; several entries are alternatives.
 */
#ifndef CONFORMANCE_ENGINE_DEVIATION_H
#define CONFORMANCE_ENGINE_DEVIATION_H

#include <jansson.h>
#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include "conformance/requirements/catalogue.h"
#include "reports/results/result.h"
#include "base/sentence.h"

enum { OUTCOME_OCTETS = 17, DEVIATION_TEXT_OCTETS = 1024 };

/* A text that has to be met in full. */
struct outcome_pattern {
    const char *text; /* as it was written; NULL: any will do */
    regex_t whole;
};

/* Strings belong to the JSON object that it was read from. */
struct known_deviation {
    const char *requirement;
    const char *role;    /* "initiator", "responder"; NULL: in either */
    const char *by;      /* "check", "rule"; NULL: either */
    const char *verdict; /* "FAIL", "WARN"; NULL: FAIL */
    struct outcome_pattern actual, message;
    const char *outcome;   /* digest in place of both; NULL: none */
    const char *finding;   /* NULL: the requirement's id is its name */
    const char *note;      /* NULL: none */
    const char *review_by; /* "YYYY-MM-DD" */
    bool sometimes;        /* a pass is no surprise */
    bool met;              /* in this run */
};

struct deviation_list {
    struct known_deviation *entries;
    size_t count;
};

/*
 * Reads the profile's list (NULL: empty). -1 with "file: known_deviations[3]: what is wrong, what was expected": for
 * unknown members, requirements, roles and placeholders, with the nearest that there is; wrong types; texts that name
 * no outcome; days that do not exist or lie more than REVIEW_YEARS years after `today` ("YYYY-MM-DD").
 */
int deviations_read(struct deviation_list *list, const json_t *json, const struct catalogue *catalogue,
                    const char *today, const char *file, struct iwarp_sentence *error);
void deviations_free(struct deviation_list *list);

/*
 * Applies known deviations to a result; true if they changed it. A FAIL with an excused outcome becomes KNOWN, with the
 * finding, note and day of the entry. A FAIL with another outcome, or whose excuse is over, gets a message that says
 * what was known. So does a PASS of a requirement that should deviate: it becomes a FAIL. A WARN that an entry names
 * stays one, with finding, note and day; any other one becomes a FAIL if there are entries at all. `text`
 * (DEVIATION_TEXT_OCTETS) takes the new message.
 */
bool deviations_judge(struct deviation_list *list, struct result *result, const char *today,
                      char text[DEVIATION_TEXT_OCTETS]);

/* Whether deviations_judge() would make it KNOWN. Marks the entry as met. */
bool deviations_excuse(struct deviation_list *list, const struct result *result, const char *today);

/*
 * Whether neither entry i nor an alternative to it was met in this run, although each of them is to be met in every
 * run.
 */
bool deviation_unmet(const struct deviation_list *list, size_t i);

/* The digest of what a check or rule saw: message and actual. */
const char *outcome_digest(const struct result *result, char text[OUTCOME_OCTETS]);

/* The roles that a device is judged in. */
enum { DEVICE_ROLES = 2 };
extern const char *const device_roles[DEVICE_ROLES];

/* -1, with the sentence that there is no such requirement, and the nearest that there is. `at`: "file: place". */
int requirement_unknown(const struct catalogue *catalogue, const char *id, const char *at,
                        struct iwarp_sentence *error);

#endif
