/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results of anybody's that are merged: up to three results.jsonl, with a line that begins with '=' between one and
 * the next. What is refused is refused in one sentence. What is merged can be read and merged again, nothing is
 * written beside the folder's results and evidence, and any order and any tree of merges gives the same file.
 */
#define _GNU_SOURCE /* asprintf */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conformance/requirements/catalogue.h"
#include "reports/merge/merge.h"
#include "reports/results/results_log.h"
#include "tests/fuzz/json.h"

enum { PARTS = 3, FOLDERS = 3 };

static struct catalogue *catalogue;
static char root[] = "/dev/shm/fuzz-merge-XXXXXX";
static char *folders[FOLDERS], *files[FOLDERS];

/*
 * ---- folders ------------------------------------------------------------------------------------------------------
 */

static void make_folder(unsigned which)
{
    FUZZ_HOLDS(asprintf(&folders[which], "%s/%u", root, which) > 0 && mkdir(folders[which], 0700) == 0);
    FUZZ_HOLDS(asprintf(&files[which], "%s/results.jsonl", folders[which]) > 0);
}

static void empty(const char *folder, bool itself)
{
    DIR *directory = opendir(folder);
    const struct dirent *entry;

    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        char *path = NULL;

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        FUZZ_HOLDS(asprintf(&path, "%s/%s", folder, entry->d_name) > 0);
        if (unlink(path) != 0)
            empty(path, true);
        free(path);
    }
    if (directory != NULL)
        (void)closedir(directory);
    if (itself)
        (void)rmdir(folder);
}

static void clean_up(void)
{
    empty(root, true);
    for (unsigned i = 0; i < FOLDERS; i++) {
        free(folders[i]);
        free(files[i]);
    }
    catalogue_free(catalogue);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    FUZZ_HOLDS(catalogue_load(&catalogue, NULL) == 0 && mkdtemp(root) != NULL);
    for (unsigned i = 0; i < FOLDERS; i++)
        make_folder(i);
    (void)atexit(clean_up);
    return 0;
}

static size_t entries_of(const char *folder)
{
    DIR *directory = opendir(folder);
    size_t count = 0;

    FUZZ_HOLDS(directory != NULL);
    while (readdir(directory) != NULL)
        count++;
    (void)closedir(directory);
    return count - 2;
}

/*
 * ---- merges -------------------------------------------------------------------------------------------------------
 */

static bool merged(const char *const *paths, size_t count, unsigned to)
{
    struct merge *merge = merge_new(catalogue);
    struct merge_outcome outcome = {.incomplete = ""};
    const struct folder_config config = {.path = folders[to], .use = FOLDER_FORCE};
    struct folder *folder = NULL;
    struct iwarp_sentence error = {""};
    bool ok = true;

    FUZZ_HOLDS(merge != NULL);
    for (size_t i = 0; i < count && ok; i++)
        ok = merge_add(merge, paths[i], root, &error) == 0;
    FUZZ_HOLDS(ok || error.text[0] != '\0');
    if (ok) {
        FUZZ_HOLDS(folder_claim(&folder, &config, &error) == 0);
        FUZZ_HOLDS(merge_write(merge, folder, &outcome, &error) == 0);
        FUZZ_HOLDS(merge_exit_status(&outcome) <= EXIT_KNOWN);
        FUZZ_HOLDS(outcome.incomplete[0] == '\0' || merge_exit_status(&outcome) != EXIT_CONFORMS);
    }
    folder_leave(folder);
    merge_free(merge);
    return ok;
}

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat status;
    char *text;

    FUZZ_HOLDS(file != NULL && fstat(fileno(file), &status) == 0);
    text = calloc(1, (size_t)status.st_size + 1);
    FUZZ_HOLDS(text != NULL && fread(text, 1, (size_t)status.st_size, file) == (size_t)status.st_size);
    (void)fclose(file);
    return text;
}

static void expect_same(unsigned a, unsigned b)
{
    char *left = read_file(files[a]), *right = read_file(files[b]);

    FUZZ_HOLDS(strcmp(left, right) == 0);
    free(left);
    free(right);
}

/*
 * Each part as this program writes it (texts cleaned, what it does not know left out): from then on nothing may get
 * lost.
 */
static void write_anew(const char **paths, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        FUZZ_HOLDS(merged(&paths[i], 1, 0));
        char *text = read_file(files[0]);

        paths[i] = fuzz_file((unsigned)(PARTS + i), text, strlen(text));
        free(text);
    }
}

static void try_orders(const char *const *paths, size_t count)
{
    const char *turned[PARTS], *tree[2] = {files[1], paths[count - 1]}, *twice[2] = {files[0], paths[0]};
    struct results_reader reader = {.on_run = NULL};
    struct iwarp_sentence error;

    FUZZ_HOLDS(merged(paths, count, 0));
    FUZZ_HOLDS(results_read(files[0], &reader, &error) == 0);
    FUZZ_HOLDS(entries_of(folders[0]) <= 2);
    for (size_t i = 0; i < count; i++)
        turned[i] = paths[count - 1 - i];
    FUZZ_HOLDS(merged(turned, count, 1));
    expect_same(0, 1);
    FUZZ_HOLDS(merged(paths, count > 1 ? count - 1 : 1, 1) && merged(tree, 2, 2));
    expect_same(0, 2);
    FUZZ_HOLDS(merged(twice, 2, 1));
    expect_same(0, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *paths[PARTS];
    size_t count = fuzz_parts(data, size, paths, PARTS);

    if (count != 0 && merged(paths, count, 0)) {
        if (size % 4 == 0) {
            write_anew(paths, count);
            try_orders(paths, count);
        }
        FUZZ_HOLDS(entries_of(root) == FOLDERS);
        for (unsigned i = 0; i < FOLDERS; i++)
            empty(folders[i], false);
    }
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    return fuzz_json_mutate(data, size, room, seed, true);
}
