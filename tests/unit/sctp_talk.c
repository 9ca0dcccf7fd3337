/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/sctp_talk.h"

#include <string.h>

#include "wire/ddp.h"
#include "wire/rdmap.h"

enum { PORT = 4420, SCTP_TALK_MESSAGE = 4000 };

void sctp_talk_begin(struct sctp_talk *talk, bool draft, void (*give)(void *ctx, const uint8_t *octets, size_t count),
                     void *ctx)
{
    memset(talk, 0, sizeof(*talk));
    talk->give = give;
    talk->ctx = ctx;
    talk->draft = draft;
    for (unsigned i = 0; i < 2; i++) {
        talk->tag[i] = 0xABCD0000 + i;
        talk->tsn[i] = 0xFFFFFFF0 + i * 0x1000;
        for (unsigned sid = 0; sid < 4; sid++) {
            talk->ssn[i][sid] = draft ? DDP_SCTP_DRAFT_FIRST_SSN : DDP_SCTP_FIRST_SSN;
            talk->msn[i][sid] = DDP_FIRST_MSN;
        }
    }
}

void sctp_talk_flush(struct sctp_talk *talk)
{
    uint8_t frame[SCTP_PACKET_MAX + 64];
    struct packet_ip ip = {.protocol = SCTP_PROTOCOL};
    size_t count;

    if (talk->packet.count <= SCTP_COMMON_OCTETS)
        return;
    net_address_parse(&ip.source, talk->from == 0 ? "10.0.0.1" : "10.0.0.2");
    net_address_parse(&ip.destination, talk->from == 0 ? "10.0.0.2" : "10.0.0.1");
    sctp_packet_close(&talk->packet);
    if (talk->adler)
        sctp_common_set_Checksum(talk->packet.octets, sctp_adler32(talk->packet.octets, talk->packet.count));
    count = packet_build_ip(frame, sizeof(frame), &ip, talk->packet.octets, talk->packet.count);
    talk->packet.count = 0;
    talk->give(talk->ctx, frame + PACKET_ETHERNET_OCTETS, count - PACKET_ETHERNET_OCTETS);
}

static void begin(struct sctp_talk *talk, unsigned from, uint32_t tag)
{
    if (talk->bundling && talk->packet.count != 0 && talk->from == from)
        return;
    sctp_talk_flush(talk);
    talk->from = from;
    sctp_packet_begin(&talk->packet, PORT + (uint16_t)from, PORT + 1 - (uint16_t)from, tag);
}

static void end(struct sctp_talk *talk)
{
    if (!talk->bundling)
        sctp_talk_flush(talk);
}

struct sctp_init sctp_talk_init_of(const struct sctp_talk *talk, unsigned from, uint32_t indication)
{
    return (struct sctp_init){.tag = talk->tag[from],
                              .window = 0x10000,
                              .outbound = 4,
                              .inbound = 4,
                              .initial_tsn = talk->tsn[from],
                              .has_adaptation = indication != 0,
                              .adaptation = indication};
}

void sctp_talk_init(struct sctp_talk *talk, unsigned from, const struct sctp_init *init)
{
    begin(talk, from, from == 0 ? 0 : talk->tag[0]);
    sctp_packet_init(&talk->packet, from == 1, init);
    end(talk);
}

void sctp_talk_chunk(struct sctp_talk *talk, unsigned from, enum sctp_chunk_type type, const void *value, size_t octets)
{
    begin(talk, from, talk->tag[1 - from]);
    sctp_packet_chunk(&talk->packet, type, 0, value, octets);
    end(talk);
}

void sctp_talk_sack(struct sctp_talk *talk, unsigned from)
{
    begin(talk, from, talk->tag[1 - from]);
    sctp_packet_sack(&talk->packet, talk->tsn[1 - from] - 1, 65536);
    end(talk);
}

void sctp_talk_open(struct sctp_talk *talk, uint32_t indication, uint32_t answer)
{
    struct sctp_init init = sctp_talk_init_of(talk, 0, indication), ack = sctp_talk_init_of(talk, 1, answer);

    sctp_talk_init(talk, 0, &init);
    sctp_talk_init(talk, 1, &ack);
    sctp_talk_chunk(talk, 0, SCTP_COOKIE_ECHO, NULL, 16);
    sctp_talk_chunk(talk, 1, SCTP_COOKIE_ACK, NULL, 0);
}

void sctp_talk_user(struct sctp_talk *talk, unsigned from, uint16_t sid, uint32_t ppid, const void *octets,
                    size_t count)
{
    size_t part = talk->mtu != 0 ? talk->mtu : count, at = 0;

    do {
        size_t now = count - at < part ? count - at : part;
        struct sctp_data data = {.unordered = !talk->ordered,
                                 .first = at == 0,
                                 .last = at + now == count,
                                 .tsn = talk->tsn[from]++,
                                 .sid = sid,
                                 .ppid = talk->ppid != 0 ? talk->ppid : ppid,
                                 .user = (const uint8_t *)octets + at,
                                 .user_octets = now};

        begin(talk, from, talk->tag[1 - from]);
        sctp_packet_data(&talk->packet, &data);
        end(talk);
        at += now;
    } while (at < count);
}

void sctp_talk_control(struct sctp_talk *talk, unsigned from, uint16_t sid, uint32_t code, const char *private_data)
{
    const struct ddp_sctp_session_row *row = ddp_sctp_session_row(code);
    struct ddp_sctp_message message = {.code = code,
                                       .private_data = (const uint8_t *)private_data,
                                       .private_octets = private_data != NULL ? strlen(private_data) : 0,
                                       .has_word = row->has_word,
                                       .ird = 1,
                                       .ord = 1};
    uint8_t octets[1024];
    size_t count;

    if (row->active == 1)
        for (unsigned i = 0; i < 2; i++) {
            talk->ssn[i][sid] = DDP_SCTP_FIRST_SSN;
            talk->msn[i][sid] = DDP_FIRST_MSN;
        }
    message.ssn = talk->ssn[from][sid]++;
    count = ddp_sctp_pack_control(&message, octets, sizeof(octets));
    sctp_talk_user(talk, from, sid, DDP_SCTP_PPID_CONTROL, octets, count);
}

void sctp_talk_segment(struct sctp_talk *talk, unsigned from, uint16_t sid, const struct ddp_segment *header,
                       const void *payload, size_t octets)
{
    uint8_t message[SCTP_TALK_MESSAGE];
    size_t at = DDP_SCTP_SSN_OCTETS;

    octets_put16(message, talk->ssn[from][sid]++);
    at += ddp_pack_header(header, message + at);
    if (octets > sizeof(message) - at)
        octets = sizeof(message) - at;
    for (size_t i = 0; i < octets; i++)
        message[at + i] = payload != NULL ? ((const uint8_t *)payload)[i] : (uint8_t)i;
    sctp_talk_user(talk, from, sid, talk->draft ? DDP_SCTP_PPID_DRAFT_SEGMENT : DDP_SCTP_PPID_SEGMENT, message,
                   at + octets);
}

void sctp_talk_send(struct sctp_talk *talk, unsigned from, uint16_t sid, size_t octets)
{
    struct ddp_segment header = {.last = true,
                                 .version = DDP_VERSION,
                                 .control = rdmap_control(IWARP_RDMAP_SEND),
                                 .msn = talk->msn[from][sid]++};

    sctp_talk_segment(talk, from, sid, &header, NULL, octets);
}

void sctp_talk_write(struct sctp_talk *talk, unsigned from, uint16_t sid, size_t octets)
{
    struct ddp_segment header = {.tagged = true,
                                 .last = true,
                                 .version = DDP_VERSION,
                                 .control = rdmap_control(IWARP_RDMAP_WRITE),
                                 .stag = 0x77,
                                 .to = 0x1000};

    sctp_talk_segment(talk, from, sid, &header, NULL, octets);
}

void sctp_talk_reset(struct sctp_talk *talk, unsigned from, uint16_t sid, uint32_t ppid)
{
    static const uint8_t reset[4] = {0, 0, 0, 1};

    sctp_talk_user(talk, from, sid, ppid, reset, sizeof(reset));
    talk->ssn[from][sid] = DDP_SCTP_DRAFT_FIRST_SSN;
    talk->msn[from][sid] = DDP_FIRST_MSN;
}

void sctp_talk_shutdown(struct sctp_talk *talk)
{
    uint8_t cumulative[4];

    octets_put32(cumulative, talk->tsn[1] - 1);
    sctp_talk_chunk(talk, 0, SCTP_SHUTDOWN, cumulative, 4);
    sctp_talk_chunk(talk, 1, SCTP_SHUTDOWN_ACK, NULL, 0);
    sctp_talk_chunk(talk, 0, SCTP_SHUTDOWN_COMPLETE, NULL, 0);
}
