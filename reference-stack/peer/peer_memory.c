/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/peer/peer_memory.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "reference-stack/defects/peer_faults.h"
#include "reference-stack/peer/peer_internal.h"
#include "upper-tester/value.h"

/* In front of the front guard. Its size keeps what follows aligned for atomics. */
struct peer_memory {
    alignas(16) struct peer_memory *next;
    struct peer_memory *previous;
    size_t octets;
};

static struct peer_memory *memory_of(const uint8_t *octets)
{
    return (struct peer_memory *)(void *)(uintptr_t)(octets - PEER_GUARD) - 1;
}

uint8_t *peer_memory_new(struct peer *peer, size_t octets)
{
    struct peer_memory *memory = calloc(1, sizeof(*memory) + octets + 2 * (size_t)PEER_GUARD);
    uint8_t *front;

    if (memory == NULL)
        return NULL;
    front = (uint8_t *)(memory + 1);
    memory->octets = octets;
    memory->next = peer->memories;
    if (memory->next != NULL)
        memory->next->previous = memory;
    peer->memories = memory;
    memset(front, PEER_GUARD_OCTET, PEER_GUARD);
    memset(front + PEER_GUARD + octets, PEER_GUARD_OCTET, PEER_GUARD);
    return front + PEER_GUARD;
}

static bool is_guard(const uint8_t *octets)
{
    for (size_t i = 0; i < PEER_GUARD; i++)
        if (octets[i] != PEER_GUARD_OCTET)
            return false;
    return true;
}

bool peer_memory_guarded(const uint8_t *octets)
{
    return is_guard(octets - PEER_GUARD) && is_guard(octets + memory_of(octets)->octets);
}

void peer_memory_free(struct peer *peer, uint8_t *octets)
{
    struct peer_memory *memory = memory_of(octets);

    if (memory->previous != NULL)
        memory->previous->next = memory->next;
    else
        peer->memories = memory->next;
    if (memory->next != NULL)
        memory->next->previous = memory->previous;
    free(memory);
}

void peer_memory_clear(struct peer *peer)
{
    while (peer->memories != NULL) {
        struct peer_memory *memory = peer->memories;

        peer->memories = memory->next;
        free(memory);
    }
}

int peer_memory_mapping(const struct peer *peer, const json_t *command, unsigned *access,
                        struct iwarp_sentence *sentence)
{
    const char *mapping = NULL;

    if (upper_string(command, "mapping", &mapping, sentence) != 0)
        return -1;
    if (mapping == NULL)
        return 0;
    if (strcmp(mapping, "none") == 0)
        return PEER_HOOK_IF(&peer->config, hook_hidden_taken(peer->config.defects))
                   ? 0
                   : iwarp_sentence_set(sentence, "its program has no memory there");
    if (strcmp(mapping, "read_only") != 0)
        return iwarp_sentence_set(sentence, "\"mapping\" is \"%.40s\", \"read_only\" or \"none\" was expected",
                                  mapping);
    *access &= ~(unsigned)IWARP_LOCAL_WRITE;
    if ((*access & (IWARP_REMOTE_WRITE | IWARP_REMOTE_ATOMIC)) == 0 ||
        PEER_HOOK_IF(&peer->config, hook_mapping_unchecked(peer->config.defects)))
        return 0;
    return iwarp_sentence_set(sentence,
                              "memory that is mapped for reading alone cannot be registered for writing by peers");
}
