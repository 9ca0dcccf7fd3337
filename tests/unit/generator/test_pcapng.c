/* SPDX-License-Identifier: BSD-2-Clause */
/* The pcapng writer: libpcap reads the frames back, and the blocks say what libpcap does not tell. */
#define _GNU_SOURCE
#include <check.h>
#include <fcntl.h>
#include <pcap/pcap.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "generator/packet/pcapng.h"
#include "tests/unit/suites.h"

Suite *pcapng_suite(void);

#define TIME UINT64_C(1700000000123456789)

static struct pcapng *open_capture(const char *path, const char *tool, const char *comment,
                                   struct iwarp_sentence *error)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

    ck_assert_int_ge(file, 0);
    return pcapng_open_file(file, path, PCAPNG_ETHERNET, tool, comment, error);
}

static char path[64];

static void temporary_path(void)
{
    int file;

    (void)snprintf(path, sizeof(path), "/tmp/test_pcapng.XXXXXX");
    file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    (void)close(file);
}

static struct pcapng *open_writer(void)
{
    struct iwarp_sentence error = {""};
    struct pcapng *writer = open_capture(path, "warpcheck test", "a section", &error);

    ck_assert_msg(writer != NULL, "%s", error.text);
    return writer;
}

/* The whole file; the caller frees it. */
static uint8_t *slurp(size_t *count)
{
    struct stat about;
    FILE *file = fopen(path, "rb");
    uint8_t *octets;

    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fstat(fileno(file), &about), 0);
    *count = (size_t)about.st_size;
    octets = malloc(*count + 1);
    ck_assert_uint_eq(fread(octets, 1, *count, file), *count);
    (void)fclose(file);
    return octets;
}

/* Little-endian, on each machine. */
static uint32_t word(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static bool contains(const uint8_t *octets, size_t count, const char *text)
{
    return memmem(octets, count, text, strlen(text)) != NULL;
}

/* Walks all blocks, checks both lengths of each, and returns how many have that type; the last one in *found. */
static unsigned count_blocks(const uint8_t *octets, size_t count, uint32_t type, const uint8_t **found)
{
    unsigned blocks = 0;

    for (size_t at = 0; at < count;) {
        uint32_t length;

        ck_assert_uint_ge(count - at, 12);
        length = word(octets + at + 4);
        ck_assert_uint_eq(length % 4, 0);
        ck_assert_uint_le(length, count - at);
        ck_assert_uint_eq(word(octets + at + length - 4), length);
        if (word(octets + at) == type) {
            blocks++;
            *found = octets + at;
        }
        at += length;
    }
    return blocks;
}

static unsigned read_back(const uint8_t *frame, const size_t *lengths)
{
    char why[PCAP_ERRBUF_SIZE] = "";
    pcap_t *pcap = pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, why);
    struct pcap_pkthdr *header;
    const u_char *octets;
    unsigned count = 0;
    int got;

    ck_assert_msg(pcap != NULL, "%s", why);
    ck_assert_int_eq(pcap_datalink(pcap), DLT_EN10MB);
    while ((got = pcap_next_ex(pcap, &header, &octets)) == 1) {
        /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): libpcap sets the header when it returns 1 */
        ck_assert_uint_eq(header->caplen, lengths[count]);
        ck_assert_uint_eq(header->len, lengths[count]);
        ck_assert_int_eq(memcmp(octets, frame, header->caplen), 0);
        ck_assert_uint_eq((uint64_t)header->ts.tv_sec * 1000000000 + (uint64_t)header->ts.tv_usec, TIME + count);
        count++;
    }
    ck_assert_msg(got == PCAP_ERROR_BREAK, "%s", pcap_geterr(pcap));
    pcap_close(pcap);
    return count;
}

START_TEST(frames_come_back)
{
    size_t lengths[70];
    uint8_t frame[2000];
    struct pcapng *writer;

    temporary_path();
    writer = open_writer();
    for (size_t i = 0; i < sizeof(frame); i++)
        frame[i] = (uint8_t)(i * 13);
    for (unsigned i = 0; i < 70; i++) {
        lengths[i] = i < 69 ? i : sizeof(frame);
        ck_assert_int_eq(
            pcapng_write_frame(writer, TIME + i, frame, lengths[i], i % 3 == 0 ? "comment" : NULL, i % 2 == 0), 0);
    }
    ck_assert_uint_eq(pcapng_frames(writer), 70);
    ck_assert_int_eq(pcapng_close(writer, NULL), 0);
    ck_assert_uint_eq(read_back(frame, lengths), 70);
    (void)unlink(path);
}
END_TEST

START_TEST(comments_and_direction_are_there)
{
    struct pcapng *writer;
    const uint8_t *block = NULL;
    uint8_t *octets;
    size_t count;

    temporary_path();
    writer = open_writer();
    ck_assert_int_eq(pcapng_note(writer, "MPA-7.1.2-05 step 1"), 0);
    ck_assert_int_eq(pcapng_note(writer, "a second note"), 0);
    ck_assert_int_eq(pcapng_write_frame(writer, TIME, (const uint8_t *)"frame", 5,
                                        "Gr\xc3\xbc\xc3\x9f"
                                        "e",
                                        true),
                     0);
    ck_assert_int_eq(pcapng_note(writer, "verdict PASS"), 0);
    ck_assert_int_eq(pcapng_close(writer, NULL), 0);
    octets = slurp(&count);
    ck_assert(contains(octets, count, "warpcheck test"));
    ck_assert(contains(octets, count, "a section"));
    ck_assert_uint_eq(count_blocks(octets, count, 1, &block), 1);
    ck_assert_uint_eq(count_blocks(octets, count, 6, &block), 1);
    ck_assert(contains(block, word(block + 4), "MPA-7.1.2-05 step 1"));
    ck_assert(contains(block, word(block + 4), "a second note"));
    ck_assert(contains(block, word(block + 4),
                       "Gr\xc3\xbc\xc3\x9f"
                       "e"));
    /* epb_flags is the last option: code 2, length 4, inbound 1; then the end of options and the length. */
    ck_assert_int_eq(memcmp(block + word(block + 4) - 16, "\x02\x00\x04\x00\x01\x00\x00\x00\x00\x00\x00\x00", 12), 0);
    ck_assert_uint_eq(count_blocks(octets, count, 5, &block), 1);
    ck_assert(contains(block, word(block + 4), "verdict PASS"));
    free(octets);
    (void)unlink(path);
}
END_TEST

/* A comment of more than an option holds is cut, and not in the middle of a character. */
START_TEST(endless_comment_is_cut)
{
    size_t length = 200001;
    char *comment = malloc(length + 1);
    struct pcapng *writer;
    const uint8_t *block = NULL;
    uint8_t *octets;
    size_t count;

    for (size_t i = 1; i < length; i += 2)
        memcpy(comment + i, "\xc3\xbc", 2);
    comment[0] = 'x';
    comment[length] = '\0';
    temporary_path();
    writer = open_writer();
    ck_assert_int_eq(pcapng_write_frame(writer, TIME, (const uint8_t *)"frame", 5, comment, false), 0);
    ck_assert_int_eq(pcapng_close(writer, NULL), 0);
    octets = slurp(&count);
    ck_assert_uint_eq(count_blocks(octets, count, 6, &block), 1);
    ck_assert_uint_eq(block[36] | block[37] << 8, 1); /* opt_comment */
    ck_assert_uint_eq(block[38] | block[39] << 8, 65531);
    free(comment);
    free(octets);
    (void)unlink(path);
}
END_TEST

START_TEST(autoflush_keeps_a_readable_file)
{
    size_t lengths[3] = {5, 5, 5};
    struct pcapng *writer;

    temporary_path();
    writer = open_writer();
    pcapng_set_autoflush(writer, true);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_int_eq(pcapng_write_frame(writer, TIME + i, (const uint8_t *)"frame", 5, "c", false), 0);
        ck_assert_uint_eq(read_back((const uint8_t *)"frame", lengths), i + 1); /* as a killed run would leave it */
    }
    ck_assert_int_eq(pcapng_close(writer, NULL), 0);
    (void)unlink(path);
}
END_TEST

/* A file size limit stands for a full disk: one sentence, and the file ends with a whole block. */
START_TEST(full_disk_leaves_whole_blocks)
{
    struct rlimit limit = {.rlim_cur = 10001, .rlim_max = RLIM_INFINITY};
    uint8_t frame[300] = {0};
    size_t lengths[1000];
    struct iwarp_sentence error = {""};
    struct pcapng *writer;
    unsigned written = 0;

    (void)signal(SIGXFSZ, SIG_IGN);
    temporary_path();
    writer = open_writer();
    if (_i == 0)
        pcapng_set_autoflush(writer, true);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    for (unsigned i = 0; i < 1000; i++)
        lengths[i] = sizeof(frame);
    while (written < 1000 && pcapng_write_frame(writer, TIME + written, frame, sizeof(frame), NULL, false) == 0)
        written++;
    ck_assert_uint_lt(written, 1000);
    ck_assert_int_eq(pcapng_write_frame(writer, TIME, frame, sizeof(frame), NULL, false), -1);
    ck_assert_ptr_nonnull(strstr(pcapng_error(writer)->text, "cannot write"));
    ck_assert_int_eq(pcapng_close(writer, &error), -1);
    ck_assert_msg(strstr(error.text, path) != NULL, "%s", error.text);
    ck_assert_uint_gt(read_back(frame, lengths), 20);
    (void)unlink(path);
}
END_TEST

START_TEST(unwritable_file_is_named)
{
    struct iwarp_sentence error = {""};

    ck_assert_ptr_null(open_capture("/dev/full", "t", NULL, &error));
    ck_assert_msg(strstr(error.text, "/dev/full") != NULL, "%s", error.text);
}
END_TEST

Suite *pcapng_suite(void)
{
    Suite *suite = suite_create("pcapng");
    TCase *tests = tcase_create("pcapng");

    tcase_add_test(tests, frames_come_back);
    tcase_add_test(tests, comments_and_direction_are_there);
    tcase_add_test(tests, endless_comment_is_cut);
    tcase_add_test(tests, autoflush_keeps_a_readable_file);
    tcase_add_loop_test(tests, full_disk_leaves_whole_blocks, 0, 2);
    tcase_add_test(tests, unwritable_file_is_named);
    suite_add_tcase(suite, tests);
    return suite;
}
