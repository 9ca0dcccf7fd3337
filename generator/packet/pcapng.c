/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pcapng blocks: type, total length, body, options, total length again; options are code, length, value, padded to 32
 * bits (draft-ietf-opsawg-pcapng sections 3 and 4). The byte order is little-endian on every machine, so that the same
 * frames are the same file.
 */
#include "generator/packet/pcapng.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BLOCK_SECTION = 0x0a0d0d0a,
    BLOCK_INTERFACE = 1,
    BLOCK_STATISTICS = 5,
    BLOCK_PACKET = 6,
    BYTE_ORDER_MAGIC = 0x1a2b3c4d,
    OPTION_END = 0,
    OPTION_COMMENT = 1,
    OPTION_SECTION_APPLICATION = 4,
    OPTION_INTERFACE_RESOLUTION = 9,
    OPTION_PACKET_FLAGS = 2,
    DIRECTION_INBOUND = 1,
    DIRECTION_OUTBOUND = 2,
    COMMENT_CAPACITY = 65532,
    WRITE_AT = 256 * 1024 /* octets of whole blocks that are kept back at most */
};

struct note {
    struct note *next;
    char text[];
};

struct pcapng {
    int file;
    char *path;
    uint8_t *pending; /* whole blocks that wait to be written, then the block being put together */
    size_t whole;     /* octets of whole blocks */
    size_t length;    /* the same with the unfinished block */
    size_t capacity;
    bool memory_out;
    bool failed;
    bool autoflush;
    off_t written; /* octets of the file, always whole blocks */
    uint64_t frames;
    struct note *first_note;
    struct note *last_note;
    struct iwarp_sentence error;
};

static int fail(struct pcapng *writer, const char *doing, int number)
{
    if (!writer->failed)
        iwarp_sentence_set(&writer->error, "%s: cannot %s: %s", writer->path, doing, strerror(number));
    writer->failed = true;
    return -1;
}

static void append_octets(struct pcapng *w, const void *octets, size_t count)
{
    if (w->length + count > w->capacity) {
        size_t capacity = (w->length + count) * 2;
        uint8_t *pending = realloc(w->pending, capacity);

        if (pending == NULL) {
            w->memory_out = true;
            return;
        }
        w->pending = pending;
        w->capacity = capacity;
    }
    if (count > 0)
        memcpy(w->pending + w->length, octets, count);
    w->length += count;
}

static void put16(struct pcapng *w, uint16_t value)
{
    value = htole16(value);
    append_octets(w, &value, sizeof(value));
}

static void put32(struct pcapng *w, uint32_t value)
{
    value = htole32(value);
    append_octets(w, &value, sizeof(value));
}

static void write_padded(struct pcapng *w, const void *octets, size_t count)
{
    static const uint8_t zeros[4];

    append_octets(w, octets, count);
    append_octets(w, zeros, (4 - count % 4) % 4);
}

static void write_option(struct pcapng *w, uint16_t code, const void *value, size_t octets)
{
    put16(w, code);
    put16(w, (uint16_t)octets);
    write_padded(w, value, octets);
}

static void write_comment(struct pcapng *w, const char *text)
{
    size_t octets = strlen(text);

    if (octets > COMMENT_CAPACITY) {
        octets = COMMENT_CAPACITY;
        while (octets > 0 && ((uint8_t)text[octets] & 0xc0) == 0x80)
            octets--; /* not in the middle of a UTF-8 character */
    }
    write_option(w, OPTION_COMMENT, text, octets);
}

static void write_notes(struct pcapng *w)
{
    for (struct note *note = w->first_note; note != NULL; note = note->next)
        write_comment(w, note->text);
}

static void drop_notes(struct pcapng *w)
{
    while (w->first_note != NULL) {
        struct note *note = w->first_note;

        w->first_note = note->next;
        free(note);
    }
    w->last_note = NULL;
}

static void begin_block(struct pcapng *w, uint32_t type)
{
    w->length = w->whole;
    put32(w, type);
    put32(w, 0); /* total length: known at the end */
}

/* Octets of the whole blocks among the first `octets` of what is pending. */
static size_t whole_blocks(const struct pcapng *w, size_t octets)
{
    size_t at = 0;

    for (;;) {
        uint32_t total;

        if (octets - at < 8)
            return at;
        memcpy(&total, w->pending + at + 4, sizeof(total));
        total = le32toh(total);
        if (total > octets - at)
            return at;
        at += total;
    }
}

/*
 * Writes what is pending. Where only a part fits (a full disk), the file is cut back to whole blocks: readers stop with
 * an error at a block that breaks off.
 */
static int write_pending(struct pcapng *w)
{
    size_t done = 0;

    if (w->failed)
        return -1;
    while (done < w->whole) {
        ssize_t wrote = write(w->file, w->pending + done, w->whole - done);

        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0) {
            int number = wrote < 0 ? errno : ENOSPC;

            w->written += (off_t)whole_blocks(w, done);
            if (ftruncate(w->file, w->written) != 0)
                return fail(w, "write (and the last packet is cut short)", number);
            return fail(w, "write", number);
        }
        done += (size_t)wrote;
    }
    w->written += (off_t)w->whole;
    w->whole = w->length = 0;
    return 0;
}

static int end_block(struct pcapng *w)
{
    uint32_t total = (uint32_t)(w->length - w->whole) + 4;

    put32(w, total);
    if (w->memory_out)
        return fail(w, "put a block together", ENOMEM);
    total = htole32(total);
    memcpy(w->pending + w->whole + 4, &total, sizeof(total));
    w->whole = w->length;
    return w->autoflush || w->whole >= WRITE_AT ? write_pending(w) : 0;
}

static int write_section(struct pcapng *w, const char *tool, const char *comment)
{
    uint64_t unknown_length = UINT64_MAX;

    begin_block(w, BLOCK_SECTION);
    put32(w, BYTE_ORDER_MAGIC);
    put16(w, 1); /* version 1.0 */
    put16(w, 0);
    append_octets(w, &unknown_length, sizeof(unknown_length));
    if (comment != NULL)
        write_comment(w, comment);
    write_option(w, OPTION_SECTION_APPLICATION, tool, strlen(tool));
    put32(w, OPTION_END);
    return end_block(w);
}

static int write_interface(struct pcapng *w, uint16_t link)
{
    uint8_t nanoseconds = 9;

    begin_block(w, BLOCK_INTERFACE);
    put16(w, link);
    put16(w, 0);
    put32(w, 0); /* no snap length */
    write_option(w, OPTION_INTERFACE_RESOLUTION, &nanoseconds, 1);
    put32(w, OPTION_END);
    return end_block(w);
}

struct pcapng *pcapng_open_file(int file, const char *name, uint16_t link, const char *tool,
                                const char *section_comment, struct iwarp_sentence *error)
{
    struct pcapng *w = calloc(1, sizeof(*w));

    if (w == NULL || (w->path = strdup(name)) == NULL) {
        iwarp_sentence_set(error, "%s: out of memory", name);
        free(w);
        (void)close(file);
        return NULL;
    }
    w->file = file;
    if (write_section(w, tool, section_comment) != 0 || write_interface(w, link) != 0 || write_pending(w) != 0) {
        (void)pcapng_close(w, error);
        return NULL;
    }
    return w;
}

void pcapng_set_autoflush(struct pcapng *writer, bool on)
{
    writer->autoflush = on;
}

int pcapng_write_frame(struct pcapng *writer, uint64_t time_ns, const uint8_t *frame, size_t octets,
                       const char *comment, bool inbound)
{
    return pcapng_write_cut_frame(writer, time_ns, frame, octets, octets, comment, inbound);
}

int pcapng_write_cut_frame(struct pcapng *writer, uint64_t time_ns, const uint8_t *frame, size_t octets,
                           size_t wire_octets, const char *comment, bool inbound)
{
    uint32_t flags = htole32(inbound ? DIRECTION_INBOUND : DIRECTION_OUTBOUND);

    if (writer->failed)
        return -1;
    if (wire_octets > UINT32_MAX / 2 || octets > wire_octets)
        return fail(writer, "write a frame of 2 GiB or more", EMSGSIZE);
    begin_block(writer, BLOCK_PACKET);
    put32(writer, 0); /* the interface */
    put32(writer, (uint32_t)(time_ns >> 32));
    put32(writer, (uint32_t)time_ns);
    put32(writer, (uint32_t)octets);
    put32(writer, (uint32_t)wire_octets);
    write_padded(writer, frame, octets);
    write_notes(writer);
    if (comment != NULL)
        write_comment(writer, comment);
    write_option(writer, OPTION_PACKET_FLAGS, &flags, sizeof(flags));
    put32(writer, OPTION_END);
    if (end_block(writer) != 0)
        return -1;
    drop_notes(writer);
    writer->frames++;
    return 0;
}

int pcapng_note(struct pcapng *writer, const char *comment)
{
    size_t octets = strlen(comment) + 1;
    struct note *note;

    if (writer->failed)
        return -1;
    note = malloc(sizeof(*note) + octets);
    if (note == NULL)
        return fail(writer, "keep a comment", ENOMEM);
    note->next = NULL;
    memcpy(note->text, comment, octets);
    if (writer->last_note != NULL)
        writer->last_note->next = note;
    else
        writer->first_note = note;
    writer->last_note = note;
    return 0;
}

int pcapng_flush(struct pcapng *writer)
{
    return write_pending(writer);
}

const struct iwarp_sentence *pcapng_error(const struct pcapng *writer)
{
    return &writer->error;
}

uint64_t pcapng_frames(const struct pcapng *writer)
{
    return writer->frames;
}

/* Comments that no frame came for. */
static int write_statistics(struct pcapng *w)
{
    begin_block(w, BLOCK_STATISTICS);
    put32(w, 0); /* the interface */
    put32(w, 0); /* no time */
    put32(w, 0);
    write_notes(w);
    put32(w, OPTION_END);
    return end_block(w);
}

int pcapng_close(struct pcapng *writer, struct iwarp_sentence *error)
{
    int result;

    if (writer == NULL)
        return 0;
    if (!writer->failed && writer->first_note != NULL)
        (void)write_statistics(writer);
    (void)write_pending(writer);
    if (close(writer->file) != 0)
        (void)fail(writer, "close", errno);
    result = writer->failed ? -1 : 0;
    if (writer->failed)
        iwarp_sentence_set(error, "%s", writer->error.text);
    drop_notes(writer);
    free(writer->pending);
    free(writer->path);
    free(writer);
    return result;
}
