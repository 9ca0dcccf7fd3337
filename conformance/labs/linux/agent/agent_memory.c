/* SPDX-License-Identifier: BSD-2-Clause */
/* Protection Domains and memory with STags. A region's Tagged Offsets are its virtual addresses. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "conformance/labs/linux/agent/agent.h"

enum { PAGE = 4096, REGION_MOST = 64 << 20, GUARD = 0xC3 };

struct ibv_pd *agent_domain(struct agent *agent, unsigned number, struct agent_reply *reply)
{
    if (number >= AGENT_DOMAINS) {
        (void)agent_unsupported(reply, "protection domains have numbers from 0 to %d", AGENT_DOMAINS - 1);
        return NULL;
    }
    if (agent->domains[number] == NULL) {
        agent->domains[number] = ibv_alloc_pd(agent->device);
        if (agent->domains[number] != NULL)
            agent->scratch[number] =
                ibv_reg_mr(agent->domains[number], agent->scratch_octets, PAGE, IBV_ACCESS_LOCAL_WRITE);
        if (agent->scratch[number] == NULL)
            (void)agent_refuse(reply, "no protection domain: %s", strerror(errno));
    }
    return agent->scratch[number] != NULL ? agent->domains[number] : NULL;
}

static struct agent_region *find(struct agent *agent, const json_t *command, struct agent_reply *reply)
{
    uint64_t stag = UINT64_MAX;

    if (agent_number(command, "stag", &stag, UINT32_MAX, reply) != 0)
        return NULL;
    for (struct agent_region *region = agent->regions; region != NULL; region = region->next)
        if (region->stag == stag)
            return region;
    (void)agent_refuse(reply, "no memory with this STag");
    return NULL;
}

static int read_access(const json_t *command, int *access, struct agent_reply *reply)
{
    unsigned rights = UPPER_REMOTE_READ | UPPER_REMOTE_WRITE;
    struct iwarp_sentence why;

    if (upper_words(command, "access", upper_access_words, &rights, &why) != 0)
        return agent_refuse(reply, "%s", why.text);
    if ((rights & UPPER_REMOTE_ATOMIC) != 0)
        return agent_unsupported(reply, "the device has no atomics");
    *access = IBV_ACCESS_LOCAL_WRITE | ((rights & UPPER_REMOTE_READ) != 0 ? IBV_ACCESS_REMOTE_READ : 0) |
              ((rights & UPPER_REMOTE_WRITE) != 0 ? IBV_ACCESS_REMOTE_WRITE : 0);
    return 0;
}

/* At the base that was asked for where the machine lets us, else elsewhere with the same offset in its page. */
static int map(struct agent_region *region, uint64_t base, struct agent_reply *reply)
{
    uint64_t offset = base % PAGE;
    void *wanted = (void *)(uintptr_t)(base - offset); /* NOLINT: an address by intention */

    region->map_octets = (offset + region->length + PAGE - 1) / PAGE * PAGE + (region->length == 0 ? PAGE : 0);
    region->map = MAP_FAILED;
    if (base >= PAGE) /* not the page at 0: a fault of the agent's would go unseen there */
        region->map = mmap(wanted, region->map_octets, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (region->map == MAP_FAILED)
        region->map = mmap(NULL, region->map_octets, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (region->map == MAP_FAILED)
        return agent_refuse(reply, "no memory: %s", strerror(errno));
    region->base = (uint8_t *)region->map + offset;
    /* Other octets of its pages are unused, and stay as they are. */
    memset(region->map, GUARD, offset);
    memset(region->base + region->length, GUARD, region->map_octets - offset - region->length);
    return 0;
}

static bool is_guard(const uint8_t *octets, const uint8_t *end)
{
    while (octets != end && *octets == GUARD)
        octets++;
    return octets == end;
}

/* Are the other octets of its pages what they were? */
static bool guarded(const struct agent_region *region)
{
    const uint8_t *map = region->map;

    return is_guard(map, region->base) && is_guard(region->base + region->length, map + region->map_octets);
}

static void unmap(struct agent_region *region)
{
    if (region->mr != NULL)
        (void)ibv_dereg_mr(region->mr);
    (void)munmap(region->map, region->map_octets);
    free(region);
}

/*
 * "mapping": "read_only" or "none". Verbs want the local right to write along with the remote one, and no other time
 * here.
 */
static int map_otherwise(struct agent_region *region, const json_t *command, int *access, struct agent_reply *reply)
{
    const char *mapping = NULL;
    struct iwarp_sentence why;

    if (upper_string(command, "mapping", &mapping, &why) != 0)
        return agent_refuse(reply, "%s", why.text);
    if (mapping == NULL)
        return 0;
    region->hidden = strcmp(mapping, "none") == 0;
    if (!region->hidden && strcmp(mapping, "read_only") != 0)
        return agent_refuse(reply, "\"mapping\" is \"%.40s\", \"read_only\" or \"none\" was expected", mapping);
    if ((*access & IBV_ACCESS_REMOTE_WRITE) == 0)
        *access &= ~IBV_ACCESS_LOCAL_WRITE;
    region->read_only = true;
    if (region->hidden)
        return munmap(region->map, region->map_octets) == 0 ? 0 : agent_refuse(reply, "munmap: %s", strerror(errno));
    return mprotect(region->map, region->map_octets, PROT_READ) == 0
               ? 0
               : agent_refuse(reply, "mprotect: %s", strerror(errno));
}

int agent_reg_mr(struct agent *agent, const json_t *command, struct agent_reply *reply)
{
    uint64_t length = 0, base = 0, pd = 0;
    struct agent_region *region;
    struct ibv_pd *domain;
    struct iwarp_sentence why;
    char text[32];
    int access = 0;

    if (json_object_get(command, "stag") != NULL)
        return agent_unsupported(reply, "the device chooses STags itself");
    if (json_object_get(command, "stream") != NULL)
        return agent_unsupported(reply, "memory regions belong to a protection domain, not to one stream");
    if (agent_number(command, "length", &length, REGION_MOST, reply) != 0 ||
        agent_number(command, "base", &base, UINT64_MAX, reply) != 0 ||
        agent_number(command, "pd", &pd, AGENT_DOMAINS - 1, reply) != 0 || read_access(command, &access, reply) != 0)
        return -1;
    if (length == 0)
        return agent_unsupported(reply, "verbs register no region of no octets");
    domain = agent_domain(agent, (unsigned)pd, reply);
    region = calloc(1, sizeof(*region));
    if (domain == NULL || region == NULL || (region->length = length, map(region, base, reply)) != 0) {
        free(region);
        return agent_refuse(reply, "out of memory");
    }
    if (upper_fill(command, region->base, length, &why) != 0) {
        unmap(region);
        return agent_refuse(reply, "%s", why.text);
    }
    if (map_otherwise(region, command, &access, reply) != 0) {
        unmap(region);
        return -1;
    }
    region->mr = ibv_reg_mr(domain, region->base, length, access);
    if (region->mr == NULL) {
        (void)agent_refuse(reply, "ibv_reg_mr: %s", strerror(errno));
        unmap(region);
        return -1;
    }
    if (region->hidden) /* a device that took it: what follows looks into the memory */
        (void)mmap(region->map, region->map_octets, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
                   0);
    region->stag = region->mr->rkey;
    region->next = agent->regions;
    agent->regions = region;
    (void)snprintf(text, sizeof(text), "0x%llx", (unsigned long long)(uintptr_t)region->base);
    json_object_set_new(reply->json, "stag", json_integer(region->stag));
    json_object_set_new(reply->json, "base", json_string(text));
    json_object_set_new(reply->json, "length", json_integer((json_int_t)length));
    json_object_set_new(reply->json, "guarded", json_true());
    return 0;
}

int agent_dereg(struct agent *agent, const json_t *command, struct agent_reply *reply)
{
    struct agent_region *region = find(agent, command, reply);

    if (region == NULL)
        return -1;
    for (struct agent_region **link = &agent->regions; *link != NULL; link = &(*link)->next)
        if (*link == region) {
            *link = region->next;
            break;
        }
    unmap(region);
    return 0;
}

/* Local Invalidate of a region is not in user space's reach; without its registration the STag is as invalid. */
int agent_invalidate(struct agent *agent, const json_t *command, struct agent_reply *reply)
{
    struct agent_region *region = find(agent, command, reply);

    if (region == NULL)
        return -1;
    if (region->mr == NULL)
        return agent_refuse(reply, "this STag is invalid already");
    if (ibv_dereg_mr(region->mr) != 0)
        return agent_refuse(reply, "ibv_dereg_mr: %s", strerror(errno));
    region->mr = NULL;
    return 0;
}

static int range(struct agent_region *region, const json_t *command, uint64_t *offset, uint64_t *length,
                 struct agent_reply *reply)
{
    *offset = 0;
    if (agent_number(command, "offset", offset, region->length, reply) != 0)
        return -1;
    *length = region->length - *offset;
    return agent_number(command, "length", length, *length, reply);
}

int agent_mem_read(struct agent *agent, const json_t *command, struct agent_reply *reply)
{
    struct agent_region *region = find(agent, command, reply);
    uint64_t offset, length;

    if (region == NULL || range(region, command, &offset, &length, reply) != 0)
        return -1;
    json_object_set_new(reply->json, "data", upper_hex(region->base + offset, length));
    json_object_set_new(reply->json, "valid", json_boolean(region->mr != NULL));
    json_object_set_new(reply->json, "guarded", json_boolean(guarded(region)));
    return 0;
}

int agent_mem_write(struct agent *agent, const json_t *command, struct agent_reply *reply)
{
    struct agent_region *region = find(agent, command, reply);
    uint64_t offset, length;
    uint8_t *data;
    size_t count;

    if (region == NULL || range(region, command, &offset, &length, reply) != 0 ||
        agent_octets(command, "data", &data, &count, reply) != 0)
        return -1;
    if (count > length || region->read_only) {
        free(data);
        return agent_refuse(reply, region->read_only ? "the region is mapped for reading alone"
                                                     : "\"data\" goes beyond the region");
    }
    if (count > 0)
        memcpy(region->base + offset, data, count);
    free(data);
    return 0;
}

void agent_memory_reset(struct agent *agent)
{
    while (agent->regions != NULL) {
        struct agent_region *region = agent->regions;

        agent->regions = region->next;
        unmap(region);
    }
}
