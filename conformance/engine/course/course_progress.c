/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/course/course_progress.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "reports/folder/folder.h"
#include "reports/file/save.h"
#include "reports/file/whole_file.h"

enum { FILE_OCTETS_MAX = 1 << 16, VERSION = 1, NUMBER_OCTETS = 16 };

/* A key such as "12": its number, 0 for one of another version's course, -1 for anything else. */
static int number_of(const char *key)
{
    size_t length = strspn(key, "0123456789");
    long number;

    if (length == 0 || length > 3 || key[length] != '\0' || key[0] == '0')
        return -1;
    number = strtol(key, NULL, 10);
    return number <= COURSE_EXERCISES_MAX ? (int)number : 0;
}

static bool is_day(const char *text)
{
    static const char form[] = "dddd-dd-dd";

    for (size_t i = 0; i < sizeof(form) - 1; i++)
        if (form[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != form[i])
            return false;
    return text[sizeof(form) - 1] == '\0';
}

static int standing_read(struct course_standing *standing, const char *key, json_t *member,
                         struct iwarp_sentence *error)
{
    const json_t *tries = json_object_get(member, "tries"), *passed = json_object_get(member, "passed");

    if (!json_is_integer(tries) || json_integer_value(tries) < 0 || json_integer_value(tries) > COURSE_TRIES_MAX)
        return iwarp_sentence_set(error, "exercise %s: \"tries\" is no number from 0 to %d", key, COURSE_TRIES_MAX);
    if (passed != NULL && (!json_is_string(passed) || !is_day(json_string_value(passed))))
        return iwarp_sentence_set(error, "exercise %s: \"passed\" is no day such as 2026-11-23", key);
    standing->tries = (unsigned)json_integer_value(tries);
    if (passed != NULL)
        memcpy(standing->passed, json_string_value(passed), COURSE_DAY_OCTETS);
    return 0;
}

static int root_read(struct course_progress *progress, json_t *root, struct iwarp_sentence *error)
{
    json_t *exercises = json_object_get(root, "exercises"), *member;
    const json_t *version = json_object_get(root, "version");
    const char *key;

    if (!json_is_integer(version) || json_integer_value(version) != VERSION)
        return iwarp_sentence_set(error, "\"version\" is not %d", VERSION);
    if (!json_is_object(exercises))
        return iwarp_sentence_set(error, "\"exercises\" is no object");
    json_object_foreach(exercises, key, member)
    {
        struct course_standing standing = {0};
        int number = number_of(key);

        if (number < 0 || !json_is_object(member))
            return iwarp_sentence_set(error, "\"exercises\" has a member that is no exercise");
        if (standing_read(&standing, key, member, error) != 0)
            return -1;
        if (number > 0)
            progress->of[number] = standing;
    }
    return 0;
}

int course_progress_parse(struct course_progress *progress, const char *text, size_t octets,
                          struct iwarp_sentence *error)
{
    json_error_t why;
    json_t *root = json_loadb(text, octets, JSON_REJECT_DUPLICATES, &why);
    int result;

    memset(progress, 0, sizeof(*progress));
    if (root == NULL)
        return iwarp_sentence_set(error, "line %d: no JSON: %.80s", why.line, why.text);
    result = root_read(progress, root, error);
    json_decref(root);
    return result;
}

char *course_progress_text(const struct course_progress *progress)
{
    json_t *exercises = json_object(), *root = json_pack("{s:i, s:o}", "version", VERSION, "exercises", exercises);
    char *text = NULL;
    bool whole = root != NULL;

    for (unsigned n = 1; whole && n <= COURSE_EXERCISES_MAX; n++) {
        const struct course_standing *standing = &progress->of[n];
        char key[NUMBER_OCTETS];

        if (standing->tries == 0 && standing->passed[0] == '\0')
            continue;
        (void)snprintf(key, sizeof(key), "%u", n);
        whole = json_object_set_new(exercises, key,
                                    json_pack("{s:i, s:s*}", "tries", (int)standing->tries, "passed",
                                              standing->passed[0] != '\0' ? standing->passed : NULL)) == 0;
    }
    if (whole)
        text = json_dumps(root, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
    json_decref(root);
    return text;
}

int course_progress_path(char path[COURSE_PATH_OCTETS], struct iwarp_sentence *error)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int length;

    /* A path there that does not begin at the root counts for nothing (XDG Base Directory Specification). */
    if (state != NULL && state[0] == '/')
        length = snprintf(path, COURSE_PATH_OCTETS, "%s/warpcheck/course.json", state);
    else if (home != NULL && home[0] == '/')
        length = snprintf(path, COURSE_PATH_OCTETS, "%s/.local/state/warpcheck/course.json", home);
    else
        return iwarp_sentence_set(error,
                                  "progress cannot be remembered: set XDG_STATE_HOME or HOME to an absolute path");
    return length < COURSE_PATH_OCTETS ? 0 : iwarp_sentence_set(error, "the path of the progress file is too long");
}

int course_progress_load(struct course_progress *progress, const char *path, struct iwarp_sentence *error)
{
    struct iwarp_sentence why;
    struct stat status;
    uint8_t *octets;
    size_t size;
    int result = 0;

    memset(progress, 0, sizeof(*progress));
    if (whole_file_read(path, FILE_OCTETS_MAX, &octets, &size, error) != 0)
        return -1;
    if (octets == NULL && lstat(path, &status) == 0)
        return iwarp_sentence_set(error, "%.300s: a regular file of at most %d octets was expected", path,
                                  FILE_OCTETS_MAX);
    if (octets != NULL && course_progress_parse(progress, (const char *)octets, size, &why) != 0)
        result = iwarp_sentence_set(error, "%.300s: %.200s (warpcheck course --reset forgets it)", path, why.text);
    free(octets);
    return result;
}

int course_progress_save(const struct course_progress *progress, const char *path, struct iwarp_sentence *error)
{
    char folder[COURSE_PATH_OCTETS];
    struct place place = place_at(path);
    char *text = course_progress_text(progress);
    int result;

    if (text == NULL)
        return iwarp_sentence_set(error, "out of memory");
    (void)snprintf(folder, sizeof(folder), "%s", path);
    *strrchr(folder, '/') = '\0';
    result = folder_make(folder, error);
    if (result == 0 && save_in_place(&place))
        result = iwarp_sentence_set(error, "%.300s: a regular file was expected", path);
    if (result == 0)
        result = save_file(&place, text, strlen(text), error);
    free(text);
    return result;
}
