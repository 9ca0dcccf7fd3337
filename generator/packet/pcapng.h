/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A pcapng writer (draft-ietf-opsawg-pcapng): one section, one Ethernet interface with nanosecond time stamps, packet
 * comments, and the direction of each frame. Every block is written whole, so that a killed run leaves a readable file.
 */
#ifndef GENERATOR_PCAPNG_H
#define GENERATOR_PCAPNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sentence.h"

struct pcapng;

enum { PCAPNG_ETHERNET = 1 }; /* LINKTYPE of the pcap registry */

/*
 * Begins a capture in an open file. The writer then owns the file, also when this fails. `tool` and `section_comment`
 * (unless NULL) go into the section header (shb_userappl, opt_comment). `link` is a LINKTYPE of the pcap registry,
 * `name` is for messages. Returns NULL with a sentence. Closed by pcapng_close().
 */
struct pcapng *pcapng_open_file(int file, const char *name, uint16_t link, const char *tool,
                                const char *section_comment, struct iwarp_sentence *error);

/* Flush after every block (default: only at pcapng_flush() and pcapng_close()). */
void pcapng_set_autoflush(struct pcapng *writer, bool on);

/*
 * Writes one frame. time_ns: since the epoch. comment: UTF-8, or NULL; `inbound`: towards the tester. Comments left by
 * pcapng_note() are put in front. Returns 0, or -1 (see pcapng_error()); after -1 the file ends with the last whole
 * block that fitted and every later write returns -1 too.
 */
int pcapng_write_frame(struct pcapng *writer, uint64_t time_ns, const uint8_t *frame, size_t octets,
                       const char *comment, bool inbound);

/* The same for a cut frame: `octets` were captured of `wire_octets` on the wire. */
int pcapng_write_cut_frame(struct pcapng *writer, uint64_t time_ns, const uint8_t *frame, size_t octets,
                           size_t wire_octets, const char *comment, bool inbound);

/*
 * Leaves a comment (check id, step, verdict) for the next frame; several may wait. Any that still wait at
 * pcapng_close() go into an interface statistics block. Returns 0 or -1.
 */
int pcapng_note(struct pcapng *writer, const char *comment);

int pcapng_flush(struct pcapng *writer);

/* The sentence of the first failure, empty text when there was none. */
const struct iwarp_sentence *pcapng_error(const struct pcapng *writer);

/* Number of frames written. */
uint64_t pcapng_frames(const struct pcapng *writer);

/* Flushes, closes and frees. Returns 0, or -1 with the first failure in *error (which may be NULL). NULL is allowed. */
int pcapng_close(struct pcapng *writer, struct iwarp_sentence *error);

#endif
