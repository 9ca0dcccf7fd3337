/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/course/course_run.h"

#include <errno.h>
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/engine/process/child_end.h"
#include "conformance/engine/run/cmd_run.h"
#include "reference-stack/program/complaint.h"
#include "base/exit_status.h"
#include "base/out_of_memory.h"

enum { FIXED_WORDS = 4 };

/* In the child: never returns. */
_Noreturn static void child(const char *defect, const char *const *words, size_t count, int to)
{
    char *argv[FIXED_WORDS + COURSE_RUN_WORDS_MAX + 1];
    int argc = 0, status;

    argv[argc++] = (char *)(uintptr_t) "run";
    argv[argc++] = (char *)(uintptr_t) "--simulate";
    if (defect != NULL) {
        argv[argc++] = (char *)(uintptr_t) "--defect";
        argv[argc++] = (char *)(uintptr_t)defect;
    }
    for (size_t i = 0; i < count; i++)
        argv[argc++] = (char *)(uintptr_t)words[i];
    argv[argc] = NULL;
    if (dup2(to, STDOUT_FILENO) < 0)
        _exit(EXIT_ENVIRONMENT);
    close(to);
    status = cmd_run(argc, argv);
    if (fflush(stdout) != 0 || out_of_memory_noted())
        status = EXIT_ENVIRONMENT;
    _exit(status);
}

static void lines_read(FILE *from, course_line_fn *take, void *user)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length;

    while ((length = getline(&line, &room, from)) > 0) {
        if (line[length - 1] == '\n')
            line[length - 1] = '\0';
        take(user, line);
    }
    free(line);
}

int course_run(const char *defect, const char *const *words, size_t count, course_line_fn *line, void *user,
               int *status, struct iwarp_sentence *error)
{
    int ends[2];
    FILE *from;
    pid_t pid;

    if (count > COURSE_RUN_WORDS_MAX)
        return iwarp_sentence_set(error, "at most %d words may follow", COURSE_RUN_WORDS_MAX);
    if (fflush(stdout) != 0 || pipe(ends) != 0)
        return iwarp_sentence_set(error, "cannot start a run: %s", strerror(errno));
    pid = fork();
    if (pid == 0) {
        close(ends[0]);
        child(defect, words, count, ends[1]);
    }
    close(ends[1]);
    from = pid > 0 ? fdopen(ends[0], "r") : NULL;
    if (from == NULL) {
        (void)iwarp_sentence_set(error, "cannot start a run: %s", strerror(errno));
        close(ends[0]); /* a child that writes there ends by that */
        if (pid > 0)
            (void)child_end(pid, "run", status, &(struct iwarp_sentence){""});
        return -1;
    }
    lines_read(from, line, user);
    (void)fclose(from);
    return child_end(pid, "run", status, error);
}

/*
 * ---- shown ---------------------------------------------------------------------------------------------------------
 */

/* What repeats a run names the defect. */
static void show(void *user, char *line)
{
    const char *defect = user;
    const char *text = line + strspn(line, " ");

    if (strncmp(text, "replay ", 7) == 0)
        return;
    for (char *at; (at = strstr(line, defect)) != NULL;)
        memset(at, '*', strlen(defect));
    print_plain(stdout, "%s", line);
}

int course_run_show(const char *defect, const char *const *words, size_t count)
{
    struct iwarp_sentence error;
    int status = EXIT_ENVIRONMENT;

    for (size_t i = 0; i < count; i++)
        if (words[i][0] == '-')
            return complain(EXIT_USAGE, "%.60s: an id or a glob over ids was expected", words[i]);
    if (course_run(defect, words, count, show, (void *)(uintptr_t)defect, &status, &error) != 0)
        return complain(EXIT_ENVIRONMENT, "%s", error.text);
    return status;
}

/*
 * ---- read ----------------------------------------------------------------------------------------------------------
 */

struct reader {
    course_result_fn *take;
    void *user;
    bool rules;
};

static void read_line(void *user, char *line)
{
    const struct reader *reader = user;
    const char *type, *id, *verdict, *by;
    json_t *object = json_loads(line, 0, NULL);
    enum verdict value;

    if (object != NULL &&
        json_unpack(object, "{s:s, s:s, s:s, s:s}", "type", &type, "id", &id, "verdict", &verdict, "by", &by) == 0 &&
        strcmp(type, "result") == 0 && (reader->rules || strcmp(by, "check") == 0) &&
        verdict_from_name(verdict, &value) == 0)
        reader->take(reader->user, id, value);
    json_decref(object);
}

int course_run_results(const char *defect, const char *const *words, size_t count, bool rules, course_result_fn *result,
                       void *user, int *status, struct iwarp_sentence *error)
{
    const char *all[COURSE_RUN_WORDS_MAX] = {"--format", "jsonl", "--quiet"};
    struct reader reader = {result, user, rules};

    if (count > COURSE_RUN_WORDS_MAX - 3)
        return iwarp_sentence_set(error, "at most %d words may follow", COURSE_RUN_WORDS_MAX - 3);
    if (count > 0)
        memcpy(all + 3, words, count * sizeof(*words));
    return course_run(defect, all, count + 3, read_line, &reader, status, error);
}
