/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/defects/defect.h"

#include <stdlib.h>
#include <string.h>

#include "reference-stack/defects/choice.h"
#include "reference-stack/defects/defect_compile.h"
#include "tools/embedded.h"
#include "base/cells.h"
#include "base/nearest.h"

/* What distinguishes the tables. */
struct table {
    const char *rows, *row; /* what the rows, and one, are called */
    const char *path;
    bool warns; /* it has the column of that name */
};

static const struct table defects_table = {"defects", "defect", "reference-stack/defects/defects.tsv", false};
static const struct table cm_table = {"defects", "defect", "reference-stack/defects/defects-cm.tsv", false};
static const struct table variants_table = {"variants", "variant", "reference-stack/defects/variants.tsv", true};

struct defect_list {
    const struct table *table;
    char *text; /* a copy, cut into fields in place */
    struct defect *rows;
    size_t count;
};

enum { COLUMNS_MAX = 7 };

/* The last one, `value`, may be left out. */
static size_t columns_of(const struct table *table)
{
    return table->warns ? COLUMNS_MAX : COLUMNS_MAX - 1;
}

static int add_row(struct defect_list *list, char **fields, size_t line, struct iwarp_sentence *sentence)
{
    char **rest = fields + (list->table->warns ? 3 : 2);
    struct defect row = {.id = fields[0],
                         .requirement = fields[1],
                         .warns = !list->table->warns           ? NULL
                                  : strcmp(fields[2], "-") != 0 ? fields[2]
                                                                : "",
                         .hook = rest[0],
                         .target = rest[1],
                         .operation = rest[2],
                         .value = rest[3],
                         .line = line};
    struct defect *rows;
    struct defect_set *scratch;
    struct iwarp_sentence inner;
    int result;

    if (row.id[0] == '\0' || row.requirement[0] == '\0')
        return iwarp_sentence_set(sentence, "%s: line %zu: id and requirement were expected", list->table->rows, line);
    scratch = calloc(1, sizeof(*scratch));
    if (scratch == NULL)
        return iwarp_sentence_set(sentence, "%s: out of memory", list->table->rows);
    result = defect_compile(&row, scratch, &inner);
    free(scratch);
    if (result != 0)
        return iwarp_sentence_set(sentence, "%s: line %zu: %.400s", list->table->rows, line, inner.text);
    rows = realloc(list->rows, (list->count + 1) * sizeof(*rows));
    if (rows == NULL)
        return iwarp_sentence_set(sentence, "%s: out of memory", list->table->rows);
    list->rows = rows;
    list->rows[list->count++] = row;
    return 0;
}

static int parse_line(struct defect_list *list, char *line, size_t number, struct iwarp_sentence *sentence)
{
    static char nothing[] = "";
    char *fields[COLUMNS_MAX] = {nothing, nothing, nothing, nothing, nothing, nothing, nothing};
    size_t columns = columns_of(list->table);
    size_t count;

    if (line[0] == '\0' || line[0] == '#')
        return 0;
    count = cells_cut(line, fields, COLUMNS_MAX);
    if (count + 1 < columns || count > columns)
        return iwarp_sentence_set(sentence, "%s: line %zu: %zu fields, %zu or %zu were expected, separated by tabs",
                                  list->table->rows, number, count, columns - 1, columns);
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

static int check_ids_differ(const struct defect_list *list, struct iwarp_sentence *sentence)
{
    const struct defect **sorted = calloc(list->count + 1, sizeof(*sorted));
    int status = 0;

    if (sorted == NULL)
        return iwarp_sentence_set(sentence, "%s: out of memory", list->table->rows);
    for (size_t i = 0; i < list->count; i++)
        sorted[i] = &list->rows[i];
    if (list->count > 0)
        qsort(sorted, list->count, sizeof(*sorted), compare_ids);
    for (size_t i = 1; i < list->count && status == 0; i++)
        if (strcmp(sorted[i - 1]->id, sorted[i]->id) == 0)
            status = iwarp_sentence_set(sentence, "%s: line %zu: the id '%s' is used twice", list->table->rows,
                                        sorted[i]->line, sorted[i]->id);
    free(sorted);
    return status;
}

static int parse_lines(struct defect_list *list, struct iwarp_sentence *sentence)
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

static struct defect_list *parse(const struct table *table, const char *text, size_t octets,
                                 struct iwarp_sentence *sentence)
{
    struct defect_list *list = calloc(1, sizeof(*list));

    if (list != NULL) {
        list->table = table;
        list->text = malloc(octets + 1);
    }
    if (list == NULL || list->text == NULL) {
        (void)iwarp_sentence_set(sentence, "%s: out of memory", table->rows);
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

struct defect_list *defect_list_parse(const char *text, size_t octets, struct iwarp_sentence *sentence)
{
    return parse(&defects_table, text, octets, sentence);
}

struct defect_list *variant_list_parse(const char *text, size_t octets, struct iwarp_sentence *sentence)
{
    return parse(&variants_table, text, octets, sentence);
}

static struct defect_list *embedded(const struct table *table, struct iwarp_sentence *sentence)
{
    const struct embedded_file *file = embedded_find(embedded_defects, embedded_defect_count, table->path);

    if (file == NULL) {
        (void)iwarp_sentence_set(sentence, "%s: %s is not part of this build", table->rows, table->path);
        return NULL;
    }
    return parse(table, (const char *)file->octets, file->size, sentence);
}

/* The stack's, and after them the CM agent's. */
struct defect_list *defect_list_embedded(struct iwarp_sentence *sentence)
{
    const struct embedded_file *stack = embedded_find(embedded_defects, embedded_defect_count, defects_table.path);
    const struct embedded_file *cm = embedded_find(embedded_defects, embedded_defect_count, cm_table.path);
    struct defect_list *list = NULL;
    char *both;

    if (stack == NULL || cm == NULL) {
        (void)iwarp_sentence_set(sentence, "defects: %s or %s is not part of this build", defects_table.path,
                                 cm_table.path);
        return NULL;
    }
    both = malloc(stack->size + cm->size + 1);
    if (both == NULL) {
        (void)iwarp_sentence_set(sentence, "defects: out of memory");
        return NULL;
    }
    memcpy(both, stack->octets, stack->size);
    both[stack->size] = '\n';
    memcpy(both + stack->size + 1, cm->octets, cm->size);
    list = parse(&defects_table, both, stack->size + 1 + cm->size, sentence);
    free(both);
    return list;
}

struct defect_list *variant_list_embedded(struct iwarp_sentence *sentence)
{
    return embedded(&variants_table, sentence);
}

struct defect_list *defect_list_embedded_cm(struct iwarp_sentence *sentence)
{
    return embedded(&cm_table, sentence);
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

bool defect_is_among(const char *list, const char *word)
{
    size_t octets = strlen(word);

    for (const char *at = list; *at != '\0';) {
        size_t length = strcspn(at, ",");

        if (length == octets && memcmp(at, word, octets) == 0)
            return true;
        at += length;
        at += *at == ',';
    }
    return false;
}

bool defect_breaks(const struct defect *defect, const char *requirement)
{
    return defect_is_among(defect->requirement, requirement);
}

bool variant_warns(const struct defect *variant, const char *requirement)
{
    return defect_is_among(variant->warns, requirement);
}

bool variant_takes_ipv6_alone(const struct defect *variant)
{
    return strcmp(variant->hook, "configure") == 0 && strcmp(variant->target, "cm.families") == 0 &&
           strcmp(variant->value, "2") == 0;
}

bool defect_acts_over_sctp(const struct defect *defect)
{
    const struct validation *entry = validation_find(defect->target, 0);

    if (strcmp(defect->hook, "validate") == 0)
        return entry != NULL && entry->stage >= VALIDATE_ASSOCIATION;
    if (strcmp(defect->hook, "configure") == 0)
        return strncmp(defect->target, "association.", 12) == 0 || strncmp(defect->target, "sctp.", 5) == 0;
    return strncmp(defect->target, "sctp-", 5) == 0 || strncmp(defect->target, "ddp_sctp_", 9) == 0;
}

bool defect_acts_over_cm(const struct defect *defect)
{
    const char *at = strchr(defect->requirement, 'A');

    return at != NULL && strncmp(at, "A11-", 4) == 0 && at - defect->requirement <= 1; /* A11-, CA11-, oA11- */
}

static const char *defect_id_at(const void *list, size_t index)
{
    return ((const struct defect_list *)list)->rows[index].id;
}

const char *defect_nearest_id(const struct defect_list *list, const char *id)
{
    return nearest_name(id, defect_id_at, list, list->count);
}

struct defect_set *defect_set_empty(void)
{
    struct defect_set *set = calloc(1, sizeof(*set));

    if (set != NULL) {
        set->faults.ops = &defect_fault_ops;
        set->cm_faults.ops = &defect_cm_fault_ops;
    }
    return set;
}

int defect_set_add(struct defect_set **set, const struct defect_list *list, const char *const *ids, size_t count,
                   struct iwarp_sentence *sentence)
{
    char hint[NEAREST_HINT_OCTETS];

    if (*set == NULL)
        *set = defect_set_empty();
    if (*set == NULL)
        return iwarp_sentence_set(sentence, "%s: out of memory", list->table->rows);
    for (size_t i = 0; i < count; i++) {
        const struct defect *defect = defect_list_find(list, ids[i]);

        if (defect == NULL)
            return iwarp_sentence_set(sentence, "%s: there is no %s '%s'%s", list->table->rows, list->table->row,
                                      ids[i], nearest_hint(defect_nearest_id(list, ids[i]), hint));
        if (defect_compile(defect, *set, sentence) != 0)
            return -1;
    }
    return 0;
}

struct defect_set *defect_set_new(const struct defect_list *list, const char *const *ids, size_t count,
                                  struct iwarp_sentence *sentence)
{
    struct defect_set *set = NULL;

    if (defect_set_add(&set, list, ids, count, sentence) == 0)
        return set;
    defect_set_free(set);
    return NULL;
}

static int add_named(struct defect_set **set, struct defect_list *list, const char *const *ids, size_t count,
                     struct iwarp_sentence *sentence)
{
    int status = list != NULL ? defect_set_add(set, list, ids, count, sentence) : -1;

    defect_list_free(list);
    return status;
}

int defect_set_named(const struct defect_names *names, struct defect_set **set, struct iwarp_sentence *sentence)
{
    int status = 0;

    *set = NULL;
    if (names->defect_count != 0)
        status = add_named(set, defect_list_embedded(sentence), names->defects, names->defect_count, sentence);
    if (status == 0 && names->variant_count != 0)
        status = add_named(set, variant_list_embedded(sentence), names->variants, names->variant_count, sentence);
    if (status == 0 && names->choices != NULL && *set == NULL && (*set = defect_set_empty()) == NULL)
        status = iwarp_sentence_set(sentence, "choices: out of memory");
    if (status == 0 && names->choices != NULL)
        status = choice_add(*set, names->layer, names->choices, sentence);
    if (status != 0) {
        defect_set_free(*set);
        *set = NULL;
    }
    return status;
}

void defect_set_free(struct defect_set *set)
{
    if (set != NULL)
        free(set->asked);
    free(set);
}

const struct iwarp_faults *defect_set_faults(const struct defect_set *set)
{
    return set == NULL ? NULL : &set->faults;
}

const struct cm_faults *defect_set_cm_faults(const struct defect_set *set)
{
    return set == NULL ? NULL : &set->cm_faults;
}
