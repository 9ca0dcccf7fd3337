/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/many.h"

#include <string.h>

#include "generator/cm/mad.h"
#include "generator/packet/packet.h"
#include "generator/sctp/sctp.h"
#include "wire/ddp.h"
#include "wire/fpdu.h"
#include "wire/mpa.h"
#include "wire/rdmap.h"

enum { PORTS = 1 << 14, FIRST_PORT = 10000, SERVER_PORT = 4420, SEND_OCTETS = 24 };

/* The client's and the server's address. */
static void ends_of(uint32_t number, struct net_address *client, struct net_address *server)
{
    *client = (struct net_address){.family = 4, .octets = {10, 0, 0, 1}};
    *server = (struct net_address){.family = 4, .octets = {10, 255, 255, 1}};
    octets_put32(client->octets, 0x0A000001 + number / PORTS);
}

static uint16_t port_of(uint32_t number)
{
    return (uint16_t)(FIRST_PORT + number % PORTS);
}

/* A Send with this MSN: the ULPDU. */
static size_t send_of(uint32_t msn, uint8_t *ulpdu)
{
    struct ddp_segment header = {
        .last = true, .version = DDP_VERSION, .control = rdmap_control(IWARP_RDMAP_SEND), .msn = msn};
    size_t at = ddp_pack_header(&header, ulpdu);

    memset(ulpdu + at, 'x', SEND_OCTETS);
    return at + SEND_OCTETS;
}

/* ---- TCP --------------------------------------------------------------------------------------------------------- */

enum tcp_what { TCP_NOTHING, TCP_START, TCP_SEND };

static const struct tcp_step {
    unsigned side; /* that sends it */
    uint8_t flags;
    enum tcp_what what;
    unsigned msn;
} tcp_steps[] = {
    {0, TCP_FLAG_SYN, TCP_NOTHING, 0},
    {1, TCP_FLAG_SYN | TCP_FLAG_ACK, TCP_NOTHING, 0},
    {0, TCP_FLAG_ACK, TCP_NOTHING, 0},
    {0, TCP_FLAG_ACK | TCP_FLAG_PSH, TCP_START, 0},
    {1, TCP_FLAG_ACK | TCP_FLAG_PSH, TCP_START, 0},
    {0, TCP_FLAG_ACK | TCP_FLAG_PSH, TCP_SEND, 1},
    {1, TCP_FLAG_ACK, TCP_NOTHING, 0},
    {1, TCP_FLAG_ACK | TCP_FLAG_PSH, TCP_SEND, 1},
    {0, TCP_FLAG_ACK, TCP_NOTHING, 0},
    {0, TCP_FLAG_ACK | TCP_FLAG_PSH, TCP_SEND, 2},
    {1, TCP_FLAG_ACK, TCP_NOTHING, 0},
    {0, TCP_FLAG_FIN | TCP_FLAG_ACK, TCP_NOTHING, 0},
    {1, TCP_FLAG_FIN | TCP_FLAG_ACK, TCP_NOTHING, 0},
    {0, TCP_FLAG_ACK, TCP_NOTHING, 0},
};

static size_t tcp_payload(const struct tcp_step *step, uint8_t *payload)
{
    struct iwarp_mpa_start start = {
        .kind = step->side == 0 ? IWARP_MPA_REQUEST : IWARP_MPA_REPLY, .crc = true, .revision = 1};
    struct fpdu_framing framing = {.crc = true};
    uint8_t ulpdu[128];

    switch (step->what) {
    case TCP_START: return mpa_start_pack(&start, payload, MANY_FRAME_MAX);
    case TCP_SEND: return fpdu_pack(ulpdu, send_of(step->msn, ulpdu), &framing, payload, MANY_FRAME_MAX);
    default: return 0;
    }
}

static size_t tcp_frame(uint32_t number, unsigned at, uint8_t *frame)
{
    uint32_t next[2] = {number * 7919 + 1, number * 104729 + 5};
    struct packet_tcp fields = {.window = 65535};
    uint8_t payload[MANY_FRAME_MAX];

    for (unsigned i = 0; i < at; i++)
        next[tcp_steps[i].side] +=
            (uint32_t)tcp_payload(&tcp_steps[i], payload) + ((tcp_steps[i].flags & (TCP_FLAG_SYN | TCP_FLAG_FIN)) != 0);
    ends_of(number, tcp_steps[at].side == 0 ? &fields.source : &fields.destination,
            tcp_steps[at].side == 0 ? &fields.destination : &fields.source);
    fields.source_port = tcp_steps[at].side == 0 ? port_of(number) : SERVER_PORT;
    fields.destination_port = tcp_steps[at].side == 0 ? SERVER_PORT : port_of(number);
    fields.flags = tcp_steps[at].flags;
    fields.sequence = next[tcp_steps[at].side];
    fields.acknowledgment = (fields.flags & TCP_FLAG_ACK) != 0 ? next[1 - tcp_steps[at].side] : 0;
    fields.payload = payload;
    fields.payload_octets = tcp_payload(&tcp_steps[at], payload);
    return packet_build_tcp(frame, MANY_FRAME_MAX, &fields);
}

/* ---- SCTP -------------------------------------------------------------------------------------------------------- */

enum sctp_what { SCTP_OF_INIT, SCTP_OF_CHUNK, SCTP_OF_CONTROL, SCTP_OF_SEND, SCTP_OF_SACK };

static const struct sctp_step {
    unsigned side;
    enum sctp_what what;
    unsigned code;        /* chunk type, or Function Code, or MSN */
    unsigned tsn, others; /* that its side has sent before it, and the other one */
} sctp_steps[] = {
    {0, SCTP_OF_INIT, SCTP_INIT, 0, 0},
    {1, SCTP_OF_INIT, SCTP_INIT_ACK, 0, 0},
    {0, SCTP_OF_CHUNK, SCTP_COOKIE_ECHO, 0, 0},
    {1, SCTP_OF_CHUNK, SCTP_COOKIE_ACK, 0, 0},
    {0, SCTP_OF_CONTROL, DDP_SCTP_INITIATE, 0, 0},
    {1, SCTP_OF_SACK, 0, 0, 1},
    {1, SCTP_OF_CONTROL, DDP_SCTP_ACCEPT, 0, 1},
    {0, SCTP_OF_SACK, 0, 1, 1},
    {0, SCTP_OF_SEND, 1, 1, 1},
    {1, SCTP_OF_SACK, 0, 1, 2},
    {1, SCTP_OF_SEND, 1, 1, 2},
    {0, SCTP_OF_SACK, 0, 2, 2},
    {0, SCTP_OF_CONTROL, DDP_SCTP_TERMINATE, 2, 2},
    {1, SCTP_OF_SACK, 0, 2, 3},
    {1, SCTP_OF_CONTROL, DDP_SCTP_TERMINATE, 2, 3},
    {0, SCTP_OF_SACK, 0, 3, 3},
    {0, SCTP_OF_CHUNK, SCTP_ABORT, 3, 3},
};

static void sctp_user(struct sctp_packet *packet, const struct sctp_step *step, uint32_t tsn)
{
    uint8_t octets[128];
    struct ddp_sctp_message message = {.code = step->code, .ssn = (uint16_t)step->tsn};
    struct sctp_data data = {.unordered = true, .first = true, .last = true, .tsn = tsn, .user = octets};

    if (step->what == SCTP_OF_CONTROL) {
        data.ppid = DDP_SCTP_PPID_CONTROL;
        data.user_octets = ddp_sctp_pack_control(&message, octets, sizeof(octets));
    } else {
        data.ppid = DDP_SCTP_PPID_SEGMENT;
        octets_put16(octets, (uint16_t)step->tsn);
        data.user_octets = DDP_SCTP_SSN_OCTETS + send_of(step->code, octets + DDP_SCTP_SSN_OCTETS);
    }
    sctp_packet_data(packet, &data);
}

static size_t sctp_frame(uint32_t number, unsigned at, uint8_t *frame)
{
    const struct sctp_step *step = &sctp_steps[at];
    const uint32_t tags[2] = {0x10000000 + number, 0x20000000 + number};
    const uint32_t first[2] = {number * 31 + 1, number * 37 + 1};
    struct sctp_init init = {.tag = tags[step->side],
                             .window = 65536,
                             .outbound = 4,
                             .inbound = 4,
                             .initial_tsn = first[step->side],
                             .has_adaptation = true,
                             .adaptation = DDP_SCTP_INDICATION_DDP};
    struct packet_ip ip = {.protocol = SCTP_PROTOCOL};
    struct sctp_packet packet;

    ends_of(number, step->side == 0 ? &ip.source : &ip.destination, step->side == 0 ? &ip.destination : &ip.source);
    sctp_packet_begin(&packet, step->side == 0 ? port_of(number) : SERVER_PORT,
                      step->side == 0 ? SERVER_PORT : port_of(number),
                      step->what == SCTP_OF_INIT && step->side == 0 ? 0 : tags[1 - step->side]);
    if (step->what == SCTP_OF_INIT)
        sctp_packet_init(&packet, step->side == 1, &init);
    else if (step->what == SCTP_OF_CHUNK)
        sctp_packet_chunk(&packet, (enum sctp_chunk_type)step->code, 0, NULL, 0);
    else if (step->what == SCTP_OF_SACK)
        sctp_packet_sack(&packet, first[1 - step->side] + step->others - 1, 65536);
    else
        sctp_user(&packet, step, first[step->side] + step->tsn);
    sctp_packet_close(&packet);
    return packet_build_ip(frame, MANY_FRAME_MAX, &ip, packet.octets, packet.count);
}

/* ---- CM ---------------------------------------------------------------------------------------------------------- */

static const struct cm_step {
    unsigned side;
    enum cm_attribute attribute;
} cm_steps[] = {{0, CM_REQ}, {1, CM_REP}, {0, CM_RTU}, {0, CM_DREQ}, {1, CM_DREP}};

static size_t cm_frame(uint32_t number, unsigned at, uint8_t *frame)
{
    const struct cm_step *step = &cm_steps[at];
    const uint32_t ids[2] = {number + 1, number + 0x40000000};
    struct ip_cm_request request = {
        .local_id = ids[0], .transaction = number + 1, .source_port = 49153, .destination_port = 3260, .protocol = 6};
    struct mad_ends ends = {.psn = at};
    uint8_t mad[MAD_OCTETS];

    ends_of(number, &request.source, &request.destination);
    ends_of(number, step->side == 0 ? &ends.source : &ends.destination,
            step->side == 0 ? &ends.destination : &ends.source);
    if (step->attribute == CM_REQ)
        mad_ip_request(mad, &request);
    else
        cm_begin_answer(mad, step->attribute, number + 1 + (at > 2), ids[step->side], ids[1 - step->side]);
    return mad_packet(frame, MANY_FRAME_MAX, MAD_ROCE_V2, &ends, mad);
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    unsigned steps, open;
    size_t (*frame)(uint32_t number, unsigned step, uint8_t *frame);
} layers[MANY_LAYERS] = {
    [MANY_TCP] = {"tcp", sizeof(tcp_steps) / sizeof(tcp_steps[0]), sizeof(tcp_steps) / sizeof(tcp_steps[0]) - 3,
                  tcp_frame},
    [MANY_SCTP] = {"sctp", sizeof(sctp_steps) / sizeof(sctp_steps[0]), sizeof(sctp_steps) / sizeof(sctp_steps[0]) - 1,
                   sctp_frame},
    [MANY_CM] = {"cm", sizeof(cm_steps) / sizeof(cm_steps[0]), sizeof(cm_steps) / sizeof(cm_steps[0]) - 2, cm_frame},
};

enum many_layer many_layer_of(const char *name)
{
    unsigned i = 0;

    while (i < MANY_LAYERS && strcmp(layers[i].name, name) != 0)
        i++;
    return (enum many_layer)i;
}

unsigned many_steps(enum many_layer layer)
{
    return layers[layer].steps;
}

unsigned many_steps_open(enum many_layer layer)
{
    return layers[layer].open;
}

size_t many_frame(enum many_layer layer, uint32_t number, unsigned step, uint8_t *frame)
{
    return layers[layer].frame(number, step, frame);
}
