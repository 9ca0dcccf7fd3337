/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The port mapper out of any datagrams, and connections to ports that they may have mapped. The input is a list: an
 * octet (1: from the port mapper's port, else to it; 2: in a frame with an IPv4 header, else as the Wireshark plugin
 * gives it), an octet with the length, and the payload. After them a connection to each port of CONNECTIONS begins.
 * Besides not reading past the end:
 *  - each datagram is counted in one row, and the account adds up;
 *  - a message that is shown has a name, and its line fits;
 *  - a port stands for another one only if a Request and an Accept were shown.
 */
#include "conformance/flow/decoder.h"
#include "conformance/flow/notation/notation.h"
#include "tests/fuzz/fuzz.h"

enum { IPV4 = 20, UDP = 8, TCP = 20, DATAGRAMS_MOST = 256, FIRST_PORT = 7174, CONNECTIONS = 4 };

struct seen {
    struct flow_decoder *decoder;
    uint64_t frame;
    unsigned requests, accepts, shown, mapped;
};

static const uint8_t ends[2][4] = {{10, 0, 0, 1}, {10, 0, 0, 2}};

static void show(void *ctx, const struct flow_port_mapper *said)
{
    struct seen *seen = ctx;
    char text[NOTATION_MAX], name[FLOW_NAME_MAX];

    FUZZ_HOLDS(said->message.type <= PORT_MAPPER_REJECT);
    FUZZ_HOLDS(strlen(notation_port_mapper(&said->message, text, sizeof(text))) < sizeof(text) - 1);
    FUZZ_HOLDS(strlen(flow_port_mapper_name(said, name, sizeof(name))) < sizeof(name) - 1);
    seen->shown++;
    seen->requests += said->message.type == PORT_MAPPER_REQUEST;
    seen->accepts += said->message.type == PORT_MAPPER_ACCEPT;
}

static void sink(void *ctx, const struct flow_event *event)
{
    struct seen *seen = ctx;

    if (event->flow->kind == FLOW_CONNECTION && event->flow->tcp->mapping.service != 0)
        seen->mapped++;
}

static void give_datagram(struct seen *seen, unsigned flags, const uint8_t *payload, size_t count)
{
    size_t head = (flags & 2) != 0 ? IPV4 : 0;
    uint8_t *octets = malloc(head + UDP + count), *udp = octets + head;
    unsigned from = flags & 1;

    if (octets == NULL)
        abort();
    memset(octets, 0, head + UDP);
    octets_put16(udp, from ? PORT_MAPPER_PORT : 51000);
    octets_put16(udp + 2, from ? 51000 : PORT_MAPPER_PORT);
    octets_put16(udp + 4, (uint16_t)(UDP + count));
    if (count != 0)
        memcpy(udp + UDP, payload, count);
    if (head == 0) {
        struct flow_packet packet = {.number = ++seen->frame,
                                     .family = 4,
                                     .source = ends[from],
                                     .destination = ends[1 - from],
                                     .octets = udp,
                                     .captured = UDP + count,
                                     .length = UDP + count};

        flow_decoder_port_mapper(seen->decoder, &packet);
    } else {
        octets[0] = 0x45;
        octets_put16(octets + 2, (uint16_t)(head + UDP + count));
        octets[8] = 64;
        octets[9] = 17;
        memcpy(octets + 12, ends[from], 4);
        memcpy(octets + 16, ends[1 - from], 4);
        flow_decoder_frame(seen->decoder, &(struct flow_frame){FLOW_LINK_RAW, seen->frame, ++seen->frame, octets,
                                                               head + UDP + count, head + UDP + count});
    }
    free(octets);
}

static void connect_to(struct seen *seen, unsigned port)
{
    struct iwarp_mpa_start start = {.kind = IWARP_MPA_REQUEST, .revision = 1};
    uint8_t segment[TCP + MPA_START_MAX] = {0};
    size_t count = mpa_start_pack(&start, segment + TCP, MPA_START_MAX);
    struct flow_packet packet = {.number = ++seen->frame,
                                 .family = 4,
                                 .source = ends[0],
                                 .destination = ends[1],
                                 .octets = segment,
                                 .captured = TCP,
                                 .length = TCP};

    octets_put16(segment, 40000);
    octets_put16(segment + 2, (uint16_t)port);
    segment[12] = 5 << 4;
    segment[13] = 0x02; /* SYN */
    octets_put16(segment + 14, 0xFFFF);
    (void)flow_decoder_segment(seen->decoder, &packet, NULL);
    octets_put32(segment + 4, 1);
    segment[13] = 0x10; /* ACK */
    packet.number = ++seen->frame;
    packet.captured = packet.length = TCP + count;
    (void)flow_decoder_segment(seen->decoder, &packet, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct flow_config config = {.port_mapper = show};
    const struct flow_account *account;
    struct seen seen = {0};

    seen.decoder = flow_decoder_create(&config, sink, &seen);
    if (seen.decoder == NULL)
        abort();
    for (unsigned given = 0; size >= 2 && given < DATAGRAMS_MOST; given++) {
        size_t count = data[1] < size - 2 ? data[1] : size - 2;

        give_datagram(&seen, data[0], data + 2, count);
        data += 2 + count;
        size -= 2 + count;
    }
    for (unsigned i = 0; i < CONNECTIONS; i++)
        connect_to(&seen, FIRST_PORT + i);
    flow_decoder_finish(seen.decoder);
    account = &flow_decoder_totals(seen.decoder)->account;
    FUZZ_HOLDS(flow_totals_balanced(flow_decoder_totals(seen.decoder)));
    FUZZ_HOLDS(account->row[FLOW_ROW_PORT_MAPPER].frames == seen.shown);
    FUZZ_HOLDS(seen.mapped == 0 || (seen.requests != 0 && seen.accepts != 0));
    flow_decoder_destroy(seen.decoder);
    return 0;
}
