/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/gen/gen_writer.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/engine/process/run_stop.h"
#include "generator/packet/pcapng.h"
#include "reports/file/save.h"

enum { PATH_OCTETS = 4200, OCTETS_A_LINE = 16 };

/* pcap(3): libpcap writes these in the byte order of the machine; here the same frames are the same file on each. */
enum { PCAP_MAGIC = 0xA1B2C3D4, PCAP_MAJOR = 2, PCAP_MINOR = 4, PCAP_SNAP = 262144, NS_PER_S = 1000000000 };

struct gen_writer {
    struct gen_writer_config config;
    char path[PATH_OCTETS]; /* for messages */
    struct save save;       /* what is written until it is complete */
    bool saving;            /* false: a device, or the standard output */
    struct pcapng *pcapng;
    FILE *text;
    uint64_t frames, octets;
};

static const char *const names[GEN_FORMATS + 1] = {"pcapng", "pcap", "hex", "c", "raw", NULL};

const char *gen_format_name(enum gen_format format)
{
    return names[format];
}

int gen_format_from_name(const char *name, enum gen_format *format)
{
    for (int i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], name) == 0) {
            *format = (enum gen_format)i;
            return 0;
        }
    return -1;
}

static bool is_standard_output(const struct place *to)
{
    return to->folder == AT_FDCWD && strcmp(to->name, "-") == 0;
}

/* Pipes and devices are written as they are; a file takes its name when it is complete. */
static int open_output(struct gen_writer *w, struct iwarp_sentence *error)
{
    const struct place *to = &w->config.to;
    int file;

    if (is_standard_output(to)) {
        file = dup(STDOUT_FILENO);
        return file >= 0 ? file : iwarp_sentence_set(error, "the standard output is not open: %s", strerror(errno));
    }
    if (save_in_place(to)) {
        file = open(to->name, O_WRONLY | O_CLOEXEC);
    } else {
        int begun;

        /* A second signal between the two calls would end the process and leave the file. */
        run_stop_hold();
        begun = save_begin(&w->save, to, error);
        if (begun == 0)
            run_stop_discard(w->save.part);
        run_stop_release();
        if (begun != 0)
            return -1;
        w->saving = true;
        file = fcntl(w->save.fd, F_DUPFD_CLOEXEC, 0);
    }
    return file >= 0 ? file : iwarp_sentence_set(error, "%s: cannot be written: %s", w->path, strerror(errno));
}

static int write_words(FILE *out, const uint32_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t word = htole32(words[i]);

        if (fwrite(&word, sizeof(word), 1, out) != 1)
            return -1;
    }
    return 0;
}

static int open_pcap(struct gen_writer *w, struct iwarp_sentence *error)
{
    const uint32_t words[] = {PCAP_MAGIC, PCAP_MAJOR | PCAP_MINOR << 16, 0, 0, PCAP_SNAP, w->config.link};

    if (write_words(w->text, words, sizeof(words) / sizeof(words[0])) != 0)
        return iwarp_sentence_set(error, "%s: cannot write: %s", w->path, strerror(errno));
    return 0;
}

static int open_format(struct gen_writer *w, int file, struct iwarp_sentence *error)
{
    if (w->config.format == GEN_PCAPNG) {
        w->pcapng =
            pcapng_open_file(file, w->path, w->config.link, "warpcheck " WARPCHECK_VERSION, w->config.comment, error);
        return w->pcapng != NULL ? 0 : -1;
    }
    w->text = fdopen(file, "wb");
    if (w->text == NULL) {
        (void)close(file);
        return iwarp_sentence_set(error, "%s: %s", w->path, strerror(errno));
    }
    return w->config.format == GEN_PCAP ? open_pcap(w, error) : 0;
}

struct gen_writer *gen_writer_open(const struct gen_writer_config *config, struct iwarp_sentence *error)
{
    struct gen_writer *w = calloc(1, sizeof(*w));
    int file;

    if (w == NULL) {
        (void)iwarp_sentence_set(error, "out of memory for the output");
        return NULL;
    }
    w->config = *config;
    if (snprintf(w->path, sizeof(w->path), "%s",
                 is_standard_output(&config->to) ? "standard output" : config->to.path) >= (int)sizeof(w->path)) {
        (void)iwarp_sentence_set(error, "the output's path is too long");
        free(w);
        return NULL;
    }
    file = open_output(w, error);
    if (file >= 0 && open_format(w, file, error) == 0)
        return w;
    (void)gen_writer_close(w, false, NULL);
    return NULL;
}

static int write_pcap(struct gen_writer *w, const struct gen_frame *frame, size_t kept)
{
    const uint32_t words[] = {(uint32_t)(frame->time_ns / NS_PER_S), (uint32_t)(frame->time_ns % NS_PER_S / 1000),
                              (uint32_t)kept, (uint32_t)frame->count};

    if (write_words(w->text, words, sizeof(words) / sizeof(words[0])) != 0 ||
        (kept > 0 && fwrite(frame->octets, kept, 1, w->text) != 1))
        return -1;
    return 0;
}

static void write_hex(FILE *out, const uint8_t *octets, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%02x", octets[i]);
    fputc('\n', out);
}

/* A comment may hold what ends a comment in C. */
static void write_c_comment(FILE *out, const char *text)
{
    for (char last = 0; *text != '\0'; last = *text++)
        fputc((*text == '/' && last == '*') || (*text == '*' && last == '/') || (unsigned char)*text < ' ' ? ' '
                                                                                                           : *text,
              out);
}

static void write_c(struct gen_writer *w, const struct gen_frame *frame, size_t kept)
{
    FILE *out = w->text;

    fprintf(out, "%s/* ", w->frames == 0 ? "" : "\n");
    if (frame->comment != NULL && frame->comment[0] != '\0') {
        write_c_comment(out, frame->comment);
        fputs("; ", out);
    }
    fprintf(out, "%zu octets */\nstatic const unsigned char frame_%llu[] = {", kept, (unsigned long long)w->frames + 1);
    for (size_t i = 0; i < kept; i++)
        fprintf(out, "%s0x%02x,", i % OCTETS_A_LINE == 0 ? "\n    " : " ", frame->octets[i]);
    fputs("\n};\n", out);
}

static int write_text(struct gen_writer *w, const struct gen_frame *frame, size_t kept)
{
    if (w->config.format == GEN_HEX)
        write_hex(w->text, frame->octets, kept);
    else if (w->config.format == GEN_C)
        write_c(w, frame, kept);
    else
        (void)fwrite(frame->octets, 1, kept, w->text);
    return ferror(w->text) ? -1 : 0;
}

int gen_writer_frame(struct gen_writer *w, const struct gen_frame *frame, struct iwarp_sentence *error)
{
    size_t kept = w->config.snap != 0 && w->config.snap < frame->count ? w->config.snap : frame->count;

    if (w->pcapng != NULL) {
        if (pcapng_write_cut_frame(w->pcapng, frame->time_ns, frame->octets, kept, frame->count, frame->comment,
                                   frame->inbound) != 0)
            return iwarp_sentence_set(error, "%s", pcapng_error(w->pcapng)->text);
    } else if ((w->config.format == GEN_PCAP ? write_pcap(w, frame, kept) : write_text(w, frame, kept)) != 0) {
        return iwarp_sentence_set(error, "%s: cannot write: %s", w->path, strerror(errno));
    }
    w->frames++;
    w->octets += kept;
    return 0;
}

uint64_t gen_writer_frames(const struct gen_writer *writer)
{
    return writer->frames;
}

uint64_t gen_writer_octets(const struct gen_writer *writer)
{
    return writer->octets;
}

static int close_format(struct gen_writer *w, struct iwarp_sentence *error)
{
    int status = 0;

    if (w->pcapng != NULL)
        return pcapng_close(w->pcapng, error);
    if (w->text != NULL && fclose(w->text) != 0)
        status = iwarp_sentence_set(error, "%s: cannot write: %s", w->path, strerror(errno));
    return status;
}

int gen_writer_close(struct gen_writer *w, bool keep, struct iwarp_sentence *error)
{
    int status;

    if (w == NULL)
        return 0;
    status = close_format(w, error);
    if (w->saving) {
        run_stop_discard(NULL);
        if (save_end(&w->save, status == 0 && keep, status == 0 ? error : NULL) != 0)
            status = -1;
    }
    free(w);
    return status;
}
