/* SPDX-License-Identifier: BSD-2-Clause */
/* Which stream a command is about. */
#include "reference-stack/peer/peer_internal.h"

struct peer_stream *peer_verb_numbered(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    uint64_t number = 0;
    struct peer_stream *ps;

    if (upper_require(command, "stream", sentence) != 0 ||
        upper_number(command, "stream", UINT32_MAX, &number, sentence) != 0)
        return NULL;
    ps = peer_stream_find(peer, (uint32_t)number);
    if (ps == NULL)
        (void)iwarp_sentence_set(sentence, "there is no stream %llu", (unsigned long long)number);
    return ps;
}

struct peer_stream *peer_verb_usable(struct peer_stream *ps, struct iwarp_sentence *sentence)
{
    if (ps == NULL || ps->stream != NULL)
        return ps;
    (void)iwarp_sentence_set(sentence, "stream %lu is %s", (unsigned long)ps->number,
                             ps->dead ? "over" : "not connected yet");
    return NULL;
}

struct peer_stream *peer_verb_stream(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    return peer_verb_usable(peer_verb_numbered(peer, command, sentence), sentence);
}
