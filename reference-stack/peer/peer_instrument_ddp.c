/* SPDX-License-Identifier: BSD-2-Clause */
/* Instruments of DDP and of what lies above and below it (docs/upper-tester.md). */
#include <stdlib.h>
#include <string.h>

#include "iwarp/instrument.h"
#include "reference-stack/peer/peer_internal.h"

enum { INSTRUMENT_VERSION = 1, NUMBER_OCTETS = 8 };

/* What DDP and its LLP think of this stream. */
json_t *peer_verb_ddp(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    static const char *const states[] = {"ok", "graceful", "erroneous"};
    struct peer_stream *ps = peer_verb_stream(peer, command, sentence);
    struct iwarp_ddp_state state;

    if (ps == NULL)
        return NULL;
    iwarp_stream_ddp(ps->stream, &state);
    return json_pack("{s:i, s:s, s:I, s:I, s:i}", "version", INSTRUMENT_VERSION, "llp", states[state.llp], "send_msn",
                     (json_int_t)state.send_msn, "receive_msn", (json_int_t)state.receive_msn, "system_faults",
                     (int)state.system_faults);
}

/* The next MSNs of QN 0. */
json_t *peer_verb_msn(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    struct peer_stream *ps = peer_verb_stream(peer, command, sentence);
    uint64_t send = 0, receive = 0;

    if (ps == NULL || upper_require(command, "send", sentence) != 0 ||
        upper_require(command, "receive", sentence) != 0 ||
        upper_number(command, "send", UINT32_MAX, &send, sentence) != 0 ||
        upper_number(command, "receive", UINT32_MAX, &receive, sentence) != 0)
        return NULL;
    iwarp_stream_set_msn(ps->stream, (uint32_t)send, (uint32_t)receive);
    return json_true();
}

/* The ULP wants another Protection Domain for the stream. */
json_t *peer_verb_set_pd(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    struct peer_stream *ps = peer_verb_stream(peer, command, sentence);
    uint64_t pd = 0;

    if (ps == NULL || upper_require(command, "pd", sentence) != 0 ||
        upper_number(command, "pd", UINT32_MAX, &pd, sentence) != 0 ||
        iwarp_stream_set_pd(ps->stream, (uint32_t)pd, sentence) != 0)
        return NULL;
    return json_true();
}

/* Sets MULPDU, independent of EMSS. */
json_t *peer_verb_mulpdu(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    struct peer_stream *ps = peer_verb_stream(peer, command, sentence);
    uint64_t mulpdu = 0;

    if (ps == NULL || upper_require(command, "mulpdu", sentence) != 0 ||
        upper_number(command, "mulpdu", IWARP_MULPDU_MAX, &mulpdu, sentence) != 0)
        return NULL;
    if (mulpdu < IWARP_MULPDU_MIN) {
        (void)iwarp_sentence_set(sentence, "'mulpdu' is %llu, at least %d was expected", (unsigned long long)mulpdu,
                                 IWARP_MULPDU_MIN);
        return NULL;
    }
    iwarp_stream_set_mulpdu(ps->stream, (size_t)mulpdu);
    return json_true();
}

/* Responses wait, and with them the execution of atomics. */
json_t *peer_verb_hold(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    struct peer_stream *ps = peer_verb_stream(peer, command, sentence);
    bool hold = true;

    if (ps == NULL || upper_flag(command, "hold", &hold, sentence) != 0)
        return NULL;
    iwarp_stream_hold_responses(ps->stream, hold);
    peer_pump(ps);
    return json_true();
}

json_t *peer_verb_catastrophe(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    static const char *const kinds[] = {"ddp", "rdmap", "response"};
    struct peer_stream *ps = peer_verb_stream(peer, command, sentence);
    const char *kind = NULL;

    if (ps == NULL || upper_require(command, "kind", sentence) != 0 ||
        upper_string(command, "kind", &kind, sentence) != 0)
        return NULL;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(kind, kinds[i]) == 0) {
            iwarp_stream_catastrophe(ps->stream, (enum iwarp_catastrophe)i, peer->now);
            peer_pump(ps);
            return json_true();
        }
    }
    (void)iwarp_sentence_set(sentence, "'kind' is '%.40s', \"ddp\", \"rdmap\" or \"response\" was expected", kind);
    return NULL;
}

static json_t *record_of(const struct iwarp_trace *record)
{
    json_t *object =
        json_pack("{s:s, s:b, s:i, s:I, s:I}", "kind", record->kind == IWARP_TRACE_PLACED ? "placed" : "delivered",
                  "tagged", record->tagged, "opcode", record->opcode, "offset", (json_int_t)record->offset, "octets",
                  (json_int_t)record->octets);

    if (object == NULL)
        return NULL;
    if (record->tagged) {
        (void)json_object_set_new(object, "stag", json_integer(record->stag));
    } else {
        (void)json_object_set_new(object, "qn", json_integer(record->qn));
        (void)json_object_set_new(object, "msn", json_integer(record->msn));
    }
    return object;
}

/* Placements and deliveries since the last call, oldest first; the first call begins. */
json_t *peer_verb_placements(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    struct peer_stream *ps = peer_verb_stream(peer, command, sentence);
    struct iwarp_trace record;
    json_t *records;
    json_t *reply;

    if (ps == NULL)
        return NULL;
    records = json_array();
    reply = json_pack("{s:o}", "records", records);
    /* The records go into the reply. If memory is short for one record, it is lost; the others are reported. */
    while (reply != NULL && iwarp_stream_trace(ps->stream, &record))
        (void)json_array_append_new(records, record_of(&record));
    return reply;
}

/* Octets for the stream, as if TCP had brought them now. */
json_t *peer_verb_inject(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    struct peer_stream *ps = peer_verb_stream(peer, command, sentence);
    uint8_t *octets;
    size_t count;

    if (ps == NULL || upper_require(command, "data", sentence) != 0 ||
        upper_octets(command, "data", PEER_MESSAGE_MAX, &octets, &count, sentence) != 0)
        return NULL;
    iwarp_stream_input(ps->stream, octets, count, peer->now);
    free(octets);
    peer_pump(ps);
    return json_true();
}

/* Eight octets of a region as a number of the device's host: what they hold, and `value` put there. */
json_t *peer_verb_number(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    const struct iwarp_region *region;
    uint64_t stag = 0, offset = 0, value = 0, before;
    char text[24];
    json_t *reply;

    if (upper_require(command, "stag", sentence) != 0 ||
        upper_number(command, "stag", UINT32_MAX, &stag, sentence) != 0 ||
        upper_number(command, "offset", UINT64_MAX, &offset, sentence) != 0 ||
        upper_number(command, "value", UINT64_MAX, &value, sentence) != 0)
        return NULL;
    region = iwarp_region_find(peer->device, (uint32_t)stag);
    if (region == NULL || region->length < NUMBER_OCTETS || offset > region->length - NUMBER_OCTETS) {
        (void)iwarp_sentence_set(sentence, "no STag 0x%08llx is registered with %d octets at 'offset'",
                                 (unsigned long long)stag, NUMBER_OCTETS);
        return NULL;
    }
    memcpy(&before, region->octets + offset, sizeof(before));
    (void)snprintf(text, sizeof(text), "0x%016llx", (unsigned long long)before);
    reply = json_pack("{s:s}", "value", text);
    if (reply != NULL && json_object_get(command, "value") != NULL)
        memcpy(region->octets + offset, &value, sizeof(value));
    return reply;
}
