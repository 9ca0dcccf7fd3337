/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/requirements/no_defect.h"

#include <string.h>

#include "tools/embedded.h"

/* What stands before the next tab, or the end. */
static const char *cell_copy(const char *p, const char *end, char *cell, size_t room)
{
    const char *tab = memchr(p, '\t', (size_t)(end - p));
    size_t octets = (size_t)((tab != NULL ? tab : end) - p);
    size_t copied = octets < room ? octets : room - 1;

    memcpy(cell, p, copied);
    cell[copied] = '\0';
    return tab != NULL ? tab + 1 : end;
}

/* `# mpa`, one word: a section. Other comments are prose. */
static void comment_take(const char *p, const char *end, struct no_defect *row)
{
    if (end - p < 3 || p[1] != ' ' || memchr(p + 2, ' ', (size_t)(end - p - 2)) != NULL)
        return;
    cell_copy(p + 2, end, row->section, sizeof(row->section));
}

bool no_defect_next(const char **at, const char *end, struct no_defect *row)
{
    while (*at < end) {
        const char *p = *at, *newline = memchr(p, '\n', (size_t)(end - p));
        const char *line_end = newline != NULL ? newline : end;

        *at = newline != NULL ? newline + 1 : end;
        row->line++;
        if (p == line_end)
            continue;
        if (*p == '#') {
            comment_take(p, line_end, row);
            continue;
        }
        p = cell_copy(p, line_end, row->id, sizeof(row->id));
        cell_copy(p, line_end, row->reason, sizeof(row->reason));
        return true;
    }
    return false;
}

bool no_defect_find(const char *id, struct no_defect *row)
{
    for (size_t i = 0; i < embedded_no_defect_count; i++) {
        const char *at = (const char *)embedded_no_defects[i].octets, *end = at + embedded_no_defects[i].size;

        *row = (struct no_defect){0};
        while (no_defect_next(&at, end, row))
            if (strcmp(row->id, id) == 0)
                return true;
    }
    return false;
}
