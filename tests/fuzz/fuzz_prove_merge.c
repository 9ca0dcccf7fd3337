/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parts of a kill matrix, of anybody's, that are put together (`report --merge` of what `prove --format jsonl`
 * printed): up to three, with a line that begins with '=' between one and the next. What is merged can be merged
 * again, with the same outcome, and what is printed for people moves no cursor.
 */
#include <unistd.h>

#include "conformance/engine/prove/prove_merge.h"
#include "reference-stack/defects/defect.h"
#include "tests/fuzz/json.h"

struct defect_list *__wrap_defect_list_embedded(struct iwarp_sentence *sentence);

enum { PARTS = 3, OUT = PARTS, AGAIN, TEXT, ENVIRONMENT = 4 };

/* Some rows of the table, which is read at each merge: all of them take longer than the rest (mk/variant.mk). */
struct defect_list *__wrap_defect_list_embedded(struct iwarp_sentence *sentence)
{
    static const char rows[] = "ddp-qn-wrong-code\tDDP-7.1-01,DDP-7.2-01\tvalidate\tddp-qn\ttriple\tDDP_MSN_RANGE\n"
                               "mpa-pad-stale\tMPA-4.1-03\ttransmit\tfpdu.pad\tset\t0xA5\n";

    return defect_list_parse(rows, sizeof(rows) - 1, sentence);
}

/* What it prints goes into the file of this slot, and what it complains about nowhere. */
static int merged(const char *const *paths, size_t count, bool jsonl, unsigned slot)
{
    FILE *out = stdout, *complaints = stderr;
    int status;

    stdout = fopen(fuzz_file(slot, "", 0), "w");
    stderr = fopen("/dev/null", "w");
    FUZZ_HOLDS(stdout != NULL && stderr != NULL);
    status = prove_merge(paths, count, jsonl);
    (void)fclose(stdout);
    (void)fclose(stderr);
    stdout = out;
    stderr = complaints;
    FUZZ_HOLDS(status >= 0 && status <= ENVIRONMENT);
    return status;
}

static void check_text(void)
{
    size_t count;
    char *text = fuzz_file_read(TEXT, &count);

    for (size_t i = 0; i < count; i++)
        FUZZ_HOLDS((unsigned char)text[i] >= ' ' || text[i] == '\n');
    free(text);
}

static void check_again(int status)
{
    const char *path = fuzz_path(OUT);
    size_t first, second;
    char *before = fuzz_file_read(OUT, &first), *after;

    if (first != 0) {
        FUZZ_HOLDS(merged(&path, 1, true, AGAIN) == status);
        after = fuzz_file_read(AGAIN, &second);
        FUZZ_HOLDS(first == second && memcmp(before, after, first) == 0);
        free(after);
    }
    free(before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *paths[PARTS];
    size_t count = fuzz_parts(data, size, paths, PARTS);
    int status;

    if (count == 0)
        return 0;
    status = merged(paths, count, true, OUT);
    check_again(status);
    FUZZ_HOLDS(merged(paths, count, false, TEXT) == status);
    check_text();
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    return fuzz_json_mutate(data, size, room, seed, true);
}
