/* SPDX-License-Identifier: BSD-2-Clause */
/* Rings: which files belong together by their names, in which order, and what is missing. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/capture/capture_folder.h"
#include "tests/unit/sample_results.h"
#include "tests/unit/suites.h"

Suite *capture_ring_suite(void);

static char *folder;

static void make_folder(void)
{
    folder = sample_folder();
}

static void remove_folder(void)
{
    sample_remove(folder);
}

/* A pcap file with a frame of that second; 0: without a frame. */
static void save(const char *name, uint32_t second)
{
    uint32_t words[10] = {0xA1B2C3D4, 0, 0, 0, 65535, 1, second, 0, 0, 0};
    const uint16_t version[2] = {2, 4};

    memcpy(&words[1], version, sizeof(version));
    sample_write(sample_path(folder, name), (const char *)words, second == 0 ? 24 : sizeof(words));
}

/*
 * The folder's entries as "name", and "[name name]" for a ring in its order with "-N" for the number missing; by one
 * space.
 */
static const char *listed(void)
{
    static char text[512];
    struct capture_list list = {0};
    struct iwarp_sentence error = {""};
    size_t used = 0;

    ck_assert_msg(capture_list_add(&list, folder, &error) == 0 && capture_list_rings(&list, &error) == 0, "%s",
                  error.text);
    text[0] = '\0';
    for (size_t i = 0; i < list.count; i++) {
        struct capture_ring *ring = capture_list_ring(&list, i);
        const char *gap = used != 0 ? " " : "";

        if (ring == NULL) {
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", gap, strrchr(list.paths[i], '/') + 1);
            continue;
        }
        ck_assert_int_eq(capture_ring_order(ring, &error), 0);
        for (size_t k = 0; k < ring->count; k++)
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
                                     k == 0 && used == 0 ? "["
                                     : k == 0            ? " ["
                                                         : " ",
                                     strrchr(ring->files[k], '/') + 1);
        if (ring->missing != 0)
            used += (size_t)snprintf(text + used, sizeof(text) - used, " -%u@%u", (unsigned)ring->missing,
                                     (unsigned)ring->missing_first);
        used += (size_t)snprintf(text + used, sizeof(text) - used, "]");
    }
    capture_list_free(&list);
    return text;
}

struct name_case {
    const char *path;
    enum ring_kind kind;
    uint32_t number;
    uint64_t time;
};

static const struct name_case names[] = {
    {"in/dump.pcap", RING_TCPDUMP, 0, 0},
    {"in/dump.pcap12", RING_TCPDUMP, 12, 0},
    {"dump.pcap007.gz", RING_TCPDUMP, 7, 0},
    {"dump.cap3.LZ4", RING_TCPDUMP, 3, 0},
    {"dump.pcap1234567890", RING_NONE, 0, 0}, /* no number of a ring */
    {"a_00012_20260101120000.pcapng", RING_DUMPCAP, 12, UINT64_C(20260101120000)},
    {"a_20260101120000_00012.pcapng.zst", RING_DUMPCAP, 12, UINT64_C(20260101120000)},
    {"a_00012_20260101120000", RING_DUMPCAP, 12, UINT64_C(20260101120000)},
    {"a_00001_20250101120000_00012_20260101120000.pcap", RING_DUMPCAP, 12,
     UINT64_C(20260101120000)}, /* a ring of a part */
    {"a_0012_20260101120000.pcapng", RING_NONE, 0, 0},
    {"a_000012_20260101120000.pcapng1", RING_TCPDUMP, 1, 0},
    {"a_00012_2026010112000.log", RING_NONE, 0, 0},
    {"dump12.log", RING_NONE, 0, 0},
    {"dump", RING_NONE, 0, 0},
    {".gz", RING_NONE, 0, 0},
    {"", RING_NONE, 0, 0},
    {"dir_00001_20260101120000.pcap/", RING_NONE, 0, 0},
};

START_TEST(names_of_files)
{
    const struct name_case *expected = &names[_i];
    struct ring_name name;

    ring_name_read(expected->path, &name);
    if (expected->kind == RING_NONE && name.kind == RING_TCPDUMP) /* an ending alone makes no ring */
        ck_assert(!name.numbered && name.number == 0);
    else
        ck_assert_int_eq(name.kind, expected->kind);
    ck_assert_uint_eq(name.number, expected->number);
    ck_assert_uint_eq(name.time, expected->time);
    ck_assert_uint_le(name.tail + name.tail_count, strlen(expected->path));
    ck_assert_uint_le(name.stem, name.tail + name.tail_count);
}
END_TEST

/* tcpdump -C, without -W: the numbers are the order, ten after nine. */
START_TEST(ring_is_ordered_by_number)
{
    save("dump.pcap", 1);
    save("dump.pcap1", 2);
    save("dump.pcap2", 3);
    save("dump.pcap10", 4);
    save("other.pcap", 1);
    ck_assert_str_eq(listed(), "[dump.pcap dump.pcap1 dump.pcap2 dump.pcap10 -7@3] other.pcap");
}
END_TEST

/* -W: where time falls, numbers were used again. A new file without frames stays behind the newest one. */
START_TEST(numbers_used_again)
{
    save("dump.pcap00", 40);
    save("dump.pcap01", 0);
    save("dump.pcap02", 20);
    save("dump.pcap03", 30);
    ck_assert_str_eq(listed(), "[dump.pcap02 dump.pcap03 dump.pcap00 dump.pcap01]");
    ck_assert_int_eq(remove(sample_path(folder, "dump.pcap00")), 0);
    save("dump.pcap01", 50);
    ck_assert_str_eq(listed(), "[dump.pcap02 dump.pcap03 dump.pcap01 -1@0]");
    save("dump.pcap00", 40);
    save("dump.pcap", 5); /* of another run: the ring has a number 0 */
    ck_assert_str_eq(listed(), "dump.pcap [dump.pcap02 dump.pcap03 dump.pcap00 dump.pcap01]");
}
END_TEST

/* Time stamps that contradict the numbers otherwise: they decide. */
START_TEST(by_time_stamps)
{
    save("dump.pcap0", 5);
    save("dump.pcap1", 9);
    save("dump.pcap2", 2);
    save("dump.pcap3", 7);
    ck_assert_str_eq(listed(), "[dump.pcap2 dump.pcap0 dump.pcap3 dump.pcap1]");
}
END_TEST

/* dumpcap's numbers go on after 99999 with 0, and older files are gone: no gap. A number that is not there is one. */
START_TEST(dumpcap_counts_on)
{
    save("a_99998_20260101120000.pcap", 1);
    save("a_99999_20260101120001.pcap", 2);
    save("a_00000_20260101120002.pcap", 3);
    save("a_00001_20260101120003.pcap", 4);
    ck_assert_str_eq(listed(), "[a_99998_20260101120000.pcap a_99999_20260101120001.pcap a_00000_20260101120002.pcap "
                               "a_00001_20260101120003.pcap]");
    save("a_00004_20260101120003.pcap", 5);
    ck_assert_str_eq(listed(), "[a_99998_20260101120000.pcap a_99999_20260101120001.pcap a_00000_20260101120002.pcap "
                               "a_00001_20260101120003.pcap a_00004_20260101120003.pcap -2@2]");
}
END_TEST

/* Two runs under one name are two rings; other names and other endings are others. */
START_TEST(runs_of_dumpcap)
{
    save("a_00001_20260101120000.pcap", 1);
    save("a_00002_20260101120100.pcap", 2);
    save("a_00001_20260102120000.pcap", 3);
    save("a_00002_20260102120100.pcap", 4);
    save("a_00003_20260102120200.pcapng", 5);
    save("b_00003_20260102120200.pcap", 5);
    ck_assert_str_eq(listed(), "[a_00001_20260101120000.pcap a_00002_20260101120100.pcap] "
                               "[a_00001_20260102120000.pcap a_00002_20260102120100.pcap] "
                               "a_00003_20260102120200.pcapng b_00003_20260102120200.pcap");
}
END_TEST

/* What is there compressed and as it was is in the ring once, and neither is lost. */
START_TEST(one_of_each_number)
{
    save("dump.pcap", 1);
    save("dump.pcap1", 2);
    save("dump.pcap1.gz", 2);
    ck_assert_str_eq(listed(), "[dump.pcap dump.pcap1] dump.pcap1.gz");
}
END_TEST

START_TEST(ring_describes_its_files_and_gap)
{
    struct capture_list list = {0};
    struct iwarp_sentence error = {""}, text, gap;
    char path[600];

    save("dump.pcap1", 2);
    save("dump.pcap3", 3);
    ck_assert_int_eq(capture_list_add(&list, sample_path(folder, "dump.pcap1"), &error), 0);
    ck_assert_int_eq(capture_list_add(&list, sample_path(folder, "dump.pcap3"), &error), 0);
    ck_assert_int_eq(capture_list_rings(&list, &error), 0);
    ck_assert_uint_eq(list.count, 1);
    ck_assert_int_eq(capture_ring_order(capture_list_ring(&list, 0), &error), 0);
    capture_ring_describe(capture_list_ring(&list, 0), &text, &gap);
    (void)snprintf(path, sizeof(path), "%s/dump.pcap1 to dump.pcap3: a ring of 2 files, read as one capture", folder);
    ck_assert_str_eq(text.text, path);
    (void)snprintf(path, sizeof(path), "%s/dump.pcap1: the file with the number 2 is missing in this ring", folder);
    ck_assert_str_eq(gap.text, path);
    capture_list_free(&list);
}
END_TEST

/* Entries of all kinds are removed; the others keep their ring. */
START_TEST(remaining_entries_keep_their_ring)
{
    static const bool keep[] = {false, true, false, true};
    struct capture_list list = {0};
    struct iwarp_sentence error = {""};

    save("a.pcap", 1);
    save("b.pcap", 1);
    save("b.pcap1", 2);
    save("c.pcap", 1);
    save("c.pcap1", 2);
    save("d.pcap", 2);
    ck_assert_int_eq(capture_list_add(&list, folder, &error), 0);
    ck_assert_int_eq(capture_list_rings(&list, &error), 0);
    ck_assert_uint_eq(list.count, 4);
    capture_list_keep(&list, keep);
    ck_assert_uint_eq(list.count, 2);
    ck_assert_ptr_nonnull(capture_list_ring(&list, 0));
    ck_assert_uint_eq(capture_list_ring(&list, 0)->count, 2);
    ck_assert_ptr_null(capture_list_ring(&list, 1));
    ck_assert_str_eq(strrchr(list.paths[1], '/') + 1, "d.pcap");
    capture_list_free(&list);
}
END_TEST

Suite *capture_ring_suite(void)
{
    Suite *suite = suite_create("capture_ring");
    TCase *tests = tcase_create("rings");

    tcase_add_checked_fixture(tests, make_folder, remove_folder);
    tcase_add_loop_test(tests, names_of_files, 0, sizeof(names) / sizeof(names[0]));
    tcase_add_test(tests, ring_is_ordered_by_number);
    tcase_add_test(tests, numbers_used_again);
    tcase_add_test(tests, by_time_stamps);
    tcase_add_test(tests, dumpcap_counts_on);
    tcase_add_test(tests, runs_of_dumpcap);
    tcase_add_test(tests, one_of_each_number);
    tcase_add_test(tests, ring_describes_its_files_and_gap);
    tcase_add_test(tests, remaining_entries_keep_their_ring);
    suite_add_tcase(suite, tests);
    return suite;
}
