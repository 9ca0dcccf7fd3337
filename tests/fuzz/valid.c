/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An upper tester's answer, read in one pass and without a call of the C library, each of which the sanitizer looks
 * at: to read each answer with jansson took longer than to make it. The grammar is that of RFC 8259; octets of
 * strings are UTF-8 of any kind (what writes them checks them).
 */
#include "tests/fuzz/fuzz.h"

enum { DEPTH_MAX = 64 };

struct reading {
    const char *at, *end;
    unsigned depth;
    const char *ok, *error; /* the values of these members of the outermost object, NULL: none */
};

static bool value(struct reading *reading);

static void blanks(struct reading *reading)
{
    while (reading->at < reading->end &&
           (*reading->at == ' ' || *reading->at == '\t' || *reading->at == '\r' || *reading->at == '\n'))
        reading->at++;
}

static bool take(struct reading *reading, char octet)
{
    if (reading->at == reading->end || *reading->at != octet)
        return false;
    reading->at++;
    return true;
}

static bool word(struct reading *reading, const char *text)
{
    for (; *text != '\0'; text++)
        if (!take(reading, *text))
            return false;
    return true;
}

static bool is_digit(char octet)
{
    return octet >= '0' && octet <= '9';
}

static bool hex_digit(struct reading *reading)
{
    char octet = reading->at < reading->end ? *reading->at++ : '\0';

    return is_digit(octet) || (octet >= 'a' && octet <= 'f') || (octet >= 'A' && octet <= 'F');
}

static bool four_hex_digits(struct reading *reading)
{
    for (unsigned i = 0; i < 4; i++)
        if (!hex_digit(reading))
            return false;
    return true;
}

static bool escaped(struct reading *reading)
{
    char octet = reading->at < reading->end ? *reading->at++ : '\0';

    switch (octet) {
    case 'u': return four_hex_digits(reading);
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't': return true;
    default: return false;
    }
}

static bool string(struct reading *reading)
{
    if (!take(reading, '"'))
        return false;
    while (reading->at < reading->end) {
        unsigned char octet = (unsigned char)*reading->at++;

        if (octet == '"')
            return true;
        if (octet < 0x20 || (octet == '\\' && !escaped(reading)))
            return false;
    }
    return false;
}

static bool digits(struct reading *reading)
{
    const char *from = reading->at;

    while (reading->at < reading->end && is_digit(*reading->at))
        reading->at++;
    return reading->at != from;
}

static bool number(struct reading *reading)
{
    (void)take(reading, '-');
    if (!take(reading, '0') && !digits(reading))
        return false;
    if (take(reading, '.') && !digits(reading))
        return false;
    if (!take(reading, 'e') && !take(reading, 'E'))
        return true;
    if (!take(reading, '+'))
        (void)take(reading, '-');
    return digits(reading);
}

static bool array(struct reading *reading)
{
    blanks(reading);
    if (take(reading, ']'))
        return true;
    do {
        if (!value(reading))
            return false;
        blanks(reading);
    } while (take(reading, ','));
    return take(reading, ']');
}

/* A member of the outermost object that is asked for. */
static void note(struct reading *reading, const char *key, size_t octets)
{
    if (octets == 2 && key[0] == 'o' && key[1] == 'k')
        reading->ok = reading->at;
    else if (octets == 5 && key[0] == 'e' && key[1] == 'r' && key[2] == 'r' && key[3] == 'o' && key[4] == 'r')
        reading->error = reading->at;
}

static bool object(struct reading *reading)
{
    blanks(reading);
    if (take(reading, '}'))
        return true;
    do {
        const char *key;

        blanks(reading);
        key = reading->at + 1;
        if (!string(reading))
            return false;
        size_t octets = (size_t)(reading->at - key) - 1;

        blanks(reading);
        if (!take(reading, ':'))
            return false;
        blanks(reading);
        if (reading->depth == 1)
            note(reading, key, octets);
        if (!value(reading))
            return false;
        blanks(reading);
    } while (take(reading, ','));
    return take(reading, '}');
}

static bool value(struct reading *reading)
{
    bool is;

    blanks(reading);
    if (reading->at == reading->end || ++reading->depth > DEPTH_MAX)
        return false;
    if (take(reading, '{'))
        is = object(reading);
    else if (take(reading, '['))
        is = array(reading);
    else if (*reading->at == '"')
        is = string(reading);
    else
        is = *reading->at == 't'   ? word(reading, "true")
             : *reading->at == 'f' ? word(reading, "false")
             : *reading->at == 'n' ? word(reading, "null")
                                   : number(reading);
    reading->depth--;
    return is;
}

bool fuzz_is_answer(const char *text, size_t count)
{
    struct reading reading = {.at = text, .end = text + count};

    if (count == 0 || *text != '{' || !value(&reading) || reading.at != reading.end || reading.ok == NULL)
        return false;
    return *reading.ok == 't' || (*reading.ok == 'f' && reading.error != NULL && *reading.error == '"');
}
