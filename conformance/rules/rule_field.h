/* SPDX-License-Identifier: BSD-2-Clause */
/* Rules that judge one field: what they find has the cause that checks name, too ("send-msn", wire/hint_field.h). */
#ifndef CONFORMANCE_RULES_RULE_FIELD_H
#define CONFORMANCE_RULES_RULE_FIELD_H

#include "conformance/flow/event/flow.h"
#include "wire/hint_field.h"

/* The cause of what the rule of this id finds in the event; false: the rule judges more than one field, or none. */
bool rule_field_cause(const char *id, const struct flow_event *event, struct hint_field *found);

#endif
