/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/sandbox/lua_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCRIPT_OCTETS_MAX = 1 << 20 };

char *lua_file_read(const char *path, size_t *count, struct iwarp_sentence *error)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rbe");
    char *octets = file != NULL ? malloc(SCRIPT_OCTETS_MAX) : NULL;
    int cause = octets == NULL ? errno : 0;

    if (octets != NULL) {
        errno = 0;
        *count = fread(octets, 1, SCRIPT_OCTETS_MAX, file);
        cause = ferror(file) ? errno : *count == SCRIPT_OCTETS_MAX ? EFBIG : 0;
    }
    if (file != NULL && file != stdin)
        (void)fclose(file);
    if (cause == 0 && octets != NULL)
        return octets;
    (void)iwarp_sentence_set(error, "%.300s: %s", path,
                             cause == EFBIG ? "a script has at most 1 MiB" : strerror(cause));
    free(octets);
    errno = cause;
    return NULL;
}
