/* SPDX-License-Identifier: BSD-2-Clause */
/* warpcheck explain ID: one requirement as a card for people, with the header that it speaks of. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/engine/show/cmd_catalogue.h"
#include "reference-stack/program/option_table.h"
#include "conformance/engine/process/run_confine.h"
#include "conformance/engine/plan/coverage.h"
#include "conformance/engine/show/drawing.h"
#include "conformance/engine/show/wrap.h"
#include "conformance/requirements/catalogue.h"
#include "conformance/requirements/named.h"
#include "conformance/requirements/no_defect.h"
#include "conformance/requirements/pics.h"
#include "reference-stack/program/complaint.h"
#include "base/exit_status.h"
#include "base/sentence.h"

#define LABEL_WIDTH 12

enum { PREDICATE_ITEMS = 16 };

static const struct option_row rows[] = {
    {"  --help             shows this text\n", OPTION_SHOWS, .kind = OPTION_EARLY},
};

static const struct option_table table = {
    .command = "explain",
    .head = "usage: warpcheck explain ID...\n"
            "  Explains a requirement: its text, the outcomes that it allows, the check or rule that decides it, and "
            "the header\n"
            "  that it is about. warpcheck list shows the ids.\n",
    .rows = rows,
    .count = 1,
};

static const char *level_meaning(enum requirement_level level)
{
    switch (level) {
    case REQUIREMENT_SHOULD:
    case REQUIREMENT_SHOULD_NOT: return "a breach is a WARN";
    case REQUIREMENT_MAY: return "a permission: what has to be tolerated";
    case REQUIREMENT_MUST_FORMAT: return "binding, though the text uses no keyword; a breach is a FAIL";
    default: return "a breach is a FAIL";
    }
}

static const char *observability_meaning(enum requirement_observability observability)
{
    switch (observability) {
    case REQUIREMENT_ACTIVE: return "needs a stimulus";
    case REQUIREMENT_PASSIVE: return "shows in traffic that the device sends anyway";
    case REQUIREMENT_LOCAL: return "needs the upper tester or an instrumented stack";
    default: return "binds a document or a person, no device shows it";
    }
}

static void item_print(const char *label, const char *text, unsigned width)
{
    printf("  %-*s", LABEL_WIDTH, label);
    wrap_print(stdout, text, width, LABEL_WIDTH + 2, LABEL_WIDTH + 2);
}

static void head_print(const struct requirement *requirement, unsigned width)
{
    bool colour = wrap_colour(STDOUT_FILENO);
    char line[256];

    printf("%s%s%s  %s\n", colour ? "\033[1m" : "", requirement->id, colour ? "\033[0m" : "",
           requirement_level_name(requirement->level));
    wrap_print(stdout, requirement->text, width, 0, 0);
    putchar('\n');
    snprintf(line, sizeof(line), "%s section %s", requirement->source, requirement->section);
    item_print("source", line, width);
    snprintf(line, sizeof(line), "%s (%s)", requirement_level_name(requirement->level),
             level_meaning(requirement->level));
    item_print("level", line, width);
    item_print("role", requirement->subject, width);
    item_print("layer", requirement_layer_name(requirement->layer), width);
    snprintf(line, sizeof(line), "%s (%s)", requirement_observability_name(requirement->observability),
             observability_meaning(requirement->observability));
    item_print("observed", line, width);
    item_print("capability", requirement->capability, width);
    item_print("stimulus", requirement->stimulus, width);
    item_print("allowed", requirement->outcomes, width);
    if (requirement_is_ambiguous(requirement))
        item_print("ambiguous", requirement->ambiguity, width);
    item_print("must catch", requirement->defect, width);
}

/* The items of the capability predicate, each with its question. */
static void pics_print(const struct requirement *requirement, const struct pics *pics, unsigned width)
{
    const struct pics_item *items[PREDICATE_ITEMS];
    size_t count = pics_named(pics, requirement->capability, items, PREDICATE_ITEMS);

    for (size_t i = 0; i < count; i++) {
        printf("  %-*s%s: ", LABEL_WIDTH, "pics", items[i]->name);
        wrap_print(stdout, items[i]->question, width, LABEL_WIDTH + 4 + (unsigned)strlen(items[i]->name),
                   LABEL_WIDTH + 4);
    }
}

static void coverage_print(const struct requirement *requirement, const struct coverage *coverage)
{
    struct no_defect none;

    if (coverage->check_path != NULL)
        printf("  %-*s%s:%u\n", LABEL_WIDTH, "check", coverage->check_path, coverage->check_line);
    else
        printf("  %-*s%s\n", LABEL_WIDTH, "check", "none yet");
    printf("  %-*s%s\n", LABEL_WIDTH, "rule", coverage->rule_name != NULL ? coverage->rule_name : "none yet");
    for (size_t i = 0; i < coverage->defect_count; i++)
        printf("  %-*s%s\n", LABEL_WIDTH, i == 0 ? "defects" : "", coverage->defects[i]);
    if (coverage->defect_count == 0 && no_defect_find(requirement->id, &none))
        printf("  %-*snone, %s\n", LABEL_WIDTH, "defects", none.reason);
    else if (coverage->defect_count == 0)
        printf("  %-*s%s\n", LABEL_WIDTH, "defects", "none yet");
}

static int drawings_print(const struct requirement *requirement, unsigned width)
{
    const struct wire_layout *layouts[DRAWING_LIMIT];
    size_t count = drawing_layouts(requirement, layouts);

    for (size_t i = 0; i < count; i++) {
        char *drawing = drawing_make(layouts[i]), *legend = drawing_legend(layouts[i], width);

        if (drawing != NULL && legend != NULL)
            printf("\n  %s (%s)\n\n%s\n%s", layouts[i]->title, layouts[i]->section, drawing, legend);
        free(drawing);
        free(legend);
        if (drawing == NULL || legend == NULL)
            return -1;
    }
    return 0;
}

static int requirements_print(const struct catalogue *catalogue, const struct coverage_index *index,
                              const struct pics *pics, int argc, char **argv)
{
    unsigned width = wrap_width(STDOUT_FILENO);
    struct iwarp_sentence why;

    for (int i = 1; i < argc; i++)
        if (requirement_named(catalogue, argv[i]) == NULL) {
            (void)requirement_not_found(catalogue, argv[i], &why);
            return complain(EXIT_USAGE, "%s", why.text);
        }
    for (int i = 1; i < argc; i++) {
        const struct requirement *requirement = requirement_named(catalogue, argv[i]);
        struct coverage coverage;

        if (i > 1)
            putchar('\n');
        coverage_of(index, requirement->id, &coverage);
        head_print(requirement, width);
        pics_print(requirement, pics, width);
        coverage_print(requirement, &coverage);
        if (drawings_print(requirement, width) != 0)
            return complain(EXIT_ENVIRONMENT, "out of memory");
    }
    return EXIT_DONE;
}

int cmd_explain(int argc, char **argv)
{
    struct catalogue *catalogue = NULL;
    struct coverage_index *index = NULL;
    struct pics *pics = NULL;
    struct iwarp_sentence error;
    int status;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0)
            return option_table_print(&table, stdout) < 0 ? EXIT_ENVIRONMENT : EXIT_DONE;
        if (argv[i][0] == '-') {
            (void)option_table_unknown(&table, argv[i], &error);
            return complain(EXIT_USAGE, "%s", error.text);
        }
    }
    if (argc < 2)
        return complain(EXIT_USAGE, "the id of a requirement is missing (warpcheck list shows them)");
    if (run_confine(NULL, 0, 0, &error) != 0)
        return complain(EXIT_ENVIRONMENT, "%s", error.text);
    if (catalogue_load(&catalogue, &error) != 0 || coverage_load(&index, &error) != 0 || pics_load(&pics, &error) != 0)
        status = complain(EXIT_USAGE, "%s", error.text);
    else
        status = requirements_print(catalogue, index, pics, argc, argv);
    pics_free(pics);
    coverage_free(index);
    catalogue_free(catalogue);
    return status;
}
