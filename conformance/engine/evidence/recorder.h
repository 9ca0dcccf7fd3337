/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a check leaves behind: every frame on the tester's link is counted. What is sent from or to the tester's address
 * is decoded and written to a pcapng with comments; the connections between the tester and the device are drawn into a
 * ladder, and the rules judge what the device sent on them. Other hosts' TCP, such as a second run's on the same
 * interface, is foreign.
 */
#ifndef CONFORMANCE_ENGINE_RECORDER_H
#define CONFORMANCE_ENGINE_RECORDER_H

#include <jansson.h>
#include <stdint.h>

#include "conformance/engine/evidence/last_seen.h"
#include "conformance/engine/rig/rig.h"
#include "conformance/flow/event/flow.h"
#include "conformance/rules/rule.h"
#include "reports/file/place.h"

struct recorder;

/* Which checks' captures stay (`run --evidence`). */
enum evidence_kept {
    EVIDENCE_FAIL, /* of results other than PASS or SKIP, and of checks with findings of rules */
    EVIDENCE_ALL,
    EVIDENCE_NONE,
};

enum { EVIDENCE_CUT_OCTETS = 160 }; /* of each frame beyond the limit: the headers of all layers */

struct recorder_config {
    bool ladder;                                  /* gather ladder steps */
    uint64_t evidence_limit;                      /* octets of a capture from which frames are cut; 0: none */
    bool (*selected)(const char *id, void *user); /* rules wanted; NULL: all */
    /*
     * Called for each finding of a rule in what the device sent; the strings are valid during the call. NULL: not
     * called.
     */
    void (*finding)(void *user, const struct rule_finding *finding);
    /* One verdict of a rule on a flow that has ended; the strings are valid during the call. */
    void (*rule_result)(void *user, const struct rule_result *result, const struct flow *flow);
    void *user;
};

/* NULL with a sentence when memory is short. */
struct recorder *recorder_new(const struct recorder_config *config, struct iwarp_sentence *error);
void recorder_free(struct recorder *recorder);

/* Watches this rig's link from now on (its tap). */
void recorder_attach(struct recorder *recorder, struct rig *rig);

/*
 * A new check begins: frames count from 1. `pcapng` is the evidence file, which replaces one of its name, or NULL for
 * none; `title` goes into its head. -1 with a sentence when the file cannot be written; the recording goes on without
 * it.
 */
int recorder_begin(struct recorder *recorder, const struct place *pcapng, const char *title,
                   struct iwarp_sentence *error);

/* A comment for the next frame, and a note in the ladder. */
void recorder_note(struct recorder *recorder, const char *text);

/*
 * What the upper tester was asked and what it answered, as a comment for the next frame:
 * "upper tester: {request} -> {answer}". Of polls without an event that follow each other the first is
 * there; of an exchange of more than RECORDER_COMMAND_OCTETS the comment names the verb alone.
 */
#define RECORDER_COMMAND "upper tester: "
enum { RECORDER_COMMAND_OCTETS = 16384 };
void recorder_command(struct recorder *recorder, const json_t *request, const json_t *answer);

/*
 * Ends all flows, so that rules give their verdicts. Closes the evidence file: its last comment is `verdict`, with what
 * the limit has left out. -1: the disk failed.
 */
int recorder_end(struct recorder *recorder, const char *verdict, struct iwarp_sentence *error);

/* Number of the last frame seen since recorder_begin(). */
uint64_t recorder_frame(const struct recorder *recorder);

/* The ladder's steps (a JSON array of result_step()); borrowed, until the next recorder_begin(). */
json_t *recorder_steps(const struct recorder *recorder);

/*
 * The number of the frame that a verdict is about: the frame that the check looked at last; 0: none. *step becomes the
 * ladder's step that shows it, borrowed like recorder_steps(); NULL: there is none. To be called after recorder_end(),
 * when the ladder is complete.
 */
uint64_t recorder_cite(struct recorder *recorder, const struct last_seen *last_seen, json_t **step);

/* Name of the last flow in which the device spoke, "" when there was none. */
const char *recorder_flow(const struct recorder *recorder);

const struct flow_totals *recorder_totals(struct recorder *recorder);

#endif
