/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults of registered memory. */
#include "reference-stack/core/device_internal.h"
#include "reference-stack/defects/defect_internal.h"

#define STAG_FACTOR UINT64_C(0xD1342543DE82EF95) /* of a generator whose upper halves look drawn by chance */

enum { STAG_STEP = 0x100, STAG_SMALL_MAX = 0xFFFF };

static uint32_t drawn(const struct iwarp_device *device, uint32_t good)
{
    struct device_faults *faults = device_state(device);

    if (defect_behaves(device_set(device), DEFECT_STAG_STEPS))
        faults->stag = faults->stag == 0 ? good : faults->stag + STAG_STEP;
    else if (defect_behaves(device_set(device), DEFECT_STAG_SMALL))
        faults->stag = STAG_STEP + good % (STAG_SMALL_MAX - STAG_STEP);
    else if (defect_behaves(device_set(device), DEFECT_STAG_RESTARTS))
        faults->stag = (uint32_t)((faults->drawn = (faults->drawn + 1) * STAG_FACTOR) >> 32);
    else
        return good;
    return faults->stag;
}

static void registered(const struct iwarp_device *device, struct iwarp_region *region)
{
    if (defect_behaves(device_set(device), DEFECT_RIGHTS_IGNORED))
        region->access |= IWARP_REMOTE_READ | IWARP_REMOTE_WRITE;
    if (defect_behaves(device_set(device), DEFECT_MEMORY_ANYWHERE))
        region->base = ((uint64_t)region->stag << 24) + 0x10;
}

bool seam_region(struct iwarp_device *device, enum region_step step, struct iwarp_region *region)
{
    switch (step) {
    case REGION_STAG: region->stag = drawn(device, region->stag); return false;
    case REGION_REGISTERED: registered(device, region); return false;
    case REGION_DEREGISTERED: return defect_behaves(device_set(device), DEFECT_DEREG_NOTHING);
    case REGION_RANGE: return defect_behaves(device_set(device), DEFECT_BOUNDS_KEPT);
    default: return false;
    }
}
