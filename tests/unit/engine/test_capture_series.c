/* SPDX-License-Identifier: BSD-2-Clause */
/* Series: the files of a ring as one capture, and where a frame of it is. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/capture/capture_folder.h"
#include "conformance/engine/capture/capture_series.h"
#include "conformance/flow/decoder.h"
#include "reports/results/result.h"
#include "tests/unit/sample_results.h"
#include "tests/unit/suites.h"

Suite *capture_series_suite(void);

enum { FRAME = 20, HEAD = 24 };

static char *folder;
static struct capture_list list;

static void make_folder(void)
{
    folder = sample_folder();
    list = (struct capture_list){0};
}

static void remove_folder(void)
{
    capture_list_free(&list);
    sample_remove(folder);
}

/* A pcap file with so many frames from that second on, less `cut` octets at its end. */
static void save(const char *name, uint32_t second, unsigned frames, size_t cut)
{
    uint8_t octets[512];
    uint32_t head[6] = {0xA1B2C3D4, 0, 0, 0, 65535, 1};
    const uint16_t version[2] = {2, 4};
    size_t count = sizeof(head);

    memcpy(&head[1], version, sizeof(version));
    memcpy(octets, head, sizeof(head));
    for (unsigned i = 0; i < frames; i++) {
        const uint32_t record[4] = {second + i, 0, FRAME, FRAME};

        memcpy(octets + count, record, sizeof(record));
        memset(octets + count + sizeof(record), (int)(second + i), FRAME);
        count += sizeof(record) + FRAME;
    }
    sample_write(sample_path(folder, name), (const char *)octets, count - cut);
}

static struct capture_series *open_ring(void)
{
    struct iwarp_sentence error = {""};
    struct capture_series *series;

    ck_assert_int_eq(capture_list_add(&list, folder, &error), 0);
    ck_assert_int_eq(capture_list_rings(&list, &error), 0);
    ck_assert_uint_eq(list.count, 1);
    series = capture_series_open(list.paths[0], capture_list_ring(&list, 0), &error);
    ck_assert_msg(series != NULL, "%s", error.text);
    return series;
}

/* Where frame `number` is, as "name:frame". */
static const char *where(const struct capture_series *series, uint64_t number)
{
    static char text[128];
    uint64_t frame;
    const char *file = capture_series_where(series, number, &frame);

    (void)snprintf(text, sizeof(text), "%s:%llu", strrchr(file, '/') + 1, (unsigned long long)frame);
    return text;
}

static int read_all(struct capture_series *series, uint64_t expected, struct iwarp_sentence *error)
{
    struct flow_frame frame;
    uint64_t offset, count = 0;
    int rc;

    while ((rc = capture_series_next(series, &frame, error)) == 1) {
        ck_assert_uint_eq(frame.number, ++count);
        ck_assert_uint_eq(frame.octets[0], frame.time_ns / 1000000000);
        ck_assert(capture_series_place(series, &frame, &offset));
        ck_assert_uint_eq((offset - HEAD) % (FRAME + 16), 16);
    }
    ck_assert_uint_eq(count, expected);
    ck_assert_uint_eq(capture_series_frames(series), expected);
    return rc;
}

START_TEST(frames_of_a_ring_are_numbered_through)
{
    struct iwarp_sentence error = {""};
    struct flow_account account = {0};
    struct capture_series *series;

    save("d.pcap0", 30, 2, 0);
    save("d.pcap1", 32, 0, 0);
    save("d.pcap2", 10, 3, 0);
    save("d.pcap4", 20, 1, 0);
    series = open_ring();
    ck_assert(capture_series_several(series) && capture_series_is_rereadable(series));
    for (unsigned pass = 0; pass < 2; pass++) {
        ck_assert_int_eq(read_all(series, 6, &error), 0);
        ck_assert_str_eq(where(series, 1), "d.pcap2:1");
        ck_assert_str_eq(where(series, 3), "d.pcap2:3");
        ck_assert_str_eq(where(series, 4), "d.pcap4:1");
        ck_assert_str_eq(where(series, 5), "d.pcap0:1");
        ck_assert_str_eq(where(series, 6), "d.pcap0:2");
        ck_assert_str_eq(where(series, 0), "d.pcap2:0");
        ck_assert_int_eq(capture_series_rewind(series, &error), 0);
        ck_assert_str_eq(where(series, 6), "d.pcap0:2"); /* known from the first pass */
    }
    capture_series_account(series, &account);
    ck_assert_uint_eq(account.row[FLOW_ROW_RING_FILE].items, 1);
    ck_assert_int_eq(flow_account_row(FLOW_ROW_RING_FILE)->kind, FLOW_MISSING);
    ck_assert(!flow_account_whole(&account));
    capture_series_close(series);
}
END_TEST

/* A file that breaks off, and one that is no capture, are said once, and what follows is read. */
START_TEST(broken_file_of_a_ring_is_reported_once)
{
    struct iwarp_sentence error = {""};
    struct capture_series *series;

    save("d.pcap", 1, 2, 7);
    save("d.pcap1", 2, 2, 0);
    sample_write(sample_path(folder, "d.pcap2"), "no capture", 10);
    save("d.pcap3", 6, 1, 0);
    sample_write(sample_path(folder, "d.pcap4"), "", 0); /* the newest, before anything is in it */
    series = open_ring();
    ck_assert_int_eq(read_all(series, 4, &error), -1);
    ck_assert_msg(strstr(error.text, "/d.pcap: ends abruptly after frame 1") != NULL, "%s", error.text);
    ck_assert_msg(strstr(error.text, "; and 1 more files of this ring") != NULL, "%s", error.text);
    ck_assert_str_eq(where(series, 4), "d.pcap3:1");
    capture_series_close(series);
}
END_TEST

START_TEST(nothing_to_read)
{
    struct iwarp_sentence error = {""};
    struct capture_series *series;

    sample_write(sample_path(folder, "d.pcap"), "no capture", 10);
    sample_write(sample_path(folder, "d.pcap1"), "no capture", 10);
    ck_assert_int_eq(capture_list_add(&list, folder, &error), 0);
    ck_assert_int_eq(capture_list_rings(&list, &error), 0);
    ck_assert_ptr_null(capture_series_open(list.paths[0], capture_list_ring(&list, 0), &error));
    ck_assert_msg(strstr(error.text, "d.pcap: is not a capture") != NULL, "%s", error.text);
    series = capture_series_open(sample_path(folder, "nowhere"), NULL, &error);
    ck_assert_ptr_null(series);
    ck_assert_msg(strstr(error.text, "No such file") != NULL, "%s", error.text);
    capture_series_close(series);
}
END_TEST

START_TEST(one_file_is_a_series_of_one)
{
    struct iwarp_sentence error = {""}, room;
    struct capture_series *series;
    const char *text = "in frame 2 ";

    save("a.pcap", 1, 2, 0);
    series = capture_series_open(sample_path(folder, "a.pcap"), NULL, &error);
    ck_assert_ptr_nonnull(series);
    ck_assert(!capture_series_several(series) && capture_series_is_rereadable(series));
    ck_assert_int_eq(read_all(series, 2, &error), 0);
    ck_assert_str_eq(where(series, 2), "a.pcap:2");
    ck_assert_ptr_eq(capture_series_reword(series, text, "other", &room), text);
    capture_series_close(series);
}
END_TEST

/* Numbers of the series in texts and ladders become those of the files. */
START_TEST(frame_numbers_in_texts_become_those_of_files)
{
    struct iwarp_sentence error = {""}, room;
    struct capture_series *series;
    char file[256];

    save("d.pcap", 1, 3, 0);
    save("d.pcap1", 4, 3, 0);
    series = open_ring();
    ck_assert_int_eq(read_all(series, 6, &error), 0);
    (void)snprintf(file, sizeof(file), "%s/d.pcap1", folder);
    ck_assert_str_eq(capture_series_reword(series, "an FPDU in frame 2, the Reply in frame 5", file, &room),
                     "an FPDU in frame 2 of d.pcap, the Reply in frame 2");
    ck_assert_str_eq(capture_series_reword(series, "a frame of frame 4", file, &room), "a frame of frame 1");
    ck_assert_str_eq(capture_series_reword(series, "no number", file, &room), "no number");
    ck_assert_str_eq(capture_series_reword(series, "frame 18446744073709551616", file, &room), "frame 0 of d.pcap");
    ck_assert_ptr_null(capture_series_reword(series, NULL, file, &room));
    capture_series_close(series);
}
END_TEST

static json_t *frame_of(const json_t *steps, size_t index)
{
    return json_object_get(json_array_get(steps, index), "frame");
}

START_TEST(frame_numbers_in_ladders_become_those_of_files)
{
    struct iwarp_sentence error = {""};
    struct capture_series *series;
    json_t *steps = json_array(), *shared = result_step(0, "dut", "fpdu", "Send", 3, NULL, 0);
    char file[256];

    save("d.pcap", 1, 3, 0);
    save("d.pcap1", 4, 3, 0);
    series = open_ring();
    ck_assert_int_eq(read_all(series, 6, &error), 0);
    (void)snprintf(file, sizeof(file), "%s/d.pcap1", folder);
    ck_assert_int_eq(json_array_append(steps, shared), 0);
    ck_assert_int_eq(json_array_append_new(steps, result_step(0, "tester", "note", "a pause", 0, NULL, 0)), 0);
    ck_assert_int_eq(json_array_append_new(steps, result_step(1, "tester", "fpdu", "Send", 4, NULL, 0)), 0);
    ck_assert_int_eq(capture_series_name_steps(series, steps, file), 0);
    ck_assert_uint_eq(json_array_size(steps), 5);
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(steps, 0), "summary")), "frames of d.pcap");
    ck_assert_int_eq(json_integer_value(frame_of(steps, 1)), 3);
    ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(json_array_get(steps, 1), "file")), "/d.pcap"));
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(steps, 3), "summary")), "frames of d.pcap1");
    ck_assert_int_eq(json_integer_value(frame_of(steps, 4)), 1);
    ck_assert_ptr_null(json_object_get(json_array_get(steps, 4), "file"));
    ck_assert_int_eq(json_integer_value(json_object_get(shared, "frame")), 3); /* another ladder has it, too */
    ck_assert_ptr_null(json_object_get(shared, "file"));
    json_decref(shared);
    json_decref(steps);
    capture_series_close(series);
}
END_TEST

Suite *capture_series_suite(void)
{
    Suite *suite = suite_create("capture_series");
    TCase *tests = tcase_create("series");

    tcase_add_checked_fixture(tests, make_folder, remove_folder);
    tcase_add_test(tests, frames_of_a_ring_are_numbered_through);
    tcase_add_test(tests, broken_file_of_a_ring_is_reported_once);
    tcase_add_test(tests, nothing_to_read);
    tcase_add_test(tests, one_file_is_a_series_of_one);
    tcase_add_test(tests, frame_numbers_in_texts_become_those_of_files);
    tcase_add_test(tests, frame_numbers_in_ladders_become_those_of_files);
    suite_add_tcase(suite, tests);
    return suite;
}
