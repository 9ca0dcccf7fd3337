/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SHA256SUMS of anybody's: what is no list is refused in one sentence; a list never leads out of its folder, and is
 * believed only if it names all that is there with the right digests.
 */
#define _GNU_SOURCE /* asprintf */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reports/folder/digests.h"
#include "tests/fuzz/fuzz.h"

static char folder[] = "/dev/shm/fuzz-digests-XXXXXX", *list, *results;
static char right[DIGEST_TEXT_OCTETS];

static const char run[] = "{\"type\": \"run\", \"tool\": \"warpcheck\", \"version\": 2, \"catalogue\": \"\", "
                          "\"target\": \"\", \"seed\": 1}\n";

static void clean_up(void)
{
    (void)unlink(list);
    (void)unlink(results);
    (void)rmdir(folder);
    free(list);
    free(results);
}

static void write_file(const char *path, const void *octets, size_t size)
{
    FILE *file = fopen(path, "wb");

    FUZZ_HOLDS(file != NULL && fwrite(octets, 1, size, file) == size && fclose(file) == 0);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    FUZZ_HOLDS(mkdtemp(folder) != NULL && asprintf(&list, "%s/" DIGESTS_FILE, folder) > 0);
    FUZZ_HOLDS(asprintf(&results, "%s/results.jsonl", folder) > 0);
    write_file(results, run, sizeof(run) - 1);
    digest_of_octets(run, sizeof(run) - 1, right);
    (void)atexit(clean_up);
    return 0;
}

static void complaint(void *user, const char *name, const char *what)
{
    FUZZ_HOLDS(strstr(name, "..") == NULL || strncmp(name, "evidence/", 9) == 0);
    FUZZ_HOLDS(strlen(what) > 0);
    (*(unsigned *)user)++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct iwarp_sentence error = {""};
    unsigned reported = 0;
    size_t count = 0;
    int rc;

    write_file(list, data, size);
    rc = digests_verify(folder, complaint, &reported, &count, &error);
    FUZZ_HOLDS(rc == 0 || rc == DIGESTS_DIFFER || rc == DIGESTS_UNKNOWN);
    FUZZ_HOLDS((rc == DIGESTS_UNKNOWN) == (error.text[0] != '\0'));
    FUZZ_HOLDS((rc == DIGESTS_DIFFER) == (reported != 0));
    if (rc == 0)
        FUZZ_HOLDS(count == 1 && memmem(data, size, right, sizeof(right) - 1) != NULL);
    return 0;
}
