/* SPDX-License-Identifier: BSD-2-Clause */
/* The upper tester's verbs for Sends and Writes. */
#include <stdlib.h>
#include <string.h>

#include "reference-stack/peer/peer_internal.h"

/* A number of octets. */
int peer_verb_length(const struct peer_stream *ps, const json_t *command, uint64_t most, uint64_t *length,
                     struct iwarp_sentence *sentence)
{
    const struct peer_config *config = &ps->peer->config;
    uint64_t limit = PEER_HOOK_VALUE(config, most, hook_length_limit(config->defects, most));

    if (upper_number(command, "length", limit, length, sentence) != 0)
        return -1;
    PEER_HOOK(config, hook_length(config->defects, length));
    return *length <= most ? 0 : iwarp_sentence_set(sentence, "'length' is beyond %llu", (unsigned long long)most);
}

/* Work with the command's payload: `data`, or `length` octets of "count" pattern. NULL with a sentence. */
static struct peer_work *payload_of(struct peer_stream *ps, const json_t *command, struct iwarp_sentence *sentence)
{
    struct peer_work *work;
    uint64_t length = 0;
    uint8_t *octets;
    size_t count;

    if (upper_payload_once(command, sentence) != 0 ||
        upper_octets(command, "data", PEER_MESSAGE_MAX, &octets, &count, sentence) != 0)
        return NULL;
    length = count;
    if (octets == NULL && peer_verb_length(ps, command, PEER_MESSAGE_MAX, &length, sentence) != 0)
        return NULL;
    work = peer_work_new(ps, length);
    if (work == NULL) {
        (void)iwarp_sentence_set(sentence, "out of memory");
    } else if (peer_verb_id(command, work, sentence) != 0) {
        peer_work_free(ps, work);
        work = NULL;
    } else if (octets != NULL) {
        memcpy(work->data, octets, count);
    } else {
        upper_count(work->data, length);
    }
    free(octets);
    return work;
}

/* A Send or Write posted. */
static json_t *data_posted(struct peer_stream *ps, struct peer_work *work, int result, enum iwarp_event_kind done)
{
    const struct peer_config *config = &ps->peer->config;

    if (result == 0 && PEER_HOOK_IF(config, hook_done_when_posted(config->defects)))
        peer_event_early(ps, done, work);
    return peer_verb_posted(ps, work, result);
}

static json_t *send_one(struct peer_stream *ps, const json_t *command, uint64_t *at, struct iwarp_sentence *sentence)
{
    struct iwarp_send send = {0};
    struct peer_work *work;
    uint64_t stag = 0;
    uint64_t opcode = 0;

    (void)at;
    if (upper_flag(command, "solicited", &send.solicited, sentence) != 0 ||
        upper_flag(command, "fence", &send.fence, sentence) != 0 ||
        upper_number(command, "invalidate", UINT32_MAX, &stag, sentence) != 0 ||
        upper_number(command, "opcode", 15, &opcode, sentence) != 0)
        return NULL;
    work = payload_of(ps, command, sentence);
    if (work == NULL)
        return NULL;
    send.invalidate = json_object_get(command, "invalidate") != NULL;
    send.stag = (uint32_t)stag;
    send.opcode = (uint8_t)opcode;
    send.id = (uint64_t)(uintptr_t)work;
    send.octets = work->data;
    send.count = work->octets;
    return data_posted(ps, work, iwarp_stream_post_send(ps->stream, &send, sentence), IWARP_EVENT_SEND_DONE);
}

static json_t *write_one(struct peer_stream *ps, const json_t *command, uint64_t *at, struct iwarp_sentence *sentence)
{
    struct iwarp_write write = {0};
    struct peer_work *work;
    uint64_t stag = 0;
    const struct peer_config *config = &ps->peer->config;

    if ((!PEER_HOOK_IF(config, hook_stag_optional(config->defects)) && upper_require(command, "stag", sentence) != 0) ||
        upper_number(command, "stag", UINT32_MAX, &stag, sentence) != 0 ||
        upper_number(command, "to", UINT64_MAX, &write.to, sentence) != 0 ||
        upper_flag(command, "fence", &write.fence, sentence) != 0)
        return NULL;
    work = payload_of(ps, command, sentence);
    if (work == NULL)
        return NULL;
    write.stag = (uint32_t)stag;
    write.to += *at;
    *at += work->octets;
    write.id = (uint64_t)(uintptr_t)work;
    write.octets = work->data;
    write.count = work->octets;
    return data_posted(ps, work, iwarp_stream_post_write(ps->stream, &write, sentence), IWARP_EVENT_WRITE_DONE);
}

typedef json_t *(*post_one)(struct peer_stream *ps, const json_t *command, uint64_t *at,
                            struct iwarp_sentence *sentence);

/* `data` may be a gather list: its pieces make one message (RFC 5040 5.1, 5.3). */
static json_t *post_gathered(struct peer *peer, const json_t *command, post_one post, struct iwarp_sentence *sentence)
{
    struct peer_stream *ps = peer_verb_stream(peer, command, sentence);
    const json_t *data = json_object_get(command, "data");
    size_t pieces = json_array_size(data);
    size_t share = PEER_HOOK_VALUE(&peer->config, pieces, hook_gathered(peer->config.defects, pieces));
    json_t *reply = NULL;
    uint64_t at = 0;

    if (ps == NULL)
        return NULL;
    if (!json_is_array(data))
        /* cppcheck-suppress returnDanglingLifetime ; a new reply, which does not know of `at` */
        return post(ps, command, &at, sentence);
    if (pieces == 0) {
        (void)iwarp_sentence_set(sentence, "'data' is a gather list without pieces");
        return NULL;
    }
    for (size_t i = 0; i < pieces; i += share) {
        json_t *gathered = peer_gathered(command, "data", i, share);

        json_decref(reply);
        reply = gathered == NULL ? NULL : post(ps, gathered, &at, sentence);
        json_decref(gathered);
        if (reply == NULL)
            return NULL;
    }
    return reply;
}

json_t *peer_verb_send(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    return post_gathered(peer, command, send_one, sentence);
}

json_t *peer_verb_write(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    return post_gathered(peer, command, write_one, sentence);
}
