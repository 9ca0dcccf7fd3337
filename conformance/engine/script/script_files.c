/* SPDX-License-Identifier: BSD-2-Clause */
/* Scripts from files, for `--script` and `--scripts`. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "conformance/engine/sandbox/lua_file.h"
#include "conformance/engine/script/script_internal.h"

enum { PATH_OCTETS = 4096 };

static int load_file(struct script_host *host, const char *path, struct iwarp_sentence *error)
{
    size_t count;
    char *octets = lua_file_read(path, &count, error);
    int status;

    if (octets == NULL) {
        if (errno == ENOMEM)
            script_note_shortage(host);
        return -1;
    }
    status = script_load(host, path, octets, count, error);
    free(octets);
    return status;
}

static int only_scripts(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);

    return entry->d_name[0] != '.' &&
           (entry->d_type != DT_REG || (length > 4 && strcmp(entry->d_name + length - 4, ".lua") == 0));
}

int script_load_path(struct script_host *host, const char *path, struct iwarp_sentence *error)
{
    struct dirent **names;
    struct stat status;
    int count;
    int result = 0;

    if (stat(path, &status) != 0)
        return iwarp_sentence_set(error, "%.300s: %s", path, strerror(errno));
    if (!S_ISDIR(status.st_mode))
        return load_file(host, path, error);
    count = scandir(path, &names, only_scripts, alphasort);
    if (count < 0) {
        if (errno == ENOMEM)
            script_note_shortage(host);
        return iwarp_sentence_set(error, "%.300s: %s", path, strerror(errno));
    }
    for (int i = 0; i < count; i++) {
        char below[PATH_OCTETS];

        if (result == 0 && strcmp(names[i]->d_name, "lib") != 0 &&
            snprintf(below, sizeof(below), "%s/%s", path, names[i]->d_name) < (int)sizeof(below))
            result = script_load_path(host, below, error);
        free(names[i]);
    }
    free(names);
    return result;
}
