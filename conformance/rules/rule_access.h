/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tagged messages against the buffers that the flow's ULP advertises (flow_buffer.h), for the rules of each ULP. An
 * access is an RDMA Write or a Read Request; it is judged where all that was advertised is known.
 */
#ifndef CONFORMANCE_RULES_RULE_ACCESS_H
#define CONFORMANCE_RULES_RULE_ACCESS_H

#include "conformance/flow/ulp/flow_buffers.h"
#include "conformance/rules/rule_context.h"

/* Is what was advertised known, as far as the capture shows? */
bool rule_buffers_known(const struct rule_context *ctx);

/* An access of that ULP's flow, of these kinds (enum flow_buffer_access), that can be judged. */
struct rule_access {
    enum flow_ulp_kind ulp;
    unsigned kinds;
    const char *section; /* "RFC 8166 3.4.3" */
};

/*
 * It lies in buffers that stand, which is good, or it has the answer `wrong`: true. Other answers are other rules'.
 * `*found`: the buffer that the answer is about, NULL when there is none.
 */
bool rule_access_is_wrong(struct rule_context *ctx, const struct rule_access *judged, enum flow_buffer_answer wrong,
                          struct flow_access *access, const struct flow_buffer **found);

/* "a Write of 100 octets at 0x10000 of STag 0x000000d1", for this rule. */
const char *rule_access_text(struct rule_context *ctx, const struct flow_access *access);

/* No buffer has that STag, or it is advertised for the other kind of access. `by`: what advertises, "a Call". */
void rule_access_advertised(struct rule_context *ctx, const struct rule_access *judged, const char *by);

/* An octet lies outside the buffer of that STag. */
void rule_access_inside(struct rule_context *ctx, const struct rule_access *judged);

/* The exchange is over, by `end` ("the Reply"), or the STag was invalidated. */
void rule_access_in_time(struct rule_context *ctx, const struct rule_access *judged, const char *end);

#endif
