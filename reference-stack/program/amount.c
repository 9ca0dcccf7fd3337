/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/program/amount.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number and, where it is not its end, one letter of `units`: *unit is its place there, from 1. -1: something else. */
static int amount_read(const char *value, const char *units, uint64_t *number, unsigned *unit)
{
    const char *letter;
    char *end;

    *unit = 0;
    if (*value < '0' || *value > '9')
        return -1;
    errno = 0;
    *number = strtoull(value, &end, 10);
    if (errno != 0)
        return -1;
    if (*end == '\0')
        return 0;
    letter = strchr(units, *end);
    if (letter == NULL || end[1] != '\0')
        return -1;
    *unit = (unsigned)(letter - units) + 1;
    return 0;
}

const char *amount_octets_text(uint64_t octets, char text[AMOUNT_TEXT_OCTETS])
{
    static const char *const units[] = {"", "K", "M", "G"};
    unsigned unit = 0;

    while (octets != 0 && unit < sizeof(units) / sizeof(units[0]) - 1 && octets % 1024 == 0) {
        octets /= 1024;
        unit++;
    }
    (void)snprintf(text, AMOUNT_TEXT_OCTETS, "%" PRIu64 "%s", octets, units[unit]);
    return text;
}

int amount_octets(const char *option, const char *value, uint64_t least, uint64_t most, const char *example,
                  uint64_t *octets, struct iwarp_sentence *error)
{
    char from[AMOUNT_TEXT_OCTETS], to[AMOUNT_TEXT_OCTETS];
    uint64_t number;
    unsigned unit;

    if (amount_read(value, "KMG", &number, &unit) != 0 || number > most >> (unit * 10) || number << (unit * 10) < least)
        return iwarp_sentence_set(error, "%s \"%.40s\": octets from %s to %s were expected, such as %s", option, value,
                                  amount_octets_text(least, from), amount_octets_text(most, to), example);
    *octets = number << (unit * 10);
    return 0;
}

static const struct {
    uint64_t seconds;
    const char *name;
} times[] = {{1, "s"}, {60, "m"}, {3600, "h"}, {86400, "d"}};

const char *amount_seconds_text(uint64_t seconds, char text[AMOUNT_TEXT_OCTETS])
{
    size_t unit = seconds != 0 ? sizeof(times) / sizeof(times[0]) - 1 : 0;

    while (seconds % times[unit].seconds != 0)
        unit--;
    (void)snprintf(text, AMOUNT_TEXT_OCTETS, "%" PRIu64 "%s", seconds / times[unit].seconds, times[unit].name);
    return text;
}

int amount_seconds(const char *option, const char *value, uint64_t least, uint64_t most, uint64_t *seconds,
                   struct iwarp_sentence *error)
{
    char from[AMOUNT_TEXT_OCTETS], to[AMOUNT_TEXT_OCTETS];
    uint64_t number, one;
    unsigned unit;
    int rc = amount_read(value, "smhd", &number, &unit);

    one = times[unit != 0 ? unit - 1 : 0].seconds;
    if (rc != 0 || number > most / one || number * one < least)
        return iwarp_sentence_set(error, "%s \"%.40s\": a time from %s to %s was expected, such as 90s, 30m, 24h or 7d",
                                  option, value, amount_seconds_text(least, from), amount_seconds_text(most, to));
    *seconds = number * one;
    return 0;
}
