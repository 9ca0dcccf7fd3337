/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Capture files (pcap by capture_pcap.c or libpcap, pcapng by capture_pcapng.c; compressed ones by capture_packed.c) as
 * frames for the decoder.
 */
#ifndef CONFORMANCE_ENGINE_CAPTURE_FILE_H
#define CONFORMANCE_ENGINE_CAPTURE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conformance/flow/event/flow.h"
#include "conformance/flow/event/flow_frame.h"
#include "base/sentence.h"

struct capture_file; /* opaque */

#define CAPTURE_INPUT "-" /* the path that stands for standard input */

/*
 * Opens the file at `path`. NULL with the sentence set ("PATH: what is wrong; what to do") when it cannot be read, is
 * empty, is no capture, or is of a link type that the decoder does not know. A pcapng file has a link type for each
 * interface: frames of all link types are returned.
 */
struct capture_file *capture_open(const char *path, struct iwarp_sentence *error);

/* A file without an octet, which no capture tool has written to yet. */
bool capture_is_empty(const char *path);

/*
 * The next frame; its octets are valid until the next call. 1: there is one; 0: the end; -1 with the sentence set: the
 * file breaks off or is damaged here. Frames before that stay good.
 */
int capture_next(struct capture_file *capture, struct flow_frame *frame, struct iwarp_sentence *error);

/*
 * Where the octets of the frame that was given last lie in the file: `frame` as capture_next() filled it; *offset
 * counts from the file's beginning. False if the file does not contain the octets as they were returned (a pipe, a
 * compressed file; libpcap changes some frames). The function reads the file, so it is meant for a few frames only.
 */
bool capture_place(const struct capture_file *capture, const struct flow_frame *frame, uint64_t *offset);

/* The same of frame `number` of the capture at `path`, and how many octets of it there are. False: not known. */
bool capture_place_of(const char *path, uint64_t number, uint64_t *offset, uint64_t *octets);

/*
 * Adds to the account what the file has other than frames: blocks that are not read, and the number of dropped frames
 * that it reports.
 */
void capture_account(const struct capture_file *capture, struct flow_account *account);

/* Frames given so far. */
uint64_t capture_frames(const struct capture_file *capture);

/* False for a pipe and the like, which cannot be read a second time. */
bool capture_is_rereadable(const struct capture_file *capture);

/* Closes and frees; NULL is allowed. */
void capture_close(struct capture_file *capture);

#endif
