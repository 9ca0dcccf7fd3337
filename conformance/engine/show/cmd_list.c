/* SPDX-License-Identifier: BSD-2-Clause */
/* warpcheck list: the requirements, one a line, and what decides them. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "conformance/engine/show/cmd_catalogue.h"
#include "reference-stack/program/option_table.h"
#include "conformance/engine/process/run_confine.h"
#include "conformance/engine/plan/coverage.h"
#include "conformance/engine/show/requirement_json.h"
#include "conformance/engine/show/wrap.h"
#include "conformance/requirements/catalogue.h"
#include "conformance/requirements/named.h"
#include "conformance/requirements/no_defect.h"
#include "conformance/requirements/select.h"
#include "reference-stack/program/complaint.h"
#include "reports/writers/csv.h"
#include "base/exit_status.h"
#include "base/sentence.h"

struct listing {
    struct selection selection;
    /* Keep and show only what a check, a rule, a defect covers, or what no defect can break; several: any of them. */
    bool checks, rules, defects, no_defect;
    bool jsonl, csv;
};

static int parse_format(void *user, const char *value, struct iwarp_sentence *error)
{
    struct listing *listing = user;

    if (strcmp(value, "text") != 0 && strcmp(value, "jsonl") != 0 && strcmp(value, "csv") != 0)
        return iwarp_sentence_set(error, "--format \"%.40s\" is unknown, text, jsonl or csv was expected", value);
    listing->jsonl = strcmp(value, "jsonl") == 0;
    listing->csv = strcmp(value, "csv") == 0;
    return 0;
}

#define MEMBER(name) offsetof(struct listing, name)

/* clang-format off */
static const struct option_row rows[] = {
    {"  --checks           lists only those that a check decides, with its script\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(checks)},
    {"  --rules            lists only those that a rule decides, with its function\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(rules)},
    {"  --defects          lists only those that a defect breaks, with the names of the defects\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(defects)},
    {"  --no-defect        lists only those that no defect of the reference stack can break, with the reason\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(no_defect)},
    {"  --format F         text, jsonl (one object for each requirement) or csv (one line for each, for spreadsheets)\n",
     OPTION_SHOWS, OPTION_OWN, .parse = parse_format},
    {"  --help             shows this text\n",
     OPTION_SHOWS, .kind = OPTION_EARLY},
};
/* clang-format on */

static const struct option_table table = {
    .command = "list",
    .head = "usage: warpcheck list [SELECT...] [OPTION...]\n"
            "  Lists the requirements.\n",
    .more = selection_usage,
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
};

static int arguments_parse(struct listing *listing, int argc, char **argv, struct iwarp_sentence *error)
{
    for (int i = 1; i < argc;) {
        int taken = selection_option(&listing->selection, argc, argv, &i, error);

        if (taken == 0)
            taken = option_table_parse(&table, listing, argc, argv, &i, error);
        if (taken == 0)
            taken = option_table_unknown(&table, argv[i], error);
        if (taken < 0)
            return -1;
    }
    return 0;
}

static bool covered(const struct listing *listing, const struct requirement *requirement,
                    const struct coverage *coverage)
{
    struct no_defect none;

    if (!listing->checks && !listing->rules && !listing->defects && !listing->no_defect)
        return true;
    if (listing->no_defect && no_defect_find(requirement->id, &none))
        return true;
    return (listing->checks && coverage->check_path != NULL) || (listing->rules && coverage->rule_name != NULL) ||
           (listing->defects && coverage->defect_count > 0);
}

/* On a terminal a requirement takes one line; anywhere else nothing is cut. */
static void text_print(const struct listing *listing, const struct requirement *requirement,
                       const struct coverage *coverage, unsigned width)
{
    bool terminal = isatty(STDOUT_FILENO);
    int used = printf("%-19s %-12s %-14s %-7s ", requirement->id, requirement_level_name(requirement->level),
                      requirement->subject, requirement_observability_name(requirement->observability));
    struct no_defect none;
    int room = terminal && (int)width > used + 20 ? (int)width - used : (int)strlen(requirement->text);

    printf("%.*s\n", room, requirement->text);
    if (listing->checks && coverage->check_path != NULL)
        printf("    check   %s:%u\n", coverage->check_path, coverage->check_line);
    if (listing->rules && coverage->rule_name != NULL)
        printf("    rule    %s\n", coverage->rule_name);
    for (size_t i = 0; listing->defects && i < coverage->defect_count; i++)
        printf("    defect  %s\n", coverage->defects[i]);
    if (listing->no_defect && no_defect_find(requirement->id, &none))
        printf("    none    %s\n", none.reason);
}

static int jsonl_print(const struct requirement *requirement, const struct coverage *coverage)
{
    json_t *object = requirement_json(requirement, coverage);
    int result = object != NULL ? json_dumpf(object, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER) : -1;

    json_decref(object);
    return result == 0 && putchar('\n') != EOF ? 0 : -1;
}

static const char csv_head[] =
    "requirement,level,document,section,layer,subject,observability,text,stimulus,outcomes,capability,"
    "check,rule,defects\r\n";

static void csv_print(const struct requirement *requirement, const struct coverage *coverage)
{
    const char *const cells[] = {requirement_level_name(requirement->level),
                                 requirement->source,
                                 requirement->section,
                                 requirement_layer_name(requirement->layer),
                                 requirement->subject,
                                 requirement_observability_name(requirement->observability),
                                 requirement->text,
                                 requirement->stimulus,
                                 requirement->outcomes,
                                 requirement->capability,
                                 coverage->check_path,
                                 coverage->rule_name};
    char defects[1024] = "";
    size_t used = 0;

    for (size_t i = 0; i < coverage->defect_count && used < sizeof(defects); i++)
        used +=
            (size_t)snprintf(defects + used, sizeof(defects) - used, "%s%s", i != 0 ? " " : "", coverage->defects[i]);
    csv_text(stdout, true, requirement->id);
    for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++)
        csv_text(stdout, false, cells[i]);
    csv_text(stdout, false, defects);
    csv_line_end(stdout);
}

static int requirements_print(const struct listing *listing, const struct catalogue *catalogue,
                              const struct coverage_index *index)
{
    unsigned width = wrap_width(STDOUT_FILENO);
    size_t count = 0;

    if (listing->csv)
        fputs(csv_head, stdout);
    for (size_t i = 0; i < catalogue_count(catalogue); i++) {
        const struct requirement *requirement = catalogue_at(catalogue, i);
        struct coverage coverage;

        if (!selection_matches(&listing->selection, requirement))
            continue;
        coverage_of(index, requirement->id, &coverage);
        if (!covered(listing, requirement, &coverage))
            continue;
        count++;
        if (listing->csv)
            csv_print(requirement, &coverage);
        else if (!listing->jsonl)
            text_print(listing, requirement, &coverage, width);
        else if (jsonl_print(requirement, &coverage) != 0)
            break;
    }
    if (count == 0)
        return complain(EXIT_NOTHING_SELECTED, "nothing selected: no requirement fits all the options");
    return EXIT_DONE;
}

int cmd_list(int argc, char **argv)
{
    struct listing listing = {0};
    struct catalogue *catalogue = NULL;
    struct coverage_index *index = NULL;
    struct iwarp_sentence error;
    const char *unmatched;
    int status;

    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0) {
            (void)option_table_print(&table, stdout);
            fputs(selection_usage, stdout);
            return EXIT_DONE;
        }
    if (arguments_parse(&listing, argc, argv, &error) != 0)
        return complain(EXIT_USAGE, "%s", error.text);
    if (run_confine(NULL, 0, 0, &error) != 0)
        return complain(EXIT_ENVIRONMENT, "%s", error.text);
    if (catalogue_load(&catalogue, &error) != 0)
        return complain(EXIT_USAGE, "%s", error.text);
    unmatched = selection_unmatched(&listing.selection, catalogue);
    if (unmatched != NULL) {
        (void)requirement_unmatched(catalogue, unmatched, &error);
        status = complain(EXIT_NOTHING_SELECTED, "%s", error.text);
    } else if (coverage_load(&index, &error) != 0) {
        status = complain(EXIT_USAGE, "%s", error.text);
    } else {
        status = requirements_print(&listing, catalogue, index);
    }
    coverage_free(index);
    catalogue_free(catalogue);
    return status;
}
