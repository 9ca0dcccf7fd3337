/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text from anywhere (a peer's private data, a file name, a script's message) made safe to show: valid UTF-8, nothing
 * that XML 1.0 forbids, nothing that moves a terminal's cursor or reverses the reading direction.
 */
#ifndef BASE_PLAIN_TEXT_H
#define BASE_PLAIN_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Cleans `in` (NUL-terminated; NULL is an empty text) into `out`. Octets that are not UTF-8 become U+FFFD, control
 * characters their visible picture (ESC becomes U+241B), except newline and tab; bidirectional overrides, C1 controls
 * and non-characters become U+FFFD. With `one_line`, newline, carriage return and tab become one space each. Text that
 * does not fit is cut at a whole character. Returns the octets written, without the NUL that ends them.
 */
size_t plain_text(const char *in, bool one_line, char *out, size_t room);

/* The room that plain_text() needs at most for a text of this many octets, with the terminating NUL. */
#define PLAIN_TEXT_ROOM(octets) (3 * (octets) + 1)

/* True when plain_text() would leave `in` as it is. */
bool plain_text_is(const char *in);

#ifdef __cplusplus
}
#endif

#endif
