/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/output_folder.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_OCTETS = 4100 };

int output_folder_make(const char *path, struct sentence *error)
{
    char text[PATH_OCTETS];

    if (snprintf(text, sizeof(text), "%s", path) >= (int)sizeof(text))
        return sentence_set(error, "the output folder's path is too long");
    for (char *at = text + 1; *at != '\0'; at++) {
        if (*at != '/')
            continue;
        *at = '\0';
        (void)mkdir(text, 0777);
        *at = '/';
    }
    if (mkdir(text, 0777) != 0 && errno != EEXIST)
        return sentence_set(error, "cannot make the folder %.300s: %s", path, strerror(errno));
    return 0;
}
