/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compressed streams: what was compressed comes out, cut and damaged ones end with a sentence, and bombs are refused.
 */
#include <check.h>
#include <lz4frame.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "conformance/engine/capture/capture_packed.h"
#include "tests/unit/suites.h"

Suite *capture_packed_suite(void);

enum { PLAIN = 200000, ROOM = 400000, FORMATS = 3 };

static uint8_t plain[PLAIN], packed_octets[ROOM], out[ROOM];

/* Octets that compress, but not to nothing. */
static void fill_plain(void)
{
    uint32_t state = 1;

    for (size_t i = 0; i < PLAIN; i++) {
        state = state * 1664525 + 1013904223;
        plain[i] = (uint8_t)(state >> 28);
    }
}

static size_t pack_gzip(uint8_t *to, const uint8_t *from, size_t count)
{
    z_stream stream = {.next_in = (Bytef *)from, .avail_in = (uInt)count, .next_out = to, .avail_out = ROOM};

    ck_assert_int_eq(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    ck_assert_int_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
    ck_assert_int_eq(deflateEnd(&stream), Z_OK);
    return stream.total_out;
}

static size_t pack(int format, uint8_t *to, const uint8_t *from, size_t count)
{
    size_t octets;

    if (format == 0)
        return pack_gzip(to, from, count);
    octets = format == 1 ? ZSTD_compress(to, ROOM, from, count, 3) : LZ4F_compressFrame(to, ROOM, from, count, NULL);
    ck_assert(format == 1 ? !ZSTD_isError(octets) : !LZ4F_isError(octets));
    return octets;
}

/* Reads what the octets hold; its count, and the sentence of an error. */
static size_t unpack(const uint8_t *octets, size_t count, char text[256])
{
    struct capture_packed *packed;
    struct iwarp_sentence error = {""};
    FILE *file = fmemopen((void *)octets, count, "rb");
    size_t have;

    ck_assert_ptr_nonnull(file);
    file = capture_packed_open(file, &packed, &error);
    ck_assert_msg(file != NULL, "%s", error.text);
    have = fread(out, 1, ROOM, file);
    (void)snprintf(text, 256, "%s", capture_packed_error(packed));
    ck_assert_int_eq(ferror(file) != 0, text[0] != '\0');
    ck_assert_int_eq(fclose(file), 0);
    capture_packed_free(packed);
    return have;
}

/* Loop: the formats. */
START_TEST(what_was_packed_comes_out)
{
    static const char *const names[FORMATS] = {"gzip", "zstd", "lz4"};
    char text[256];
    size_t count;

    fill_plain();
    count = pack(_i, packed_octets, plain, PLAIN);
    ck_assert_str_eq(capture_packed_name(packed_octets, count), names[_i]);
    ck_assert_uint_eq(unpack(packed_octets, count, text), PLAIN);
    ck_assert_str_eq(text, "");
    ck_assert_mem_eq(out, plain, PLAIN);
    /* Two, one after the other, as a tool that appends leaves them. */
    count = pack(_i, packed_octets, plain, 1000);
    count += pack(_i, packed_octets + count, plain + 1000, 500);
    ck_assert_uint_eq(unpack(packed_octets, count, text), 1500);
    ck_assert_str_eq(text, "");
    ck_assert_mem_eq(out, plain, 1500);
}
END_TEST

/* Cut anywhere, it gives no octet that was not there, and says that it is cut. */
START_TEST(cut_ones_say_so)
{
    char text[256];
    size_t count, have;

    fill_plain();
    count = pack(_i, packed_octets, plain, 3000);
    for (size_t cut = 4; cut < count; cut += 7) {
        have = unpack(packed_octets, cut, text);
        ck_assert_msg(strstr(text, "the compressed data ends too early") != NULL, "cut after %zu of %zu octets: '%s'",
                      cut, count, text);
        ck_assert_uint_le(have, 3000);
        ck_assert_mem_eq(out, plain, have);
    }
}
END_TEST

/*
 * Octets that change anywhere, and octets after the end: never more than a sentence; what follows the end is not taken
 * for nothing.
 */
START_TEST(damaged_ones_say_so)
{
    char text[256];
    size_t count;

    fill_plain();
    count = pack(_i, packed_octets, plain, 3000);
    for (size_t at = 4; at < count; at += 11) {
        packed_octets[at] ^= 0x55;
        (void)unpack(packed_octets, count, text);
        packed_octets[at] ^= 0x55;
    }
    memset(packed_octets + count, 0x20, 64);
    ck_assert_uint_eq(unpack(packed_octets, count + 64, text), 3000);
    ck_assert_msg(text[0] != '\0', "octets after the end are overlooked");
}
END_TEST

START_TEST(others_are_left_alone)
{
    static const uint8_t others[] = {0xA1, 0xB2, 0xC3, 0xD4, 5};
    char text[256];

    ck_assert_ptr_null(capture_packed_name(others, sizeof(others)));
    ck_assert_uint_eq(unpack(others, sizeof(others), text), sizeof(others));
    ck_assert_mem_eq(out, others, sizeof(others));
    ck_assert_uint_eq(unpack(others, 1, text), 1);
}
END_TEST

/* Zeros, 192 MiB of them in some kilobytes. */
START_TEST(bombs_are_refused)
{
    enum { PIECE = 1 << 20, PIECES = 192 };
    uint8_t *zeros = calloc(1, PIECE);
    ZSTD_CStream *stream = ZSTD_createCStream();
    ZSTD_outBuffer to = {packed_octets, ROOM, 0};
    struct capture_packed *packed;
    struct iwarp_sentence error = {""};
    uint64_t have = 0;
    FILE *file;

    ck_assert(zeros != NULL && stream != NULL && !ZSTD_isError(ZSTD_initCStream(stream, 19)));
    for (int i = 0; i < PIECES; i++) {
        ZSTD_inBuffer from = {zeros, PIECE, 0};

        while (from.pos < from.size)
            ck_assert(!ZSTD_isError(ZSTD_compressStream(stream, &to, &from)));
    }
    ck_assert_uint_eq(ZSTD_endStream(stream, &to), 0);
    file = fmemopen(packed_octets, to.pos, "rb");
    ck_assert_ptr_nonnull(file);
    file = capture_packed_open(file, &packed, &error);
    ck_assert_ptr_nonnull(file);
    for (size_t count = 1; count != 0; have += count)
        count = fread(zeros, 1, PIECE, file);
    ck_assert_str_eq(capture_packed_error(packed),
                     "zstd: it grows to more than 2000 times its size, and is not read further");
    ck_assert_uint_lt(have, (uint64_t)PIECES * PIECE);
    (void)fclose(file);
    capture_packed_free(packed);
    (void)ZSTD_freeCStream(stream);
    free(zeros);
}
END_TEST

Suite *capture_packed_suite(void)
{
    Suite *suite = suite_create("capture_packed");
    TCase *tests = tcase_create("packed");

    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, what_was_packed_comes_out, 0, FORMATS);
    tcase_add_loop_test(tests, cut_ones_say_so, 0, FORMATS);
    tcase_add_loop_test(tests, damaged_ones_say_so, 0, FORMATS);
    tcase_add_test(tests, others_are_left_alone);
    tcase_add_test(tests, bombs_are_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
