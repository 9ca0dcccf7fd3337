/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Causes that are a wrong field in one kind of message: "send-msn". Checks and rules use the same name, so that reports
 * show a wrong field once. The four Sends are one kind, and so are both kinds of Immediate Data. Fields with the same
 * value in all messages belong to the layer ("ddp-rsvd").
 */
#ifndef WIRE_HINT_FIELD_H
#define WIRE_HINT_FIELD_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
/* X(kind, word, words): the first part of the name, and the words for sentences. */
#define HINT_KINDS(X) \
    X(WRITE,           "write",           "RDMA Writes") \
    X(READ_REQUEST,    "read-request",    "Read Requests") \
    X(READ_RESPONSE,   "read-response",   "Read Responses") \
    X(SEND,            "send",            "Sends") \
    X(TERMINATE,       "terminate",       "Terminates") \
    X(IMMEDIATE,       "immediate",       "Immediate Data") \
    X(ATOMIC_REQUEST,  "atomic-request",  "Atomic Requests") \
    X(ATOMIC_RESPONSE, "atomic-response", "Atomic Responses") \
    X(DDP,             "ddp",             "DDP Segments") \
    X(RDMAP,           "rdmap",           "RDMAP messages") \
    X(REQUEST,         "request",         "MPA Requests") \
    X(REPLY,           "reply",           "MPA Replies") \
    X(FPDU,            "fpdu",            "FPDUs")

/* F(kind word, kind words, field, word): the fields, as wire/'s tables call them. */
#define HINT_FIELDS(F, k, w) \
    F(k, w, "T", "t") F(k, w, "L", "l") F(k, w, "Rsvd", "rsvd") F(k, w, "DV", "dv") F(k, w, "RV", "rv") F(k, w, "Rsv", "rsv") \
    F(k, w, "Opcode", "opcode") F(k, w, "QN", "qn") F(k, w, "MSN", "msn") F(k, w, "MO", "mo") F(k, w, "STag", "stag") F(k, w, "TO", "to") \
    F(k, w, "RsvdULP", "rsvdulp") F(k, w, "InvalidateSTag", "invalidatestag") F(k, w, "RequestId", "requestid") F(k, w, "Value", "value") \
    F(k, w, "AOpCode", "aopcode") F(k, w, "Data", "data") F(k, w, "Mask", "mask") F(k, w, "CompareData", "comparedata") \
    F(k, w, "CompareMask", "comparemask") F(k, w, "SinkSTag", "sinkstag") F(k, w, "SinkTO", "sinkto") F(k, w, "RDMARDSZ", "rdmardsz") \
    F(k, w, "SrcSTag", "srcstag") F(k, w, "SrcTO", "srcto") F(k, w, "S", "s") F(k, w, "M", "m") F(k, w, "C", "c") F(k, w, "R", "r") \
    F(k, w, "Rev", "rev") F(k, w, "Res", "res") F(k, w, "A", "a") F(k, w, "B", "b") F(k, w, "D", "d") F(k, w, "IRD", "ird") F(k, w, "ORD", "ord") \
    F(k, w, "Key", "key") F(k, w, "PD_Length", "pd-length") F(k, w, "private_data", "private-data") F(k, w, "ULPDU_Length", "ulpdu-length") F(k, w, "Length", "length")
/* clang-format on */

enum hint_kind_of {
#define HINT_KIND_OF(kind, word, words) HINT_OF_##kind,
    HINT_KINDS(HINT_KIND_OF)
#undef HINT_KIND_OF
        HINT_OF_COUNT
};

struct hint_field {
    const char *name; /* "send-msn" */
    const char *text; /* "MSN of Sends is another than is due" */
};

/* The kind of a message with this opcode (RFC 5040 4.1, RFC 7306 4); HINT_OF_RDMAP: not assigned. */
enum hint_kind_of hint_kind_of_opcode(unsigned opcode);

/* The kind of this word, "send"; HINT_OF_COUNT: there is none. */
enum hint_kind_of hint_kind_named(const char *word);

/*
 * The kind of message that a cause is about, by its name: "send-msn" and "send-for-segment" are both of Sends.
 * HINT_OF_COUNT: it names none. *field is what follows, "msn", of the name.
 */
enum hint_kind_of hint_kind_of_cause(const char *name, const char **field);

/* "Sends"; "" for HINT_OF_COUNT. */
const char *hint_kind_words(enum hint_kind_of kind);

/*
 * The cause for a wrong field in messages of this kind. False: the field is not in the list.
 */
bool hint_field(enum hint_kind_of kind, const char *field, struct hint_field *found);

#ifdef __cplusplus
}
#endif

#endif
