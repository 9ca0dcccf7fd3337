/* SPDX-License-Identifier: BSD-2-Clause */
/* base/plain_text.h in memory of its own: text from anywhere made safe to show. */
#ifndef REPORTS_TEXT_H
#define REPORTS_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* plain_text() into a malloc'd string, NULL without memory. */
char *text_clean(const char *in);

/* The same without line breaks: newline, carriage return and tab become one space each. For one-line places. */
char *text_clean_line(const char *in);

/* True when text_clean() would return `in` unchanged. */
bool text_is_clean(const char *in);

#endif
