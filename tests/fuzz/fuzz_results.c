/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A results.jsonl of anybody's, and the reports that are made of it: whatever its texts are, each report is well-formed
 * and says how much it holds.
 */
#define _GNU_SOURCE /* asprintf */
#include <jansson.h>
#include <libxml/parser.h>
#include <unistd.h>

#include "conformance/requirements/catalogue.h"
#include "reports/writers/format.h"
#include "reports/page/matrix.h"
#include "reports/file/text.h"
#include "tests/fuzz/json.h"

enum { PAGES_EVERY = 64 };

static struct catalogue *catalogue;
static char folder[] = "/dev/shm/fuzz-results-XXXXXX", *out;

static void clean_up(void)
{
    (void)unlink(out);
    (void)rmdir(folder);
    free(out);
    catalogue_free(catalogue);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    FUZZ_HOLDS(catalogue_load(&catalogue, NULL) == 0 && mkdtemp(folder) != NULL &&
               asprintf(&out, "%s/out", folder) > 0);
    (void)atexit(clean_up);
    return 0;
}

/* What has been written; the caller frees it. */
static char *written(void)
{
    FILE *file = fopen(out, "rb");
    FUZZ_HOLDS(file != NULL && fseek(file, 0, SEEK_END) == 0);
    long size = ftell(file);
    char *text = calloc(1, (size_t)size + 1);
    rewind(file);
    FUZZ_HOLDS(text != NULL && fread(text, 1, (size_t)size, file) == (size_t)size);
    FUZZ_HOLDS(strlen(text) == (size_t)size && text_is_clean(text));
    (void)fclose(file);
    return text;
}

/* The report as a string; the caller frees it. */
static char *made(const struct report *report, const char *format)
{
    const struct place to = place_at(out);
    struct iwarp_sentence error;

    FUZZ_HOLDS(report_format_find(format)->write(report, NULL, &to, &error) == 0);
    return written();
}

static bool begins(const char *line, const char *with)
{
    return strncmp(line, with, strlen(with)) == 0;
}

static void tap(const struct report *report)
{
    char *text = made(report, "tap"), *rest = NULL;
    unsigned long planned = 0, points = 0;
    bool block = false, bailed = false;

    FUZZ_HOLDS(begins(text, "TAP version 14\n1.."));
    planned = strtoul(text + strlen("TAP version 14\n1.."), NULL, 10);
    (void)strtok_r(text, "\n", &rest);
    (void)strtok_r(NULL, "\n", &rest);
    for (char *line; (line = strtok_r(NULL, "\n", &rest)) != NULL;) {
        FUZZ_HOLDS(!bailed);
        if (block) {
            FUZZ_HOLDS(begins(line, "  "));
            block = strcmp(line, "  ...") != 0;
        } else if (begins(line, "ok ") || begins(line, "not ok ")) {
            FUZZ_HOLDS(strtoul(line + (line[0] == 'o' ? 3 : 7), NULL, 10) == ++points);
            FUZZ_HOLDS(line[strlen(line) - 1] != '{');
        } else if (strcmp(line, "  ---") == 0) {
            block = true;
        } else if (begins(line, "Bail out! ")) {
            bailed = true;
        } else {
            FUZZ_HOLDS(begins(line, "# "));
        }
    }
    FUZZ_HOLDS(!block && bailed == !report->finished && points + bailed == planned && planned > 0);
    free(text);
}

static void sarif(const struct report *report)
{
    char *text = made(report, "sarif");
    json_t *log = json_loads(text, JSON_REJECT_DUPLICATES, NULL), *result;
    json_t *run = json_array_get(json_object_get(log, "runs"), 0);
    const json_t *rules = json_object_get(json_object_get(json_object_get(run, "tool"), "driver"), "rules");
    size_t i;

    FUZZ_HOLDS(json_is_array(rules) && json_is_array(json_object_get(run, "results")));
    json_array_foreach(json_object_get(run, "results"), i, result)
    {
        const json_t *rule = json_array_get(rules, (size_t)json_integer_value(json_object_get(result, "ruleIndex")));

        FUZZ_HOLDS(json_equal(json_object_get(rule, "id"), json_object_get(result, "ruleId")));
        FUZZ_HOLDS(strstr(json_string_value(json_object_get(json_object_get(result, "message"), "text")), "](") ==
                   NULL);
    }
    json_decref(log);
    free(text);
}

static void junit(const struct report *report)
{
    char *text = made(report, "junit");
    xmlDocPtr document = xmlReadDoc(BAD_CAST text, NULL, NULL, XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_HUGE);

    FUZZ_HOLDS(document != NULL);
    xmlFreeDoc(document);
    free(text);
}

/* The matrix of two devices, both as the file says, on a catalogue of few rows: the page has all of them. */
static void matrix(const struct report *report)
{
    const struct matrix_column columns[] = {{"a", report, NULL}, {"b <i>", report, "b/index.html"}};
    const struct place to = place_at(out);
    struct iwarp_sentence error;
    char *text;

    FUZZ_HOLDS(matrix_write(columns, 2, catalogue, &to, &error) == 0);
    text = written();
    FUZZ_HOLDS(strstr(text, "<i>") == NULL);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(0, data, size);
    struct iwarp_sentence error;
    struct report report;

    if (report_load(&report, path, catalogue, &error) != 0)
        return 0;
    tap(&report);
    sarif(&report);
    junit(&report);
    free(made(&report, "md"));
    if (size % PAGES_EVERY == 0) { /* they are large, whatever the results */
        free(made(&report, "html"));
        free(made(&report, "tap13"));
        matrix(&report);
    }
    report_free(&report);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    return fuzz_json_mutate(data, size, room, seed, true);
}
