/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What users type: the words of `warpcheck run` with its numbers, shards, formats and selections, capabilities and
 * their values, and a command line that is completed. Words are separated by newlines; the first octet chooses.
 *
 * What is taken is within its limits and can be written and read again; what is refused has its sentence; a
 * completion prints clean lines.
 */
#include "conformance/engine/complete/complete.h"
#include "conformance/engine/run/run_options.h"
#include "conformance/requirements/pics.h"
#include "tests/fuzz/fuzz.h"
#include "tools/embedded.h"

enum { WORDS_MAX = 40, ROWS = 8 };

static struct catalogue *catalogue;
static struct pics *pics;

/* The first rows of each of the catalogue's files: a selection is looked up in all rows there are. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    struct catalogue_source sources[16];
    struct iwarp_sentence error;
    size_t count = 0;

    (void)argc;
    (void)argv;
    for (size_t i = 0; i < embedded_requirement_count && count < 16; i++) {
        const char *octets = (const char *)embedded_requirements[i].octets, *end = octets;

        for (unsigned line = 0; line < ROWS && end < octets + embedded_requirements[i].size; end++)
            line += *end == '\n';
        if (strstr(embedded_requirements[i].path, "pics") == NULL)
            sources[count++] = (struct catalogue_source){embedded_requirements[i].path, octets, (size_t)(end - octets)};
    }
    FUZZ_HOLDS(catalogue_parse(&catalogue, sources, count, &error) == 0 && pics_load(&pics, &error) == 0);
    return 0;
}

/*
 * ---- run ------------------------------------------------------------------------------------------------------------
 */

static void check_shard(const struct shard *shard)
{
    struct iwarp_sentence error;
    struct shard again;
    char text[32];

    if (shard->of == 0)
        return;
    FUZZ_HOLDS(shard->index >= 1 && shard->index <= shard->of && shard->of <= SHARDS_MAX);
    shard_label(shard, text, sizeof(text));
    FUZZ_HOLDS(shard_parse(&again, text, &error) == 0 && again.index == shard->index && again.of == shard->of);
}

static void check_selection(const struct selection *selection)
{
    size_t all = catalogue_count(catalogue), count = selection_count(selection, catalogue);

    FUZZ_HOLDS(count <= all);
    if (selection->pattern_count != 0 && count != 0)
        FUZZ_HOLDS(selection_unmatched(selection, catalogue) == NULL || selection->pattern_count > 1);
}

static void run(int count, char **words)
{
    struct iwarp_sentence error = {""};
    struct run_options options;

    if (run_options_parse(&options, count, words, &error) != 0) {
        FUZZ_HOLDS(error.text[0] != '\0');
        return;
    }
    FUZZ_HOLDS(options.seed <= INT64_MAX && options.defect_count <= RUN_OPTIONS_LIST_MAX);
    FUZZ_HOLDS(!options.resume || options.output != NULL);
    check_shard(&options.shard);
    check_selection(&options.selection);
}

/*
 * ---- capabilities ---------------------------------------------------------------------------------------------------
 */

static void capabilities(int count, char **words)
{
    struct iwarp_sentence error = {""}, reason = {""};

    for (int i = 1; i + 1 < count; i += 2) {
        const struct pics_item *item = pics_find(pics, words[i]);

        if (pics_set(pics, words[i], words[i + 1], &error) != 0) {
            FUZZ_HOLDS(error.text[0] != '\0');
            continue;
        }
        FUZZ_HOLDS(item != NULL && strcmp(item->value, words[i + 1]) == 0);
        fuzz_keep_begin();
        FUZZ_HOLDS(pics_set(pics, words[i], item->fallback, &error) == 0);
        fuzz_keep_end();
    }
    if (count > 1 && pics_evaluate(pics, words[count - 1], &reason, &error) < 0)
        FUZZ_HOLDS(error.text[0] != '\0');
}

/*
 * ---- completion -----------------------------------------------------------------------------------------------------
 */

static char *help(void *context, const char *command, struct iwarp_sentence *error)
{
    static const char root[] = "usage: warpcheck COMMAND [ARGUMENT...]\n\n  run     judges\n  peer    the stack\n\n"
                               "  --version  the version\n";
    static const char run_help[] = "usage: warpcheck run [OPTION...] FILE...\n  Judges a device.\n"
                                   "  --dut PROFILE    the device\n  --defect DEFECT  a defect\n"
                                   "  --format F       text, jsonl or md.\n  --seed N         of ports\n"
                                   "  --rtr LIST       messages: send,write,read (all)\n  -o DIR           there\n";

    (void)context;
    if (command != NULL && strcmp(command, "run") != 0) {
        (void)iwarp_sentence_set(error, "no such command");
        return NULL;
    }
    return strdup(command == NULL ? root : run_help);
}

static void complete(int count, char **words)
{
    const struct completion_source source = {help, NULL};
    struct iwarp_sentence error = {""};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    int rc;

    FUZZ_HOLDS(out != NULL);
    rc = complete_write(&source, (size_t)count, (const char *const *)words, out, &error);
    FUZZ_HOLDS(fclose(out) == 0);
    FUZZ_HOLDS(rc == 0 || error.text[0] != '\0');
    FUZZ_HOLDS(size == 0 || text[size - 1] == '\n');
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), *words[WORDS_MAX + 1] = {NULL}, *rest = text + (size != 0), *word;
    int count = 1;

    words[0] = (char[]){"warpcheck"};
    while (count < WORDS_MAX && (word = strsep(&rest, "\n")) != NULL)
        words[count++] = word;
    switch (size != 0 ? data[0] % 3 : 0) {
    case 0: run(count, words); break;
    case 1: capabilities(count, words); break;
    default: complete(count, words); break;
    }
    free(text);
    return 0;
}
