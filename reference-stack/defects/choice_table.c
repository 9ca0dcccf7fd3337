/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/defects/choice_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cells.h"
#include "base/nearest.h"
#include "reference-stack/defects/defect_compile.h"
#include "tools/embedded.h"

enum { COLUMNS = 3 };

static const char path[] = "reference-stack/defects/choices.tsv";
static const char *const layer_names[CHOICE_LAYERS] = {"tcp", "sctp", "draft", "cm"};

const char *choice_layer_name(enum choice_layer layer)
{
    return layer_names[layer];
}

static int out_of_memory(struct iwarp_sentence *sentence)
{
    return iwarp_sentence_set(sentence, "choices: out of memory");
}

/* ---- parsing --------------------------------------------------------------------------------------------------- */

/* A line of the table while it is read. */
struct reading {
    struct choice_table *table;
    size_t line;
    struct iwarp_sentence *sentence;
};

/* The next of the words that commas separate, ended in place; NULL: there is none. */
static char *next_word(char **at)
{
    char *word = *at, *comma;

    if (word == NULL)
        return NULL;
    comma = strchr(word, ',');
    if (comma != NULL)
        *comma++ = '\0';
    *at = comma;
    return word;
}

/* Is SETTING=LOW a row that the stack takes? */
static int try_number(const struct reading *reading, const char *setting, uint64_t number)
{
    struct defect_set *scratch = defect_set_empty();
    struct iwarp_sentence inner;
    char value[24];
    struct defect row = {.hook = "configure", .target = setting, .operation = "set", .value = value};
    int status;

    if (scratch == NULL)
        return out_of_memory(reading->sentence);
    (void)snprintf(value, sizeof(value), "%" PRIu64, number);
    status = defect_compile(&row, scratch, &inner);
    defect_set_free(scratch);
    return status == 0 ? 0
                       : iwarp_sentence_set(reading->sentence, "choices: line %zu: %.400s", reading->line, inner.text);
}

/* SETTING=LOW..HIGH, whose `equals` is given. */
static int parse_range(const struct reading *reading, char *word, char *equals, struct choice_alternative *alternative)
{
    char *end;

    *equals = '\0';
    alternative->setting = word;
    alternative->low = strtoull(equals + 1, &end, 0);
    if (end == equals + 1 || strncmp(end, "..", 2) != 0)
        return iwarp_sentence_set(reading->sentence, "choices: line %zu: %.60s=LOW..HIGH was expected", reading->line,
                                  word);
    equals = end + 2;
    alternative->high = strtoull(equals, &end, 0);
    if (end == equals || *end != '\0' || alternative->high < alternative->low ||
        alternative->high - alternative->low == UINT64_MAX)
        return iwarp_sentence_set(reading->sentence, "choices: line %zu: %.60s=LOW..HIGH was expected", reading->line,
                                  word);
    return try_number(reading, word, alternative->low) != 0 || try_number(reading, word, alternative->high) != 0 ? -1
                                                                                                                 : 0;
}

static int parse_alternative(const struct reading *reading, char *word, struct choice_alternative *alternative)
{
    char *equals = strchr(word, '=');
    char hint[NEAREST_HINT_OCTETS];

    *alternative = (struct choice_alternative){0};
    if (equals != NULL)
        return parse_range(reading, word, equals, alternative);
    alternative->variant = defect_list_find(reading->table->variants, word);
    if (alternative->variant != NULL)
        return 0;
    return iwarp_sentence_set(reading->sentence, "choices: line %zu: there is no variant '%.60s'%s", reading->line,
                              word, nearest_hint(defect_nearest_id(reading->table->variants, word), hint));
}

static bool is_same(const struct choice_alternative *one, const struct choice_alternative *other)
{
    return one->variant != NULL ? one->variant == other->variant
                                : other->variant == NULL && strcmp(one->setting, other->setting) == 0;
}

static int add_alternative(const struct reading *reading, struct choice_point *point,
                           const struct choice_alternative *alternative)
{
    struct choice_alternative *more = realloc(point->alternatives, (point->count + 1) * sizeof(*more));

    if (more == NULL)
        return out_of_memory(reading->sentence);
    point->alternatives = more;
    point->alternatives[point->count++] = *alternative;
    return 0;
}

/* The line's point in one of its layers, without alternatives. */
static int add_point(const struct reading *reading, enum choice_layer layer, const char *name)
{
    struct choice_table *table = reading->table;
    size_t count = table->layers[layer].count;
    struct choice_point *points = realloc(table->layers[layer].points, (count + 1) * sizeof(*points));

    if (points == NULL)
        return out_of_memory(reading->sentence);
    table->layers[layer].points = points;
    for (size_t i = 0; i < count; i++)
        if (strcmp(points[i].name, name) == 0)
            return iwarp_sentence_set(reading->sentence, "choices: line %zu: %s has the point '%.60s' twice",
                                      reading->line, layer_names[layer], name);
    points[count] = (struct choice_point){.name = name};
    table->layers[layer].count++;
    return 0;
}

static int parse_layers(const struct reading *reading, const char *name, char *text, bool in[CHOICE_LAYERS])
{
    size_t layer;

    for (char *word; (word = next_word(&text)) != NULL;) {
        for (layer = 0; layer < CHOICE_LAYERS && strcmp(word, layer_names[layer]) != 0;)
            layer++;
        if (layer == CHOICE_LAYERS)
            return iwarp_sentence_set(reading->sentence,
                                      "choices: line %zu: layer '%.60s': tcp, sctp, draft or cm was expected",
                                      reading->line, word);
        if (add_point(reading, (enum choice_layer)layer, name) != 0)
            return -1;
        in[layer] = true;
    }
    return 0;
}

/* Does another point, or this one, have it? */
static bool is_taken(const struct choice_table *table, size_t layer, const struct choice_alternative *alternative)
{
    for (size_t i = 0; i < table->layers[layer].count; i++)
        for (size_t j = 0; j < table->layers[layer].points[i].count; j++)
            if (is_same(&table->layers[layer].points[i].alternatives[j], alternative))
                return true;
    return false;
}

static int parse_point(const struct reading *reading, char *fields[COLUMNS])
{
    struct choice_table *table = reading->table;
    struct choice_alternative alternative;
    bool in[CHOICE_LAYERS] = {false};
    char *rest = fields[2];

    if (parse_layers(reading, fields[0], fields[1], in) != 0)
        return -1;
    for (char *word; (word = next_word(&rest)) != NULL;) {
        if (parse_alternative(reading, word, &alternative) != 0)
            return -1;
        for (size_t layer = 0; layer < CHOICE_LAYERS; layer++) {
            if (!in[layer])
                continue;
            if (is_taken(table, layer, &alternative))
                return iwarp_sentence_set(reading->sentence, "choices: line %zu: %s has '%.60s' twice", reading->line,
                                          layer_names[layer], word);
            if (add_alternative(reading, &table->layers[layer].points[table->layers[layer].count - 1], &alternative) !=
                0)
                return -1;
        }
    }
    return 0;
}

/* `warns`: the third field has the ids that report the pair; else the reason why there is no such device. */
static int parse_pair(const struct reading *reading, char *fields[COLUMNS], bool warns)
{
    struct choice_table *table = reading->table;
    struct choice_pair *pairs = realloc(table->pairs, (table->pair_count + 1) * sizeof(*pairs));
    struct choice_pair pair = {.warns = warns ? fields[2] : NULL};
    char *rest = fields[1];

    if (pairs == NULL)
        return out_of_memory(reading->sentence);
    table->pairs = pairs;
    for (size_t i = 0; i < 2; i++) {
        pair.variants[i] = next_word(&rest);
        if (pair.variants[i] == NULL || defect_list_find(table->variants, pair.variants[i]) == NULL)
            return iwarp_sentence_set(reading->sentence,
                                      "choices: line %zu: two variants, separated by a comma, were expected",
                                      reading->line);
    }
    if (rest != NULL || (strchr(fields[2], ' ') == NULL) != warns)
        return iwarp_sentence_set(reading->sentence, "choices: line %zu: two variants and %s were expected",
                                  reading->line, warns ? "ids" : "a reason");
    table->pairs[table->pair_count++] = pair;
    return 0;
}

static int parse_line(const struct reading *reading, char *line)
{
    char *fields[COLUMNS];
    size_t count;

    if (line[0] == '\0' || line[0] == '#')
        return 0;
    count = cells_cut(line, fields, COLUMNS);
    if (count != COLUMNS || fields[0][0] == '\0' || fields[2][0] == '\0')
        return iwarp_sentence_set(reading->sentence, "choices: line %zu: three fields were expected, separated by tabs",
                                  reading->line);
    if (strcmp(fields[0], "!") == 0 || strcmp(fields[0], "+") == 0)
        return parse_pair(reading, fields, fields[0][0] == '+');
    return parse_point(reading, fields);
}

static int parse_lines(struct reading *reading)
{
    for (char *line = reading->table->text; line != NULL; reading->line++) {
        char *end = strchr(line, '\n');

        if (end != NULL)
            *end++ = '\0';
        if (parse_line(reading, line) != 0)
            return -1;
        line = end;
    }
    return 0;
}

struct choice_table *choice_table_parse(const struct defect_list *variants, const char *text, size_t octets,
                                        struct iwarp_sentence *sentence)
{
    struct choice_table *table = calloc(1, sizeof(*table));
    struct reading reading = {table, 1, sentence};

    if (table != NULL) {
        table->variants = variants;
        table->text = malloc(octets + 1);
    }
    if (table == NULL || table->text == NULL) {
        (void)out_of_memory(sentence);
        choice_table_free(table);
        return NULL;
    }
    memcpy(table->text, text, octets);
    table->text[octets] = '\0';
    if (parse_lines(&reading) == 0)
        return table;
    choice_table_free(table);
    return NULL;
}

struct choice_table *choice_table_embedded(struct iwarp_sentence *sentence)
{
    const struct embedded_file *file = embedded_find(embedded_defects, embedded_defect_count, path);
    struct defect_list *variants;
    struct choice_table *table;

    if (file == NULL) {
        (void)iwarp_sentence_set(sentence, "choices: %s is not part of this build", path);
        return NULL;
    }
    variants = variant_list_embedded(sentence);
    table = variants != NULL ? choice_table_parse(variants, (const char *)file->octets, file->size, sentence) : NULL;
    if (table != NULL)
        table->own = variants;
    else
        defect_list_free(variants);
    return table;
}

void choice_table_free(struct choice_table *table)
{
    if (table == NULL)
        return;
    for (size_t layer = 0; layer < CHOICE_LAYERS; layer++) {
        for (size_t i = 0; i < table->layers[layer].count; i++)
            free(table->layers[layer].points[i].alternatives);
        free(table->layers[layer].points);
    }
    defect_list_free(table->own);
    free(table->pairs);
    free(table->text);
    free(table);
}

/* ---- queries --------------------------------------------------------------------------------------------------- */

size_t choice_point_count(const struct choice_table *table, enum choice_layer layer)
{
    return table->layers[layer].count;
}

const char *choice_point_name(const struct choice_table *table, enum choice_layer layer, size_t point)
{
    return table->layers[layer].points[point].name;
}

const struct defect **choice_table_rows(const struct choice_table *table, enum choice_layer layer, size_t *count)
{
    const struct defect **rows = calloc(defect_list_count(table->variants) + 1, sizeof(*rows));

    *count = 0;
    for (size_t i = 0; rows != NULL && i < table->layers[layer].count; i++)
        for (size_t j = 0; j < table->layers[layer].points[i].count; j++)
            if (table->layers[layer].points[i].alternatives[j].variant != NULL)
                rows[(*count)++] = table->layers[layer].points[i].alternatives[j].variant;
    return rows;
}

const struct choice_pair *choice_table_pair(const struct choice_table *table, const char *one, const char *other)
{
    for (size_t i = 0; i < table->pair_count; i++) {
        const char *const *variants = table->pairs[i].variants;

        if ((strcmp(variants[0], one) == 0 && strcmp(variants[1], other) == 0) ||
            (strcmp(variants[0], other) == 0 && strcmp(variants[1], one) == 0))
            return &table->pairs[i];
    }
    return NULL;
}

/* Is it SETTING=NUMBER of this alternative? `octets` of the id are its setting. */
static bool is_number_of(const struct choice_alternative *alternative, const char *id, size_t octets)
{
    return alternative->variant == NULL && id[octets] == '=' && strlen(alternative->setting) == octets &&
           strncmp(alternative->setting, id, octets) == 0;
}

static int find_number(const struct choice_alternative *alternative, const char *id, const char *number,
                       struct choice_found *found, struct iwarp_sentence *sentence)
{
    char *end;

    found->number = strtoull(number, &end, 0);
    if (end == number || *end != '\0' || found->number < alternative->low || found->number > alternative->high)
        return iwarp_sentence_set(sentence, "choices: '%.60s': a number of %" PRIu64 " to %" PRIu64 " was expected", id,
                                  alternative->low, alternative->high);
    return 0;
}

int choice_table_find(const struct choice_table *table, enum choice_layer layer, const char *id,
                      struct choice_found *found, struct iwarp_sentence *sentence)
{
    char hint[NEAREST_HINT_OCTETS];
    size_t octets = strcspn(id, "=");

    for (size_t i = 0; i < table->layers[layer].count; i++)
        for (size_t j = 0; j < table->layers[layer].points[i].count; j++) {
            const struct choice_alternative *alternative = &table->layers[layer].points[i].alternatives[j];

            *found = (struct choice_found){.point = i, .alternative = alternative};
            if (alternative->variant != NULL && strcmp(alternative->variant->id, id) == 0)
                return 0;
            if (is_number_of(alternative, id, octets))
                return find_number(alternative, id, id + octets + 1, found, sentence);
        }
    return iwarp_sentence_set(sentence, "choices: %s has no alternative '%.60s'%s", layer_names[layer], id,
                              nearest_hint(defect_nearest_id(table->variants, id), hint));
}
