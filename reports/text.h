/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text from anywhere (a peer's private data, a file name, a script's message) made safe to show: valid UTF-8, nothing
 * that XML 1.0 forbids, nothing that moves a terminal's cursor or reverses the reading direction.
 */
#ifndef REPORTS_TEXT_H
#define REPORTS_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Cleans `in` (NUL-terminated; NULL gives an empty string) into a malloc'd string, NULL without memory. Octets that are
 * not UTF-8 become U+FFFD, control characters their visible picture (ESC becomes U+241B), except newline and tab;
 * bidirectional overrides, C1 controls and non-characters become U+FFFD.
 */
char *text_clean(const char *in);

/* The same without line breaks: newline, carriage return and tab become one space each. For one-line places. */
char *text_clean_line(const char *in);

/* True when text_clean() would return `in` unchanged. */
bool text_is_clean(const char *in);

#endif
