/* SPDX-License-Identifier: BSD-2-Clause */
/* The last frames, in memory of a fixed size: for what is to be kept of the time before a finding. */
#ifndef CONFORMANCE_ENGINE_MONITOR_FRAMES_H
#define CONFORMANCE_ENGINE_MONITOR_FRAMES_H

#include <stddef.h>

#include "conformance/flow/event/flow_frame.h"

struct monitor_frames; /* opaque */

/* `octets`: for frames and what is noted of each. NULL without memory. */
struct monitor_frames *monitor_frames_new(size_t octets);
void monitor_frames_free(struct monitor_frames *frames); /* NULL is allowed */

/* Keeps a copy; the oldest ones go for it. One that is longer than all the room is not kept. */
void monitor_frames_add(struct monitor_frames *frames, const struct flow_frame *frame);

/* Calls `each` with every frame that is there, the oldest first; their octets are valid until the next one is added. */
void monitor_frames_each(const struct monitor_frames *frames, void (*each)(void *user, const struct flow_frame *frame),
                         void *user);

#endif
