/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/results/report_case.h"

#include <stdlib.h>
#include <string.h>

/* Room for one more item of `octets`; the array as it was where there is no memory. */
static void *grown(void *items, size_t *room, size_t count, size_t octets, int *status)
{
    size_t more = *room != 0 ? 2 * *room : 4;
    void *bigger;

    *status = 0;
    if (count < *room)
        return items;
    bigger = realloc(items, more * octets);
    if (bigger == NULL) {
        *status = -1;
        return items;
    }
    *room = more;
    return bigger;
}

/* The results of a capture stand together, so that its name is mostly the last. */
static const char *name_of(struct report_files *files, const char *file)
{
    int status;

    if (files->count != 0 && strcmp(files->names[files->count - 1], file) == 0)
        return files->names[files->count - 1];
    files->names = grown(files->names, &files->room, files->count, sizeof(*files->names), &status);
    if (status != 0 || (files->names[files->count] = strdup(file)) == NULL)
        return NULL;
    return files->names[files->count++];
}

int report_cases_add(struct report_cases *cases, struct report_files *files, const char *file, enum verdict verdict)
{
    const char *name = name_of(files, file);
    struct report_case *last = cases->count != 0 ? &cases->cases[cases->count - 1] : NULL;
    int status;

    if (name == NULL)
        return -1;
    if (last != NULL && strcmp(last->file, name) == 0) {
        last->worst = verdict_worse(last->worst, verdict);
        return 0;
    }
    cases->cases = grown(cases->cases, &cases->room, cases->count, sizeof(*cases->cases), &status);
    if (status != 0)
        return -1;
    cases->cases[cases->count++] = (struct report_case){name, verdict};
    return 0;
}

void report_cases_free(struct report_cases *cases)
{
    free(cases->cases);
    *cases = (struct report_cases){NULL, 0, 0};
}

void report_files_free(struct report_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->names[i]);
    free(files->names);
    *files = (struct report_files){NULL, 0, 0};
}
