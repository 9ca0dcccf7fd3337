/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/file/table.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "reports/file/whole_file.h"
#include "base/cells.h"

struct reader {
    struct table *table;
    const char *path;
    size_t line;
    size_t cells; /* of each line; 0 before the head */
    size_t target
        [TABLE_COLUMNS_MAX]; /* of each cell: the column asked for; if it was not asked for, the number of columns */
    const struct table_column *columns; /* asked for */
};

static size_t column_of(const struct reader *reader, const char *name)
{
    size_t at = 0;

    while (at < reader->table->columns && strcmp(reader->columns[at].name, name) != 0)
        at++;
    return at;
}

static int head_read(struct reader *reader, char *const cells[], size_t count, struct iwarp_sentence *error)
{
    bool found[TABLE_COLUMNS_MAX] = {false};

    if (count > TABLE_COLUMNS_MAX)
        return iwarp_sentence_set(error, "%.200s:%zu: more than %d columns", reader->path, reader->line,
                                  TABLE_COLUMNS_MAX);
    for (size_t i = 0; i < count; i++) {
        size_t column = column_of(reader, cells[i]);

        reader->target[i] = column;
        if (column == reader->table->columns)
            continue;
        if (found[column])
            return iwarp_sentence_set(error, "%.200s:%zu: the column \"%.40s\" stands there twice", reader->path,
                                      reader->line, cells[i]);
        found[column] = true;
    }
    for (size_t i = 0; i < reader->table->columns; i++)
        if (!found[i] && !reader->columns[i].optional)
            return iwarp_sentence_set(error, "%.200s:%zu: no column \"%s\", a line that names the columns was expected",
                                      reader->path, reader->line, reader->columns[i].name);
    reader->cells = count;
    return 0;
}

static int row_read(struct reader *reader, char *const cells[], size_t count, struct iwarp_sentence *error)
{
    struct table *table = reader->table;

    if (count != reader->cells)
        return iwarp_sentence_set(error, "%.200s:%zu: %zu cells, %zu were expected", reader->path, reader->line, count,
                                  reader->cells);
    if (table->rows == table->room) {
        size_t room = table->room == 0 ? 32 : 2 * table->room;
        const char **grown = realloc(table->cells, room * table->columns * sizeof(*grown));

        if (grown == NULL)
            return iwarp_sentence_set(error, "out of memory");
        table->cells = grown;
        table->room = room;
    }
    for (size_t i = 0; i < table->columns; i++)
        table->cells[table->rows * table->columns + i] = "";
    for (size_t i = 0; i < count; i++)
        if (reader->target[i] < table->columns)
            table->cells[table->rows * table->columns + reader->target[i]] = cells[i];
    table->rows++;
    return 0;
}

static int line_read(struct reader *reader, char *line, struct iwarp_sentence *error)
{
    char *cells[TABLE_COLUMNS_MAX];
    size_t count;

    if (line[0] == '#' || line[0] == '\0')
        return 0;
    for (const char *at = line; *at != '\0'; at++)
        if (((unsigned char)*at < ' ' && *at != '\t') || *at == 0x7F)
            return iwarp_sentence_set(error, "%.200s:%zu: a control character (0x%02x)", reader->path, reader->line,
                                      (unsigned char)*at);
    count = cells_cut(line, cells, TABLE_COLUMNS_MAX);
    return reader->cells == 0 ? head_read(reader, cells, count, error) : row_read(reader, cells, count, error);
}

static int lines_read(struct reader *reader, size_t octets, struct iwarp_sentence *error)
{
    char *line = reader->table->text, *const end = line + octets;

    if (strlen(line) != octets)
        return iwarp_sentence_set(error, "%.200s: a zero octet", reader->path);
    while (line < end) {
        char *next = strchr(line, '\n');

        reader->line++;
        if (next != NULL)
            *next = '\0';
        if (line_read(reader, line, error) != 0)
            return -1;
        line = next != NULL ? next + 1 : end;
    }
    return reader->cells != 0 ? 0 : iwarp_sentence_set(error, "%.200s: no line that names the columns", reader->path);
}

int table_read(struct table *table, const char *path, const struct table_column *columns, size_t count,
               struct iwarp_sentence *error)
{
    struct reader reader = {.table = table, .path = path, .columns = columns};
    uint8_t *octets = NULL;
    size_t size = 0;

    *table = (struct table){.columns = count};
    if (whole_file_read(path, TABLE_OCTETS_MAX, &octets, &size, error) != 0)
        return -1;
    if (octets == NULL)
        return iwarp_sentence_set(error, "%.200s: no such file, or it has more than %d octets", path, TABLE_OCTETS_MAX);
    table->text = (char *)octets;
    return lines_read(&reader, size, error);
}

void table_free(struct table *table)
{
    free(table->text);
    free(table->cells);
    *table = (struct table){0};
}

const char *table_cell(const struct table *table, size_t row, size_t column)
{
    return table->cells[row * table->columns + column];
}
