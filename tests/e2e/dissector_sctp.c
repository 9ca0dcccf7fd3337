/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dissector_sctp FOLDER: the captures of DDP over SCTP and of CM messages, always the same; adds to FOLDER/sent.tsv how
 * many DDP Segments each has.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generator/mad.h"
#include "generator/sctp.h"
#include "wire/atomic.h"
#include "wire/rdmap.h"

enum { FRAME_MAX = 2048, HELD_MAX = 64, PORT = 4420 };

static FILE *manifest;

/* A capture while it is written; frames may be held back to go in another order. */
struct capture {
    FILE *file;
    uint64_t time_us;
    unsigned segments;
    bool draft;
    bool ipv6;
    uint32_t tag[2], tsn[2];
    uint16_t ssn[2][4];
    uint32_t msn[2][4][4]; /* by side, SID, QN */
    size_t mtu;
    bool holding;
    uint8_t held[HELD_MAX][FRAME_MAX];
    size_t held_octets[HELD_MAX], held_count;
    struct sctp_packet packet;
    bool bundling;
};

static void put_le(FILE *file, uint32_t value, unsigned octets)
{
    for (unsigned i = 0; i < octets; i++)
        fputc((int)(value >> 8 * i & 0xFF), file);
}

static void write_frame(struct capture *c, const uint8_t *frame, size_t count)
{
    c->time_us += 100;
    put_le(c->file, (uint32_t)(1000000000 + c->time_us / 1000000), 4);
    put_le(c->file, (uint32_t)(c->time_us % 1000000), 4);
    put_le(c->file, (uint32_t)count, 4);
    put_le(c->file, (uint32_t)count, 4);
    fwrite(frame, 1, count, c->file);
}

static void give(struct capture *c, const uint8_t *frame, size_t count)
{
    if (!c->holding) {
        write_frame(c, frame, count);
        return;
    }
    memcpy(c->held[c->held_count], frame, count);
    c->held_octets[c->held_count++] = count;
}

/* What was held, last one first. */
static void release(struct capture *c)
{
    c->holding = false;
    while (c->held_count > 0) {
        c->held_count--;
        write_frame(c, c->held[c->held_count], c->held_octets[c->held_count]);
    }
}

static void flush(struct capture *c, unsigned from)
{
    struct packet_ip ip = {.ethernet_source = {2, 0, 0, 0, 0, (uint8_t)(1 + from)},
                           .ethernet_destination = {2, 0, 0, 0, 0, (uint8_t)(2 - from)},
                           .protocol = SCTP_PROTOCOL};
    const char *ends[2] = {c->ipv6 ? "fd00::1" : "192.0.2.1", c->ipv6 ? "fd00::2" : "192.0.2.2"};
    uint8_t frame[SCTP_PACKET_MAX + 64];
    size_t count;

    net_address_parse(&ip.source, ends[from]);
    net_address_parse(&ip.destination, ends[1 - from]);
    sctp_packet_close(&c->packet);
    count = packet_build_ip(frame, sizeof(frame), &ip, c->packet.octets, c->packet.count);
    c->packet.count = 0;
    give(c, frame, count);
}

static void begin(struct capture *c, unsigned from, uint32_t tag)
{
    if (c->packet.count == 0)
        sctp_packet_begin(&c->packet, (uint16_t)(PORT + from), (uint16_t)(PORT + 1 - from), tag);
}

static void end(struct capture *c, unsigned from)
{
    if (!c->bundling)
        flush(c, from);
}

static void chunk(struct capture *c, unsigned from, enum sctp_chunk_type type, size_t octets)
{
    begin(c, from, c->tag[1 - from]);
    sctp_packet_chunk(&c->packet, type, 0, NULL, octets);
    end(c, from);
}

static void open_association(struct capture *c, bool draft, uint32_t first, uint32_t second)
{
    c->draft = draft;
    for (unsigned i = 0; i < 2; i++) {
        struct sctp_init init = {.tag = 0xABCD0000 + i,
                                 .window = 65536,
                                 .outbound = 4,
                                 .inbound = 4,
                                 .initial_tsn = 0xFFFFFFFC + i * 1000,
                                 .has_adaptation = true,
                                 .adaptation = i == 0 ? first : second};

        c->tag[i] = init.tag;
        c->tsn[i] = init.initial_tsn;
        begin(c, i, i == 0 ? 0 : c->tag[0]);
        sctp_packet_init(&c->packet, i == 1, &init);
        flush(c, i);
        for (unsigned sid = 0; sid < 4; sid++) {
            c->ssn[i][sid] = draft ? DDP_SCTP_DRAFT_FIRST_SSN : DDP_SCTP_FIRST_SSN;
            for (unsigned qn = 0; qn < 4; qn++)
                c->msn[i][sid][qn] = DDP_FIRST_MSN;
        }
    }
    chunk(c, 0, SCTP_COOKIE_ECHO, 16);
    chunk(c, 1, SCTP_COOKIE_ACK, 0);
}

static void user(struct capture *c, unsigned from, uint16_t sid, uint32_t ppid, const uint8_t *octets, size_t count)
{
    size_t part = c->mtu != 0 ? c->mtu : count, at = 0;

    do {
        size_t now = count - at < part ? count - at : part;
        struct sctp_data data = {.unordered = true,
                                 .first = at == 0,
                                 .last = at + now == count,
                                 .tsn = c->tsn[from]++,
                                 .sid = sid,
                                 .ppid = ppid,
                                 .user = octets + at,
                                 .user_octets = now};

        begin(c, from, c->tag[1 - from]);
        sctp_packet_data(&c->packet, &data);
        end(c, from);
        at += now;
    } while (at < count);
}

static void control(struct capture *c, unsigned from, uint16_t sid, uint32_t code, const char *private_data)
{
    const struct ddp_sctp_session_row *row = ddp_sctp_session_row(code);
    struct ddp_sctp_message message = {.code = code,
                                       .has_word = row->has_word,
                                       .private_data = (const uint8_t *)private_data,
                                       .private_octets = strlen(private_data),
                                       .peer_to_peer = true,
                                       .rtr_write = true,
                                       .ird = 4,
                                       .ord = 2};
    uint8_t octets[256];
    size_t count;

    if (row->active == 1)
        for (unsigned i = 0; i < 2; i++) {
            c->ssn[i][sid] = DDP_SCTP_FIRST_SSN;
            for (unsigned qn = 0; qn < 4; qn++)
                c->msn[i][sid][qn] = DDP_FIRST_MSN;
        }
    message.ssn = c->ssn[from][sid]++;
    count = ddp_sctp_pack_control(&message, octets, sizeof(octets));
    user(c, from, sid, DDP_SCTP_PPID_CONTROL, octets, count);
}

static void segment(struct capture *c, unsigned from, uint16_t sid, struct ddp_segment ddp, enum rdmap_opcode opcode,
                    const uint8_t *header, size_t header_octets, size_t payload)
{
    uint8_t octets[SCTP_PACKET_MAX];
    size_t at = DDP_SCTP_SSN_OCTETS;

    ddp.version = DDP_VERSION;
    ddp.control = rdmap_control(opcode);
    octets_put16(octets, c->ssn[from][sid]++);
    at += ddp_pack_header(&ddp, octets + at);
    if (header_octets != 0)
        memcpy(octets + at, header, header_octets);
    at += header_octets;
    for (size_t i = 0; i < payload; i++)
        octets[at + i] = (uint8_t)(i * 7 + 1);
    user(c, from, sid, c->draft ? DDP_SCTP_PPID_DRAFT_SEGMENT : DDP_SCTP_PPID_SEGMENT, octets, at + payload);
    c->segments++;
}

static void send_message(struct capture *c, unsigned from, uint16_t sid, size_t payload)
{
    segment(c, from, sid, (struct ddp_segment){.last = true, .msn = c->msn[from][sid][0]++}, RDMAP_SEND, NULL, 0,
            payload);
}

static void send_in_two(struct capture *c, unsigned from, uint16_t sid, size_t each)
{
    uint32_t msn = c->msn[from][sid][0]++;

    segment(c, from, sid, (struct ddp_segment){.msn = msn}, RDMAP_SEND, NULL, 0, each);
    segment(c, from, sid, (struct ddp_segment){.last = true, .msn = msn, .mo = (uint32_t)each}, RDMAP_SEND, NULL, 0,
            each);
}

static void write_message(struct capture *c, unsigned from, uint16_t sid, size_t payload)
{
    segment(c, from, sid, (struct ddp_segment){.tagged = true, .last = true, .stag = 0xB1, .to = 0x1000}, RDMAP_WRITE,
            NULL, 0, payload);
}

static void read_both(struct capture *c, unsigned from, uint16_t sid, uint32_t octets)
{
    struct read_request read = {0xA1, 0x2000, octets, 0xB1, 0x3000};
    uint8_t header[READ_REQUEST_OCTETS];

    read_request_pack(&read, header);
    segment(c, from, sid, (struct ddp_segment){.last = true, .qn = 1, .msn = c->msn[from][sid][1]++},
            RDMAP_READ_REQUEST, header, sizeof(header), 0);
    segment(c, 1 - from, sid, (struct ddp_segment){.tagged = true, .last = true, .stag = 0xA1, .to = 0x2000},
            RDMAP_READ_RESPONSE, NULL, 0, octets);
}

static void close_association(struct capture *c)
{
    chunk(c, 0, SCTP_SHUTDOWN, 4);
    chunk(c, 1, SCTP_SHUTDOWN_ACK, 0);
    chunk(c, 0, SCTP_SHUTDOWN_COMPLETE, 0);
}

/* ---- captures of SCTP ---------------------------------------------------------------------------------------------- */

/* Every session control message: accepted, rejected, refused by the adaptation layer; plain and enhanced. */
static void sctp_sessions(struct capture *c)
{
    open_association(c, false, 1, 1);
    control(c, 0, 0, DDP_SCTP_INITIATE, "hello");
    control(c, 1, 0, DDP_SCTP_ACCEPT, "welcome");
    send_message(c, 0, 0, 20);
    send_message(c, 1, 0, 21);
    write_message(c, 0, 0, 100);
    read_both(c, 0, 0, 60);
    send_in_two(c, 0, 0, 500);
    control(c, 0, 0, DDP_SCTP_TERMINATE, "");
    control(c, 1, 0, DDP_SCTP_TERMINATE, "");
    control(c, 0, 0, DDP_SCTP_ENHANCED_INITIATE, "again");
    control(c, 1, 0, DDP_SCTP_ENHANCED_ACCEPT, "");
    write_message(c, 0, 0, 0);
    send_message(c, 1, 0, 5);
    control(c, 1, 0, DDP_SCTP_TERMINATE, "");
    control(c, 1, 1, DDP_SCTP_INITIATE, "");
    control(c, 0, 1, DDP_SCTP_REJECT, "no");
    control(c, 0, 2, DDP_SCTP_ENHANCED_INITIATE, "");
    control(c, 1, 2, DDP_SCTP_ENHANCED_REJECT, "no");
    control(c, 0, 3, DDP_SCTP_INITIATE, "");
    control(c, 1, 3, DDP_SCTP_TERMINATE, "");
    close_association(c);
}

/* The draft: no sessions; a Stream Reset by its table and by its text. */
static void sctp_draft(struct capture *c)
{
    static const uint8_t reset[DDP_SCTP_DRAFT_CONTROL_OCTETS] = {0, 0, 0, DDP_SCTP_STREAM_RESET};

    open_association(c, true, 2, 2);
    send_message(c, 0, 1, 10);
    write_message(c, 0, 1, 30);
    send_message(c, 1, 1, 11);
    user(c, 0, 1, DDP_SCTP_PPID_DRAFT_CONTROL, reset, sizeof(reset));
    c->ssn[0][1] = DDP_SCTP_DRAFT_FIRST_SSN;
    c->msn[0][1][0] = DDP_FIRST_MSN;
    send_message(c, 0, 1, 12);
    user(c, 1, 1, DDP_SCTP_PPID_DRAFT_SEGMENT, reset, sizeof(reset));
    c->ssn[1][1] = DDP_SCTP_DRAFT_FIRST_SSN;
    c->msn[1][1][0] = DDP_FIRST_MSN;
    send_message(c, 1, 1, 13);
    close_association(c);
}

/* User messages in fragments; then several chunks in a packet; then each packet before the one before it. */
static void sctp_order(struct capture *c)
{
    open_association(c, false, 1, 1);
    control(c, 0, 0, DDP_SCTP_INITIATE, "");
    control(c, 1, 0, DDP_SCTP_ACCEPT, "");
    c->mtu = 60;
    send_message(c, 0, 0, 200);
    c->mtu = 0;
    c->bundling = true;
    send_message(c, 0, 0, 10);
    write_message(c, 0, 0, 11);
    send_message(c, 0, 0, 12);
    flush(c, 0);
    c->bundling = false;
    c->holding = true;
    for (unsigned i = 0; i < 4; i++)
        send_message(c, 0, 0, 30 + i);
    release(c);
    c->holding = true;
    c->mtu = 50;
    send_message(c, 0, 0, 120);
    release(c);
    c->mtu = 0;
    control(c, 0, 0, DDP_SCTP_TERMINATE, "");
    close_association(c);
}

/* No INIT in the capture; one packet twice, one lost. */
static void sctp_late(struct capture *c)
{
    FILE *file = c->file;

    c->file = fopen("/dev/null", "wb");
    open_association(c, false, 1, 1);
    control(c, 0, 0, DDP_SCTP_INITIATE, "");
    control(c, 1, 0, DDP_SCTP_ACCEPT, "");
    fclose(c->file);
    c->file = file;
    send_message(c, 0, 0, 20);
    send_message(c, 1, 0, 21);
    c->tsn[0]--;
    c->ssn[0][0]--;
    c->msn[0][0][0]--;
    send_message(c, 0, 0, 20); /* the same TSN again */
    c->segments--;
    c->ssn[0][0]++;
    c->tsn[0]++;
    c->msn[0][0][0]++;
    send_message(c, 0, 0, 22);
    control(c, 0, 0, DDP_SCTP_TERMINATE, "");
    c->time_us += 30000;
    begin(c, 1, c->tag[0]);
    sctp_packet_sack(&c->packet, c->tsn[0] - 1, 65536);
    flush(c, 1);
}

/* Everything that a passive rule can find fault with, as far as one association has room for it. */
static void sctp_faults(struct capture *c)
{
    open_association(c, false, 1, 1);
    send_message(c, 0, 2, 9); /* no session */
    control(c, 0, 0, DDP_SCTP_INITIATE, "");
    control(c, 1, 0, DDP_SCTP_ACCEPT, "");
    user(c, 0, 3, 0, (const uint8_t *)"plain", 5);
    control(c, 0, 0, DDP_SCTP_TERMINATE, "why");
    user(c, 1, 0, DDP_SCTP_PPID_CONTROL, (const uint8_t *)"\0\1\0\x09", 4);
}

static void sctp_over_ipv6(struct capture *c)
{
    c->ipv6 = true;
    sctp_sessions(c);
}

/* ---- captures of CM messages --------------------------------------------------------------------------------------- */

static enum mad_carrier carrier;
static bool in_erf;

static void give_mad(struct capture *c, unsigned from, const uint8_t *mad)
{
    bool four = carrier == MAD_ROCE_V2 && !c->ipv6;
    const char *ends[2] = {four ? "192.0.2.1" : "fe80::1", four ? "192.0.2.2" : "fe80::2"};
    struct mad_ends addresses = {.source_lid = (uint16_t)(1 + from), .destination_lid = (uint16_t)(2 - from)};
    uint8_t frame[512];
    size_t head = in_erf ? 16 : 0, count;

    net_address_parse(&addresses.source, ends[from]);
    net_address_parse(&addresses.destination, ends[1 - from]);
    count = mad_packet(frame + head, sizeof(frame) - head, carrier, &addresses, mad);
    if (in_erf)
        erf_header(frame, 1000000000 * UINT64_C(1000000000), count);
    write_frame(c, frame, head + count);
}

static void give_request(struct capture *c, uint32_t id, uint8_t protocol, uint16_t port)
{
    struct ip_cm_request request = {.local_id = id,
                                    .transaction = id,
                                    .source_port = 49153,
                                    .destination_port = port,
                                    .protocol = protocol,
                                    .consumer = (const uint8_t *)"consumer",
                                    .consumer_octets = 8};
    uint8_t mad[MAD_OCTETS];

    net_address_parse(&request.source, c->ipv6 ? "fd00::1" : "192.0.2.1");
    net_address_parse(&request.destination, c->ipv6 ? "fd00::2" : "192.0.2.2");
    mad_ip_request(mad, &request);
    give_mad(c, 0, mad);
}

static void give_answer(struct capture *c, unsigned from, enum cm_attribute attribute, uint32_t local, uint32_t remote)
{
    uint8_t mad[MAD_OCTETS];

    mad_answer(mad, attribute, 1, local, remote);
    give_mad(c, from, mad);
}

static void cm_exchanges(struct capture *c)
{
    static const uint8_t aris[][6] = {{0, 1, 1, 0, 0}, {0, 6, 0, 0}, {1, 9}, {0, 0}};
    static const uint8_t octets[] = {5, 4, 2, 2};
    uint8_t mad[MAD_OCTETS];

    give_request(c, 0xA1, 6, 3260);
    mad_answer(mad, CM_MRA, 1, 0xB1, 0xA1);
    mad[24 + 9] = 0xA0;
    give_mad(c, 1, mad);
    give_answer(c, 1, CM_REP, 0xB1, 0xA1);
    give_answer(c, 0, CM_RTU, 0xA1, 0xB1);
    give_answer(c, 0, CM_DREQ, 0xA1, 0xB1);
    give_answer(c, 1, CM_DREP, 0xB1, 0xA1);
    for (uint32_t i = 0; i < 4; i++) {
        give_request(c, 0xC1 + i, 132, 2049);
        mad_reject(mad, 0xC1 + i, 0xC1 + i, CM_REASON_CONSUMER, aris[i], octets[i]);
        give_mad(c, 1, mad);
    }
    give_request(c, 0xD1, 17, 7);
    give_request(c, 0xD1, 17, 7);
    mad_reject(mad, 0xD1, 0xD1, CM_REASON_INVALID_SERVICE_ID, NULL, 0);
    give_mad(c, 1, mad);
}

static void cm_roce_v2(struct capture *c)
{
    carrier = MAD_ROCE_V2;
    cm_exchanges(c);
}

static void cm_roce_v2_ipv6(struct capture *c)
{
    c->ipv6 = true;
    cm_roce_v2(c);
}

static void cm_roce_v1(struct capture *c)
{
    carrier = MAD_ROCE_V1;
    cm_exchanges(c);
}

static void cm_infiniband(struct capture *c)
{
    carrier = MAD_INFINIBAND_GLOBAL;
    in_erf = true;
    cm_exchanges(c);
    carrier = MAD_INFINIBAND;
    cm_exchanges(c);
    in_erf = false;
}

/* Faults of a connection client by Annex A11. */
static void cm_faults(struct capture *c)
{
    static const struct {
        uint8_t at, value; /* in the MAD */
    } faults[] = {{164, 0x10}, {164, 0x01}, {165, 0x50}, {165, 0x46}, {170, 9}, {186, 9}};
    struct ip_cm_request request = {.source_port = 49153, .destination_port = 3260, .protocol = 6};
    uint8_t mad[MAD_OCTETS];

    carrier = MAD_ROCE_V2;
    net_address_parse(&request.source, "192.0.2.1");
    net_address_parse(&request.destination, "192.0.2.2");
    for (uint32_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        request.transaction = request.local_id = 0xA1 + i;
        mad_ip_request(mad, &request);
        mad[faults[i].at] = faults[i].value;
        give_mad(c, 0, mad);
    }
}

/* ---- files --------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*make)(struct capture *c);
    uint32_t link;
} captures[] = {
    {"sctp-sessions", sctp_sessions, 1}, {"sctp-draft", sctp_draft, 1},
    {"sctp-order", sctp_order, 1},       {"sctp-late", sctp_late, 1},
    {"sctp-faults", sctp_faults, 1},     {"sctp-over-ipv6", sctp_over_ipv6, 1},
    {"cm-roce-v2", cm_roce_v2, 1},       {"cm-roce-v2-ipv6", cm_roce_v2_ipv6, 1},
    {"cm-roce-v1", cm_roce_v1, 1},       {"cm-infiniband", cm_infiniband, 197},
    {"cm-faults", cm_faults, 1},
};

static FILE *open_file(const char *folder, const char *name, const char *mode)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, mode);
    if (file == NULL) {
        perror(path);
        exit(2);
    }
    return file;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: dissector_sctp FOLDER\n");
        return 2;
    }
    manifest = open_file(argv[1], "sent.tsv", "a");
    for (size_t i = 0; i < sizeof(captures) / sizeof(captures[0]); i++) {
        struct capture *c = calloc(1, sizeof(*c));
        char name[256];

        if (c == NULL)
            return 2;
        snprintf(name, sizeof(name), "%s.pcap", captures[i].name);
        c->file = open_file(argv[1], name, "wb");
        put_le(c->file, 0xA1B2C3D4, 4);
        put_le(c->file, 0x00040002, 4);
        put_le(c->file, 0, 4);
        put_le(c->file, 0, 4);
        put_le(c->file, 0x40000, 4);
        put_le(c->file, captures[i].link, 4);
        captures[i].make(c);
        fprintf(manifest, "%s\t%u\n", captures[i].name, c->segments);
        fclose(c->file);
        free(c);
    }
    return fclose(manifest) == 0 ? 0 : 2;
}
