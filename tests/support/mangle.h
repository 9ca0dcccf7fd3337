/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Captures in memory, and what taps, network cards, disks and the people who use them do to captures: each kind of
 * mangling is something that happens to lawful traffic on its way into a file. What was sent stays lawful, so whatever
 * judges a mangled copy must not find a fault that the original does not have.
 *
 *     struct mangle_capture *healthy = mangle_load("pcaps/linux-siw/siw-rping.pcap", &error);
 *     struct mangle_capture *copy = mangle(healthy, seed, mangle_draw(seed));
 *     mangle_feed(copy, decoder);
 *
 * The same capture, seed and kinds give the same copy to the octet. It needs nothing but the library: unit tests, fuzz
 * targets and tools use it alike. Memory that is short ends the program.
 */
#ifndef TESTS_SUPPORT_MANGLE_H
#define TESTS_SUPPORT_MANGLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conformance/flow/decoder.h"
#include "base/sentence.h"

struct mangle_frame {
    uint32_t link; /* LINKTYPE number */
    uint64_t time_ns;
    const uint8_t *octets; /* the capture's */
    size_t captured, length;
};

struct mangle_capture {
    struct mangle_frame *frames;
    size_t count, room;
    struct mangle_block *blocks; /* of octets */
};

struct mangle_capture *mangle_capture_new(void);
void mangle_capture_free(struct mangle_capture *capture); /* NULL is allowed */

/* Appends a frame with a copy of the octets. */
void mangle_add(struct mangle_capture *capture, uint32_t link, uint64_t time_ns, const uint8_t *octets, size_t captured,
                size_t length);

/* Reads a capture file; NULL with the sentence set when that cannot be done to its end. */
struct mangle_capture *mangle_load(const char *path, struct iwarp_sentence *error);

/*
 * Gives all frames to the decoder, numbered from 1, each in memory of its own size (a sanitizer sees one octet too
 * many), and ends the capture.
 */
void mangle_feed(const struct mangle_capture *capture, struct flow_decoder *decoder);

/* Writes it as a pcap file, to look at what a seed did. False: that cannot be done. Frames are of one link type. */
bool mangle_save(const struct mangle_capture *capture, const char *path);

/* K(identifier, name, harmless, what happens). Harmless: a fault of the traffic stays as visible as it was. */
/* clang-format off */
#define MANGLE_KINDS(K) \
    K(LOSS,      "loss",       false, "frames are not captured, here and there") \
    K(BURST,     "burst",      false, "the disk was too slow: a run of frames is missing") \
    K(DUPLICATE, "duplicate",  true,  "a mirror port gives frames twice") \
    K(SWAP,      "swap",       false, "neighbours in the wrong order") \
    K(SWAP_SAME, "swap-same",  true,  "the same, within one direction") \
    K(LATE,      "late",       false, "a frame is written long after those that followed it") \
    K(SKEW,      "skew",       false, "two taps whose clocks differ by up to 50 ms, merged by time") \
    K(GRO,       "gro",        true,  "segments with one acknowledgment number are put together (receive offload)") \
    K(LRO,       "lro",        false, "the same of any segments, with the last acknowledgment number") \
    K(SPLIT,     "split",      true,  "segments are cut into several (segmentation offload after the tap)") \
    K(RESENT,    "resent",     true,  "TCP sends segments again, with the acknowledgment number of that time") \
    K(LOST_ONCE, "lost-once",  false, "the first copy was lost before the tap: the second one alone is captured") \
    K(START,     "late-start", false, "the capture was begun too late") \
    K(END,       "early-end",  false, "it was ended too early") \
    K(ONE_WAY,   "one-way",    false, "one direction is not captured, from some frame on") \
    K(SNAP,      "snap",       false, "frames are cut to a snap length")
/* clang-format on */

enum mangle_kind_index {
#define MANGLE_INDEX_(id, name, harmless, what) MANGLE_INDEX_##id,
    MANGLE_KINDS(MANGLE_INDEX_)
#undef MANGLE_INDEX_
        MANGLE_KIND_COUNT
};

enum mangle_kind {
#define MANGLE_BIT_(id, name, harmless, what) MANGLE_##id = 1 << MANGLE_INDEX_##id,
    MANGLE_KINDS(MANGLE_BIT_)
#undef MANGLE_BIT_
};

/* All kinds that are harmless. */
extern const unsigned mangle_harmless;

/* One to four kinds out of `among`, as the seed decides. */
unsigned mangle_draw(uint64_t seed, unsigned among);

/* A copy with all that was done to it, in the table's order. */
struct mangle_capture *mangle(const struct mangle_capture *capture, uint64_t seed, unsigned kinds);

/* "loss,skew" into `text`, which is returned. */
const char *mangle_names(unsigned kinds, char *text, size_t room);

#endif
