/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What somebody expects an audit to find: refused in one sentence that names the file, or read. What was read, and found as it
 * stands there, has no difference, and written it is read again; found not at all, each line is one.
 */
#define _GNU_SOURCE /* asprintf */
#include <unistd.h>

#include "conformance/engine/audit/audit_expect.h"
#include "tests/fuzz/fuzz.h"

#define TODAY "2026-11-22"

static struct catalogue *catalogue;
static char folder[] = "/dev/shm/fuzz-expect-XXXXXX";
static char *given, *written;
static size_t told;

static void clean_up(void)
{
    (void)unlink(given);
    (void)unlink(written);
    (void)rmdir(folder);
    free(given);
    free(written);
    catalogue_free(catalogue);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    struct sentence error;

    (void)argc;
    (void)argv;
    FUZZ_HOLDS(catalogue_load(&catalogue, &error) == 0 && mkdtemp(folder) != NULL);
    FUZZ_HOLDS(asprintf(&given, "%s/given.tsv", folder) > 0 && asprintf(&written, "%s/written.tsv", folder) > 0);
    FUZZ_HOLDS(atexit(clean_up) == 0);
    return 0;
}

static void count(const char *text)
{
    FUZZ_HOLDS(text[0] != '\0' && strchr(text, '\n') == NULL);
    told++;
}

/* How many lines differ from what was found. */
static size_t differences(const struct audit_expect *expect, size_t *found)
{
    size_t returned;

    told = 0;
    returned = audit_expect_compare(expect, TODAY, found, count);
    FUZZ_HOLDS(returned == told);
    return returned;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FILE *file = fopen(given, "w");
    struct audit_expect *expect, *again;
    struct sentence error = {""};
    size_t found, missing;

    FUZZ_HOLDS(file != NULL && fwrite(data, 1, size, file) == size && fclose(file) == 0);
    expect = audit_expect_new(given, true, catalogue, TODAY, &error);
    if (expect == NULL) {
        FUZZ_HOLDS(strncmp(error.text, given, strlen(given)) == 0 && strchr(error.text, '\n') == NULL);
        return 0;
    }
    missing = differences(expect, &found);
    FUZZ_HOLDS(found == 0);
    FUZZ_HOLDS(audit_expect_take(expect, "a\tb%\n.pcap", "MPA-4.4-14", "responder", VERDICT_FAIL) == 0);
    FUZZ_HOLDS(audit_expect_take(expect, "a\tb%\n.pcap", "MPA-4.4-14", "responder", VERDICT_WARN) == 0);
    FUZZ_HOLDS(audit_expect_take(expect, "-", "MPA-4.4-14", NULL, VERDICT_PASS) == 0);
    FUZZ_HOLDS(differences(expect, &found) <= missing + 1 && found == 1);
    FUZZ_HOLDS(audit_expect_write(expect, written, TODAY, &error) == 0);
    audit_expect_free(expect);
    again = audit_expect_new(written, true, catalogue, TODAY, &error);
    FUZZ_HOLDS(again != NULL);
    FUZZ_HOLDS(audit_expect_take(again, "a\tb%\n.pcap", "MPA-4.4-14", "responder", VERDICT_FAIL) == 0);
    (void)differences(again, &found); /* the review of a line that was there may be due */
    FUZZ_HOLDS(found == 1);
    audit_expect_free(again);
    return 0;
}
