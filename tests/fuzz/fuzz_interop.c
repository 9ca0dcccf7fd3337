/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An interoperability matrix of anybody's: refused in one sentence that names the file, or each cell of it has a
 * verdict of a matrix, the counts are those of its cells, and it becomes a page.
 */
#define _GNU_SOURCE /* asprintf */
#include <fcntl.h>
#include <unistd.h>

#include "reports/page/interop_page.h"
#include "reports/results/interop_results.h"
#include "tests/fuzz/json.h"

static char folder[] = "/dev/shm/fuzz-interop-XXXXXX";
static char *given, *page;

static void clean_up(void)
{
    (void)unlink(given);
    (void)unlink(page);
    (void)rmdir(folder);
    free(given);
    free(page);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    FUZZ_HOLDS(mkdtemp(folder) != NULL && asprintf(&given, "%s/interop.jsonl", folder) > 0);
    FUZZ_HOLDS(asprintf(&page, "%s/index.html", folder) > 0 && atexit(clean_up) == 0);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    return fuzz_json_mutate(data, size, room, seed, true);
}

static void judge(const struct interop_results *results)
{
    size_t counts[VERDICT_COUNT], cells = 0, counted = 0;
    struct iwarp_sentence error = {""};
    struct place to = place_at(page);

    for (size_t i = 0; results->head != NULL && i < results->devices * results->devices * results->tests; i++)
        cells += results->exchanges[i] != NULL;
    interop_results_count(results, counts);
    for (unsigned verdict = 0; verdict < VERDICT_COUNT; verdict++)
        counted += counts[verdict];
    FUZZ_HOLDS(cells == counted);
    FUZZ_HOLDS(interop_page_write(results, NULL, &to, &error) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FILE *file = fopen(given, "w");
    struct iwarp_sentence error = {""};
    struct interop_results results;

    FUZZ_HOLDS(file != NULL && fwrite(data, 1, size, file) == size && fclose(file) == 0);
    if (interop_results_read(&results, given, &error) != 0)
        FUZZ_HOLDS(strncmp(error.text, given, strlen(given)) == 0 && strchr(error.text, '\n') == NULL);
    else
        judge(&results);
    interop_results_free(&results);
    return 0;
}
