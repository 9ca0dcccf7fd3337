/* SPDX-License-Identifier: BSD-2-Clause */
/* pcapng: interfaces that differ, clocks, blocks that are no frames, what a capture says it has lost, and damage. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/capture/capture_file.h"
#include "conformance/flow/decoder.h"
#include "tests/unit/sample_results.h"
#include "tests/unit/suites.h"

Suite *capture_pcapng_suite(void);

enum { ROOM = 4096, FRAME = 60 };

/* A file in the making, in either order of octets. */
struct image {
    uint8_t octets[ROOM];
    size_t count;
    bool swapped;
};

static void put(struct image *image, const void *octets, size_t count)
{
    ck_assert_uint_le(image->count + count, ROOM);
    memcpy(image->octets + image->count, octets, count);
    image->count += count;
}

static void put16(struct image *image, uint16_t value)
{
    value = image->swapped ? __builtin_bswap16(value) : value;
    put(image, &value, sizeof(value));
}

static void put32(struct image *image, uint32_t value)
{
    value = image->swapped ? __builtin_bswap32(value) : value;
    put(image, &value, sizeof(value));
}

static void put64(struct image *image, uint64_t value)
{
    value = image->swapped ? __builtin_bswap64(value) : value;
    put(image, &value, sizeof(value));
}

/* Any block; `body` is a multiple of 4 long. */
static void block(struct image *image, uint32_t type, const struct image *body)
{
    uint32_t length = (uint32_t)body->count + 12;

    put32(image, type);
    put32(image, length);
    put(image, body->octets, body->count);
    put32(image, length);
}

static struct image body_of(const struct image *image)
{
    return (struct image){.swapped = image->swapped};
}

static void section(struct image *image)
{
    struct image body = body_of(image);

    put32(&body, 0x1A2B3C4D);
    put16(&body, 1);
    put16(&body, 0);
    put64(&body, UINT64_MAX);
    block(image, 0x0A0D0D0A, &body);
}

/* With a clock's resolution and offset when these are not 0. */
static void interface(struct image *image, uint16_t link, uint32_t snap, unsigned resolution, int64_t offset)
{
    struct image body = body_of(image);

    put16(&body, link);
    put16(&body, 0);
    put32(&body, snap);
    if (resolution != 0) {
        put16(&body, 9);
        put16(&body, 1);
        put(&body, (const uint8_t[]){(uint8_t)resolution, 0, 0, 0}, 4);
    }
    if (offset != 0) {
        put16(&body, 14);
        put16(&body, 8);
        put64(&body, (uint64_t)offset);
    }
    block(image, 1, &body);
}

static void packet(struct image *image, uint32_t number, uint64_t time, uint32_t captured, uint64_t dropped)
{
    static const uint8_t octets[FRAME] = {1, 2, 3};
    struct image body = body_of(image);

    put32(&body, number);
    put32(&body, (uint32_t)(time >> 32));
    put32(&body, (uint32_t)time);
    put32(&body, captured);
    put32(&body, FRAME);
    put(&body, octets, (captured + 3) & ~3u);
    if (dropped != 0) {
        put16(&body, 4);
        put16(&body, 8);
        put64(&body, dropped);
        put32(&body, 0);
    }
    block(image, 6, &body);
}

static void statistics(struct image *image, uint32_t number, uint64_t by_interface, uint64_t by_system)
{
    struct image body = body_of(image);

    put32(&body, number);
    put64(&body, 0);
    put16(&body, 5);
    put16(&body, 8);
    put64(&body, by_interface);
    put16(&body, 7);
    put16(&body, 8);
    put64(&body, by_system);
    put32(&body, 0);
    block(image, 5, &body);
}

static char *folder;

static void make_folder(void)
{
    folder = sample_folder();
}

static void remove_folder(void)
{
    sample_remove(folder);
}

static struct capture_file *open_image(const struct image *image)
{
    struct iwarp_sentence error = {""};
    const char *path = sample_path(folder, "a.pcapng");
    struct capture_file *capture;

    sample_write(path, (const char *)image->octets, image->count);
    capture = capture_open(path, &error);
    ck_assert_msg(capture != NULL, "%s", error.text);
    return capture;
}

static void next(struct capture_file *capture, struct flow_frame *frame)
{
    struct iwarp_sentence error = {""};

    ck_assert_msg(capture_next(capture, frame, &error) == 1, "%s", error.text);
}

static void at_end(struct capture_file *capture)
{
    struct flow_frame frame;
    struct iwarp_sentence error = {""};

    ck_assert_msg(capture_next(capture, &frame, &error) == 0, "%s", error.text);
    capture_close(capture);
}

/* Each frame has its interface's link type, whatever the others'; one that is not described has none. Loop: order. */
START_TEST(each_frame_has_the_link_of_its_interface)
{
    struct image image = {.swapped = _i != 0};
    struct capture_file *capture;
    struct flow_frame frame;

    section(&image);
    interface(&image, FLOW_LINK_ETHERNET, 65535, 0, 0);
    packet(&image, 0, 1, FRAME, 0);
    interface(&image, 105, 96, 0, 0); /* IEEE 802.11 */
    packet(&image, 1, 2, 59, 0);
    packet(&image, 7, 3, FRAME, 0);
    interface(&image, FLOW_LINK_RAW, 0, 0, 0);
    packet(&image, 2, 4, 20, 0);
    capture = open_image(&image);
    next(capture, &frame);
    ck_assert_uint_eq(frame.link, FLOW_LINK_ETHERNET);
    ck_assert_uint_eq(frame.time_ns, 1000);
    ck_assert_uint_eq(frame.octets[2], 3);
    next(capture, &frame);
    ck_assert_uint_eq(frame.link, 105);
    ck_assert_uint_eq(frame.captured, 59);
    ck_assert_uint_eq(frame.length, FRAME);
    next(capture, &frame);
    ck_assert_uint_eq(frame.link, FLOW_LINK_NONE);
    next(capture, &frame);
    ck_assert_uint_eq(frame.link, FLOW_LINK_RAW);
    ck_assert_uint_eq(frame.number, 4);
    at_end(capture);
}
END_TEST

START_TEST(time_stamps_follow_the_resolution)
{
    static const struct {
        unsigned resolution;
        int64_t offset;
        uint64_t units, expected;
    } clocks[] = {
        {0, 0, 1700000000000001, UINT64_C(1700000000000001000)},
        {9, 0, 1700000000000000001, UINT64_C(1700000000000000001)},
        {3, 0, 5, 5000000},
        {12, 0, 5000, 5},
        {0x80 | 10, 0, 1024 + 512, UINT64_C(1500000000)},
        {6, 100, 1, UINT64_C(100000001000)},
        {6, -1, 2000000, UINT64_C(1000000000)},
        {19, 0, UINT64_C(10000000000), 1},
        {0x7F, 0, UINT64_C(10000000000), 1},
        {0x80, 0, 5, UINT64_C(5000000000)},
        {0x80 | 31, 0, (UINT64_C(1) << 31) + (1 << 30), UINT64_C(1500000000)},
        {0x80 | 32, 0, (UINT64_C(1) << 33) + (UINT64_C(1) << 31), UINT64_C(2500000000)},
        {0x80 | 33, 0, (UINT64_C(7) << 33) + 1, UINT64_C(7000000000)},
        {0x80 | 64, 0, UINT64_MAX, 999999999},
        {0x80 | 90, 0, UINT64_MAX, 14},
        {0x80 | 95, 0, UINT64_MAX, 0},
        {0xFF, 0, UINT64_MAX, 0},
    };

    for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
        struct image image = {.swapped = i % 2 != 0};
        struct capture_file *capture;
        struct flow_frame frame;

        section(&image);
        interface(&image, 1, 0, clocks[i].resolution, clocks[i].offset);
        packet(&image, 0, clocks[i].units, FRAME, 0);
        capture = open_image(&image);
        next(capture, &frame);
        ck_assert_uint_eq(frame.time_ns, clocks[i].expected);
        at_end(capture);
    }
}
END_TEST

/* A Simple Packet Block has the first interface's snapshot length, and no time; the obsolete block a short number. */
START_TEST(simple_and_obsolete_packet_blocks_are_read)
{
    struct image image = {.count = 0}, body = {.count = 0};
    struct capture_file *capture;
    struct flow_frame frame;

    section(&image);
    interface(&image, 1, 40, 0, 0);
    put32(&body, FRAME);
    put(&body, (const uint8_t[40]){9}, 40);
    block(&image, 3, &body);
    body.count = 0;
    put16(&body, 0);
    put16(&body, 3);
    put64(&body, 0);
    put32(&body, 8);
    put32(&body, FRAME);
    put(&body, (const uint8_t[8]){8}, 8);
    block(&image, 2, &body);
    capture = open_image(&image);
    next(capture, &frame);
    ck_assert_uint_eq(frame.captured, 40);
    ck_assert_uint_eq(frame.length, FRAME);
    ck_assert_uint_eq(frame.octets[0], 9);
    next(capture, &frame);
    ck_assert_uint_eq(frame.captured, 8);
    ck_assert_uint_eq(frame.octets[0], 8);
    at_end(capture);
}
END_TEST

/* Blocks that are not read are counted, and what the capture says it has dropped is, each once. */
START_TEST(unread_blocks_and_drops_are_counted_once)
{
    struct image image = {.count = 0}, body = {.count = 0};
    struct flow_account account = {0};
    struct capture_file *capture;
    struct flow_frame frame;

    put32(&body, 0);
    for (unsigned part = 0; part < 2; part++) {
        image.swapped = part != 0;
        section(&image);
        interface(&image, 1, 0, 0, 0);
        interface(&image, 1, 0, 0, 0);
        packet(&image, 0, 1, FRAME, 4); /* 4 before this one */
        packet(&image, 1, 1, FRAME, 2);
        block(&image, 4, &body);          /* names */
        block(&image, 0x80000001, &body); /* anything */
        statistics(&image, 0, 3, 0);
        statistics(&image, 0, 5, 1); /* the later one counts: 6, the 4 among them */
    }
    capture = open_image(&image);
    for (unsigned i = 0; i < 4; i++)
        next(capture, &frame);
    ck_assert_uint_eq(frame.number, 4);
    ck_assert_int_eq(capture_next(capture, &frame, &(struct iwarp_sentence){""}), 0);
    capture_account(capture, &account);
    ck_assert_uint_eq(account.row[FLOW_ROW_BLOCK].items, 4);
    ck_assert_uint_eq(account.row[FLOW_ROW_DROPPED].items, 2 * (6 + 2));
    ck_assert(!flow_account_whole(&account));
    capture_close(capture);
}
END_TEST

/* Cut anywhere: the frames before count, and the end is no end. */
START_TEST(pcapng_cut_anywhere_keeps_whole_frames)
{
    struct image whole = {.count = 0};
    size_t first, second;

    section(&whole);
    interface(&whole, 1, 0, 0, 0);
    first = whole.count;
    packet(&whole, 0, 1, FRAME, 0);
    second = whole.count;
    packet(&whole, 0, 1, FRAME, 0);
    for (size_t count = 28; count <= whole.count; count++) {
        struct image image = whole;
        struct flow_frame frame;
        struct iwarp_sentence error = {""};
        struct capture_file *capture;
        unsigned frames = 0;
        int rc;

        image.count = count;
        capture = open_image(&image);
        while ((rc = capture_next(capture, &frame, &error)) == 1)
            frames++;
        ck_assert_int_eq(rc, count == 28 || count == first || count == second || count == whole.count ? 0 : -1);
        ck_assert_uint_eq(frames, (count >= second) + (count == whole.count));
        ck_assert(rc == 0 || strstr(error.text, "a.pcapng: ends abruptly after frame") != NULL);
        capture_close(capture);
    }
}
END_TEST

/* Lengths that contradict: the frames before count, and a sentence says what is wrong. */
START_TEST(contradicting_block_lengths_are_refused)
{
    static const struct {
        size_t at; /* in the packet's block */
        uint32_t value;
        const char *why;
    } damages[] = {
        {4, 8, "impossible length"},
        {4, 33, "impossible length"},
        {4, 0x7FFFFFFC, "impossible length"},
        {4, 32 + FRAME - 4, "two lengths"},
        {20, FRAME + 1, "longer than its block"},
        {20, UINT32_MAX, "longer than its block"},
    };

    for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
        struct image image = {.count = 0};
        struct iwarp_sentence error = {""};
        struct flow_frame frame;
        struct capture_file *capture;
        size_t at;

        section(&image);
        interface(&image, 1, 0, 0, 0);
        packet(&image, 0, 1, FRAME, 0);
        at = image.count;
        packet(&image, 0, 1, FRAME, 0);
        memcpy(image.octets + at + damages[i].at, &damages[i].value, 4);
        capture = open_image(&image);
        next(capture, &frame);
        ck_assert_int_eq(capture_next(capture, &frame, &error), -1);
        ck_assert_msg(strstr(error.text, damages[i].why) != NULL, "%s", error.text);
        ck_assert_uint_eq(capture_frames(capture), 1);
        capture_close(capture);
    }
}
END_TEST

/* Sections that are none. */
START_TEST(malformed_sections_are_refused)
{
    static const struct {
        size_t at;
        uint32_t value;
    } changes[] = {{4, 12}, {4, 30}, {8, 0x12345678}, {12, 2}, {24, 32}};

    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        struct image image = {.count = 0};
        struct iwarp_sentence error = {""};
        const char *path = sample_path(folder, "bad.pcapng");

        section(&image);
        interface(&image, 1, 0, 0, 0);
        memcpy(image.octets + changes[i].at, &changes[i].value, 4);
        sample_write(path, (const char *)image.octets, image.count);
        ck_assert_ptr_null(capture_open(path, &error));
        ck_assert_msg(strncmp(error.text, path, strlen(path)) == 0, "%s", error.text);
    }
}
END_TEST

Suite *capture_pcapng_suite(void)
{
    Suite *suite = suite_create("capture_pcapng");
    TCase *tests = tcase_create("pcapng");

    tcase_add_checked_fixture(tests, make_folder, remove_folder);
    tcase_add_loop_test(tests, each_frame_has_the_link_of_its_interface, 0, 2);
    tcase_add_test(tests, time_stamps_follow_the_resolution);
    tcase_add_test(tests, simple_and_obsolete_packet_blocks_are_read);
    tcase_add_test(tests, unread_blocks_and_drops_are_counted_once);
    tcase_add_test(tests, pcapng_cut_anywhere_keeps_whole_frames);
    tcase_add_test(tests, contradicting_block_lengths_are_refused);
    tcase_add_test(tests, malformed_sections_are_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
