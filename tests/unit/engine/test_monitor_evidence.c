/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames that are kept in memory, which of them are a flow's, and captures that are cut of them. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "conformance/engine/capture/capture_file.h"
#include "conformance/engine/monitor/monitor_evidence.h"
#include "conformance/engine/monitor/monitor_frames.h"
#include "conformance/flow/decoder.h"
#include "tests/support/many.h"
#include "tests/unit/sample_results.h"
#include "tests/unit/suites.h"

Suite *monitor_evidence_suite(void);

#define SECOND UINT64_C(1000000000)

static char *folder;

static void set_up(void)
{
    folder = sample_folder();
}

static void tear_down(void)
{
    sample_remove(folder);
}

/* ---- frames in memory -------------------------------------------------------------------------------------------- */

static struct {
    uint64_t first, last, count;
} seen;

static void look_at(void *user, const struct flow_frame *frame)
{
    bool wrong = false;

    (void)user;
    if (seen.count++ == 0)
        seen.first = frame->number;
    else
        ck_assert_uint_eq(frame->number, seen.last + 1);
    seen.last = frame->number;
    for (size_t i = 0; i < frame->captured; i++)
        wrong |= frame->octets[i] != (uint8_t)frame->number;
    ck_assert(!wrong);
}

static void fill(struct monitor_frames *frames, uint64_t number, size_t captured)
{
    uint8_t octets[4096];
    struct flow_frame frame = {FLOW_LINK_ETHERNET, number, number, octets, captured, captured};

    memset(octets, (int)(uint8_t)number, captured);
    monitor_frames_add(frames, &frame);
    memset(&seen, 0, sizeof(seen));
    monitor_frames_each(frames, look_at, NULL);
}

START_TEST(newest_frames_are_kept_whatever_their_lengths)
{
    struct monitor_frames *frames = monitor_frames_new(4096);
    uint64_t random = 1;

    ck_assert_ptr_nonnull(frames);
    for (uint64_t number = 1; number <= 5000; number++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        fill(frames, number, (size_t)(random >> 33) % (number % 97 == 0 ? 3900 : 300));
        ck_assert_uint_ge(seen.count, 1);
        ck_assert_uint_eq(seen.last, number);
    }
    fill(frames, 5001, 4096); /* too long for all of it */
    ck_assert_uint_eq(seen.last, 5000);
    monitor_frames_free(frames);
}
END_TEST

START_TEST(frames_of_one_length_fill_the_room)
{
    struct monitor_frames *frames = monitor_frames_new(64 << 10);

    for (uint64_t number = 1; number <= 3000; number++)
        fill(frames, number, 200);
    ck_assert_uint_gt(seen.count, (64 << 10) / 300);
    monitor_frames_free(frames);
}
END_TEST

/* ---- flows ------------------------------------------------------------------------------------------------------- */

static struct monitor_flow flow;
static uint64_t next_frame;

static void on_event(void *user, const struct flow_event *event)
{
    (void)user;
    if (event->flow->number == 1)
        flow = monitor_flow_of(event->flow);
}

static struct flow_frame frame_of(enum many_layer layer, uint32_t number, unsigned step, uint8_t *octets)
{
    size_t count = many_frame(layer, number, step, octets);

    next_frame++;
    return (struct flow_frame){FLOW_LINK_ETHERNET, 1000 * SECOND + next_frame, next_frame, octets, count, count};
}

/* The flow of conversation 1. */
static void learn(enum many_layer layer)
{
    struct flow_decoder *decoder = flow_decoder_create(NULL, on_event, NULL);
    uint8_t octets[MANY_FRAME_MAX];

    next_frame = 0;
    memset(&flow, 0, sizeof(flow));
    for (unsigned step = 0; step < many_steps(layer); step++) {
        struct flow_frame frame = frame_of(layer, 1, step, octets);

        flow_decoder_frame(decoder, &frame);
    }
    flow_decoder_finish(decoder);
    flow_decoder_destroy(decoder);
}

/* Loop: each layer. */
START_TEST(frames_of_a_flow_are_its_own_alone)
{
    enum many_layer layer = (enum many_layer)_i;
    uint8_t octets[MANY_FRAME_MAX];

    learn(layer);
    for (unsigned step = 0; step < many_steps(layer); step++) {
        struct flow_frame frame = frame_of(layer, 1, step, octets);

        ck_assert(monitor_flow_has(&flow, &frame));
        frame.captured = 20;
        ck_assert(!monitor_flow_has(&flow, &frame));
        frame = frame_of(layer, 77777, step, octets);
        ck_assert(!monitor_flow_has(&flow, &frame));
        frame = frame_of((enum many_layer)((layer + 1) % MANY_LAYERS), 1, 0, octets);
        ck_assert(!monitor_flow_has(&flow, &frame));
    }
}
END_TEST

/* ---- captures ---------------------------------------------------------------------------------------------------- */

static struct monitor_evidence *opened(unsigned files)
{
    struct monitor_evidence_config config = {
        .folder = folder, .memory = 1 << 20, .most_files = files, .most_octets = 1 << 20};
    struct iwarp_sentence error;
    struct monitor_evidence *evidence = monitor_evidence_open(&config, &error);

    ck_assert_msg(evidence != NULL, "%s", error.text);
    return evidence;
}

static void give(struct monitor_evidence *evidence, uint32_t number, unsigned step)
{
    uint8_t octets[MANY_FRAME_MAX];
    struct flow_frame frame = frame_of(MANY_TCP, number, step, octets);

    monitor_evidence_frame(evidence, &frame);
}

static void cut(struct monitor_evidence *evidence, uint64_t key, char name[EVIDENCE_NAME])
{
    struct monitor_cut what = {.id = "MPA-4.4-14",
                               .key = key,
                               .time_ns = 1000 * SECOND + key * SECOND,
                               .frame = next_frame,
                               .link = FLOW_LINK_ETHERNET,
                               .flow = flow,
                               .comment = "FAIL"};
    struct iwarp_sentence error;

    ck_assert_msg(monitor_evidence_cut(evidence, &what, name, &error) == 0, "%s", error.text);
}

static unsigned frames_in(const char *name)
{
    struct iwarp_sentence error;
    struct capture_file *capture = capture_open(sample_path(folder, name), &error);
    struct flow_frame frame;
    unsigned count = 0;

    ck_assert_msg(capture != NULL, "%s", error.text);
    while (capture_next(capture, &frame, &error) == 1) {
        ck_assert(monitor_flow_has(&flow, &frame));
        count++;
    }
    capture_close(capture);
    return count;
}

START_TEST(capture_has_the_flows_frames_before_and_after)
{
    struct monitor_evidence *evidence;
    char name[EVIDENCE_NAME], second[EVIDENCE_NAME];

    learn(MANY_TCP);
    evidence = opened(10);
    for (unsigned i = 0; i < EVIDENCE_BEFORE + 10; i++) {
        give(evidence, 1, i % 3);
        give(evidence, 2, i % 3);
    }
    cut(evidence, 1, name);
    for (unsigned i = 0; i < EVIDENCE_AFTER + 5; i++) {
        give(evidence, 2, i % 3);
        give(evidence, 1, i % 3);
    }
    ck_assert_uint_eq(frames_in(name), EVIDENCE_BEFORE + EVIDENCE_AFTER);
    cut(evidence, 2, second); /* with nothing after it: complete by time */
    monitor_evidence_time(evidence, 1000 * SECOND + 2 * SECOND + (EVIDENCE_SECONDS + 1) * SECOND);
    give(evidence, 1, 0);
    monitor_evidence_close(evidence);
    ck_assert_uint_eq(frames_in(second), EVIDENCE_BEFORE);
}
END_TEST

START_TEST(oldest_captures_go_of_earlier_processes_too)
{
    struct monitor_evidence *evidence;
    char names[6][EVIDENCE_NAME];
    struct stat status;

    learn(MANY_TCP);
    sample_write(sample_path(folder, "20261128T102201Z-mine.pcapng"), "x", 1); /* a name of somebody else's */
    evidence = opened(3);
    give(evidence, 1, 0);
    for (unsigned i = 0; i < 3; i++)
        cut(evidence, i, names[i]);
    monitor_evidence_close(evidence);
    evidence = opened(3);
    give(evidence, 1, 0);
    for (unsigned i = 3; i < 5; i++)
        cut(evidence, i, names[i]);
    monitor_evidence_close(evidence);
    for (unsigned i = 0; i < 5; i++)
        ck_assert_int_eq(stat(sample_path(folder, names[i]), &status) == 0, i >= 2);
    ck_assert_int_eq(stat(sample_path(folder, "20261128T102201Z-mine.pcapng"), &status), 0);
}
END_TEST

START_TEST(more_captures_than_are_written_at_once_are_all_whole)
{
    struct monitor_evidence *evidence;
    char names[EVIDENCE_OPEN + 4][EVIDENCE_NAME];

    learn(MANY_TCP);
    evidence = opened(100);
    give(evidence, 1, 0);
    for (unsigned i = 0; i < EVIDENCE_OPEN + 4; i++)
        cut(evidence, i, names[i]);
    give(evidence, 1, 1);
    monitor_evidence_close(evidence);
    for (unsigned i = 0; i < EVIDENCE_OPEN + 4; i++)
        ck_assert_uint_eq(frames_in(names[i]), i < 4 ? 1 : 2);
}
END_TEST

START_TEST(folder_that_is_not_there_is_named)
{
    struct monitor_evidence_config config = {.folder = "/nowhere/at/all", .memory = 4096, .most_files = 1};
    struct iwarp_sentence error;

    ck_assert_ptr_null(monitor_evidence_open(&config, &error));
    ck_assert_str_eq(error.text, "--evidence /nowhere/at/all: No such file or directory");
}
END_TEST

Suite *monitor_evidence_suite(void)
{
    Suite *suite = suite_create("monitor_evidence");
    TCase *cases = tcase_create("monitor_evidence");

    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, newest_frames_are_kept_whatever_their_lengths);
    tcase_add_test(cases, frames_of_one_length_fill_the_room);
    tcase_add_loop_test(cases, frames_of_a_flow_are_its_own_alone, 0, MANY_LAYERS);
    tcase_add_test(cases, capture_has_the_flows_frames_before_and_after);
    tcase_add_test(cases, oldest_captures_go_of_earlier_processes_too);
    tcase_add_test(cases, more_captures_than_are_written_at_once_are_all_whole);
    tcase_add_test(cases, folder_that_is_not_there_is_named);
    suite_add_tcase(suite, cases);
    return suite;
}
