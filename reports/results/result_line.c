/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/results/result_line.h"

#include "reports/file/text.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 4096, NUMBER_DIGITS = 20 };

static char *reserve(struct result_lines *lines, size_t octets)
{
    if (lines->room - lines->count < octets) {
        size_t room = lines->room ? lines->room : FIRST_ROOM;
        while (room - lines->count < octets)
            room *= 2;
        char *grown = realloc(lines->octets, room);
        if (!grown)
            return NULL;
        lines->octets = grown;
        lines->room = room;
    }
    return lines->octets + lines->count;
}

static int append_octets(struct result_lines *lines, const char *octets, size_t count)
{
    char *to = reserve(lines, count);
    if (!to)
        return -1;
    memcpy(to, octets, count);
    lines->count += count;
    return 0;
}

/* True for what stands in JSON as it is, and needs no cleaning. */
static bool is_plain(const char *text, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        unsigned char octet = (unsigned char)text[i];
        if (octet < 0x20 || octet >= 0x7F || octet == '"' || octet == '\\')
            return false;
    }
    return true;
}

/* Clean text between quotes; jansson knows the escapes. */
static int write_escaped(struct result_lines *lines, const char *text)
{
    char *clean = text_clean(text);
    json_t *string = clean ? json_string(clean) : NULL;
    char *quoted = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;
    int rc = quoted ? append_octets(lines, quoted, strlen(quoted)) : -1;
    free(quoted);
    json_decref(string);
    free(clean);
    return rc;
}

/* The next member's name with the comma before it; `name` comes as "\"name\":". */
static int write_name(struct result_lines *lines, const char *name)
{
    if (lines->octets[lines->count - 1] != '{' && append_octets(lines, ",", 1) != 0)
        return -1;
    return append_octets(lines, name, strlen(name));
}

static int write_text(struct result_lines *lines, const char *name, const char *text)
{
    if (!text)
        return 0;
    if (write_name(lines, name) != 0)
        return -1;
    size_t count = strlen(text);
    if (!is_plain(text, count))
        return write_escaped(lines, text);
    return append_octets(lines, "\"", 1) | append_octets(lines, text, count) | append_octets(lines, "\"", 1);
}

static int write_count(struct result_lines *lines, const char *name, uint64_t value)
{
    char digits[NUMBER_DIGITS], *at = digits + sizeof(digits);
    if (value > INT64_MAX) /* a JSON integer of jansson is signed */
        value = INT64_MAX;
    do
        *--at = (char)('0' + value % 10);
    while ((value /= 10) != 0);
    if (write_name(lines, name) != 0)
        return -1;
    return append_octets(lines, at, (size_t)(digits + sizeof(digits) - at));
}

static int write_steps(struct result_lines *lines, const json_t *steps)
{
    char *text = json_dumps(steps, RESULT_LINE_FLAGS);
    int rc = text ? write_name(lines, "\"steps\":") | append_octets(lines, text, strlen(text)) : -1;
    free(text);
    return rc;
}

int result_line_append(struct result_lines *lines, const struct result *result)
{
    size_t before = lines->count;
    int rc = result->id ? append_octets(lines, "{", 1) : -1;
    if (rc != 0)
        return rc;
    rc |= write_text(lines, "\"type\":", "result");
    rc |= write_text(lines, "\"id\":", result->id);
    rc |= write_text(lines, "\"verdict\":", verdict_name(result->verdict));
#define TEXT(member) rc |= write_text(lines, "\"" #member "\":", result->member);
#define COUNT(member, written, value)                                                                                  \
    if (written)                                                                                                       \
        rc |= write_count(lines, "\"" #member "\":", value);
    RESULT_MEMBERS(TEXT, COUNT)
#undef TEXT
#undef COUNT
    if (result->steps && json_array_size(result->steps))
        rc |= write_steps(lines, result->steps);
    rc |= append_octets(lines, "}\n", 2);
    if (rc != 0)
        lines->count = before;
    return rc;
}

int result_line_copy(struct result_lines *lines, const char *octets, size_t count)
{
    return count != 0 ? append_octets(lines, octets, count) : 0;
}

int result_line_append_json(struct result_lines *lines, const json_t *object)
{
    char *text = object ? json_dumps(object, RESULT_LINE_FLAGS) : NULL;
    size_t length = text ? strlen(text) : 0;
    if (text)
        text[length] = '\n'; /* the closing NUL makes room for it */
    int rc = text ? append_octets(lines, text, length + 1) : -1;
    free(text);
    return rc;
}
