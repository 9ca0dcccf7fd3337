/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each rule has a case: a healthy conversation that exercises it without any finding, and a broken one, which differs
 * from it by one change or is built on its own, in which it finds what it should and no other rule says anything but
 * those listed.
 */
#ifndef TESTS_UNIT_RULE_CASE_H
#define TESTS_UNIT_RULE_CASE_H

#include <check.h>

#include "tests/unit/conversation.h"

typedef void build_function(struct conversation *conversation);

struct rule_case {
    const char *id;
    build_function *healthy;
    build_function *broken; /* NULL: the healthy one with the change */
    struct conversation_change change;
    enum rule_verdict verdict; /* that the broken one draws */
    const char *also;          /* ids of other rules that may say something about it, blanks between */
    enum rule_verdict good;    /* of the healthy one: RULE_PASS, RULE_AMBIGUOUS where the row is that by nature,
                                  RULE_VERDICTS: none, as a capture can only show that the row is broken */
    const char *aside;         /* ids of rules that the other side breaks in both */
};

/* One table for each file; the last entry has no id. */
extern const struct rule_case rules_startup_cases[];
extern const struct rule_case rules_fpdu_cases[];
extern const struct rule_case rules_ddp_cases[];
extern const struct rule_case rules_rdmap_cases[];
extern const struct rule_case rules_atomic_cases[];
extern const struct rule_case rules_terminate_cases[];
extern const struct rule_case rules_sctp_cases[];
extern const struct rule_case rules_session_cases[];
extern const struct rule_case rules_after_cases[];
extern const struct rule_case rules_cm_cases[];
extern const struct rule_case rules_smbd_cases[];
extern const struct rule_case rules_rpcrdma_cases[];
extern const struct rule_case rules_iser_cases[];
extern const struct rule_case rules_nvme_cases[];
extern const struct rule_case *const rule_case_tables[]; /* all of them, then NULL */

/* Runs a case: fails the test with a sentence when it does not hold. */
void rule_case_run(const struct rule_case *rule_case);

/* Both ways of the engine have to agree; the thorough one's verdicts are given. */
void rule_case_judge(const struct conversation *conversation, struct verdicts *verdicts);

/* Rules with an id that begins so and that gave any verdict; whether the rule with that id has failed. */
unsigned rule_case_exercised(const struct conversation *conversation, const char *prefix);
bool rule_case_fails(const struct conversation *conversation, const char *id);

/* Nothing but passes and ambiguities. */
void rule_case_quiet(const struct verdicts *verdicts, const char *but, const char *what);

/* Conversations that several files use. `plain`: Rev 1 with CRC, all operations. See rule_case.c for the units. */
build_function plain_conversation;
build_function marked_conversation;   /* Markers both ways */
build_function enhanced_conversation; /* Rev 2, peer-to-peer, RDMA Write as RTR */

extern const struct iwarp_mpa_start plain_request, plain_reply, enhanced_request, enhanced_reply;

#define CONTENT(unit, offset, ...)                                                                                     \
    {                                                                                                                  \
        unit, CHANGE_CONTENT, offset, sizeof((uint8_t[]){__VA_ARGS__}),                                                \
        {                                                                                                              \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
    }
#define FRAMED(unit, offset, ...)                                                                                      \
    {                                                                                                                  \
        unit, CHANGE_FRAMED, offset, sizeof((uint8_t[]){__VA_ARGS__}),                                                 \
        {                                                                                                              \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
    }
#define NO_CHANGE                                                                                                      \
    {                                                                                                                  \
        -1, CHANGE_CONTENT, 0, 0,                                                                                      \
        {                                                                                                              \
            0                                                                                                          \
        }                                                                                                              \
    }

#endif
