/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* fopencookie */
#include "conformance/engine/capture/capture_packed.h"

#include <errno.h>
#include <lz4frame.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/octets.h"
#include "base/out_of_memory.h"

enum { INPUT_OCTETS = 1 << 16, GZIP_WINDOW = 15 + 16 };

/* What one call of a library did. */
struct step {
    const uint8_t *in;
    size_t in_count;
    uint8_t *out;
    size_t room;
    size_t consumed, produced;
    bool ended; /* a member or frame is whole; another may follow */
};

struct format {
    const char *name;
    uint8_t magic[CAPTURE_PACKED_MAGIC_OCTETS];
    size_t magic_octets;
    void *(*begin)(void);
    const char *(*work)(void *decoder, struct step *step); /* NULL, or what is wrong */
    void (*end)(void *decoder);
};

struct capture_packed {
    const struct format *format;
    void *decoder;
    FILE *file;
    uint8_t input[INPUT_OCTETS];
    size_t at, count;
    bool input_ended, open; /* `open`: within a member or frame */
    uint64_t consumed, produced;
    struct iwarp_sentence error;
};

/* ---- the libraries ----------------------------------------------------------------------------------------------- */

static const char memory_short[] = "out of memory";

static void *gzip_begin(void)
{
    z_stream *stream = calloc(1, sizeof(*stream));

    if (stream != NULL && inflateInit2(stream, GZIP_WINDOW) != Z_OK) {
        free(stream);
        return NULL;
    }
    return stream;
}

static const char *gzip_work(void *decoder, struct step *step)
{
    z_stream *stream = decoder;
    int rc;

    stream->next_in = (Bytef *)step->in;
    stream->avail_in = (uInt)step->in_count;
    stream->next_out = step->out;
    stream->avail_out = (uInt)step->room;
    rc = inflate(stream, Z_NO_FLUSH);
    step->consumed = step->in_count - stream->avail_in;
    step->produced = step->room - stream->avail_out;
    step->ended = rc == Z_STREAM_END;
    if (step->ended)
        return inflateReset(stream) == Z_OK ? NULL : memory_short;
    if (rc == Z_MEM_ERROR)
        return memory_short;
    return rc == Z_OK || rc == Z_BUF_ERROR ? NULL : stream->msg != NULL ? stream->msg : "damaged";
}

static void gzip_end(void *decoder)
{
    (void)inflateEnd(decoder);
    free(decoder);
}

static void *zstd_begin(void)
{
    return ZSTD_createDStream();
}

static const char *zstd_work(void *decoder, struct step *step)
{
    ZSTD_inBuffer in = {step->in, step->in_count, 0};
    ZSTD_outBuffer out = {step->out, step->room, 0};
    size_t rc = ZSTD_decompressStream(decoder, &out, &in);

    step->consumed = in.pos;
    step->produced = out.pos;
    step->ended = rc == 0;
    return ZSTD_isError(rc) ? ZSTD_getErrorName(rc) : NULL;
}

static void zstd_end(void *decoder)
{
    (void)ZSTD_freeDStream(decoder);
}

static void *lz4_begin(void)
{
    LZ4F_dctx *context = NULL;

    return LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)) ? NULL : context;
}

static const char *lz4_work(void *decoder, struct step *step)
{
    size_t rc;

    step->consumed = step->in_count;
    step->produced = step->room;
    rc = LZ4F_decompress(decoder, step->out, &step->produced, step->in, &step->consumed, NULL);
    if (LZ4F_isError(rc)) {
        step->consumed = step->produced = 0;
        return LZ4F_getErrorName(rc);
    }
    step->ended = rc == 0;
    return NULL;
}

static void lz4_end(void *decoder)
{
    (void)LZ4F_freeDecompressionContext(decoder);
}

enum { FORMAT_GZIP, FORMAT_ZSTD, FORMAT_LZ4 };

static const struct format formats[] = {
    [FORMAT_GZIP] = {"gzip", {0x1F, 0x8B}, 2, gzip_begin, gzip_work, gzip_end},
    [FORMAT_ZSTD] = {"zstd", {0x28, 0xB5, 0x2F, 0xFD}, 4, zstd_begin, zstd_work, zstd_end},
    [FORMAT_LZ4] = {"lz4", {0x04, 0x22, 0x4D, 0x18}, 4, lz4_begin, lz4_work, lz4_end},
};

/* Frames that a reader steps over, the same of zstd and of lz4: pzstd begins with one. */
static bool is_skippable(const uint8_t *octets, size_t count)
{
    return count >= 4 && (octets[0] & 0xF0) == 0x50 && octets[1] == 0x2A && octets[2] == 0x4D && octets[3] == 0x18;
}

static const struct format *format_of(const uint8_t *octets, size_t count)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (count >= formats[i].magic_octets && memcmp(octets, formats[i].magic, formats[i].magic_octets) == 0)
            return &formats[i];
    return NULL;
}

const char *capture_packed_name(const uint8_t *octets, size_t count)
{
    const struct format *format = format_of(octets, count);

    return format != NULL ? format->name : is_skippable(octets, count) ? "zstd" : NULL;
}

/* ---- the stream -------------------------------------------------------------------------------------------------- */

/* -1, with what reading says of it. */
static ssize_t spoiled(struct capture_packed *packed, const char *what)
{
    if (what == memory_short)
        out_of_memory_note();
    (void)iwarp_sentence_set(&packed->error, "%s: %s", packed->format->name, what);
    errno = EIO;
    return -1;
}

/* More of the compressed octets, when all that were read are used. 0, or -1. */
static int refill(struct capture_packed *packed)
{
    if (packed->at < packed->count || packed->input_ended)
        return 0;
    packed->at = 0;
    packed->count = fread(packed->input, 1, sizeof(packed->input), packed->file);
    packed->input_ended = packed->count == 0;
    if (packed->count == 0 && ferror(packed->file))
        return (int)spoiled(packed, strerror(errno));
    return 0;
}

static bool beyond_limits(const struct capture_packed *packed)
{
    return packed->produced > CAPTURE_PACKED_FREE_OCTETS &&
           packed->produced / CAPTURE_PACKED_RATIO_MAX > packed->consumed;
}

/* One call of the library. The octets that came out, which may be none; -1: an error. */
static ssize_t work(struct capture_packed *packed, uint8_t *out, size_t room)
{
    struct step step = {
        .in = packed->input + packed->at, .in_count = packed->count - packed->at, .out = out, .room = room};
    const char *wrong = packed->format->work(packed->decoder, &step);

    packed->at += step.consumed;
    packed->consumed += step.consumed;
    packed->produced += step.produced;
    if (wrong != NULL)
        return spoiled(packed, wrong);
    packed->open = !step.ended;
    if (beyond_limits(packed))
        return spoiled(packed, "it grows to more than 2000 times its size, and is not read further");
    if (step.consumed == 0 && step.produced == 0)
        return packed->input_ended ? spoiled(packed, "the compressed data ends too early: the file was cut")
                                   : spoiled(packed, "damaged");
    return (ssize_t)step.produced;
}

static ssize_t read_octets(void *cookie, char *out, size_t room)
{
    struct capture_packed *packed = cookie;
    ssize_t count = 0;

    if (packed->error.text[0] != '\0')
        return -1;
    while (count == 0) {
        if (refill(packed) != 0)
            return -1;
        if (packed->input_ended && !packed->open)
            return 0;
        count = work(packed, (uint8_t *)out, room);
    }
    return count;
}

static int close_octets(void *cookie)
{
    struct capture_packed *packed = cookie;
    int rc = fclose(packed->file);

    packed->format->end(packed->decoder);
    packed->file = NULL;
    return rc;
}

/* The first octets, which stay to be read: -1 when they cannot be put back. */
static int peek(FILE *file, uint8_t *octets, size_t *count)
{
    size_t have = *count = fread(octets, 1, CAPTURE_PACKED_MAGIC_OCTETS, file);

    while (have > 0)
        if (ungetc(octets[--have], file) == EOF)
            return -1;
    return 0;
}

/* Steps over a skippable frame: its magic, its length (low octet first), so many octets. False: the file ends in it. */
static bool skip_frame(FILE *file)
{
    uint8_t octets[4096];
    uint64_t left;

    if (fread(octets, 1, 8, file) != 8)
        return false;
    left = (uint64_t)octets_get32_little(octets + 4);
    while (left > 0) {
        size_t part = left < sizeof(octets) ? (size_t)left : sizeof(octets);

        if (fread(octets, 1, part, file) != part)
            return false;
        left -= part;
    }
    return true;
}

/*
 * The format of what the file stands at, behind frames that are stepped over. NULL: none; *cut: the file ends in such a
 * frame.
 */
static const struct format *format_at(FILE *file, bool *cut)
{
    uint8_t octets[CAPTURE_PACKED_MAGIC_OCTETS];
    const struct format *format;
    bool skipped = false;
    size_t count = 0;

    *cut = false;
    while (!*cut && peek(file, octets, &count) == 0 && is_skippable(octets, count)) {
        skipped = true;
        *cut = !skip_frame(file);
    }
    format = *cut ? NULL : format_of(octets, count);
    return format != NULL || !skipped ? format : &formats[FORMAT_ZSTD];
}

FILE *capture_packed_open(FILE *file, struct capture_packed **packed, struct iwarp_sentence *error)
{
    static const cookie_io_functions_t functions = {.read = read_octets, .close = close_octets};
    const struct format *format;
    FILE *unpacked = NULL;
    bool cut;

    *packed = NULL;
    format = format_at(file, &cut);
    if (format == NULL)
        return file;
    *packed = calloc(1, sizeof(**packed));
    if (*packed != NULL && ((*packed)->decoder = format->begin()) != NULL)
        unpacked = fopencookie(*packed, "rb", functions);
    if (unpacked != NULL) {
        (*packed)->format = format;
        (*packed)->file = file;
        (*packed)->open = cut;
        return unpacked;
    }
    if (*packed != NULL && (*packed)->decoder != NULL)
        format->end((*packed)->decoder);
    free(*packed);
    *packed = NULL;
    (void)fclose(file);
    out_of_memory_note();
    (void)iwarp_sentence_set(error, "out of memory");
    return NULL;
}

const char *capture_packed_error(const struct capture_packed *packed)
{
    return packed == NULL ? "" : packed->error.text;
}

void capture_packed_free(struct capture_packed *packed)
{
    free(packed);
}
