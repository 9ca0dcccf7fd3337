/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/course/course_options.h"

#include <stddef.h>
#include <string.h>

#include "base/nearest.h"

#define MEMBER(name) offsetof(struct course_options, name)

/* clang-format off */
static const struct option_row rows[] = {
    {"  -o DIR             the folder for the exercise; it is made if it is not there\n",
     OPTION_SHOWS, OPTION_TEXT, .member = MEMBER(output)},
    {"  --passed           shows whether the course is passed: exit status 0 if each exercise is\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(passed)},
    {"  --reset            forgets what was done\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(reset)},
    {"  --solutions        prints the teacher's table: what is hidden in each exercise, and the right answers\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(solutions)},
    {"  --help             shows this text\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(help)},
};
/* clang-format on */

const struct option_table course_option_table = {
    .command = "course",
    .head =
        "usage: warpcheck course [OPTION...]\n"
        "       warpcheck course start N [-o DIR]\n"
        "       warpcheck course hint N\n"
        "       warpcheck course peer N [ARGUMENT...]\n"
        "       warpcheck course run N [SELECT...]\n"
        "       warpcheck course answer N WORD...\n"
        "  The exercises of the course in docs/course: captures, peers and devices with a hidden defect. Without a "
        "word "
        "it\n"
        "  lists them and what was done. Progress is remembered in $XDG_STATE_HOME/warpcheck/course.json\n"
        "  (~/.local/state/warpcheck/course.json).\n"
        "  start: writes the task, and the capture if there is one, to DIR (exercise-N) and shows the task.\n"
        "  hint: shows a hint.\n"
        "  peer: starts the peer of the exercise; the arguments are those of warpcheck peer.\n"
        "  run: runs checks on the simulated device of the exercise, as warpcheck run --simulate does.\n"
        "  answer: judges an answer: the id of a requirement, the number of a frame, a role or a script, as the task "
        "says.\n"
        "  Exit status: 0 done, the answer is right; 1 the answer is wrong, the course is not passed; 2 usage; 4 the "
        "exercise\n"
        "  cannot be made, or progress cannot be read or written. With run it is that of warpcheck run.\n",
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
};

static const struct {
    const char *name;
    enum course_verb verb;
} verbs[] = {
    {"start", COURSE_START},    {"hint", COURSE_HINT},     {"peer", COURSE_PEER_START},
    {"run", COURSE_RUN_CHECKS}, {"answer", COURSE_ANSWER},
};

enum { VERBS = sizeof(verbs) / sizeof(verbs[0]) };

static const char *verb_at(const void *table, size_t index)
{
    (void)table;
    return verbs[index].name;
}

static int verb_set(struct course_options *options, const char *word, struct iwarp_sentence *error)
{
    char hint[NEAREST_HINT_OCTETS];

    for (size_t i = 0; i < VERBS; i++)
        if (strcmp(verbs[i].name, word) == 0) {
            options->verb = verbs[i].verb;
            return 0;
        }
    return iwarp_sentence_set(error, "\"%.40s\": start, hint, peer, run or answer was expected%s", word,
                              nearest_hint(nearest_name(word, verb_at, verbs, VERBS), hint));
}

/* What follows the verb: the exercise, -o after start, and the words of the others as they are. */
static int verb_words(struct course_options *options, int argc, char **argv, struct iwarp_sentence *error)
{
    int at = 1, taken = 0;

    if (argc == 0)
        return iwarp_sentence_set(error, "the number of an exercise is missing (warpcheck course lists them)");
    options->number = argv[0];
    if (options->verb == COURSE_START) /* of the options -o alone may follow */
        while (at < argc && strncmp(argv[at], "-o", 2) == 0 &&
               (taken = option_table_parse(&course_option_table, options, argc, argv, &at, error)) == 1)
            ;
    if (taken < 0)
        return -1;
    if (options->output != NULL && options->output[0] == '\0')
        return iwarp_sentence_set(error, "-o needs a folder");
    options->words = argv + at;
    options->word_count = argc - at;
    if ((options->verb == COURSE_START || options->verb == COURSE_HINT) && options->word_count > 0)
        return options->words[0][0] == '-'
                   ? option_table_unknown(&course_option_table, options->words[0], error)
                   : iwarp_sentence_set(error, "%.60s: nothing more was expected", options->words[0]);
    return 0;
}

int course_options_parse(struct course_options *options, int argc, char **argv, struct iwarp_sentence *error)
{
    int i = 1, taken = 0;

    while (i < argc && (taken = option_table_parse(&course_option_table, options, argc, argv, &i, error)) == 1)
        ;
    if (taken < 0)
        return -1;
    if (options->output != NULL)
        return iwarp_sentence_set(error, "-o follows start N (warpcheck course --help)");
    if (options->help || i == argc)
        return 0;
    if (i > 1)
        return iwarp_sentence_set(error, "%s stands alone; %.60s is one word too much", argv[1], argv[i]);
    if (verb_set(options, argv[i], error) != 0)
        return -1;
    /* The command for the peer's own help is: warpcheck peer --help */
    for (int at = i + 1; at < argc; at++)
        if (strcmp(argv[at], "--help") == 0) {
            options->help = true;
            return 0;
        }
    return verb_words(options, argc - i - 1, argv + i + 1, error);
}
