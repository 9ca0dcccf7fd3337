/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Faults above the stack: of the ULP and the driver that iwarp-peer has (peer/), which hand over their set of defects.
 */
#include "reference-stack/defects/defect_internal.h"
#include "reference-stack/defects/peer_faults.h"

/* --- Work that the upper tester posts ---------------------------------------------------------------------------- */

void hook_private_data(const struct defect_set *set, struct iwarp_stream_config *config)
{
    const uint16_t room = IWARP_MPA_PRIVATE_DATA_MAX - MPA_ENHANCED_OCTETS;

    if (config->role == IWARP_INITIATOR && config->enhanced && config->private_octets > room &&
        defect_behaves(set, DEFECT_PRIVATE_509_CUT))
        config->private_octets = room;
}

uint64_t hook_length_limit(const struct defect_set *set, uint64_t most)
{
    return defect_behaves(set, DEFECT_LENGTH_WRAPS) ? UINT64_MAX : most;
}

void hook_length(const struct defect_set *set, uint64_t *length)
{
    if (defect_behaves(set, DEFECT_LENGTH_WRAPS))
        *length &= UINT32_MAX;
}

size_t hook_gathered(const struct defect_set *set, size_t pieces)
{
    return defect_behaves(set, DEFECT_GATHER_SPLIT) ? 1 : pieces;
}

bool hook_stag_optional(const struct defect_set *set)
{
    return defect_behaves(set, DEFECT_WRITE_WITHOUT_STAG);
}

bool hook_done_when_posted(const struct defect_set *set)
{
    return defect_behaves(set, DEFECT_DONE_WHEN_POSTED);
}

bool hook_mapping_unchecked(const struct defect_set *set)
{
    return defect_behaves(set, DEFECT_MAPPING_UNCHECKED);
}

bool hook_hidden_taken(const struct defect_set *set)
{
    return defect_behaves(set, DEFECT_HIDDEN_TAKEN);
}

/* --- Connections ------------------------------------------------------------------------------------------------- */

bool hook_role_by_opener(const struct defect_set *set)
{
    return defect_behaves(set, DEFECT_ROLE_BY_SYN);
}

bool hook_nagle(const struct defect_set *set)
{
    return defect_behaves(set, DEFECT_NAGLE);
}

void hook_cut(const struct defect_set *set, size_t *count)
{
    enum { MOST = 61 }; /* a prime, so that cuts fall on other octets in each FPDU; the factor cuts short FPDUs too */
    size_t piece = 1 + *count * 7 % MOST;

    if (defect_behaves(set, DEFECT_SEGMENTS_CUT) && piece < *count)
        *count = piece;
}

void hook_tcp(const struct defect_set *set, struct tcp_settings *settings)
{
    settings->fragmentable = defect_behaves(set, DEFECT_FRAGMENTABLE);
    settings->delay_acks = defect_behaves(set, DEFECT_ACKS_DELAYED);
    settings->drop_fragments = defect_behaves(set, DEFECT_FRAGMENTS_DROPPED);
    settings->take_repeats = defect_behaves(set, DEFECT_REPEATS_TAKEN);
    settings->octets_after_fin = defect_behaves(set, DEFECT_OCTETS_AFTER_FIN);
    settings->sack_silent = defect_behaves(set, DEFECT_SACK_SILENT);
    settings->sack_shifted = defect_behaves(set, DEFECT_SACK_SHIFTED);
    if (defect_behaves(set, DEFECT_ACKS_LATE))
        settings->acks_late_ns = UINT64_C(1500000000);
    if (defect_behaves(set, DEFECT_MSS_300))
        settings->mss = 300;
    if (defect_behaves(set, DEFECT_WINDOW_SMALL))
        settings->window = 700;
    if (defect_behaves(set, DEFECT_WINDOW_4096))
        settings->window = 4096;
    if (defect_behaves(set, DEFECT_SEQUENCE_WRAPS) || defect_behaves(set, DEFECT_MARKER_LOST_AT_WRAP)) {
        settings->iss = UINT32_C(0) - DEFECT_WRAP_AFTER;
        settings->choose_iss = true;
    }
    hook_tcp_settings(set, settings);
}

bool hook_early_refused(const struct defect_set *set, size_t count)
{
    return count < 140 && defect_behaves(set, DEFECT_REASSEMBLY_NONE);
}

bool hook_limits_fixed(const struct defect_set *set)
{
    return defect_behaves(set, DEFECT_LIMITS_FIXED);
}

bool hook_flush_otherwise(const struct defect_set *set)
{
    return defect_behaves(set, DEFECT_FLUSH_OTHERWISE);
}

void hook_hand_over(const struct defect_set *set, bool *forgets, bool *drops_input)
{
    *forgets = defect_behaves(set, DEFECT_STREAMING_UNACKED_LOST);
    *drops_input = defect_behaves(set, DEFECT_STREAMING_NEXT_LOST);
}

bool hook_streaming_over(const struct defect_set *set)
{
    return defect_behaves(set, DEFECT_STREAMING_UNREAD);
}

/* --- What streams share ------------------------------------------------------------------------------------------ */

bool hook_fault_on_one(const struct defect_set *set)
{
    return defect_behaves(set, DEFECT_FAULT_ON_ONE);
}

bool hook_overflow_spreads(const struct defect_set *set)
{
    return defect_behaves(set, DEFECT_QUEUE_OVERFLOW_ALL);
}

bool hook_queue_overwrites(const struct defect_set *set)
{
    return defect_behaves(set, DEFECT_QUEUE_OVERWRITES);
}
