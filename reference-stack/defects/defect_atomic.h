/* SPDX-License-Identifier: BSD-2-Clause */
/* Deliberate faults of Atomic Operations and Immediate Data: part of the list in defect_internal.h. */
#ifndef REFERENCE_STACK_DEFECT_ATOMIC_H
#define REFERENCE_STACK_DEFECT_ATOMIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/atomic.h"

struct defect_set;

/* clang-format off */
#define DEFECT_BEHAVIOURS_ATOMIC(B) \
    /* What an atomic does */ \
    B(ATOMIC_AT_BASE,              "atomic-at-base",              "the target is the region's first 8 octets, whatever TO says") \
    B(ATOMIC_WIDE,                 "atomic-wide",                 "the 8 octets after the target become zero") \
    B(ATOMIC_CARRY_GOES_ON,        "atomic-carry-goes-on",        "FetchAdd: a carry out of bit 63 goes into the octet after the target") \
    B(ATOMIC_MASK_IGNORED,         "atomic-mask-ignored",         "FetchAdd: one field of 64 bits, whatever the mask says") \
    B(ATOMIC_MASK_LOW_BIT,         "atomic-mask-low-bit",         "FetchAdd: a mask bit is the lowest bit of a field") \
    B(ATOMIC_MASK_TOP_NOTHING,     "atomic-mask-top-nothing",     "FetchAdd: with a mask of the top bit alone nothing is added") \
    B(ATOMIC_CS_MASK_ZERO_ALL,     "atomic-swap-mask-zero-all",   "CmpSwap: a Swap Mask of 0 swaps all bits") \
    B(ATOMIC_MASK_ZERO_NOTHING,    "atomic-mask-zero-nothing",    "FetchAdd: with mask 0 nothing is added") \
    B(ATOMIC_SATURATES,            "atomic-saturates",            "FetchAdd stops at 2^64 - 1") \
    B(ATOMIC_ADD_ZERO_CLEARS,      "atomic-add-zero-clears",      "FetchAdd of 0 writes an old copy of the target: 0") \
    B(ATOMIC_ADD_COMPARES,         "atomic-add-compares",         "FetchAdd and Swap look at Compare Data") \
    B(ATOMIC_SWAP_NOT_DONE,        "atomic-swap-not-done",        "Swap answers and changes nothing") \
    B(ATOMIC_SWAP_MASKED,          "atomic-swap-masked",          "Swap obeys the mask") \
    B(ATOMIC_COMPARE_UNMASKED,     "atomic-compare-unmasked",     "CmpSwap: Compare Data is not masked") \
    B(ATOMIC_CS_MASK_IGNORED,      "atomic-swap-mask-ignored",    "CmpSwap replaces all bits") \
    B(ATOMIC_CS_CLEARS,            "atomic-swap-clears",          "CmpSwap clears the bits that it does not replace") \
    B(ATOMIC_CS_MISMATCH_FAILS,    "atomic-mismatch-fails",       "CmpSwap: a mismatch is an error") \
    B(ATOMIC_RETURNS_NEW,          "atomic-returns-new",          "the response has the target's new value") \
    B(ATOMIC_RETURNS_SWAP,         "atomic-returns-swap",         "CmpSwap: the response has the Swap Data on a match") \
    B(ATOMIC_VALUE_HOST_ORDER,     "atomic-value-host-order",     "the response's value has its least significant octet first") \
    B(ATOMIC_SNAPSHOT,             "atomic-snapshot",             "the target is read when the request comes, and written when the response goes") \
    B(ATOMIC_REVOKED_TAKEN,        "atomic-revoked-taken",        "an atomic that waits is executed although its STag was given up meanwhile") \
    B(ATOMIC_BEFORE_CHECK,         "atomic-before-check",         "an atomic is executed before its alignment is checked") \
    /* What an Atomic Request is taken for */ \
    B(ATOMIC_TO_32_BITS,           "atomic-to-32-bits",           "TO is cut to 32 bits") \
    B(ATOMIC_OPCODE_2_BITS,        "atomic-opcode-2-bits",        "AOpCode is cut to 2 bits") \
    B(ATOMIC_OPCODE_3_SWAPS,       "atomic-opcode-3-swaps",       "AOpCode 3 is a CmpSwap") \
    B(ATOMIC_RESERVED_READ,        "atomic-reserved-read",        "the 28 reserved bits are part of the AOpCode") \
    B(ATOMIC_ID_UNIQUE,            "atomic-id-unique",            "of two waiting requests with one identifier the second is an error") \
    B(ATOMIC_COMPARE_MASK_HALF,    "atomic-compare-mask-half",    "CmpSwap: the upper half of the Compare Mask is dropped") \
    B(ATOMIC_COMPARE_MASK_CHECKED, "atomic-compare-mask-checked", "FetchAdd and Swap with Compare Mask 0 are errors") \
    B(ATOMIC_ALIGN_TO,             "atomic-align-to",             "TO has to be aligned, and not the address") \
    B(ATOMIC_ALIGN_4,              "atomic-align-4",              "addresses that are multiples of 4 are taken for aligned") \
    B(ATOMIC_ADD_REFUSED,          "atomic-add-refused",          "FetchAdd is not supported") \
    B(ATOMIC_CS_REFUSED,           "atomic-compare-refused",      "CmpSwap is not supported") \
    B(ATOMIC_NEEDS_RECEIVE,        "atomic-needs-receive",        "an Atomic Request waits for a posted receive") \
    B(ATOMIC_TAKES_RECEIVE,        "atomic-takes-receive",        "an Atomic Request is delivered to a posted receive") \
    B(WRITE_PLACED_LATE,           "write-placed-late",           "the last octets of a Write are placed when the next Write comes") \
    B(ATOMIC_VALUE_LOST,           "atomic-value-lost",           "an own atomic completes without the value of its response") \
    B(ATOMIC_DONE_WHEN_SENT,       "atomic-done-when-sent",       "an own atomic completes when its request is sent") \
    B(ATOMIC_TO_ROUNDED,           "atomic-to-rounded",           "the TO of an own atomic is rounded down to a multiple of 8") \
    B(COMPLETIONS_AT_ONCE,         "completions-at-once",         "work completes when it is done, before what was posted earlier") \
    B(TERMINATE_UNTOLD,            "terminate-untold",            "the ULP is not told of a Terminate that came") \
    B(IMMEDIATE_SOLICITED,         "immediate-solicited-exchanged", "opcode 8 raises the Solicited Event, and opcode 9 none") \
    B(IMMEDIATE_DONE_UNTOLD,       "immediate-done-untold",       "own Immediate Data completes without a word") \
    B(ERROR_UNTOLD,                "error-untold",                "the ULP is not told of the error that a Terminate reports") \
    B(IMMEDIATE_HALVES,            "immediate-halves-exchanged",  "the two halves of Immediate Data that came are exchanged") \
    B(RV_OLD_OPCODES,              "rv-old-opcodes",              "RV is checked for opcodes below 8 only") \
    /* Responses and requests sent */ \
    B(ATOMIC_ZERO_UNANSWERED,      "atomic-zero-unanswered",      "a request whose target holds 0 is forgotten") \
    B(ATOMIC_ID_0_REPLACED,        "atomic-id-0-replaced",        "identifier 0 is answered by 1") \
    B(ATOMIC_RESPONSE_PADDED,      "atomic-response-padded",      "20 octets of zero follow the Atomic Response Header") \
    B(ATOMIC_RESPONSE_GAP,         "atomic-response-gap",         "4 octets of zero stand before the response's value") \
    B(ATOMICS_UNCOUNTED,           "atomics-uncounted",           "own atomics are not held against ORD") \
    B(MIXED_HALF,                  "mixed-half",                  "where Reads and atomics wait together, half of IRD is served") \
    B(ATOMICS_LAST_FIRST,          "atomics-last-first",          "of several waiting atomics the last posted goes first") \
    B(ATOMIC_RESPONSE_ONE_BUFFER,  "atomic-response-one-buffer",  "there is no buffer for the second Atomic Response") \
    B(TERMINATE_ATOMIC_HEADER,     "terminate-atomic-header",     "Terminates quote 28 octets of the Atomic Request Header") \
    /* Immediate Data */ \
    B(IMMEDIATE_LONG,              "immediate-long",              "4 octets of zero follow Immediate Data") \
    B(IMMEDIATE_WORD_BEFORE,       "immediate-word-before",       "a reserved word stands before Immediate Data") \
    B(IMMEDIATE_SHORT,             "immediate-short",             "only the first 4 octets of Immediate Data are sent") \
    B(IMMEDIATE_FIRST,             "immediate-first",             "Immediate Data goes out before work posted earlier") \
    B(IMMEDIATE_UNBUFFERED,        "immediate-unbuffered",        "Immediate Data leaves the receive posted") \
    B(IMMEDIATE_LONG_TAKEN,        "immediate-long-taken",        "Immediate Data of more than 8 octets is taken") \
    B(IMMEDIATE_PARTIAL,           "immediate-partial",           "each segment of Immediate Data is delivered as a message") \
    B(IMMEDIATE_HELD,              "immediate-held",              "Immediate Data waits for a Write before it")
/* clang-format on */

/*
 * The response as packed, ATOMIC_RESPONSE_OCTETS at `header`, as it is to go out: at most 32 octets. Returns its
 * length.
 */
size_t defect_atomic_response(const struct defect_set *set, uint8_t *header);

/* Immediate Data as it will be sent: at most 12 octets at `body`. Returns its length. */
size_t defect_immediate(const struct defect_set *set, const uint8_t *data, uint8_t *body);

#endif
