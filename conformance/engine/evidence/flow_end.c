/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/evidence/flow_end.h"

#include <string.h>

/* The frame's number in `file`; 0: it is in another file of the ring. */
static uint64_t frame_in(const struct capture_series *series, const char *file, uint64_t frame)
{
    uint64_t number;

    return strcmp(capture_series_where(series, frame, &number), file) == 0 ? number : 0;
}

void flow_end_make(struct flow_end *end, const struct capture_series *series, const struct flow *flow,
                   const struct end_cause *cause)
{
    const struct end_broken *broken = &cause->broken;
    const struct rule *rule = end_broken_rule(broken);
    struct end_line *line = &end->line;

    *line = (struct end_line){
        .flow = flow_name(flow, cause->direction, end->name, sizeof(end->name)),
        .kind = end_kind_name(cause->kind),
        .role = flow_role(flow, cause->direction),
        .error = cause->readable ? iwarp_terminate_describe(cause->error, end->error, sizeof(end->error)) : NULL,
        .quotes = cause->quote == END_QUOTES_SENT ? cause->quoted.message : NULL,
        .negotiated = end_negotiated_text(flow, end->negotiated, sizeof(end->negotiated)),
        .broke = rule != NULL ? rule->id : NULL,
        .broke_role = rule != NULL ? flow_role(flow, broken->direction) : NULL,
    };
    line->file = capture_series_where(series, cause->frame, &line->frame);
    if (cause->quote == END_QUOTES_SENT || cause->quote == END_QUOTES_START) {
        line->quotes_first = frame_in(series, line->file, cause->quoted.first_frame);
        line->quotes_last = frame_in(series, line->file, cause->quoted.frame);
    }
    if (rule != NULL)
        line->broke_frame = frame_in(series, line->file, broken->frame);
    line->why = capture_series_reword(series, end_cause_text(flow, cause, end->why, sizeof(end->why)), line->file,
                                      &end->reworded);
}
