/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/bridge/bridge_pattern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned octet_of(unsigned seed, size_t at)
{
    return (unsigned)(seed * 31 + at * 7 + at / 251) & 0xFF;
}

char *bridge_pattern(unsigned seed, size_t octets)
{
    char *text = malloc(octets * 2 + 1);

    for (size_t i = 0; text != NULL && i < octets; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", octet_of(seed, i));
    return text;
}

bool bridge_pattern_is(const char *text, size_t at, size_t octets, unsigned seed, bool partly)
{
    for (size_t i = at; i < at + octets; i++) {
        char digits[3] = {text[2 * i], text[2 * i + 1], '\0'};
        unsigned long octet = strtoul(digits, NULL, 16);

        if (octet != octet_of(seed, i) && !(partly && octet == 0))
            return false;
    }
    return true;
}

bool bridge_pattern_zero(const char *text, size_t at, size_t octets)
{
    return strspn(text + 2 * at, "0") >= 2 * octets;
}
