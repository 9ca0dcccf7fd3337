/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All rules: R(file, requirement, function, events, opcodes, sender, worst verdict).
 *
 * `opcodes` restricts FLOW_RDMAP events. A rule is a C function of that name in conformance/rules/<file>_rules.c; every
 * one has a case in tests/unit/test_rules_*.c that kills it. WARN for requirements of level SHOULD.
 */
#ifndef CONFORMANCE_RULES_RULE_LIST_H
#define CONFORMANCE_RULES_RULE_LIST_H

#include "conformance/flow/event/flow.h"

#define ON_START     (1u << FLOW_MPA_START)
#define ON_FPDU      (1u << FLOW_ULPDU)
#define ON_DDP       (1u << FLOW_DDP)
#define ON_RDMAP     (1u << FLOW_RDMAP)
#define ON_CLOSE     (1u << FLOW_TCP_CLOSE)
#define ON_UNDECODED (1u << FLOW_UNDECODED)
#define ON_END       (1u << FLOW_END)
#define ON_GAP       (1u << FLOW_GAP)
#define ON_SCTP      (1u << FLOW_SCTP)
#define ON_SESSION   (1u << FLOW_SESSION)
#define ON_CM        (1u << FLOW_CM)

#define OP(opcode)    (1u << IWARP_RDMAP_##opcode)
#define OP_ANY        0xFFFFu
#define OP_SENDS      (OP(SEND) | OP(SEND_INVALIDATE) | OP(SEND_SE) | OP(SEND_SE_INVALIDATE))
#define OP_ACCESSES   (OP(WRITE) | OP(READ_REQUEST)) /* to memory of the other side */
#define OP_IMMEDIATES (OP(IMMEDIATE) | OP(IMMEDIATE_SE))
#define OP_EXTENSIONS (OP_IMMEDIATES | OP(ATOMIC_REQUEST) | OP(ATOMIC_RESPONSE))
#define OP_NO_INVALID (OP(SEND) | OP(SEND_SE) | OP(READ_REQUEST) | OP(TERMINATE))

/* clang-format off */
#define RULE_LIST_MPA(R) \
    R(mpa_startup,  "MPA-7.1.1-01",  request_key,                   ON_START,             OP_ANY, ANY,       FAIL) \
    R(mpa_startup,  "MPA-7.1.1-04",  reply_key,                     ON_START,             OP_ANY, ANY,       FAIL) \
    R(mpa_startup,  "MPA-7.1.1-16",  request_not_rejected,          ON_START,             OP_ANY, ANY,       FAIL) \
    R(mpa_startup,  "MPA-7.1.1-19",  start_reserved,                ON_START,             OP_ANY, ANY,       FAIL) \
    R(mpa_startup,  "MPA-7.1.1-21",  start_revision_plain,          ON_START,             OP_ANY, ANY,       FAIL) \
    R(mpa_startup,  "MPA-7.1.1-26",  private_data_length,           ON_START,             OP_ANY, ANY,       FAIL) \
    R(mpa_startup,  "MPA-7.1.1-32",  private_data_limit,            ON_START,             OP_ANY, ANY,       FAIL) \
    R(mpa_startup,  "MPA-7.1.2-01",  initiator_sends_request,       ON_FPDU,              OP_ANY, ANY,       FAIL) \
    R(mpa_startup,  "MPA-7.1.2-07",  responder_leaves_after_rejection, ON_START | ON_FPDU, OP_ANY, RESPONDER, FAIL) \
    R(mpa_startup,  "MPA-7.1.2-15",  initiator_leaves_after_rejection, ON_FPDU,           OP_ANY, INITIATOR, FAIL) \
    R(mpa_startup,  "MPA-7.1.2-03",  reply_after_request,           ON_START,             OP_ANY, RESPONDER, FAIL) \
    R(mpa_startup,  "MPA-7.1.2-04",  bad_request_refused,           ON_START,             OP_ANY, RESPONDER, FAIL) \
    R(mpa_startup,  "MPA-7.1.2-12",  initiator_waits_for_reply,     ON_START | ON_FPDU,   OP_ANY, INITIATOR, FAIL) \
    R(mpa_startup,  "MPA-7.1.2-17",  responder_waits_for_fpdu,      ON_FPDU,              OP_ANY, RESPONDER, FAIL) \
    R(mpa_startup,  "MPA-7.1.2-18",  responder_marker_waits,        ON_FPDU,              OP_ANY, RESPONDER, FAIL) \
    R(mpa_enhanced, "EMPA-6-03",     start_reserved_enhanced,       ON_START,             OP_ANY, ANY,       FAIL) \
    R(mpa_enhanced, "EMPA-6-06",     enhanced_request_revision,     ON_START,             OP_ANY, ANY,       FAIL) \
    R(mpa_enhanced, "EMPA-6-07",     enhanced_reply_revision,       ON_START,             OP_ANY, ANY,       FAIL) \
    R(mpa_enhanced, "EMPA-6-11",     enhanced_word_present,         ON_START,             OP_ANY, ANY,       FAIL) \
    R(mpa_enhanced, "EMPA-6-12",     wordless_request_refused,      ON_START,             OP_ANY, RESPONDER, FAIL) \
    R(mpa_enhanced, "EMPA-6-15",     plain_reply_revision,          ON_START,             OP_ANY, RESPONDER, FAIL) \
    R(mpa_enhanced, "EMPA-9.1-04",   reply_ird_suffices,            ON_START,             OP_ANY, RESPONDER, WARN) \
    R(mpa_enhanced, "EMPA-9.1-12",   reply_ord_at_most,             ON_START,             OP_ANY, RESPONDER, FAIL) \
    R(mpa_enhanced, "EMPA-9.1-26",   reply_ird_not_negotiated,      ON_START,             OP_ANY, RESPONDER, FAIL) \
    R(mpa_enhanced, "EMPA-9.1-29",   reply_ord_not_negotiated,      ON_START,             OP_ANY, RESPONDER, FAIL) \
    R(mpa_enhanced, "EMPA-9.1-31",   reply_refuses_negotiation,     ON_START,             OP_ANY, RESPONDER, WARN) \
    R(mpa_enhanced, "EMPA-9.2-11",   request_offers_kinds,          ON_START,             OP_ANY, INITIATOR, FAIL) \
    R(mpa_enhanced, "EMPA-9.2-12",   reply_selects_kinds,           ON_START,             OP_ANY, RESPONDER, FAIL) \
    R(mpa_enhanced, "EMPA-9.2-13",   reply_echoes_peer_to_peer,     ON_START,             OP_ANY, RESPONDER, FAIL) \
    R(mpa_enhanced, "EMPA-9.2-26",   reply_echoes_client_server,    ON_START,             OP_ANY, RESPONDER, FAIL) \
    R(mpa_enhanced, "EMPA-9.2-27",   request_without_kinds,         ON_START,             OP_ANY, INITIATOR, FAIL) \
    R(mpa_enhanced, "EMPA-9.2-28",   reply_without_kinds,           ON_START,             OP_ANY, RESPONDER, FAIL) \
    R(mpa_enhanced, "EMPA-10-01",    enhanced_request_answered,     ON_START,             OP_ANY, RESPONDER, FAIL) \
    R(mpa_enhanced, "EMPA-10-02",    plain_request_answered,        ON_START,             OP_ANY, RESPONDER, FAIL) \
    R(rtr,          "EMPA-5-02",     rtr_comes_first,               ON_RDMAP,             OP_ANY, INITIATOR, FAIL) \
    R(rtr,          "EMPA-9.2-02",   rtr_send_form,                 ON_RDMAP,   OP(SEND),         INITIATOR, FAIL) \
    R(rtr,          "EMPA-9.2-03",   rtr_write_form,                ON_RDMAP,   OP(WRITE),        INITIATOR, FAIL) \
    R(rtr,          "EMPA-9.2-04",   rtr_read_form,                 ON_RDMAP,   OP(READ_REQUEST), INITIATOR, FAIL) \
    R(rtr,          "EMPA-9.2-20",   rtr_is_negotiated_kind,        ON_RDMAP,             OP_ANY, INITIATOR, FAIL) \
    R(fpdu,         "MPA-3-06",      ulpdu_length_limit,            ON_FPDU,              OP_ANY, ANY,       FAIL) \
    R(fpdu,         "MPA-3-09",      fpdu_fits_datagram,            ON_FPDU,              OP_ANY, ANY,       FAIL) \
    R(fpdu,         "MPA-4.1-01",    fpdus_follow_each_other,       ON_FPDU|ON_UNDECODED|ON_END, OP_ANY, ANY,       FAIL) \
    R(fpdu,         "MPA-4.1-03",    pad_is_zero,                   ON_FPDU|ON_END,       OP_ANY, ANY,       FAIL) \
    R(fpdu,         "MPA-4.1-06",    pad_count,                     ON_FPDU|ON_END,       OP_ANY, ANY,       FAIL) \
    R(fpdu,         "MPA-4.3-01",    crc_covers_inner_markers,      ON_FPDU,              OP_ANY, ANY,       FAIL) \
    R(fpdu,         "MPA-4.4-14",    crc_is_crc32c,                 ON_FPDU,              OP_ANY, ANY,       FAIL) \
    R(fpdu,         "MPA-4.4-15",    crc_covers_fpdu,               ON_FPDU,              OP_ANY, ANY,       FAIL) \
    R(fpdu,         "MPA-4.4-16",    crc_covers_trailing_marker,    ON_FPDU,              OP_ANY, ANY,       FAIL) \
    R(fpdu,         "MPA-4.4-18",    crc_covers_leading_marker,     ON_FPDU,              OP_ANY, ANY,       FAIL) \
    R(fpdu,         "MPA-4.5-01",    mulpdu_with_markers,           ON_FPDU,              OP_ANY, ANY,       WARN) \
    R(fpdu,         "MPA-4.5-02",    mulpdu_without_markers,        ON_FPDU,              OP_ANY, ANY,       WARN) \
    R(fpdu,         "MPA-5.1-04",    fpdus_aligned,                 ON_END,               OP_ANY, ANY,       WARN) \
    R(fpdu,         "MPA-7.1.1-13",  crc_is_generated,              ON_FPDU,              OP_ANY, ANY,       FAIL) \
    R(fpdu,         "MPA-7.2-01",    fin_behind_fpdu,               ON_CLOSE,             OP_ANY, ANY,       FAIL) \
    R(mpa_version,  "MPA-3-15",      version_given_to_ddp,          ON_DDP | ON_RDMAP,    OP_ANY, ANY,       FAIL) \
    R(mpa_version,  "MPA-C.1-01",    version_same_both_ways,        ON_DDP | ON_RDMAP,    OP_ANY, ANY,       FAIL) \
    R(marker,       "MPA-4.2-02",    marker_reserved_zero,          ON_FPDU,              OP_ANY, ANY,       FAIL) \
    R(marker,       "MPA-4.2-05",    marker_low_bits_zero,          ON_FPDU,              OP_ANY, ANY,       FAIL) \
    R(marker,       "MPA-4.3-04",    marker_every_512,              ON_FPDU,              OP_ANY, ANY,       FAIL) \
    R(marker,       "MPA-4.3-05",    marker_points_to_length,       ON_FPDU,              OP_ANY, ANY,       FAIL) \
    R(marker,       "MPA-4.3-07",    markers_after_wrap,            ON_FPDU,              OP_ANY, ANY,       FAIL) \
    R(marker,       "MPA-4.3-14",    first_marker_zero,             ON_FPDU,              OP_ANY, ANY,       FAIL) \
    R(marker,       "MPA-4.3-16",    markers_agree,                 ON_FPDU,              OP_ANY, ANY,       FAIL) \
    R(marker,       "MPA-4.3-17",    marker_points_to_own_fpdu,     ON_FPDU,              OP_ANY, ANY,       FAIL) \
    R(marker,       "MPA-4.3-18",    marker_between_fpdus_zero,     ON_FPDU,              OP_ANY, ANY,       FAIL) \
    R(marker,       "MPA-7.1.1-07",  responder_sends_markers,       ON_FPDU,              OP_ANY, RESPONDER, FAIL) \
    R(marker,       "MPA-7.1.1-08",  initiator_sends_markers,       ON_FPDU,              OP_ANY, INITIATOR, FAIL) \
    R(marker,       "MPA-7.1.1-09",  no_markers_undemanded,         ON_FPDU,              OP_ANY, ANY,       FAIL) \
    R(marker,       "MPA-7.1.2-23",  marker_then_length,            ON_FPDU,              OP_ANY, ANY,       FAIL) \
    R(marker,       "MPA-7.1.2-24",  length_first,                  ON_FPDU,              OP_ANY, ANY,       FAIL)

#define RULE_LIST_DDP(R) \
    R(ddp,          "DDP-4.1-04",    last_segment_marked,           ON_DDP,               OP_ANY, ANY,       FAIL) \
    R(ddp,          "DDP-4.1-06",    nothing_behind_last,           ON_DDP,               OP_ANY, ANY,       FAIL) \
    R(ddp,          "DDP-4.1-07",    last_has_highest_mo,           ON_DDP,               OP_ANY, ANY,       FAIL) \
    R(ddp,          "DDP-4.1-10",    ddp_reserved_zero,             ON_DDP,               OP_ANY, ANY,       FAIL) \
    R(ddp,          "DDP-4.1-12",    ddp_version,                   ON_DDP,               OP_ANY, ANY,       FAIL) \
    R(ddp,          "DDP-4.1-13",    ddp_version_constant,          ON_DDP,               OP_ANY, ANY,       FAIL) \
    R(ddp,          "DDP-4.2-06",    tagged_rsvdulp_constant,       ON_DDP,               OP_ANY, ANY,       FAIL) \
    R(ddp,          "DDP-4.2-11",    stag_constant,                 ON_DDP,               OP_ANY, ANY,       FAIL) \
    R(ddp,          "DDP-4.3-05",    untagged_rsvdulp_constant,     ON_DDP,               OP_ANY, ANY,       FAIL) \
    R(ddp,          "DDP-4.3-11",    msn_counts_messages,           ON_DDP,               OP_ANY, ANY,       FAIL) \
    R(ddp,          "DDP-4.3-12",    msn_begins_at_one,             ON_DDP,               OP_ANY, ANY,       FAIL) \
    R(ddp,          "DDP-4.3-14",    msn_constant,                  ON_DDP,               OP_ANY, ANY,       FAIL) \
    R(ddp,          "DDP-4.3-16",    message_begins_at_zero,        ON_DDP,               OP_ANY, ANY,       FAIL) \
    R(ddp,          "DDP-4.4-01",    segment_has_header,            ON_FPDU,              OP_ANY, ANY,       FAIL) \
    R(ddp,          "DDP-5.2-06",    mo_counts_octets,              ON_DDP,               OP_ANY, ANY,       FAIL) \
    R(ddp,          "DDP-5.2-08",    to_counts_octets,              ON_DDP,               OP_ANY, ANY,       FAIL) \
    R(ddp,          "DDP-5.2-10",    empty_message_is_one_segment,  ON_DDP,               OP_ANY, ANY,       FAIL) \
    R(ddp,          "DDP-5.3-03",    mo_rises,                      ON_DDP,               OP_ANY, ANY,       WARN) \
    R(ddp,          "DDP-5.3-04",    to_rises,                      ON_DDP,               OP_ANY, ANY,       WARN)

#define RULE_LIST_RDMAP(R) \
    R(rdmap,        "RDMAP-4.1-17",  rdmap_version,                 ON_RDMAP,             OP_ANY, ANY,       FAIL) \
    R(rdmap,        "RDMAP-4.1-19",  rdmap_reserved_zero,           ON_RDMAP,             OP_ANY, ANY,       FAIL) \
    R(rdmap,        "RDMAP-4.1-21",  invalidate_stag_zero,          ON_RDMAP,   OP_NO_INVALID,    ANY,       FAIL) \
    R(rdmap,        "RDMAP-6580.3.4-01", opcode_registered,         ON_RDMAP,             OP_ANY, ANY,       FAIL) \
    R(rdmap,        "RDMAP-5.1-02",  write_is_tagged,               ON_RDMAP,   OP(WRITE),        ANY,       FAIL) \
    R(rdmap,        "RDMAP-5.2.1-02", read_request_is_untagged,     ON_RDMAP,   OP(READ_REQUEST), ANY,       FAIL) \
    R(rdmap,        "RDMAP-5.2.2-03", read_response_is_tagged,      ON_RDMAP,   OP(READ_RESPONSE), ANY,      FAIL) \
    R(rdmap,        "RDMAP-5.3-02",  send_is_untagged,              ON_RDMAP,   OP_SENDS,         ANY,       FAIL) \
    R(rdmap,        "RDMAP-5.4-02",  terminate_is_untagged,         ON_RDMAP,   OP(TERMINATE),    ANY,       FAIL) \
    R(rdmap,        "RDMAP-5.2.1-08", read_request_queue,           ON_RDMAP,   OP(READ_REQUEST), ANY,       FAIL) \
    R(rdmap,        "RDMAP-5.3-11",  send_queue,                    ON_RDMAP,   OP_SENDS,         ANY,       FAIL) \
    R(rdmap,        "RDMAP-5.4-03",  terminate_on_its_queue,               ON_RDMAP,   OP(TERMINATE),    ANY,       FAIL) \
    R(rdmap,        "RDMAP-5.4-10",  nothing_behind_terminate,      ON_FPDU | ON_END,     OP_ANY, ANY,       FAIL) \
    R(read,         "RDMAP-4.2-01",  read_request_has_header,       ON_RDMAP,   OP(READ_REQUEST), ANY,       FAIL) \
    R(read,         "RDMAP-4.2-04",  read_request_has_no_payload,   ON_RDMAP,   OP(READ_REQUEST), ANY,       FAIL) \
    R(read,         "RDMAP-5.2.1-21", read_request_in_one_segment,  ON_RDMAP,   OP(READ_REQUEST), ANY,       AMBIGUOUS) \
    R(read,         "EMPA-9.1-06",   initiator_keeps_ord,           ON_RDMAP,   OP(READ_REQUEST), INITIATOR, FAIL) \
    R(read,         "EMPA-9.1-07",   responder_keeps_ord,           ON_RDMAP,   OP(READ_REQUEST), RESPONDER, FAIL) \
    R(read,         "RDMAP-4.4-01",  read_request_octet_order,      ON_RDMAP,   OP(READ_RESPONSE), ANY,      FAIL) \
    R(read,         "RDMAP-4.4-03",  response_copies_stag,          ON_RDMAP,   OP(READ_RESPONSE), ANY,      FAIL) \
    R(read,         "RDMAP-4.4-04",  response_copies_to,            ON_RDMAP,   OP(READ_RESPONSE), ANY,      FAIL) \
    R(read,         "RDMAP-4.5-01",  response_has_size,             ON_RDMAP,   OP(READ_RESPONSE), ANY,      FAIL) \
    R(read,         "RDMAP-5.2-01",  response_has_request,          ON_RDMAP,   OP(READ_RESPONSE), ANY,      FAIL) \
    R(read,         "RDMAP-5.2.1-20", empty_read_answered_empty,    ON_RDMAP,   OP(READ_RESPONSE), ANY,      FAIL) \
    R(read,         "RDMAP-5.2.2-08", responses_in_order,           ON_RDMAP,   OP(READ_RESPONSE), ANY,      FAIL) \
    R(read,         "RDMAP-5.2.2-12", empty_response_copies_sink,   ON_RDMAP,   OP(READ_RESPONSE), ANY,      AMBIGUOUS)

#define RULE_LIST_ATOMIC(R) \
    R(atomic,       "ATOM-4.1-02",   extension_control_order,       ON_RDMAP,   OP_EXTENSIONS,    ANY,       FAIL) \
    R(atomic,       "ATOM-4.1-04",   extension_model_and_queue,     ON_RDMAP,   OP_EXTENSIONS,    ANY,       FAIL) \
    R(atomic,       "ATOM-4.1-05",   extension_version,             ON_RDMAP,   OP_EXTENSIONS,    ANY,       FAIL) \
    R(atomic,       "ATOM-4.1-06",   extension_word_zero,           ON_RDMAP,   OP_EXTENSIONS,    ANY,       FAIL) \
    R(atomic,       "ATOM-4.1-08",   extension_other_fields,        ON_RDMAP,   OP_EXTENSIONS,    ANY,       FAIL) \
    R(atomic,       "ATOM-4.2-01",   extension_has_header,          ON_RDMAP,   OP_EXTENSIONS,    ANY,       FAIL) \
    R(atomic,       "ATOM-4.2-02",   extension_has_no_payload,      ON_RDMAP,   OP_EXTENSIONS,    ANY,       FAIL) \
    R(atomic,       "ATOM-5.2.1-02", atomic_request_reserved_zero,  ON_RDMAP,   OP(ATOMIC_REQUEST), ANY,     FAIL) \
    R(atomic,       "ATOM-5.2.1-04", atomic_request_opcode,         ON_RDMAP,   OP(ATOMIC_REQUEST), ANY,     FAIL) \
    R(atomic,       "ATOM-5.2.1-11", atomic_compare_data_zero,      ON_RDMAP,   OP(ATOMIC_REQUEST), ANY,     FAIL) \
    R(atomic,       "ATOM-5.2.1-13", atomic_compare_mask_ones,      ON_RDMAP,   OP(ATOMIC_REQUEST), ANY,     WARN) \
    R(atomic,       "ATOM-5.2.1-16", atomic_request_is_untagged,    ON_RDMAP,   OP(ATOMIC_REQUEST), ANY,     FAIL) \
    R(atomic,       "ATOM-5.2.1-17", atomic_request_takes_one,      ON_RDMAP,   OP(ATOMIC_REQUEST), ANY,     FAIL) \
    R(atomic,       "ATOM-5.2.1-21", atomic_request_queue,          ON_RDMAP,   OP(ATOMIC_REQUEST), ANY,     FAIL) \
    R(atomic,       "ATOM7306-5.2-01", atomic_request_queue_rfc,    ON_RDMAP,   OP(ATOMIC_REQUEST), ANY,     FAIL) \
    R(atomic,       "ATOM-5.2.2-01", atomic_response_header,        ON_RDMAP,   OP(ATOMIC_RESPONSE), ANY,    FAIL) \
    R(atomic,       "ATOM7306-4-01", atomic_response_not_32,        ON_RDMAP,   OP(ATOMIC_RESPONSE), ANY,    FAIL) \
    R(atomic,       "ATOM-5.2.2-02", atomic_response_echoes_id,     ON_RDMAP,   OP(ATOMIC_RESPONSE), ANY,    FAIL) \
    R(atomic,       "ATOM-5.2.2-04", atomic_response_is_untagged,   ON_RDMAP,   OP(ATOMIC_RESPONSE), ANY,    FAIL) \
    R(atomic,       "ATOM-5.2.2-05", atomic_response_msn,           ON_RDMAP,   OP(ATOMIC_RESPONSE), ANY,    FAIL) \
    R(atomic,       "ATOM-5.2.2-06", atomic_response_queue,         ON_RDMAP,   OP(ATOMIC_RESPONSE), ANY,    FAIL) \
    R(atomic,       "ATOM7306-5-06", atomic_response_model,         ON_RDMAP,   OP(ATOMIC_RESPONSE), ANY,    FAIL) \
    R(atomic,       "ATOM7306-5.2-02", atomic_response_queue_rfc,   ON_RDMAP,   OP(ATOMIC_RESPONSE), ANY,    FAIL) \
    R(atomic,       "ATOM-5.2.2-10", atomic_responses_in_order,     ON_RDMAP,   OP(ATOMIC_RESPONSE), ANY,    FAIL) \
    R(atomic,       "ATOM-6.3-01",   immediate_is_untagged,         ON_RDMAP,   OP_IMMEDIATES,    ANY,       FAIL) \
    R(atomic,       "ATOM-6.3-04",   immediate_queue,               ON_RDMAP,   OP_IMMEDIATES,    ANY,       FAIL) \
    R(atomic,       "ATOM-6.3-05",   immediate_is_eight,            ON_RDMAP,   OP_IMMEDIATES,    ANY,       FAIL)

#define RULE_LIST_TERMINATE(R) \
    R(terminate,    "RDMAP-4.2-02",  terminate_has_header,          ON_RDMAP,   OP(TERMINATE),    ANY,       FAIL) \
    R(terminate,    "RDMAP-4.2-05",  terminate_has_no_payload,      ON_RDMAP,   OP(TERMINATE),    ANY,       FAIL) \
    R(terminate,    "RDMAP-4.8-02",  terminate_control_layout,      ON_RDMAP,   OP(TERMINATE),    ANY,       FAIL) \
    R(terminate,    "RDMAP-4.8-03",  terminate_error_defined,       ON_RDMAP,   OP(TERMINATE),    ANY,       FAIL) \
    R(terminate,    "RDMAP-4.8-10",  terminate_catastrophic_parts,  ON_RDMAP,   OP(TERMINATE),    ANY,       WARN) \
    R(terminate,    "RDMAP-4.8-11",  terminate_protection_parts,    ON_RDMAP,   OP(TERMINATE),    ANY,       WARN) \
    R(terminate,    "RDMAP-4.8-12",  terminate_operation_parts,     ON_RDMAP,   OP(TERMINATE),    ANY,       WARN) \
    R(terminate,    "RDMAP-4.8-13",  terminate_ddp_parts,           ON_RDMAP,   OP(TERMINATE),    ANY,       WARN) \
    R(terminate,    "RDMAP-4.8-14",  terminate_llp_parts,           ON_RDMAP,   OP(TERMINATE),    ANY,       WARN) \
    R(terminate,    "RDMAP-4.8-15",  terminate_protection_cause,    ON_RDMAP,   OP(TERMINATE),    ANY,       WARN) \
    R(terminate,    "RDMAP-4.8-16",  terminate_m_with_d,            ON_RDMAP,   OP(TERMINATE),    ANY,       AMBIGUOUS) \
    R(terminate,    "RDMAP-4.8-32",  terminate_reserved_zero,       ON_RDMAP,   OP(TERMINATE),    ANY,       FAIL) \
    R(terminate,    "RDMAP-4.8-43",  terminate_operation_on_read,   ON_RDMAP,   OP(TERMINATE),    ANY,       AMBIGUOUS) \
    R(terminate,    "RDMAP-4.8-50",  terminate_llp_undefined,       ON_RDMAP,   OP(TERMINATE),    ANY,       FAIL) \
    R(terminate,    "RDMAP-7.1-03",  terminate_absent_parts,        ON_RDMAP,   OP(TERMINATE),    ANY,       AMBIGUOUS) \
    R(terminate,    "RDMAP-6580.3.1-01", terminate_rdmap_registered, ON_RDMAP,  OP(TERMINATE),    ANY,       FAIL) \
    R(terminate,    "RDMAP-6580.3.2-01", terminate_ddp_registered,  ON_RDMAP,   OP(TERMINATE),    ANY,       FAIL) \
    R(terminate,    "RDMAP-6580.3.3-01", terminate_mpa_registered,  ON_RDMAP,   OP(TERMINATE),    ANY,       FAIL) \
    R(terminate,    "EMPA-8-02",     terminate_startup_codes,       ON_RDMAP,   OP(TERMINATE),    ANY,       FAIL) \
    R(terminate,    "EMPA-8-03",     terminate_startup_parts,       ON_RDMAP,   OP(TERMINATE),    ANY,       FAIL) \
    R(quote,        "RDMAP-4.8-34",  terminate_length_valid,        ON_RDMAP,   OP(TERMINATE),    ANY,       FAIL) \
    R(quote,        "RDMAP-4.8-35",  terminate_length_meaning,      ON_RDMAP,   OP(TERMINATE),    ANY,       AMBIGUOUS) \
    R(quote,        "RDMAP-4.8-36",  terminate_length_with_header,  ON_RDMAP,   OP(TERMINATE),    ANY,       FAIL) \
    R(quote,        "RDMAP-4.8-37",  terminate_quotes_ddp_header,   ON_RDMAP,   OP(TERMINATE),    ANY,       FAIL) \
    R(quote,        "RDMAP-4.8-39",  terminate_ddp_header_present,  ON_RDMAP,   OP(TERMINATE),    ANY,       FAIL) \
    R(quote,        "RDMAP-4.8-40",  terminate_rdma_header_for_read, ON_RDMAP,  OP(TERMINATE),    ANY,       FAIL) \
    R(quote,        "RDMAP-4.8-41",  terminate_rdma_header_present, ON_RDMAP,   OP(TERMINATE),    ANY,       FAIL) \
    R(quote,        "RDMAP-4.8-44",  terminate_returns_request,     ON_RDMAP,   OP(TERMINATE),    ANY,       FAIL) \
    R(quote,        "RDMAP-4.8-46",  terminate_returns_sink_to,     ON_RDMAP,   OP(TERMINATE),    ANY,       FAIL) \
    R(quote,        "RDMAP-4.8-47",  terminate_returns_size,        ON_RDMAP,   OP(TERMINATE),    ANY,       FAIL) \
    R(quote,        "DDP-7.1-23",    terminate_ddp_error_true,      ON_RDMAP,   OP(TERMINATE),    ANY,       FAIL) \
    R(quote,        "RDMAP-4.8-25",  terminate_version_error_true,  ON_RDMAP,   OP(TERMINATE),    ANY,       FAIL)
#define RULE_LIST_SCTP(R) \
    R(sctp,         "SCTP-1-02",      draft_checksum_crc32c,        ON_SCTP,              OP_ANY, ANY,       AMBIGUOUS) \
    R(sctp,         "SCTP-2.1-01",    draft_ppids_only,             ON_SCTP,              OP_ANY, ANY,       FAIL) \
    R(sctp,         "SCTP-2.1-03",    draft_indication_form,        ON_SCTP,              OP_ANY, ANY,       FAIL) \
    R(sctp,         "SCTP-2.1-05",    draft_indication_value,       ON_SCTP,              OP_ANY, ANY,       FAIL) \
    R(sctp,         "SCTP-2.2-01",    draft_ppid_values,            ON_SCTP,              OP_ANY, ANY,       FAIL) \
    R(sctp,         "SCTP-3.2-02",    draft_one_address,            ON_SCTP,              OP_ANY, ANY,       WARN) \
    R(sctp,         "SCTP-4-03",      draft_equal_streams,          ON_SCTP,              OP_ANY, ANY,       FAIL) \
    R(sctp,         "SCTP-5-01",      draft_not_fragmented,         ON_SCTP,              OP_ANY, ANY,       FAIL) \
    R(sctp,         "SCTP-6-05",      draft_unordered,              ON_SCTP,              OP_ANY, ANY,       FAIL) \
    R(sctp,         "SCTP5043-5.1-01", ppids_only,                  ON_SCTP,              OP_ANY, ANY,       FAIL) \
    R(sctp,         "SCTP5043-5.1-05", indication_value,            ON_SCTP,              OP_ANY, ANY,       FAIL) \
    R(sctp,         "SCTP5043-5.2-01", ppid_values,                 ON_SCTP,              OP_ANY, ANY,       FAIL) \
    R(sctp,         "SCTP5043-7.2-02", one_address,                 ON_SCTP,              OP_ANY, ANY,       WARN) \
    R(sctp,         "SCTP5043-8-03",   equal_streams,               ON_SCTP,              OP_ANY, ANY,       FAIL) \
    R(sctp,         "SCTP5043-9-05",   not_fragmented,              ON_SCTP,              OP_ANY, ANY,       FAIL) \
    R(sctp,         "SCTP5043-10-01",  unordered,                   ON_SCTP,              OP_ANY, ANY,       FAIL) \
    R(session,      "SCTP-2.2-03",    reset_code,                   ON_SESSION,           OP_ANY, ANY,       FAIL) \
    R(session,      "SCTP-2.2-05",    reset_length,                 ON_SESSION,           OP_ANY, ANY,       FAIL) \
    R(session,      "SCTP-2.2-08",    draft_versions,               ON_RDMAP,             OP_ANY, ANY,       FAIL) \
    R(session,      "SCTP-6-02",      draft_segment_behind_ssn,     ON_FPDU,              OP_ANY, ANY,       FAIL) \
    R(session,      "SCTP-6-03",      draft_ssn_begins_at_one,      ON_FPDU,              OP_ANY, ANY,       FAIL) \
    R(session,      "SCTP-6-04",      draft_ssn_counts,             ON_FPDU|ON_GAP|ON_UNDECODED, OP_ANY, ANY, FAIL) \
    R(session,      "SCTP-7.2-14",    msn_restarts_after_reset,     ON_DDP,               OP_ANY, ANY,       AMBIGUOUS) \
    R(session,      "SCTP5043-2-01",  segment_in_session,           ON_FPDU,              OP_ANY, ANY,       FAIL) \
    R(session,      "SCTP5043-5.2.1-02", ssn_not_repeated,          ON_FPDU|ON_SESSION|ON_UNDECODED, OP_ANY, ANY, FAIL) \
    R(session,      "SCTP5043-5.2.2-01", segment_behind_ssn,        ON_FPDU,              OP_ANY, ANY,       FAIL) \
    R(session,      "SCTP5043-5.2.3-02", session_codes,             ON_SESSION,           OP_ANY, ANY,       FAIL) \
    R(session,      "SCTP5043-5.2.3-07", private_data_at_most,      ON_SESSION,           OP_ANY, ANY,       FAIL) \
    R(session,      "SCTP5043-5.2.3-09", terminate_without_data,    ON_SESSION,           OP_ANY, ANY,       FAIL) \
    R(session,      "SCTP5043-6-03",  ssn_without_gaps,             ON_FPDU|ON_SESSION|ON_GAP, OP_ANY, ANY,  FAIL) \
    R(session,      "SCTP5043-6.1-01", ssn_begins_at_zero,          ON_SESSION,           OP_ANY, ANY,       FAIL) \
    R(session,      "SCTP5043-6.1-02", session_pattern,             ON_FPDU|ON_SESSION|ON_END, OP_ANY, ANY,       FAIL) \
    R(session,      "SCTP5043-6.2-01", session_opens_with_initiate, ON_SESSION,           OP_ANY, ANY,       FAIL) \
    R(session,      "SCTP5043-6.2-03", segments_begin_at_one,       ON_FPDU,              OP_ANY, ANY,       FAIL) \
    R(session,      "SCTP5043-6.2-05", session_is_terminated,       ON_END,               OP_ANY, ANY,       FAIL) \
    R(session,      "SCTP5043-6.4-05", crossing_initiates,          ON_SESSION,           OP_ANY, ANY,       AMBIGUOUS) \
    R(session,      "SCTP5043-6.6-02", segments_wait_for_sack,      ON_END,               OP_ANY, ANY,       FAIL) \
    R(session,      "EMPA-7-01",      enhanced_word_in_session,     ON_SESSION,           OP_ANY, ANY,       FAIL) \
    R(session,      "EMPA-7-02",      enhanced_codes,               ON_SESSION,           OP_ANY, ANY,       FAIL) \
    R(session,      "EMPA-7-11",      enhanced_data_limit,          ON_SESSION,           OP_ANY, ANY,       FAIL) \
    R(session,      "EMPA-7-13",      enhanced_terminate_empty,     ON_SESSION,           OP_ANY, ANY,       FAIL)

#define RULE_LIST_CM(R) \
    R(cm,           "A11-TXT-02",     service_prefix,               ON_CM,                OP_ANY, ANY,       FAIL) \
    R(cm,           "A11-TXT-03",     nibble_order,                 ON_CM,                OP_ANY, ANY,       FAIL) \
    R(cm,           "A11-TXT-04",     reply_without_header,         ON_CM,                OP_ANY, ANY,       FAIL) \
    R(cm,           "CA11-1",         addresses_not_exchanged,      ON_CM,                OP_ANY, ANY,       FAIL) \
    R(cm,           "A11-TXT-07",     major_version_zero,           ON_CM,                OP_ANY, ANY,       FAIL) \
    R(cm,           "A11-TXT-08",     minor_version_zero,           ON_CM,                OP_ANY, ANY,       FAIL) \
    R(cm,           "A11-TXT-09",     ip_version_known,             ON_CM,                OP_ANY, ANY,       FAIL) \
    R(cm,           "A11-TXT-10",     reserved_nibble_zero,         ON_CM,                OP_ANY, ANY,       FAIL) \
    R(cm,           "CA11-5",         ipv4_in_low_bits,             ON_CM,                OP_ANY, ANY,       FAIL) \
    R(cm,           "CA11-5-02",      ipv4_padded_with_zeros,       ON_CM,                OP_ANY, ANY,       FAIL) \
    R(cm,           "A11-TXT-14",     service_octet_order,          ON_CM,                OP_ANY, ANY,       FAIL) \
    R(cm,           "CA11-6",         service_protocol_and_port,    ON_CM,                OP_ANY, ANY,       FAIL) \
    R(cm,           "A11-TXT-12",     source_port_given,            ON_CM,                OP_ANY, ANY,       FAIL) \
    R(cm,           "A11-TXT-13",     interface_addresses,          ON_CM,                OP_ANY, ANY,       FAIL) \
    R(cm,           "A11-TXT-15",     service_id_form,              ON_CM,                OP_ANY, ANY,       WARN)

/* ULPs, where conformance/flow/ulp recognises them. */
#define RULE_LIST_ULP(R) \
    R(smbd,         "SMBD-2.2.3-01",  smbd_flags_defined,           ON_RDMAP, OP_SENDS, ANY,       FAIL) \
    R(smbd_buffer,  "SMBD-2.2.3.1-01", smbd_access_advertised,      ON_RDMAP, OP_ACCESSES, ANY,    FAIL) \
    R(smbd_buffer,  "SMBD-2.2.3.1-02", smbd_access_inside,          ON_RDMAP, OP_ACCESSES, ANY,    FAIL) \
    R(smbd_buffer,  "SMBD-3.1.4.2-01", smbd_invalidates_asked,      ON_RDMAP, (OP(SEND_INVALIDATE) | OP(SEND_SE_INVALIDATE)), ANY, FAIL) \
    R(smbd_buffer,  "SMBD-3.1.4.4-01", smbd_access_in_time,         ON_RDMAP, OP_ACCESSES, ANY,    FAIL) \
    R(smbd,         "SMBD-3.1.5.1-01", smbd_credit_held,            ON_RDMAP, OP_SENDS, ANY,       FAIL) \
    R(smbd,         "SMBD-3.1.5.1-02", smbd_last_credit,            ON_RDMAP, OP_SENDS, ANY,       FAIL) \
    R(smbd,         "SMBD-3.1.5.1-03", smbd_message_size,           ON_RDMAP, OP_SENDS, ANY,       FAIL) \
    R(smbd,         "SMBD-3.1.5.6-01", smbd_request_credits,        ON_RDMAP, OP_SENDS, INITIATOR, FAIL) \
    R(smbd,         "SMBD-3.1.5.6-02", smbd_request_receive_size,   ON_RDMAP, OP_SENDS, INITIATOR, FAIL) \
    R(smbd,         "SMBD-3.1.5.6-03", smbd_request_fragmented_size, ON_RDMAP, OP_SENDS, INITIATOR, FAIL) \
    R(smbd,         "SMBD-3.1.5.7-01", smbd_response_version,       ON_RDMAP, OP_SENDS, RESPONDER, FAIL) \
    R(smbd,         "SMBD-3.1.5.7-02", smbd_response_receive_size,  ON_RDMAP, OP_SENDS, RESPONDER, FAIL) \
    R(smbd,         "SMBD-3.1.5.7-03", smbd_response_fragmented_size, ON_RDMAP, OP_SENDS, RESPONDER, FAIL) \
    R(smbd,         "SMBD-3.1.5.7-04", smbd_response_grants,        ON_RDMAP, OP_SENDS, RESPONDER, FAIL) \
    R(smbd,         "SMBD-3.1.5.7-05", smbd_response_credits,       ON_RDMAP, OP_SENDS, RESPONDER, FAIL) \
    R(smbd,         "SMBD-3.1.5.7-06", smbd_response_send_size,     ON_RDMAP, OP_SENDS, RESPONDER, FAIL) \
    R(smbd,         "SMBD-3.1.5.8-01", smbd_data_header,            ON_RDMAP, OP_SENDS, ANY,       FAIL) \
    R(smbd,         "SMBD-3.1.5.8-02", smbd_data_credits,           ON_RDMAP, OP_SENDS, ANY,       FAIL) \
    R(smbd,         "SMBD-3.1.5.8-03", smbd_data_aligned,           ON_RDMAP, OP_SENDS, ANY,       FAIL) \
    R(smbd,         "SMBD-3.1.5.8-04", smbd_data_inside,            ON_RDMAP, OP_SENDS, ANY,       FAIL) \
    R(smbd,         "SMBD-3.1.5.8-05", smbd_data_fragments,         ON_RDMAP, OP_SENDS, ANY,       FAIL) \
    R(smbd,         "SMBD-A-01",      smbd_reads_open,              ON_RDMAP, OP(READ_REQUEST), ANY, WARN) \
    R(rpcrdma,       "RPCRDMA-3.3.1-01", rpcrdma_credits_held, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(rpcrdma,       "RPCRDMA-3.3.1-02", rpcrdma_grant_not_zero, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(rpcrdma,       "RPCRDMA-3.3.3-01", rpcrdma_first_credit, ON_RDMAP, OP_SENDS, INITIATOR, FAIL) \
    R(rpcrdma,       "RPCRDMA-3.3.3-02", rpcrdma_inline_least, ON_RDMAP, OP_SENDS, ANY, WARN) \
    R(rpcrdma_chunk, "RPCRDMA-3.4.3-01", rpcrdma_access_advertised, ON_RDMAP, OP_ACCESSES, ANY, FAIL) \
    R(rpcrdma_chunk, "RPCRDMA-3.4.3-02", rpcrdma_access_inside, ON_RDMAP, OP_ACCESSES, ANY, FAIL) \
    R(rpcrdma_chunk, "RPCRDMA-3.4.5-01", rpcrdma_position_aligned, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(rpcrdma_chunk, "RPCRDMA-3.4.5.1-01", rpcrdma_reads_before_reply, ON_RDMAP, OP_ACCESSES, ANY, FAIL) \
    R(rpcrdma_chunk, "RPCRDMA-3.4.6-01", rpcrdma_write_list_copied, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(rpcrdma_chunk, "RPCRDMA-3.4.6-02", rpcrdma_write_list_written, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(rpcrdma_chunk, "RPCRDMA-3.5.2-01", rpcrdma_writes_before_reply, ON_RDMAP, OP_ACCESSES, ANY, FAIL) \
    R(rpcrdma_chunk, "RPCRDMA-4-01", rpcrdma_lists_end, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(rpcrdma,       "RPCRDMA-4.1.2-01", rpcrdma_procedure_defined, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(rpcrdma,       "RPCRDMA-4.2.1-01", rpcrdma_xid, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(rpcrdma,       "RPCRDMA-4.2.2-01", rpcrdma_version, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(rpcrdma_chunk, "RPCRDMA-4.2.4-01", rpcrdma_nomsg_holds, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(rpcrdma,       "RPCRDMA-4.2.4-02", rpcrdma_error_by_responder, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(rpcrdma_chunk, "RPCRDMA-4.3.1-01", rpcrdma_reply_reads_nothing, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(rpcrdma_chunk, "RPCRDMA-4.3.3-01", rpcrdma_reply_chunk_copied, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(rpcrdma_chunk, "RPCRDMA-4.3.3-02", rpcrdma_reply_chunk_written, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(rpcrdma,       "RPCRDMA-4.5-01", rpcrdma_error_version, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(rpcrdma,       "RPCRDMA-4.5-02", rpcrdma_error_code, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(rpcrdma,       "RPCRDMA-4.6.1-01", rpcrdma_no_msgp, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(rpcrdma,       "RPCRDMA-4.6.2-01", rpcrdma_no_done, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(rpcrdma,       "RPCRDMA8797-4-01", rpcrdma_private_reserved, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(rpcrdma_chunk, "RPCRDMA8797-4.1-01", rpcrdma_invalidate_own, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(rpcrdma_chunk, "RPCRDMA8797-4.1-02", rpcrdma_invalidate_agreed, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(rpcrdma,       "RPCRDMA8797-4.2-01", rpcrdma_inline_agreed, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(iser_buffer, "ISER-1.5.3-01", iser_initiator_writes_not, ON_RDMAP, OP(WRITE), ANY, FAIL) \
    R(iser_buffer, "ISER-1.5.4-01", iser_initiator_reads_not, ON_RDMAP, OP(READ_REQUEST), ANY, FAIL) \
    R(iser, "ISER-5.1.2-01", iser_login_in_stream, ON_RDMAP, OP_SENDS, ANY, WARN) \
    R(iser, "ISER-5.1.3-01", iser_hello_answered, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(iser, "ISER-5.1.3-02", iser_hello_first, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(iser, "ISER-5.1.3-03", iser_hello_depth, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(iser, "ISER-6.4-01", iser_data_to_target, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(iser, "ISER-6.5-01", iser_data_to_initiator, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(iser_buffer, "ISER-7.3.1-01", iser_read_advertises, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(iser_buffer, "ISER-7.3.1-02", iser_write_advertises, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(iser_buffer, "ISER-7.3.2-01", iser_access_in_time, ON_RDMAP, OP_ACCESSES, ANY, FAIL) \
    R(iser_buffer, "ISER-7.3.2-02", iser_invalidates_own, ON_RDMAP, (OP(SEND_INVALIDATE) | OP(SEND_SE_INVALIDATE)), ANY, FAIL) \
    R(iser_buffer, "ISER-7.3.5-01", iser_write_advertised, ON_RDMAP, OP(WRITE), ANY, FAIL) \
    R(iser_buffer, "ISER-7.3.5-02", iser_write_inside, ON_RDMAP, OP(WRITE), ANY, FAIL) \
    R(iser, "ISER-7.3.5-03", iser_no_data_in, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(iser_buffer, "ISER-7.3.6-01", iser_read_advertised, ON_RDMAP, OP(READ_REQUEST), ANY, FAIL) \
    R(iser_buffer, "ISER-7.3.6-02", iser_read_inside, ON_RDMAP, OP(READ_REQUEST), ANY, FAIL) \
    R(iser, "ISER-7.3.6-03", iser_no_r2t, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(iser, "ISER-7.3.9-01", iser_login_over, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(iser, "ISER-7.3.11-01", iser_no_snack, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(iser, "ISER-8.1.1.3-01", iser_initiator_unexpected, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(iser, "ISER-8.1.2-01", iser_target_unexpected, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(iser, "ISER-8.2-01", iser_reads_open, ON_RDMAP, OP(READ_REQUEST), ANY, FAIL) \
    R(iser, "ISER-9.1-01", iser_header_present, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(iser, "ISER-9.1-02", iser_opcode_assigned, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(iser, "ISER-9.2-01", iser_write_unused, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(iser, "ISER-9.2-02", iser_read_unused, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(iser, "ISER-9.2-03", iser_control_reserved, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(iser, "ISER-9.2-04", iser_pdu_whole, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(iser, "ISER-9.3-01", iser_hello_alone, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(iser, "ISER-9.3-02", iser_hello_versions, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(iser, "ISER-9.3-03", iser_hello_reserved, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(iser, "ISER-9.4-01", iser_reply_alone, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(iser, "ISER-9.4-02", iser_reply_versions, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(iser, "ISER-9.4-03", iser_reply_reserved, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(nvme, "NVMEOF-7.3-01", nvme_command_whole, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(nvme, "NVMEOF-7.3-02", nvme_response_whole, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(nvme, "NVMEOF-7.3-03", nvme_command_has_sgl, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(nvme, "NVMEOF-7.3-04", nvme_descriptor_kind, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(nvme, "NVMEOF-7.3-05", nvme_queue_depth, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(nvme, "NVMEOF-7.3-06", nvme_response_due, ON_RDMAP, OP_SENDS, ANY, FAIL) \
    R(nvme, "NVMEOF-7.3-07", nvme_invalidate_asked, ON_RDMAP, (OP(SEND_INVALIDATE) | OP(SEND_SE_INVALIDATE)), ANY, FAIL) \
    R(nvme, "NVMEOF-7.3-08", nvme_host_accesses_not, ON_RDMAP, OP_ACCESSES, ANY, FAIL) \
    R(nvme, "NVMEOF-7.3-09", nvme_access_advertised, ON_RDMAP, OP_ACCESSES, ANY, FAIL) \
    R(nvme, "NVMEOF-7.3-10", nvme_access_inside, ON_RDMAP, OP_ACCESSES, ANY, FAIL) \
    R(nvme, "NVMEOF-7.3-11", nvme_access_in_time, ON_RDMAP, OP_ACCESSES, ANY, FAIL)
/* clang-format on */

/*
 * Rules of a list judge flows of these kinds. MPA's have nothing to say of streams over SCTP; DDP's and RDMAP's have.
 */
#define RULE_KINDS_MPA  (1u << FLOW_CONNECTION)
#define RULE_KINDS_DDP  (1u << FLOW_CONNECTION | 1u << FLOW_STREAM)
#define RULE_KINDS_SCTP (1u << FLOW_ASSOCIATION | 1u << FLOW_STREAM)
#define RULE_KINDS_CM   (1u << FLOW_CM_EXCHANGE)

#define RULE_LIST(R)                                                                                                   \
    RULE_LIST_MPA(R)                                                                                                   \
    RULE_LIST_DDP(R)                                                                                                   \
    RULE_LIST_RDMAP(R)                                                                                                 \
    RULE_LIST_ATOMIC(R)                                                                                                \
    RULE_LIST_TERMINATE(R)                                                                                             \
    RULE_LIST_SCTP(R)                                                                                                  \
    RULE_LIST_CM(R)                                                                                                    \
    RULE_LIST_ULP(R)

#define RULE_COUNT_ONE(file, id, function, events, opcodes, sender, worst) +1
enum { RULE_COUNT = 0 RULE_LIST(RULE_COUNT_ONE) };

#endif
