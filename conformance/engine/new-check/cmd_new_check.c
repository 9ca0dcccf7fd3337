/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/new-check/cmd_new_check.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "conformance/engine/new-check/skeleton.h"
#include "reference-stack/program/option_table.h"
#include "reference-stack/program/shell_word.h"
#include "conformance/engine/plan/coverage.h"
#include "conformance/requirements/catalogue.h"
#include "conformance/requirements/named.h"
#include "reference-stack/program/complaint.h"
#include "reports/file/save.h"
#include "base/exit_status.h"
#include "base/plain_text.h"
#include "base/sentence.h"
#include "base/text_stream.h"

enum { COMMAND_ROOM = 4096, ID_ROOM = 64 };

struct order {
    const char *id;
    const char *path; /* NULL: ID.lua in the present folder */
    bool force, anyway;
};

#define MEMBER(name) offsetof(struct order, name)

/* clang-format off */
static const struct option_row rows[] = {
    {"  -o FILE            the file (ID.lua in the present folder); - is standard output\n",
     OPTION_SHOWS, OPTION_TEXT, .member = MEMBER(path)},
    {"  --force            replaces the file if it exists\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(force)},
    {"  --anyway           also for a requirement that a check or a rule decides already, or that no device shows\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(anyway)},
    {"  --help             shows this text\n",
     OPTION_SHOWS, .kind = OPTION_EARLY},
};
/* clang-format on */

static const struct option_table table = {
    .command = "new-check",
    .head = "usage: warpcheck new-check ID [OPTION...]\n"
            "  Writes the skeleton of a check for this requirement: a Lua script that holds what the catalogue says of "
            "it, runs,\n"
            "  and is INCONCLUSIVE until stimulus and outcomes are filled in (docs/writing-checks.md).\n"
            "  Exit status: 0 written; 2 usage: there is no such requirement, it needs no check, or the file exists; 4 "
            "the file\n"
            "  cannot be written.\n",
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
};

static int arguments_parse(struct order *order, int argc, char **argv, struct iwarp_sentence *error)
{
    for (int i = 1; i < argc;) {
        int taken = option_table_parse(&table, order, argc, argv, &i, error);

        if (taken < 0)
            return -1;
        if (taken == 0 && order->id != NULL)
            return iwarp_sentence_set(error, "one id was expected; %.60s is a second one", argv[i]);
        if (taken == 0)
            order->id = argv[i++];
    }
    if (order->id == NULL)
        return iwarp_sentence_set(error, "the id of a requirement is missing (warpcheck list shows them)");
    if (order->path != NULL && order->path[0] == '\0')
        return iwarp_sentence_set(error, "-o needs a file, its name is empty");
    return 0;
}

/* Why nobody needs a check of it: -1 with the sentence; 0. */
static int judge_need(const struct requirement *requirement, const struct coverage *coverage,
                      struct iwarp_sentence *error)
{
    if (coverage->check_path != NULL)
        return iwarp_sentence_set(error, "%s has a check already: %s:%u (--anyway writes a skeleton all the same)",
                                  requirement->id, coverage->check_path, coverage->check_line);
    if (coverage->rule_name != NULL)
        return iwarp_sentence_set(error,
                                  "%s is decided by a rule already, %s, which judges all traffic (--anyway writes a "
                                  "skeleton all the same)",
                                  requirement->id, coverage->rule_name);
    if (requirement->observability == REQUIREMENT_SPEC)
        return iwarp_sentence_set(error,
                                  "%s binds a document or a person: no device shows it (--anyway writes a skeleton all "
                                  "the same)",
                                  requirement->id);
    return 0;
}

/* "warpcheck run --simulate --script FILE", in one line of plain text, and a defect that the check should find. */
static void command_make(char plain[PLAIN_TEXT_ROOM(COMMAND_ROOM)], const char *path, const char *defect)
{
    char command[COMMAND_ROOM] = "warpcheck run --simulate";
    size_t used = shell_append(command, sizeof(command), strlen(command), "--script", path);

    if (defect != NULL)
        (void)shell_append(command, sizeof(command), used, "--defect", defect);
    (void)plain_text(command, true, plain, PLAIN_TEXT_ROOM(COMMAND_ROOM));
}

/* The skeleton as a text, to be freed; NULL without memory. */
static char *skeleton_make(const struct requirement *requirement, const struct coverage *coverage, const char *path,
                           size_t *octets)
{
    char command[PLAIN_TEXT_ROOM(COMMAND_ROOM)], *text = NULL;
    FILE *out = text_stream_open(&text, octets);

    if (out == NULL)
        return NULL;
    command_make(command, path, coverage->defect_count > 0 ? coverage->defects[0] : NULL);
    skeleton_write(out, requirement, coverage, command);
    return text_stream_close(out, &text) ? text : NULL;
}

static int file_write(const struct order *order, const char *path, const char *text, size_t octets)
{
    struct place place = place_at(path);
    struct iwarp_sentence error = {""};
    char command[PLAIN_TEXT_ROOM(COMMAND_ROOM)];
    struct stat status;
    bool there = strcmp(path, "-") != 0 && !save_in_place(&place) && lstat(path, &status) == 0;
    bool stream = strcmp(path, "-") == 0 || save_in_place(&place);

    if (there && !order->force)
        return complain(EXIT_USAGE, "%s exists (--force replaces it)", path);
    if ((stream || order->force ? save_file(&place, text, octets, &error) : save_new(&place, text, octets, &error)) !=
        0)
        return complain(EXIT_ENVIRONMENT, "%s", error.text);
    if (strcmp(path, "-") != 0) {
        command_make(command, path, NULL);
        print_plain(stdout, "%s is written: fill in stimulus and outcomes, then try %s", path, command);
    }
    return EXIT_DONE;
}

static int order_fill(const struct order *order, const struct catalogue *catalogue, const struct coverage_index *index)
{
    const struct requirement *requirement = requirement_named(catalogue, order->id);
    struct coverage coverage;
    struct iwarp_sentence why;
    char own[ID_ROOM + sizeof(".lua")];
    const char *path = order->path;
    size_t octets = 0;
    char *text;
    int status;

    if (requirement == NULL) {
        (void)requirement_not_found(catalogue, order->id, &why);
        return complain(EXIT_USAGE, "%s", why.text);
    }
    coverage_of(index, requirement->id, &coverage);
    if (!order->anyway && judge_need(requirement, &coverage, &why) != 0)
        return complain(EXIT_USAGE, "%s", why.text);
    (void)snprintf(own, sizeof(own), "%.*s.lua", ID_ROOM, requirement->id);
    if (path == NULL)
        path = own;
    text = skeleton_make(requirement, &coverage, strcmp(path, "-") == 0 ? own : path, &octets);
    if (text == NULL)
        return complain(EXIT_ENVIRONMENT, "out of memory");
    status = file_write(order, path, text, octets);
    free(text);
    return status;
}

int cmd_new_check(int argc, char **argv)
{
    struct order order = {0};
    struct catalogue *catalogue = NULL;
    struct coverage_index *index = NULL;
    struct iwarp_sentence error = {""};
    int status;

    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0)
            return option_table_print(&table, stdout) < 0 ? EXIT_ENVIRONMENT : EXIT_DONE;
    if (arguments_parse(&order, argc, argv, &error) != 0)
        return complain(EXIT_USAGE, "%s", error.text);
    if (catalogue_load(&catalogue, &error) != 0 || coverage_load(&index, &error) != 0)
        status = complain(EXIT_ENVIRONMENT, "%s", error.text);
    else
        status = order_fill(&order, catalogue, index);
    coverage_free(index);
    catalogue_free(catalogue);
    return status;
}
