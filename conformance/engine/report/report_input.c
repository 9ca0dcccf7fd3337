/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/report/report_input.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static bool is_folder(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

void report_input_folder(char *path)
{
    char *slash = strrchr(path, '/');

    if (slash == NULL)
        snprintf(path, 2, ".");
    else
        slash[slash == path] = '\0';
}

static int load(struct report_input *run, const char *input, const struct catalogue *catalogue, struct sentence *error)
{
    const char *equals = strchr(input, '=');
    const char *path = equals != NULL && equals != input ? equals + 1 : input;

    if (strlen(path) + sizeof("/results.jsonl") > sizeof(run->results))
        return sentence_set(error, "%.100s...: the path is too long", path);
    snprintf(run->results, sizeof(run->results), "%s%s", path, is_folder(path) ? "/results.jsonl" : "");
    if (report_load(&run->report, run->results, catalogue, error) != 0)
        return -1;
    run->loaded = true;
    if (path != input)
        snprintf(run->name, sizeof(run->name), "%.*s", (int)(equals - input), input);
    else
        snprintf(run->name, sizeof(run->name), "%.150s", run->report.info.target);
    return 0;
}

/* Targets that repeat are told apart by their folders. */
static void tell_apart(struct report_input *runs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = i + 1; k < count; k++)
            if (strcmp(runs[i].name, runs[k].name) == 0) {
                char folder[PATH_MAX];

                snprintf(folder, sizeof(folder), "%s", runs[k].results);
                report_input_folder(folder);
                snprintf(runs[k].name + strlen(runs[k].name), sizeof(runs[k].name) - strlen(runs[k].name), " (%.60s)",
                         folder);
            }
}

int report_inputs_load(struct report_input *inputs, char *const *arguments, size_t count,
                       const struct catalogue *catalogue, struct sentence *error)
{
    for (size_t i = 0; i < count; i++)
        if (load(&inputs[i], arguments[i], catalogue, error) != 0)
            return -1;
    tell_apart(inputs, count);
    return 0;
}

void report_inputs_free(struct report_input *inputs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (inputs[i].loaded)
            report_free(&inputs[i].report);
}
