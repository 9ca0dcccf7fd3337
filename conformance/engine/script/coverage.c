/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/script/coverage.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/rules/rule.h"
#include "tools/embedded.h"
#include "wire/sentence.h"

#define WORD_SIZE 128 /* ids, names and keywords; a longer word cites nothing */

struct coverage_index {
    struct citation *citations;
    size_t count, room;
    const char **defects; /* names of defects, in the order of their citations */
    char **strings;       /* owned copies */
    size_t string_count, string_room;
};

/* The array with room for one element more, NULL (and the array as it was) if there is no memory. */
static void *room_make(void *array, size_t *room, size_t count, size_t element)
{
    size_t wanted = *room == 0 ? 64 : *room * 2;
    void *grown;

    if (count < *room)
        return array;
    grown = realloc(array, wanted * element);
    if (grown != NULL)
        *room = wanted;
    return grown;
}

static const char *string_keep(struct coverage_index *index, const char *text)
{
    char **strings = room_make(index->strings, &index->string_room, index->string_count, sizeof(char *));
    char *copy = strings != NULL ? strdup(text) : NULL;

    if (strings != NULL)
        index->strings = strings;
    if (copy != NULL)
        index->strings[index->string_count++] = copy;
    return copy;
}

static int citation_add(struct coverage_index *index, struct citation citation, struct sentence *error)
{
    struct citation *citations = room_make(index->citations, &index->room, index->count, sizeof(*citations));

    citation.requirement = string_keep(index, citation.requirement);
    citation.name = string_keep(index, citation.name);
    if (citations != NULL)
        index->citations = citations;
    if (citations == NULL || citation.requirement == NULL || citation.name == NULL)
        return sentence_set(error, "index of checks and defects: out of memory");
    index->citations[index->count++] = citation;
    return 0;
}

/* --- scripts: the ids of `check { id = "...", also = { "...", ... } }`, without running them ------------------- */

enum token { TOKEN_END, TOKEN_NAME, TOKEN_STRING, TOKEN_OTHER };

struct scanner {
    const char *path, *p, *end;
    unsigned line;
    char text[WORD_SIZE]; /* of a name or a string; "" if it is too long */
    char other;           /* the octet of TOKEN_OTHER */
};

/* The length of "=" signs between two brackets, -1 if no long bracket ("[[", "[==[") begins at p. */
static int long_bracket(const char *p, const char *end)
{
    const char *start = p;

    if (p == end || *p != '[')
        return -1;
    for (p++; p < end && *p == '='; p++)
        ;
    return p < end && *p == '[' ? (int)(p - start) - 1 : -1;
}

static void advance(struct scanner *scanner)
{
    scanner->line += *scanner->p == '\n';
    scanner->p++;
}

/* Skips a long string or comment; p stands at its first bracket. */
static void long_skip(struct scanner *scanner, int level)
{
    while (scanner->p < scanner->end) {
        const char *p = scanner->p + 1;

        if (*scanner->p == ']') {
            while (p < scanner->end && *p == '=')
                p++;
            if (p < scanner->end && *p == ']' && p - scanner->p - 1 == level) {
                scanner->p = p + 1;
                return;
            }
        }
        advance(scanner);
    }
}

/* Blanks and comments. */
static void gap_skip(struct scanner *scanner)
{
    while (scanner->p < scanner->end) {
        if (isspace((unsigned char)*scanner->p)) {
            advance(scanner);
        } else if (scanner->end - scanner->p >= 2 && scanner->p[0] == '-' && scanner->p[1] == '-') {
            int level;

            scanner->p += 2;
            level = long_bracket(scanner->p, scanner->end);
            if (level >= 0)
                long_skip(scanner, level);
            else
                while (scanner->p < scanner->end && *scanner->p != '\n')
                    scanner->p++;
        } else {
            return;
        }
    }
}

static void text_set(struct scanner *scanner, const char *start, size_t length)
{
    if (length >= WORD_SIZE)
        length = 0;
    memcpy(scanner->text, start, length);
    scanner->text[length] = '\0';
}

static enum token string_read(struct scanner *scanner)
{
    char quote = *scanner->p;
    const char *start = ++scanner->p;

    while (scanner->p < scanner->end && *scanner->p != quote && *scanner->p != '\n') {
        if (*scanner->p == '\\' && scanner->p + 1 < scanner->end)
            scanner->p++;
        advance(scanner);
    }
    text_set(scanner, start, (size_t)(scanner->p - start));
    if (scanner->p < scanner->end && *scanner->p == quote)
        scanner->p++;
    return TOKEN_STRING;
}

static enum token token_read(struct scanner *scanner)
{
    const char *start;
    int level;

    gap_skip(scanner);
    if (scanner->p >= scanner->end)
        return TOKEN_END;
    start = scanner->p;
    if (isalpha((unsigned char)*start) || *start == '_') {
        while (scanner->p < scanner->end && (isalnum((unsigned char)*scanner->p) || *scanner->p == '_'))
            scanner->p++;
        text_set(scanner, start, (size_t)(scanner->p - start));
        return TOKEN_NAME;
    }
    if (*start == '"' || *start == '\'')
        return string_read(scanner);
    level = long_bracket(start, scanner->end);
    if (level >= 0) {
        long_skip(scanner, level);
        text_set(scanner, start, 0);
        return TOKEN_STRING;
    }
    scanner->other = *start;
    advance(scanner);
    return TOKEN_OTHER;
}

static int check_cite(struct coverage_index *index, const struct scanner *scanner, struct sentence *error)
{
    return citation_add(
        index, (struct citation){CITATION_CHECK, scanner->text, scanner->path, scanner->path, scanner->line}, error);
}

/* The fields of one check; the scanner stands behind its "{". Only those at the outermost level count. */
static int check_scan(struct coverage_index *index, struct scanner *scanner, struct sentence *error)
{
    enum { NOTHING, ID, ID_IS, ALSO, ALSO_IS, ALSO_LIST } state = NOTHING;
    unsigned depth = 1;

    while (depth > 0) {
        enum token token = token_read(scanner);
        bool opens = token == TOKEN_OTHER && scanner->other == '{';

        if (token == TOKEN_END)
            return 0;
        if (token == TOKEN_STRING && (state == ID_IS || state == ALSO_IS || state == ALSO_LIST) &&
            check_cite(index, scanner, error) != 0)
            return -1;
        if (opens)
            depth++;
        if (token == TOKEN_OTHER && scanner->other == '}')
            depth--;
        if (depth == 1 && token == TOKEN_NAME)
            state = strcmp(scanner->text, "id") == 0 ? ID : strcmp(scanner->text, "also") == 0 ? ALSO : NOTHING;
        else if (state == ID || state == ALSO)
            state = token == TOKEN_OTHER && scanner->other == '=' ? state + 1 : NOTHING;
        else if (state == ALSO_IS && opens)
            state = ALSO_LIST;
        else if (state != ALSO_LIST || depth == 1)
            state = NOTHING;
    }
    return 0;
}

static int script_scan(struct coverage_index *index, const struct coverage_source *source, struct sentence *error)
{
    struct scanner scanner = {.path = source->path, .p = source->octets, .line = 1};
    bool named = false; /* the last token was `check`, perhaps with "(" behind it */

    scanner.end = scanner.p + source->size;
    for (;;) {
        enum token token = token_read(&scanner);

        if (token == TOKEN_END)
            return 0;
        if (token == TOKEN_NAME) {
            named = strcmp(scanner.text, "check") == 0;
        } else if (token == TOKEN_OTHER && scanner.other == '{' && named) {
            if (check_scan(index, &scanner, error) != 0)
                return -1;
            named = false;
        } else if (token != TOKEN_OTHER || scanner.other != '(') {
            named = false;
        }
    }
}

/* --- defects.tsv: id, requirement (one, or several with commas), hook, ... -------------------------------------- */

static size_t column_read(const char **p, const char *end, char *column)
{
    const char *start;
    size_t length;

    while (*p < end && (**p == '\t' || **p == ' '))
        ++*p;
    start = *p;
    while (*p < end && **p != '\t' && **p != ' ')
        ++*p;
    length = (size_t)(*p - start);
    if (length >= WORD_SIZE)
        length = 0;
    memcpy(column, start, length);
    column[length] = '\0';
    return length;
}

static int defect_line(struct coverage_index *index, const char *path, unsigned line, const char *p, const char *end,
                       struct sentence *error)
{
    char name[WORD_SIZE], requirements[WORD_SIZE], *rest = requirements, *requirement;

    if (column_read(&p, end, name) == 0 || column_read(&p, end, requirements) == 0)
        return sentence_set(error, "%s:%u: a defect needs an id and a requirement", path, line);
    while ((requirement = strsep(&rest, ",")) != NULL)
        if (citation_add(index, (struct citation){CITATION_DEFECT, requirement, name, path, line}, error) != 0)
            return -1;
    return 0;
}

/* Comments, empty lines and the header line are no defects. */
static bool line_is_defect(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\r'))
        p++;
    return p < end && *p != '#' && !(end - p > 3 && memcmp(p, "id\t", 3) == 0);
}

static int defects_scan(struct coverage_index *index, const struct coverage_source *source, struct sentence *error)
{
    const char *p = source->octets, *end = p + source->size;

    for (unsigned line = 1; p < end; line++) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        const char *line_end = newline != NULL ? newline : end;

        if (line_is_defect(p, line_end) && defect_line(index, source->path, line, p, line_end, error) != 0)
            return -1;
        p = line_end + 1;
    }
    return 0;
}

/* --- the index ----------------------------------------------------------------------------------------------- */

static int citation_compare(const void *a, const void *b)
{
    const struct citation *x = a, *y = b;
    int order = strcmp(x->requirement, y->requirement);

    if (order == 0)
        order = (int)x->kind - (int)y->kind;
    if (order == 0 && x->path != NULL && y->path != NULL)
        order = strcmp(x->path, y->path);
    return order != 0 ? order : (x->line > y->line) - (x->line < y->line);
}

static int index_finish(struct coverage_index *index, struct sentence *error)
{
    if (index->count > 0)
        qsort(index->citations, index->count, sizeof(*index->citations), citation_compare);
    index->defects = calloc(index->count + 1, sizeof(*index->defects));
    if (index->defects == NULL)
        return sentence_set(error, "index of checks and defects: out of memory");
    for (size_t i = 0; i < index->count; i++)
        index->defects[i] = index->citations[i].name;
    return 0;
}

static int index_fill(struct coverage_index *index, const struct coverage_source *scripts, size_t script_count,
                      const struct coverage_source *defects, size_t defect_count, struct sentence *error)
{
    for (size_t i = 0; i < script_count; i++)
        if (script_scan(index, &scripts[i], error) != 0)
            return -1;
    for (size_t i = 0; i < defect_count; i++)
        if (defects_scan(index, &defects[i], error) != 0)
            return -1;
    return 0;
}

int coverage_build(struct coverage_index **index, const struct coverage_source *scripts, size_t script_count,
                   const struct coverage_source *defects, size_t defect_count, struct sentence *error)
{
    struct coverage_index *made = calloc(1, sizeof(*made));

    *index = NULL;
    if (made == NULL)
        return sentence_set(error, "index of checks and defects: out of memory");
    if (index_fill(made, scripts, script_count, defects, defect_count, error) != 0 || index_finish(made, error) != 0) {
        coverage_free(made);
        return -1;
    }
    *index = made;
    return 0;
}

static struct coverage_source source_of(const struct embedded_file *file)
{
    return (struct coverage_source){file->path, file->octets, file->size};
}

static int rules_add(struct coverage_index *index, struct sentence *error)
{
    size_t count = rule_count();

    for (size_t i = 0; i < count; i++) {
        const struct rule *rule = rule_at(i);

        if (citation_add(index, (struct citation){CITATION_RULE, rule->id, rule->function, rule->file, 0}, error) != 0)
            return -1;
    }
    return 0;
}

int coverage_load(struct coverage_index **index, struct sentence *error)
{
    struct coverage_index *made = calloc(1, sizeof(*made));
    int result;

    *index = NULL;
    if (made == NULL)
        return sentence_set(error, "index of checks and defects: out of memory");
    result = rules_add(made, error);
    for (size_t i = 0; i < embedded_script_count && result == 0; i++) {
        struct coverage_source source = source_of(&embedded_scripts[i]);

        result = script_scan(made, &source, error);
    }
    for (size_t i = 0; i < embedded_defect_count && result == 0; i++) {
        struct coverage_source source = source_of(&embedded_defects[i]);

        result = defects_scan(made, &source, error);
    }
    if (result != 0 || index_finish(made, error) != 0) {
        coverage_free(made);
        return -1;
    }
    *index = made;
    return 0;
}

void coverage_free(struct coverage_index *index)
{
    if (index == NULL)
        return;
    for (size_t i = 0; i < index->string_count; i++)
        free(index->strings[i]);
    free(index->strings);
    free(index->citations);
    free(index->defects);
    free(index);
}

/* The first citation of that requirement, or where it would stand. */
static size_t first_of(const struct coverage_index *index, const char *requirement_id)
{
    size_t low = 0, high = index->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (strcmp(index->citations[middle].requirement, requirement_id) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void coverage_of(const struct coverage_index *index, const char *requirement_id, struct coverage *out)
{
    memset(out, 0, sizeof(*out));
    for (size_t i = first_of(index, requirement_id); i < index->count; i++) {
        const struct citation *citation = &index->citations[i];

        if (strcmp(citation->requirement, requirement_id) != 0)
            break;
        if (citation->kind == CITATION_CHECK && out->check_path == NULL) {
            out->check_path = citation->path;
            out->check_line = citation->line;
        } else if (citation->kind == CITATION_RULE && out->rule_name == NULL) {
            out->rule_name = citation->name;
        } else if (citation->kind == CITATION_DEFECT) {
            if (out->defect_count++ == 0)
                out->defects = &index->defects[i];
        }
    }
}

size_t coverage_citation_count(const struct coverage_index *index)
{
    return index->count;
}

const struct citation *coverage_citation(const struct coverage_index *index, size_t i)
{
    return i < index->count ? &index->citations[i] : NULL;
}
