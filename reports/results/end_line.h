/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why a flow of a capture ended, as a line of results.jsonl: type "end", one for each Terminate, reset and reject.
 * Strings are borrowed, as in struct result.
 */
#ifndef REPORTS_END_LINE_H
#define REPORTS_END_LINE_H

#include <jansson.h>
#include <stdint.h>

struct end_line {
    const char *file;       /* the capture, as it was named to the audit */
    const char *flow;       /* its name, the sender of the end first */
    const char *kind;       /* "terminate", "reset", "reject" */
    const char *role;       /* who ended it: "initiator", "responder"; NULL: not known */
    const char *error;      /* of a Terminate, as people read it; NULL: none */
    const char *quotes;     /* the quoted message: "Send"; NULL: nothing that was sent */
    const char *negotiated; /* in words */
    const char *broke;      /* id of the rule that was broken first; NULL: none was */
    const char *broke_role; /* who broke it; NULL as above */
    const char *why;        /* all of it as one sentence */
    uint64_t frame;
    uint64_t quotes_first, quotes_last; /* frames of the message; 0: none, or of another file of a ring */
    uint64_t broke_frame;
};

/* A new reference, NULL without memory; and back: -1 where it is none. */
json_t *end_line_to_json(const struct end_line *line);
int end_line_from_json(const json_t *object, struct end_line *line);

#endif
