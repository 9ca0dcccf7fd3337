/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* asprintf */
#include "conformance/engine/gen/gen_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/gen/gen_clear.h"
#include "conformance/engine/gen/gen_internal.h"
#include "reports/folder/folder.h"
#include "reports/file/save.h"
#include "base/text_stream.h"

enum { PATH_OCTETS = 4096, NAME_OCTETS = 300 };

static const char expected_head[] = "# capture\trequirement\tverdict\tframe\n";

/* Lines of one file of a corpus, in the order in which they came. */
struct lines {
    char **line;
    size_t count, room;
};

struct gen_folder {
    struct gen *gen;
    const char *root;
    bool force;
    size_t captures;
    struct folder *whole; /* `root`: one command makes the folders below it */
    struct folder *held[GEN_CORPORA_MAX];
    struct lines plan[GEN_CORPORA_MAX];  /* of README.md, before the captures are made */
    struct lines table[GEN_CORPORA_MAX]; /* of README.md, of those that were made */
    struct lines findings[GEN_CORPORA_MAX];
};

struct gen_folder *gen_folder_open(struct gen *gen, const char *root, bool force, struct iwarp_sentence *error)
{
    struct gen_folder *folder = calloc(1, sizeof(*folder));

    if (folder == NULL) {
        (void)iwarp_sentence_set(error, "out of memory for the corpus");
        return NULL;
    }
    folder->gen = gen;
    folder->root = root;
    folder->force = force;
    return folder;
}

/* Takes the line over. */
static int add_line(struct lines *lines, char *line, struct iwarp_sentence *error)
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
        return iwarp_sentence_set(error, "out of memory for the corpus");
    lines->line[lines->count++] = line;
    return 0;
}

static const char *suffix_of(const struct gen_folder *folder, size_t corpus)
{
    return gen_format_name(gen_corpus_at(folder->gen, corpus)->format);
}

static int add_row(struct gen_folder *folder, struct lines *lines, size_t corpus, const char *name, const char *about,
                   struct iwarp_sentence *error)
{
    char *line;

    if (asprintf(&line, "| `%s.%s` | %s |\n", name, suffix_of(folder, corpus), about) < 0)
        line = NULL;
    return add_line(lines, line, error);
}

int gen_folder_plan(struct gen_folder *folder, size_t corpus, const char *name, const char *about,
                    struct iwarp_sentence *error)
{
    return add_row(folder, &folder->plan[corpus], corpus, name, about, error);
}

int gen_folder_add(struct gen_folder *folder, size_t corpus, const char *name, const char *about,
                   struct iwarp_sentence *error)
{
    char *line;

    folder->captures++;
    if (add_row(folder, &folder->table[corpus], corpus, name, about, error) != 0)
        return -1;
    for (size_t i = 0; i < gen_finding_count(folder->gen); i++) {
        const struct gen_finding *finding = gen_finding_at(folder->gen, i);

        if (asprintf(&line, "%s.%s\t%s\t%s\t%llu\n", name, suffix_of(folder, corpus), finding->id, finding->verdict,
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

/*
 * ---- files ---------------------------------------------------------------------------------------------------------
 */

static int write_file(struct gen_folder *folder, size_t corpus, const char *name, const char *text, const char *head,
                      const struct lines *lines, struct iwarp_sentence *error)
{
    struct place place = folder_place(folder->held[corpus], name);
    char *octets = NULL;
    size_t size = 0;
    FILE *out = text_stream_open(&octets, &size);
    int rc = -1;

    if (out != NULL) {
        fputs(text, out);
        fputs(head, out);
        for (size_t i = 0; i < lines->count; i++)
            fputs(lines->line[i], out);
        rc = text_stream_close(out, &octets) ? 0 : -1;
    }
    rc = rc == 0 ? save_file(&place, octets, size, error) : iwarp_sentence_set(error, "out of memory for the corpus");
    free(octets);
    return rc;
}

static int write_readme(struct gen_folder *folder, size_t corpus, const struct lines *table,
                        struct iwarp_sentence *error)
{
    static const char unnamed[] = "# Captures\n\nMade by `warpcheck gen --corpus`.\n";
    const char *text = gen_corpus_at(folder->gen, corpus)->text;

    return write_file(folder, corpus, "README.md", text != NULL ? text : unnamed, "\n" GEN_TABLE_HEAD, table, error);
}

static enum exit_status write_corpus(struct gen_folder *folder, size_t corpus, struct iwarp_sentence *error)
{
    const char *below = gen_corpus_at(folder->gen, corpus)->folder;
    char path[PATH_OCTETS];
    struct folder_config config = {
        .path = path,
        .use = folder->force ? FOLDER_FORCE : FOLDER_NEW,
        .hint = "--force removes the captures that its README.md lists",
        .clear = gen_clear,
    };
    int rc;

    if (snprintf(path, sizeof(path), "%s%s%s", folder->root, below[0] != '\0' ? "/" : "", below) >= (int)sizeof(path)) {
        (void)iwarp_sentence_set(error, "the path of the folder is too long: %.100s...", folder->root);
        return EXIT_USAGE;
    }
    rc = folder_claim(&folder->held[corpus], &config, error);
    return rc == 0 ? EXIT_DONE : rc == FOLDER_NOT_EMPTY ? EXIT_USAGE : EXIT_ENVIRONMENT;
}

static int claim_whole(struct gen_folder *folder, struct iwarp_sentence *error)
{
    struct folder_config config = {.path = folder->root, .use = FOLDER_AGAIN};

    return folder_make(folder->root, error) == 0 ? folder_claim(&folder->whole, &config, error) : -1;
}

enum exit_status gen_folder_begin(struct gen_folder *folder, struct iwarp_sentence *error)
{
    enum exit_status status = EXIT_DONE;

    if (folder->whole == NULL && claim_whole(folder, error) != 0)
        return EXIT_ENVIRONMENT;
    for (size_t i = 0; i < gen_corpus_count(folder->gen) && status == EXIT_DONE; i++)
        if (folder->plan[i].count != 0 && folder->held[i] == NULL)
            status = write_corpus(folder, i, error);
    for (size_t i = 0; i < gen_corpus_count(folder->gen) && status == EXIT_DONE; i++)
        if (folder->plan[i].count != 0 && write_readme(folder, i, &folder->plan[i], error) != 0)
            status = EXIT_ENVIRONMENT;
    return status;
}

int gen_folder_place(struct gen_folder *folder, size_t corpus, const char *name, struct place *place,
                     struct iwarp_sentence *error)
{
    char file[NAME_OCTETS];

    if (snprintf(file, sizeof(file), "%s.%s", name, suffix_of(folder, corpus)) >= (int)sizeof(file))
        return iwarp_sentence_set(error, "the name of the capture is too long: %.100s...", name);
    *place = folder_place(folder->held[corpus], file);
    return 0;
}

static int by_octets(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int finish_corpus(struct gen_folder *folder, size_t corpus, struct iwarp_sentence *error)
{
    struct lines *findings = &folder->findings[corpus];

    if (folder->table[corpus].count == 0)
        return 0;
    if (findings->count != 0)
        qsort(findings->line, findings->count, sizeof(*findings->line), by_octets);
    if (write_readme(folder, corpus, &folder->table[corpus], error) != 0)
        return -1;
    return write_file(folder, corpus, "findings.tsv", "", expected_head, findings, error);
}

int gen_folder_finish(struct gen_folder *folder, struct iwarp_sentence *error)
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

/* Nothing was made of it. */
static void forget_plan(const struct folder *held)
{
    struct place itself = folder_itself(held);

    (void)gen_clear(&itself, NULL);
}

void gen_folder_free(struct gen_folder *folder)
{
    if (folder == NULL)
        return;
    for (size_t i = 0; i < GEN_CORPORA_MAX; i++) {
        if (folder->held[i] != NULL && folder->table[i].count == 0)
            forget_plan(folder->held[i]);
        folder_leave(folder->held[i]);
        free_lines(&folder->plan[i]);
        free_lines(&folder->table[i]);
        free_lines(&folder->findings[i]);
    }
    folder_leave(folder->whole);
    free(folder);
}
