/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/program/option_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "reference-stack/program/amount.h"
#include "reference-stack/program/help_text.h"
#include "reference-stack/program/option_unknown.h"
#include "reference-stack/program/shell_word.h"
#include "base/sentence.h"
#include "base/text_stream.h"

enum { NAME_OCTETS = 32, TERM_OCTETS = 100, NAMES_OCTETS = 200, NUMBER_OCTETS = AMOUNT_TEXT_OCTETS };

struct found {
    const struct option_row *row;
    char name[NAME_OCTETS];
    bool has_value;    /* the option has one */
    const char *value; /* it stands in the same word, "--seed=1"; NULL: it does not */
};

/* The first line of a row, without its meaning: "--ird N, --ord N". */
static const char *term_of(const struct option_row *row, char text[static TERM_OCTETS])
{
    const char *begin = row->help + strspn(row->help, " "), *gap = strstr(begin, "  ");
    size_t length = strcspn(begin, "\n");

    if (gap != NULL && (size_t)(gap - begin) < length)
        length = (size_t)(gap - begin);
    (void)snprintf(text, TERM_OCTETS, "%.*s", (int)length, begin);
    return text;
}

/* Whether "-j2" may stand for "-j 2": of a number, before a digit. */
static bool may_join(const struct option_row *row, char next)
{
    return row->joined || ((row->kind == OPTION_NUMBER || row->kind == OPTION_COUNT) && next >= '0' && next <= '9');
}

/* Whether the argument is this option: "--seed", "--seed=1", "-j2". */
static bool fits(const char *argument, const struct help_option *option, struct found *found)
{
    size_t length = option->name_length;

    if (strncmp(argument, option->name, length) != 0)
        return false;
    found->has_value = option->value != NULL;
    found->value = NULL;
    (void)snprintf(found->name, sizeof(found->name), "%.*s", (int)length, option->name);
    if (argument[length] == '\0')
        return true;
    if (!found->has_value || (length > 2 ? argument[length] != '=' : !may_join(found->row, argument[length])))
        return false;
    found->value = argument + length + (length > 2 ? 1 : 0);
    return true;
}

static bool row_fits(const char *argument, const struct option_row *row, struct found *found)
{
    char term[TERM_OCTETS];
    const char *at = term_of(row, term);
    struct help_option option = {0};

    found->row = row;
    while (help_option_next(&at, &option))
        if (fits(argument, &option, found))
            return true;
    option.name = row->also;
    option.name_length = row->also != NULL ? strlen(row->also) : 0;
    return row->also != NULL && fits(argument, &option, found);
}

static bool find(const struct option_table *table, const char *argument, struct found *found)
{
    for (size_t i = 0; i < table->count; i++)
        if (row_fits(argument, &table->rows[i], found))
            return true;
    return false;
}

bool option_table_has(const struct option_table *table, const char *argument)
{
    struct found found;

    return find(table, argument, &found);
}

static int print(FILE *out, const char *text, const char *(*names)(char *text, size_t room))
{
    const char *gap = names != NULL ? strstr(text, "%s") : NULL;
    char words[NAMES_OCTETS];

    if (gap == NULL)
        return fputs(text, out);
    return fprintf(out, "%.*s%s%s", (int)(gap - text), text, names(words, sizeof(words)), gap + 2);
}

int option_table_print(const struct option_table *table, FILE *out)
{
    bool failed = print(out, table->head, table->names) < 0;

    for (size_t i = 0; i < table->count; i++)
        failed |= print(out, table->rows[i].help, table->rows[i].names) < 0;
    if (table->tail != NULL)
        failed |= fputs(table->tail, out) < 0;
    return failed ? -1 : 0;
}

int option_table_unknown(const struct option_table *table, const char *argument, struct iwarp_sentence *error)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = text_stream_open(&text, &size);

    if (out != NULL) {
        (void)option_table_print(table, out);
        (void)text_stream_close(out, &text);
    }
    (void)option_unknown(table->command, argument, text != NULL ? text : "", table->more, error);
    free(text);
    return -1;
}

int option_number(const char *option, const char *value, const char *unit, uint64_t least, uint64_t most,
                  uint64_t *number, struct iwarp_sentence *error)
{
    char limit[NUMBER_OCTETS], *end;

    errno = 0;
    *number = strtoull(value, &end, 10);
    if (value[0] >= '0' && value[0] <= '9' && *end == '\0' && errno == 0 && *number >= least && *number <= most)
        return 0;
    (void)snprintf(limit, sizeof(limit), most == INT64_MAX ? "2^63 - 1" : "%" PRIu64, most);
    return iwarp_sentence_set(error, "%s \"%.40s\": a number%s%s from %" PRIu64 " to %s was expected", option, value,
                              unit != NULL ? " of " : "", unit != NULL ? unit : "", least, limit);
}

int option_jsonl(const char *value, bool *jsonl, struct iwarp_sentence *error)
{
    *jsonl = strcmp(value, "jsonl") == 0;
    if (*jsonl || strcmp(value, "text") == 0)
        return 0;
    return iwarp_sentence_set(error, "--format \"%.40s\" is unknown, text or jsonl was expected", value);
}

static int list_add(const struct option_row *row, char *options, const struct found *found, const char *value,
                    struct iwarp_sentence *error)
{
    const char **list = (const char **)(void *)(options + row->member);
    size_t *count = (size_t *)(void *)(options + row->count);

    if (*count == row->most)
        return iwarp_sentence_set(error, "%s was given more than %" PRIu64 " times", found->name, row->most);
    list[(*count)++] = value;
    return 0;
}

static int set(const struct found *found, void *options, const char *value, struct iwarp_sentence *error)
{
    const struct option_row *row = found->row;
    void *member = (char *)options + row->member;
    uint64_t number;

    switch (row->kind) {
    case OPTION_FLAG: *(bool *)member = true; return 0;
    case OPTION_TEXT: *(const char **)member = value; return 0;
    case OPTION_LIST: return list_add(row, options, found, value, error);
    case OPTION_OWN: return row->parse(options, value, error);
    case OPTION_EARLY: return 0;
    case OPTION_OCTETS:
        return amount_octets(found->name, value, row->least, row->most, row->unit, (uint64_t *)member, error);
    case OPTION_TIME: return amount_seconds(found->name, value, row->least, row->most, (uint64_t *)member, error);
    case OPTION_NUMBER:
    case OPTION_COUNT: break;
    }
    if (option_number(found->name, value, row->unit, row->least, row->most, &number, error) != 0)
        return -1;
    if (row->kind == OPTION_NUMBER)
        *(uint64_t *)member = number;
    else
        *(unsigned *)member = (unsigned)number;
    return 0;
}

int option_table_parse(const struct option_table *table, void *options, int argc, char **argv, int *index,
                       struct iwarp_sentence *error)
{
    const char *argument = argv[*index];
    struct found found;

    if (argument[0] != '-' || argument[1] == '\0')
        return 0;
    if (!find(table, argument, &found))
        return option_table_unknown(table, argument, error);
    if (found.has_value && found.value == NULL) {
        if (*index + 1 >= argc)
            return option_table_unknown(table, argument, error);
        found.value = argv[++*index];
    }
    ++*index;
    return set(&found, options, found.value, error) == 0 ? 1 : -1;
}

static bool belongs(enum option_effect effect, enum option_use use)
{
    return effect == OPTION_JUDGES || (effect == OPTION_REPEATED && use == OPTION_REPLAY);
}

static const void *at(const void *options, size_t offset)
{
    return (const char *)options + offset;
}

/* The value of a row that is no list; NULL: the option is not set, or is a flag. `number` has NUMBER_OCTETS. */
static const char *value_of(const struct option_row *row, const void *options, enum option_use use, char *number)
{
    const void *member = at(options, row->member);

    switch (row->kind) {
    case OPTION_TEXT: return *(const char *const *)member;
    case OPTION_OWN: return row->value(options, use);
    case OPTION_NUMBER: (void)snprintf(number, NUMBER_OCTETS, "%" PRIu64, *(const uint64_t *)member); return number;
    case OPTION_COUNT: (void)snprintf(number, NUMBER_OCTETS, "%u", *(const unsigned *)member); return number;
    case OPTION_OCTETS:
        return *(const uint64_t *)member != 0 ? amount_octets_text(*(const uint64_t *)member, number) : NULL;
    case OPTION_TIME:
        return *(const uint64_t *)member != 0 ? amount_seconds_text(*(const uint64_t *)member, number) : NULL;
    case OPTION_FLAG:
    case OPTION_LIST:
    case OPTION_EARLY: break;
    }
    return NULL;
}

void option_table_repeat(const struct option_table *table, const void *options, enum option_use use,
                         void (*add)(void *user, const char *name, const char *value), void *user)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct option_row *row = &table->rows[i];
        char term[TERM_OCTETS], name[NAME_OCTETS], number[NUMBER_OCTETS];
        const char *value;

        if (!belongs(row->effect, use))
            continue;
        (void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(term_of(row, term), " ,"), term);
        for (size_t k = 0; row->kind == OPTION_LIST && k < *(const size_t *)at(options, row->count); k++)
            add(user, name, ((const char *const *)at(options, row->member))[k]);
        value = value_of(row, options, use, number);
        if (value != NULL || (row->kind == OPTION_FLAG && *(const bool *)at(options, row->member)))
            add(user, name, value);
    }
}

struct replay {
    char *text;
    size_t room, used;
};

static void replay_add(void *user, const char *name, const char *value)
{
    struct replay *replay = user;

    replay->used = value != NULL ? shell_append(replay->text, replay->room, replay->used, name, value)
                                 : shell_append_word(replay->text, replay->room, replay->used, name);
}

size_t option_table_replay(const struct option_table *table, const void *options, char *text, size_t room, size_t used)
{
    struct replay replay = {text, room, used};

    option_table_repeat(table, options, OPTION_REPLAY, replay_add, &replay);
    return replay.used;
}
