/* SPDX-License-Identifier: BSD-2-Clause */
/* The time of day as results.jsonl has it. */
#ifndef CONFORMANCE_ENGINE_UTC_TEXT_H
#define CONFORMANCE_ENGINE_UTC_TEXT_H

#include <time.h>

enum { UTC_TEXT_OCTETS = 24 };

/* Now: "2026-11-20T10:47:28Z". Returns `text`, which has room for UTC_TEXT_OCTETS. */
static inline const char *utc_text(char *text)
{
    time_t now = time(NULL);
    struct tm utc;

    (void)gmtime_r(&now, &utc);
    (void)strftime(text, UTC_TEXT_OCTETS, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return text;
}

#endif
