/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/sample_results.h"

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reports/results/results_log.h"

/* NOLINTNEXTLINE(misc-misleading-bidirectional): hostile text is what is tested */
const char sample_hostile[] = "<script>alert(1)</script>&\"'\x01\x1b[31m\x7f\xff\xc0\xaf\xed\xa0\x80\xe2\x80\xae"
                              "]]>--></style>\xf4\x90\x80\x80";
const char sample_hostile_shown[] = "<script>alert(1)</script>&\"'\xe2\x90\x81\xe2\x90\x9b[31m\xe2\x90\xa1"
                                    "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd]]>--></style>\xef\xbf\xbd";

const struct run_info sample_info = {.tool = "warpcheck test",
                                     .catalogue = "0011223344556677",
                                     .target = "10.77.0.2:9999",
                                     .seed = 42,
                                     .command = "run"};

char *sample_folder(void)
{
    const char *base = getenv("TMPDIR");
    char *folder = malloc(512);

    ck_assert_ptr_nonnull(folder);
    snprintf(folder, 512, "%.400s/warpcheck-reports-XXXXXX", base ? base : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    return folder;
}

void sample_remove(char *folder)
{
    DIR *listing = opendir(folder);

    for (struct dirent *entry; listing && (entry = readdir(listing));)
        if (entry->d_name[0] != '.')
            unlink(sample_path(folder, entry->d_name));
    if (listing)
        closedir(listing);
    ck_assert_int_eq(rmdir(folder), 0); /* nothing is left behind that was not expected, ".part" files included */
    free(folder);
}

const char *sample_path(const char *folder, const char *name)
{
    static char paths[8][1024];
    static unsigned next;
    char *path = paths[next++ % 8];

    snprintf(path, sizeof(paths[0]), "%.500s/%.400s", folder, name);
    return path;
}

char *sample_read(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    size_t used = 0, room = 1 << 16;
    char *text = malloc(room);

    ck_assert_msg(file != NULL, "%s cannot be read", path);
    for (size_t n; (n = fread(text + used, 1, room - used - 1, file)) > 0;) {
        used += n;
        if (room - used < 2)
            /* cppcheck-suppress memleakOnRealloc ; a test ends when memory does */
            text = realloc(text, room *= 2);
        ck_assert_ptr_nonnull(text);
    }
    fclose(file);
    text[used] = '\0';
    if (size)
        *size = used;
    return text;
}

void sample_write(const char *path, const char *octets, size_t size)
{
    FILE *file = fopen(path, "wb");

    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(octets, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
}

json_t *sample_steps(size_t count, size_t bad, const char *text)
{
    static const char *const kinds[] = {"tcp", "mpa", "fpdu", "terminate", "note", "other"};
    uint8_t octets[600];
    json_t *steps = json_array();

    for (size_t i = 0; i < sizeof(octets); i++)
        octets[i] = (uint8_t)i;
    for (size_t i = 0; i < count; i++) {
        json_t *step =
            result_step((double)i / 1000, i % 2 ? "dut" : "tester", kinds[i % 6], text, i + 1, octets, sizeof(octets));
        ck_assert_ptr_nonnull(step);
        if (i == bad)
            ck_assert_int_eq(result_step_mark(step, 590, 4, text), 0);
        ck_assert_int_eq(json_array_append_new(steps, step), 0);
    }
    return steps;
}

static void write_results(struct results_log *log, const struct result *results, size_t count)
{
    struct iwarp_sentence error;

    for (size_t i = 0; i < count; i++) {
        const struct journal journal = {.id = results[i].id, .role = results[i].role, .found = results[i].verdict};

        if (strcmp(results[i].by, "check") == 0)
            ck_assert_msg(results_log_journal(log, &journal, &error) == 0, "%s", error.text);
        ck_assert_msg(results_log_append(log, &results[i], &error) == 0, "%s", error.text);
    }
}

static void write_summary(struct results_log *log, int finished)
{
    struct iwarp_sentence error;
    struct run_summary summary = *results_log_summary(log);
    summary.not_exercised = 100;
    summary.frames = 77;
    summary_add_messages(&summary, "Send", 5);
    if (finished)
        ck_assert_int_eq(results_log_finish(log, &summary, &error), 0);
    ck_assert_int_eq(results_log_close(log, &error), 0);
}

void sample_results(const char *folder, int finished)
{
    struct iwarp_sentence error;
    struct results_log *log =
        results_log_create(PLACE(sample_path(folder, "results.jsonl")), &sample_info, NULL, &error);
    json_t *steps = sample_steps(12, 9, sample_hostile);
    const char *h = sample_hostile;
    const struct result results[] = {
        {.id = "MPA-7.1.2-05", .verdict = VERDICT_PASS, .by = "check", .role = "responder", .duration_ns = 2500000},
        {.id = "DDP-7.2-02",
         .verdict = VERDICT_FAIL,
         .by = "check",
         .role = "responder",
         .script = h,
         .file = h,
         .frame = 9,
         .flow = h,
         .expected = h,
         .actual = h,
         .message = h,
         .evidence = "javascript:alert(1)",
         .purpose = h,
         .replay = h,
         .steps = steps,
         .count = 3},
        {.id = "RDMAP-4.8-02",
         .verdict = VERDICT_KNOWN,
         .by = "check",
         .role = "responder",
         .expected = h,
         .actual = h,
         .finding = h,
         .deviation = h,
         .review_by = h},
        {.id = "MPA-4.5-05",
         .verdict = VERDICT_WARN,
         .by = "rule",
         .role = h,
         .message = h,
         .evidence = "evidence/a b.pcapng"},
        {.id = "MPA-7.1-02",
         .verdict = VERDICT_INCONCLUSIVE,
         .by = "check",
         .role = "initiator",
         .message = "connection refused"},
        {.id = "MPA-4.3-03",
         .verdict = VERDICT_SKIP,
         .by = "check",
         .pics = "mpa.markers = no",
         .message = "no Markers"},
        {.id = "MPA-4.5-11", .verdict = VERDICT_AMBIGUOUS, .by = "rule", .reading = "glossary"},
        {.id = "MPA-7.1.2-05", .verdict = VERDICT_PASS, .by = "rule", .role = "initiator"},
    };

    ck_assert_msg(log != NULL, "%s", error.text);
    write_results(log, results, sizeof(results) / sizeof(results[0]));
    json_decref(steps);
    write_summary(log, finished);
}

void sample_audit(const char *folder, enum verdict verdict)
{
    const struct capture_info captures[] = {
        {.file = "a.pcap", .status = "whole"},
        {.file = "dir/b c.pcap", .status = "damaged", .message = sample_hostile},
        {.file = "d.pcap", .status = "foreign", .message = "d.pcap: is no capture"}};
    const struct result result = {.id = "DDP-7.2-02", .verdict = verdict, .by = "rule", .file = "a.pcap"};
    struct run_info info = sample_info;
    struct iwarp_sentence error;

    info.command = "audit";
    struct results_log *log = results_log_create(PLACE(sample_path(folder, "results.jsonl")), &info, NULL, &error);
    ck_assert_msg(log != NULL, "%s", error.text);
    ck_assert_int_eq(results_log_append(log, &result, &error), 0);
    for (size_t i = 0; i < sizeof(captures) / sizeof(captures[0]); i++)
        ck_assert_msg(results_log_capture(log, &captures[i], &error) == 0, "%s", error.text);
    ck_assert_int_eq(results_log_finish(log, results_log_summary(log), &error), 0);
    ck_assert_int_eq(results_log_close(log, &error), 0);
}
