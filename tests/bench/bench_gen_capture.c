/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_gen_capture FILE MEGABYTES [FLOWS [REVISION]]: writes a pcap of lawful iWARP traffic, quickly and always the
 * same: FLOWS (8) connections that interleave, start-up in REVISION (2) with CRC, then Sends of 16 octets and more,
 * RDMA Writes, RDMA Reads with their Responses, ACKs, at the end a Terminate on some flows and FINs on all. Every
 * fourth flow uses jumbo frames, one in eight IPv6, one has TCP sequence numbers that wrap. IP and TCP checksums are
 * right.
 */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/splitmix.h"
#include "wire/ddp.h"
#include "wire/fpdu.h"
#include "wire/mpa.h"
#include "wire/rdmap.h"

enum {
    FRAME_MAX = 9216,
    NOISE_OCTETS = 1 << 20,
    TCP_FIN = 1,
    TCP_SYN = 2,
    TCP_PUSH = 8,
    TCP_ACK = 16,
    MSS_ETHERNET = 1440, /* leaves room for IPv6 */
    MSS_JUMBO = 8940,
    DEPTH = 8, /* IRD and ORD */
};

struct half {
    uint32_t seq;
    uint32_t unacknowledged; /* segments sent since the peer's last ACK */
    uint32_t position;
    uint32_t msn[4];
    uint8_t pending[MSS_JUMBO]; /* payload of the segment that is being filled */
    size_t pending_octets;
};

struct connection {
    unsigned number;
    size_t mss;
    bool ipv6;
    struct half half[2];
};

struct generator {
    FILE *file;
    uint64_t octets;  /* written */
    uint64_t time_us; /* of the next frame */
    uint64_t state;
    uint8_t noise[NOISE_OCTETS];
};

static uint64_t draw(struct generator *generator)
{
    return splitmix_next(&generator->state);
}

static void put(struct generator *generator, const void *octets, size_t count)
{
    if (fwrite(octets, 1, count, generator->file) != count) {
        perror("bench_gen_capture: writing");
        exit(EXIT_FAILURE);
    }
    generator->octets += count;
}

/* Sum of 16-bit words in network order, not yet folded. `count` is even but for the last piece. */
static uint64_t checksum_add(uint64_t sum, const uint8_t *octets, size_t count)
{
    size_t i = 0;

    for (; i + 4 <= count; i += 4)
        sum += octets_get32(octets + i);
    for (; i + 2 <= count; i += 2)
        sum += octets_get16(octets + i);
    return i < count ? sum + (uint64_t)octets[i] * 256 : sum;
}

static uint16_t checksum_value(uint64_t sum)
{
    while (sum >> 16 != 0)
        sum = (sum & 0xFFFF) + (sum >> 16);
    return (uint16_t)~sum;
}

/* Writes Ethernet and IP headers for `payload` octets of TCP; returns their octets, and where the addresses are. */
static size_t write_network(const struct connection *connection, unsigned from, size_t payload, uint8_t *frame,
                            size_t *addresses, size_t *address_octets)
{
    static const uint8_t ethernet[12] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1};
    uint8_t *ip = frame + 14;

    memcpy(frame, ethernet + 6 * (from != 0), 6);
    memcpy(frame + 6, ethernet + 6 * (from == 0), 6);
    octets_put16(frame + 12, connection->ipv6 ? 0x86DD : 0x0800);
    if (connection->ipv6) {
        memset(ip, 0, 40);
        ip[0] = 0x60;
        octets_put16(ip + 4, (uint16_t)payload);
        ip[6] = 6;
        ip[7] = 64;
        ip[8] = ip[24] = 0xFD;
        ip[23] = (uint8_t)(1 + from);
        ip[39] = (uint8_t)(2 - from);
        *addresses = 14 + 8;
        *address_octets = 32;
        return 14 + 40;
    }
    memset(ip, 0, 20);
    ip[0] = 0x45;
    octets_put16(ip + 2, (uint16_t)(20 + payload));
    ip[6] = 0x40;
    ip[8] = 64;
    ip[9] = 6;
    octets_put32(ip + 12, UINT32_C(0x0A4D0001) + from);
    octets_put32(ip + 16, UINT32_C(0x0A4D0002) - from);
    octets_put16(ip + 10, checksum_value(checksum_add(0, ip, 20)));
    *addresses = 14 + 12;
    *address_octets = 8;
    return 14 + 20;
}

static void write_segment(struct generator *generator, struct connection *connection, unsigned from, uint8_t flags,
                          const uint8_t *payload, size_t count)
{
    uint8_t record[16], frame[FRAME_MAX];
    struct half *half = &connection->half[from];
    size_t tcp_octets = flags & TCP_SYN ? 24 : 20, addresses, address_octets;
    size_t at = write_network(connection, from, tcp_octets + count, frame, &addresses, &address_octets);
    uint8_t *tcp = frame + at;
    uint16_t client = (uint16_t)(40000 + connection->number), server = 7174;
    uint32_t seconds = htole32((uint32_t)(1700000000 + generator->time_us / 1000000));
    uint32_t micros = htole32((uint32_t)(generator->time_us % 1000000));

    memset(tcp, 0, 24);
    octets_put16(tcp, from == 0 ? client : server);
    octets_put16(tcp + 2, from == 0 ? server : client);
    octets_put32(tcp + 4, half->seq);
    octets_put32(tcp + 8, flags & TCP_ACK ? connection->half[!from].seq : 0);
    tcp[12] = (uint8_t)(tcp_octets / 4 << 4);
    tcp[13] = flags;
    octets_put16(tcp + 14, 0xFFFF);
    if (flags & TCP_SYN) {
        octets_put16(tcp + 20, 0x0204);
        octets_put16(tcp + 22, (uint16_t)connection->mss);
    }
    if (count != 0)
        memcpy(tcp + tcp_octets, payload, count);
    uint64_t sum = checksum_add(6 + tcp_octets + count, frame + addresses, address_octets);
    octets_put16(tcp + 16, checksum_value(checksum_add(sum, tcp, tcp_octets + count)));

    uint32_t length = htole32((uint32_t)(at + tcp_octets + count));
    memcpy(record, &seconds, 4);
    memcpy(record + 4, &micros, 4);
    memcpy(record + 8, &length, 4);
    memcpy(record + 12, &length, 4);
    put(generator, record, sizeof(record));
    put(generator, frame, at + tcp_octets + count);
    generator->time_us += 7;
    half->seq += (uint32_t)count + (flags & (TCP_SYN | TCP_FIN) ? 1 : 0);
    if (flags & TCP_ACK)
        connection->half[!from].unacknowledged = 0;
}

/* Sends what waits, and lets the peer acknowledge every second segment. */
static void flush(struct generator *generator, struct connection *connection, unsigned from)
{
    struct half *half = &connection->half[from];

    if (half->pending_octets == 0)
        return;
    write_segment(generator, connection, from, TCP_ACK | TCP_PUSH, half->pending, half->pending_octets);
    half->pending_octets = 0;
    if (++half->unacknowledged == 2)
        write_segment(generator, connection, !from, TCP_ACK, NULL, 0);
}

/* One DDP Segment as an FPDU: into the segment that waits when it fits there and chance has it, else into a new one. */
static void send_ddp(struct generator *generator, struct connection *connection, unsigned from,
                     const struct ddp_segment *segment, const uint8_t *payload, size_t count)
{
    uint8_t ulpdu[MSS_JUMBO];
    struct half *half = &connection->half[from];
    struct fpdu_framing framing = {.markers = false, .crc = true, .position = half->position};
    size_t header = ddp_pack_header(segment, ulpdu);

    if (count != 0)
        memcpy(ulpdu + header, payload, count);
    if (half->pending_octets + fpdu_content(header + count) > connection->mss || draw(generator) % 4 == 0)
        flush(generator, connection, from);
    size_t octets = fpdu_pack(ulpdu, header + count, &framing, half->pending + half->pending_octets,
                              connection->mss - half->pending_octets);

    half->pending_octets += octets;
    half->position += (uint32_t)octets;
}

/* A whole message in as many segments as it takes. */
static void send_message(struct generator *generator, struct connection *connection, unsigned from,
                         struct ddp_segment segment, const uint8_t *payload, size_t count)
{
    size_t room = fpdu_mulpdu(connection->mss, false) - (segment.tagged ? DDP_TAGGED_OCTETS : DDP_UNTAGGED_OCTETS);
    size_t done = 0;

    segment.version = DDP_VERSION;
    if (!segment.tagged)
        segment.msn = ++connection->half[from].msn[segment.qn];
    do {
        size_t part = count - done < room ? count - done : room;

        segment.last = done + part == count;
        send_ddp(generator, connection, from, &segment, payload + done, part);
        done += part;
        segment.to += part;
        segment.mo += (uint32_t)part;
    } while (done < count);
}

static const uint8_t *some_noise(struct generator *generator, size_t count)
{
    return generator->noise + draw(generator) % (NOISE_OCTETS - count);
}

static void send_send(struct generator *generator, struct connection *connection, unsigned from)
{
    static const uint8_t opcodes[] = {IWARP_RDMAP_SEND,
                                      IWARP_RDMAP_SEND,
                                      IWARP_RDMAP_SEND,
                                      IWARP_RDMAP_SEND_SE,
                                      IWARP_RDMAP_SEND_INVALIDATE,
                                      IWARP_RDMAP_SEND_SE_INVALIDATE};
    unsigned opcode = opcodes[draw(generator) % sizeof(opcodes)];
    struct ddp_segment segment = {.control = rdmap_control((enum iwarp_rdmap_opcode)opcode)};
    size_t count = 16 + draw(generator) % (draw(generator) % 4 == 0 ? 8192 : 256);

    if (rdmap_opcode_rows[opcode].invalidates)
        segment.ulp_word = UINT32_C(0x40000000) | (uint32_t)(draw(generator) & 0xFFFFFF); /* used for nothing else */
    send_message(generator, connection, from, segment, some_noise(generator, count), count);
}

static void send_write(struct generator *generator, struct connection *connection, unsigned from)
{
    struct ddp_segment segment = {.tagged = true, .control = rdmap_control(IWARP_RDMAP_WRITE)};
    size_t count = 512 + draw(generator) % 65536;

    segment.stag = 0x10000 + (connection->number << 4);
    segment.to = UINT64_C(0x7f0000000000) + draw(generator) % 4096 * 4096;
    send_message(generator, connection, from, segment, some_noise(generator, count), count);
}

static void send_read(struct generator *generator, struct connection *connection, unsigned from)
{
    struct read_request request = {.sink_stag = 0x20000 + (connection->number << 4), .source_stag = 0x30000};
    struct ddp_segment question = {.control = rdmap_control(IWARP_RDMAP_READ_REQUEST), .qn = DDP_QN_READ_REQUEST};
    struct ddp_segment answer = {.tagged = true, .control = rdmap_control(IWARP_RDMAP_READ_RESPONSE)};
    uint8_t header[READ_REQUEST_OCTETS];

    request.octets = (uint32_t)(draw(generator) % 32768);
    request.sink_to = draw(generator) % 65536;
    request.source_to = draw(generator) % 65536;
    read_request_pack(&request, header);
    send_message(generator, connection, from, question, header, sizeof(header));
    flush(generator, connection, from);
    answer.stag = request.sink_stag;
    answer.to = request.sink_to;
    send_message(generator, connection, !from, answer, some_noise(generator, request.octets), request.octets);
}

static void send_terminate(struct generator *generator, struct connection *connection, unsigned from)
{
    static const uint8_t catastrophic[TERMINATE_OCTETS] = {0};
    struct ddp_segment segment = {.control = rdmap_control(IWARP_RDMAP_TERMINATE), .qn = DDP_QN_TERMINATE};

    send_message(generator, connection, from, segment, catastrophic, sizeof(catastrophic));
    flush(generator, connection, from);
}

static void send_start(struct generator *generator, struct connection *connection, unsigned from, uint8_t revision)
{
    struct iwarp_mpa_start start = {
        .kind = from == 0 ? IWARP_MPA_REQUEST : IWARP_MPA_REPLY, .crc = true, .revision = revision};
    uint8_t octets[MPA_START_MAX];

    start.enhanced = revision >= MPA_REV_2;
    start.ird = start.ord = DEPTH;
    start.private_data = generator->noise;
    start.private_octets = (uint16_t)(connection->number % 3 * 16);
    write_segment(generator, connection, from, TCP_ACK | TCP_PUSH, octets,
                  mpa_start_pack(&start, octets, sizeof(octets)));
    write_segment(generator, connection, !from, TCP_ACK, NULL, 0);
}

static void open_connection(struct generator *generator, struct connection *connection, unsigned number,
                            uint8_t revision)
{
    memset(connection, 0, sizeof(*connection));
    connection->number = number;
    connection->mss = number % 4 == 3 ? MSS_JUMBO : MSS_ETHERNET;
    connection->ipv6 = number % 8 == 5;
    connection->half[0].seq = number == 0 ? UINT32_C(0xFFFFF000) : (uint32_t)draw(generator);
    connection->half[1].seq = (uint32_t)draw(generator);
    write_segment(generator, connection, 0, TCP_SYN, NULL, 0);
    write_segment(generator, connection, 1, TCP_SYN | TCP_ACK, NULL, 0);
    write_segment(generator, connection, 0, TCP_ACK, NULL, 0);
    send_start(generator, connection, 0, revision);
    send_start(generator, connection, 1, revision);
    send_send(generator, connection, 0); /* the Responder waits for the Initiator's first FPDU */
    flush(generator, connection, 0);
}

static void close_connection(struct generator *generator, struct connection *connection)
{
    flush(generator, connection, 0);
    flush(generator, connection, 1);
    if (connection->number % 4 == 2)
        send_terminate(generator, connection, connection->number / 4 % 2);
    write_segment(generator, connection, 0, TCP_ACK | TCP_FIN, NULL, 0);
    write_segment(generator, connection, 1, TCP_ACK | TCP_FIN, NULL, 0);
    write_segment(generator, connection, 0, TCP_ACK, NULL, 0);
}

static void write_capture(struct generator *generator, struct connection *connections, unsigned flows, uint64_t limit,
                          uint8_t revision)
{
    const uint32_t header[6] = {htole32(0xA1B2C3D4), htole32(2 | 4 << 16), 0, 0, htole32(262144), htole32(1)};

    put(generator, header, sizeof(header));
    for (size_t i = 0; i < NOISE_OCTETS; i++)
        generator->noise[i] = (uint8_t)draw(generator);
    for (unsigned i = 0; i < flows; i++)
        open_connection(generator, &connections[i], i, revision);
    while (generator->octets < limit) {
        struct connection *connection = &connections[draw(generator) % flows];
        unsigned from = draw(generator) % 2, kind = draw(generator) % 8;

        if (kind < 4)
            send_send(generator, connection, from);
        else if (kind < 6)
            send_write(generator, connection, from);
        else
            send_read(generator, connection, from);
    }
    for (unsigned i = 0; i < flows; i++)
        close_connection(generator, &connections[i]);
}

int main(int argc, char **argv)
{
    long megabytes = argc > 2 ? strtol(argv[2], NULL, 10) : 0, flows = argc > 3 ? strtol(argv[3], NULL, 10) : 8;
    long revision = argc > 4 ? strtol(argv[4], NULL, 10) : 2;

    if (megabytes <= 0 || flows <= 0 || flows > 20000 || revision < 1 || revision > 2) {
        (void)fprintf(stderr, "usage: bench_gen_capture FILE MEGABYTES [FLOWS [REVISION]]\n");
        return 2;
    }
    struct generator *generator = calloc(1, sizeof(*generator));
    struct connection *connections = calloc((size_t)flows, sizeof(*connections));

    if (generator == NULL || connections == NULL || (generator->file = fopen(argv[1], "wb")) == NULL) {
        perror(argv[1]);
        free(generator);
        free(connections);
        return EXIT_FAILURE;
    }
    generator->state = 5044;
    write_capture(generator, connections, (unsigned)flows, (uint64_t)megabytes * 1000000, (uint8_t)revision);
    if (fclose(generator->file) != 0) {
        perror(argv[1]);
        return EXIT_FAILURE;
    }
    free(connections);
    free(generator);
    return EXIT_SUCCESS;
}
