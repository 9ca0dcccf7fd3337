/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of operations that defects and variants implement, and what they keep of each object. */
#include <stdlib.h>

#include "reference-stack/cm/cm_internal.h"
#include "reference-stack/core/device_internal.h"
#include "reference-stack/defects/defect_stream.h"
#include "reference-stack/sctp/sctp.h"

static const struct defect_set no_defects;

/* --- What is kept ------------------------------------------------------------------------------------------------ */

static void *keep(const struct iwarp_faults *faults, size_t octets)
{
    struct kept *kept = calloc(1, octets);

    if (kept == NULL)
        return NULL;
    kept->faults.ops = &defect_fault_ops;
    kept->set = faults == NULL ? &no_defects : defect_set_of(faults);
    return &kept->faults;
}

static struct iwarp_faults *keep_device(struct iwarp_device *device, const struct iwarp_faults *faults)
{
    (void)device;
    return keep(faults, sizeof(struct kept_device));
}

/* Its device has what its streams share, whether or not it has faults of its own. */
static struct iwarp_faults *keep_stream(struct iwarp_stream *stream, const struct iwarp_faults *faults)
{
    if (stream->device->faults == NULL)
        stream->device->faults = keep_device(stream->device, NULL);
    return stream->device->faults == NULL ? NULL : keep(faults, sizeof(struct kept_stream));
}

static struct iwarp_faults *keep_association(struct iwarp_association *association, const struct iwarp_faults *faults)
{
    (void)association;
    return keep(faults, sizeof(struct kept_association));
}

static void release(struct iwarp_faults *kept)
{
    free(kept);
}

static struct cm_faults *keep_agent(struct cm_agent *agent, const struct cm_faults *faults)
{
    struct kept_agent *kept = calloc(1, sizeof(*kept));

    if (kept == NULL)
        return NULL;
    kept->faults.ops = &defect_cm_fault_ops;
    kept->set =
        (const struct defect_set *)(const void *)((const char *)faults - offsetof(struct defect_set, cm_faults));
    defect_cm_config(kept->set, &agent->config);
    return &kept->faults;
}

static void release_agent(struct cm_faults *kept)
{
    free(kept);
}

struct device_faults *device_state(const struct iwarp_device *device)
{
    return &((struct kept_device *)device->faults)->state;
}

const struct defect_set *device_set(const struct iwarp_device *device)
{
    return kept_set(device->faults);
}

struct sctp_faults *association_state(const struct iwarp_association *association)
{
    return &((struct kept_association *)association->faults)->state;
}

const struct defect_set *association_set(const struct iwarp_association *association)
{
    return kept_set(association->faults);
}

struct defect_state *agent_state(const struct cm_agent *agent)
{
    return &((struct kept_agent *)agent->faults)->state;
}

const struct defect_set *agent_set(const struct cm_agent *agent)
{
    return ((const struct kept_agent *)agent->faults)->set;
}

/* --- The operations ---------------------------------------------------------------------------------------------- */

const struct fault_ops defect_fault_ops = {
    .stream_new = keep_stream,
    .device_new = keep_device,
    .association_new = keep_association,
    .release = release,
    .stream_begins = hook_stream_begins,
    .stream_ends = hook_stream_ends,
    .progress = hook_progress,
    .input = hook_input,
    .fin = hook_fin,
    .reset = hook_reset,
    .disconnect = hook_disconnect,
    .flush = hook_flush,
    .post = hook_post,
    .unpostable = hook_unpostable,
    .post_unchecked = hook_post_unchecked,
    .posted = hook_posted,
    .event = hook_event,
    .receive_event = hook_receive_event,
    .event_held = hook_event_held,
    .ddp_state = hook_ddp_state,
    .trace = hook_trace,
    .judge = hook_judge,
    .verdict = hook_verdict,
    .ulpdu = hook_ulpdu,
    .segment = hook_segment,
    .tagged = hook_tagged,
    .untagged = hook_untagged,
    .place = hook_place,
    .message_ends = hook_message_ends,
    .message = hook_message,
    .send_complete = hook_send_complete,
    .invalidated = hook_invalidated,
    .read_done = hook_read_done,
    .server = hook_server,
    .terminate_drops = hook_terminate_drops,
    .delivered = hook_delivered,
    .atomic_request = hook_atomic_request,
    .atomic = hook_atomic,
    .output = hook_output,
    .piece_waits = hook_piece_waits,
    .choose = hook_choose,
    .terminate_waits = hook_terminate_waits,
    .segment_room = hook_segment_room,
    .work_segment = hook_work_segment,
    .response_segment = hook_response_segment,
    .late_read = hook_late_read,
    .domain_changes = hook_domain_changes,
    .ulpdu_posted = hook_ulpdu_posted,
    .piece_done = hook_piece_done,
    .fail = hook_fail,
    .failed = hook_failed,
    .terminate = hook_terminate,
    .terminate_packed = hook_terminate_packed,
    .stag = hook_stag,
    .registered = hook_registered,
    .deregister = hook_deregister,
    .bounds = hook_bounds,
    .request_offer = hook_request_offer,
    .answer_depths = hook_answer_depths,
    .private_made = hook_private_made,
    .answer_rtr = hook_answer_rtr,
    .depths_adopted = hook_depths_adopted,
    .rtr = hook_rtr,
    .startup_begins = hook_startup_begins,
    .start_packed = hook_start_packed,
    .start_parsed = hook_start_parsed,
    .start_whole = hook_start_whole,
    .excess_dropped = hook_excess_dropped,
    .rejected = hook_rejected,
    .agreed = hook_agreed,
    .fpdu_packed = hook_fpdu_packed,
    .portion = hook_portion,
    .fpdu_begun = hook_fpdu_begun,
    .fpdu_parsed = hook_fpdu_parsed,
    .fpdu_good = hook_fpdu_good,
    .input_over = hook_input_over,
    .input_end = hook_input_end,
    .emss = hook_emss,
    .mulpdu = hook_mulpdu,
    .early = hook_early,
    .early_segment = hook_early_segment,
    .early_fpdu = hook_early_fpdu,
    .early_placed = hook_early_placed,
    .private_room = hook_private_room,
    .one_piece = hook_one_piece,
    .sctp_init = hook_sctp_init,
    .sctp_mode = hook_sctp_mode,
    .peer_init = hook_peer_init,
    .error_spreads = hook_error_spreads,
    .down_untold = hook_down_untold,
    .abort_told = hook_abort_told,
    .segment_max = hook_segment_max,
    .ulpdu_framed = hook_ulpdu_framed,
    .sctp_output = hook_sctp_output,
    .first_ssn = hook_first_ssn,
    .next_ssn = hook_next_ssn,
    .refused_lost = hook_refused_lost,
    .outstanding_max = hook_outstanding_max,
    .ppid = hook_ppid,
    .ssn_ahead = hook_ssn_ahead,
    .held_room = hook_held_room,
    .control_overtakes = hook_control_overtakes,
    .initiated = hook_initiated,
    .sid_taken = hook_sid_taken,
    .answer_code = hook_answer_code,
    .accept_policy = hook_accept_policy,
    .close_silent = hook_close_silent,
    .request_full = hook_request_full,
    .refusal = hook_refusal,
    .private_data = hook_private_data,
    .control_untold = hook_control_untold,
    .control_lost = hook_control_lost,
    .session_attached = hook_session_attached,
    .owes_terminate = hook_owes_terminate,
    .speaks_after_end = hook_speaks_after_end,
    .reset_ignored = hook_reset_ignored,
    .lowest_sid = hook_lowest_sid,
    .aborted_taken = hook_aborted_taken,
};

const struct cm_fault_ops defect_cm_fault_ops = {
    .agent_new = keep_agent,
    .release = release_agent,
    .judge = hook_cm_judge,
    .verdict = hook_cm_verdict,
    .listens = hook_cm_listens,
    .input = hook_cm_input,
    .send = hook_cm_send,
    .event = hook_cm_event,
};
