/* SPDX-License-Identifier: BSD-2-Clause */
/* The upper tester's verbs for Atomic Operations and Immediate Data (RFC 7306). */
#include <stdlib.h>
#include <string.h>

#include "reference-stack/peer/peer_internal.h"

static int get_operation(const json_t *command, enum iwarp_atomic_opcode *operation, struct iwarp_sentence *sentence)
{
    static const struct {
        const char *name;
        enum iwarp_atomic_opcode opcode;
    } names[] = {{"fetch_add", IWARP_ATOMIC_FETCH_ADD},
                 {"swap", IWARP_ATOMIC_SWAP},
                 {"compare_swap", IWARP_ATOMIC_COMPARE_SWAP}};
    const char *text = NULL;

    if (upper_require(command, "operation", sentence) != 0 || upper_string(command, "operation", &text, sentence) != 0)
        return -1;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(text, names[i].name) == 0) {
            *operation = names[i].opcode;
            return 0;
        }
    }
    return iwarp_sentence_set(sentence,
                              "'operation' is '%.40s', \"fetch_add\", \"swap\" or \"compare_swap\" was expected", text);
}

json_t *peer_verb_atomic(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    struct peer_stream *ps = peer_verb_stream(peer, command, sentence);
    struct iwarp_atomic atomic = {.compare_mask = UINT64_MAX};
    struct peer_work *work;
    uint64_t stag = 0;

    if (ps == NULL || get_operation(command, &atomic.operation, sentence) != 0 ||
        upper_require(command, "stag", sentence) != 0)
        return NULL;
    atomic.mask = atomic.operation == IWARP_ATOMIC_FETCH_ADD ? 0 : UINT64_MAX;
    if (upper_number(command, "stag", UINT32_MAX, &stag, sentence) != 0 ||
        upper_number(command, "to", UINT64_MAX, &atomic.to, sentence) != 0 ||
        upper_number(command, "data", UINT64_MAX, &atomic.data, sentence) != 0 ||
        upper_number(command, "mask", UINT64_MAX, &atomic.mask, sentence) != 0 ||
        upper_number(command, "compare", UINT64_MAX, &atomic.compare, sentence) != 0 ||
        upper_number(command, "compare_mask", UINT64_MAX, &atomic.compare_mask, sentence) != 0)
        return NULL;
    work = peer_verb_work(ps, command, sentence);
    if (work == NULL)
        return NULL;
    atomic.stag = (uint32_t)stag;
    atomic.id = (uint64_t)(uintptr_t)work;
    return peer_verb_posted(ps, work, iwarp_stream_post_atomic(ps->stream, &atomic, sentence));
}

json_t *peer_verb_immediate(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    struct peer_stream *ps = peer_verb_stream(peer, command, sentence);
    struct iwarp_immediate immediate = {0};
    struct peer_work *work;
    uint8_t *octets;
    size_t count;

    if (ps == NULL || upper_require(command, "data", sentence) != 0 ||
        upper_flag(command, "solicited", &immediate.solicited, sentence) != 0 ||
        upper_octets(command, "data", IWARP_IMMEDIATE_OCTETS, &octets, &count, sentence) != 0)
        return NULL;
    if (count != IWARP_IMMEDIATE_OCTETS)
        (void)iwarp_sentence_set(sentence, "'data' has %zu octets, %d were expected", count, IWARP_IMMEDIATE_OCTETS);
    else
        memcpy(immediate.octets, octets, IWARP_IMMEDIATE_OCTETS);
    free(octets);
    work = count == IWARP_IMMEDIATE_OCTETS ? peer_verb_work(ps, command, sentence) : NULL;
    if (work == NULL)
        return NULL;
    immediate.id = (uint64_t)(uintptr_t)work;
    return peer_verb_posted(ps, work, iwarp_stream_post_immediate(ps->stream, &immediate, sentence));
}
