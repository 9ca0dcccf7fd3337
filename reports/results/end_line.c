/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/results/end_line.h"

#include <string.h>

#include "reports/results/member.h"
#include "reports/results/result.h"

json_t *end_line_to_json(const struct end_line *line)
{
    json_t *object = json_object();
    int rc = member_set_text(object, "type", "end");

    rc |= member_set_text(object, "file", line->file);
    rc |= member_set_count(object, "frame", line->frame);
    rc |= member_set_text(object, "flow", line->flow);
    rc |= member_set_text(object, "kind", line->kind);
    rc |= member_set_text(object, "role", line->role);
    rc |= member_set_text(object, "error", line->error);
    rc |= member_set_text(object, "quotes", line->quotes);
    if (line->quotes_first != 0)
        rc |= member_set_count(object, "quotes_first_frame", line->quotes_first);
    if (line->quotes_last != 0)
        rc |= member_set_count(object, "quotes_last_frame", line->quotes_last);
    rc |= member_set_text(object, "negotiated", line->negotiated);
    rc |= member_set_text(object, "broke", line->broke);
    rc |= member_set_text(object, "broke_role", line->broke_role);
    if (line->broke_frame != 0)
        rc |= member_set_count(object, "broke_frame", line->broke_frame);
    rc |= member_set_text(object, "why", line->why);
    if (rc == 0)
        return object;
    json_decref(object);
    return NULL;
}

int end_line_from_json(const json_t *object, struct end_line *line)
{
    *line = (struct end_line){
        .file = member_text(object, "file"),
        .flow = member_text(object, "flow"),
        .kind = member_text(object, "kind"),
        .role = result_role(member_text(object, "role")),
        .error = member_text(object, "error"),
        .quotes = member_text(object, "quotes"),
        .negotiated = member_text(object, "negotiated"),
        .broke = member_text(object, "broke"),
        .broke_role = result_role(member_text(object, "broke_role")),
        .why = member_text(object, "why"),
        .frame = member_count(object, "frame"),
        .quotes_first = member_count(object, "quotes_first_frame"),
        .quotes_last = member_count(object, "quotes_last_frame"),
        .broke_frame = member_count(object, "broke_frame"),
    };
    return line->file != NULL && line->kind != NULL && line->why != NULL ? 0 : -1;
}
