/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* scandirat */
#include "reports/folder/digests.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <sha2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reports/results/evidence_names.h"
#include "reports/file/save.h"
#include "reports/file/whole_file.h"
#include "base/text_stream.h"

#define RESULTS "results.jsonl"

enum { PIECE = 65536, LIST_OCTETS_MAX = 64 << 20 };

/*
 * ---- one file -----------------------------------------------------------------------------------------------------
 */

void digest_of_octets(const void *octets, size_t count, char text[static DIGEST_TEXT_OCTETS])
{
    SHA2_CTX state;

    SHA256Init(&state);
    SHA256Update(&state, octets, count);
    (void)SHA256End(&state, text);
}

/* 0; 1: there is no such file, or it is a link, a folder or a device; -1 and errno. */
static int digest_of_file(int folder, const char *name, char text[static DIGEST_TEXT_OCTETS])
{
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat status;
    uint8_t *piece;
    SHA2_CTX state;
    ssize_t count;
    int cause;

    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? 1 : -1;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        close(fd);
        return 1;
    }
    SHA256Init(&state);
    piece = malloc(PIECE);
    do {
        count = piece != NULL ? read(fd, piece, PIECE) : -1;
        if (count > 0)
            SHA256Update(&state, piece, (size_t)count);
    } while (count > 0 || (count < 0 && errno == EINTR));
    cause = errno;
    free(piece);
    close(fd);
    (void)SHA256End(&state, text);
    errno = cause;
    return count == 0 ? 0 : -1;
}

/*
 * ---- all files of a folder -----------------------------------------------------------------------------------------
 */

static int is_file(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);

    return entry->d_name[0] != '.' && !(length > 5 && strcmp(entry->d_name + length - 5, ".part") == 0);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Its digest, as a member of `sums`; a file that is not there has none. -1 with the sentence set. */
static int sum_file(json_t *sums, const struct place *folder, const char *name, struct iwarp_sentence *error)
{
    char text[DIGEST_TEXT_OCTETS];
    int rc = digest_of_file(folder->folder, name, text);

    if (rc < 0)
        return iwarp_sentence_set(error, "%.300s/%.200s: cannot read: %s", folder->path, name, strerror(errno));
    if (rc == 0 && json_object_set_new(sums, name, json_string(text)) != 0)
        return iwarp_sentence_set(error, "%.300s: out of memory", folder->path);
    return 0;
}

static int sum_evidence(json_t *sums, const struct place *folder, struct iwarp_sentence *error)
{
    int evidence = openat(folder->folder, EVIDENCE, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), rc = 0, count;
    struct dirent **entries;
    char name[sizeof(EVIDENCE "/") + sizeof(entries[0]->d_name)];

    if (evidence < 0)
        return errno == ENOENT ? 0
                               : iwarp_sentence_set(error, "%.300s/" EVIDENCE ": %s", folder->path, strerror(errno));
    count = scandirat(evidence, ".", &entries, is_file, by_name);
    close(evidence);
    if (count < 0)
        return iwarp_sentence_set(error, "%.300s/" EVIDENCE ": cannot read the folder: %s", folder->path,
                                  strerror(errno));
    for (int i = 0; i < count; i++) {
        (void)snprintf(name, sizeof(name), EVIDENCE "/%s", entries[i]->d_name);
        if (rc == 0)
            rc = sum_file(sums, folder, name, error);
        free(entries[i]);
    }
    free(entries);
    return rc;
}

/* name -> digest of all that is there; NULL with the sentence set. */
static json_t *sum_all(const struct place *folder, struct iwarp_sentence *error)
{
    json_t *sums = json_object();

    if (sums == NULL) {
        (void)iwarp_sentence_set(error, "%.300s: out of memory", folder->path);
    } else if (sum_file(sums, folder, RESULTS, error) != 0 || sum_file(sums, folder, "console.txt", error) != 0 ||
               sum_evidence(sums, folder, error) != 0) {
        json_decref(sums);
        sums = NULL;
    }
    return sums;
}

int digests_write(struct folder *folder, struct iwarp_sentence *error)
{
    struct place itself = folder_itself(folder), to;
    json_t *sums = sum_all(&itself, error), *digest;
    char *text = NULL;
    const char *name;
    size_t size = 0;
    FILE *out;
    int rc;

    if (sums == NULL)
        return -1;
    out = text_stream_open(&text, &size);
    json_object_foreach(sums, name, digest) if (out != NULL) fprintf(out, "%s  %s\n", json_string_value(digest), name);
    to = folder_place(folder, DIGESTS_FILE);
    if (out != NULL && text_stream_close(out, &text))
        rc = save_file(&to, text, size, error);
    else
        rc = iwarp_sentence_set(error, "%.300s: out of memory", to.path);
    free(text);
    json_decref(sums);
    return rc;
}

/*
 * ---- compared ------------------------------------------------------------------------------------------------------
 */

/* True for a name that digests_write() could have written. A listed file with another name is never opened. */
static bool is_ours(const char *name)
{
    if (strcmp(name, RESULTS) == 0 || strcmp(name, "console.txt") == 0)
        return true;
    return strncmp(name, EVIDENCE "/", sizeof(EVIDENCE)) == 0 && name[sizeof(EVIDENCE)] != '\0' &&
           name[sizeof(EVIDENCE)] != '.' && strchr(name + sizeof(EVIDENCE), '/') == NULL;
}

/* One line of sha256sum(1): 64 digits, a blank, a blank or '*', and a name. */
static int read_line(json_t *list, char *line, const char *path, unsigned number, struct iwarp_sentence *error)
{
    static const char digits[] = "0123456789abcdef";
    size_t length = DIGEST_TEXT_OCTETS - 1;

    if (strspn(line, digits) != length || line[length] != ' ' || (line[length + 1] != ' ' && line[length + 1] != '*') ||
        !is_ours(line + length + 2))
        return iwarp_sentence_set(
            error,
            "%.300s/" DIGESTS_FILE
            ":%u: SHA-256 and the name of results.jsonl, console.txt or a file of evidence was expected",
            path, number);
    line[length] = '\0';
    return json_object_set_new(list, line + length + 2, json_string(line)) == 0
               ? 0
               : iwarp_sentence_set(error, "%.300s/" DIGESTS_FILE ":%u: the name is not UTF-8", path, number);
}

/* name -> digest as the list says; NULL with the sentence set. */
static json_t *read_list(const char *path, struct iwarp_sentence *error)
{
    json_t *list = json_object();
    char *file = malloc(strlen(path) + sizeof("/" DIGESTS_FILE)), *rest, *line;
    uint8_t *octets = NULL;
    size_t size = 0;
    int rc;

    if (file == NULL || list == NULL) {
        rc = iwarp_sentence_set(error, "%.300s: out of memory", path);
    } else {
        (void)sprintf(file, "%s/" DIGESTS_FILE, path);
        rc = whole_file_read(file, LIST_OCTETS_MAX, &octets, &size, error);
    }
    if (rc == 0 && octets == NULL)
        rc = iwarp_sentence_set(error,
                                "%.300s: there is no " DIGESTS_FILE
                                " here: the command did not come to its end, or did not write this folder",
                                path);
    rest = (char *)octets;
    for (unsigned number = 1; rc == 0 && (line = strsep(&rest, "\n")) != NULL; number++)
        if (line[0] != '\0')
            rc = read_line(list, line, path, number, error);
    free(octets);
    free(file);
    if (rc == 0)
        return list;
    json_decref(list);
    return NULL;
}

struct comparison {
    digests_complaint *complain;
    void *user;
    bool differs;
};

static void report_difference(struct comparison *comparison, const char *name, const char *what)
{
    comparison->differs = true;
    comparison->complain(comparison->user, name, what);
}

static void compare(struct comparison *comparison, const json_t *list, const json_t *sums, json_t *named)
{
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)list, name, value)
    {
        const char *now = json_string_value(json_object_get(sums, name));

        if (now == NULL)
            report_difference(comparison, name, "is missing");
        else if (strcmp(now, json_string_value(value)) != 0)
            report_difference(comparison, name, "differs");
    }
    (void)json_object_update_missing(named, (json_t *)sums);
    json_object_foreach(named, name, value) if (json_object_get(list, name) == NULL)
        report_difference(comparison, name, "is not in the list");
}

int digests_verify(const char *path, digests_complaint *complain, void *user, size_t *count,
                   struct iwarp_sentence *error)
{
    struct comparison comparison = {.complain = complain, .user = user};
    json_t *list = read_list(path, error), *sums, *named;
    struct place folder = {.path = path, .name = RESULTS};
    int rc = DIGESTS_UNKNOWN;

    if (list == NULL)
        return DIGESTS_UNKNOWN;
    *count = json_object_size(list);
    folder.folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    sums = folder.folder >= 0 ? sum_all(&folder, error) : NULL;
    named = json_object();
    if (folder.folder < 0) {
        rc = iwarp_sentence_set(error, "%.300s: %s", path, strerror(errno));
    } else if (sums == NULL || named == NULL) {
        rc = -1;
    } else {
        rc = evidence_names(&folder, named, error) == 0 ? 0 : DIGESTS_UNKNOWN;
        compare(&comparison, list, sums, named);
        rc = comparison.differs ? DIGESTS_DIFFER : rc; /* results that were cut differ: that says enough */
    }
    if (folder.folder >= 0)
        close(folder.folder);
    json_decref(list);
    json_decref(sums);
    json_decref(named);
    return rc;
}
