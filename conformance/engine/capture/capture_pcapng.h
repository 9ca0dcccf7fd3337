/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading pcapng (draft-ietf-opsawg-pcapng). libpcap refuses files whose interfaces differ, skips blocks without a
 * report, and ignores the number of dropped frames in the file. This reader gives each frame the link type and clock of
 * its interface, and counts all other blocks.
 */
#ifndef CONFORMANCE_ENGINE_CAPTURE_PCAPNG_H
#define CONFORMANCE_ENGINE_CAPTURE_PCAPNG_H

#include <stdint.h>
#include <stdio.h>

#include "conformance/engine/capture/capture_input.h"
#include "conformance/flow/event/flow.h"
#include "conformance/flow/event/flow_frame.h"
#include "base/sentence.h"

enum { PCAPNG_MAGIC_OCTETS = 4 };

struct capture_pcapng; /* opaque */

/*
 * Reads the section header. `input` stands after the first PCAPNG_MAGIC_OCTETS octets, which are a Section Header
 * Block's type; it stays the caller's. `path` is for sentences and copied. NULL with the sentence set.
 */
struct capture_pcapng *capture_pcapng_open(struct capture_input *input, const char *path, struct iwarp_sentence *error);

/*
 * The next frame, its octets valid until the next call; `link` is FLOW_LINK_NONE when no interface is described with
 * its number. 1: there is one; 0: the end; -1 with the sentence set: the file breaks off or is damaged here.
 */
int capture_pcapng_next(struct capture_pcapng *pcapng, struct flow_frame *frame, struct iwarp_sentence *error);

/* Where the octets of the last frame lie, from the file's beginning. */
uint64_t capture_pcapng_place(const struct capture_pcapng *pcapng);

/* Adds what was counted so far: blocks of types that are not read, and frames that the capture says it has dropped. */
void capture_pcapng_account(const struct capture_pcapng *pcapng, struct flow_account *account);

/* Frees; NULL is allowed. */
void capture_pcapng_close(struct capture_pcapng *pcapng);

#endif
