/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DDP over SCTP: draft-stewart-rddp-sctp-02 and RFC 5043, with the enhanced session control messages of RFC 6581 7.
 * User data of DATA chunks, in two profiles that differ in nearly every number:
 *
 *     DDP Segment: PPID 1 (draft), 16 (RFC 5043)        DDP Stream Session Control: PPID 17 (RFC 5043)
 *     +---------------------+---------------------+     +---------------------+---------------------+
 *     |       DDP-SSN       |                     |     |       DDP-SSN       |    Function Code    |
 *     +---------------------+                     |     +---------------------+---------------------+
 *     /                DDP Segment                /     /      Private Data (0 to 512 octets)       /
 *     +-------------------------------------------+     +-------------------------------------------+
 *
 *     Adaptation Layer Control: PPID 2, or 1 as the draft's text has it; no DDP-SSN
 *     +-------------------------------------------+
 *     |        Function Code (32 bits) = 1        |     DDP Stream Reset: nothing follows
 *     +-------------------------------------------+
 *
 * In Enhanced Initiate and Accept the Private Data begins with the enhanced word of wire/mpa.h (RFC 6581 7).
 */
#ifndef WIRE_DDP_SCTP_H
#define WIRE_DDP_SCTP_H

#include "wire/field.h"
#include "wire/mpa.h"
#include "wire/sctp_profile.h"
#include "wire/terminate.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    DDP_SCTP_INDICATION_DDP = 1,      /* both profiles */
    DDP_SCTP_INDICATION_DDP_RDMA = 2, /* draft only */
    DDP_SCTP_PPID_DRAFT_SEGMENT = 1,  /* registered for IUA; the adaptation indication distinguishes the two */
    DDP_SCTP_PPID_DRAFT_CONTROL = 2,  /* registered for M2UA */
    DDP_SCTP_PPID_SEGMENT = 16,
    DDP_SCTP_PPID_CONTROL = 17,
    DDP_SCTP_SSN_OCTETS = 2,
    DDP_SCTP_CONTROL_OCTETS = 4,
    DDP_SCTP_DRAFT_CONTROL_OCTETS = 4,
    DDP_SCTP_PRIVATE_DATA_MAX = 512, /* RFC 5043 5.2.3; the enhanced word counts (RFC 6581 7) */
    DDP_SCTP_CONTROL_MAX = DDP_SCTP_CONTROL_OCTETS + DDP_SCTP_PRIVATE_DATA_MAX,
    DDP_SCTP_STREAM_RESET = 1, /* draft: the only Function Code */
    DDP_SCTP_FIRST_SSN = 0,    /* RFC 5043 6.1 */
    DDP_SCTP_DRAFT_FIRST_SSN = 1,
};

/* clang-format off */
/*
 * S(identifier, Function Code, name, enhanced word, Private Data, sender is the active side: 1 yes, 0 no, -1 either,
 * section)
 */
#define DDP_SCTP_SESSIONS(S) \
    S(DDP_SCTP_INITIATE,          1, "Initiate",          false, true,   1, "RFC 5043 5.2.3") \
    S(DDP_SCTP_ACCEPT,            2, "Accept",            false, true,   0, "RFC 5043 5.2.3") \
    S(DDP_SCTP_REJECT,            3, "Reject",            false, true,   0, "RFC 5043 5.2.3") \
    S(DDP_SCTP_TERMINATE,         4, "Terminate",         false, false, -1, "RFC 5043 5.2.3") \
    S(DDP_SCTP_ENHANCED_INITIATE, 5, "Enhanced Initiate", true,  true,   1, "RFC 6581 7") \
    S(DDP_SCTP_ENHANCED_ACCEPT,   6, "Enhanced Accept",   true,  true,   0, "RFC 6581 7") \
    S(DDP_SCTP_ENHANCED_REJECT,   7, "Enhanced Reject",   false, true,   0, "RFC 6581 7")

#define DDP_SCTP_SEGMENT_FIELDS(F, O, layout) \
    F(layout, SSN,  "DDP-SSN",       0,  16, WIRE_NUMBER, NULL,                   "RFC 5043 5.2.2", "number of the chunk in its stream and session, by which chunks are put in order")

#define DDP_SCTP_CONTROL_FIELDS(F, O, layout) \
    F(layout, SSN,  "DDP-SSN",       0,  16, WIRE_NUMBER, NULL,                   "RFC 5043 5.2.3", "as in DDP Segment chunks: one row of numbers for both") \
    F(layout, Code, "Function Code", 16, 16, WIRE_NUMBER, ddp_sctp_session_names, "RFC 5043 5.2.3", "the DDP Stream Session Control message")

#define DDP_SCTP_DRAFT_CONTROL_FIELDS(F, O, layout) \
    F(layout, Code, "Function Code", 0,  32, WIRE_NUMBER, ddp_sctp_draft_names,   "draft-stewart-rddp-sctp-02 2.2", "1: DDP Stream Reset")
/* clang-format on */

#define DDP_SCTP_SESSION_ENUM_(id, code, name, word, data, active, section) id = code,
enum ddp_sctp_session { DDP_SCTP_SESSIONS(DDP_SCTP_SESSION_ENUM_) };

extern const struct wire_name ddp_sctp_session_names[];
extern const struct wire_name ddp_sctp_draft_names[];
extern const struct wire_name ddp_sctp_ppid_names[];
extern const struct wire_name ddp_sctp_indication_names[];
WIRE_LAYOUT_DECLARE(ddp_sctp_segment, DDP_SCTP_SEGMENT_FIELDS);
WIRE_LAYOUT_DECLARE(ddp_sctp_control, DDP_SCTP_CONTROL_FIELDS);
WIRE_LAYOUT_DECLARE(ddp_sctp_draft_control, DDP_SCTP_DRAFT_CONTROL_FIELDS);

struct ddp_sctp_session_row {
    const char *name; /* NULL: code not assigned */
    bool has_word;    /* Private Data begins with the enhanced word */
    bool has_private; /* Private Data may follow */
    int active;       /* 1: the active side sends it, 0: the passive one, -1: either */
    const char *section;
};

/* The row of a Function Code; that of code 0 when it is not assigned. */
const struct ddp_sctp_session_row *ddp_sctp_session_row(uint32_t code);

enum ddp_sctp_kind {
    DDP_SCTP_FOREIGN, /* a PPID that is neither profile's */
    DDP_SCTP_SEGMENT,
    DDP_SCTP_CONTROL,       /* RFC 5043 */
    DDP_SCTP_DRAFT_CONTROL, /* draft */
};

/* One user message in host form; pointers are borrowed. */
struct ddp_sctp_message {
    enum ddp_sctp_kind kind;
    enum iwarp_sctp_profile profile; /* that the PPID belongs to */
    bool has_ssn;
    uint16_t ssn;
    const uint8_t *segment; /* SEGMENT: the DDP Segment */
    size_t segment_octets;
    uint32_t code; /* CONTROL, DRAFT_CONTROL */
    const struct ddp_sctp_session_row *row;
    const uint8_t *private_data; /* after the Function Code, the enhanced word included; NULL: none */
    size_t private_octets;
    bool has_word;                      /* what follows is there */
    bool peer_to_peer;                  /* A */
    bool rtr_send, rtr_write, rtr_read; /* B, C, D */
    uint16_t ird, ord;
};

/*
 * Reads the `count` octets of a user message with that PPID. WIRE_MORE: too short for its fixed part, or an enhanced
 * Initiate or Accept without room for the word (kind, profile and what could be read are filled in). The caller checks
 * the length of Private Data.
 */
wire_result ddp_sctp_parse(uint32_t ppid, const uint8_t *octets, size_t count, struct ddp_sctp_message *message);

/*
 * Writes a control message of RFC 5043: DDP-SSN, Function Code, the word when `has_word`, `private_data` (that of the
 * ULP alone). Returns its octets; 0: they exceed `room`. Private Data may exceed 512 octets, so that tests can send too
 * much.
 */
size_t ddp_sctp_pack_control(const struct ddp_sctp_message *message, uint8_t *out, size_t room);

/* Private Data of the ULP: what follows the enhanced word, or all of it. */
static inline const uint8_t *ddp_sctp_ulp_data(const struct ddp_sctp_message *message, size_t *octets)
{
    size_t word = message->has_word ? MPA_ENHANCED_OCTETS : 0;

    *octets = message->private_octets - word;
    return message->private_data == NULL ? NULL : message->private_data + word;
}

#ifdef __cplusplus
}
#endif

#endif
