/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a CM agent may do something else than what Annex A11 says: the seams, as core/faults.h has them for streams. */
#ifndef REFERENCE_STACK_CM_FAULTS_H
#define REFERENCE_STACK_CM_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

struct cm_agent;
struct cm_agent_config;
struct cm_event;
struct cm_fault_ops;
struct cm_listener;
struct cm_message;
struct cm_subject;
struct cm_validation;
struct cm_verdict;

/*
 * In a configuration: an implementation and its settings. In an agent: the implementation and what it keeps of it.
 */
struct cm_faults {
    const struct cm_fault_ops *ops;
};

#define CM_FAULTED(agent) __builtin_expect((agent)->faults != NULL, 0)

/* Calls the operation; `call` is its name with the arguments. */
#define CM_SEAM(agent, call)                                                                                           \
    do {                                                                                                               \
        if (CM_FAULTED(agent))                                                                                         \
            (void)(agent)->faults->ops->call;                                                                          \
    } while (0)

/* True where the operation is called and returns true. */
#define CM_SEAM_IF(agent, call) (CM_FAULTED(agent) && (agent)->faults->ops->call)

/* `own`, or what the operation returns: only one of the two is evaluated. */
#define CM_SEAM_VALUE(agent, own, call) (CM_FAULTED(agent) ? (agent)->faults->ops->call : (own))

struct cm_fault_ops {
    /* A new agent gets what the implementation keeps of it; its configuration may change. NULL: memory is short. */
    struct cm_faults *(*agent_new)(struct cm_agent *agent, const struct cm_faults *faults);
    /* The agent is about to be freed. */
    void (*release)(struct cm_faults *kept);

    /* In place of cm_validation_judge(): what an entry of the CM's table finds for a REQ (A11.6, A11.7). */
    bool (*judge)(const struct cm_validation *entry, const struct cm_subject *subject, struct cm_verdict *verdict);

    /* Does the listener take that Service ID (A11.5)? */
    bool (*listens)(const struct cm_agent *agent, const struct cm_listener *listener, uint64_t service_id);

    /* A message came that the agent knows. True: nothing follows from it. */
    bool (*input)(struct cm_agent *agent, const struct cm_message *message);

    /* A MAD of 256 octets goes out. True: it does not. */
    bool (*send)(struct cm_agent *agent, uint8_t *mad);

    /* An event for the ULP is complete. */
    void (*event)(struct cm_agent *agent, struct cm_event *event);
};

#endif
