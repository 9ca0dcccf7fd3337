/* SPDX-License-Identifier: BSD-2-Clause */
/* The upper tester's instruments: what only an instrumented stack can show or do. */
#include <string.h>

#include "reference-stack/peer/peer_internal.h"
#include "wire/terminate.h"

static json_t *region_row(const struct iwarp_region *region)
{
    char base[32];

    (void)snprintf(base, sizeof(base), "0x%llx", (unsigned long long)region->base);
    return json_pack("{s:I, s:s, s:I, s:o, s:I, s:I, s:b}", "stag", (json_int_t)region->stag, "base", base, "length",
                     (json_int_t)region->length, "access", peer_access(region->access), "pd", (json_int_t)region->pd,
                     "stream", (json_int_t)region->stream, "valid", region->valid);
}

/* The table of STags as the device holds it, not as it was asked for. */
json_t *peer_verb_regions(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    json_t *rows = json_array();
    const struct iwarp_region *region;

    (void)command;
    for (size_t i = 0; (region = iwarp_region_at(peer->device, i)) != NULL; i++)
        if (json_array_append_new(rows, region_row(region)) != 0) {
            json_decref(rows);
            (void)iwarp_sentence_set(sentence, "out of memory");
            return NULL;
        }
    return json_pack("{s:o}", "regions", rows);
}

/* The device as a whole fails: each stream that can still send sends a Terminate (RFC 5040 4.8: 0/2/08). */
json_t *peer_verb_fault(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    bool one = PEER_HOOK_IF(&peer->config, hook_fault_on_one(peer->config.defects));
    json_int_t reported = 0;
    json_t *number;
    json_t *reply = peer_reply_number("streams", &number, sentence);

    (void)command;
    if (reply == NULL)
        return NULL;
    for (struct peer_stream *ps = peer->streams; ps != NULL && !(one && reported == 1); ps = ps->next) {
        if (ps->stream == NULL ||
            iwarp_stream_terminate(ps->stream, TERM_RDMAP_CATASTROPHIC_GLOBAL, peer->now, NULL) != 0)
            continue;
        reported++;
        peer_pump(ps);
    }
    return peer_replied(reply, number, reported);
}
