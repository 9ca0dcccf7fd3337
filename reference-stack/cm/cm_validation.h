/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why a server refuses a REQ, as one table: each entry is one sentence of Annex A11, with its requirement id, the
 * predicate that holds for a good REQ, and the reason and the service's ARI code that the REJ has otherwise. Reading
 * the table is reading A11.6 and A11.7.
 */
#ifndef REFERENCE_STACK_CM_VALIDATION_H
#define REFERENCE_STACK_CM_VALIDATION_H

#include <stdbool.h>

#include "reference-stack/cm/cm_agent.h"

enum cm_stage {
    CM_STAGE_SERVICE,  /* is there anyone who knows the service? */
    CM_STAGE_LISTENER, /* at that Service ID */
    CM_STAGE_VERSION,  /* before every other field (CA11-11) */
    CM_STAGE_FIELDS,   /* in any order (A11.7) */
    CM_STAGES,
};

struct cm_subject {
    const struct cm_agent *agent;
    const struct cm_agent_config *config;
    const struct cm_message *message;   /* a REQ, whole */
    const struct cm_listener *listener; /* of its Service ID; NULL: none */
};

enum { CM_VALIDATIONS_MAX = 16 };

struct cm_validation {
    const char *requirement;
    const char *name; /* unique */
    enum cm_stage stage;
    bool (*holds)(const struct cm_subject *subject);
    uint16_t reason;
    uint8_t code; /* reason 28 */
};

extern const struct cm_validation cm_validation_table[];
extern const size_t cm_validation_count;

/* An entry by requirement id or by name: the n-th of those that match (from 0), or NULL. */
const struct cm_validation *cm_validation_find(const char *what, size_t n);

struct cm_verdict {
    const struct cm_validation *entry; /* NULL: the REQ is good */
    uint16_t reason;
    uint8_t code;
};

/* Does the entry hold? If not, *verdict is what the REJ has. */
bool cm_validation_judge(const struct cm_validation *entry, const struct cm_subject *subject,
                         struct cm_verdict *verdict);

/* Judges a REQ in the order that A11 asks for, or one of those that it allows. True: it is good. */
bool cm_validation_run(const struct cm_subject *subject, struct cm_verdict *verdict);

#endif
