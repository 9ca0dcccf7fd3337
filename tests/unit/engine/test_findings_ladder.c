/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ladders of findings: every step reads as the decoder's notation of that frame did when its event was there. The
 * captures are those of pcaps/, which the tests find because they run in the root of the tree.
 */
#include <check.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/audit/audit_judge.h"
#include "conformance/engine/capture/capture_file.h"
#include "conformance/engine/evidence/findings_ladder.h"
#include "conformance/flow/decoder.h"
#include "conformance/flow/notation/notation.h"
#include "tests/unit/suites.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#define SANITISED 1
#endif
#endif

Suite *findings_ladder_suite(void);

/* What a decoder says of one capture: a line for each event that has a text. */
struct line {
    uint64_t frame;
    char text[NOTATION_MAX];
};

struct notes {
    struct line *lines;
    size_t count, room;
    size_t steps; /* of ladders, compared with them */
};

static void note_one(void *user, const struct flow_event *event)
{
    struct notes *notes = user;

    if (!notation_shows(event))
        return;
    if (notes->count == notes->room) {
        notes->room = notes->room == 0 ? 64 : notes->room * 2;
        notes->lines = realloc(notes->lines, notes->room * sizeof(notes->lines[0]));
        ck_assert_ptr_nonnull(notes->lines);
    }
    notes->lines[notes->count].frame = event->frame;
    notation_event(event, notes->lines[notes->count].text, NOTATION_MAX);
    notes->count++;
}

static void note(void *user, const struct flow_event *event)
{
    for (; event != NULL; event = event->next)
        note_one(user, event);
}

static void decode(const char *path, struct notes *notes)
{
    struct flow_decoder *decoder = flow_decoder_create(NULL, note, notes);
    struct iwarp_sentence error;
    struct capture_file *capture = capture_open(path, &error);
    struct flow_frame frame;

    ck_assert_ptr_nonnull(decoder);
    ck_assert_msg(capture != NULL, "%s", error.text);
    while (capture_next(capture, &frame, &error) == 1)
        flow_decoder_frame(decoder, &frame);
    flow_decoder_finish(decoder);
    flow_decoder_destroy(decoder);
    capture_close(capture);
}

static bool was_said(const struct notes *notes, uint64_t frame, const char *text)
{
    for (size_t i = 0; i < notes->count; i++)
        if (notes->lines[i].frame == frame && strcmp(notes->lines[i].text, text) == 0)
            return true;
    return false;
}

static void compare(void *user, const struct result *result, const struct requirement *requirement)
{
    struct notes *notes = user;
    size_t index, before = notes->steps;
    json_t *step;

    (void)requirement;
    json_array_foreach(result->steps, index, step)
    {
        const char *text = json_string_value(json_object_get(step, "summary"));
        uint64_t frame = (uint64_t)json_integer_value(json_object_get(step, "frame"));

        if (frame == 0 || strstr(text, "the capture has no more") != NULL)
            continue;
        ck_assert_msg(was_said(notes, frame, text), "%s: %s, frame %d: no event reads \"%s\"", result->file, result->id,
                      (int)frame, text);
        notes->steps++;
    }
    ck_assert_msg(json_array_size(result->steps) == 0 || notes->steps > before,
                  "%s: %s: no step of its ladder is an event", result->file, result->id);
}

START_TEST(steps_read_as_events)
{
    static struct selection selection;
    struct catalogue *catalogue;
    struct iwarp_sentence error;
    size_t steps = 0, sctp = 0, cm = 0;
    glob_t files;

    ck_assert_msg(catalogue_load(&catalogue, &error) == 0, "%s", error.text);
    ck_assert_msg(glob("pcaps/*/*.pcap", 0, NULL, &files) == 0, "the tests do not run in the root of the tree");
    for (size_t i = 0; i < files.gl_pathc; i++) {
        struct notes notes = {NULL, 0, 0, 0};
        struct audit_judge_config config = {
            .catalogue = catalogue, .selection = &selection, .ladders = true, .result = compare, .user = &notes};
        struct audit_judge *judge = audit_judge_create(&config);

        ck_assert_ptr_nonnull(judge);
        decode(files.gl_pathv[i], &notes);
        ck_assert_int_eq(audit_judge_file(judge, files.gl_pathv[i], NULL, &error), AUDIT_FILE_WHOLE);
        audit_judge_free(judge);
        free(notes.lines);
        steps += notes.steps;
        sctp += strstr(files.gl_pathv[i], "sctp") != NULL ? notes.steps : 0;
        cm += strstr(files.gl_pathv[i], "cm-") != NULL ? notes.steps : 0;
    }
    globfree(&files);
    catalogue_free(catalogue);
    ck_assert_uint_gt(steps, 100);
    ck_assert_uint_gt(sctp, 10);
    ck_assert_uint_gt(cm, 4);
}
END_TEST

/* An audit's findings, and their ladders, for a search by the name of their flow. */
struct named {
    struct findings findings;
    json_t *ladders;
};

static void hold(void *user, const struct result *result, const struct requirement *requirement)
{
    struct named *named = user;
    struct rule_result found = {.rule = rule_find(result->id),
                                .verdict = result->verdict == VERDICT_FAIL   ? RULE_FAIL
                                           : result->verdict == VERDICT_WARN ? RULE_WARN
                                                                             : RULE_AMBIGUOUS};

    (void)requirement;
    if (json_array_size(result->steps) == 0)
        return;
    ck_assert(findings_hold(&named->findings, &found, result, 0));
    ck_assert_int_eq(json_array_append(named->ladders, result->steps), 0);
}

/* Draws what is held, of a capture. */
static void draw(struct findings *findings, const char *path)
{
    struct iwarp_sentence error;
    struct capture_series *series = capture_series_open(path, NULL, &error);

    ck_assert_msg(series != NULL, "%s", error.text);
    ck_assert_msg(findings_draw(findings, series, UINT64_MAX, &error) == 0, "%s", error.text);
    capture_series_close(series);
}

/* Adds up how many findings there are; each has the same ladder by the name of its flow as by its number. */
static void compare_names(const char *path, const struct catalogue *catalogue, size_t *count)
{
    static struct selection selection;
    struct named named = {.ladders = json_array()};
    struct audit_judge_config config = {
        .catalogue = catalogue, .selection = &selection, .ladders = true, .result = hold, .user = &named};
    struct audit_judge *judge = audit_judge_create(&config);
    const struct held_finding *finding;
    struct iwarp_sentence error;

    ck_assert_ptr_nonnull(judge);
    ck_assert_int_eq(findings_init(&named.findings), 0);
    ck_assert_int_eq(audit_judge_file(judge, path, NULL, &error), AUDIT_FILE_WHOLE);
    draw(&named.findings, path);
    finding = named.findings.first;
    for (size_t j = 0; finding != NULL; finding = finding->next, j++, ++*count)
        ck_assert_msg(json_equal(finding->result.steps, json_array_get(named.ladders, j)),
                      "%s, %s at frame %d of %s: another ladder than by the flow's number", path, finding->result.id,
                      (int)finding->result.frame, finding->result.flow);
    findings_free(&named.findings);
    json_decref(named.ladders);
    audit_judge_free(judge);
}

START_TEST(a_name_finds_the_same_flow)
{
    struct catalogue *catalogue;
    struct iwarp_sentence error;
    size_t count = 0;
    glob_t files;

    ck_assert_msg(catalogue_load(&catalogue, &error) == 0, "%s", error.text);
    ck_assert_int_eq(glob("pcaps/*/*.pcap", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++)
        compare_names(files.gl_pathv[i], catalogue, &count);
    globfree(&files);
    catalogue_free(catalogue);
    ck_assert_uint_gt(count, 50);
}
END_TEST

/* Adds to a number of TCP that stands at frame[at], and keeps the checksum right (RFC 1624). */
static void move_number(uint8_t *frame, size_t at)
{
    uint32_t before = (uint32_t)frame[at] << 8 | frame[at + 1], sum;

    frame[at] = (uint8_t)(frame[at] + 0x10);
    sum = (~((uint32_t)frame[50] << 8 | frame[51]) & 0xffff) + (~before & 0xffff) +
          ((uint32_t)frame[at] << 8 | frame[at + 1]);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = ~((sum & 0xffff) + (sum >> 16));
    frame[50] = (uint8_t)(sum >> 8);
    frame[51] = (uint8_t)sum;
}

/* The frames of the capture twice, the second time a day later, as a connection with other sequence numbers. */
static void write_twice(const char *path, int fd)
{
    static uint8_t octets[1 << 20];
    FILE *in = fopen(path, "rb"), *out = fdopen(fd, "wb");
    size_t count;

    ck_assert(in != NULL && out != NULL);
    count = fread(octets, 1, sizeof(octets), in);
    (void)fclose(in);
    ck_assert(count > 24 && count < sizeof(octets) && octets[0] == 0xd4); /* little-endian */
    ck_assert_uint_eq(fwrite(octets, 1, count, out), count);
    for (size_t at = 24, length; at < count; at += 16 + length) {
        uint8_t *frame = &octets[at + 16];

        length = octets[at + 8] | (size_t)octets[at + 9] << 8;
        octets[at + 2]++; /* seconds: 65536 more */
        ck_assert(frame[12] == 0x08 && frame[13] == 0x00 && frame[14] == 0x45 && frame[23] == 6);
        move_number(frame, 38); /* Sequence Number */
        if ((frame[47] & 0x10) != 0)
            move_number(frame, 42); /* Acknowledgment Number */
    }
    ck_assert_uint_eq(fwrite(octets + 24, 1, count - 24, out), count - 24);
    ck_assert_int_eq(fclose(out), 0);
}

START_TEST(the_second_of_one_name)
{
    static const char path[] = "pcaps/generated/marker-wrong.pcap";
    char twice[] = "/tmp/findings-XXXXXX";
    struct catalogue *catalogue;
    struct iwarp_sentence error;
    size_t once = 0, both = 0;

    ck_assert_msg(catalogue_load(&catalogue, &error) == 0, "%s", error.text);
    write_twice(path, mkstemp(twice));
    compare_names(path, catalogue, &once);
    compare_names(twice, catalogue, &both);
    (void)remove(twice);
    catalogue_free(catalogue);
    ck_assert_uint_gt(once, 0);
    ck_assert_uint_eq(both, 2 * once);
}
END_TEST

/* Without the frame, or without the flow, there is nothing to be drawn. */
START_TEST(what_is_not_there_has_no_step)
{
    static const char path[] = "pcaps/generated/marker-wrong.pcap", flow[] = "192.0.2.1:1>192.0.2.2:2";
    static struct selection selection;
    struct named named = {.ladders = json_array()};
    struct catalogue *catalogue;
    struct audit_judge_config config = {.selection = &selection, .ladders = true, .result = hold, .user = &named};
    struct audit_judge *judge;
    struct iwarp_sentence error;
    size_t count = 0;

    ck_assert_msg(catalogue_load(&catalogue, &error) == 0, "%s", error.text);
    config.catalogue = catalogue;
    judge = audit_judge_create(&config);
    ck_assert_ptr_nonnull(judge);
    ck_assert_int_eq(findings_init(&named.findings), 0);
    ck_assert_int_eq(audit_judge_file(judge, path, NULL, &error), AUDIT_FILE_WHOLE);
    for (struct held_finding *finding = named.findings.first; finding != NULL; finding = finding->next, count++) {
        if (count % 2 == 0) {
            finding->result.frame = 1000000;
            continue;
        }
        free((char *)finding->result.flow);
        finding->result.flow = strdup(flow);
    }
    ck_assert_uint_gt(count, 1);
    draw(&named.findings, path);
    for (const struct held_finding *finding = named.findings.first; finding != NULL; finding = finding->next)
        ck_assert_uint_eq(json_array_size(finding->result.steps), 0);
    findings_free(&named.findings);
    json_decref(named.ladders);
    audit_judge_free(judge);
    catalogue_free(catalogue);
}
END_TEST

#ifdef SANITISED
/* Where an object was that is gone when this returns. */
__attribute__((noinline)) static void leave(uintptr_t *address)
{
    volatile char octets[32];

    octets[0] = 0;
    *address = (uintptr_t)octets;
}

/* Without this, what reads a dead frame would pass unseen in every sanitised run. */
START_TEST(dead_frames_are_watched)
{
    uintptr_t address;

    leave(&address);
    ck_assert_int_eq(__asan_address_is_poisoned((const void *)address), 1);
}
END_TEST
#endif

Suite *findings_ladder_suite(void)
{
    Suite *suite = suite_create("findings_ladder");
    TCase *ladders = tcase_create("ladders");

    tcase_add_test(ladders, steps_read_as_events);
    tcase_add_test(ladders, a_name_finds_the_same_flow);
    tcase_add_test(ladders, the_second_of_one_name);
    tcase_add_test(ladders, what_is_not_there_has_no_step);
#ifdef SANITISED
    tcase_add_test(ladders, dead_frames_are_watched);
#endif
    suite_add_tcase(suite, ladders);
    return suite;
}
