/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `warpcheck audit --format jsonl` from end to end: a capture, the decoder, every rule, the second pass that draws
 * ladders, and the lines of results. The input is that of fuzz_capture, and is mutated as a capture (records.h).
 *
 * Besides keeping to its memory: each line of a finding is what the library that reports results makes of the same
 * result, frames that are named exist, and a judge that has judged other captures before gives the same lines as a
 * new one.
 */
#include <jansson.h>

#include "conformance/engine/audit/audit_judge.h"
#include "conformance/flow/decoder.h"
#include "reports/results/result_line.h"
#include "tests/fuzz/records.h"

static struct catalogue *catalogue;
static const struct selection everything;

/* What one judge found in the input. */
struct audit {
    struct result_lines lines;
    uint64_t frames; /* in the capture */
    bool checked;    /* each finding's line is compared: that takes longer than the audit itself */
};

static void check_steps(const struct audit *audit, const json_t *steps)
{
    const json_t *step;
    size_t i;

    json_array_foreach(steps, i, step)
    {
        json_int_t frame = json_integer_value(json_object_get(step, "frame"));

        FUZZ_HOLDS(json_is_string(json_object_get(step, "summary")));
        FUZZ_HOLDS(frame >= 0 && (uint64_t)frame <= audit->frames);
    }
}

static void check_finding(const struct audit *audit, const struct result *result, const char *line, size_t octets)
{
    json_t *object = result_to_json(result);
    char *text = json_dumps(object, RESULT_LINE_FLAGS);

    FUZZ_HOLDS(text != NULL && strlen(text) + 1 == octets && memcmp(text, line, octets - 1) == 0);
    free(text);
    json_decref(object);
    check_steps(audit, result->steps);
}

static void on_result(void *user, const struct result *result, const struct requirement *requirement)
{
    struct audit *audit = user;
    size_t before = audit->lines.count;

    FUZZ_HOLDS(strcmp(result->id, requirement->id) == 0 && result->frame <= audit->frames && result->count != 0);
    FUZZ_HOLDS(result_line_append(&audit->lines, result) == 0);
    FUZZ_HOLDS(audit->lines.octets[audit->lines.count - 1] == '\n');
    if (audit->checked && result->verdict != VERDICT_PASS)
        check_finding(audit, result, audit->lines.octets + before, audit->lines.count - before);
}

static struct audit_judge *judge_new(struct audit *audit)
{
    struct audit_judge_config config = {
        .catalogue = catalogue, .selection = &everything, .ladders = true, .result = on_result, .user = audit};
    struct audit_judge *judge = audit_judge_create(&config);

    FUZZ_HOLDS(judge != NULL);
    return judge;
}

static void run(struct audit *audit, struct audit_judge *judge, const char *path, uint64_t frames)
{
    uint64_t before = audit_judge_totals(judge)->frames;
    struct iwarp_sentence error = {""};

    audit->lines.count = 0;
    audit->frames = frames;
    FUZZ_HOLDS(audit_judge_file(judge, path, NULL, &error) == AUDIT_FILE_WHOLE);
    FUZZ_HOLDS(audit_judge_totals(judge)->frames - before == frames);
}

static uint64_t frames_of(const uint8_t *data, size_t size)
{
    struct fuzz_records records;
    struct flow_frame frame;

    fuzz_records_begin(&records, data, size);
    while (fuzz_records_next(&records, &frame))
        free((void *)(uintptr_t)frame.octets);
    return records.number;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    FUZZ_HOLDS(catalogue_load(&catalogue, NULL) == 0);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t frames = frames_of(data, size);
    struct audit audit = {.frames = frames}, again = {.checked = true};
    struct audit_judge *judge = judge_new(&audit);
    size_t octets;
    uint8_t *pcap = fuzz_records_pcap(data, size, &octets);
    const char *path = fuzz_file(0, pcap, octets);

    free(pcap);
    run(&audit, judge, path, frames);
    if (size % 8 == 0) {
        struct audit_judge *other = judge_new(&again);

        run(&again, other, path, frames);
        run(&again, other, path, frames);
        FUZZ_HOLDS(audit.lines.count == again.lines.count);
        FUZZ_HOLDS(audit.lines.count == 0 || memcmp(audit.lines.octets, again.lines.octets, audit.lines.count) == 0);
        audit_judge_free(other);
    }
    audit_judge_free(judge);
    free(audit.lines.octets);
    free(again.lines.octets);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    return fuzz_records_mutate(data, size, room, seed);
}
