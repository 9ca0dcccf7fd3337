/* SPDX-License-Identifier: BSD-2-Clause */
/* The time of day as results.jsonl has it. */
#ifndef CONFORMANCE_ENGINE_UTC_TEXT_H
#define CONFORMANCE_ENGINE_UTC_TEXT_H

#include <time.h>

enum { UTC_TEXT_OCTETS = 24 };

/* "2026-11-20T10:47:28Z". Returns `text`, which has room for UTC_TEXT_OCTETS. */
static inline const char *utc_text_of(time_t when, char *text)
{
    struct tm utc;

    if (gmtime_r(&when, &utc) == NULL || strftime(text, UTC_TEXT_OCTETS, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        *text = '\0'; /* a year that is none */
    return text;
}

/* The same of now. */
static inline const char *utc_text(char *text)
{
    return utc_text_of(time(NULL), text);
}

#endif
