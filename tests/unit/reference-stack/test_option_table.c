/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options in tables: how a command line is read by one, and that each option which changes verdicts stands among the
 * conditions of a run and in the command that repeats a check.
 */
#include <check.h>
#include <string.h>

#include "conformance/engine/audit/audit_options.h"
#include "reference-stack/program/option_table.h"
#include "conformance/engine/run/run_options.h"
#include "tests/unit/suites.h"

Suite *option_table_suite(void);

enum { WORDS_MAX = 16 };

struct sample {
    bool quiet;
    const char *output;
    const char *names[2];
    size_t name_count;
    uint64_t seed;
    unsigned jobs;
    uint64_t memory, wait;
};

#define MEMBER(name) offsetof(struct sample, name)

static const struct option_row rows[] = {
    {"  --quiet            shows little\n", OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(quiet)},
    {"  -o DIR             writes there\n", OPTION_SHOWS, OPTION_TEXT, .member = MEMBER(output)},
    {"  --name NAME  a name\n", OPTION_JUDGES, OPTION_LIST, .member = MEMBER(names), .count = MEMBER(name_count),
     .most = 2, .also = "--names"},
    {"  --seed N           chooses\n", OPTION_REPEATED, OPTION_NUMBER, .member = MEMBER(seed), .most = INT64_MAX},
    {"  -j N, --jobs N\n                     side by side\n", OPTION_SHOWS, OPTION_COUNT, .member = MEMBER(jobs),
     .least = 1, .most = 8, .unit = "processes"},
    {"  --memory SIZE      so much\n", OPTION_JUDGES, OPTION_OCTETS, .member = MEMBER(memory), .least = 4096,
     .most = 1 << 20, .unit = "64K"},
    {"  --wait TIME        so long\n", OPTION_JUDGES, OPTION_TIME, .member = MEMBER(wait), .least = 1, .most = 86400},
};
static const struct option_table table = {
    .command = "sample", .head = "usage: warpcheck sample\n", .rows = rows, .count = sizeof(rows) / sizeof(rows[0])};

/* Reads words parted by blanks; `text` is changed. */
static int read_words(struct sample *sample, char *text, struct iwarp_sentence *error)
{
    char *words[WORDS_MAX] = {"sample"}, *word;
    int count = 1;

    *sample = (struct sample){0};
    error->text[0] = '\0';
    while ((word = strsep(&text, " ")) != NULL && count < WORDS_MAX)
        words[count++] = word;
    for (int i = 1; i < count;)
        if (option_table_parse(&table, sample, count, words, &i, error) != 1)
            return i;
    return 0;
}

static void fails(const char *line, const char *why)
{
    struct sample sample;
    struct iwarp_sentence error;
    char text[200];

    (void)snprintf(text, sizeof(text), "%s", line);
    ck_assert_int_ne(read_words(&sample, text, &error), 0);
    ck_assert_msg(strstr(error.text, why) != NULL, "%s: \"%s\" does not say \"%s\"", line, error.text, why);
}

START_TEST(values_stand_in_the_next_word_or_after_an_equals_sign)
{
    struct sample sample;
    struct iwarp_sentence error;
    char words[] = "--quiet --seed 7 -o out --name a --names=b -j4", joined[] = "--seed=9223372036854775807 --jobs 8",
         last[] = "-j 1 --jobs=2", amounts[] = "--memory 64K --wait=2m";

    ck_assert_int_eq(read_words(&sample, words, &error), 0);
    ck_assert(sample.quiet);
    ck_assert_uint_eq(sample.seed, 7);
    ck_assert_str_eq(sample.output, "out");
    ck_assert_uint_eq(sample.name_count, 2);
    ck_assert_str_eq(sample.names[0], "a");
    ck_assert_str_eq(sample.names[1], "b");
    ck_assert_uint_eq(sample.jobs, 4);
    ck_assert_int_eq(read_words(&sample, joined, &error), 0);
    ck_assert_uint_eq(sample.seed, INT64_MAX);
    ck_assert_uint_eq(sample.jobs, 8);
    ck_assert_int_eq(read_words(&sample, last, &error), 0);
    ck_assert_uint_eq(sample.jobs, 2);
    ck_assert_int_eq(read_words(&sample, amounts, &error), 0);
    ck_assert_uint_eq(sample.memory, 65536);
    ck_assert_uint_eq(sample.wait, 120);
}
END_TEST

START_TEST(what_is_wrong_is_named_with_what_was_expected)
{
    fails("--seed", "--seed needs a value");
    fails("--seed x", "--seed \"x\": a number from 0 to 2^63 - 1 was expected");
    fails("--seed -1", "--seed \"-1\": a number");
    fails("--seed=", "--seed \"\": a number");
    fails("--seed 9223372036854775808", "--seed \"9223372036854775808\": a number");
    fails("--seed 99999999999999999999", "--seed \"99999999999999999999\": a number");
    fails("--seed 1x", "--seed \"1x\": a number");
    fails("-j 0", "-j \"0\": a number of processes from 1 to 8 was expected");
    fails("-j9", "-j \"9\": a number of processes");
    fails("--jobs 9", "--jobs \"9\": a number of processes");
    fails("--name a --name b --name c", "--name was given more than 2 times");
    fails("--quiet=1", "--quiet takes no value");
    fails("-oout", "unknown option -oout");
    fails("--sed 1", "did you mean \"--seed\"?");
    fails("--quietly", "unknown option --quietly");
    fails("--memory 2M", "--memory \"2M\": octets from 4K to 1M were expected, such as 64K");
    fails("--wait 2d", "--wait \"2d\": a time from 1s to 1d was expected");
}
END_TEST

START_TEST(what_is_no_option_is_left_to_the_command)
{
    struct sample sample;
    struct iwarp_sentence error;
    char word[] = "word", dash[] = "-";

    ck_assert_int_eq(read_words(&sample, word, &error), 1);
    ck_assert_str_eq(error.text, "");
    ck_assert_int_eq(read_words(&sample, dash, &error), 1);
    ck_assert_str_eq(error.text, "");
}
END_TEST

static void put(void *user, const char *name, const char *value)
{
    char *text = user;
    size_t used = strlen(text);

    (void)snprintf(text + used, 1000 - used, "%s%s%s%s", used != 0 ? " " : "", name, value != NULL ? " " : "",
                   value != NULL ? value : "");
}

static bool has(const char *text, const char *name)
{
    size_t length = strlen(name);

    for (const char *at = text; (at = strstr(at, name)) != NULL; at += length)
        if ((at == text || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

START_TEST(an_amount_is_repeated_where_it_is_set)
{
    struct sample sample = {0};
    struct iwarp_sentence error;
    char amounts[] = "--memory 64K --wait 2m", text[1000] = "", again[1000] = "";

    option_table_repeat(&table, &sample, OPTION_CONDITIONS, put, text);
    ck_assert_str_eq(text, "");
    ck_assert_int_eq(read_words(&sample, amounts, &error), 0);
    option_table_repeat(&table, &sample, OPTION_CONDITIONS, put, text);
    ck_assert_str_eq(text, "--memory 64K --wait 2m");
    ck_assert_int_eq(read_words(&sample, text, &error), 0);
    option_table_repeat(&table, &sample, OPTION_CONDITIONS, put, again);
    ck_assert_str_eq(again, "--memory 64K --wait 2m");
}
END_TEST

/* "--seed" of its help line. */
static void name_of(const struct option_row *row, char name[static 40])
{
    (void)snprintf(name, 40, "%.*s", (int)strcspn(row->help + 2, " ,\n"), row->help + 2);
}

static const struct option_table *const tables[] = {&run_option_table, &audit_option_table};

START_TEST(each_option_of_run_and_audit_says_what_it_changes)
{
    for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
        for (size_t i = 0; i < tables[t]->count; i++) {
            const struct option_row *row = &tables[t]->rows[i];

            ck_assert_msg(row->help[0] == ' ' && row->help[1] == ' ' && row->help[2] == '-', "%s", row->help);
            ck_assert_msg(row->effect != 0, "what does this option change? %s", row->help);
            ck_assert_msg(row->kind != OPTION_OWN || row->parse != NULL, "%s", row->help);
            ck_assert_msg(row->kind != OPTION_OWN || row->value != NULL || row->effect == OPTION_SHOWS ||
                              row->effect == OPTION_APART,
                          "%s", row->help);
        }
}
END_TEST

/* Each with a value that run accepts with --simulate. */
static int words_of(const struct option_row *row, char *name, char **words)
{
    static char text[] = "text", number[] = "7", layer[] = "sctp";

    words[0] = name;
    words[1] = row->kind == OPTION_OWN                                   ? layer
               : row->kind == OPTION_NUMBER || row->kind == OPTION_COUNT ? number
                                                                         : text;
    return row->kind == OPTION_FLAG ? 1 : 2;
}

START_TEST(each_option_that_changes_verdicts_is_a_condition_and_repeated)
{
    unsigned judging = 0;

    for (size_t i = 0; i < run_option_table.count; i++) {
        const struct option_row *row = &run_option_table.rows[i];
        char conditions[1000] = "", replay[1000] = "", name[40], simulate[] = "--simulate";
        char *words[] = {"run", simulate, NULL, NULL};
        struct run_options options;
        struct iwarp_sentence error = {""};
        int count;

        name_of(row, name);
        if (row->effect != OPTION_JUDGES && row->effect != OPTION_REPEATED)
            continue;
        judging++;
        count = 2 + words_of(row, name, words + 2);
        ck_assert_msg(run_options_parse(&options, count, words, &error) == 0, "%s: %s", name, error.text);
        option_table_repeat(&run_option_table, &options, OPTION_CONDITIONS, put, conditions);
        option_table_repeat(&run_option_table, &options, OPTION_REPLAY, put, replay);
        ck_assert_msg(has(replay, name), "%s is not in \"%s\"", name, replay);
        ck_assert_msg(has(conditions, name) == (row->effect == OPTION_JUDGES), "%s: \"%s\"", name, conditions);
    }
    ck_assert_uint_gt(judging, 0);
}
END_TEST

START_TEST(a_replay_read_again_is_the_same_run)
{
    char *words[WORDS_MAX] = {"run",      "--simulate", "--llp",     "sctp",  "--destructive", "--defect", "one",
                              "--defect", "two",        "--variant", "three", "--script",      "four.lua", "--ipv6"};
    char before[2][1000] = {""}, after[2][1000] = {""}, line[1000], *rest = line;
    struct run_options options;
    struct iwarp_sentence error = {""};
    int count = 1;

    ck_assert_msg(run_options_parse(&options, 14, words, &error) == 0, "%s", error.text);
    option_table_repeat(&run_option_table, &options, OPTION_CONDITIONS, put, before[0]);
    option_table_repeat(&run_option_table, &options, OPTION_REPLAY, put, before[1]);
    (void)snprintf(line, sizeof(line), "%s", before[1]);
    while (count < WORDS_MAX && (words[count] = strsep(&rest, " ")) != NULL)
        count++;
    ck_assert_int_eq(count, 14);
    ck_assert_msg(run_options_parse(&options, count, words, &error) == 0, "%s", error.text);
    option_table_repeat(&run_option_table, &options, OPTION_CONDITIONS, put, after[0]);
    option_table_repeat(&run_option_table, &options, OPTION_REPLAY, put, after[1]);
    ck_assert_str_eq(before[0], after[0]);
    ck_assert_str_eq(before[1], after[1]);
}
END_TEST

Suite *option_table_suite(void)
{
    Suite *suite = suite_create("option_table");
    TCase *tcase = tcase_create("core");

    tcase_add_test(tcase, values_stand_in_the_next_word_or_after_an_equals_sign);
    tcase_add_test(tcase, what_is_wrong_is_named_with_what_was_expected);
    tcase_add_test(tcase, what_is_no_option_is_left_to_the_command);
    tcase_add_test(tcase, an_amount_is_repeated_where_it_is_set);
    tcase_add_test(tcase, each_option_of_run_and_audit_says_what_it_changes);
    tcase_add_test(tcase, each_option_that_changes_verdicts_is_a_condition_and_repeated);
    tcase_add_test(tcase, a_replay_read_again_is_the_same_run);
    suite_add_tcase(suite, tcase);
    return suite;
}
