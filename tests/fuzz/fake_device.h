/* SPDX-License-Identifier: BSD-2-Clause */
/* The device that stands behind fake_verbs.h. What it holds is counted, so that what is not given back is found. */
#ifndef TESTS_FUZZ_FAKE_DEVICE_H
#define TESTS_FUZZ_FAKE_DEVICE_H

#include "tests/fuzz/fake_verbs.h"
#include "tests/fuzz/fuzz.h"

struct fake_device; /* opaque; there is one */

extern struct ibv_context fake_context;
extern struct ibv_pd fake_domain;
extern struct rdma_event_channel fake_events;
extern struct ibv_comp_channel fake_completions;

/* Off and on again: nothing is held, no call fails. */
void fake_device_reset(void);

/* What the device or a peer of its own does; `how` chooses among what is possible now. */
void fake_device_act(uint8_t what, uint8_t how);

/* The call after so many more fails. */
void fake_device_fail(unsigned after);

/* Memory regions, queues and identifiers that were made and not given back. */
size_t fake_device_held(void);

/*
 * For the parts of the device: does this call fail (with errno)? Things that are held; the key of a new memory region.
 */
bool fake_device_fails(void);
void *fake_device_made(size_t octets);
void fake_device_unmade(void *memory);
uint32_t fake_device_next_key(void);

#endif
