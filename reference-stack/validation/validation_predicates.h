/* SPDX-License-Identifier: BSD-2-Clause */
/* The predicates of the table in validation.c: each holds for good input. Start-up, segments, atomics: a file each. */
#ifndef REFERENCE_STACK_VALIDATION_PREDICATES_H
#define REFERENCE_STACK_VALIDATION_PREDICATES_H

#include "iwarp/device.h"
#include "reference-stack/validation/validation.h"

bool holds_request_key(const struct validation_subject *subject);
bool holds_request_revision(const struct validation_subject *subject);
bool holds_private_length(const struct validation_subject *subject);
bool holds_private_room(const struct validation_subject *subject);
bool holds_enhanced_supported(const struct validation_subject *subject);
bool holds_word_fits(const struct validation_subject *subject);
bool holds_nothing_after(const struct validation_subject *subject);
bool holds_reply_key(const struct validation_subject *subject);
bool holds_reply_revision(const struct validation_subject *subject);
bool holds_reply_enhanced(const struct validation_subject *subject);
bool holds_reply_plain(const struct validation_subject *subject);
bool holds_ird_available(const struct validation_subject *subject);
bool holds_rtr_in_common(const struct validation_subject *subject);
bool holds_depths_settable(const struct validation_subject *subject);
bool holds_crc_good(const struct validation_subject *subject);
bool holds_marker_good(const struct validation_subject *subject);
bool holds_header_complete(const struct validation_subject *subject);
bool holds_tagged_version(const struct validation_subject *subject);
bool holds_untagged_version(const struct validation_subject *subject);
bool holds_stag_valid(const struct validation_subject *subject);
bool holds_pd_associated(const struct validation_subject *subject);
bool holds_stream_associated(const struct validation_subject *subject);
bool holds_write_allowed(const struct validation_subject *subject);
bool holds_to_unwrapped(const struct validation_subject *subject);
bool holds_to_inside(const struct validation_subject *subject);
bool holds_to_end_inside(const struct validation_subject *subject);
bool holds_qn_known(const struct validation_subject *subject);
bool holds_msn_due(const struct validation_subject *subject);
bool holds_buffer_available(const struct validation_subject *subject);
bool holds_mo_inside(const struct validation_subject *subject);
bool holds_mo_end_inside(const struct validation_subject *subject);
bool holds_rdmap_version(const struct validation_subject *subject);
bool holds_opcode_known(const struct validation_subject *subject);
bool holds_opcode_model(const struct validation_subject *subject);
bool holds_opcode_queue(const struct validation_subject *subject);
bool holds_read_length(const struct validation_subject *subject);
bool holds_source_valid(const struct validation_subject *subject);
bool holds_source_pd(const struct validation_subject *subject);
bool holds_source_stream(const struct validation_subject *subject);
bool holds_source_readable(const struct validation_subject *subject);
bool holds_source_unwrapped(const struct validation_subject *subject);
bool holds_source_inside(const struct validation_subject *subject);
bool holds_source_end_inside(const struct validation_subject *subject);
bool holds_response_expected(const struct validation_subject *subject);
bool holds_response_stag(const struct validation_subject *subject);
bool holds_response_inside(const struct validation_subject *subject);
bool holds_response_length(const struct validation_subject *subject);
bool holds_invalidate_valid(const struct validation_subject *subject);
bool holds_invalidate_associated(const struct validation_subject *subject);
bool holds_invalidate_unshared(const struct validation_subject *subject);
bool holds_atomic_length(const struct validation_subject *subject);
bool holds_atomic_opcode_known(const struct validation_subject *subject);
bool holds_atomic_swap_supported(const struct validation_subject *subject);
bool holds_atomic_allowed(const struct validation_subject *subject);
bool holds_atomic_unwrapped(const struct validation_subject *subject);
bool holds_atomic_inside(const struct validation_subject *subject);
bool holds_atomic_end_inside(const struct validation_subject *subject);
bool holds_fetch_add_aligned(const struct validation_subject *subject);
bool holds_swap_aligned(const struct validation_subject *subject);
bool holds_compare_swap_aligned(const struct validation_subject *subject);
bool holds_atomic_response_length(const struct validation_subject *subject);
bool holds_atomic_response_id(const struct validation_subject *subject);
bool holds_immediate_length(const struct validation_subject *subject);
bool holds_indication(const struct validation_subject *subject);
bool holds_streams(const struct validation_subject *subject);
bool holds_message_ppid(const struct validation_subject *subject);
bool holds_message_header(const struct validation_subject *subject);
bool holds_session_not_over(const struct validation_subject *subject);
bool holds_session_code(const struct validation_subject *subject);
bool holds_session_enhanced(const struct validation_subject *subject);
bool holds_session_word(const struct validation_subject *subject);
bool holds_session_private_data(const struct validation_subject *subject);
bool holds_session_initiate(const struct validation_subject *subject);
bool holds_session_answer(const struct validation_subject *subject);
bool holds_session_answer_kind(const struct validation_subject *subject);
bool holds_session_segment(const struct validation_subject *subject);
bool holds_reset_code(const struct validation_subject *subject);
bool holds_reset_length(const struct validation_subject *subject);

/* [to, ...) begins inside the region: computed as an offset, so that nothing can overflow. */
static inline bool begins_inside(const struct iwarp_region *region, uint64_t to)
{
    return region == NULL || (to >= region->base && to - region->base < region->length);
}

static inline bool ends_inside(const struct iwarp_region *region, uint64_t to, uint64_t octets)
{
    return region == NULL || to < region->base || to - region->base > region->length ||
           octets <= region->length - (to - region->base);
}

#endif
