/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is known of one device under test: a JSON file.
 *
 *   { "name": "linux-siw-6.12",
 *     "address": "192.0.2.7", "port": 9999,           where it listens
 *     "interface": "eth1", "own_address": "192.0.2.9",  the tester's interface, and an address there that nobody owns
 *     "own_mac": "02:77:63:00:00:03",                 optional
 *     "replay": "linux-siw",                          optional: what --dut is to be when a check is repeated
 *     "control": "192.0.2.7:7471",                    the upper tester; without it checks that need one are skipped
 *     "capabilities": { "mpa.markers": "no", "ird": 16 },   PICS items (conformance/requirements/pics.tsv)
 *     "known_deviations": [ { "requirement": "RDMAP-4.8-02", "verdict": "FAIL", "reason": "nibbles swapped",
 *                             "note": "reported upstream", "review_by": "2027-06-30" } ],
 *     "hazards": [ { "requirement": "EMPA-10-01", "role": "responder", "note": "the device may not survive it" } ] }
 *
 * A known deviation turns a FAIL (or WARN) whose message, expected or actual text matches the regular expression
 * `reason` into something expected. A failure for another reason still fails, an unexpected pass fails, and so does an
 * entry whose date is over. A hazard is a check that this device, and not any, may not survive: it runs with --destructive.
 */
#ifndef CONFORMANCE_ENGINE_PROFILE_H
#define CONFORMANCE_ENGINE_PROFILE_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conformance/requirements/pics.h"
#include "generator/packet.h"
#include "reports/result.h"
#include "wire/sentence.h"

struct known_deviation {
    const char *requirement;
    enum verdict verdict; /* FAIL or WARN */
    const char *reason;   /* POSIX extended regular expression */
    const char *note;
    const char *review_by; /* "YYYY-MM-DD" */
    const char *role;      /* "initiator", "responder"; NULL: in either */
    const char *by;        /* "check", "rule"; NULL: either */
    bool sometimes;        /* a pass is no surprise */
    regex_t pattern;
    bool met; /* in this run */
};

struct profile {
    const char *name;
    const char *replay; /* how --dut names it in commands that repeat a check; NULL: as it was named */
    const char *interface;
    struct net_address address;
    struct net_address own_address;
    uint8_t own_mac[6]; /* all zero: the default */
    uint16_t port;
    struct net_address control; /* family 0: none */
    uint16_t control_port;
    struct known_deviation *deviations;
    size_t deviation_count;
    json_t *json; /* what the strings point into */
};

/* Reads and checks a profile, and sets the PICS items it names. -1 with "path: what is wrong, what was expected". */
int profile_load(struct profile *profile, const char *path, struct pics *pics, struct sentence *error);

/* What a profile says that says nothing of capabilities: `control` answers for the upper tester, no device is instrumented. */
int profile_defaults(struct pics *pics, bool control, struct sentence *error);
void profile_free(struct profile *profile);

/* Why this check is not to be run on this device without --destructive; NULL: nothing speaks against it. */
const char *profile_hazard(const struct profile *profile, const char *requirement, const char *role);

/*
 * Applies the known deviations to a result: true when `result` was changed. `text` (at least 512 octets) takes the new
 * message. `today` is "YYYY-MM-DD". An expected FAIL becomes a WARN whose message begins with "known deviation" and
 * whose `deviation` is the entry's note (its reason where it has none); a PASS of a requirement that should deviate becomes a FAIL; an entry past its date leaves the FAIL and says so.
 */
bool profile_judge(struct profile *profile, struct result *result, const char *today, char *text, size_t room);

#endif
