/* SPDX-License-Identifier: BSD-2-Clause */
/* The header with which a ULP's message begins, for what shows it. */
#ifndef FLOW_FLOW_ULP_LAYOUT_H
#define FLOW_FLOW_ULP_LAYOUT_H

#include "conformance/flow/event/flow.h"

/* Of a FLOW_RDMAP event, by the flow's state before it: the header at its payload; NULL: none is known. */
const struct wire_layout *flow_ulp_layout(const struct flow_event *event);

#endif
