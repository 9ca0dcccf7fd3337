/* SPDX-License-Identifier: BSD-2-Clause */
/* warpcheck course: the exercises of docs/course. */
#include "conformance/engine/course/cmd_course.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/engine/course/course_answer.h"
#include "conformance/engine/course/course_findings.h"
#include "conformance/engine/course/course_options.h"
#include "conformance/engine/course/course_progress.h"
#include "conformance/engine/course/course_run.h"
#include "conformance/engine/course/course_solutions.h"
#include "conformance/engine/option/utc_text.h"
#include "conformance/requirements/catalogue.h"
#include "reference-stack/peer/cmd_peer.h"
#include "reference-stack/program/complaint.h"
#include "reports/folder/folder.h"
#include "reports/file/save.h"
#include "base/exit_status.h"

enum { PEER_WORDS_MAX = 64, TASK_OCTETS = 2048 };

struct course {
    struct course_options options;
    struct course_table table;
    struct catalogue *catalogue;
    struct course_progress progress;
    char path[COURSE_PATH_OCTETS];
};

/*
 * ---- the list ------------------------------------------------------------------------------------------------------
 */

static size_t passed_count(const struct course *course)
{
    size_t passed = 0;

    for (size_t i = 0; i < course->table.count; i++)
        passed += course->progress.of[course->table.exercises[i].number].passed[0] != '\0';
    return passed;
}

static int end_print(const struct course *course)
{
    size_t passed = passed_count(course);

    printf("%zu of %zu exercises passed%s\n", passed, course->table.count,
           passed == course->table.count ? ": the course is passed" : "");
    return passed == course->table.count ? EXIT_DONE : EXIT_FAILS;
}

static int list(const struct course *course)
{
    unsigned lesson = 0, next = 0;

    for (size_t i = 0; i < course->table.count; i++) {
        const struct course_exercise *exercise = &course->table.exercises[i];
        const struct course_standing *standing = &course->progress.of[exercise->number];

        if (exercise->lesson != lesson)
            printf("lesson %u\n", lesson = exercise->lesson);
        if (next == 0 && standing->passed[0] == '\0')
            next = exercise->number;
        printf("  %2u  %-7s  %-30s", exercise->number, course_kind_name(exercise->kind), exercise->title);
        if (standing->passed[0] != '\0')
            printf("  passed on %s", standing->passed);
        if (standing->tries > 0)
            printf("  (%u %s)", standing->tries, standing->tries == 1 ? "answer" : "answers");
        putchar('\n');
    }
    (void)end_print(course);
    if (next != 0)
        printf("next: warpcheck course start %u\n", next);
    return EXIT_DONE;
}

/*
 * ---- start ---------------------------------------------------------------------------------------------------------
 */

/* The task as text, with the command that answers it. */
static void task_make(const struct course_exercise *exercise, char task[TASK_OCTETS])
{
    (void)snprintf(task, TASK_OCTETS, "Exercise %u, lesson %u: %s\n\n%s\n\nanswer: warpcheck course answer %u %s\n",
                   exercise->number, exercise->lesson, exercise->title, exercise->task, exercise->number,
                   course_asks_text(exercise));
}

static int start(const struct course *course, const struct course_exercise *exercise)
{
    char own[sizeof("exercise-") + 12], path[COURSE_PATH_OCTETS], task[TASK_OCTETS];
    const char *folder = course->options.output != NULL ? course->options.output : own;
    struct place place = place_at(path);
    struct iwarp_sentence error;

    (void)snprintf(own, sizeof(own), "exercise-%u", exercise->number);
    if (strlen(folder) + sizeof("/exercise-NN.pcapng") > sizeof(path))
        return complain(EXIT_USAGE, "the folder's path is too long");
    task_make(exercise, task);
    (void)snprintf(path, sizeof(path), "%s/task.txt", folder);
    if (folder_make(folder, &error) != 0 || save_file(&place, task, strlen(task), &error) != 0)
        return complain(EXIT_ENVIRONMENT, "%s", error.text);
    (void)snprintf(path, sizeof(path), "%s/exercise-%u.pcapng", folder, exercise->number);
    if (exercise->kind == COURSE_CAPTURE && course_capture_make(exercise, false, &place, &error) != 0)
        return complain(EXIT_ENVIRONMENT, "%s", error.text);
    fputs(task, stdout);
    if (exercise->kind == COURSE_CAPTURE)
        print_plain(stdout, "capture: %s", path);
    return EXIT_DONE;
}

/*
 * ---- peer ----------------------------------------------------------------------------------------------------------
 */

/* In this process: no command line that ps shows has the defect. */
static int peer(const struct course *course, const struct course_exercise *exercise)
{
    char *argv[PEER_WORDS_MAX + 4];
    int argc = 0;

    if (exercise->kind != COURSE_PEER)
        return complain(EXIT_USAGE, "exercise %u has no peer: it is a %s", exercise->number,
                        course_kind_name(exercise->kind));
    if (course->options.word_count > PEER_WORDS_MAX)
        return complain(EXIT_USAGE, "at most %d arguments may follow", PEER_WORDS_MAX);
    argv[argc++] = (char *)(uintptr_t) "warpcheck course peer";
    argv[argc++] = (char *)(uintptr_t) "--defect";
    argv[argc++] = (char *)(uintptr_t)exercise->defect;
    for (int i = 0; i < course->options.word_count; i++)
        argv[argc++] = course->options.words[i];
    argv[argc] = NULL;
    return cmd_peer(argc, argv);
}

/*
 * ---- answer --------------------------------------------------------------------------------------------------------
 */

static int remember(struct course *course, unsigned number, bool passed)
{
    struct course_standing *standing = &course->progress.of[number];
    char now[UTC_TEXT_OCTETS];
    struct iwarp_sentence error;

    if (standing->tries < COURSE_TRIES_MAX)
        standing->tries++;
    if (passed && standing->passed[0] == '\0')
        (void)snprintf(standing->passed, sizeof(standing->passed), "%.10s", utc_text(now));
    if (course_progress_save(&course->progress, course->path, &error) != 0)
        return complain(EXIT_ENVIRONMENT, "%s", error.text);
    return EXIT_DONE;
}

static int answer(struct course *course, const struct course_exercise *exercise)
{
    struct iwarp_sentence why = {""};
    enum course_judgement judgement =
        course_answer_judge(exercise, course->catalogue, course->options.words, course->options.word_count, &why);
    int status;

    switch (judgement) {
    case COURSE_UNCLEAR: return complain(EXIT_USAGE, "%s", why.text);
    case COURSE_TOLD: return EXIT_USAGE;
    case COURSE_FAILED: return complain(EXIT_ENVIRONMENT, "%s", why.text);
    default: break;
    }
    status = remember(course, exercise->number, judgement == COURSE_RIGHT);
    if (status != EXIT_DONE)
        return status;
    if (judgement == COURSE_RIGHT) {
        printf("right: exercise %u is passed\n", exercise->number);
        (void)end_print(course);
        return EXIT_DONE;
    }
    print_plain(stdout, "wrong: %s (a hint: warpcheck course hint %u)", why.text, exercise->number);
    return EXIT_FAILS;
}

/*
 * --------------------------------------------------------------------------------------------------------------------
 */

static int with_exercise(struct course *course, const struct course_exercise *exercise)
{
    const struct course_options *options = &course->options;

    switch (options->verb) {
    case COURSE_START: return start(course, exercise);
    case COURSE_HINT: return puts(exercise->hint) < 0 ? EXIT_ENVIRONMENT : EXIT_DONE;
    case COURSE_PEER_START: return peer(course, exercise);
    case COURSE_RUN_CHECKS:
        if (exercise->kind != COURSE_RUN)
            return complain(EXIT_USAGE, "exercise %u has no device for checks: it is a %s", exercise->number,
                            course_kind_name(exercise->kind));
        return course_run_show(exercise->defect, (const char *const *)options->words, (size_t)options->word_count);
    default: return answer(course, exercise);
    }
}

static int obey(struct course *course)
{
    const struct course_options *options = &course->options;
    bool remembers = options->verb == COURSE_ANSWER || options->verb == COURSE_LIST;
    const struct course_exercise *exercise = NULL;
    struct iwarp_sentence error;

    if (course_table_load(&course->table, &error) != 0 || catalogue_load(&course->catalogue, &error) != 0)
        return complain(EXIT_ENVIRONMENT, "%s", error.text);
    if (options->verb != COURSE_LIST) {
        exercise = course_exercise_named(&course->table, options->number, &error);
        if (exercise == NULL)
            return complain(EXIT_USAGE, "%s", error.text);
    }
    if (options->solutions)
        return course_solutions_print(&course->table, course->catalogue, &error) == 0
                   ? EXIT_DONE
                   : complain(EXIT_ENVIRONMENT, "%s", error.text);
    if (remembers && course_progress_path(course->path, &error) != 0)
        return complain(EXIT_ENVIRONMENT, "%s", error.text);
    if (options->reset)
        return course_progress_save(&course->progress, course->path, &error) == 0
                   ? EXIT_DONE
                   : complain(EXIT_ENVIRONMENT, "%s", error.text);
    if (remembers && course_progress_load(&course->progress, course->path, &error) != 0)
        return complain(EXIT_ENVIRONMENT, "%s", error.text);
    if (options->passed)
        return end_print(course);
    return exercise != NULL ? with_exercise(course, exercise) : list(course);
}

int cmd_course(int argc, char **argv)
{
    struct course *course = calloc(1, sizeof(*course));
    struct iwarp_sentence error;
    int status;

    if (course == NULL)
        return complain(EXIT_ENVIRONMENT, "out of memory");
    if (course_options_parse(&course->options, argc, argv, &error) != 0)
        status = complain(EXIT_USAGE, "%s", error.text);
    else if (course->options.help)
        status = option_table_print(&course_option_table, stdout) < 0 ? EXIT_ENVIRONMENT : EXIT_DONE;
    else
        status = obey(course);
    course_table_free(&course->table);
    catalogue_free(course->catalogue);
    free(course);
    return status;
}
