/* SPDX-License-Identifier: BSD-2-Clause */
/* A line of notation while it is written, and what its parts for MPA, SCTP and CM share. */
#ifndef FLOW_NOTATION_LINE_H
#define FLOW_NOTATION_LINE_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "conformance/flow/notation/notation.h"

struct line {
    char *text;
    size_t room;
    size_t used;
};

__attribute__((format(printf, 2, 3))) static inline void add(struct line *line, const char *format, ...)
{
    va_list arguments;
    int count;

    if (line->used + 1 >= line->room)
        return;
    va_start(arguments, format);
    count = vsnprintf(line->text + line->used, line->room - line->used, format, arguments);
    va_end(arguments);
    if (count > 0)
        line->used += (size_t)count;
}

/* Words that stand as they are. */
static inline void add_words(struct line *line, const char *words)
{
    size_t count = strlen(words);

    if (line->used + count >= line->room) {
        add(line, "%s", words);
        return;
    }
    memcpy(line->text + line->used, words, count + 1);
    line->used += count;
}

/* " ird 4", " ird not-negotiated" */
void notation_depth(struct line *line, const char *name, uint16_t depth);
/* " p2p rtr=send,read", "" */
void notation_rtr(struct line *line, bool peer_to_peer, bool by_send, bool by_write, bool by_read);

/*
 * ": NVMe host, queue 1, hrqsize 128 hsqsize 127", or nothing (wire/private_data.h). `octets`: the ULP's own; NULL: not
 * there.
 */
void notation_private(struct line *line, const uint8_t *octets, size_t count, bool answers, bool has_word);

/* notation_sctp.c: FLOW_SCTP, FLOW_SESSION, FLOW_CM, and FLOW_GAP of a DDP stream. */
const char *notation_other(const struct flow_event *event, char *text, size_t room);
/* A DATA chunk is not reported if its user message will be. */

#endif
