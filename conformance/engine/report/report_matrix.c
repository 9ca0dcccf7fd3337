/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/report/report_matrix.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "conformance/requirements/catalogue.h"
#include "reports/matrix.h"

enum { FAILED_TO_READ = -1, FAILED_TO_WRITE = -2 };

struct run {
    struct report report;
    bool loaded;
    char name[160];
    char results[PATH_MAX];
    char page[PATH_MAX]; /* href from the matrix's folder; "" for none */
};

static bool is_folder(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Cuts a path down to its folder, in place. */
static void to_folder(char *path)
{
    char *slash = strrchr(path, '/');

    if (slash == NULL)
        snprintf(path, 2, ".");
    else
        slash[slash == path] = '\0';
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

/* The run's page beside its results, when there is one and the matrix is a file that can point there. */
static void find_page(struct run *run, const char *output)
{
    char folder[PATH_MAX], page[PATH_MAX + 16], from[PATH_MAX], to[PATH_MAX];

    run->page[0] = '\0';
    if (strcmp(output, "-") == 0)
        return;
    snprintf(folder, sizeof(folder), "%s", run->results);
    to_folder(folder);
    snprintf(page, sizeof(page), "%s/index.html", folder);
    snprintf(folder, sizeof(folder), "%s", output);
    to_folder(folder);
    if (realpath(folder, from) == NULL || realpath(page, to) == NULL)
        return;
    relate(from, to, run->page, sizeof(run->page));
}

static int load(struct run *run, const char *input, const struct catalogue *catalogue, struct sentence *error)
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
static void tell_apart(struct run *runs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = i + 1; k < count; k++)
            if (strcmp(runs[i].name, runs[k].name) == 0) {
                char folder[PATH_MAX];

                snprintf(folder, sizeof(folder), "%s", runs[k].results);
                to_folder(folder);
                snprintf(runs[k].name + strlen(runs[k].name), sizeof(runs[k].name) - strlen(runs[k].name), " (%.60s)",
                         folder);
            }
}

int report_matrix(char *const *inputs, size_t count, const char *output, struct sentence *error)
{
    const struct place to = place_at(output);
    struct run *runs = calloc(count, sizeof(*runs));
    struct matrix_column columns[MATRIX_COLUMNS_MAX];
    struct catalogue *catalogue = NULL;
    int rc = FAILED_TO_READ;

    if (runs == NULL || count > MATRIX_COLUMNS_MAX) {
        sentence_set(error, runs == NULL ? "out of memory" : "a matrix shows at most %d runs", MATRIX_COLUMNS_MAX);
    } else if (catalogue_load(&catalogue, error) == 0) {
        rc = 0;
        for (size_t i = 0; i < count && rc == 0; i++)
            rc = load(&runs[i], inputs[i], catalogue, error) == 0 ? 0 : FAILED_TO_READ;
        tell_apart(runs, rc == 0 ? count : 0);
        for (size_t i = 0; i < count && rc == 0; i++) {
            find_page(&runs[i], output);
            columns[i] = (struct matrix_column){runs[i].name, &runs[i].report, runs[i].page[0] ? runs[i].page : NULL};
        }
        if (rc == 0 && matrix_write(columns, count, catalogue, &to, error) != 0)
            rc = FAILED_TO_WRITE;
    }
    for (size_t i = 0; runs != NULL && i < count; i++)
        if (runs[i].loaded)
            report_free(&runs[i].report);
    catalogue_free(catalogue);
    free(runs);
    return rc;
}
