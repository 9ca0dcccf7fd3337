/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/course/course_findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/audit/audit_judge.h"
#include "conformance/engine/gen/gen.h"
#include "conformance/engine/process/temporary_folder.h"
#include "conformance/requirements/select.h"
#include "tools/embedded.h"

#define SITUATIONS_PATH "conformance/engine/course/situations.lua"

enum { SEED = 1 };

/* The index of the exercise's situation among the captures that the script has registered; -1 with a sentence. */
static int situation_find(struct gen *gen, const char *name, size_t *index, struct iwarp_sentence *error)
{
    for (*index = 0; *index < gen_capture_count(gen); (*index)++)
        if (strcmp(gen_capture_at(gen, *index)->name, name) == 0)
            return 0;
    return iwarp_sentence_set(error, "%s has no capture \"%.40s\"", SITUATIONS_PATH, name);
}

static int capture_run(struct gen *gen, const char *name, const struct gen_writer_config *config,
                       struct iwarp_sentence *error)
{
    const struct embedded_file *file =
        embedded_find(embedded_course_files, embedded_course_file_count, SITUATIONS_PATH);
    uint64_t written;
    size_t index;

    if (file == NULL)
        return iwarp_sentence_set(error, "%s is not part of the program", SITUATIONS_PATH);
    if (gen_run_script(gen, file->path, file->octets, file->size, config, false, &written, error) != EXIT_DONE ||
        situation_find(gen, name, &index, error) != 0)
        return -1;
    return gen_make(gen, index, config, error) == EXIT_DONE ? 0 : -1;
}

int course_capture_make(const struct course_exercise *exercise, bool good, const struct place *to,
                        struct iwarp_sentence *error)
{
    struct gen_writer_config config = {.to = *to, .format = GEN_PCAPNG};
    struct gen *gen = gen_new(SEED, error);
    int result = -1;

    if (gen == NULL)
        return -1;
    if (!good &&
        (gen_set_argument(gen, "defect", exercise->defect) != 0 || gen_set_argument(gen, "side", exercise->side) != 0))
        (void)iwarp_sentence_set(error, "out of memory");
    else
        result = capture_run(gen, exercise->situation, &config, error);
    gen_free(gen);
    return result;
}

static void note_finding(void *user, const struct result *result, const struct requirement *requirement)
{
    struct course_findings *findings = user;
    struct course_finding *finding = &findings->found[findings->count];

    if (result->verdict != VERDICT_FAIL || findings->count == COURSE_FINDINGS_MAX)
        return;
    finding->requirement = requirement;
    finding->frame = result->frame;
    (void)snprintf(finding->role, sizeof(finding->role), "%s", result->role != NULL ? result->role : "");
    findings->count++;
}

static int audit(const char *path, const struct catalogue *catalogue, struct course_findings *findings,
                 struct iwarp_sentence *error)
{
    struct selection selection = {0};
    struct audit_judge_config config = {
        .catalogue = catalogue, .selection = &selection, .result = note_finding, .user = findings};
    struct audit_judge *judge = audit_judge_create(&config);
    int result;

    if (judge == NULL)
        return iwarp_sentence_set(error, "out of memory");
    result = audit_judge_file(judge, path, NULL, error) == AUDIT_FILE_WHOLE ? 0 : -1;
    audit_judge_free(judge);
    return result;
}

int course_findings_make(const struct course_exercise *exercise, bool good, const struct catalogue *catalogue,
                         struct course_findings *findings, struct iwarp_sentence *error)
{
    char folder[TEMPORARY_FOLDER_OCTETS], path[TEMPORARY_FOLDER_OCTETS + sizeof("/exercise.pcapng")];
    struct place place;
    int result;

    findings->count = 0;
    if (temporary_folder_make(folder, error) != 0)
        return -1;
    (void)snprintf(path, sizeof(path), "%s/exercise.pcapng", folder);
    place = place_at(path);
    result = course_capture_make(exercise, good, &place, error);
    if (result == 0)
        result = audit(path, catalogue, findings, error);
    temporary_folder_remove(folder);
    return result;
}
