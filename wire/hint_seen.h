/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Causes that are an observation: what was seen in place of what was due, and no mistake in the octets of a message. A
 * result has one where no better cause is found, and each may follow from a mistake that another result names. Checks,
 * rules and reports take names and words from here.
 */
#ifndef WIRE_HINT_SEEN_H
#define WIRE_HINT_SEEN_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * X(name, words, what): `what` is UNNOTICED where an error of the tester has no consequence, or for what is placed and
 * delivered then; SILENT where nothing comes.
 */
/* clang-format off */
#define HINTS_SEEN(X) \
    X("not-placed",            "what was sent is not in the memory",                          OTHER) \
    X("placed-undue",          "octets are placed that should not be",                        UNNOTICED) \
    X("placed-otherwise",      "memory holds other octets than it should",                    OTHER) \
    X("not-delivered",         "what was sent is not delivered",                              OTHER) \
    X("delivered-undue",       "messages are delivered that should not be",                   UNNOTICED) \
    X("delivered-otherwise",   "a message is delivered as another",                           OTHER) \
    X("not-completed",         "work is not completed with success",                          OTHER) \
    X("completed-undue",       "work is completed before it is done",                         UNNOTICED) \
    X("octets-missing",        "octets of a message are missing",                             OTHER) \
    X("octets-undue",          "a message has octets too many",                               OTHER) \
    X("octets-otherwise",      "a message has another number of octets",                      OTHER) \
    X("atomic-value",          "an atomic finds or leaves another value",                     OTHER) \
    X("error-untold",          "the ULP is not told of an error",                             UNNOTICED) \
    X("error-unnoticed",       "an error does not end the stream",                            UNNOTICED) \
    X("invalidated-in-force",  "an STag is in force after it was invalidated",                UNNOTICED) \
    X("terminate-missing",     "the device ends the stream and sends no Terminate before",    OTHER) \
    X("reset-for-fin",         "the device resets a connection that it should close",         OTHER) \
    X("start-frame-cut",       "a start-up frame begins that never is whole",                 OTHER) \
    X("start-frame-none",      "the octets are no start-up frame of MPA",                     OTHER) \
    X("silence-after-startup", "the initiator sends nothing after the start-up",              SILENT) \
    X("version-wrong",         "segments have another version of DDP or RDMAP",               OTHER) \
    X("crc-wrong",             "the CRC of FPDUs is wrong",                                   OTHER)
/* clang-format on */

enum hint_seen {
    HINT_SEEN_NOTHING, /* the name is that of a mistake */
    HINT_SEEN_OTHER,
    HINT_SEEN_UNNOTICED,
    HINT_SEEN_SILENT,
};

/*
 * Of the name of a cause: one of HINTS_SEEN; one of them and the error that it is about ("error-unnoticed-0x1100"); or
 * what came, and in place of what ("silence-for-send").
 */
enum hint_seen hint_seen_of(const char *name);

/* The words for a name of HINTS_SEEN; NULL: it is none of them. */
const char *hint_seen_words(const char *name);

#ifdef __cplusplus
}
#endif

#endif
