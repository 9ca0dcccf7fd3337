/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/course/course_solutions.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "conformance/engine/course/course_findings.h"
#include "conformance/engine/course/course_run.h"
#include "reference-stack/defects/defect.h"

enum { IDS_MAX = 32, ID_OCTETS = 64 };

struct ids {
    char id[IDS_MAX][ID_OCTETS];
    size_t count;
};

static void note(void *user, const char *id, enum verdict verdict)
{
    struct ids *ids = user;

    for (size_t i = 0; i < ids->count; i++)
        if (strcmp(ids->id[i], id) == 0)
            return;
    if (verdict == VERDICT_FAIL && ids->count < IDS_MAX)
        (void)snprintf(ids->id[ids->count++], ID_OCTETS, "%s", id);
}

static int findings_print(const struct course_exercise *exercise, const struct catalogue *catalogue,
                          struct iwarp_sentence *error)
{
    struct course_findings findings;

    if (course_findings_make(exercise, false, catalogue, &findings, error) != 0)
        return -1;
    for (size_t i = 0; i < findings.count; i++) {
        const struct course_finding *finding = &findings.found[i];
        const char *sign = i > 0 ? ", or " : "";

        fputs(sign, stdout);
        sign = "";
        if (exercise->asks & COURSE_ASKS_REQUIREMENT) {
            fputs(finding->requirement->id, stdout);
            sign = " ";
        }
        if (exercise->asks & COURSE_ASKS_FRAME) {
            printf("%s%" PRIu64, sign, finding->frame);
            sign = " ";
        }
        if (exercise->asks & COURSE_ASKS_ROLE)
            printf("%s%s", sign, finding->role);
    }
    return 0;
}

/* All checks, each once: what the device fails. */
static int run_print(const struct course_exercise *exercise, struct iwarp_sentence *error)
{
    struct ids ids = {.count = 0};
    int status;

    if (course_run_results(exercise->defect, NULL, 0, true, note, &ids, &status, error) != 0)
        return -1;
    for (size_t i = 0; i < ids.count; i++)
        printf("%s%s", i > 0 ? ", or " : "", ids.id[i]);
    return 0;
}

static int check_print(const struct course_exercise *exercise, const struct defect_list *defects,
                       struct iwarp_sentence *error)
{
    const struct defect *defect = defect_list_find(defects, exercise->defect);

    if (defect == NULL)
        return iwarp_sentence_set(error, "there is no defect %s", exercise->defect);
    printf("a check of one of %s", defect->requirement);
    return 0;
}

static int row_print(const struct course_exercise *exercise, const struct catalogue *catalogue,
                     const struct defect_list *defects, struct iwarp_sentence *error)
{
    int result;

    printf("| %u | %u | %s | `%s` in the %s | ", exercise->number, exercise->lesson, exercise->title, exercise->defect,
           exercise->side);
    switch (exercise->kind) {
    case COURSE_RUN: result = run_print(exercise, error); break;
    case COURSE_CHECK: result = check_print(exercise, defects, error); break;
    default: result = findings_print(exercise, catalogue, error); break;
    }
    puts(" |");
    return result;
}

int course_solutions_print(const struct course_table *table, const struct catalogue *catalogue,
                           struct iwarp_sentence *error)
{
    struct defect_list *defects = defect_list_embedded(error);
    int result = defects != NULL ? 0 : -1;

    if (result == 0)
        puts("| exercise | lesson | title | what is hidden | right answers |\n|---|---|---|---|---|");
    for (size_t i = 0; result == 0 && i < table->count; i++)
        result = row_print(&table->exercises[i], catalogue, defects, error);
    defect_list_free(defects);
    return result;
}
