/* SPDX-License-Identifier: BSD-2-Clause */
/* A student's progress file: refused in one sentence, or read; then it is written and read again as the same. */
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/course/course_progress.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct course_progress progress, again;
    struct iwarp_sentence error = {""};
    char *text;

    if (course_progress_parse(&progress, (const char *)data, size, &error) != 0) {
        FUZZ_HOLDS(error.text[0] != '\0');
        return 0;
    }
    text = course_progress_text(&progress);
    FUZZ_HOLDS(text != NULL);
    FUZZ_HOLDS(course_progress_parse(&again, text, strlen(text), &error) == 0);
    for (size_t i = 0; i <= COURSE_EXERCISES_MAX; i++)
        FUZZ_HOLDS(progress.of[i].tries == again.of[i].tries && strcmp(progress.of[i].passed, again.of[i].passed) == 0);
    free(text);
    return 0;
}
