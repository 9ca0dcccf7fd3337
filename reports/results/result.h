/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One result: what was decided about one requirement, by whom, and on which evidence.
 * Every report, the terminal and results.jsonl (version 2, see reports/README.md) are made from these structures.
 *
 * All strings here are BORROWED: the structures own nothing, so that a caller fills one with literals and local
 * buffers, hands it over and forgets it. Results that were read back point into the JSON object they came from.
 * Text of any origin may be put in (peer text, invalid UTF-8, control characters): the writers clean it.
 */
#ifndef REPORTS_RESULT_H
#define REPORTS_RESULT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conformance/flow/event/flow_account.h"
#include "base/exit_status.h"

/* What is written; version 1, which knew no KNOWN, is read too. */
#define RESULTS_VERSION       2
#define RESULTS_VERSION_FIRST 1

enum verdict {
    VERDICT_PASS,
    VERDICT_FAIL,
    VERDICT_KNOWN,        /* a FAIL that the profile knows, with the same actual outcome; `finding` says of what */
    VERDICT_WARN,         /* a SHOULD that was not kept */
    VERDICT_INCONCLUSIVE, /* the environment, not the DUT: nothing can be said */
    VERDICT_SKIP,         /* capability absent; `pics` says which */
    VERDICT_AMBIGUOUS,    /* the texts allow two readings; `reading` says which one the DUT took */
    VERDICT_COUNT
};

/*
 * The members of a result after `id` and `verdict`, in the order of its line in results.jsonl. TEXT(member): left out
 * of the line where it is NULL. COUNT(member, when it is written, and as what). From `purpose` on they are for people.
 */
/* clang-format off */
#define RESULT_MEMBERS(TEXT, COUNT) \
    TEXT(by) /* "rule" or "check" */ \
    TEXT(script) /* "path:line" of the check, or the rule's function; NULL: not known */ \
    TEXT(role) /* role of the DUT: "initiator", "responder"; NULL: either */ \
    TEXT(file) /* capture (audit) or the evidence pcapng (run) that `frame` counts in */ \
    COUNT(frame, result->frame != 0, result->frame) /* first frame concerned, counted from 1; 0: none */ \
    TEXT(flow) /* "10.77.0.2:9999>10.77.0.3:46279", sender first; "[fd00::2]:9999>..." for IPv6 */ \
    TEXT(expected) /* what the requirement allows, e.g. "Terminate DDP / Untagged Buffer / Invalid QN (0x1201)" */ \
    TEXT(actual) /* what came */ \
    TEXT(message) /* one sentence: what is wrong, or why INCONCLUSIVE / SKIP / AMBIGUOUS */ \
    TEXT(evidence) /* path relative to the output folder, e.g. "evidence/DDP-7.2-02.pcapng" */ \
    COUNT(count, true, result->count ? result->count : 1) /* how often it was seen in this flow; 0 is written as 1 */ \
    COUNT(results, result->results > 1, result->results) /* PASS: so many are in this line; 0: one */ \
    TEXT(purpose) /* the check's purpose line */ \
    COUNT(duration_ns, result->duration_ns != 0, result->duration_ns) /* of the check */ \
    COUNT(offset, result->octets != 0, result->offset) /* where the frame's octets begin in `file`, from 0, */ \
    COUNT(octets, result->octets != 0, result->octets) /* and how many there are; 0: not known */ \
    TEXT(reading) /* AMBIGUOUS: the reading that the DUT took */ \
    TEXT(cause) /* another reading fits what came: its name (wire/hint.h), the same for all that has this cause */ \
    TEXT(hint) /* and that reading in words: "the octets fit an FPDU with 0 pad octets in place of 2" */ \
    TEXT(pics) /* SKIP: the capability line of the profile, e.g. "markers = no" */ \
    TEXT(replay) /* command line that repeats it */ \
    TEXT(outcome) /* of a device with a profile, FAIL, KNOWN or WARN: digest of message and actual as they were seen */ \
    TEXT(finding) /* KNOWN, or a WARN that the profile knows: the finding that it is a result of, as the profile calls it */ \
    TEXT(deviation) /* the same: the profile's note */ \
    TEXT(review_by) /* the same: the day up to which the profile excuses it, "2027-06-30" */ \
    TEXT(otherwise) /* merged results: the verdicts that others had of the same, "PASS" */ \
    TEXT(unexpected) /* of a shard, PASS: why it is a FAIL if no other shard saw worse (a known deviation) */
/* clang-format on */

#define RESULT_TEXT_(member)                  const char *member;
#define RESULT_COUNT_(member, written, value) uint64_t member;

struct result {
    const char *id; /* requirement id, never NULL in a result that is written */
    enum verdict verdict;
    RESULT_MEMBERS(RESULT_TEXT_, RESULT_COUNT_)
    json_t *steps; /* the ladder: array of step objects (see result_step); borrowed reference */
};

#undef RESULT_TEXT_
#undef RESULT_COUNT_

/* The first line of results.jsonl. `seed` is at most 2^63 - 1 (JSON integers are signed). */
struct run_info {
    uint64_t version;      /* of results that were read: RESULTS_VERSION_FIRST to RESULTS_VERSION */
    const char *tool;      /* "warpcheck 0.1.0" */
    const char *catalogue; /* digest of the catalogue that was compiled in, hexadecimal */
    const char *target;    /* profile name or address, "embedded", or the files audited */
    uint64_t seed;
    const char *command;      /* optional: "run", "audit" */
    const char *command_line; /* optional: as it was typed, "warpcheck run --dut my-rnic.json 'MPA-7.*'" */
    const char *started;      /* optional: UTC, "2026-11-20T10:47:28Z" */
    uint64_t selected; /* optional: requirements that were selected and that something can decide; of all shards */
    /*
     * Optional, of a run: everything else that its verdicts depend on and `--resume` compares, by name: texts such as
     * {"selection": "DDP-7.*"}; borrowed.
     */
    json_t *conditions;
    json_t
        *device; /* optional, of a device with a profile: vendor, product, firmware, ..., its capabilities; borrowed */
    json_t *functions; /* optional, of a run: the name of each rule, by requirement; a line of its own; borrowed */
    /* of a part of a run (--shard), and of what was merged (reports/merge/merge.h) */
    const char *shard; /* "2/4"; NULL: not shared out */
    const char *plan;  /* digest of what was shared out, hexadecimal */
    json_t *parts;     /* merged: the parts by name; borrowed */
};

/* A line of an audit: a capture, and whether it could be read. */
struct capture_info {
    const char *file;   /* as in its results */
    const char *status; /* "whole"; "damaged": judged up to where it breaks off; "foreign": no capture that can be read;
                         * "skipped": of a folder, not read, and it could hold captures */
    const char *message; /* what is wrong with it, NULL when it is whole */
    json_t
        *ring; /* the files of a ring in their order, `file` the one with the lowest number; borrowed; NULL: one file */
    const char *reason; /* skipped: the row of the account (conformance/flow/event/flow_account.h) */
    json_t *account;    /* of its frames and octets, as account_to_json() makes it; borrowed; NULL: not known */
};

#define RUN_SUMMARY_MESSAGES 32 /* there are 16 RDMAP opcodes, some counted in two kinds, and the MPA frames */

/* How the findings of an audit compare with those that it was to have (--expect, reports/results/difference.h). */
struct run_expectation {
    bool used;
    const char *file;                               /* of the expectations, as it was named */
    const char *digest;                             /* of its octets: shards that are merged have the same */
    uint64_t expected;                              /* lines whose findings are as expected */
    uint64_t fresh, changed, due, missing, renamed; /* differences, by enum difference_kind */
    uint64_t soon;                                  /* of `expected`: to be reviewed within EXPECTATION_SOON_DAYS */
    const char *soon_day;                           /* the first of these days */
};

enum { EXPECTATION_SOON_DAYS = 30 };

struct message_count {
    const char *name; /* RFC name: "Send", "RDMA Read Request" */
    uint64_t count;
};

/* The last line of results.jsonl. */
struct run_summary {
    uint64_t pass, fail, known, warn, inconclusive, skip, ambiguous;
    uint64_t known_findings; /* how many findings the `known` results are of */
    uint64_t not_exercised;  /* requirements selected (run) or known (audit) that nothing decided */
    uint64_t frames, fpdus, ddp_segments, crc_errors;
    uint64_t restarts; /* of the device in the course of the run, by its profile's restart_command */
    struct message_count messages[RUN_SUMMARY_MESSAGES];
    size_t message_count;
    struct flow_account account;        /* what became of every file, frame and octet */
    bool allow_gaps;                    /* what was not judged was accepted (--allow-gaps) */
    struct run_expectation expectation; /* of an audit with --expect */
    const char *ended;                  /* optional: UTC, "2026-11-20T10:52:03Z" */
    const char *stopped;                /* optional: the run did not come to its end, and why: "interrupted" */
};

/* The roles of a device, as places in an array. */
enum { ROLE_INITIATOR, ROLE_RESPONDER, ROLE_UNKNOWN, ROLE_SLOTS };

/* "initiator", "responder"; NULL and anything else: ROLE_UNKNOWN. */
unsigned role_slot(const char *role);

/* `role` where it is "initiator" or "responder", else NULL. */
const char *result_role(const char *role);

/* Was it decided by a rule, not by a check? */
bool result_is_by_rule(const struct result *result);

/* How the message of an INCONCLUSIVE result begins whose check could not be run: its script has an error. */
#define RESULT_SCRIPT_ERROR "script error"
bool result_is_script_error(const struct result *result);

/* "PASS", "FAIL", ...; "?" for a number outside the enum. */
const char *verdict_name(enum verdict verdict);

/* Of two verdicts the one that matters more. */
enum verdict verdict_worse(enum verdict a, enum verdict b);

/* 0 and *verdict set when `name` (upper case, as verdict_name() gives it) is a verdict, else -1. */
int verdict_from_name(const char *name, enum verdict *verdict);

/* Counts one verdict in the summary, or several. */
void summary_count(struct run_summary *summary, enum verdict verdict);
void summary_count_several(struct run_summary *summary, enum verdict verdict, uint64_t results);

/* How many results a line stands for, at least 1. */
uint64_t result_results(const struct result *result);

/* The counter of one verdict. */
uint64_t summary_of(const struct run_summary *summary, enum verdict verdict);

/* Takes over the counters of verdicts and findings, and nothing else. */
void summary_copy_verdicts(struct run_summary *to, const struct run_summary *from);

/* Of each of these counters the larger: what `other` counted is of the same run. */
void summary_raise(struct run_summary *summary, const struct run_summary *other);

/* Adds `count` messages called `name` (borrowed) to the summary; a full table drops further names, never overflows. */
void summary_add_messages(struct run_summary *summary, const char *name, uint64_t count);

/* Something that is iWARP, or may be, was not judged, and that was not accepted: nobody can say that it conforms. */
bool summary_has_gaps(const struct run_summary *summary);

/* Adds the counters of traffic of `from`; verdicts and times are left alone. Names of messages are borrowed. */
void summary_add_traffic(struct run_summary *to, const struct run_summary *from);

/*
 * Exit status for a finished run: any FAIL, or any difference from what an audit was to find (then KNOWN is 0), 1; else
 * something unjudged 4; else nothing decided (nothing selected, or all SKIP) 3; else any INCONCLUSIVE 4; else any KNOWN
 * 5; else 0. A FAIL is never hidden by an INCONCLUSIVE, and neither is ever a success.
 */
enum exit_status summary_exit_status(const struct run_summary *summary);

/*
 * The status where known deviations were accepted (`--accept-known`): EXIT_KNOWN becomes EXIT_CONFORMS, no other
 * changes.
 */
enum exit_status exit_status_accepting(enum exit_status status, bool accept_known);

/*
 * One step of a ladder, a new reference (NULL without memory): at `seconds` from the start of the flow, `from`
 * ("tester" or "dut"; audit: "dut" is the side that is judged, left of the flow's '>', "tester" its peer) sent what
 * `summary` says ("MPA Request rev2 M0 C1 S1, 4 octets private data"). `kind` colours it: "tcp", "mpa", "fpdu",
 * "terminate", "note". `frame` counts from 1, 0: none, in the result's file, or in that of the step's member "file".
 * `octets`/`length` is the frame or payload to be shown as a hex dump (NULL, 0: none; more than RESULT_STEP_OCTETS_MAX
 * are cut). Append with json_array_append_new().
 */
enum { RESULT_STEP_OCTETS_MAX = 2048 }; /* longer than any frame of an Ethernet with a 1500-octet MTU */
json_t *result_step(double seconds, const char *from, const char *kind, const char *summary, uint64_t frame,
                    const uint8_t *octets, size_t length);

/* A text as a member of results: cleaned (reports/file/text.h). A new reference, NULL without memory. */
json_t *result_text(const char *text);

/* Marks `length` octets at `offset` of a step's octets as the offending ones, with a note (may be NULL). */
int result_step_mark(json_t *step, size_t offset, size_t length, const char *note);

/* The result as a results.jsonl object, text cleaned; a new reference, NULL without memory or id. */
json_t *result_to_json(const struct result *result);

/*
 * Fills *result from a results.jsonl object; strings point into `object`, which must outlive it. Hostile input is
 * expected: members of the wrong type count as absent. -1 when id or verdict is missing or unknown.
 */
int result_from_json(json_t *object, struct result *result);

/* The run line, a capture's line and the summary line, the same way. */
json_t *run_info_to_json(const struct run_info *info);
int run_info_from_json(json_t *object, struct run_info *info);

/*
 * The device in one line: "vendor Acme, product X1, firmware 7.1, capabilities {"ird":16}"; "" where no profile says
 * anything. malloc'd, NULL without memory.
 */
char *run_info_device(const struct run_info *info);
json_t *capture_info_to_json(const struct capture_info *info);
int capture_info_from_json(json_t *object, struct capture_info *info);
json_t *run_summary_to_json(const struct run_summary *summary);
int run_summary_from_json(json_t *object, struct run_summary *summary);

#endif
