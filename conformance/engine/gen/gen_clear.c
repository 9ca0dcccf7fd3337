/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/gen/gen_clear.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { README_OCTETS_MAX = 1 << 20 };

/* README.md as text, malloc'd; NULL: there is none that can be read. */
static char *read_readme(const struct place *folder)
{
    int fd = openat(folder->folder, "README.md", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
    char *text = calloc(1, README_OCTETS_MAX + 1);

    if (file != NULL && text != NULL)
        (void)!fread(text, 1, README_OCTETS_MAX, file);
    if (file != NULL)
        (void)fclose(file);
    else if (fd >= 0)
        close(fd);
    return text;
}

/* Files alone: what else may have such a name is not ours. */
static int remove_file(const struct place *folder, const char *name, struct iwarp_sentence *error)
{
    struct stat status;

    if (fstatat(folder->folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode))
        return 0;
    if (unlinkat(folder->folder, name, 0) != 0 && errno != ENOENT)
        return iwarp_sentence_set(error, "%.200s/%.100s: cannot be removed: %s", folder->path, name, strerror(errno));
    return 0;
}

static bool is_capture(const char *name)
{
    const char *dot = strrchr(name, '.');

    return dot != NULL && strchr(name, '/') == NULL && (strcmp(dot, ".pcap") == 0 || strcmp(dot, ".pcapng") == 0);
}

/* One row of the table, cut out of the text; what was being written when a command was stopped goes, too. */
static int remove_row(const struct place *folder, char *row, struct iwarp_sentence *error)
{
    char *end = strncmp(row, "| `", 3) == 0 ? strchr(row + 3, '`') : NULL;
    char part[300];

    if (end == NULL)
        return 0;
    *end = '\0';
    if (!is_capture(row + 3))
        return 0;
    (void)snprintf(part, sizeof(part), "%.290s.part", row + 3);
    return remove_file(folder, part, error) == 0 ? remove_file(folder, row + 3, error) : -1;
}

int gen_clear(const struct place *folder, struct iwarp_sentence *error)
{
    static const char *const files[] = {"findings.tsv.part", "findings.tsv", "README.md.part", "README.md"};
    char *text = read_readme(folder);
    char *rows = text != NULL ? strstr(text, GEN_TABLE_HEAD) : NULL;
    char *row;
    int rc = 0;

    if (rows == NULL) {
        free(text);
        return 0;
    }
    rows += strlen(GEN_TABLE_HEAD);
    while (rc == 0 && (row = strsep(&rows, "\n")) != NULL)
        rc = remove_row(folder, row, error);
    free(text);
    for (size_t i = 0; rc == 0 && i < sizeof(files) / sizeof(files[0]); i++)
        rc = remove_file(folder, files[i], error); /* README.md last: it names the others */
    return rc;
}
