/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of operations that defects and variants implement, and what they keep of each object. */
#include <stdlib.h>

#include "reference-stack/cm/cm_internal.h"
#include "reference-stack/core/device_internal.h"
#include "reference-stack/defects/defect_stream.h"
#include "reference-stack/sctp/sctp.h"

static const struct defect_set no_defects;

/* --- What is kept ------------------------------------------------------------------------------------------------ */

static void *keep(const struct iwarp_faults *faults, size_t octets, void (*forget)(struct kept *kept))
{
    struct kept *kept = calloc(1, octets);

    if (kept == NULL)
        return NULL;
    kept->faults.ops = &defect_fault_ops;
    kept->set = faults == NULL ? &no_defects : defect_set_of(faults);
    kept->forget = forget;
    return kept;
}

static struct iwarp_faults *keep_device(struct iwarp_device *device, const struct iwarp_faults *faults)
{
    (void)device;
    return keep(faults, sizeof(struct kept_device), NULL);
}

static void forget_stream(struct kept *kept)
{
    struct kept_stream *own = (struct kept_stream *)kept;

    defect_stream_ends(own->stream);
    ring_free(&own->state.atomics);
    free(own->state.ulpdu.octets);
    free(own->state.waiting.octets);
}

/* Its device has what its streams share, whether or not it has faults of its own. */
static struct iwarp_faults *keep_stream(struct iwarp_stream *stream, const struct iwarp_faults *faults)
{
    struct kept_stream *kept;

    if (stream->device->faults == NULL)
        stream->device->faults = keep_device(stream->device, NULL);
    kept = stream->device->faults == NULL ? NULL : keep(faults, sizeof(*kept), forget_stream);
    if (kept == NULL)
        return NULL;
    kept->stream = stream;
    ring_init(&kept->state.atomics, sizeof(uint64_t));
    kept->kept.faults.lower = stream->llp == &mpa_llp ? (const void *)&defect_mpa_ops : &defect_sctp_ops;
    stream->faults = &kept->kept.faults;
    defect_stream_begins(stream);
    return stream->faults;
}

static void forget_association(struct kept *kept)
{
    free(((struct kept_association *)kept)->state.run.octets);
}

static struct iwarp_faults *keep_association(struct iwarp_association *association, const struct iwarp_faults *faults)
{
    struct kept_association *kept = keep(faults, sizeof(*kept), forget_association);

    (void)association;
    if (kept == NULL)
        return NULL;
    kept->kept.faults.lower = &defect_sctp_ops;
    return &kept->kept.faults;
}

static void release(struct iwarp_faults *faults)
{
    struct kept *kept = (struct kept *)faults;

    if (kept->forget != NULL)
        kept->forget(kept);
    free(kept);
}

int defect_run_reserve(struct defect_run *run, size_t octets)
{
    uint8_t *bigger;

    if (octets <= run->room)
        return 0;
    bigger = realloc(run->octets, octets);
    if (bigger == NULL)
        return -1;
    run->octets = bigger;
    run->room = octets;
    return 0;
}

static struct cm_faults *keep_agent(struct cm_agent *agent, const struct cm_faults *faults)
{
    struct kept_agent *kept = calloc(1, sizeof(*kept));

    if (kept == NULL)
        return NULL;
    kept->faults.ops = &defect_cm_fault_ops;
    kept->set =
        (const struct defect_set *)(const void *)((const char *)faults - offsetof(struct defect_set, cm_faults));
    hook_cm_config(kept->set, &agent->config);
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

struct cm_left *agent_left(const struct cm_agent *agent)
{
    return &((struct kept_agent *)agent->faults)->left;
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
    .number = seam_number,
    .decide = seam_decide,
    .judge = seam_judge,
    .input = seam_input,
    .ending = seam_ending,
    .event = seam_event,
    .posted = seam_posted,
    .terms = seam_terms,
    .fail = seam_fail,
    .region = seam_region,
    .segment = seam_segment,
    .buffer = seam_buffer,
    .place = seam_place,
    .early = seam_early,
    .message = seam_message,
    .serve = seam_serve,
    .delivered = seam_delivered,
    .atomic = seam_atomic,
    .output = seam_output,
    .turn = seam_turn,
    .source = seam_source,
    .header = seam_header,
    .ulpdu = seam_ulpdu,
    .terminate = seam_terminate,
    .sent = seam_sent,
};

const struct cm_fault_ops defect_cm_fault_ops = {
    .agent_new = keep_agent,
    .release = release_agent,
    .judge = seam_cm_judge,
    .listens = seam_cm_listens,
    .input = seam_cm_input,
    .send = seam_cm_send,
    .event = seam_cm_event,
};
