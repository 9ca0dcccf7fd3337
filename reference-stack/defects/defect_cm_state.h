/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What one exchange of the CM agent leaves to another one, or the first copy of a message to the second: faults, and
 * legal ways of a CM (Annex A11.6, A11.7). Part of the list in defect_internal.h.
 */
#ifndef REFERENCE_STACK_DEFECT_CM_STATE_H
#define REFERENCE_STACK_DEFECT_CM_STATE_H

#include <stdbool.h>
#include <stdint.h>

struct cm_agent;
struct cm_event;
struct cm_listener;
struct cm_message;
struct cm_subject;
struct cm_validation;
struct cm_verdict;

/* For the hook of the same name (defect_cm_state.c). */
bool state_cm_input(struct cm_agent *agent, const struct cm_message *message);
bool state_cm_judge(const struct cm_validation *entry, const struct cm_subject *subject, bool *holds);
void state_cm_verdict(const struct cm_agent *agent, struct cm_verdict *verdict);
bool state_cm_listens(const struct cm_agent *agent, const struct cm_listener *listener);
void state_cm_event(struct cm_agent *agent, struct cm_event *event);
void state_cm_request(struct cm_agent *agent, uint8_t *mad);
void state_cm_reply(struct cm_agent *agent, uint8_t *mad);
void state_cm_rejection(struct cm_agent *agent, uint8_t *mad);
void variant_cm_rejection(const struct cm_agent *agent, uint8_t *mad);
void variant_cm_ready(struct cm_agent *agent, const uint8_t *mad);

/* clang-format off */
#define DEFECT_BEHAVIOURS_CM_STATE(B) \
    B(CM_REPEAT_TAKEN,             "cm-repeat-taken",             "a REQ that comes once more is not judged") \
    B(CM_REPEAT_WITHOUT_ARI,       "cm-repeat-without-ari",       "the REJ to a REQ that comes once more has no ARI") \
    B(CM_VERSIONS_ONCE,            "cm-versions-once",            "after a good REQ no version is looked at any more") \
    B(CM_LISTENER_STAYS,           "cm-listener-stays",           "a listener that took a REQ takes each later one, whatever its Service ID") \
    B(CM_CODE_STAYS,               "cm-code-stays",               "each rejection by the service has the code of the first one") \
    B(CM_ULP_LAYER_STAYS,          "cm-ulp-layer-stays",          "after a rejection by the ULP each one is told as the ULP's") \
    B(CM_IPV6_REFUSED,             "cm-ipv6-refused",             "IPV 6 is refused, though it is supported") \
    B(CM_CONSUMER_STAYS,           "cm-consumer-stays",           "the ULP sees the end of longer consumer data of an earlier REQ") \
    B(CM_TUPLE_OF_FIRST,           "cm-tuple-of-first",           "the ULP is told the addresses and ports of the first REQ") \
    B(CM_REPLY_TOLD_STAYS,         "cm-reply-told-stays",         "a client's ULP sees the end of a longer REP's Private Data") \
    B(CM_CLIENT_DATA_STAYS,        "cm-client-data-stays",        "a REQ has the end of longer consumer data of an earlier one") \
    B(CM_PROTOCOL_STAYS,           "cm-protocol-stays",           "the Service ID has the protocol of the client's first REQ") \
    B(CM_SOURCE_PORT_STAYS,        "cm-source-port-stays",        "a REQ has the source port of the client's first one") \
    B(CM_REPLY_DATA_STAYS,         "cm-reply-data-stays",         "a REP has the end of an earlier one's longer Private Data") \
    /* Legal */ \
    B(CM_SOMETIMES_REFUSES,        "cm-sometimes-refuses",        "each third REQ is refused by reason 28 with ARI 00 00") \
    B(CM_FIRST_LOST,               "cm-first-lost",               "the first copy of each REQ is lost") \
    B(CM_ULP_BARE,                 "cm-ulp-bare",                 "a rejection by the ULP has Reject Info Length 0") \
    B(CM_ULP_WHOLE,                "cm-ulp-whole",                "a rejection by the ULP has Reject Info Length 72") \
    B(CM_SUGGEST_OTHER,            "cm-suggest-other",            "the suggested value is 0F, which is none that is supported") \
    B(CM_SUGGEST_LONG,             "cm-suggest-long",             "two octets are suggested: both versions, or both IP versions") \
    B(CM_CLIENT_MRA,               "cm-client-mra",               "a client sends an MRA before its RTU")
/* clang-format on */

#endif
