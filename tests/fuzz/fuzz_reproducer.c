/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Evidence of anybody's, and a result of it (the first line): a reproducer is made of them, or refused in one sentence.
 * Its text is plain, has no more lines than it may have, and no comment ends before it should.
 */
#include <string.h>

#include "conformance/engine/reproducer/repro_cm.h"
#include "conformance/engine/reproducer/repro_write.h"
#include "tests/fuzz/fuzz.h"

static void judge(const char *text)
{
    size_t lines = 0;
    bool comment = false;

    for (const char *at = text; *at != '\0'; at++) {
        FUZZ_HOLDS(*at == '\n' || (*at >= ' ' && *at <= '~'));
        lines += *at == '\n';
        if (!comment && at[0] == '/' && at[1] == '*')
            comment = true, at++;
        else if (comment && at[0] == '*' && at[1] == '/')
            comment = false, at++;
        else
            FUZZ_HOLDS(!(comment && at[0] == '/' && at[1] == '*'));
    }
    FUZZ_HOLDS(!comment && lines <= REPRO_LINES_MAX);
}

static void make(const struct repro_evidence *evidence, const struct result *result, bool whole)
{
    struct repro_plan *plan = malloc(sizeof(*plan));
    struct iwarp_sentence error = {""};
    char *text = NULL;
    int rc;

    FUZZ_HOLDS(plan != NULL);
    rc = repro_plan_make(plan, evidence, result, whole, &error);
    if (rc == 0)
        rc = repro_write(plan, "warpcheck", &text, &error);
    FUZZ_HOLDS((rc == 0) == (text != NULL) && (rc == 0) == (error.text[0] == '\0'));
    if (rc == 0)
        judge(text);
    free(text);
    repro_plan_free(plan);
    free(plan);
}

static void make_cm(const struct repro_evidence *evidence, const struct result *result)
{
    struct iwarp_sentence error = {""};
    char *text = NULL;
    int rc = repro_cm_write(evidence, result, "warpcheck", &text, &error);

    FUZZ_HOLDS((rc == 0) == (text != NULL) && (rc == 0) == (error.text[0] == '\0'));
    if (rc == 0)
        judge(text);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size != 0 ? memchr(data, '\n', size) : NULL;
    json_t *object = end != NULL ? json_loadb((const char *)data, (size_t)(end - data), 0, NULL) : NULL;
    struct repro_evidence evidence;
    struct iwarp_sentence error;
    struct result result;

    if (object != NULL && result_from_json(object, &result) == 0) {
        size_t count = size - (size_t)(end + 1 - data);
        uint8_t *octets = fuzz_copy(end + 1, count);

        if (repro_evidence_read(&evidence, result.id, octets, count, &error) == 0 && evidence.connection_count != 0) {
            make(&evidence, &result, true);
            make(&evidence, &result, false);
        }
        if (evidence.mad_count != 0)
            make_cm(&evidence, &result);
        repro_evidence_free(&evidence);
        free(octets);
    }
    json_decref(object);
    return 0;
}
