/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/core/device_internal.h"

#include "base/splitmix.h"
#include "reference-stack/base/misuse.h"
#include "wire/depth.h"

#include <stdlib.h>
#include <sys/random.h>
#include <string.h>

enum {
    REGIONS_DEFAULT_MAX = 65536,
    ACCESS_KNOWN = IWARP_LOCAL_READ | IWARP_LOCAL_WRITE | IWARP_REMOTE_READ | IWARP_REMOTE_WRITE | IWARP_REMOTE_ATOMIC,
};

struct iwarp_device *iwarp_device_new(const struct iwarp_device_config *config)
{
    struct iwarp_device *device = calloc(1, sizeof(*device));

    if (device == NULL)
        return NULL;
    if (config != NULL)
        device->config = *config;
    if (device->config.ird_max == 0)
        device->config.ird_max = IWARP_DEPTH_DEFAULT_MAX;
    if (device->config.ord_max == 0)
        device->config.ord_max = IWARP_DEPTH_DEFAULT_MAX;
    if (device->config.ird_max > DEPTH_NUMBER_MAX)
        device->config.ird_max = DEPTH_NUMBER_MAX;
    if (device->config.ord_max > DEPTH_NUMBER_MAX)
        device->config.ord_max = DEPTH_NUMBER_MAX;
    if (device->config.regions_max == 0)
        device->config.regions_max = REGIONS_DEFAULT_MAX;
    device->random = device->config.seed;
    return device;
}

static void entry_free(struct region_entry *entry)
{
    if (entry->owned)
        free(entry->region.octets);
    free(entry);
}

static void release(struct iwarp_device *device)
{
    struct region_entry *entry;
    struct region_entry *next;

    HASH_ITER (hh, device->regions, entry, next) {
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): uthash hands over `next` before */
        HASH_DEL(device->regions, entry);
        entry_free(entry);
    }
    faults_release(&device->faults);
    free(device);
}

void iwarp_device_free(struct iwarp_device *device)
{
    if (device == NULL)
        return;
    device->gone = true;
    if (device->users == 0)
        release(device);
}

void device_join(struct iwarp_device *device)
{
    device->users++;
}

void device_leave(struct iwarp_device *device)
{
    if (--device->users == 0 && device->gone)
        release(device);
}

int device_set_faults(struct iwarp_device *device, const struct iwarp_faults *faults)
{
    if (faults == NULL)
        return 0;
    device->faults = faults->ops->device_new(device, faults);
    return device->faults == NULL ? -1 : 0;
}

/* Of the system; with a seed the same for the same seed. */
static uint64_t device_random(struct iwarp_device *device)
{
    uint64_t z;

    if (device->config.seed == 0 && getrandom(&z, sizeof(z), GRND_NONBLOCK) == (ssize_t)sizeof(z))
        return z;
    return splitmix_next(&device->random);
}

struct region_entry *device_entry(const struct iwarp_device *device, uint32_t stag)
{
    struct region_entry *entry;

    HASH_FIND(hh, device->regions, &stag, sizeof(stag), entry);
    return entry;
}

/* An STag that no region has, with an index part (all but the key octet) that is neither all zeros nor all ones. */
static uint32_t stag_draw(struct iwarp_device *device)
{
    for (;;) {
        struct iwarp_region drawn = {.stag = (uint32_t)(device_random(device) >> 32)};

        SEAM(device, region(device, REGION_STAG, &drawn));
        if (drawn.stag >> 8 != 0 && drawn.stag >> 8 != 0xFFFFFF && device_entry(device, drawn.stag) == NULL)
            return drawn.stag;
    }
}

static int region_check(const struct iwarp_device *device, const struct iwarp_region *region,
                        struct iwarp_sentence *sentence)
{
    if (HASH_COUNT(device->regions) >= device->config.regions_max)
        return iwarp_sentence_set(sentence, "region: %zu regions are registered, which is the limit",
                                  device->config.regions_max);
    if ((region->access & ~(unsigned)ACCESS_KNOWN) != 0)
        return iwarp_sentence_set(sentence, "region: access 0x%x, rights out of 0x%x were expected", region->access,
                                  (unsigned)ACCESS_KNOWN);
    if (region->length > SIZE_MAX / 2)
        return iwarp_sentence_set(sentence, "region: a length of %llu octets is more than memory can hold",
                                  (unsigned long long)region->length);
    if (region->length != 0 && region->base + (region->length - 1) < region->base)
        return iwarp_sentence_set(sentence, "region: base 0x%llx plus length %llu exceeds 2^64",
                                  (unsigned long long)region->base, (unsigned long long)region->length);
    if (region->stag != 0 && device_entry(device, region->stag) != NULL)
        return iwarp_sentence_set(sentence, "region: STag 0x%08x is in use", region->stag);
    return 0;
}

int iwarp_region_register(struct iwarp_device *device, struct iwarp_region *region, struct iwarp_sentence *sentence)
{
    struct region_entry *entry;

    if (device == NULL || region == NULL)
        return misuse_null(sentence, "region_register", "a device and a region");
    if (region_check(device, region, sentence) != 0)
        return -1;
    entry = calloc(1, sizeof(*entry));
    if (entry == NULL)
        return iwarp_sentence_set(sentence, "region: out of memory");
    entry->region = *region;
    if (region->octets == NULL) {
        entry->region.octets = calloc(1, region->length == 0 ? 1 : region->length);
        entry->owned = true;
        if (entry->region.octets == NULL) {
            free(entry);
            return iwarp_sentence_set(sentence, "region: out of memory for %llu octets",
                                      (unsigned long long)region->length);
        }
    }
    if (region->stag == 0)
        entry->region.stag = stag_draw(device);
    entry->region.valid = true;
    entry->region.registered = region->length;
    HASH_ADD(hh, device->regions, region.stag, sizeof(entry->region.stag), entry);
    if (hash_lost(entry)) {
        entry_free(entry);
        return iwarp_sentence_set(sentence, "region: out of memory");
    }
    SEAM(device, region(device, REGION_REGISTERED, &entry->region));
    *region = entry->region;
    return 0;
}

/* The region that an STag names, for who is about to change it; NULL with a sentence. */
static struct region_entry *entry_of(const struct iwarp_device *device, uint32_t stag, const char *function,
                                     struct iwarp_sentence *sentence)
{
    struct region_entry *entry;

    if (device == NULL) {
        (void)misuse_null(sentence, function, "a device");
        return NULL;
    }
    entry = device_entry(device, stag);
    if (entry == NULL)
        (void)iwarp_sentence_set(sentence, "region: no STag 0x%08x is registered", stag);
    return entry;
}

int iwarp_region_deregister(struct iwarp_device *device, uint32_t stag, struct iwarp_sentence *sentence)
{
    struct region_entry *entry = entry_of(device, stag, "region_deregister", sentence);

    if (entry == NULL)
        return -1;
    if (SEAM_IF(device, region(device, REGION_DEREGISTERED, &entry->region)))
        return 0;
    if (entry->lent != 0)
        return iwarp_sentence_set(sentence, "region: STag 0x%08x is in use: TCP has not yet sent octets of it", stag);
    HASH_DEL(device->regions, entry);
    entry_free(entry);
    return 0;
}

int iwarp_region_invalidate(struct iwarp_device *device, uint32_t stag, struct iwarp_sentence *sentence)
{
    struct region_entry *entry = entry_of(device, stag, "region_invalidate", sentence);

    if (entry == NULL)
        return -1;
    entry->region.valid = false;
    return 0;
}

int iwarp_region_set_length(struct iwarp_device *device, uint32_t stag, uint64_t length,
                            struct iwarp_sentence *sentence)
{
    struct region_entry *entry = entry_of(device, stag, "region_set_length", sentence);

    if (entry == NULL)
        return -1;
    if (length > entry->region.registered)
        return iwarp_sentence_set(sentence, "region: a range of %llu octets, but %llu are registered",
                                  (unsigned long long)length, (unsigned long long)entry->region.registered);
    if (!SEAM_IF(device, region(device, REGION_RANGE, &entry->region)))
        entry->region.length = length;
    return 0;
}

const struct iwarp_region *iwarp_region_find(const struct iwarp_device *device, uint32_t stag)
{
    const struct region_entry *entry = device == NULL ? NULL : device_entry(device, stag);

    return entry == NULL ? NULL : &entry->region;
}

const struct iwarp_region *iwarp_region_at(const struct iwarp_device *device, size_t n)
{
    const struct region_entry *entry = device == NULL ? NULL : device->regions;

    for (; entry != NULL; entry = entry->hh.next)
        if (n-- == 0)
            return &entry->region;
    return NULL;
}

size_t iwarp_region_count(const struct iwarp_device *device)
{
    return device == NULL ? 0 : HASH_COUNT(device->regions);
}
