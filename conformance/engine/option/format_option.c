/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/option/format_option.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int format_option_parse(struct format_option *option, const char *value, struct iwarp_sentence *error)
{
    char names[200];

    option->jsonl = strcmp(value, "jsonl") == 0;
    option->report = report_format_find(value);
    if (option->jsonl || option->report != NULL || strcmp(value, "text") == 0)
        return 0;
    return iwarp_sentence_set(error, "--format \"%.40s\" is unknown, %s was expected", value,
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

int format_option_results(const struct format_option *option, struct folder *output, struct format_results *results,
                          struct iwarp_sentence *error)
{
    *results = (struct format_results){.place = {.folder = AT_FDCWD}};
    if (output != NULL) {
        struct place place = folder_place(output, "results.jsonl");

        (void)snprintf(results->path, sizeof(results->path), "%s", place.path);
        results->place = (struct place){place.folder, "results.jsonl", results->path};
    } else if (option->report != NULL) {
        FILE *file = tmpfile();
        int descriptor = file != NULL ? fcntl(fileno(file), F_DUPFD_CLOEXEC, 0) : -1; /* open until the process ends */

        if (file != NULL)
            (void)fclose(file);
        if (descriptor < 0)
            return iwarp_sentence_set(error, "cannot make a temporary file: %s", strerror(errno));
        results->place = (struct place){descriptor, "", "the temporary file for results"};
    }
    return 0;
}
