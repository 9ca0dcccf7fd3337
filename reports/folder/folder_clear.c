/* SPDX-License-Identifier: BSD-2-Clause */
/* What run, audit and report --merge leave in their folder, and how it is removed: by its names, and files alone. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conformance/requirements/catalogue.h"
#include "reports/folder/digests.h"
#include "reports/results/evidence_names.h"
#include "reports/folder/folder.h"
#include "reports/writers/format.h"

#define SUFFIX ".pcapng"

/* A file that is ours by its name. A link, a folder or a device under such a name is not. */
static int remove_file(const struct place *folder, const char *name, struct iwarp_sentence *error)
{
    struct stat status;

    if (fstatat(folder->folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? 0
                               : iwarp_sentence_set(error, "%.200s/%.100s: %s", folder->path, name, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return iwarp_sentence_set(error, "%.200s/%.100s: warpcheck did not write this file: remove it yourself",
                                  folder->path, name);
    if (unlinkat(folder->folder, name, 0) != 0 && errno != ENOENT)
        return iwarp_sentence_set(error, "%.200s/%.100s: cannot be removed: %s", folder->path, name, strerror(errno));
    return 0;
}

/* The same, and what it was called before it was complete. */
static int remove_both(const struct place *folder, const char *name, struct iwarp_sentence *error)
{
    char part[80];

    (void)snprintf(part, sizeof(part), "%s.part", name);
    return remove_file(folder, name, error) == 0 ? remove_file(folder, part, error) : -1;
}

/* ---- evidence ---------------------------------------------------------------------------------------------------- */

/*
 * What stands after a check's id, or after "served": "-responder.2.0123abcd.pcapng", of which only the suffix has to be
 * there; or what a command of the profile wrote, "-initiator.connect.txt".
 */
static bool is_rest(const char *rest)
{
    static const char digits[] = "0123456789", hexadecimal[] = "0123456789abcdef";

    if (strncmp(rest, "-initiator", 10) == 0 || strncmp(rest, "-responder", 10) == 0)
        rest += 10;
    if (rest[0] == '.' && rest[1 + strspn(rest + 1, digits)] == '.')
        rest += 1 + strspn(rest + 1, digits);
    if (rest[0] == '.' && strspn(rest + 1, hexadecimal) == 8 && rest[9] == '.')
        rest += 9;
    return strcmp(rest, SUFFIX) == 0 || strcmp(rest, ".connect.txt") == 0 || strcmp(rest, ".restart.txt") == 0;
}

/* The results speak of it, or it is called as a check's evidence is. */
static bool is_evidence(const json_t *names, const struct catalogue *catalogue, const char *name)
{
    char id[64], path[sizeof(EVIDENCE) + 300];

    (void)snprintf(path, sizeof(path), EVIDENCE "/%s", name);
    if (json_object_get(names, path))
        return true;
    for (size_t i = 1; i < sizeof(id) && name[i] != '\0'; i++) {
        (void)snprintf(id, i + 1, "%s", name);
        if ((name[i] == '.' || name[i] == '-') && is_rest(name + i) &&
            (strcmp(id, "served") == 0 || catalogue_find(catalogue, id)))
            return true;
    }
    return false;
}

static int remove_evidence(const struct place *evidence, const json_t *names, const struct catalogue *catalogue,
                           struct iwarp_sentence *error)
{
    int fd = openat(evidence->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    int rc = 0;

    if (!listing) {
        if (fd >= 0)
            close(fd);
        return iwarp_sentence_set(error, "%.300s: cannot read the folder: %s", evidence->path, strerror(errno));
    }
    while (rc == 0 && (entry = readdir(listing)) != NULL) {
        char name[300];

        (void)snprintf(name, sizeof(name), "%s", entry->d_name);
        if (strlen(name) > 5 && strcmp(name + strlen(name) - 5, ".part") == 0)
            name[strlen(name) - 5] = '\0';
        if (is_evidence(names, catalogue, name))
            rc = remove_file(evidence, entry->d_name, error);
    }
    closedir(listing);
    return rc;
}

static int clear_evidence(const struct place *folder, struct iwarp_sentence *error)
{
    struct place results = {folder->folder, "results.jsonl", folder->path}, evidence = {.path = folder->path};
    struct catalogue *catalogue = NULL;
    int rc;

    evidence.folder = openat(folder->folder, EVIDENCE, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (evidence.folder < 0)
        return errno == ENOENT
                   ? 0
                   : iwarp_sentence_set(error, "%.300s/" EVIDENCE ": warpcheck did not make this folder: %s",
                                        folder->path, strerror(errno));
    rc = catalogue_load(&catalogue, error);
    json_t *names = json_object();
    if (rc == 0 && !names)
        rc = iwarp_sentence_set(error, "%s: out of memory", folder->path);
    if (rc == 0) {
        (void)evidence_names(&results, names, NULL); /* as far as it can be read */
        rc = remove_evidence(&evidence, names, catalogue, error);
    }
    json_decref(names);
    catalogue_free(catalogue);
    close(evidence.folder);
    if (rc == 0)
        (void)unlinkat(folder->folder, EVIDENCE, AT_REMOVEDIR); /* unless other files are in it */
    return rc;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static int clear_reports(const struct place *folder, struct iwarp_sentence *error)
{
    for (const struct report_format *format = report_formats; format->name; format++)
        if (remove_both(folder, format->file, error) != 0)
            return -1;
    return remove_both(folder, DIGESTS_FILE, error) == 0 ? remove_both(folder, "console.txt", error) : -1;
}

int folder_clear_reports(const struct folder *folder, struct iwarp_sentence *error)
{
    struct place itself = folder_itself(folder);

    return clear_reports(&itself, error);
}

int folder_clear_run(const struct place *folder, struct iwarp_sentence *error)
{
    if (clear_reports(folder, error) != 0 || clear_evidence(folder, error) != 0)
        return -1;
    return remove_both(folder, "results.jsonl", error); /* last: it names the evidence */
}
