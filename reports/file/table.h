/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A table of tab-separated values: the first line that is no comment ("#") names the columns, each other line is a row
 * with as many cells. Cells are UTF-8 without control characters.
 */
#ifndef REPORTS_TABLE_H
#define REPORTS_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/sentence.h"

enum { TABLE_COLUMNS_MAX = 16, TABLE_OCTETS_MAX = 1 << 22 };

struct table {
    size_t rows;
    /* private */
    char *text;
    const char **cells; /* row by row, in the order of the columns that were asked for */
    size_t columns, room;
};

/* A column that the reader wants. */
struct table_column {
    const char *name;
    bool optional; /* its cells are "" where the table lacks it */
};

/*
 * Reads the file; columns that nobody asks for are passed over. 0, or -1 with a sentence that names file and line;
 * table_free() in either case.
 */
int table_read(struct table *table, const char *path, const struct table_column *columns, size_t count,
               struct iwarp_sentence *error);
void table_free(struct table *table);

/* A cell, by the place of its column among those that were asked for. */
const char *table_cell(const struct table *table, size_t row, size_t column);

#endif
