/* SPDX-License-Identifier: BSD-2-Clause */
/* The command as it was typed, for those who read results later. */
#ifndef CONFORMANCE_ENGINE_COMMAND_LINE_H
#define CONFORMANCE_ENGINE_COMMAND_LINE_H

enum { COMMAND_LINE_OCTETS = 4096 };

/*
 * "warpcheck run --dut my-rnic.json 'MPA-7.*'": the words of a command, `words[0]` its name, each quoted where a
 * shell would take it for more than a word. A line that does not fit ends with " ..." after a whole word. Returns
 * `text`.
 */
const char *command_line_text(int count, char *const *words, char text[COMMAND_LINE_OCTETS]);

#endif
