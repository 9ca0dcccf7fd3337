/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of `dump --format jsonl` for SCTP and CM. All functions return a new reference; NULL without memory. */
#ifndef CONFORMANCE_ENGINE_DUMP_JSON_SCTP_H
#define CONFORMANCE_ENGINE_DUMP_JSON_SCTP_H

#include <jansson.h>

#include "conformance/flow/cm/flow_cm.h"
#include "conformance/flow/sctp/flow_sctp.h"

/* dump_json.c: every number field of a header, by the layout's identifiers. */
json_t *dump_json_header(const struct wire_layout *layout, const uint8_t *header);
/* dump_json.c: "ok", "short", or the error's identifier. */
json_t *dump_json_result(wire_result result);

json_t *dump_json_sctp(const struct flow_sctp *sctp);
json_t *dump_json_session(const struct flow_session *session);
json_t *dump_json_cm(const struct flow_cm *cm);

#endif
