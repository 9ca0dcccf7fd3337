/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `run --resume` of a results.jsonl of anybody's: torn, of another run, hostile. What is refused is refused in one
 * sentence and stays as it was. A resumed file is well-formed from then on: it can be read, a result that is
 * appended is there, what was done stays done each time that it is resumed, and nothing is left beside it.
 */
#define _GNU_SOURCE /* asprintf */
#include <sys/stat.h>
#include <unistd.h>

#include "reports/results/results_log.h"
#include "tests/fuzz/json.h"

static char folder[] = "/dev/shm/fuzz-resume-XXXXXX", *path, *part;

static void clean_up(void)
{
    (void)unlink(path);
    (void)unlink(part);
    (void)rmdir(folder);
    free(path);
    free(part);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    FUZZ_HOLDS(mkdtemp(folder) != NULL && asprintf(&path, "%s/results.jsonl", folder) > 0);
    FUZZ_HOLDS(asprintf(&part, "%s.part", path) > 0);
    (void)atexit(clean_up);
    return 0;
}

static void write_file(const uint8_t *data, size_t size)
{
    FILE *file = fopen(path, "wb");

    FUZZ_HOLDS(file != NULL && fwrite(data, 1, size, file) == size && fclose(file) == 0);
}

static bool is_file(const uint8_t *data, size_t size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *octets = malloc(size + 1);
    bool is;

    FUZZ_HOLDS(file != NULL && octets != NULL);
    is = fread(octets, 1, size + 1, file) == size && memcmp(octets, data, size) == 0;
    (void)fclose(file);
    free(octets);
    return is;
}

/*
 * ---- what the file says -------------------------------------------------------------------------------------------
 */

struct contents {
    json_t *run; /* the line that the strings of `info` point into */
    struct run_info info;
    size_t results, appended;
};

static int on_run(void *user, const struct run_info *info, json_t *object)
{
    struct contents *contents = user;

    contents->run = json_incref(object);
    contents->info = *info;
    return 0;
}

static int on_result(void *user, const struct result *result, json_t *object)
{
    struct contents *contents = user;

    (void)object;
    contents->results++;
    contents->appended += strcmp(result->id, "DDP-9.9-99") == 0;
    return 0;
}

/* 0, or -1: this is no file of results. */
static int read_contents(struct contents *contents)
{
    struct results_reader reader = {.on_run = on_run, .on_result = on_result, .user = contents};
    struct iwarp_sentence error = {""};

    *contents = (struct contents){.run = NULL};
    if (results_read(path, &reader, &error) == 0)
        return 0;
    FUZZ_HOLDS(strncmp(error.text, path, strlen(path)) == 0 && strchr(error.text, '\n') == NULL);
    return -1;
}

/*
 * ---- going on -----------------------------------------------------------------------------------------------------
 */

/* One more result, and the end. How many checks need not be repeated. */
static size_t go_on(const struct run_info *info)
{
    struct result result = {.id = "DDP-9.9-99", .verdict = VERDICT_PASS, .by = "check", .role = "responder"};
    struct results_done *done = NULL;
    struct iwarp_sentence error = {""};
    const struct place place = place_at(path);
    struct results_log *log = results_log_resume(&place, info, NULL, &done, &error);
    size_t count;

    FUZZ_HOLDS(log != NULL && access(part, F_OK) != 0);
    count = results_done_count(done);
    FUZZ_HOLDS(count == 0 || !results_done_has(done, "no such id", NULL));
    FUZZ_HOLDS(results_log_append(log, &result, &error) == 0);
    FUZZ_HOLDS(results_log_finish(log, results_log_summary(log), &error) == 0);
    FUZZ_HOLDS(results_log_close(log, &error) == 0);
    results_done_free(done);
    return count;
}

static void check_resumed(const struct run_info *info)
{
    size_t first = go_on(info), second;
    struct contents contents;

    FUZZ_HOLDS(read_contents(&contents) == 0 && contents.appended != 0 && contents.results > first / 2);
    json_decref(contents.run);
    second = go_on(info);
    FUZZ_HOLDS(second >= first);
    FUZZ_HOLDS(read_contents(&contents) == 0);
    json_decref(contents.run);
}

static void check_refused(const struct run_info *info, const uint8_t *data, size_t size)
{
    struct iwarp_sentence error = {""};
    const struct place place = place_at(path);
    struct results_log *log = results_log_resume(&place, info, NULL, NULL, &error);

    FUZZ_HOLDS(log == NULL && strncmp(error.text, path, strlen(path)) == 0);
    FUZZ_HOLDS(is_file(data, size) && access(part, F_OK) != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct contents contents;
    struct run_info other;
    int known;

    write_file(data, size);
    known = read_contents(&contents);
    other = contents.info;
    other.seed++;
    if (known == 0 && contents.info.seed < INT64_MAX)
        check_refused(&other, data, size);
    if (known == 0 && contents.info.parts == NULL)
        check_resumed(&contents.info);
    else if (size != 0 && memchr(data, '\n', size) != NULL) /* else it stopped before its first line, and starts anew */
        check_refused(&contents.info, data, size);
    json_decref(contents.run);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    return fuzz_json_mutate(data, size, room, seed, true);
}
