/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/course/course_exercise.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tools/embedded.h"
#include "base/cells.h"

#define TABLE_PATH "conformance/engine/course/exercises.tsv"

enum {
    COLUMN_NUMBER,
    COLUMN_LESSON,
    COLUMN_KIND,
    COLUMN_ASKS,
    COLUMN_SITUATION,
    COLUMN_SIDE,
    COLUMN_DEFECT,
    COLUMN_TITLE,
    COLUMN_TASK,
    COLUMN_HINT,
    COLUMNS
};

static const char *const kind_names[COURSE_KINDS] = {"capture", "peer", "run", "check"};

static const struct {
    const char *name, *text;
    unsigned asks;
} askings[] = {
    {"requirement", "REQUIREMENT", COURSE_ASKS_REQUIREMENT},
    {"frame", "FRAME", COURSE_ASKS_FRAME},
    {"frame-role", "FRAME ROLE", COURSE_ASKS_FRAME | COURSE_ASKS_ROLE},
    {"requirement-frame", "REQUIREMENT FRAME", COURSE_ASKS_REQUIREMENT | COURSE_ASKS_FRAME},
    {"requirement-role", "REQUIREMENT ROLE", COURSE_ASKS_REQUIREMENT | COURSE_ASKS_ROLE},
    {"script", "CHECK.lua", COURSE_ASKS_SCRIPT},
};

enum { ASKINGS = sizeof(askings) / sizeof(askings[0]) };

const char *course_kind_name(enum course_kind kind)
{
    return kind_names[kind];
}

const char *course_asks_text(const struct course_exercise *exercise)
{
    for (size_t i = 0; i < ASKINGS; i++)
        if (askings[i].asks == exercise->asks)
            return askings[i].text;
    return "";
}

/* A decimal number from 1 to `most`; 0: it is none. */
static unsigned number_of(const char *text, unsigned most)
{
    unsigned number = 0;

    if (text[0] < '1' || text[0] > '9')
        return 0;
    for (; *text >= '0' && *text <= '9' && number <= most; text++)
        number = number * 10 + (unsigned)(*text - '0');
    return *text == '\0' && number <= most ? number : 0;
}

static int kind_set(struct course_exercise *exercise, const char *name)
{
    for (int kind = 0; kind < COURSE_KINDS; kind++)
        if (strcmp(kind_names[kind], name) == 0) {
            exercise->kind = (enum course_kind)kind;
            return 0;
        }
    return -1;
}

static int asks_set(struct course_exercise *exercise, const char *name)
{
    for (size_t i = 0; i < ASKINGS; i++)
        if (strcmp(askings[i].name, name) == 0) {
            exercise->asks = askings[i].asks;
            return 0;
        }
    return -1;
}

/* What no situation shows is asked of a run, and what no run shows of a script. */
static bool fits(const struct course_exercise *exercise)
{
    bool seen = exercise->kind == COURSE_CAPTURE || exercise->kind == COURSE_PEER;

    if (seen != (exercise->situation[0] != '\0'))
        return false;
    if ((exercise->kind == COURSE_CHECK) != (exercise->asks == COURSE_ASKS_SCRIPT))
        return false;
    return exercise->kind == COURSE_CAPTURE || (exercise->asks & COURSE_ASKS_FRAME) == 0;
}

static int row_read(struct course_table *table, char *cells[COLUMNS], struct iwarp_sentence *error)
{
    struct course_exercise *exercise = &table->exercises[table->count];
    unsigned before = table->count > 0 ? exercise[-1].lesson : 1;

    exercise->number = number_of(cells[COLUMN_NUMBER], COURSE_EXERCISES_MAX);
    exercise->lesson = number_of(cells[COLUMN_LESSON], COURSE_LESSONS);
    if (exercise->number != table->count + 1)
        return iwarp_sentence_set(error, "number \"%.20s\": %zu was expected", cells[COLUMN_NUMBER], table->count + 1);
    if (exercise->lesson < before)
        return iwarp_sentence_set(error, "lesson \"%.20s\": %u to %d was expected", cells[COLUMN_LESSON], before,
                                  COURSE_LESSONS);
    if (kind_set(exercise, cells[COLUMN_KIND]) != 0)
        return iwarp_sentence_set(error, "kind \"%.20s\" is unknown", cells[COLUMN_KIND]);
    if (asks_set(exercise, cells[COLUMN_ASKS]) != 0)
        return iwarp_sentence_set(error, "asks \"%.20s\" is unknown", cells[COLUMN_ASKS]);
    if (strcmp(cells[COLUMN_SIDE], "initiator") != 0 && strcmp(cells[COLUMN_SIDE], "responder") != 0)
        return iwarp_sentence_set(error, "side \"%.20s\": initiator or responder was expected", cells[COLUMN_SIDE]);
    for (int column = COLUMN_DEFECT; column < COLUMNS; column++)
        if (cells[column][0] == '\0')
            return iwarp_sentence_set(error, "column %d is empty", column + 1);
    exercise->situation = cells[COLUMN_SITUATION];
    exercise->side = cells[COLUMN_SIDE];
    exercise->defect = cells[COLUMN_DEFECT];
    exercise->title = cells[COLUMN_TITLE];
    exercise->task = cells[COLUMN_TASK];
    exercise->hint = cells[COLUMN_HINT];
    if (!fits(exercise))
        return iwarp_sentence_set(error,
                                  "kind \"%s\" does not fit what is asked, or has a situation too much or too few",
                                  cells[COLUMN_KIND]);
    table->count++;
    return 0;
}

static int line_read(struct course_table *table, char *line, size_t number, struct iwarp_sentence *error)
{
    char *cells[COLUMNS];
    struct iwarp_sentence why;

    if (line[0] == '\0' || line[0] == '#')
        return 0;
    if (table->count == COURSE_EXERCISES_MAX)
        return iwarp_sentence_set(error, "line %zu: there are at most %d exercises", number, COURSE_EXERCISES_MAX);
    if (cells_cut(line, cells, COLUMNS) != COLUMNS)
        return iwarp_sentence_set(error, "line %zu: %d columns were expected", number, COLUMNS);
    if (row_read(table, cells, &why) != 0)
        return iwarp_sentence_set(error, "line %zu: %s", number, why.text);
    return 0;
}

int course_table_parse(struct course_table *table, const char *text, size_t octets, struct iwarp_sentence *error)
{
    size_t number = 1;

    *table = (struct course_table){.text = malloc(octets + 1)};
    if (table->text == NULL)
        return iwarp_sentence_set(error, "out of memory");
    memcpy(table->text, text, octets);
    table->text[octets] = '\0';
    if (strlen(table->text) != octets)
        return iwarp_sentence_set(error, "the table holds an octet 0");
    for (char *line = table->text, *end; line != NULL; line = end, number++) {
        end = strchr(line, '\n');
        if (end != NULL)
            *end++ = '\0';
        if (line_read(table, line, number, error) != 0)
            return -1;
    }
    return table->count > 0 ? 0 : iwarp_sentence_set(error, "the table has no exercise");
}

int course_table_load(struct course_table *table, struct iwarp_sentence *error)
{
    const struct embedded_file *file = embedded_find(embedded_course_files, embedded_course_file_count, TABLE_PATH);
    struct iwarp_sentence why;

    *table = (struct course_table){0};
    if (file == NULL)
        return iwarp_sentence_set(error, "%s is not part of the program", TABLE_PATH);
    if (course_table_parse(table, (const char *)file->octets, file->size, &why) != 0)
        return iwarp_sentence_set(error, "%s: %s", TABLE_PATH, why.text);
    return 0;
}

void course_table_free(struct course_table *table)
{
    free(table->text);
    *table = (struct course_table){0};
}

const struct course_exercise *course_exercise_named(const struct course_table *table, const char *word,
                                                    struct iwarp_sentence *error)
{
    unsigned number = number_of(word, COURSE_EXERCISES_MAX);

    if (number == 0 || number > table->count) {
        (void)iwarp_sentence_set(error, "there is no exercise \"%.40s\": 1 to %zu was expected", word, table->count);
        return NULL;
    }
    return &table->exercises[number - 1];
}
