/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/interop/interop_options.h"

#include <stddef.h>
#include <string.h>

#include "conformance/engine/interop/interop_tests.h"
#include "reference-stack/program/option_table.h"

enum { SECONDS_USUAL = 10, SECONDS_MOST = 600 };

#define MEMBER(name) offsetof(struct interop_options, name)

static int parse_evidence(void *user, const char *value, struct iwarp_sentence *error)
{
    static const char *const words[] = {"all", "fail", "none"};
    struct interop_options *options = user;

    for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(value, words[i]) == 0) {
            options->keeps = (enum interop_keeps)i;
            return 0;
        }
    return iwarp_sentence_set(error, "--evidence \"%.40s\": all, fail or none was expected", value);
}

/* clang-format off */
static const struct option_row rows[] = {
    {"  -o DIR             writes interop.jsonl, the grid index.html and evidence/ there; the folder must be empty\n",
     OPTION_SHOWS, OPTION_TEXT, .member = MEMBER(output), .joined = true},
    {"  --force            removes what an earlier run of interop wrote to -o DIR\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(force)},
    {"  --test NAME        runs this test case alone; repeat it for several (names: --list)\n",
     OPTION_JUDGES, OPTION_LIST, .member = MEMBER(tests), .count = MEMBER(test_count), .most = INTEROP_TESTS_MOST},
    {"  --seconds N        how long a device may take for what it is asked (10)\n",
     OPTION_JUDGES, OPTION_COUNT, .member = MEMBER(seconds), .least = 1, .most = SECONDS_MOST},
    {"  --evidence KIND    keeps the captures of all exchanges (all, the default), of those that did not pass (fail), or\n"
     "                     none (none); without -o there are none\n",
     OPTION_SHOWS, OPTION_OWN, .parse = parse_evidence},
    {"  --destructive      also tries what a device may not survive, by \"hazards\" of its profile\n",
     OPTION_JUDGES, OPTION_FLAG, .member = MEMBER(destructive)},
    {"  --quiet            shows the grid alone\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(quiet)},
    {"  --list             lists the test cases\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(list)},
    {"  --help             shows this text\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(help)},
};
/* clang-format on */

static const struct option_table table = {
    .command = "interop",
    .head =
        "usage: warpcheck interop [OPTION...] [DEVICE...]\n"
        "  Lets devices talk to each other, each as initiator with each as responder, and shows one grid of who can "
        "do\n"
        "  what with whom: start-up, operations, sizes, errors. Both ends are asked through their upper testers\n"
        "  (docs/interop.md). Without a device: the reference stack with itself, in a network namespace of its own.\n"
        "  Exit status: 0 all exchanges pass, 1 one fails, 2 usage, 3 none was possible, 4 one was not decided.\n"
        "  DEVICE             libiwarp, or a profile with \"control\" (docs/profiles.md); NAME=DEVICE gives it "
        "another\n"
        "                     name. libiwarp,DEFECT... has these defects. PROFILE,PROFILE: two of one kind, so that "
        "it\n"
        "                     is tried with itself, too\n",
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
};

int interop_usage(FILE *out)
{
    return option_table_print(&table, out);
}

static int consistent(struct interop_options *options, struct iwarp_sentence *error)
{
    if (options->force && options->output == NULL)
        return iwarp_sentence_set(error, "--force needs -o DIR");
    if (options->output == NULL)
        options->keeps = INTEROP_KEEPS_NONE;
    for (size_t i = 0; i < options->test_count; i++) {
        size_t k = 0;

        while (k < interop_test_count && strcmp(options->tests[i], interop_tests[k].name) != 0)
            k++;
        if (k == interop_test_count)
            return iwarp_sentence_set(error, "--test \"%.40s\": no such test case (warpcheck interop --list)",
                                      options->tests[i]);
    }
    return 0;
}

int interop_options_parse(struct interop_options *options, int argc, char **argv, struct iwarp_sentence *error)
{
    memset(options, 0, sizeof(*options));
    options->seconds = SECONDS_USUAL;
    for (int i = 1; i < argc;) {
        int taken = option_table_parse(&table, options, argc, argv, &i, error);

        if (taken < 0)
            return -1;
        if (taken != 0)
            continue;
        if (options->device_count == INTEROP_DEVICES_MOST)
            return iwarp_sentence_set(error, "more than %d devices", INTEROP_DEVICES_MOST);
        options->devices[options->device_count++] = argv[i++];
    }
    return options->help ? 0 : consistent(options, error);
}
