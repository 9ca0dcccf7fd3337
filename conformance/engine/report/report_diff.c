/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/report/report_diff.h"

#include <stdlib.h>
#include <string.h>

#include "conformance/engine/report/report_input.h"
#include "conformance/requirements/catalogue.h"
#include "reference-stack/program/complaint.h"
#include "base/exit_status.h"

const char report_diff_formats[] = "text, md, jsonl or html";

report_diff_writer *report_diff_format(const char *name)
{
    static const struct {
        const char *name;
        report_diff_writer *write;
    } formats[] = {
        {"text", diff_write_text}, {"md", diff_write_markdown}, {"jsonl", diff_write_jsonl}, {"html", diff_write_page}};

    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (name == NULL || strcmp(formats[i].name, name) == 0)
            return formats[i].write;
    return NULL;
}

int report_diff_fails(const char *kinds, unsigned *fails, struct iwarp_sentence *error)
{
    *fails = 0;
    if (strcmp(kinds, "none") == 0)
        return 0;
    if (strcmp(kinds, "any") == 0) {
        *fails = (1u << DIFF_KINDS) - 1;
        return 0;
    }
    for (const char *at = kinds;; at++) {
        size_t octets = strcspn(at, ",");
        int kind = diff_kind_find(at, octets);

        if (kind < 0)
            return iwarp_sentence_set(
                error,
                "--fail-on \"%.*s\" is unknown, \"any\", \"none\" or a list of new, changed, vanished, "
                "fixed and added was expected",
                octets > 40 ? 40 : (int)octets, at);
        *fails |= 1u << kind;
        at += octets;
        if (*at == '\0')
            return 0;
    }
}

static enum exit_status status_of(const struct diff *last, unsigned fails)
{
    for (int kind = 0; kind < DIFF_KINDS; kind++)
        if ((fails & 1u << kind) != 0 && last->kinds[kind] != 0)
            return EXIT_FAILS;
    if ((fails & 1u << DIFF_NEW) != 0 && last->judges_less) {
        (void)complain(0, "%s: more is not judged than in %s, although it is or may be iWARP", last->names[1],
                       last->names[0]);
        return EXIT_FAILS;
    }
    for (unsigned i = 0; i < 2; i++) {
        const struct report *report = i == 0 ? last->before : last->after;

        if (report_stopped(report) != NULL) {
            (void)complain(0, "%s: %s", last->names[i], report_stopped(report));
            return EXIT_ENVIRONMENT;
        }
    }
    if (last->same + last->kinds[DIFF_NEW] + last->kinds[DIFF_CHANGED] + last->kinds[DIFF_FIXED] == 0) {
        (void)complain(0, "nothing was decided in both runs");
        return EXIT_NOTHING_SELECTED;
    }
    return EXIT_DONE;
}

/* Compares each run with the next, as long as they can be compared; returns how many steps were made. */
static size_t make_steps(struct diff *steps, struct report_input *runs, size_t count)
{
    struct iwarp_sentence error;
    size_t made;

    for (made = 0; made + 1 < count; made++) {
        if (diff_make(&steps[made], &runs[made].report, &runs[made + 1].report, &error) != 0) {
            (void)complain(0, "%s, %s: %s", runs[made].name, runs[made + 1].name, error.text);
            break;
        }
        steps[made].names[0] = runs[made].name;
        steps[made].names[1] = runs[made + 1].name;
        for (size_t i = 0; i < 2; i++)
            steps[made].pages[i] = runs[made + i].page[0] != '\0' ? runs[made + i].page : NULL;
    }
    return made;
}

static int compare(struct report_input *runs, size_t count, report_diff_writer *write, unsigned fails,
                   const char *output)
{
    struct diff *steps = calloc(count, sizeof(*steps));
    const struct place to = place_at(output);
    struct iwarp_sentence error;
    size_t made;
    int status = EXIT_USAGE;

    if (steps == NULL)
        return complain(EXIT_ENVIRONMENT, "out of memory");
    made = make_steps(steps, runs, count);
    if (made != 0 && made + 1 == count)
        status = write(steps, made, &to, &error) == 0 ? (int)status_of(&steps[made - 1], fails)
                                                      : complain(EXIT_ENVIRONMENT, "%s", error.text);
    for (size_t i = 0; i < made; i++)
        diff_free(&steps[i]);
    free(steps);
    return status;
}

int report_diff(char *const *inputs, size_t count, report_diff_writer *write, unsigned fails, const char *output)
{
    struct report_input *runs = calloc(count, sizeof(*runs));
    struct catalogue *catalogue = NULL;
    struct iwarp_sentence error;
    int status;

    if (runs == NULL)
        return complain(EXIT_ENVIRONMENT, "out of memory");
    if (catalogue_load(&catalogue, &error) != 0)
        status = complain(EXIT_ENVIRONMENT, "%s", error.text);
    else if (report_inputs_load(runs, inputs, count, catalogue, &error) != 0)
        status = complain(EXIT_USAGE, "%s", error.text);
    else {
        for (size_t i = 0; i < count; i++)
            report_input_page(&runs[i], output);
        status = compare(runs, count, write, fails, output);
    }
    report_inputs_free(runs, count);
    catalogue_free(catalogue);
    free(runs);
    return status;
}
