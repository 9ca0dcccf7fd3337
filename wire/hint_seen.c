/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/hint_seen.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *name, *words;
    enum hint_seen seen;
} rows[] = {
#define ROW(name, words, what) {name, words, HINT_SEEN_##what},
    HINTS_SEEN(ROW)
#undef ROW
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

/* Without the error that a name may end with: "-0x" and digits. */
static size_t octets_of(const char *name)
{
    const char *error = strstr(name, "-0x");

    return error != NULL ? (size_t)(error - name) : strlen(name);
}

enum hint_seen hint_seen_of(const char *name)
{
    size_t octets = octets_of(name);

    if (strstr(name, "-for-") != NULL)
        return strncmp(name, "silence-", strlen("silence-")) == 0 ? HINT_SEEN_SILENT : HINT_SEEN_OTHER;
    for (size_t i = 0; i < ROWS; i++)
        if (strlen(rows[i].name) == octets && strncmp(rows[i].name, name, octets) == 0)
            return rows[i].seen;
    return HINT_SEEN_NOTHING;
}

const char *hint_seen_words(const char *name)
{
    for (size_t i = 0; i < ROWS; i++)
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].words;
    return NULL;
}
