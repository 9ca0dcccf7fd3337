/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the probable mistake of a sender whose octets do not fit the RFC: the mistake that produces exactly these
 * octets. A hint names a cause and is not a verdict. Checks, rules and all displays of octets use these functions.
 * Nothing is allocated. A cause is named only if a checksum, a length or two equal numbers confirm it.
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
    X(READ_ORDER,       "read-request-reversed") /* a Read Request's fields have their octets reversed; of rules */ \
    X(TERMINATE_ORDER,  "terminate-layer-etype-exchanged") /* Layer and EType stand in each other's place; of rules and checks */ \
    X(GOES_ON,          "goes-on-after-error")  /* messages, or nothing, where an error ends the stream; of rules and checks */ \
    X(ULPDU_REPEATED,   "ulpdu-repeated")       /* a ULPDU's second half is its first once more; of checks */ \
    X(READ_EMPTY,       "empty-read-unanswered") /* a Read of no octets has no Response; of rules and checks */
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
 * `octets` begins with an FPDU that is incomplete (nothing follows) or has a wrong CRC or Marker; framing as for
 * fpdu_parse(). Returns true and sets *hint if another reading fits. Returns false with HINT_NONE if the octets are a
 * good FPDU, or no reading fits. RFC 5044 4.1 to 4.4.
 */
bool hint_fpdu(const uint8_t *octets, size_t count, const struct fpdu_framing *framing, struct hint *hint);

enum { HINT_BEFORE = 4 };

/*
 * Looks at the place where an FPDU without Markers should begin: `before` is the preceding CRC field, `octets` is what
 * follows. True if no FPDU begins there, but one begins 4 octets before (the CRC field is missing), or 1 to 3 octets
 * before or 1 to 7 after (the pad has another length). It uses headers and no CRC, so it works on streams without CRCs
 * (RFC 5044 4.4). It needs at least 4 octets.
 */
bool hint_boundary(const uint8_t before[HINT_BEFORE], const uint8_t *octets, size_t count, struct hint *hint);

/*
 * For a field of `octets` octets (2, 4, 8): true if `actual` is `expected` with its octets in reverse order, and the
 * two differ.
 */
bool hint_number(uint64_t expected, uint64_t actual, unsigned octets, struct hint *hint);

/*
 * Compares the bits M, D, R (TERMINATE_BIT_*) of a Terminate with the octets after its control word. True if the bits
 * require another number of octets, and exactly one other permitted set of bits fits (RFC 5040 4.8).
 */
bool hint_terminate(const uint8_t *data, size_t count, unsigned bits, struct hint *hint);

/* "pad-length"; "?" for a number outside the enum. */
const char *hint_name(enum hint_kind kind);

/* What the name of a cause says of the stream of FPDUs. */
enum hint_framing {
    HINT_NO_FRAMING,    /* nothing: the mistake is within a ULPDU, or it is none of HINTS */
    HINT_FRAMING_WRONG, /* FPDUs are not what they should be, and nothing shows why */
    HINT_FRAMING_READ,  /* another reading of them shows the mistake */
};

/* Of a name of HINTS, or any other; NULL is HINT_NO_FRAMING. */
enum hint_framing hint_framing_of(const char *name);

/* The mistake in words, without numbers: "the pad of FPDUs has another length". "" for HINT_NONE. */
const char *hint_gist(enum hint_kind kind);

/* "the octets fit an FPDU with 0 pad octets in place of 2"; into *text, which is returned. */
const char *hint_say(const struct hint *hint, struct iwarp_sentence *text);

#ifdef __cplusplus
}
#endif

#endif
