/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/reproducer/repro_evidence.h"

#include <stdlib.h>
#include <string.h>

#include "base/octets.h"
#include "conformance/engine/evidence/recorder.h"
#include "generator/cm/roce_frame.h"

/* draft-ietf-opsawg-pcapng 4.1, 4.3, 4.5 */
enum {
    BLOCK_SECTION = 0x0a0d0d0a,
    BLOCK_STATISTICS = 5,
    BLOCK_PACKET = 6,
    BLOCK_HEAD = 8,         /* type, total length */
    BLOCK_TAIL = 4,         /* the length again */
    STATISTICS_OCTETS = 12, /* interface, time */
    PACKET_OCTETS = 20,     /* interface, time, captured and original length */
    OPTION_HEAD = 4,        /* code, length */
    OPTION_COMMENT = 1,
    OPTION_FLAGS = 2,
    FLAGS_INBOUND = 1,
    IP_SCTP = 132,
};

/* Room for one more; zeroed. NULL without memory. */
static struct repro_event *new_event(struct repro_evidence *evidence)
{
    struct repro_event *event;

    if (evidence->count == evidence->room) {
        size_t room = 2 * evidence->room + 64;
        struct repro_event *events = realloc(evidence->events, room * sizeof(*events));

        if (events == NULL)
            return NULL;
        evidence->events = events;
        evidence->room = room;
    }
    event = &evidence->events[evidence->count++];
    *event = (struct repro_event){0};
    return event;
}

/* "upper tester: {request} -> {answer}"; other comments are for people. -1 without memory. */
static int on_comment(struct repro_evidence *evidence, const char *text, size_t length, uint64_t frame)
{
    static const char arrow[] = " -> ";
    size_t head = strlen(RECORDER_COMMAND);
    struct repro_event *event;
    json_error_t where;

    if (length > strlen(evidence->id) + 1 && memcmp(text, evidence->id, strlen(evidence->id)) == 0 &&
        text[strlen(evidence->id)] == ':')
        evidence->begun = evidence->count, evidence->mads_begun = evidence->mad_count; /* where the check begins */
    if (length < head || memcmp(text, RECORDER_COMMAND, head) != 0)
        return 0;
    event = new_event(evidence);
    if (event == NULL)
        return -1;
    event->frame = frame;
    event->asked = json_loadb(text + head, length - head, JSON_DISABLE_EOF_CHECK, &where);
    if (event->asked != NULL && where.position >= 0 && (size_t)where.position + head + strlen(arrow) <= length &&
        memcmp(text + head + where.position, arrow, strlen(arrow)) == 0) {
        size_t at = head + (size_t)where.position + strlen(arrow);

        event->answer = json_loadb(text + at, length - at, 0, NULL);
    }
    if (json_is_object(event->asked) && json_is_object(event->answer))
        return 0;
    json_decref(event->asked);
    json_decref(event->answer);
    evidence->count--;
    evidence->cut = true;
    return 0;
}

/* All comments among the options of a block. *inbound: what epb_flags says. */
static int on_options(struct repro_evidence *evidence, const uint8_t *at, const uint8_t *end, bool *inbound)
{
    uint64_t frame = evidence->count != 0 ? evidence->events[evidence->count - 1].frame : 0;

    while (end - at >= OPTION_HEAD) {
        uint16_t code = octets_get16_little(at), length = octets_get16_little(at + 2); /* as pcapng is written here */

        at += OPTION_HEAD;
        if (code == 0 || length > end - at)
            break;
        if (code == OPTION_FLAGS && length == 4)
            *inbound = (octets_get16_little(at) & 3) == FLAGS_INBOUND;
        if (code == OPTION_COMMENT && on_comment(evidence, (const char *)at, length, frame) != 0)
            return -1;
        size_t padded = ((size_t)length + 3) & ~(size_t)3;

        at += padded < (size_t)(end - at) ? padded : (size_t)(end - at);
    }
    return 0;
}

static struct repro_connection *find_connection(struct repro_evidence *evidence, uint16_t own_port, uint16_t dut_port)
{
    for (size_t i = evidence->connection_count; i-- > 0;)
        if (evidence->connections[i].own_port == own_port && evidence->connections[i].dut_port == dut_port)
            return &evidence->connections[i];
    return NULL;
}

/* The connection of this segment, which may be its first; NULL: none, or no memory. */
static struct repro_connection *connection_of(struct repro_evidence *evidence, const struct packet *packet,
                                              bool from_dut)
{
    uint16_t own_port = from_dut ? packet->destination_port : packet->source_port;
    uint16_t dut_port = from_dut ? packet->source_port : packet->destination_port;
    struct repro_connection *connection = find_connection(evidence, own_port, dut_port);
    bool opens = (packet->flags & (TCP_FLAG_SYN | TCP_FLAG_ACK)) == TCP_FLAG_SYN;

    if (!opens || (connection != NULL && connection->over == SIZE_MAX) ||
        evidence->connection_count == REPRO_CONNECTIONS_MAX)
        return connection;
    if (evidence->connections == NULL)
        evidence->connections = calloc(REPRO_CONNECTIONS_MAX, sizeof(*evidence->connections));
    if (evidence->connections == NULL)
        return NULL;
    connection = &evidence->connections[evidence->connection_count++];
    *connection = (struct repro_connection){.own_port = own_port,
                                            .dut_port = dut_port,
                                            .opened_by_dut = from_dut,
                                            .opened = evidence->count,
                                            .over = SIZE_MAX};
    return connection;
}

static int on_tcp(struct repro_evidence *evidence, const struct packet *packet, const struct repro_event *where)
{
    struct repro_connection *connection = connection_of(evidence, packet, where->from_dut);
    struct repro_event *event;

    if (connection == NULL ||
        (packet->payload_octets == 0 && (packet->flags & (TCP_FLAG_SYN | TCP_FLAG_FIN | TCP_FLAG_RST)) == 0))
        return 0;
    if ((packet->flags & TCP_FLAG_SYN) != 0 && !where->from_dut)
        connection->mss = packet->mss;
    if (evidence->own[0] == '\0') {
        (void)net_address_format(where->from_dut ? &packet->destination : &packet->source, evidence->own,
                                 sizeof(evidence->own));
        (void)net_address_format(where->from_dut ? &packet->source : &packet->destination, evidence->dut,
                                 sizeof(evidence->dut));
    }
    event = new_event(evidence);
    if (event == NULL)
        return -1;
    *event = *where;
    event->connection = (unsigned)(connection - evidence->connections);
    event->flags = packet->flags;
    event->sequence = packet->sequence;
    event->octets = packet->payload;
    event->count = packet->payload_octets;
    if ((packet->flags & (TCP_FLAG_FIN | TCP_FLAG_RST)) != 0 && connection->over == SIZE_MAX)
        connection->over = evidence->count - 1;
    return 0;
}

static int on_mad(struct repro_evidence *evidence, const struct roce_frame *frame, const struct repro_event *where)
{
    struct repro_mad *mads = realloc(evidence->mads, (evidence->mad_count + 1) * sizeof(*mads));

    if (mads == NULL)
        return -1;
    if (evidence->mad_count == 0) {
        evidence->cm_own = where->from_dut ? frame->destination : frame->source;
        evidence->cm_dut = where->from_dut ? frame->source : frame->destination;
    }
    evidence->mads = mads;
    mads[evidence->mad_count++] = (struct repro_mad){
        .frame = where->frame, .from_dut = where->from_dut, .octets = frame->mad, .after = evidence->count};
    return 0;
}

/* What else there is on the link. */
static int on_other(struct repro_evidence *evidence, const uint8_t *frame, size_t count,
                    const struct repro_event *where)
{
    size_t at = PACKET_ETHERNET_OCTETS;
    struct roce_frame roce;

    if (roce_frame_parse(&roce, frame, count))
        return on_mad(evidence, &roce, where);
    if (count >= at + PACKET_IPV6_OCTETS + PACKET_UDP_OCTETS)
        evidence->sctp += frame[at + (octets_get16(frame + 12) == 0x86dd ? 6 : 9)] == IP_SCTP;
    return 0;
}

static int on_packet(struct repro_evidence *evidence, const uint8_t *body, const uint8_t *end, uint64_t number)
{
    struct repro_event where = {.frame = number};
    struct packet packet;
    uint32_t captured, whole;
    const uint8_t *frame = body + PACKET_OCTETS;
    bool inbound = false;

    if (end - body < PACKET_OCTETS)
        return 0;
    captured = octets_get32_little(body + 12);
    whole = octets_get32_little(body + 16);
    if (captured > (size_t)(end - frame))
        return 0;
    const uint8_t *options = frame + (((size_t)captured + 3) & ~(size_t)3);

    if (options < end && on_options(evidence, options, end, &inbound) != 0)
        return -1;
    where.time_ns = (uint64_t)octets_get32_little(body + 4) << 32 | octets_get32_little(body + 8);
    where.from_dut = inbound;
    if (captured != whole)
        evidence->cut = true;
    if (packet_parse(&packet, frame, captured, NULL) == 0 && packet.kind == PACKET_TCP)
        return on_tcp(evidence, &packet, &where);
    return on_other(evidence, frame, captured, &where);
}

/* Which streams of the upper tester are which connections: "connect" names the port, and so does "established". */
static void name_stream(struct repro_evidence *evidence, uint16_t own_port, const json_t *stream)
{
    for (size_t i = 0; own_port != 0 && json_is_integer(stream) && i < evidence->connection_count; i++)
        if (evidence->connections[i].own_port == own_port && evidence->connections[i].stream == 0)
            evidence->connections[i].stream = (uint64_t)json_integer_value(stream);
}

static void name_streams(struct repro_evidence *evidence)
{
    for (size_t i = 0; i < evidence->count; i++) {
        const struct repro_event *event = &evidence->events[i];
        const json_t *happened;
        size_t k;

        if (event->asked == NULL)
            continue;
        const char *verb = json_string_value(json_object_get(event->asked, "verb"));

        if (verb != NULL && strcmp(verb, "connect") == 0)
            name_stream(evidence, (uint16_t)json_integer_value(json_object_get(event->asked, "port")),
                        json_object_get(event->answer, "stream"));
        json_array_foreach(json_object_get(event->answer, "events"), k, happened)
        {
            name_stream(evidence, (uint16_t)json_integer_value(json_object_get(happened, "peer_port")),
                        json_object_get(happened, "stream"));
        }
    }
}

int repro_evidence_read(struct repro_evidence *evidence, const char *id, const uint8_t *octets, size_t size,
                        struct iwarp_sentence *error)
{
    uint64_t number = 0;
    bool ignored;
    int rc = 0;

    *evidence = (struct repro_evidence){.id = id};
    if (size < BLOCK_HEAD || octets_get32_little(octets) != BLOCK_SECTION)
        return iwarp_sentence_set(error, "the evidence is no pcapng file of warpcheck");
    for (size_t at = 0; rc == 0 && size - at >= BLOCK_HEAD + BLOCK_TAIL;) {
        uint32_t type = octets_get32_little(octets + at), length = octets_get32_little(octets + at + 4);

        if (length < BLOCK_HEAD + BLOCK_TAIL || length > size - at)
            break; /* torn: what is before it is whole */
        const uint8_t *body = octets + at + BLOCK_HEAD, *end = octets + at + length - BLOCK_TAIL;

        if (type == BLOCK_PACKET)
            rc = on_packet(evidence, body, end, ++number);
        else if (type == BLOCK_STATISTICS && end - body > STATISTICS_OCTETS)
            rc = on_options(evidence, body + STATISTICS_OCTETS, end, &ignored);
        at += length;
    }
    name_streams(evidence);
    return rc == 0 ? 0 : iwarp_sentence_set(error, "the evidence: out of memory");
}

void repro_evidence_free(struct repro_evidence *evidence)
{
    for (size_t i = 0; i < evidence->count; i++) {
        json_decref(evidence->events[i].asked);
        json_decref(evidence->events[i].answer);
    }
    free(evidence->events);
    free(evidence->connections);
    free(evidence->mads);
    *evidence = (struct repro_evidence){0};
}
