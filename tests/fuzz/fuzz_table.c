/* SPDX-License-Identifier: BSD-2-Clause */
/* A table of tab-separated values: refused in one sentence that names the file, or every cell of it is plain text. */
#define _GNU_SOURCE /* asprintf */
#include <unistd.h>

#include "reports/file/table.h"
#include "tests/fuzz/fuzz.h"

static const struct table_column columns[] = {{"stack", false}, {"run", false}, {"findings", true}};
static char folder[] = "/dev/shm/fuzz-table-XXXXXX";
static char *given;

static void clean_up(void)
{
    (void)unlink(given);
    (void)rmdir(folder);
    free(given);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    FUZZ_HOLDS(mkdtemp(folder) != NULL && asprintf(&given, "%s/given.tsv", folder) > 0);
    FUZZ_HOLDS(atexit(clean_up) == 0);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FILE *file = fopen(given, "w");
    struct iwarp_sentence error = {""};
    struct table table;

    FUZZ_HOLDS(file != NULL && fwrite(data, 1, size, file) == size && fclose(file) == 0);
    if (table_read(&table, given, columns, 3, &error) != 0)
        FUZZ_HOLDS(strncmp(error.text, given, strlen(given)) == 0 && strchr(error.text, '\n') == NULL);
    else
        for (size_t row = 0; row < table.rows; row++)
            for (size_t column = 0; column < 3; column++)
                FUZZ_HOLDS(strpbrk(table_cell(&table, row, column), "\t\n\r\033") == NULL);
    table_free(&table);
    return 0;
}
