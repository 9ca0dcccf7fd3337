/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/hint_field.h"

#include <stddef.h>
#include <string.h>

/* clang-format off */
#define CELL(k, w, field, word) {k "-" word, field " of " w " is another than is due"},
#define ROW(kind, word, words)  {HINT_FIELDS(CELL, word, words)},
#define NAME(k, w, field, word) field,
#define WORD(kind, word, words) word,
#define MANY(kind, word, words) words,

static const char *const fields[] = {HINT_FIELDS(NAME, , )};
static const char *const kinds[] = {HINT_KINDS(WORD)};
static const char *const many[] = {HINT_KINDS(MANY)};
enum { FIELDS = sizeof(fields) / sizeof(fields[0]) };
static const struct hint_field cells[HINT_OF_COUNT][FIELDS] = {HINT_KINDS(ROW)};
/* clang-format on */

enum hint_kind_of hint_kind_of_opcode(unsigned opcode)
{
    static const enum hint_kind_of known[] = {
        HINT_OF_WRITE,     HINT_OF_READ_REQUEST, HINT_OF_READ_RESPONSE,  HINT_OF_SEND,
        HINT_OF_SEND,      HINT_OF_SEND,         HINT_OF_SEND,           HINT_OF_TERMINATE,
        HINT_OF_IMMEDIATE, HINT_OF_IMMEDIATE,    HINT_OF_ATOMIC_REQUEST, HINT_OF_ATOMIC_RESPONSE,
    };

    return opcode < sizeof(known) / sizeof(known[0]) ? known[opcode] : HINT_OF_RDMAP;
}

enum hint_kind_of hint_kind_named(const char *word)
{
    unsigned kind = 0;

    while (kind < HINT_OF_COUNT && strcmp(kinds[kind], word) != 0)
        kind++;
    return (enum hint_kind_of)kind;
}

enum hint_kind_of hint_kind_of_cause(const char *name, const char **field)
{
    unsigned found = HINT_OF_COUNT;
    size_t longest = 0;

    for (unsigned kind = 0; kind < HINT_OF_COUNT; kind++) {
        size_t octets = strlen(kinds[kind]);

        if (octets > longest && strncmp(name, kinds[kind], octets) == 0 && name[octets] == '-') {
            found = kind;
            longest = octets;
        }
    }
    *field = longest != 0 ? name + longest + 1 : "";
    return (enum hint_kind_of)found;
}

const char *hint_kind_words(enum hint_kind_of kind)
{
    return (unsigned)kind < HINT_OF_COUNT ? many[kind] : "";
}

/* The layer whose field it is, where that has one value in every message. */
static enum hint_kind_of owner_of(enum hint_kind_of kind, const char *field)
{
    static const struct {
        const char *field;
        enum hint_kind_of owner;
    } owned[] = {
        {"T", HINT_OF_DDP}, {"DV", HINT_OF_DDP}, {"Rsvd", HINT_OF_DDP}, {"RV", HINT_OF_RDMAP}, {"Rsv", HINT_OF_RDMAP}};

    for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
        if (strcmp(owned[i].field, field) == 0)
            return owned[i].owner;
    return kind;
}

bool hint_field(enum hint_kind_of kind, const char *field, struct hint_field *found)
{
    kind = owner_of(kind, field);
    for (size_t i = 0; (unsigned)kind < HINT_OF_COUNT && i < FIELDS; i++)
        if (strcmp(fields[i], field) == 0) {
            *found = cells[kind][i];
            return true;
        }
    return false;
}
