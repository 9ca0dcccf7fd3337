/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* asprintf */
#include "conformance/engine/gen_folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/gen_internal.h"
#include "conformance/engine/output_folder.h"

enum { PATH_OCTETS = 4096 };

static const char expected_head[] = "# capture\trequirement\tverdict\tframe\n";

/* Lines of one file of a corpus, in the order in which they came. */
struct lines {
    char **line;
    size_t count, room;
};

struct gen_folder {
    struct gen *gen;
    const char *root;
    size_t captures;
    struct lines table[GEN_CORPORA_MAX]; /* of README.md */
    struct lines findings[GEN_CORPORA_MAX];
    char path[PATH_OCTETS];
};

struct gen_folder *gen_folder_open(struct gen *gen, const char *root, struct sentence *error)
{
    struct gen_folder *folder = calloc(1, sizeof(*folder));

    if (folder == NULL) {
        (void)sentence_set(error, "out of memory for the corpus");
        return NULL;
    }
    folder->gen = gen;
    folder->root = root;
    return folder;
}

static const char *path_of(struct gen_folder *folder, size_t corpus, const char *name, const char *suffix,
                           struct sentence *error)
{
    const char *below = gen_corpus_at(folder->gen, corpus)->folder;

    if (snprintf(folder->path, sizeof(folder->path), "%s/%s%s%s%s", folder->root, below, below[0] != '\0' ? "/" : "",
                 name, suffix) < (int)sizeof(folder->path))
        return folder->path;
    (void)sentence_set(error, "the path of the folder is too long: %.100s...", folder->root);
    return NULL;
}

const char *gen_folder_path(struct gen_folder *folder, size_t corpus, const char *name, struct sentence *error)
{
    char suffix[16];

    if (path_of(folder, corpus, "", "", error) == NULL || output_folder_make(folder->path, error) != 0)
        return NULL;
    (void)snprintf(suffix, sizeof(suffix), ".%s", gen_format_name(gen_corpus_at(folder->gen, corpus)->format));
    return path_of(folder, corpus, name, suffix, error);
}

/* Takes the line over. */
static int add_line(struct lines *lines, char *line, struct sentence *error)
{
    if (line != NULL && lines->count == lines->room) {
        size_t room = lines->room * 2 + 16;
        char **grown = realloc(lines->line, room * sizeof(*grown));

        if (grown == NULL) {
            free(line);
            line = NULL;
        } else {
            lines->line = grown;
            lines->room = room;
        }
    }
    if (line == NULL)
        return sentence_set(error, "out of memory for the corpus");
    lines->line[lines->count++] = line;
    return 0;
}

int gen_folder_add(struct gen_folder *folder, size_t corpus, const char *name, const char *about,
                   struct sentence *error)
{
    const char *suffix = gen_format_name(gen_corpus_at(folder->gen, corpus)->format);
    char *line;

    folder->captures++;
    if (asprintf(&line, "| `%s.%s` | %s |\n", name, suffix, about) < 0)
        line = NULL;
    if (add_line(&folder->table[corpus], line, error) != 0)
        return -1;
    for (size_t i = 0; i < gen_finding_count(folder->gen); i++) {
        const struct gen_finding *finding = gen_finding_at(folder->gen, i);

        if (asprintf(&line, "%s.%s\t%s\t%s\t%llu\n", name, suffix, finding->id, finding->verdict,
                     (unsigned long long)finding->frame) < 0)
            line = NULL;
        if (add_line(&folder->findings[corpus], line, error) != 0)
            return -1;
    }
    return 0;
}

size_t gen_folder_captures(const struct gen_folder *folder)
{
    return folder->captures;
}

static int by_octets(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int write_file(struct gen_folder *folder, size_t corpus, const char *name, const char *text, const char *head,
                      const struct lines *lines, struct sentence *error)
{
    const char *path = path_of(folder, corpus, name, "", error);
    FILE *file = path != NULL ? fopen(path, "w") : NULL;

    if (path == NULL)
        return -1;
    if (file == NULL)
        return sentence_set(error, "%s: cannot be written: %s", path, strerror(errno));
    fputs(text, file);
    fputs(head, file);
    for (size_t i = 0; i < lines->count; i++)
        fputs(lines->line[i], file);
    bool failed = ferror(file) != 0;

    if (fclose(file) != 0 || failed)
        return sentence_set(error, "%s: cannot write: %s", path, strerror(errno));
    return 0;
}

static int finish_corpus(struct gen_folder *folder, size_t corpus, struct sentence *error)
{
    static const char unnamed[] = "# Captures\n\nMade by `warpcheck gen --corpus`.\n";
    const char *text = gen_corpus_at(folder->gen, corpus)->text;
    struct lines *findings = &folder->findings[corpus];

    if (folder->table[corpus].count == 0)
        return 0;
    if (findings->count != 0)
        qsort(findings->line, findings->count, sizeof(*findings->line), by_octets);
    if (write_file(folder, corpus, "README.md", text != NULL ? text : unnamed, "\n| capture | what |\n|---|---|\n",
                   &folder->table[corpus], error) != 0)
        return -1;
    return write_file(folder, corpus, "expected.tsv", "", expected_head, findings, error);
}

int gen_folder_finish(struct gen_folder *folder, struct sentence *error)
{
    for (size_t i = 0; i < gen_corpus_count(folder->gen); i++)
        if (finish_corpus(folder, i, error) != 0)
            return -1;
    return 0;
}

static void free_lines(struct lines *lines)
{
    for (size_t i = 0; i < lines->count; i++)
        free(lines->line[i]);
    free(lines->line);
}

void gen_folder_free(struct gen_folder *folder)
{
    if (folder == NULL)
        return;
    for (size_t i = 0; i < GEN_CORPORA_MAX; i++) {
        free_lines(&folder->table[i]);
        free_lines(&folder->findings[i]);
    }
    free(folder);
}
