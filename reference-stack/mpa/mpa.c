/* SPDX-License-Identifier: BSD-2-Clause */
/* MPA as core calls it (core/llp.h), and what a program creates: a stream over a TCP connection. */
#include "reference-stack/mpa/mpa.h"

#include <stdlib.h>

void iwarp_stream_config_default(struct iwarp_stream_config *config, enum iwarp_role role)
{
    if (config == NULL)
        return;
    stream_config_default(config, role);
    config->revision = MPA_REV_2;
    config->enhanced = true;
    config->crc = true;
    config->emss = MPA_EMSS_DEFAULT;
}

static int check(const struct iwarp_stream_config *config, struct iwarp_sentence *sentence)
{
    bool word = config->enhanced && config->revision >= MPA_REV_2;
    size_t room =
        IWARP_MPA_PRIVATE_DATA_MAX - (word ? MPA_ENHANCED_OCTETS : 0) - (config->smbd && !word ? SMBD_OCTETS : 0);

    if (config->revision != MPA_REV_1 && config->revision != MPA_REV_2)
        return iwarp_sentence_set(sentence, "stream: revision %u is not known, 1 or 2 was expected", config->revision);
    if (config->private_octets > room)
        return iwarp_sentence_set(sentence, "stream: %u octets of Private Data, at most %zu fit",
                                  config->private_octets, room);
    if (config->peer_to_peer && config->role == IWARP_INITIATOR && (!word || (config->rtr & IWARP_RTR_ALL) == 0))
        return iwarp_sentence_set(sentence,
                                  "stream: peer-to-peer needs an enhanced Rev 2 Request and at least one RTR message");
    return 0;
}

struct iwarp_stream *iwarp_stream_new(struct iwarp_device *device, const struct iwarp_stream_config *config,
                                      uint64_t now, struct iwarp_sentence *sentence)
{
    return stream_new(&mpa_llp, device, config, now, sentence);
}

static int begin(struct iwarp_stream *stream, struct iwarp_sentence *sentence)
{
    struct mpa *mpa = mpa_of(stream);

    mpa->emss = stream->config.emss == 0 ? MPA_EMSS_DEFAULT : stream->config.emss;
    return startup_begin(stream, sentence);
}

static void release(struct iwarp_stream *stream)
{
    struct mpa *mpa = mpa_of(stream);

    free(mpa->receive_buffer);
    free(mpa->scratch);
    free(mpa->ulpdu_buffer);
}

static void input(struct iwarp_stream *stream, const uint8_t *octets, size_t count)
{
    if (!stream->end.dropping && (stream->state == IWARP_STATE_STARTUP || stream->state == IWARP_STATE_DECISION)) {
        size_t used = startup_input(stream, octets, count);

        octets += used;
        count -= used;
    }
    if (!stream->end.dropping && count != 0)
        receive_octets(stream, octets, count);
    else
        stream->counters.octets_dropped += count;
}

static void input_end(struct iwarp_stream *stream)
{
    const struct mpa *mpa = mpa_of(stream);

    if (stream->state == IWARP_STATE_STARTUP || stream->state == IWARP_STATE_DECISION) {
        /* A frame cut short by FIN has a PD_Length that differs from its Private Data (RFC 5044 7.1.1). */
        stream_fail_with(stream, mpa->start_count != 0 ? "MPA-7.1.1-28" : NULL,
                         mpa->start_count != 0 ? TERM_MPA_START_FRAME : TERM_MPA_CONNECTION_LOST, VALIDATION_CLOSE,
                         "the peer closed before the start-up frames were exchanged");
    } else if (mpa->receive_count != 0 && !stream->end.dropping) {
        stream_fail_with(stream, NULL, TERM_MPA_CONNECTION_LOST, VALIDATION_CLOSE,
                         "the peer closed in the middle of an FPDU");
    }
}

static void overdue(struct iwarp_stream *stream)
{
    stream_fail_with(stream, stream->config.role == IWARP_RESPONDER ? "MPA-7.1.2-26" : "MPA-7.1.2-31",
                     TERM_MPA_START_FRAME, VALIDATION_CLOSE, "no complete start-up frame within the time limit");
}

static size_t answer_room(const struct iwarp_stream *stream)
{
    const struct mpa *mpa = mpa_of(stream);

    return IWARP_MPA_PRIVATE_DATA_MAX - (iwarp_mpa_start_has_word(&mpa->peer) ? MPA_ENHANCED_OCTETS : 0) -
           (mpa->smbd ? SMBD_OCTETS : 0);
}

/* MPA has no message for the end: TCP's FIN is all that there is (RFC 5044 7.2). */
static bool close_nothing(struct iwarp_stream *stream)
{
    (void)stream;
    return false;
}

static void state(const struct iwarp_stream *stream, struct iwarp_event *event)
{
    const struct mpa *mpa = mpa_of(stream);

    if (!stream->established && mpa->start_count >= MPA_START_OCTETS)
        event->start = mpa->peer;
}

const struct llp_ops mpa_llp = {
    .state_octets = sizeof(struct mpa),
    .lost = TERM_MPA_CONNECTION_LOST,
    .check = check,
    .begin = begin,
    .release = release,
    .input = input,
    .input_end = input_end,
    .overdue = overdue,
    .answer_room = answer_room,
    .answer = startup_reply,
    .ulpdu_max = mpa_ulpdu_max,
    .frame = frame_ulpdu,
    .close = close_nothing,
    .state = state,
};
