/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/transport/carrier.h"

void carrier_follow_emss(struct carrier *carrier, const struct carrier_ops *ops, void *transport,
                         struct iwarp_stream *stream, uint64_t now)
{
    size_t emss;

    if (ops->emss == NULL ||
        (now - carrier->emss_polled_at < CARRIER_EMSS_PERIOD && carrier->emss_octets < CARRIER_EMSS_OCTETS))
        return;
    carrier->emss_polled_at = now;
    carrier->emss_octets = 0;
    emss = ops->emss(transport);
    if (emss == 0 || emss == carrier->emss)
        return;
    carrier->emss = emss;
    iwarp_stream_set_emss(stream, emss);
}

/* Only a stream that has sent its FIN has a use for the answer, which costs a system call. */
static void follow_acknowledged(const struct carrier_ops *ops, void *transport, struct iwarp_stream *stream,
                                uint64_t now)
{
    if (transport != NULL && ops->unacknowledged != NULL && iwarp_stream_wants(stream) == IWARP_WANT_CLOSE)
        iwarp_stream_set_unacknowledged(stream, ops->unacknowledged(transport), now);
}

void carrier_tick(const struct carrier_ops *ops, void *transport, struct iwarp_stream *stream, uint64_t now)
{
    follow_acknowledged(ops, transport, stream, now);
    iwarp_stream_tick(stream, now);
}

bool carrier_settle(struct carrier *carrier, const struct carrier_ops *ops, void *transport,
                    struct iwarp_stream *stream, uint64_t now)
{
    enum iwarp_want want = iwarp_stream_wants(stream);

    if (want == IWARP_WANT_ABORT) {
        ops->abort(transport);
        return true;
    }
    if (want == IWARP_WANT_CLOSE && !carrier->shut) {
        carrier->shut = true;
        ops->shutdown(transport);
        follow_acknowledged(ops, transport, stream, now);
    }
    if (iwarp_stream_state(stream) != IWARP_STATE_CLOSED)
        return false;
    ops->release(transport);
    return true;
}
