/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/report/report_matrix.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/report/report_input.h"
#include "conformance/requirements/catalogue.h"
#include "reports/matrix.h"

enum { FAILED_TO_READ = -1, FAILED_TO_WRITE = -2 };

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
static void find_page(struct report_input *run, const char *output)
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

int report_matrix(char *const *inputs, size_t count, const char *output, struct sentence *error)
{
    const struct place to = place_at(output);
    struct report_input *runs = calloc(count, sizeof(*runs));
    struct matrix_column columns[MATRIX_COLUMNS_MAX];
    struct catalogue *catalogue = NULL;
    int rc = FAILED_TO_READ;

    if (runs == NULL || count > MATRIX_COLUMNS_MAX) {
        sentence_set(error, runs == NULL ? "out of memory" : "a matrix shows at most %d runs", MATRIX_COLUMNS_MAX);
    } else if (catalogue_load(&catalogue, error) == 0 &&
               report_inputs_load(runs, inputs, count, catalogue, error) == 0) {
        for (size_t i = 0; i < count; i++) {
            find_page(&runs[i], output);
            columns[i] = (struct matrix_column){runs[i].name, &runs[i].report, runs[i].page[0] ? runs[i].page : NULL};
        }
        rc = matrix_write(columns, count, catalogue, &to, error) == 0 ? 0 : FAILED_TO_WRITE;
    }
    if (runs != NULL)
        report_inputs_free(runs, count);
    catalogue_free(catalogue);
    free(runs);
    return rc;
}
