/* SPDX-License-Identifier: BSD-2-Clause */
/* EMSS and MULPDU (RFC 5044 4.5), and the state of MPA for instruments. */
#include "reference-stack/mpa/mpa.h"

void iwarp_stream_set_emss(struct iwarp_stream *stream, size_t emss)
{
    struct mpa *mpa;

    if (stream == NULL || stream->llp != &mpa_llp || emss == 0)
        return;
    mpa = mpa_of(stream);
    mpa->emss = (size_t)SEAM_NUMBER(stream, NUMBER_EMSS, emss);
    mpa->mulpdu = fpdu_mulpdu(mpa->emss, mpa->send_markers);
}

void iwarp_stream_set_packed(struct iwarp_stream *stream, size_t octets)
{
    if (stream != NULL && stream->llp == &mpa_llp)
        mpa_of(stream)->packed = octets;
}

/* What is left of the segment that other FPDUs have begun; 0 when that is no MULPDU (RFC 5044 4.5: not below 128). */
static size_t mulpdu_left(const struct mpa *mpa)
{
    size_t left = mpa->packed < mpa->emss ? mpa->emss - mpa->packed : 0;
    size_t mulpdu = fpdu_mulpdu(left, mpa->send_markers);

    return mpa->packed != 0 && fpdu_octets(mulpdu, mpa->send_markers, 0) <= left ? mulpdu : 0;
}

size_t mpa_ulpdu_max(const struct iwarp_stream *stream, size_t *left)
{
    const struct mpa *mpa = mpa_of(stream);

    if (left != NULL)
        *left = mulpdu_left(mpa);
    return mpa->mulpdu != 0 ? mpa->mulpdu : fpdu_mulpdu(mpa->emss, mpa->send_markers);
}

void iwarp_stream_mpa(const struct iwarp_stream *stream, struct iwarp_mpa_state *state)
{
    const struct mpa *mpa;

    if (state == NULL)
        return;
    if (stream == NULL || stream->llp != &mpa_llp) {
        *state = (struct iwarp_mpa_state){0};
        return;
    }
    mpa = mpa_of(stream);
    *state = (struct iwarp_mpa_state){.emss = mpa->emss,
                                      .sending_allowed = stream->outbound.segments_allowed,
                                      .send_markers = mpa->send_markers,
                                      .receive_markers = mpa->receive_markers,
                                      .crc = mpa->crc,
                                      .send_position = mpa->transmit_position,
                                      .receive_position = mpa->receive_position,
                                      .waiting = mpa->receive_count};
}

/* What MPA passes to DDP, with what orders it (RFC 5044 3). */
void mpa_trace(struct iwarp_stream *stream, const struct fpdu *fpdu, uint32_t position, bool early)
{
    struct iwarp_event *event = stream->config.trace ? stream_event(stream, IWARP_EVENT_ULPDU) : NULL;

    if (event == NULL)
        return;
    event->octets = fpdu->ulpdu_length;
    event->value = position;
    event->early = early;
    stream_event_done(stream, event);
}
