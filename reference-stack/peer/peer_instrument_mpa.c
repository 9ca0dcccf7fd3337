/* SPDX-License-Identifier: BSD-2-Clause */
/* Instruments of MPA: what it reckons with, and what a ULP has no way to ask of it (docs/upper-tester.md). */
#include <stdlib.h>
#include <string.h>

#include "reference-stack/peer/peer_internal.h"
#include "wire/ddp.h"
#include "wire/fpdu.h"
#include "wire/rdmap.h"

enum { INSTRUMENT_VERSION = 1 };

/* What MPA reckons with on this stream. */
json_t *peer_verb_mpa(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    struct peer_stream *ps = peer_verb_stream(peer, command, sentence);
    struct iwarp_mpa_state state;

    if (ps == NULL)
        return NULL;
    iwarp_stream_mpa(ps->stream, &state);
    return json_pack("{s:i, s:I, s:I, s:b, s:b, s:b, s:b, s:I, s:I, s:I}", "version", INSTRUMENT_VERSION, "emss",
                     (json_int_t)state.emss, "mulpdu", (json_int_t)iwarp_stream_mulpdu(ps->stream), "gate",
                     state.sending_allowed, "send_markers", state.send_markers, "receive_markers",
                     state.receive_markers, "crc", state.crc, "send_position", (json_int_t)state.send_position,
                     "receive_position", (json_int_t)state.receive_position, "waiting", (json_int_t)state.waiting);
}

/* TCP reports a new effective maximum segment size (RFC 5044 4.5). */
json_t *peer_verb_emss(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    struct peer_stream *ps = peer_verb_stream(peer, command, sentence);
    uint64_t emss = 0;
    json_t *number;
    json_t *reply;

    if (ps == NULL || upper_require(command, "emss", sentence) != 0 ||
        upper_number(command, "emss", 65535, &emss, sentence) != 0)
        return NULL;
    reply = peer_reply_number("mulpdu", &number, sentence);
    if (reply == NULL)
        return NULL;
    iwarp_stream_set_emss(ps->stream, (size_t)emss);
    return peer_replied(reply, number, (json_int_t)iwarp_stream_mulpdu(ps->stream));
}

/* A ULPDU of this length for MPA, which DDP has not cut: the one segment of a Write. */
json_t *peer_verb_post_ulpdu(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    struct peer_stream *ps = peer_verb_stream(peer, command, sentence);
    struct ddp_segment segment = {.tagged = true, .last = true, .version = DDP_VERSION};
    uint64_t length = 0, stag = 0;
    uint8_t *ulpdu;
    int result;

    if (ps == NULL || upper_require(command, "length", sentence) != 0 ||
        upper_number(command, "length", UINT16_MAX, &length, sentence) != 0 ||
        upper_number(command, "stag", UINT32_MAX, &stag, sentence) != 0)
        return NULL;
    if (length < DDP_TAGGED_OCTETS) {
        (void)iwarp_sentence_set(sentence, "'length' is %llu, a DDP header has %d octets", (unsigned long long)length,
                                 DDP_TAGGED_OCTETS);
        return NULL;
    }
    ulpdu = calloc(1, (size_t)length);
    if (ulpdu == NULL) {
        (void)iwarp_sentence_set(sentence, "out of memory");
        return NULL;
    }
    segment.stag = (uint32_t)stag;
    segment.control = rdmap_control(IWARP_RDMAP_WRITE);
    (void)ddp_pack_header(&segment, ulpdu);
    upper_count(ulpdu + DDP_TAGGED_OCTETS, (size_t)length - DDP_TAGGED_OCTETS);
    result = iwarp_stream_post_ulpdu(ps->stream, ulpdu, (size_t)length, sentence);
    free(ulpdu);
    peer_pump(ps);
    return result != 0 ? NULL : json_true();
}
