/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/option/command_line.h"

#include <stddef.h>
#include <string.h>

#include "reference-stack/program/shell_word.h"

#define PROGRAM "warpcheck"
#define CUT     " ..."

const char *command_line_text(int count, char *const *words, char text[COMMAND_LINE_OCTETS])
{
    size_t used = strlen(PROGRAM);

    memcpy(text, PROGRAM, sizeof(PROGRAM));
    for (int i = 0; i < count; i++) {
        size_t whole = used;

        used = shell_append_word(text, COMMAND_LINE_OCTETS - sizeof(CUT), used, words[i]);
        if (used == whole) {
            memcpy(text + used, CUT, sizeof(CUT));
            break;
        }
    }
    return text;
}
