/* SPDX-License-Identifier: BSD-2-Clause */
/* Verbs that are different over SCTP, or that only SCTP has (docs/upper-tester.md). */
#include <utlist.h>

#include "reference-stack/peer/peer_association.h"

json_t *peer_verb_status(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    static const char *const states[] = {"startup",     "decision", "fenced", "operation",
                                         "terminating", "closing",  "exited", "closed"};
    struct peer_stream *ps = peer_verb_stream(peer, command, sentence);
    const struct iwarp_stream_counters *counters;
    json_t *reply;

    if (ps == NULL)
        return NULL;
    counters = iwarp_stream_counters(ps->stream);
    reply = json_pack("{s:s, s:i, s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:i, s:i, s:i, s:i}", "state",
                      states[iwarp_stream_state(ps->stream)], "ird", (int)iwarp_stream_ird(ps->stream), "ord",
                      (int)iwarp_stream_ord(ps->stream), "mulpdu", (int)iwarp_stream_mulpdu(ps->stream), "fpdus_sent",
                      (json_int_t)counters->fpdus_sent, "fpdus_received", (json_int_t)counters->fpdus_received,
                      "segments_placed", (json_int_t)counters->segments_placed, "octets_placed",
                      (json_int_t)counters->octets_placed, "segments_early", (json_int_t)counters->segments_early,
                      "crc_errors", (json_int_t)counters->crc_errors, "marker_errors",
                      (json_int_t)counters->marker_errors, "octets_dropped", (json_int_t)counters->octets_dropped,
                      "reads_outstanding", (int)counters->reads_outstanding, "reads_outstanding_max",
                      (int)counters->reads_outstanding_max, "reads_served", (int)counters->requests_queued,
                      "reads_served_max", (int)counters->requests_queued_max);
    if (reply == NULL || ps->association == NULL)
        return reply;
    (void)json_object_set_new(reply, "association", json_integer(ps->association->number));
    (void)json_object_set_new(reply, "sid", json_integer(ps->sid));
    return reply;
}

static struct peer_association *association_of(const struct peer *peer, const json_t *command,
                                               struct iwarp_sentence *sentence)
{
    struct peer_association *pa;
    uint64_t number = 0;

    if (upper_require(command, "association", sentence) != 0 ||
        upper_number(command, "association", UINT32_MAX, &number, sentence) != 0)
        return NULL;
    pa = peer_association_find(peer, (uint32_t)number);
    if (pa == NULL)
        (void)iwarp_sentence_set(sentence, "there is no association %llu", (unsigned long long)number);
    return pa;
}

static json_t *verb_capabilities(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    static const char *const more[] = {"association_up", "association_down", "control"};
    bool draft = peer->config.association.profile == IWARP_SCTP_DRAFT02;
    json_t *reply = peer_verb_capabilities(peer, command, sentence);
    int status = reply == NULL;

    status |= json_object_set_new(reply, "llp", json_string("sctp"));
    status |= json_object_set_new(reply, "sctp_profile", json_string(draft ? "draft02" : "rfc5043"));
    for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
        status |= json_array_append_new(json_object_get(reply, "events"), json_string(more[i]));
    if (status == 0)
        return reply;
    json_decref(reply);
    (void)iwarp_sentence_set(sentence, "out of memory");
    return NULL;
}

/* --- connect ------------------------------------------------------------------------------------------------------ */

/* The association that is to carry the stream: one that is there, or a new one. NULL with a sentence. */
static struct peer_association *carrier_of(struct peer *peer, const json_t *command, const struct peer_options *options,
                                           struct iwarp_sentence *sentence)
{
    struct peer_sctp_place place = {0};
    struct peer_association *pa;
    uint64_t port = 0, udp_port = 0;

    if (json_object_get(command, "association") != NULL)
        return association_of(peer, command, sentence);
    if (upper_require(command, "address", sentence) != 0 || upper_require(command, "port", sentence) != 0 ||
        upper_string(command, "address", &place.address, sentence) != 0 ||
        upper_number(command, "port", UINT16_MAX, &port, sentence) != 0 ||
        upper_number(command, "udp_port", UINT16_MAX, &udp_port, sentence) != 0)
        return NULL;
    place.port = (uint16_t)port;
    place.udp_port = (uint16_t)udp_port;
    pa = peer_association_new(peer, options, sentence);
    if (pa == NULL)
        return NULL;
    pa->transport = peer->ops->sctp->connect(peer->context, &place, pa->association, pa, sentence);
    if (pa->transport != NULL)
        return pa;
    peer_association_free(pa);
    return NULL;
}

static json_t *verb_connect(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    bool shared = json_object_get(command, "association") != NULL;
    struct peer_association *pa;
    struct peer_options options;
    struct peer_stream *ps;
    uint64_t sid = UINT64_MAX;
    json_t *reply;

    peer_options_default(&options);
    if (upper_number(command, "sid", UINT16_MAX, &sid, sentence) != 0 ||
        peer_get_options(peer, command, &options, sentence) != 0 ||
        iwarp_sctp_stream_config_check(peer->device, &options.config, sentence) != 0)
        return NULL;
    pa = carrier_of(peer, command, &options, sentence);
    if (pa == NULL)
        return NULL;
    ps = peer_stream_new(peer, &options, NULL);
    reply = ps == NULL ? NULL : json_pack("{s:i, s:i}", "stream", (int)ps->number, "association", (int)pa->number);
    if (reply == NULL) {
        (void)iwarp_sentence_set(sentence, "no more streams");
        if (ps != NULL)
            peer_stream_free(ps);
        if (!shared)
            peer_association_free(pa);
        return NULL;
    }
    ps->sid = sid == UINT64_MAX ? -1 : (int)sid;
    ps->connecting = true;
    peer_association_join(pa, ps);
    if (pa->up)
        peer_association_begin(ps);
    peer_association_pump(pa);
    return reply;
}

/* --- Associations ------------------------------------------------------------------------------------------------- */

static json_t *verb_association(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    const struct peer_association *pa = association_of(peer, command, sentence);
    const struct iwarp_association_counters *counters;
    const struct peer_stream *ps;
    int streams = 0;

    if (pa == NULL)
        return NULL;
    counters = iwarp_association_counters(pa->association);
    DL_COUNT2(pa->streams, ps, streams, next_of);
    return json_pack("{s:b, s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:i, s:i, s:i, s:I}", "up", pa->up, "streams",
                     streams, "segment_max", (int)iwarp_association_segment_max(pa->association), "messages_sent",
                     (json_int_t)counters->messages_sent, "messages_received", (json_int_t)counters->messages_received,
                     "dropped", (json_int_t)counters->dropped, "duplicates", (json_int_t)counters->duplicates,
                     "refused", (json_int_t)counters->refused, "held_octets", (json_int_t)counters->held_octets,
                     "held_octets_max", (json_int_t)counters->held_octets_max, "pending", (int)counters->pending,
                     "pending_max", (int)counters->pending_most, "pending_limit", (int)pa->pending_max,
                     "outstanding_max", (json_int_t)counters->outstanding_most);
}

static json_t *verb_shutdown(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    struct peer_association *pa = association_of(peer, command, sentence);

    if (pa == NULL)
        return NULL;
    iwarp_association_close(pa->association, peer->now);
    peer_association_pump(pa);
    return json_true();
}

static json_t *verb_abort_association(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    struct peer_association *pa = association_of(peer, command, sentence);

    if (pa == NULL)
        return NULL;
    iwarp_association_abort(pa->association, peer->now);
    peer_association_pump(pa);
    return json_true();
}

/* Changes the MTU of the path, as an ICMP message would. SCTP gets the new MTU first, and passes it to DDP. */
static json_t *verb_set_mtu(struct peer *peer, const json_t *command, struct iwarp_sentence *sentence)
{
    enum { MTU_LEAST = 512, MTU_MOST = 9000 }; /* libusrsctp knows none below */
    struct peer_association *pa = association_of(peer, command, sentence);
    uint64_t mtu = 0;
    json_t *number;
    json_t *reply;

    if (pa == NULL || upper_require(command, "mtu", sentence) != 0 ||
        upper_number(command, "mtu", MTU_MOST, &mtu, sentence) != 0)
        return NULL;
    if (mtu < MTU_LEAST || peer->ops->sctp->set_packet_max == NULL || pa->transport == NULL) {
        (void)iwarp_sentence_set(sentence,
                                 mtu < MTU_LEAST ? "'mtu' is less than 512" : "SCTP cannot be told of a path MTU");
        return NULL;
    }
    reply = peer_reply_number("segment_max", &number, sentence);
    if (reply == NULL)
        return NULL;
    peer->ops->sctp->set_packet_max(pa->transport, (size_t)mtu - peer->config.association.network_octets);
    iwarp_association_set_mtu(pa->association, (size_t)mtu);
    peer_association_pump(pa);
    return peer_replied(reply, number, (json_int_t)iwarp_association_segment_max(pa->association));
}

/* clang-format off */
const struct peer_verb_row peer_association_verbs[] = {
    {"capabilities",      verb_capabilities,      ""},
    {"connect",           verb_connect,           "address port udp_port association sid +"},
    {"association",       verb_association,       "association"},
    {"set_mtu",           verb_set_mtu,           "association mtu"},
    {"shutdown",          verb_shutdown,          "association"},
    {"abort_association", verb_abort_association, "association"},
    {NULL, NULL, NULL},
};
/* clang-format on */
