/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/report/bundle_replay.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "reference-stack/program/shell_word.h"
#include "reports/results/report.h"
#include "reports/results/result.h"
#include "reports/file/text.h"

enum { COMMAND_OCTETS = 16384, NAME_OCTETS = 300 };

void bundle_replay_files(const char *replay, char dut[static BUNDLE_WORD_OCTETS],
                         char script[static BUNDLE_WORD_OCTETS])
{
    char word[BUNDLE_WORD_OCTETS];
    const char *rest = replay;
    char *value = NULL;

    dut[0] = script[0] = '\0';
    while (rest != NULL && shell_next(&rest, word, sizeof(word)) == 1) {
        if (value != NULL)
            (void)snprintf(value, BUNDLE_WORD_OCTETS, "%s", word);
        value = strcmp(word, "--dut") == 0 ? dut : strcmp(word, "--script") == 0 ? script : NULL;
    }
}

/* What stands in the archive for the value of an option that names a file; NULL: the value itself. */
static const char *in_archive(json_t *added, const char *option, const char *value, char *name, size_t room)
{
    if (strcmp(option, "--dut") == 0)
        return json_object_get(added, BUNDLE_PROFILE) != NULL && strchr(value, '.') != NULL ? BUNDLE_PROFILE : NULL;
    if (strcmp(option, "--script") != 0)
        return NULL;
    (void)bundle_name(added, "scripts", value, name, room);
    return json_object_get(added, name) != NULL ? name : NULL;
}

/* The command without its program, each word quoted; false: it is none that could have been written here. */
static bool command_of_check(const char *replay, json_t *added, char *text, size_t room)
{
    char word[BUNDLE_WORD_OCTETS], before[BUNDLE_WORD_OCTETS], name[NAME_OCTETS];
    const char *rest = replay;
    size_t used = 0;
    int next;

    text[0] = before[0] = '\0';
    if (shell_next(&rest, word, sizeof(word)) != 1 || strcmp(word, "warpcheck") != 0)
        return false;
    while ((next = shell_next(&rest, word, sizeof(word))) == 1) {
        const char *ours = in_archive(added, before, word, name, sizeof(name));
        size_t now = shell_append_word(text, room, used, ours != NULL ? ours : word);

        if (now == used)
            return false;
        used = now;
        memcpy(before, word, sizeof(before));
    }
    return next == 0 && used != 0;
}

/* Of a rule's result: the capture again. */
static bool command_of_rule(const struct result *result, json_t *added, char *text, size_t room)
{
    const char *path = result->evidence != NULL ? result->evidence : result->file;
    char name[NAME_OCTETS];
    size_t used;

    if (path == NULL)
        return false;
    if (result->evidence != NULL) {
        const char *slash = strrchr(path, '/');

        (void)snprintf(name, sizeof(name), "evidence/%s", slash != NULL ? slash + 1 : path);
    } else {
        (void)bundle_name(added, "captures", path, name, sizeof(name));
    }
    if (json_object_get(added, name) == NULL)
        return false;
    used = shell_append(text, room, 0, "audit", name);
    return shell_append_word(text, room, used, result->id) != used;
}

static bool is_bad(const struct result *result)
{
    return result->verdict != VERDICT_PASS && result->verdict != VERDICT_SKIP && result->verdict != VERDICT_AMBIGUOUS;
}

void bundle_write_replay(FILE *out, const struct excerpt *excerpt, json_t *added, const json_t *missing)
{
    char *text = malloc(COMMAND_OCTETS);
    json_t *done = json_object(), *object;
    struct result result;
    size_t i;

    (void)missing;
    fputs("#!/bin/sh\n"
          "# Repeats what this archive shows, with the warpcheck that is installed, or the one that WARPCHECK names.\n"
          "# The exit status is that of the last command that did not end with 0.\n"
          "cd \"$(dirname \"$0\")\" || exit 4\n"
          "warpcheck() { echo \"\\$ warpcheck $*\"; command \"${WARPCHECK:-warpcheck}\" \"$@\" || status=$?; }\n"
          "status=0\n",
          out);
    json_array_foreach(excerpt->results, i, object)
    {
        if (text == NULL || result_from_json(object, &result) != 0 ||
            !(result.replay != NULL ? command_of_check(result.replay, added, text, COMMAND_OCTETS)
                                    : is_bad(&result) && command_of_rule(&result, added, text, COMMAND_OCTETS)))
            continue;
        if (json_object_get(done, text) == NULL)
            fprintf(out, "warpcheck%s\n", text);
        (void)json_object_set_new(done, text, json_true());
    }
    fputs("exit \"$status\"\n", out);
    json_decref(done);
    free(text);
}

void bundle_write_readme(FILE *out, const struct excerpt *excerpt, json_t *added, const json_t *missing)
{
    struct result result;
    json_t *object;
    const char *name;
    size_t i;

    fputs("A part of what warpcheck found, so that it can be seen and repeated elsewhere.\n\n", out);
    json_array_foreach(excerpt->results, i, object)
    {
        if (result_from_json(object, &result) != 0)
            continue;
        char *sentence = report_sentence(&result), *clean = sentence != NULL ? text_clean(sentence) : NULL;

        fprintf(out, "%-12s %s%s%s%s%s\n", verdict_name(result.verdict), result.id, result.role != NULL ? " as " : "",
                result.role != NULL ? result.role : "", clean != NULL && clean[0] != '\0' ? ": " : "",
                clean != NULL ? clean : "");
        free(sentence);
        free(clean);
    }
    fputs("\nindex.html shows them, with their frames; sh replay.sh repeats them (warpcheck has to be installed);\n"
          "warpcheck report --verify . tells whether results and evidence are as they were written.\n\n",
          out);
    json_object_foreach(added, name, object)
    {
        fprintf(out, "%s\n", name);
    }
    json_array_foreach(missing, i, object)
    {
        char *clean = text_clean(json_string_value(object));

        fprintf(out, "not here, for it could not be read, or is of another kind: %s\n", clean != NULL ? clean : "");
        free(clean);
    }
}
