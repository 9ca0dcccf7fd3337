/* SPDX-License-Identifier: BSD-2-Clause */
/* pcap files that are read in place give what libpcap gives: frames, times, and what is wrong with them. */
#include <check.h>
#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/capture/capture_file.h"
#include "conformance/engine/capture/capture_pcap.h"
#include "tests/unit/sample_results.h"
#include "tests/unit/suites.h"

Suite *capture_pcap_suite(void);

enum { FRAMES = 300, LONGEST = 9000, HEADER = 24, ROOM = HEADER + FRAMES * (16 + LONGEST), ODD = 200 };

/* A file, and what is odd about frame ODD of it. */
struct variant {
    uint32_t magic, snap, link;
    uint16_t minor;
    bool swapped, plain; /* `plain`: it is read in place */
    uint32_t captured;   /* said of that frame; 0: as it is */
    uint32_t seconds, fraction;
    size_t cut; /* octets that are missing at the end */
};

static const struct variant variants[] = {
    {.magic = 0xA1B2C3D4, .snap = 65535, .link = 1, .minor = 4, .plain = true},
    {.magic = 0xA1B2C3D4, .snap = 65535, .link = 1, .minor = 4, .swapped = true, .plain = true},
    {.magic = 0xA1B23C4D, .snap = 65535, .link = 1, .minor = 4, .plain = true},
    {.magic = 0xA1B23C4D, .snap = 262144, .link = 1, .minor = 4, .swapped = true, .plain = true},
    {.magic = 0xA1B2C3D4, .snap = 128, .link = 1, .minor = 4, .plain = true},
    {.magic = 0xA1B2C3D4, .snap = 0, .link = 1, .minor = 4, .plain = true},
    {.magic = 0xA1B2C3D4, .snap = UINT32_MAX, .link = 1, .minor = 4, .plain = true, .captured = 262145},
    {.magic = 0xA1B2C3D4, .snap = 0x7FFFFFFF, .link = 1, .minor = 4, .plain = true, .captured = 262145},
    {.magic = 0xA1B2C3D4, .snap = 65535, .link = 1, .minor = 4, .plain = true, .captured = 262145},
    {.magic = 0xA1B2C3D4, .snap = 65535, .link = 1, .minor = 4, .plain = true, .captured = UINT32_MAX},
    {.magic = 0xA1B2C3D4, .snap = 65535, .link = 1, .minor = 4, .plain = true, .seconds = 0x90000000},
    {.magic = 0xA1B2C3D4, .snap = 65535, .link = 1, .minor = 4, .plain = true, .fraction = UINT32_MAX},
    {.magic = 0xA1B2C3D4, .snap = 65535, .link = 1, .minor = 4, .plain = true, .cut = 1},
    {.magic = 0xA1B2C3D4, .snap = 65535, .link = 1, .minor = 4, .plain = true, .cut = LONGEST},
    {.magic = 0xA1B2C3D4, .snap = 65535, .link = 1, .minor = 4, .plain = true, .cut = LONGEST + 3},
    {.magic = 0xA1B2C3D4, .snap = 65535, .link = 1, .minor = 4, .plain = true, .cut = LONGEST + 16},
    {.magic = 0xA1B2C3D4, .snap = 65535, .link = 1, .minor = 3},
    {.magic = 0xA1B2C3D4, .snap = 65535, .link = 101, .minor = 4},
    {.magic = 0xA1B2C3D4, .snap = 65535, .link = 0x14000001, .minor = 4},
};

static uint8_t octets[ROOM];
static size_t count;
static char *folder;

static void make_folder(void)
{
    folder = sample_folder();
}

static void remove_folder(void)
{
    sample_remove(folder);
}

static void put16(const struct variant *variant, uint16_t value)
{
    value = variant->swapped ? __builtin_bswap16(value) : value;
    memcpy(octets + count, &value, sizeof(value));
    count += sizeof(value);
}

static void put32(const struct variant *variant, uint32_t value)
{
    value = variant->swapped ? __builtin_bswap32(value) : value;
    memcpy(octets + count, &value, sizeof(value));
    count += sizeof(value);
}

/* Frames of all lengths, the last one of LONGEST octets: together many blocks, and some begin in one and end in the next. */
static void write_file(const struct variant *variant, const char *path)
{
    count = 0;
    put32(variant, variant->magic);
    put16(variant, 2);
    put16(variant, variant->minor);
    put32(variant, 0);
    put32(variant, 0);
    put32(variant, variant->snap);
    put32(variant, variant->link);
    for (uint32_t i = 0; i < FRAMES; i++) {
        uint32_t length = i + 1 == FRAMES ? LONGEST : i * 7919 % LONGEST;
        bool odd = i == ODD;

        put32(variant, odd && variant->seconds != 0 ? variant->seconds : 1000 + i);
        put32(variant, odd && variant->fraction != 0 ? variant->fraction : i * 3);
        put32(variant, odd && variant->captured != 0 ? variant->captured : length);
        put32(variant, length + i % 2);
        memset(octets + count, (int)i, length);
        count += length;
    }
    sample_write(path, (const char *)octets, count - variant->cut);
}

static void same_frame(const struct flow_frame *frame, const struct pcap_pkthdr *header, const u_char *wanted)
{
    ck_assert_uint_eq(frame->time_ns, (uint64_t)header->ts.tv_sec * 1000000000 + (uint64_t)header->ts.tv_usec);
    ck_assert_uint_eq(frame->captured, header->caplen);
    ck_assert_uint_eq(frame->length, header->len);
    ck_assert_int_eq(memcmp(frame->octets, wanted, header->caplen), 0);
}

START_TEST(pcap_gives_what_libpcap_gives)
{
    const struct variant *variant = &variants[_i];
    const char *path = sample_path(folder, "variant.pcap");
    char reason[PCAP_ERRBUF_SIZE];
    struct iwarp_sentence error = {""};
    struct pcap_pkthdr *header;
    const u_char *wanted;
    struct flow_frame frame;
    struct capture_file *capture;
    pcap_t *pcap;
    uint64_t place;
    int rc;

    write_file(variant, path);
    pcap = pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, reason);
    capture = capture_open(path, &error);
    ck_assert_msg(pcap != NULL && capture != NULL, "%s", error.text);
    while ((rc = pcap_next_ex(pcap, &header, &wanted)) == 1) {
        ck_assert_msg(capture_next(capture, &frame, &error) == 1, "%s", error.text);
        same_frame(&frame, header, wanted);
        if (capture_place(capture, &frame, &place))
            ck_assert_int_eq(memcmp(octets + place, frame.octets, frame.captured), 0);
        else
            ck_assert(!variant->plain);
    }
    ck_assert_int_eq(capture_next(capture, &frame, &error), rc == PCAP_ERROR_BREAK ? 0 : -1);
    ck_assert_msg(rc == PCAP_ERROR_BREAK || strstr(error.text, pcap_geterr(pcap)) != NULL, "%s: %s", error.text,
                  pcap_geterr(pcap));
    pcap_close(pcap);
    capture_close(capture);
}
END_TEST

/* The fast way is used where it can be: otherwise the test before compares libpcap with itself. */
START_TEST(pcap_is_read_in_place)
{
    const struct variant *variant = &variants[_i];
    const char *path = sample_path(folder, "variant.pcap");
    struct capture_input *input;
    struct capture_pcap pcap;
    FILE *file;

    write_file(variant, path);
    file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    input = capture_input_new(file, true, 0);
    ck_assert_ptr_nonnull(input);
    ck_assert_int_eq(capture_pcap_open(&pcap, input), variant->plain);
    ck_assert_int_eq(ftell(file), 0);
    capture_input_free(input);
    capture_input_free(NULL);
    (void)fclose(file);
}
END_TEST

Suite *capture_pcap_suite(void)
{
    Suite *suite = suite_create("capture_pcap");
    TCase *tests = tcase_create("pcap in place");
    int last = (int)(sizeof(variants) / sizeof(variants[0]));

    tcase_add_checked_fixture(tests, make_folder, remove_folder);
    tcase_add_loop_test(tests, pcap_gives_what_libpcap_gives, 0, last);
    tcase_add_loop_test(tests, pcap_is_read_in_place, 0, last);
    suite_add_tcase(suite, tests);
    return suite;
}
