/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/format_option.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int format_option_parse(struct format_option *option, const char *value, struct sentence *error)
{
    char names[200];

    option->jsonl = strcmp(value, "jsonl") == 0;
    option->report = report_format_find(value);
    if (option->jsonl || option->report != NULL || strcmp(value, "text") == 0)
        return 0;
    return sentence_set(error, "--format \"%.40s\" is unknown, %s was expected", value,
                        format_option_names(names, sizeof(names)));
}

bool format_option_machine(const struct format_option *option)
{
    return option->jsonl || option->report != NULL;
}

const char *format_option_names(char *text, size_t room)
{
    return report_format_names("text, jsonl", text, room);
}

int format_option_results(const struct format_option *option, const char *output, char *path, size_t room,
                          struct sentence *error)
{
    path[0] = '\0';
    if (output != NULL) {
        if (snprintf(path, room, "%s/results.jsonl", output) >= (int)room)
            return sentence_set(error, "the output folder's path is too long");
    } else if (option->report != NULL) {
        FILE *file = tmpfile();
        int descriptor = file != NULL ? dup(fileno(file)) : -1; /* open until the process ends: it is the file's name */

        if (file != NULL)
            (void)fclose(file);
        if (descriptor < 0)
            return sentence_set(error, "cannot make a temporary file: %s", strerror(errno));
        (void)snprintf(path, room, "/proc/self/fd/%d", descriptor);
    }
    return 0;
}
