/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/cells.h"

#include <string.h>

size_t cells_cut(char *line, char *cells[], size_t most)
{
    size_t count = 0;

    for (char *at = line; at != NULL; count++) {
        char *tab = strchr(at, '\t');

        if (count < most)
            cells[count] = at;
        if (tab != NULL)
            *tab++ = '\0';
        at = tab;
    }
    return count;
}

size_t cells_next(const char **at, const char *end, struct cell cells[], size_t most)
{
    const char *newline, *line_end, *tab;
    size_t count = 0;

    memset(cells, 0, most * sizeof(*cells));
    if (*at >= end)
        return 0;
    newline = memchr(*at, '\n', (size_t)(end - *at));
    line_end = newline != NULL ? newline : end;
    for (const char *from = *at; from != NULL; from = tab != NULL ? tab + 1 : NULL) {
        tab = memchr(from, '\t', (size_t)(line_end - from));
        if (count < most)
            cells[count] = (struct cell){from, (size_t)((tab != NULL ? tab : line_end) - from)};
        count++;
    }
    *at = newline != NULL ? newline + 1 : end;
    return count;
}
