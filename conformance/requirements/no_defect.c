/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/requirements/no_defect.h"

#include <string.h>

#include "base/cells.h"

static void cell_copy(const struct cell *cell, char *text, size_t room)
{
    size_t copied = cell->octets < room ? cell->octets : room - 1;

    if (copied > 0)
        memcpy(text, cell->text, copied);
    text[copied] = '\0';
}

/* `# mpa`, one word: a section. Other comments are prose. */
static void comment_parse(const struct cell *comment, struct no_defect *row)
{
    const struct cell word = {comment->text + 2, comment->octets > 2 ? comment->octets - 2 : 0};

    if (word.octets > 0 && comment->text[1] == ' ' && memchr(word.text, ' ', word.octets) == NULL)
        cell_copy(&word, row->section, sizeof(row->section));
}

bool no_defect_next(const char **at, const char *end, struct no_defect *row)
{
    struct cell cells[2];

    while (cells_next(at, end, cells, 2) != 0) {
        row->line++;
        if (cells[0].octets == 0)
            continue;
        if (cells[0].text[0] == '#') {
            comment_parse(&cells[0], row);
            continue;
        }
        cell_copy(&cells[0], row->id, sizeof(row->id));
        cell_copy(&cells[1], row->reason, sizeof(row->reason));
        return true;
    }
    return false;
}

bool no_defect_find_in(const struct embedded_file *file, const char *id, struct no_defect *row)
{
    const char *at = file != NULL ? (const char *)file->octets : "", *end = at + (file != NULL ? file->size : 0);

    *row = (struct no_defect){0};
    while (no_defect_next(&at, end, row))
        if (strcmp(row->id, id) == 0)
            return true;
    return false;
}

bool no_defect_find(const char *id, struct no_defect *row)
{
    for (size_t i = 0; i < embedded_no_defect_count; i++)
        if (no_defect_find_in(&embedded_no_defects[i], id, row))
            return true;
    return false;
}
