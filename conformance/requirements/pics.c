/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/requirements/pics.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tools/embedded.h"
#include "base/nearest.h"
#include "base/sentence.h"

#define PICS_PATH       "conformance/requirements/pics.tsv"
#define VALUE_SIZE      24
#define PREDICATE_DEPTH 16 /* parentheses and negations inside one another; the catalogue uses two at most */

struct item {
    struct pics_item public;
    char value[VALUE_SIZE];
};

struct pics {
    char *arena;
    struct item *items;
    size_t count;
};

enum { ITEM_NAME, ITEM_QUESTION, ITEM_DEFAULT, ITEM_MEANING, ITEM_TOLD, ITEM_COLUMNS };
static const char *const item_columns[ITEM_COLUMNS] = {"item", "question", "default", "meaning", "told"};

static bool name_octet(char c)
{
    return isalnum((unsigned char)c) || c == '.' || c == '_';
}

static bool value_valid(const char *value)
{
    size_t digits = strspn(value, "0123456789");

    return strcmp(value, "yes") == 0 || strcmp(value, "no") == 0 || strcmp(value, "true") == 0 ||
           strcmp(value, "false") == 0 || (digits > 0 && digits < 10 && value[digits] == '\0');
}

static bool value_holds(const char *value)
{
    return strcmp(value, "yes") == 0 || strcmp(value, "true") == 0 || strtoul(value, NULL, 10) != 0;
}

static struct item *item_find(const struct pics *pics, const char *name, size_t length)
{
    for (size_t i = 0; i < pics->count; i++)
        if (strlen(pics->items[i].public.name) == length && memcmp(pics->items[i].public.name, name, length) == 0)
            return &pics->items[i];
    return NULL;
}

static int item_add(struct pics *pics, const char *path, unsigned line, char *const *cell, struct iwarp_sentence *error)
{
    struct item *item = &pics->items[pics->count];

    for (const char *p = cell[ITEM_NAME]; *p != '\0'; p++)
        if (!name_octet(*p))
            return iwarp_sentence_set(error, "%s:%u: item \"%.60s\" holds '%c'", path, line, cell[ITEM_NAME], *p);
    if (cell[ITEM_NAME][0] == '\0' || cell[ITEM_QUESTION][0] == '\0' || cell[ITEM_MEANING][0] == '\0' ||
        cell[ITEM_TOLD][0] == '\0')
        return iwarp_sentence_set(
            error, "%s:%u: an item needs a name, a question, a meaning and the one who reports it (- for nobody)", path,
            line);
    if (item_find(pics, cell[ITEM_NAME], strlen(cell[ITEM_NAME])) != NULL)
        return iwarp_sentence_set(error, "%s:%u: item %.60s is declared twice", path, line, cell[ITEM_NAME]);
    if (!value_valid(cell[ITEM_DEFAULT]))
        return iwarp_sentence_set(error, "%s:%u: default \"%.40s\" of %.60s, yes, no or a number was expected", path,
                                  line, cell[ITEM_DEFAULT], cell[ITEM_NAME]);
    memcpy(item->value, cell[ITEM_DEFAULT], strlen(cell[ITEM_DEFAULT]) + 1);
    item->public = (struct pics_item){cell[ITEM_NAME],    cell[ITEM_QUESTION], cell[ITEM_DEFAULT],
                                      cell[ITEM_MEANING], cell[ITEM_TOLD],     item->value};
    pics->count++;
    return 0;
}

/* One line without its newline, NUL-terminated. */
static int line_parse(struct pics *pics, const char *path, unsigned line, char *text, bool *header_seen,
                      struct iwarp_sentence *error)
{
    char *cell[ITEM_COLUMNS], *rest = text;
    size_t count = 0;

    if (text[0] == '\0' || text[0] == '#')
        return 0;
    while (rest != NULL) {
        char *start = strsep(&rest, "\t");

        if (count < ITEM_COLUMNS)
            cell[count] = start;
        count++;
    }
    if (count != ITEM_COLUMNS)
        return iwarp_sentence_set(error, "%s:%u: %zu columns, %d were expected", path, line, count, ITEM_COLUMNS);
    if (*header_seen)
        return item_add(pics, path, line, cell, error);
    for (size_t i = 0; i < ITEM_COLUMNS; i++)
        if (strcmp(cell[i], item_columns[i]) != 0)
            return iwarp_sentence_set(error, "%s:%u: column %zu of the header line is \"%.40s\", \"%s\" was expected",
                                      path, line, i + 1, cell[i], item_columns[i]);
    *header_seen = true;
    return 0;
}

static int lines_parse(struct pics *pics, const char *path, size_t size, struct iwarp_sentence *error)
{
    char *text = pics->arena, *end = text + size;
    bool header_seen = false;

    if (memchr(text, '\0', size) != NULL)
        return iwarp_sentence_set(error, "%s: a zero octet in a text file", path);
    for (unsigned line = 1; text < end; line++) {
        char *newline = memchr(text, '\n', (size_t)(end - text));
        char *line_end = newline != NULL ? newline : end;

        *line_end = '\0';
        if (line_parse(pics, path, line, text, &header_seen, error) != 0)
            return -1;
        text = line_end + 1;
    }
    return header_seen ? 0 : iwarp_sentence_set(error, "%s: no header line", path);
}

int pics_parse(struct pics **pics, const char *path, const void *octets, size_t size, struct iwarp_sentence *error)
{
    struct pics *p = calloc(1, sizeof(*p));
    size_t lines = 1;

    *pics = NULL;
    if (p == NULL)
        return iwarp_sentence_set(error, "%s: out of memory", path);
    for (size_t i = 0; i < size; i++)
        lines += ((const char *)octets)[i] == '\n';
    p->arena = malloc(size + 1);
    p->items = calloc(lines, sizeof(*p->items));
    if (p->arena == NULL || p->items == NULL) {
        pics_free(p);
        return iwarp_sentence_set(error, "%s: out of memory", path);
    }
    if (size > 0)
        memcpy(p->arena, octets, size);
    p->arena[size] = '\0';
    if (lines_parse(p, path, size, error) != 0) {
        pics_free(p);
        return -1;
    }
    *pics = p;
    return 0;
}

int pics_load(struct pics **pics, struct iwarp_sentence *error)
{
    const struct embedded_file *file = embedded_find(embedded_requirements, embedded_requirement_count, PICS_PATH);

    *pics = NULL;
    if (file == NULL)
        return iwarp_sentence_set(error, PICS_PATH " was not compiled in");
    return pics_parse(pics, file->path, file->octets, file->size, error);
}

void pics_free(struct pics *pics)
{
    if (pics == NULL)
        return;
    free(pics->items);
    free(pics->arena);
    free(pics);
}

size_t pics_count(const struct pics *pics)
{
    return pics->count;
}

const struct pics_item *pics_at(const struct pics *pics, size_t index)
{
    return index < pics->count ? &pics->items[index].public : NULL;
}

const struct pics_item *pics_find(const struct pics *pics, const char *name)
{
    const struct item *item = item_find(pics, name, strlen(name));

    return item != NULL ? &item->public : NULL;
}

static const char *item_name_at(const void *pics, size_t index)
{
    return ((const struct pics *)pics)->items[index].public.name;
}

static const char *nearest_item(const struct pics *pics, const char *name, char hint[NEAREST_HINT_OCTETS])
{
    return nearest_hint(nearest_name(name, item_name_at, pics, pics->count), hint);
}

int pics_set(struct pics *pics, const char *name, const char *value, struct iwarp_sentence *error)
{
    struct item *item = item_find(pics, name, strlen(name));
    char hint[NEAREST_HINT_OCTETS];

    if (item == NULL)
        return iwarp_sentence_set(error, "there is no PICS item \"%.60s\"%s (warpcheck pics lists them)", name,
                                  nearest_item(pics, name, hint));
    if (!value_valid(value))
        return iwarp_sentence_set(error, "PICS item %s: \"%.40s\" is neither yes nor no nor a number up to %d", name,
                                  value, PICS_NUMBER_MAX);
    memcpy(item->value, value, strlen(value) + 1);
    return 0;
}

int pics_set_cm(struct pics *pics, bool reference, struct iwarp_sentence *error)
{
    if (pics_set(pics, "cm", "yes", error) != 0 || pics_set(pics, "cm.service", "yes", error) != 0)
        return -1;
    return reference ? pics_set(pics, "cm.switch", "yes", error) : 0;
}

int pics_set_sctp(struct pics *pics, bool rfc5043, bool draft02, bool reference, struct iwarp_sentence *error)
{
    if (pics_set(pics, "sctp", "yes", error) != 0 ||
        pics_set(pics, "sctp.rfc5043", rfc5043 ? "yes" : "no", error) != 0 ||
        pics_set(pics, "sctp.draft02", draft02 ? "yes" : "no", error) != 0)
        return -1;
    return reference ? pics_set(pics, "sctp.enhanced", rfc5043 ? "yes" : "no", error) : 0;
}

bool pics_holds(const struct pics *pics, const char *name)
{
    const struct item *item = item_find(pics, name, strlen(name));

    return item != NULL && value_holds(item->value);
}

bool pics_is_number(const struct pics_item *item)
{
    return isdigit((unsigned char)item->fallback[0]) != 0;
}

size_t pics_named(const struct pics *pics, const char *predicate, const struct pics_item **items, size_t limit)
{
    const char *p = predicate;
    size_t count = 0;

    while (*(p += strspn(p, "&|!() ")) != '\0') {
        size_t length = strcspn(p, "&|!() "), seen = 0;
        const struct item *item = item_find(pics, p, length);

        while (item != NULL && seen < count && items[seen] != &item->public)
            seen++;
        if (item != NULL && seen == count && count < limit)
            items[count++] = &item->public;
        p += length;
    }
    return count;
}

struct reader {
    const struct pics *pics;
    const char *predicate, *p;
    struct iwarp_sentence *error;
    const struct item *culprit; /* the last item whose value made a factor false */
    unsigned depth;
    bool wire_alone; /* items of what a tester can do count as holding */
};

/* What these say is how much of a device can be seen and asked, not what it does on the wire. */
static bool is_testers(const struct item *item)
{
    return strcmp(item->public.name, "upper_tester") == 0 || strcmp(item->public.name, "instrumented") == 0;
}

static int predicate_read(struct reader *reader);

static void space_skip(struct reader *reader)
{
    while (*reader->p == ' ')
        reader->p++;
}

static int unknown_item(struct reader *reader, const char *name, size_t length)
{
    char word[NEAREST_WORD_MAX + 1], hint[NEAREST_HINT_OCTETS];

    (void)snprintf(word, sizeof(word), "%.*s", (int)(length < NEAREST_WORD_MAX ? length : NEAREST_WORD_MAX), name);
    return iwarp_sentence_set(reader->error, "capability \"%.120s\": there is no PICS item \"%s\"%s", reader->predicate,
                              word, nearest_item(reader->pics, word, hint));
}

static int name_read(struct reader *reader, bool wanted)
{
    const char *start = reader->p;
    const struct item *item;
    size_t length;
    bool holds;

    while (name_octet(*reader->p))
        reader->p++;
    length = (size_t)(reader->p - start);
    if (length == 0)
        return iwarp_sentence_set(reader->error, "capability \"%.120s\": an item was expected at \"%.40s\"",
                                  reader->predicate, start);
    if (length == 6 && memcmp(start, "always", 6) == 0)
        return wanted;
    if (length == 5 && memcmp(start, "never", 5) == 0)
        return !wanted;
    item = item_find(reader->pics, start, length);
    if (item == NULL)
        return unknown_item(reader, start, length);
    holds = reader->wire_alone && is_testers(item) ? wanted : value_holds(item->value);
    if (holds != wanted)
        reader->culprit = item;
    return holds == wanted;
}

/* wanted is false after an odd number of "!": then the result is already the negated one. */
static int factor_read(struct reader *reader)
{
    bool wanted = true;
    int result;

    space_skip(reader);
    while (*reader->p == '!') {
        wanted = !wanted;
        reader->p++;
        space_skip(reader);
    }
    if (*reader->p != '(')
        return name_read(reader, wanted);
    if (++reader->depth > PREDICATE_DEPTH)
        return iwarp_sentence_set(reader->error, "capability \"%.120s\": nested too deeply", reader->predicate);
    reader->p++;
    result = predicate_read(reader);
    if (result < 0)
        return -1;
    if (*reader->p != ')')
        return iwarp_sentence_set(reader->error, "capability \"%.120s\": \")\" was expected at \"%.40s\"",
                                  reader->predicate, reader->p);
    reader->p++;
    reader->depth--;
    return (result != 0) == wanted;
}

static int term_read(struct reader *reader)
{
    int result = 1;

    for (;;) {
        int factor = factor_read(reader);

        if (factor < 0)
            return -1;
        result = result && factor;
        space_skip(reader);
        if (*reader->p != '&')
            return result;
        reader->p++;
    }
}

static int predicate_read(struct reader *reader)
{
    int result = 0;

    for (;;) {
        int term = term_read(reader);

        if (term < 0)
            return -1;
        result = result || term;
        if (*reader->p != '|')
            return result;
        reader->p++;
    }
}

int pics_evaluate(const struct pics *pics, const char *predicate, struct iwarp_sentence *reason,
                  struct iwarp_sentence *error)
{
    struct reader reader = {.pics = pics, .predicate = predicate, .p = predicate, .error = error};
    int result = predicate_read(&reader);

    if (result >= 0 && *reader.p != '\0')
        return iwarp_sentence_set(error, "capability \"%.120s\": \"%.40s\" was not expected", predicate, reader.p);
    if (result == 0 && reader.culprit != NULL)
        iwarp_sentence_set(reason, "needs %s, but the profile has %s = %s", predicate, reader.culprit->public.name,
                           reader.culprit->public.value);
    else if (result == 0)
        iwarp_sentence_set(reason, "no device can show it");
    return result;
}

bool pics_denies(const struct pics *pics, const char *predicate)
{
    struct iwarp_sentence unread;
    struct reader reader = {.pics = pics, .predicate = predicate, .p = predicate, .error = &unread, .wire_alone = true};

    return predicate_read(&reader) == 0 && *reader.p == '\0';
}
