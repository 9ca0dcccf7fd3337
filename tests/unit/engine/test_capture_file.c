/* SPDX-License-Identifier: BSD-2-Clause */
/* Capture files and folders: what is read, what is refused, and with which sentence. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conformance/engine/capture/capture_file.h"
#include "conformance/engine/capture/capture_folder.h"
#include "conformance/flow/decoder.h"
#include "tests/unit/sample_results.h"
#include "tests/unit/suites.h"

Suite *capture_file_suite(void);

enum { ROOM = 1024, FRAME = 60 };

/* A file in the making; captures are written in the host's octet order. */
struct image {
    uint8_t octets[ROOM];
    size_t count;
};

static void put(struct image *image, const void *octets, size_t count)
{
    ck_assert_uint_le(image->count + count, ROOM);
    memcpy(image->octets + image->count, octets, count);
    image->count += count;
}

static void put32(struct image *image, uint32_t value)
{
    put(image, &value, sizeof(value));
}

static void pcap_head(struct image *image, uint32_t link)
{
    const uint16_t version[2] = {2, 4};

    put32(image, 0xA1B2C3D4);
    put(image, version, sizeof(version));
    put32(image, 0);
    put32(image, 0);
    put32(image, 65535);
    put32(image, link);
}

static void pcap_frame(struct image *image, uint32_t seconds, uint32_t micros, uint32_t captured, uint32_t length)
{
    uint8_t octets[FRAME];

    memset(octets, (int)seconds, sizeof(octets));
    put32(image, seconds);
    put32(image, micros);
    put32(image, captured);
    put32(image, length);
    put(image, octets, captured);
}

static void pcapng_section(struct image *image)
{
    const uint16_t version[2] = {1, 0};

    put32(image, 0x0A0D0D0A);
    put32(image, 28);
    put32(image, 0x1A2B3C4D);
    put(image, version, sizeof(version));
    put32(image, UINT32_MAX);
    put32(image, UINT32_MAX);
    put32(image, 28);
}

static void pcapng_interface(struct image *image, uint16_t link, uint32_t snap)
{
    const uint16_t type[2] = {link, 0};

    put32(image, 1);
    put32(image, 20);
    put(image, type, sizeof(type));
    put32(image, snap);
    put32(image, 20);
}

static void pcapng_frame(struct image *image, uint32_t interface, uint64_t micros)
{
    const uint8_t octets[FRAME] = {1};

    put32(image, 6);
    put32(image, 32 + FRAME);
    put32(image, interface);
    put32(image, (uint32_t)(micros >> 32));
    put32(image, (uint32_t)micros);
    put32(image, FRAME);
    put32(image, FRAME);
    put(image, octets, FRAME);
    put32(image, 32 + FRAME);
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

static const char *save(const char *name, const struct image *image)
{
    const char *path = sample_path(folder, name);

    sample_write(path, (const char *)image->octets, image->count);
    return path;
}

/* Reads to the end; the last return value of capture_next(). */
static int read_all(struct capture_file *capture, struct flow_frame *last, struct iwarp_sentence *error)
{
    int rc;

    while ((rc = capture_next(capture, last, error)) == 1)
        ck_assert_uint_eq(last->number, capture_frames(capture));
    return rc;
}

static void refused(const char *path, const char *why)
{
    struct iwarp_sentence error = {""};

    ck_assert_ptr_null(capture_open(path, &error));
    ck_assert_msg(strncmp(error.text, path, strlen(path)) == 0, "%s", error.text);
    ck_assert_msg(strstr(error.text, why) != NULL, "%s", error.text);
}

START_TEST(frames_as_they_are)
{
    struct image image = {.count = 0};
    struct flow_frame frame;
    struct iwarp_sentence error;
    struct capture_file *capture;

    pcap_head(&image, 1);
    pcap_frame(&image, 7, 123456, FRAME, FRAME);
    pcap_frame(&image, 8, 1, 20, 1514);
    capture = capture_open(save("good.pcap", &image), &error);
    ck_assert_ptr_nonnull(capture);
    ck_assert(capture_is_rereadable(capture));
    ck_assert_int_eq(capture_next(capture, &frame, &error), 1);
    ck_assert_uint_eq(frame.link, FLOW_LINK_ETHERNET);
    ck_assert_uint_eq(frame.number, 1);
    ck_assert_uint_eq(frame.time_ns, UINT64_C(7123456000));
    ck_assert_uint_eq(frame.captured, FRAME);
    ck_assert_uint_eq(frame.length, FRAME);
    ck_assert_uint_eq(frame.octets[FRAME - 1], 7);
    ck_assert_int_eq(capture_next(capture, &frame, &error), 1);
    ck_assert_uint_eq(frame.captured, 20);
    ck_assert_uint_eq(frame.length, 1514);
    ck_assert_int_eq(capture_next(capture, &frame, &error), 0);
    ck_assert_uint_eq(capture_frames(capture), 2);
    capture_close(capture);
    capture_close(NULL);
}
END_TEST

/* Cut anywhere: refused while the file header is not whole, else the frames before the cut count. */
START_TEST(pcap_cut_anywhere_keeps_whole_frames)
{
    enum { HEAD = 24, RECORD = 16 + FRAME };
    struct image whole = {.count = 0};

    pcap_head(&whole, 1);
    pcap_frame(&whole, 1, 0, FRAME, FRAME);
    pcap_frame(&whole, 2, 0, FRAME, FRAME);
    for (size_t count = 1; count <= whole.count; count++) {
        struct image image = whole;
        struct flow_frame frame;
        struct iwarp_sentence error = {""};
        struct capture_file *capture;
        int rc;

        image.count = count;
        capture = capture_open(save("cut.pcap", &image), &error);
        ck_assert_int_eq(capture != NULL, count >= HEAD);
        if (capture == NULL)
            continue;
        rc = read_all(capture, &frame, &error);
        ck_assert_int_eq(rc, (count - HEAD) % RECORD == 0 ? 0 : -1);
        ck_assert_uint_eq(capture_frames(capture), (count - HEAD) / RECORD);
        ck_assert(rc == 0 || strstr(error.text, "cut.pcap: ends abruptly after frame") != NULL);
        capture_close(capture);
    }
}
END_TEST

START_TEST(files_that_are_no_captures_are_refused)
{
    struct image image = {.count = 0};

    refused(sample_path(folder, "nowhere.pcap"), "No such file");
    refused(folder, "is a folder");
    refused(save("empty.pcap", &image), "is empty");
    put(&image, "Dear reader, this is no capture.", 32);
    refused(save("letter.pcap", &image), "is not a capture");
}
END_TEST

START_TEST(unknown_link_type_is_refused)
{
    struct image image = {.count = 0};

    pcap_head(&image, 147);
    pcap_frame(&image, 1, 0, FRAME, FRAME);
    refused(save("user.pcap", &image), "link type 147");
}
END_TEST

/* LINKTYPE numbers of raw IP differ from libpcap's DLT numbers. */
START_TEST(known_link_types_are_read)
{
    static const uint32_t links[] = {FLOW_LINK_NULL,      FLOW_LINK_ETHERNET,  FLOW_LINK_RAW,  FLOW_LINK_LOOP,
                                     FLOW_LINK_LINUX_SLL, FLOW_LINK_IPV4,      FLOW_LINK_IPV6, FLOW_LINK_LINUX_SLL2,
                                     FLOW_LINK_ERF,       FLOW_LINK_INFINIBAND};
    struct image image = {.count = 0};
    struct flow_frame frame;
    struct iwarp_sentence error;
    struct capture_file *capture;

    pcap_head(&image, links[_i]);
    pcap_frame(&image, 1, 0, FRAME, FRAME);
    capture = capture_open(save("link.pcap", &image), &error);
    ck_assert_msg(capture != NULL, "%s", error.text);
    ck_assert_int_eq(capture_next(capture, &frame, &error), 1);
    ck_assert_uint_eq(frame.link, links[_i]);
    capture_close(capture);
}
END_TEST

START_TEST(frames_of_two_interfaces_are_read)
{
    struct image image = {.count = 0};
    struct flow_frame frame;
    struct iwarp_sentence error;
    struct capture_file *capture;

    pcapng_section(&image);
    pcapng_interface(&image, 1, 65535);
    pcapng_interface(&image, 1, 65535);
    pcapng_frame(&image, 0, UINT64_C(1700000000000001));
    pcapng_frame(&image, 1, UINT64_C(1700000000000002));
    capture = capture_open(save("two.pcapng", &image), &error);
    ck_assert_msg(capture != NULL, "%s", error.text);
    ck_assert_int_eq(read_all(capture, &frame, &error), 0);
    ck_assert_uint_eq(capture_frames(capture), 2);
    ck_assert_uint_eq(frame.time_ns, UINT64_C(1700000000000002000));
    capture_close(capture);
}
END_TEST

/* Where the frames lie in the file: in either format, and with all the kinds of block that hold them. */
START_TEST(where_frames_lie)
{
    const uint8_t octets[FRAME] = {1};
    struct image pcap = {.count = 0}, pcapng = {.count = 0};
    uint64_t places[3], offset = 1, count = 1;
    const char *path;

    pcap_head(&pcap, 1);
    pcap_frame(&pcap, 7, 0, FRAME, FRAME);
    pcap_frame(&pcap, 8, 0, 20, 1514);
    path = save("places.pcap", &pcap);
    ck_assert(capture_place_of(path, 1, &offset, &count));
    ck_assert_uint_eq(offset, 24 + 16);
    ck_assert_uint_eq(count, FRAME);
    ck_assert(capture_place_of(path, 2, &offset, &count));
    ck_assert_uint_eq(offset, 24 + 16 + FRAME + 16);
    ck_assert_uint_eq(count, 20);
    ck_assert(!capture_place_of(path, 3, &offset, &count));
    ck_assert(!capture_place_of(path, 0, &offset, &count));
    ck_assert(!capture_place_of(sample_path(folder, "none.pcap"), 1, &offset, &count));

    pcapng_section(&pcapng);
    pcapng_interface(&pcapng, 1, 65535);
    places[0] = pcapng.count + 28;
    pcapng_frame(&pcapng, 0, 1);
    put32(&pcapng, 6); /* Enhanced Packet Block with a comment: something stands after the octets */
    put32(&pcapng, 32 + FRAME + 12);
    put32(&pcapng, 0);
    put32(&pcapng, 0);
    put32(&pcapng, 2);
    put32(&pcapng, FRAME);
    put32(&pcapng, FRAME);
    places[1] = pcapng.count;
    put(&pcapng, octets, FRAME);
    put(&pcapng, "\x01\x00\x04\x00warp\x00\x00\x00\x00", 12);
    put32(&pcapng, 32 + FRAME + 12);
    put32(&pcapng, 3); /* Simple Packet Block */
    put32(&pcapng, 16 + FRAME);
    put32(&pcapng, FRAME);
    places[2] = pcapng.count;
    put(&pcapng, octets, FRAME);
    put32(&pcapng, 16 + FRAME);
    path = save("places.pcapng", &pcapng);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert(capture_place_of(path, i + 1, &offset, &count));
        ck_assert_uint_eq(offset, places[i]);
        ck_assert_uint_eq(count, FRAME);
    }
}
END_TEST

static const char *const folder_files[] = {"b.pcapng",   "notes.txt",  "sub/c.CAP",  "sub/deep/d.pcap", ".hidden",
                                           "ring.pcap",  "ring.pcap1", "ring.pcap2", "ring.pcap10",     "plain",
                                           "letter.txt", "zip.xz",     "sun.snoop",  "empty",           "broken.pcap3"};

/* A folder of captures with all that else stands in one. */
static void fill_folder(void)
{
    static const struct {
        const char *name, *octets;
        size_t count;
    } others[] = {{"letter.txt", "Dear reader", 11},
                  {"zip.xz", "\xFD\x37zXZ", 5},
                  {"sun.snoop", "snoop\0\0\0", 8},
                  {"empty", "", 0},
                  {"broken.pcap3", "no capture", 10}};
    struct image image = {.count = 0};

    ck_assert_int_eq(mkdir(sample_path(folder, "sub"), 0700), 0);
    ck_assert_int_eq(mkdir(sample_path(folder, "sub/deep"), 0700), 0);
    ck_assert_int_eq(mkdir(sample_path(folder, "none"), 0700), 0);
    pcap_head(&image, 1);
    for (size_t i = 0; i < sizeof(folder_files) / sizeof(folder_files[0]); i++)
        (void)save(folder_files[i], &image);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        sample_write(sample_path(folder, others[i].name), others[i].octets, others[i].count);
}

static void empty_folder(void)
{
    static const char *const others[] = {"sub/loop", "outside",  "dangling", "again.pcap",
                                         "fifo",     "sub/deep", "sub",      "none"};

    for (size_t i = 0; i < sizeof(folder_files) / sizeof(folder_files[0]); i++)
        (void)remove(sample_path(folder, folder_files[i]));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        (void)remove(sample_path(folder, others[i]));
}

/* Captures are known by how they begin; a ring comes in the order of its numbers. */
START_TEST(folder_is_searched_for_captures)
{
    static const char *const found[] = {".hidden",     "b.pcapng",  "broken.pcap3",   "notes.txt",
                                        "plain",       "ring.pcap", "ring.pcap1",     "ring.pcap2",
                                        "ring.pcap10", "sub/c.CAP", "sub/deep/d.pcap"};
    struct capture_list list = {0};
    struct iwarp_sentence error;

    fill_folder();
    ck_assert_int_eq(capture_list_add(&list, folder, &error), 0);
    ck_assert_uint_eq(list.count, sizeof(found) / sizeof(found[0]));
    for (size_t i = 0; i < list.count; i++)
        ck_assert_str_eq(list.paths[i], sample_path(folder, found[i]));
    ck_assert_uint_eq(list.skipped_count, 2);
    ck_assert_str_eq(list.skipped[0].path, sample_path(folder, "sun.snoop"));
    ck_assert_int_eq(list.skipped[0].row, FLOW_ROW_OTHER_FORMAT);
    ck_assert_str_eq(list.skipped[1].path, sample_path(folder, "zip.xz"));
    ck_assert_int_eq(list.skipped[1].row, FLOW_ROW_COMPRESSED);
    ck_assert_uint_eq(list.account.row[FLOW_ROW_FILE].items, 2);
    ck_assert_int_eq(capture_list_add(&list, sample_path(folder, "none"), &error), 0);
    ck_assert_uint_eq(list.count, sizeof(found) / sizeof(found[0]));
    ck_assert_int_eq(capture_list_add(&list, sample_path(folder, "letter.txt"), &error), 0); /* named: taken as it is */
    ck_assert_uint_eq(list.count, sizeof(found) / sizeof(found[0]) + 1);
    ck_assert_int_eq(capture_list_add(&list, sample_path(folder, "nowhere"), &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "nowhere: No such file"));
    capture_list_free(&list);
    ck_assert_uint_eq(list.count, 0);
    empty_folder();
}
END_TEST

/* Links to what is in the folder are known; those to other files are followed, those to other folders are not. */
START_TEST(links_to_files_outside_are_followed)
{
    struct capture_list list = {0};
    struct iwarp_sentence error;
    size_t before;

    fill_folder();
    ck_assert_int_eq(capture_list_add(&list, folder, &error), 0);
    before = list.count;
    capture_list_free(&list);
    ck_assert_int_eq(symlink("..", sample_path(folder, "sub/loop")), 0);
    ck_assert_int_eq(symlink("/usr", sample_path(folder, "outside")), 0);
    ck_assert_int_eq(symlink("nowhere", sample_path(folder, "dangling")), 0);
    ck_assert_int_eq(symlink("b.pcapng", sample_path(folder, "again.pcap")), 0);
    ck_assert_int_eq(mkfifo(sample_path(folder, "fifo"), 0600), 0);
    ck_assert_int_eq(capture_list_add(&list, folder, &error), 0);
    ck_assert_uint_eq(list.count, before);
    ck_assert_uint_eq(list.account.row[FLOW_ROW_FILE_AGAIN].items, 2);
    ck_assert_uint_eq(list.skipped_count, 5);
    ck_assert_str_eq(list.skipped[0].path, sample_path(folder, "dangling"));
    ck_assert_int_eq(list.skipped[0].row, FLOW_ROW_UNREADABLE);
    ck_assert_int_eq(list.skipped[1].row, FLOW_ROW_SPECIAL_FILE);
    ck_assert_str_eq(list.skipped[2].path, sample_path(folder, "outside"));
    ck_assert_int_eq(list.skipped[2].row, FLOW_ROW_LINKED_FOLDER);
    capture_list_free(&list);
    /* A link to a file elsewhere: from the folder below. */
    ck_assert_int_eq(unlink(sample_path(folder, "sub/loop")), 0);
    ck_assert_int_eq(symlink("../ring.pcap", sample_path(folder, "sub/loop")), 0);
    ck_assert_int_eq(capture_list_add(&list, sample_path(folder, "sub"), &error), 0);
    ck_assert_uint_eq(list.count, 3);
    ck_assert_str_eq(list.paths[2], sample_path(folder, "sub/loop"));
    capture_list_free(&list);
    empty_folder();
}
END_TEST

START_TEST(capture_names_are_recognised)
{
    static const char *const captures[] = {"a.pcap", "a.PCAPNG", "a.cap", "dump.pcap1", "dump.pcap00", "x.y.pcapng12"};
    static const char *const others[] = {"a", "pcap", "a.txt", "a.pcap.gz", "a.1", "a.capsule", "a.pcapx1", "a.p1cap"};

    for (size_t i = 0; i < sizeof(captures) / sizeof(captures[0]); i++)
        ck_assert_msg(capture_name(captures[i]), "%s", captures[i]);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        ck_assert_msg(!capture_name(others[i]), "%s", others[i]);
}
END_TEST

START_TEST(capture_is_read_from_a_pipe)
{
    const char *path = sample_path(folder, "pipe");
    struct image image = {.count = 0};
    struct flow_frame frame;
    struct iwarp_sentence error;
    struct capture_file *capture;
    pid_t writer;

    pcap_head(&image, 1);
    pcap_frame(&image, 1, 0, FRAME, FRAME);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    writer = fork();
    if (writer == 0) {
        FILE *file = fopen(path, "wb");

        _exit(file == NULL || fwrite(image.octets, 1, image.count, file) != image.count || fclose(file) != 0);
    }
    capture = capture_open(path, &error);
    ck_assert_msg(capture != NULL, "%s", error.text);
    ck_assert(!capture_is_rereadable(capture));
    ck_assert_int_eq(read_all(capture, &frame, &error), 0);
    ck_assert_uint_eq(capture_frames(capture), 1);
    capture_close(capture);
}
END_TEST

Suite *capture_file_suite(void)
{
    Suite *suite = suite_create("capture_file");
    TCase *tests = tcase_create("captures");

    tcase_add_checked_fixture(tests, make_folder, remove_folder);
    tcase_add_test(tests, frames_as_they_are);
    tcase_add_test(tests, where_frames_lie);
    tcase_add_test(tests, pcap_cut_anywhere_keeps_whole_frames);
    tcase_add_test(tests, files_that_are_no_captures_are_refused);
    tcase_add_test(tests, unknown_link_type_is_refused);
    tcase_add_loop_test(tests, known_link_types_are_read, 0, 10);
    tcase_add_test(tests, frames_of_two_interfaces_are_read);
    tcase_add_test(tests, folder_is_searched_for_captures);
    tcase_add_test(tests, links_to_files_outside_are_followed);
    tcase_add_test(tests, capture_names_are_recognised);
    tcase_add_test(tests, capture_is_read_from_a_pipe);
    suite_add_tcase(suite, tests);
    return suite;
}
