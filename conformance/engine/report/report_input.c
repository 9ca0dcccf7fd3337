/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/report/report_input.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "conformance/engine/process/run_confine.h"
#include "conformance/engine/report/cmd_report.h"

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

static int load(struct report_input *run, const char *input, const struct catalogue *catalogue,
                struct iwarp_sentence *error)
{
    const char *equals = strchr(input, '=');
    const char *path = equals != NULL && equals != input ? equals + 1 : input;

    if (strlen(path) + sizeof("/results.jsonl") > sizeof(run->results))
        return iwarp_sentence_set(error, "%.100s...: the path is too long", path);
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

/* If several runs have the same name, the later ones get their folder added to it. */
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

/* Appends `part` to a href: all octets but the plain ones as %XX. False without room. */
static bool href_append(char *href, size_t room, const char *part)
{
    size_t used = strlen(href);

    for (const unsigned char *at = (const unsigned char *)part; *at != '\0'; at++) {
        bool plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9') ||
                     strchr("-._~/", *at) != NULL;

        if (used + 4 > room)
            return false;
        used += (size_t)snprintf(href + used, room - used, plain ? "%c" : "%%%02X", *at);
    }
    return true;
}

/* "../b/index.html" from folder /x/a to file /x/b/index.html; both are absolute and without links. */
static void relate(const char *from, const char *to, char *href, size_t room)
{
    size_t common = 0, at = 0;
    bool fits = true;

    for (; from[at] != '\0' && from[at] == to[at]; at++)
        if (from[at] == '/')
            common = at + 1;
    if (from[at] == '\0' && to[at] == '/')
        common = at + 1;
    href[0] = '\0';
    if (strlen(from) >= common)
        for (const char *rest = from + common; fits && *rest != '\0';) {
            const char *slash = strchr(rest, '/');

            fits = href_append(href, room, "../");
            rest = slash == NULL ? rest + strlen(rest) : slash + 1;
        }
    if (!fits || !href_append(href, room, to + common))
        href[0] = '\0';
}

void report_input_page(struct report_input *run, const char *output)
{
    char folder[PATH_MAX], page[PATH_MAX + 16], from[PATH_MAX], to[PATH_MAX];

    run->page[0] = '\0';
    if (strcmp(output, "-") == 0)
        return;
    snprintf(folder, sizeof(folder), "%s", run->results);
    report_input_folder(folder);
    snprintf(page, sizeof(page), "%s/index.html", folder);
    snprintf(folder, sizeof(folder), "%s", output);
    report_input_folder(folder);
    if (realpath(folder, from) == NULL || realpath(page, to) == NULL)
        return;
    relate(from, to, run->page, sizeof(run->page));
}

int report_inputs_load(struct report_input *inputs, char *const *arguments, size_t count,
                       const struct catalogue *catalogue, struct iwarp_sentence *error)
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

uint64_t report_inputs_need(char *const *inputs, size_t count, bool named, const char *output)
{
    char **made = calloc(2 * count + 1, sizeof(*made));
    struct run_files files = {.read = (const char *const *)made, .write = output};
    uint64_t capabilities;

    for (size_t i = 0; made != NULL && i < count; i++) {
        const char *equals = named ? strchr(inputs[i], '=') : NULL;

        if (results_paths(equals != NULL ? equals + 1 : inputs[i], &made[files.read_count],
                          &made[files.read_count + 1]) == 0)
            files.read_count += 2;
    }
    if (output != NULL && strcmp(output, "-") == 0)
        files.write = NULL;
    else if (output == NULL && files.read_count != 0)
        files.write = made[1]; /* the reports go into the folder of the results */
    capabilities = run_confine_files(&files);
    for (size_t i = 0; made != NULL && i < 2 * count; i++)
        free(made[i]);
    free(made);
    return capabilities;
}
