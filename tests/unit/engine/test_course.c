/* SPDX-License-Identifier: BSD-2-Clause */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/course/course_exercise.h"
#include "conformance/engine/course/course_findings.h"
#include "conformance/engine/course/course_progress.h"
#include "reference-stack/defects/defect.h"

Suite *course_suite(void);

static bool is_seen(const struct course_exercise *exercise)
{
    return exercise->kind == COURSE_CAPTURE || exercise->kind == COURSE_PEER;
}

/* Two exercises for each lesson, each with a defect that exists; the last lesson's ask for the student's own checks. */
START_TEST(table_is_whole)
{
    unsigned of_lesson[COURSE_LESSONS + 1] = {0};
    struct course_table table;
    struct iwarp_sentence error = {""};
    struct defect_list *defects = defect_list_embedded(&error);

    ck_assert_msg(course_table_load(&table, &error) == 0, "%s", error.text);
    ck_assert_uint_ge(table.count, 12);
    for (size_t i = 0; i < table.count; i++) {
        const struct course_exercise *exercise = &table.exercises[i];

        of_lesson[exercise->lesson]++;
        ck_assert_msg(defect_list_find(defects, exercise->defect) != NULL, "there is no %s", exercise->defect);
        ck_assert(exercise->kind != COURSE_CHECK || exercise->lesson == COURSE_LESSONS);
        ck_assert_str_ne(course_asks_text(exercise), "");
    }
    for (unsigned lesson = 1; lesson <= COURSE_LESSONS; lesson++)
        ck_assert_uint_ge(of_lesson[lesson], 2);
    defect_list_free(defects);
    course_table_free(&table);
}
END_TEST

/* What is hidden is found, in the role that has it, and the same exchange without it has no finding. */
START_TEST(defects_are_found_and_nothing_else)
{
    struct course_findings *findings = malloc(sizeof(*findings));
    struct catalogue *catalogue = NULL;
    struct course_table table;
    struct iwarp_sentence error = {""};

    ck_assert_int_eq(catalogue_load(&catalogue, &error), 0);
    ck_assert_int_eq(course_table_load(&table, &error), 0);
    for (size_t i = 0; i < table.count; i++) {
        const struct course_exercise *exercise = &table.exercises[i];

        if (!is_seen(exercise))
            continue;
        ck_assert_msg(course_findings_make(exercise, false, catalogue, findings, &error) == 0, "%s", error.text);
        ck_assert_msg(findings->count > 0, "nothing is found in exercise %u", exercise->number);
        for (size_t f = 0; f < findings->count; f++) {
            ck_assert_str_eq(findings->found[f].role, exercise->side);
            ck_assert_uint_ne(findings->found[f].frame, 0);
        }
        ck_assert_msg(course_findings_make(exercise, true, catalogue, findings, &error) == 0, "%s", error.text);
        ck_assert_uint_eq(findings->count, 0);
    }
    course_table_free(&table);
    catalogue_free(catalogue);
    free(findings);
}
END_TEST

#define ROW "1\t1\tcapture\tframe-role\trping\tinitiator\tsome-defect\ttitle\ttask\thint\n"

static const struct {
    const char *text, *why; /* why NULL: it is good */
} tables[] = {
    {"# head\n" ROW, NULL},
    {"", "no exercise"},
    {"# head\n\n", "no exercise"},
    {"1\t1\tcapture\n", "line 1: 10 columns"},
    {"2\t1\tcapture\tframe\trping\tinitiator\td\tt\tt\th\n", "number \"2\": 1 was expected"},
    {ROW ROW, "line 2: number \"1\": 2 was expected"},
    {"1\t7\tcapture\tframe\trping\tinitiator\td\tt\tt\th\n", "lesson"},
    {"1\t3\trun\trequirement\t\tinitiator\td\tt\tt\th\n2\t2\trun\trequirement\t\tinitiator\td\tt\tt\th\n",
     "line 2: lesson"},
    {"1\t1\tplay\tframe\trping\tinitiator\td\tt\tt\th\n", "kind"},
    {"1\t1\tcapture\tmoney\trping\tinitiator\td\tt\tt\th\n", "asks"},
    {"1\t1\tcapture\tframe\trping\tnobody\td\tt\tt\th\n", "side"},
    {"1\t1\tcapture\tframe\trping\tinitiator\t\tt\tt\th\n", "column 7 is empty"},
    {"1\t1\tcapture\tframe\t\tinitiator\td\tt\tt\th\n", "does not fit"},
    {"1\t1\trun\trequirement-frame\t\tinitiator\td\tt\tt\th\n", "does not fit"},
    {"1\t1\tcheck\trequirement\t\tinitiator\td\tt\tt\th\n", "does not fit"},
};

START_TEST(tables_are_read)
{
    struct course_table table;
    struct iwarp_sentence error = {""};
    int result = course_table_parse(&table, tables[_i].text, strlen(tables[_i].text), &error);

    ck_assert_int_eq(result, tables[_i].why == NULL ? 0 : -1);
    if (tables[_i].why != NULL)
        ck_assert_msg(strstr(error.text, tables[_i].why) != NULL, "%s", error.text);
    course_table_free(&table);
}
END_TEST

START_TEST(octet_zero_is_refused)
{
    struct course_table table;
    struct iwarp_sentence error;

    ck_assert_int_eq(course_table_parse(&table, "a\0b", 3, &error), -1);
    course_table_free(&table);
}
END_TEST

START_TEST(exercises_have_numbers)
{
    struct course_table table;
    struct iwarp_sentence error;

    ck_assert_int_eq(course_table_parse(&table, ROW, strlen(ROW), &error), 0);
    ck_assert_ptr_eq(course_exercise_named(&table, "1", &error), &table.exercises[0]);
    for (const char **word = (const char *[]){"0", "2", "01", "-1", "", "1x", "18446744073709551617", NULL}; *word;
         word++)
        ck_assert_msg(course_exercise_named(&table, *word, &error) == NULL, "%s", *word);
    course_table_free(&table);
}
END_TEST

/* What was written is read again. */
START_TEST(progress_comes_back)
{
    struct course_progress progress = {0}, again;
    struct iwarp_sentence error = {""};
    char *text;

    progress.of[1] = (struct course_standing){2, "2026-11-23"};
    progress.of[COURSE_EXERCISES_MAX] = (struct course_standing){7, ""};
    text = course_progress_text(&progress);
    ck_assert_ptr_nonnull(text);
    ck_assert_msg(course_progress_parse(&again, text, strlen(text), &error) == 0, "%s", error.text);
    ck_assert_mem_eq(&progress, &again, sizeof(again));
    free(text);
}
END_TEST

static const struct {
    const char *text, *why;
} progresses[] = {
    {"", "no JSON"},
    {"[]", "version"},
    {"{\"version\": 2, \"exercises\": {}}", "version"},
    {"{\"version\": 1}", "exercises"},
    {"{\"version\": 1, \"exercises\": []}", "exercises"},
    {"{\"version\": 1, \"exercises\": {\"1\": 5}}", "no exercise"},
    {"{\"version\": 1, \"exercises\": {\"one\": {\"tries\": 1}}}", "no exercise"},
    {"{\"version\": 1, \"exercises\": {\"99999\": {\"tries\": 1}}}", "no exercise"},
    {"{\"version\": 1, \"exercises\": {\"1\": {}}}", "tries"},
    {"{\"version\": 1, \"exercises\": {\"1\": {\"tries\": -1}}}", "tries"},
    {"{\"version\": 1, \"exercises\": {\"1\": {\"tries\": 9223372036854775807}}}", "tries"},
    {"{\"version\": 1, \"exercises\": {\"1\": {\"tries\": 1, \"passed\": true}}}", "passed"},
    {"{\"version\": 1, \"exercises\": {\"1\": {\"tries\": 1, \"passed\": \"2026-11-23 and more\"}}}", "passed"},
    {"{\"version\": 1, \"version\": 1, \"exercises\": {}}", "no JSON"},
};

START_TEST(broken_progress_is_refused)
{
    struct course_progress progress;
    struct iwarp_sentence error = {""};

    ck_assert_int_eq(course_progress_parse(&progress, progresses[_i].text, strlen(progresses[_i].text), &error), -1);
    ck_assert_msg(strstr(error.text, progresses[_i].why) != NULL, "%s", error.text);
}
END_TEST

START_TEST(progress_of_a_longer_course_is_passed_over)
{
    static const char text[] = "{\"version\": 1, \"exercises\": {\"999\": {\"tries\": 1}, \"2\": {\"tries\": 3}}}";
    struct course_progress progress;
    struct iwarp_sentence error = {""};

    ck_assert_int_eq(course_progress_parse(&progress, text, strlen(text), &error), 0);
    ck_assert_uint_eq(progress.of[2].tries, 3);
}
END_TEST

static const struct {
    const char *state, *home, *path; /* path NULL: there is none */
} places[] = {
    {"/s", "/h", "/s/warpcheck/course.json"},
    {NULL, "/h", "/h/.local/state/warpcheck/course.json"},
    {"relative", "/h", "/h/.local/state/warpcheck/course.json"},
    {"", "/h", "/h/.local/state/warpcheck/course.json"},
    {NULL, NULL, NULL},
    {NULL, "relative", NULL},
};

START_TEST(environment_says_where)
{
    char path[COURSE_PATH_OCTETS];
    struct iwarp_sentence error;

    (void)unsetenv("XDG_STATE_HOME");
    (void)unsetenv("HOME");
    if (places[_i].state != NULL)
        (void)setenv("XDG_STATE_HOME", places[_i].state, 1);
    if (places[_i].home != NULL)
        (void)setenv("HOME", places[_i].home, 1);
    ck_assert_int_eq(course_progress_path(path, &error), places[_i].path != NULL ? 0 : -1);
    if (places[_i].path != NULL)
        ck_assert_str_eq(path, places[_i].path);
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

Suite *course_suite(void)
{
    Suite *suite = suite_create("course");
    TCase *tcase = tcase_create("course");

    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, table_is_whole);
    tcase_add_test(tcase, defects_are_found_and_nothing_else);
    tcase_add_loop_test(tcase, tables_are_read, 0, COUNT(tables));
    tcase_add_test(tcase, octet_zero_is_refused);
    tcase_add_test(tcase, exercises_have_numbers);
    tcase_add_test(tcase, progress_comes_back);
    tcase_add_loop_test(tcase, broken_progress_is_refused, 0, COUNT(progresses));
    tcase_add_test(tcase, progress_of_a_longer_course_is_passed_over);
    tcase_add_loop_test(tcase, environment_says_where, 0, COUNT(places));
    suite_add_tcase(suite, tcase);
    return suite;
}
