/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/defects/defect.h"

#include <stdlib.h>
#include <string.h>

#include "reference-stack/defects/defect_compile.h"
#include "tools/embedded.h"
#include "wire/nearest.h"

struct defect_list {
    char *text; /* a copy, cut into fields in place */
    struct defect *rows;
    size_t count;
};

enum { DEFECT_COLUMNS = 6, DEFECT_COLUMNS_LEAST = 5 };

static const char defects_path[] = "reference-stack/defects.tsv", cm_path[] = "reference-stack/defects-cm.tsv";

/* Cuts one line at its tabs. Returns the number of fields, at most DEFECT_COLUMNS + 1. */
static size_t split(char *line, char **fields)
{
    size_t count = 0;

    for (char *at = line; at != NULL && count <= DEFECT_COLUMNS; count++) {
        char *tab = strchr(at, '\t');

        if (count < DEFECT_COLUMNS)
            fields[count] = at;
        if (tab != NULL)
            *tab++ = '\0';
        at = tab;
    }
    return count;
}

static int add_row(struct defect_list *list, char **fields, size_t line, struct sentence *sentence)
{
    struct defect row = {fields[0], fields[1], fields[2], fields[3], fields[4], fields[5], line};
    struct defect *rows;
    struct defect_set *scratch;
    struct sentence inner;
    int result;

    if (row.id[0] == '\0' || row.requirement[0] == '\0')
        return sentence_set(sentence, "defects: line %zu: id and requirement were expected", line);
    scratch = calloc(1, sizeof(*scratch));
    if (scratch == NULL)
        return sentence_set(sentence, "defects: out of memory");
    result = defect_compile(&row, scratch, &inner);
    free(scratch);
    if (result != 0)
        return sentence_set(sentence, "defects: line %zu: %.400s", line, inner.text);
    rows = realloc(list->rows, (list->count + 1) * sizeof(*rows));
    if (rows == NULL)
        return sentence_set(sentence, "defects: out of memory");
    list->rows = rows;
    list->rows[list->count++] = row;
    return 0;
}

static int parse_line(struct defect_list *list, char *line, size_t number, struct sentence *sentence)
{
    static char nothing[] = "";
    char *fields[DEFECT_COLUMNS] = {nothing, nothing, nothing, nothing, nothing, nothing};
    size_t count;

    if (line[0] == '\0' || line[0] == '#')
        return 0;
    count = split(line, fields);
    if (count < DEFECT_COLUMNS_LEAST || count > DEFECT_COLUMNS)
        return sentence_set(sentence, "defects: line %zu: %zu fields, %d or %d were expected, separated by tabs",
                            number, count, DEFECT_COLUMNS_LEAST, DEFECT_COLUMNS);
    if (strcmp(fields[0], "id") == 0 && list->count == 0)
        return 0;
    return add_row(list, fields, number, sentence);
}

static int compare_ids(const void *a, const void *b)
{
    const struct defect *const *x = a, *const *y = b;
    int order = strcmp((*x)->id, (*y)->id);

    return order != 0 ? order : ((*x)->line > (*y)->line) - ((*x)->line < (*y)->line);
}

static int check_ids_differ(const struct defect_list *list, struct sentence *sentence)
{
    const struct defect **sorted = calloc(list->count + 1, sizeof(*sorted));
    int status = 0;

    if (sorted == NULL)
        return sentence_set(sentence, "defects: out of memory");
    for (size_t i = 0; i < list->count; i++)
        sorted[i] = &list->rows[i];
    if (list->count > 0)
        qsort(sorted, list->count, sizeof(*sorted), compare_ids);
    for (size_t i = 1; i < list->count && status == 0; i++)
        if (strcmp(sorted[i - 1]->id, sorted[i]->id) == 0)
            status =
                sentence_set(sentence, "defects: line %zu: the id '%s' is used twice", sorted[i]->line, sorted[i]->id);
    free(sorted);
    return status;
}

static int parse_lines(struct defect_list *list, struct sentence *sentence)
{
    size_t number = 1;

    for (char *line = list->text; line != NULL; number++) {
        char *end = strchr(line, '\n');

        if (end != NULL)
            *end++ = '\0';
        if (parse_line(list, line, number, sentence) != 0)
            return -1;
        line = end;
    }
    return check_ids_differ(list, sentence);
}

struct defect_list *defect_list_parse(const char *text, size_t octets, struct sentence *sentence)
{
    struct defect_list *list = calloc(1, sizeof(*list));

    if (list != NULL)
        list->text = malloc(octets + 1);
    if (list == NULL || list->text == NULL) {
        (void)sentence_set(sentence, "defects: out of memory");
        defect_list_free(list);
        return NULL;
    }
    memcpy(list->text, text, octets);
    list->text[octets] = '\0';
    if (parse_lines(list, sentence) != 0) {
        defect_list_free(list);
        return NULL;
    }
    return list;
}

static struct defect_list *list_of_file(const char *path, struct sentence *sentence)
{
    const struct embedded_file *file = embedded_find(embedded_defects, embedded_defect_count, path);

    if (file == NULL) {
        (void)sentence_set(sentence, "defects: %s is not part of this build", path);
        return NULL;
    }
    return defect_list_parse((const char *)file->octets, file->size, sentence);
}

struct defect_list *defect_list_embedded(struct sentence *sentence)
{
    return list_of_file(defects_path, sentence);
}

struct defect_list *defect_list_embedded_cm(struct sentence *sentence)
{
    return list_of_file(cm_path, sentence);
}

void defect_list_free(struct defect_list *list)
{
    if (list == NULL)
        return;
    free(list->text);
    free(list->rows);
    free(list);
}

size_t defect_list_count(const struct defect_list *list)
{
    return list->count;
}

const struct defect *defect_list_at(const struct defect_list *list, size_t i)
{
    return i < list->count ? &list->rows[i] : NULL;
}

const struct defect *defect_list_find(const struct defect_list *list, const char *id)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->rows[i].id, id) == 0)
            return &list->rows[i];
    return NULL;
}

bool defect_breaks(const struct defect *defect, const char *requirement)
{
    size_t octets = strlen(requirement);

    for (const char *at = defect->requirement; *at != '\0';) {
        size_t word = strcspn(at, ",");

        if (word == octets && memcmp(at, requirement, octets) == 0)
            return true;
        at += word;
        at += *at == ',';
    }
    return false;
}

bool defect_acts_over_sctp(const struct defect *defect)
{
    const struct validation *entry = validation_find(defect->target, 0);

    if (strcmp(defect->hook, "validate") == 0)
        return entry != NULL && entry->stage >= VALIDATE_ASSOCIATION;
    return strncmp(defect->target, "sctp-", 5) == 0 || strncmp(defect->target, "ddp_sctp_", 9) == 0;
}

static const char *defect_id_at(const void *list, size_t index)
{
    return ((const struct defect_list *)list)->rows[index].id;
}

struct defect_set *defect_set_new(const struct defect_list *list, const char *const *ids, size_t count,
                                  struct sentence *sentence)
{
    struct defect_set *set = calloc(1, sizeof(*set));
    char hint[NEAREST_HINT_OCTETS];

    if (set == NULL) {
        (void)sentence_set(sentence, "defects: out of memory");
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        const struct defect *defect = defect_list_find(list, ids[i]);

        if (defect == NULL) {
            (void)sentence_set(sentence, "defects: there is no defect '%s'%s", ids[i],
                               nearest_hint(nearest_name(ids[i], defect_id_at, list, list->count), hint));
            free(set);
            return NULL;
        }
        if (defect_compile(defect, set, sentence) != 0) {
            free(set);
            return NULL;
        }
    }
    return set;
}

void defect_set_free(struct defect_set *set)
{
    free(set);
}
