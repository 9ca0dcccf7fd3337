/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What somebody expects an audit to find: refused in one sentence that names the file, or read. A finding is held or
 * not, given back once, and every difference reported. What is written is read again, and then expects what was found.
 */
#define _GNU_SOURCE /* asprintf */
#include <unistd.h>

#include "conformance/engine/audit/audit_expect.h"
#include "tests/fuzz/fuzz.h"

#define TODAY "2026-11-22"

static struct catalogue *catalogue;
static char folder[] = "/dev/shm/fuzz-expect-XXXXXX";
static char *given;

static void clean_up(void)
{
    (void)unlink(given);
    (void)rmdir(folder);
    free(given);
    catalogue_free(catalogue);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    struct iwarp_sentence error;

    (void)argc;
    (void)argv;
    FUZZ_HOLDS(catalogue_load(&catalogue, &error) == 0 && mkdtemp(folder) != NULL);
    FUZZ_HOLDS(asprintf(&given, "%s/given.tsv", folder) > 0);
    FUZZ_HOLDS(atexit(clean_up) == 0);
    return 0;
}

static struct audit_expect *open_expectations(const char *path, bool old, struct iwarp_sentence *error)
{
    struct audit_expect_config config = {
        .path = path, .read = true, .old = old, .catalogue = catalogue, .today = TODAY};

    return audit_expect_new(&config, error);
}

static int give(void *user, const struct result *result)
{
    FUZZ_HOLDS(result->file != NULL && result->id != NULL);
    (*(size_t *)user)++;
    return 0;
}

static void tell(void *user, const struct difference *difference)
{
    FUZZ_HOLDS(difference->text[0] != '\0' && difference->id != NULL);
    (*(size_t *)user)++;
}

/* One finding of FAIL and one of PASS, which no line is about; returns whether a line held the FAIL. */
static bool take(struct audit_expect *expect)
{
    struct result result = {.id = "MPA-4.4-14", .verdict = VERDICT_FAIL, .by = "rule", .role = "responder"};
    size_t given_back = 0;
    bool held, other;

    result.file = "a\tb%\n.pcap";
    result.flow = "10.0.0.2:9>10.0.0.3:4";
    result.actual = "CRC\t0x0";
    FUZZ_HOLDS(audit_expect_meet(expect, &result, &held) == 0);
    result.verdict = VERDICT_PASS;
    FUZZ_HOLDS(audit_expect_meet(expect, &result, &other) == 0 && !other);
    FUZZ_HOLDS(audit_expect_capture_end(expect, give, &given_back) == 0 && given_back == (held ? 1 : 0));
    return held;
}

/* Every difference is reported, and counted. */
static struct run_expectation compare(struct audit_expect *expect)
{
    struct run_expectation counts = {.used = true};
    size_t reported = 0;

    audit_expect_compare(expect, false, &counts, tell, &reported);
    FUZZ_HOLDS(reported == differences_of(&counts));
    return counts;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FILE *file = fopen(given, "w");
    struct audit_expect *expect;
    struct iwarp_sentence error = {""};
    size_t lines;

    FUZZ_HOLDS(file != NULL && fwrite(data, 1, size, file) == size && fclose(file) == 0);
    expect = open_expectations(given, size % 2 != 0, &error);
    if (expect == NULL) {
        FUZZ_HOLDS(strncmp(error.text, given, strlen(given)) == 0 && strchr(error.text, '\n') == NULL);
        return 0;
    }
    (void)take(expect);
    (void)compare(expect);
    FUZZ_HOLDS(audit_expect_write(expect, &lines, &error) == 0 && lines == 1);
    audit_expect_free(expect);

    expect = open_expectations(given, false, &error);
    FUZZ_HOLDS(expect != NULL && take(expect));
    FUZZ_HOLDS(compare(expect).fresh == 0);
    audit_expect_free(expect);
    return 0;
}
