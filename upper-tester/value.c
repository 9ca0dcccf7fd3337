/* SPDX-License-Identifier: BSD-2-Clause */
#include "upper-tester/value.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const upper_rtr_words[] = {"send", "write", "read", NULL};
const char *const upper_access_words[] = {"local_read",   "local_write",   "remote_read",
                                          "remote_write", "remote_atomic", NULL};
const char *const upper_accept_words[] = {"auto", "manual", "reject", NULL};

int upper_require(const json_t *command, const char *name, struct iwarp_sentence *sentence)
{
    if (json_object_get(command, name) == NULL)
        return iwarp_sentence_set(sentence, "'%s' was expected", name);
    return 0;
}

static int string_number(const char *text, uint64_t *value)
{
    int base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10; /* never octal */
    char *end;

    errno = 0;
    *value = strtoull(text, &end, base);
    return text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 ? -1 : 0;
}

int upper_number(const json_t *command, const char *name, uint64_t most, uint64_t *value,
                 struct iwarp_sentence *sentence)
{
    const json_t *member = json_object_get(command, name);
    uint64_t number;

    if (member == NULL)
        return 0;
    if (json_is_integer(member)) {
        json_int_t integer = json_integer_value(member);

        if (integer < 0 && most != UINT64_MAX)
            return iwarp_sentence_set(sentence, "'%s' is %lld, 0 to %llu was expected", name, (long long)integer,
                                      (unsigned long long)most);
        number = (uint64_t)integer;
    } else if (!json_is_string(member) || string_number(json_string_value(member), &number) != 0) {
        return iwarp_sentence_set(sentence, "'%s' is no number", name);
    }
    if (number > most)
        return iwarp_sentence_set(sentence, "'%s' is %llu, 0 to %llu was expected", name, (unsigned long long)number,
                                  (unsigned long long)most);
    *value = number;
    return 0;
}

int upper_flag(const json_t *command, const char *name, bool *value, struct iwarp_sentence *sentence)
{
    const json_t *member = json_object_get(command, name);

    if (member == NULL)
        return 0;
    if (!json_is_boolean(member))
        return iwarp_sentence_set(sentence, "'%s' is not true or false", name);
    *value = json_is_true(member);
    return 0;
}

int upper_string(const json_t *command, const char *name, const char **value, struct iwarp_sentence *sentence)
{
    const json_t *member = json_object_get(command, name);

    if (member == NULL)
        return 0;
    if (!json_is_string(member))
        return iwarp_sentence_set(sentence, "'%s' is no string", name);
    *value = json_string_value(member);
    return 0;
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

/* The words as people write them: "a", "b" or "c". */
static const char *enumeration(const char *const *words, char *text, size_t room)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; words[i] != NULL && used < room; i++)
        used += (size_t)snprintf(text + used, room - used, "%s\"%s\"",
                                 i == 0                 ? ""
                                 : words[i + 1] == NULL ? " or "
                                                        : ", ",
                                 words[i]);
    return text;
}

/* -1: none of them. */
static int find_word(const char *const *words, const char *word)
{
    for (int i = 0; word != NULL && words[i] != NULL; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    return -1;
}

int upper_word(const json_t *command, const char *name, const char *const *words, unsigned *value,
               struct iwarp_sentence *sentence)
{
    const char *text = NULL;
    char expected[200];
    int found;

    if (upper_string(command, name, &text, sentence) != 0)
        return -1;
    if (text == NULL)
        return 0;
    found = find_word(words, text);
    if (found < 0)
        return iwarp_sentence_set(sentence, "'%s' is '%.40s', %s was expected", name, text,
                                  enumeration(words, expected, sizeof(expected)));
    *value = (unsigned)found;
    return 0;
}

int upper_words(const json_t *command, const char *name, const char *const *words, unsigned *value,
                struct iwarp_sentence *sentence)
{
    const json_t *member = json_object_get(command, name), *item;
    char expected[200];
    unsigned bits = 0;
    size_t index;

    if (member == NULL)
        return 0;
    json_array_foreach(member, index, item)
    {
        int found = find_word(words, json_string_value(item));

        if (found < 0)
            break;
        bits |= 1U << found;
    }
    if (!json_is_array(member) || index < json_array_size(member))
        return iwarp_sentence_set(sentence, "'%s' is not a list of the words %s", name,
                                  enumeration(words, expected, sizeof(expected)));
    *value = bits;
    return 0;
}

int upper_rtr_kinds(const json_t *command, unsigned *value, struct iwarp_sentence *sentence)
{
    size_t count = json_array_size(json_object_get(command, "rtr"));
    unsigned bits = 0;

    if (json_object_get(command, "rtr") == NULL)
        return 0;
    if (upper_words(command, "rtr", upper_rtr_words, &bits, sentence) != 0)
        return -1;
    if (count == 0 || (size_t)__builtin_popcount(bits) != count)
        return iwarp_sentence_set(sentence, "'rtr' is not a list of at least one word, each once");
    *value = bits;
    return 0;
}

bool upper_in_list(const char *list, const char *word)
{
    size_t octets = strlen(word);

    for (const char *at = list; *at != '\0';) {
        size_t length = strcspn(at, " ");

        if (length == octets && memcmp(at, word, length) == 0)
            return true;
        at += length;
        at += *at == ' ';
    }
    return false;
}

/* ---- octets ------------------------------------------------------------------------------------------------------ */

static int nibble(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool unhex(const char *text, size_t count, uint8_t *octets)
{
    for (size_t i = 0; i < count; i++) {
        int high = nibble(text[2 * i]);
        int low = nibble(text[2 * i + 1]);

        if (high < 0 || low < 0)
            return false;
        octets[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

int upper_octets(const json_t *command, const char *name, size_t most, uint8_t **octets, size_t *count,
                 struct iwarp_sentence *sentence)
{
    const json_t *member = json_object_get(command, name);
    size_t length;

    *octets = NULL;
    *count = 0;
    if (member == NULL)
        return 0;
    if (!json_is_string(member))
        return iwarp_sentence_set(sentence, "'%s' is no string of hex digits", name);
    length = json_string_length(member);
    if (length % 2 != 0)
        return iwarp_sentence_set(sentence, "'%s' has an odd number of hex digits", name);
    if (length / 2 > most)
        return iwarp_sentence_set(sentence, "'%s' has %zu octets, at most %zu were expected", name, length / 2, most);
    *octets = malloc(length / 2 + 1);
    if (*octets == NULL)
        return iwarp_sentence_set(sentence, "out of memory");
    if (!unhex(json_string_value(member), length / 2, *octets)) {
        free(*octets);
        *octets = NULL;
        return iwarp_sentence_set(sentence, "'%s' is no string of hex digits", name);
    }
    *count = length / 2;
    return 0;
}

int upper_payload_once(const json_t *command, struct iwarp_sentence *sentence)
{
    if (json_object_get(command, "data") != NULL && json_object_get(command, "length") != NULL)
        return iwarp_sentence_set(sentence, "'data' or 'length' was expected, not both");
    return 0;
}

json_t *upper_hex(const uint8_t *octets, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    char *text = malloc(count * 2 + 1);
    json_t *string;

    if (text == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        text[2 * i] = digits[octets[i] >> 4];
        text[2 * i + 1] = digits[octets[i] & 0xF];
    }
    string = json_stringn(text, count * 2);
    free(text);
    return string;
}

/* What is there already is repeated: one look at each octet would be most of a large command's time. */
void upper_count(uint8_t *octets, size_t count)
{
    enum { PERIOD = 251 };
    size_t made;

    for (made = 0; made < count && made < PERIOD; made++)
        octets[made] = (uint8_t)made;
    for (size_t more; made < count; made += more) {
        more = made < count - made ? made : count - made; /* `made` is a multiple of the period here */
        memcpy(octets + made, octets, more);
    }
}

int upper_fill(const json_t *command, uint8_t *octets, size_t count, struct iwarp_sentence *sentence)
{
    const json_t *fill = json_object_get(command, "fill");
    uint64_t value = 0;
    uint8_t *data;
    size_t over;

    if (json_is_string(fill) && strcmp(json_string_value(fill), "count") == 0)
        upper_count(octets, count);
    else if (upper_number(command, "fill", UINT8_MAX, &value, sentence) != 0)
        return -1;
    else
        memset(octets, (int)value, count);
    if (upper_octets(command, "data", count, &data, &over, sentence) != 0)
        return -1;
    if (data != NULL)
        memcpy(octets, data, over);
    free(data);
    return 0;
}
