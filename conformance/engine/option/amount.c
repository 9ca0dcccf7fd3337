/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/option/amount.h"

#include <errno.h>
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

int amount_octets(const char *option, const char *value, uint64_t least, uint64_t most, const char *expected,
                  uint64_t *octets, struct iwarp_sentence *error)
{
    uint64_t number;
    unsigned unit;

    if (amount_read(value, "KMG", &number, &unit) != 0 || number > most >> (unit * 10) || number << (unit * 10) < least)
        return iwarp_sentence_set(error, "%s \"%.40s\": %s", option, value, expected);
    *octets = number << (unit * 10);
    return 0;
}

int amount_seconds(const char *option, const char *value, uint64_t least, uint64_t most, uint64_t *seconds,
                   struct iwarp_sentence *error)
{
    static const uint64_t units[] = {1, 1, 60, 3600, 86400};
    uint64_t number;
    unsigned unit;

    if (amount_read(value, "smhd", &number, &unit) != 0 || number > most / units[unit] || number * units[unit] < least)
        return iwarp_sentence_set(error,
                                  "%s \"%.40s\": a time from %llus to %llud was expected, such as 90s, 30m, 24h or 7d",
                                  option, value, (unsigned long long)least, (unsigned long long)(most / 86400));
    *seconds = number * units[unit];
    return 0;
}
