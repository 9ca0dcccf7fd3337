/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Another reading of octets that the text's reading does not fit: the mistake of a sender that gives exactly these
 * octets. A hint names a cause, and no verdict: checks, rules and whatever else shows octets draw it from here. Nothing
 * is allocated, and a reading is named only when a check sum, a length or two equal numbers confirm it.
 */
#ifndef WIRE_HINT_H
#define WIRE_HINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/fpdu.h"
#include "base/sentence.h"

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
/* X(kind, name): the name is what results.jsonl and reports call the cause, and does not change. */
#define HINTS(X) \
    X(NONE,             "none") \
    X(CRC_MISSING,      "fpdu-without-crc")     /* the FPDU ends where its CRC field should be; `seen` octets follow */ \
    X(CRC_ORDER,        "crc-octets-reversed") \
    X(CRC_ZERO,         "crc-not-computed") \
    X(CRC_INVERTED,     "crc-not-complemented") \
    X(PAD,              "pad-length")           /* `seen` pad octets in place of `due` */ \
    X(LENGTH,           "ulpdu-length")         /* an FPDU of `due` octets, ULPDU_Length means one of `seen` */ \
    X(LENGTH_HEADER,    "ulpdu-length-without-header") /* the same: it leaves out the DDP header */ \
    X(LENGTH_ORDER,     "ulpdu-length-reversed") \
    X(MARKERS_MISSING,  "markers-missing")      /* the octets are an FPDU without Markers */ \
    X(MARKERS_UNASKED,  "markers-unasked")      /* the octets are an FPDU with Markers */ \
    X(FPDU_SHORT,       "fpdu-too-short")       /* the next FPDU begins `seen` octets before this one's end */ \
    X(FPDU_LONG,        "fpdu-too-long")        /* the next FPDU begins `seen` octets after this one's end */ \
    X(FIELD_ORDER,      "field-octets-reversed") /* the number has its octets in the other order */ \
    X(TERMINATE_BITS,   "terminate-bits")       /* M, D, R: `seen` is sent, `due` fits the octets */ \
    X(CRC_PAD,          "crc-without-pad")      /* the CRC leaves out the pad */ \
    X(CRC_LENGTH,       "crc-without-length")   /* the CRC leaves out ULPDU_Length */ \
    X(CRC_MARKERS,      "crc-without-markers")  /* the CRC leaves out Markers; no function here tries that */ \
    X(CRC_OTHER,        "crc-wrong")            /* no reading fits the CRC; of rules and checks */ \
    X(MARKER,           "marker-wrong")         /* a Marker is not what it should be; of rules and checks */ \
    X(VERSION,          "version-wrong")        /* of DDP or RDMAP; of rules */ \
    X(MARKER_GRID,      "marker-grid-elsewhere") /* Markers stand at other positions; of rules */ \
    X(MARKER_ORDER,     "marker-pointer-reversed") /* FPDUPTR has its octets in reverse order; of rules */ \
    X(CRC_PLACE,        "crc-before-pad")       /* the CRC stands before the pad; of rules */ \
    X(GARBAGE,          "no-fpdu")              /* octets that are no FPDU by any reading; of rules */ \
    X(MSN_SHARED,       "msn-shared")           /* one MSN counter serves all queues; of rules */ \
    X(READ_ORDER,       "read-request-reversed") /* a Read Request's fields have their octets reversed; of rules */
/* clang-format on */

enum hint_kind {
#define HINT_KIND(kind, name) HINT_##kind,
    HINTS(HINT_KIND)
#undef HINT_KIND
        HINT_COUNT
};

struct hint {
    enum hint_kind kind;
    size_t seen, due;
};

enum { TERMINATE_BIT_M = 4, TERMINATE_BIT_D = 2, TERMINATE_BIT_R = 1 };

/*
 * `count` octets from where an FPDU begins, which either is incomplete (nothing follows) or has a wrong CRC or Marker;
 * framing as for fpdu_parse(). True, and *hint set, when another reading fits. False with HINT_NONE when the octets are
 * a good FPDU, or nothing fits. RFC 5044 4.1 to 4.4.
 */
bool hint_fpdu(const uint8_t *octets, size_t count, const struct fpdu_framing *framing, struct hint *hint);

enum { HINT_BEFORE = 4 };

/*
 * Where an FPDU without Markers should begin: `before` is what stands before, the CRC field of the one before, and
 * `octets` what follows. True when no FPDU begins there, but 4 octets before (there is no CRC field), or 1 to 3 octets
 * before, or 1 to 7 after (its pad has another length). Needs no CRC: for streams that use none (RFC 5044 4.4). Headers
 * tell it, so that fewer than 4 octets tell nothing.
 */
bool hint_boundary(const uint8_t before[HINT_BEFORE], const uint8_t *octets, size_t count, struct hint *hint);

/*
 * A number of a field that has `octets` octets (2, 4, 8): true when `actual` is `expected` with its octets in reverse
 * order, and another number.
 */
bool hint_number(uint64_t expected, uint64_t actual, unsigned octets, struct hint *hint);

/*
 * What follows the control word of a Terminate, and the bits M, D, R (TERMINATE_BIT_*) of that word: true when they
 * want another number of octets, and exactly one other set of bits that a sender may use wants these (RFC 5040 4.8).
 */
bool hint_terminate(const uint8_t *data, size_t count, unsigned bits, struct hint *hint);

/* "pad-length"; "?" for a number outside the enum. */
const char *hint_name(enum hint_kind kind);

/* What is wrong then, without numbers: "the pad of FPDUs has another length". "" for HINT_NONE. */
const char *hint_gist(enum hint_kind kind);

/* "the octets fit an FPDU with 0 pad octets in place of 2"; into *text, which is returned. */
const char *hint_say(const struct hint *hint, struct sentence *text);

#ifdef __cplusplus
}
#endif

#endif
