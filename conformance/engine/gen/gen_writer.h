/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where `warpcheck gen` writes frames: a capture (pcapng with comments, pcap), or the octets alone (hexadecimal digits,
 * C arrays, as they are). A file appears under its name when it is complete, not before.
 */
#ifndef CONFORMANCE_ENGINE_GEN_WRITER_H
#define CONFORMANCE_ENGINE_GEN_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reports/file/place.h"
#include "base/sentence.h"

enum gen_format { GEN_PCAPNG, GEN_PCAP, GEN_HEX, GEN_C, GEN_RAW, GEN_FORMATS };

/* "pcapng" and so on; NULL after the last. */
const char *gen_format_name(enum gen_format format);
/* 0, or -1 when no format is called so. */
int gen_format_from_name(const char *name, enum gen_format *format);

struct gen_writer;

struct gen_writer_config {
    struct place to; /* the path "-": the standard output */
    enum gen_format format;
    uint16_t link;       /* LINKTYPE */
    uint32_t snap;       /* octets of a frame that are kept; 0: all */
    const char *comment; /* of the whole capture, or NULL (pcapng) */
};

struct gen_frame {
    uint64_t time_ns; /* since the epoch */
    const uint8_t *octets;
    size_t count;
    const char *comment; /* or NULL */
    bool inbound;        /* from the responder (pcapng: packet flags) */
};

/* NULL with a sentence. */
struct gen_writer *gen_writer_open(const struct gen_writer_config *config, struct iwarp_sentence *error);

/* 0, or -1 with a sentence. */
int gen_writer_frame(struct gen_writer *writer, const struct gen_frame *frame, struct iwarp_sentence *error);

uint64_t gen_writer_frames(const struct gen_writer *writer);
uint64_t gen_writer_octets(const struct gen_writer *writer);

/* Without `keep`, a file of its own is removed. Frees. 0, or -1 with a sentence. NULL is allowed. */
int gen_writer_close(struct gen_writer *writer, bool keep, struct iwarp_sentence *error);

#endif
