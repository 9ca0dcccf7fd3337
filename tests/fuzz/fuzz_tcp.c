/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tester's TCP at one end of a simulated wire, a hostile peer at the other: the input is what both do, an octet
 * for what and some more for how. The peer sends segments anywhere around the window, overlapping and contradictory
 * in their flags, frames of any octets, and answers to questions that nobody asked; the tester calls all that the
 * library has.
 *
 * An octet of the stream is a function of its place, the same for each sender and each copy, so that what the tester
 * gives as received, in order or early, is checked octet by octet. Frames that the tester sends can be parsed, and
 * their checksums are right unless it is configured to spoil them.
 */
#include "generator/link/link_sim.h"
#include "generator/tcp/tcp.h"
#include "generator/tcp/tcp_link.h"
#include "tests/fuzz/fuzz.h"

enum {
    CONNECTIONS = 4,
    PEER_PORT = 9999,
    OWN_PORT = 7001,
    FIRST_SEQUENCE = 1000, /* of every stream of the peer's that it opens */
    PAYLOAD_MAX = 3000,
    CALLS_MAX = 512,
    STEP_NS = 1000000,
    FRAME_MAX = 4096,
};

struct connection {
    struct tcp_connection *tcp;
    uint64_t consumed; /* octets given in order and dropped */
};

struct world {
    struct sim *sim;
    struct tcp_stack *stack;
    struct connection connections[CONNECTIONS];
    struct net_address own[2], peer[2]; /* IPv4, IPv6 */
    uint16_t last_port;                 /* of the tester, in the frame seen last */
    uint32_t last_sequence;
    bool spoiled; /* a segment with a wrong checksum was asked for */
    const uint8_t *at, *end;
};

static const uint8_t own_mac[6] = {2, 0x77, 0x63, 0, 0, 1}, peer_mac[6] = {2, 0x77, 0x63, 0, 0, 2};

static uint8_t next(struct world *world)
{
    return world->at < world->end ? *world->at++ : 0;
}

static uint32_t next_number(struct world *world)
{
    uint8_t low = next(world);

    switch (low >> 6) {
    case 0: return low & 0x3F;
    case 1: return (uint32_t) - (low & 0x3F);
    case 2: return (uint32_t)(low & 0x3F) << 8 | next(world);
    default: return (uint32_t)next(world) << 24 | (uint32_t)next(world) << 16 | (uint32_t)(low & 0x3F) << 8;
    }
}

/* The octet at this place of the peer's stream. */
static uint8_t octet_at(uint64_t place)
{
    return (uint8_t)((uint32_t)place * UINT32_C(2654435761) >> 24);
}

static const uint8_t *payload_at(uint32_t place, size_t count)
{
    static uint8_t octets[PAYLOAD_MAX];

    for (size_t i = 0; i < count; i++)
        octets[i] = octet_at(place + (uint32_t)i);
    return octets;
}

/*
 * ---- what the tester does -----------------------------------------------------------------------------------------
 */

static struct connection *pick(struct world *world)
{
    return &world->connections[next(world) % CONNECTIONS];
}

static void take(struct world *world, struct tcp_connection *tcp)
{
    for (unsigned i = 0; i < CONNECTIONS && tcp != NULL; i++)
        if (world->connections[i].tcp == NULL) {
            world->connections[i] = (struct connection){.tcp = tcp};
            return;
        }
    tcp_release(tcp);
}

static struct tcp_options options_of(struct world *world)
{
    uint8_t how = next(world);
    struct tcp_options options = {.choose_iss = how & 1, .omit_mss = how & 2, .choose_window = how & 4};

    options.iss = how & 8 ? UINT32_MAX - 100 : 1000;
    options.mss = how & 16 ? (uint16_t)next_number(world) : 0;
    options.send_mss = how & 32 ? (uint16_t)next_number(world) : 0;
    options.window = (uint16_t)next_number(world);
    options.attempts = how >> 6;
    return options;
}

static void open(struct world *world)
{
    struct tcp_options options = options_of(world);
    struct iwarp_sentence error = {""};
    uint8_t how = next(world);

    if (how & 2) {
        (void)tcp_listen(world->stack, OWN_PORT, &options, &error);
    } else if (how & 4) {
        tcp_unlisten(world->stack, OWN_PORT);
    } else {
        struct tcp_connection *tcp = tcp_connect(world->stack, &world->peer[how & 1], PEER_PORT, &options, &error);

        FUZZ_HOLDS(tcp != NULL || error.text[0] != '\0');
        take(world, tcp);
    }
}

static void send_some(struct world *world, struct tcp_connection *tcp)
{
    uint8_t how = next(world);
    size_t count = next_number(world) % PAYLOAD_MAX, half = count / 2;
    const uint8_t *octets = payload_at(0, count);
    const size_t lengths[3] = {half, count - half - half / 2, half / 2};
    const size_t order[4] = {how >> 3 & 1, how >> 4 & 1, how >> 5, how >> 6 & 1};

    switch (how % 5) {
    case 0: (void)tcp_send(tcp, octets, count); break;
    case 1: (void)tcp_send_segments(tcp, octets, count, lengths, 3); break;
    case 2: (void)tcp_send_ordered(tcp, octets, count, lengths, 3, order, order[2] % 3 == order[2] ? 4 : 2); break;
    case 3: (void)tcp_send_fin(tcp, octets, count); break;
    default: (void)tcp_skip(tcp, how & 0x80 ? octets : NULL, count); break;
    }
}

static void send_raw(struct world *world, struct tcp_connection *tcp)
{
    uint8_t how = next(world), options[40] = {2, 4, 5, 0xB4};
    struct tcp_segment_spec spec = {.absolute = how & 1,
                                    .set_flags = how & 2,
                                    .set_acknowledgment = how & 4,
                                    .set_window = how & 8,
                                    .bad_checksum = how & 16,
                                    .advance = how & 32};

    spec.sequence = next_number(world);
    spec.flags = next(world);
    spec.acknowledgment = next_number(world);
    spec.window = (uint16_t)next_number(world);
    spec.payload_octets = next_number(world) % PAYLOAD_MAX;
    spec.payload = payload_at(0, spec.payload_octets);
    spec.options = options;
    spec.options_octets = how & 64 ? next(world) % 48U : 0;
    if (spec.options_octets > sizeof(options))
        spec.options_octets = sizeof(options);
    world->spoiled |= spec.bad_checksum;
    (void)tcp_send_raw_segment(tcp, &spec);
}

static void consume(struct world *world, struct connection *connection)
{
    const uint8_t *octets;
    size_t there, count = next_number(world) & 0xFFFF;

    (void)tcp_received(connection->tcp, &octets, &there);
    tcp_consume(connection->tcp, count);
    connection->consumed += count < there ? count : there;
}

static void tester_calls(struct world *world)
{
    struct connection *connection = pick(world);
    struct tcp_connection *tcp = connection->tcp;
    uint8_t how = next(world);

    if (tcp == NULL || how % 16 == 0) {
        open(world);
        return;
    }
    switch (how % 16) {
    case 1:
    case 2:
    case 3: send_some(world, tcp); break;
    case 4: send_raw(world, tcp); break;
    case 5: (void)tcp_shutdown(tcp); break;
    case 6: tcp_abort(tcp); break;
    case 7: tcp_forget(tcp); break;
    case 8: tcp_set_ack_policy(tcp, (enum tcp_ack_policy)(how >> 4 & 1) + (how >> 5 & 1), next_number(world)); break;
    case 9: tcp_ack_now(tcp); break;
    case 10: tcp_set_window(tcp, (uint16_t)next_number(world)); break;
    case 11: tcp_set_window_auto(tcp); break;
    case 12:
        tcp_release(tcp);
        *connection = (struct connection){.tcp = NULL};
        break;
    default: consume(world, connection); break;
    }
}

/*
 * ---- what the peer does -------------------------------------------------------------------------------------------
 */

/* A frame that has arrived when this returns: what the peer knows of the tester is never older than its last frame. */
static void peer_sends(struct world *world, const uint8_t *frame, size_t octets)
{
    if (octets == 0)
        return;
    FUZZ_HOLDS(sim_send(world->sim, SIM_END_B, frame, octets) == 0);
    FUZZ_HOLDS(sim_run_until(world->sim, sim_now(world->sim) + SIM_LATENCY_NS, NULL, NULL) >= 0);
}

/*
 * Where the payload stands in the peer's stream, so that its octets are those of its places. The tester counts from the
 * SYN that it has taken; after the end of a connection another one may have taken its place, and payload would be of
 * nobody knows which: there is none then, and no SYN but that of FIRST_SEQUENCE.
 */
static void fill_payload(struct packet_tcp *segment, const struct tcp_status *status)
{
    uint32_t first = status != NULL ? status->irs : FIRST_SEQUENCE;

    if (status != NULL && (status->state == TCP_STATE_TIME_WAIT || status->state == TCP_STATE_CLOSED)) {
        segment->flags &= (uint8_t)~TCP_FLAG_SYN;
        segment->payload_octets = 0;
    }
    if (status == NULL && segment->flags & TCP_FLAG_SYN)
        segment->sequence = FIRST_SEQUENCE;
    if (segment->flags & TCP_FLAG_SYN)
        first = segment->sequence - 1;
    segment->payload = payload_at(segment->sequence - first - 1, segment->payload_octets);
}

/* A segment that belongs, more or less, to one of the tester's connections, or opens one. */
static void peer_segment(struct world *world)
{
    const struct connection *connection = pick(world);
    const struct tcp_status *status = connection->tcp != NULL ? tcp_status(connection->tcp) : NULL;
    uint8_t how = next(world), frame[FRAME_MAX], options[40];
    struct packet_tcp segment = {.flags = next(world), .window = (uint16_t)(next(world) << 8)};
    bool v6 = status != NULL ? status->peer.family == 6 : how & 1;

    memcpy(segment.ethernet_source, peer_mac, 6);
    memcpy(segment.ethernet_destination, own_mac, 6);
    segment.source = world->peer[v6];
    segment.destination = world->own[v6];
    segment.source_port = status != NULL ? status->peer_port : (uint16_t)(PEER_PORT + (how >> 1 & 3));
    segment.destination_port = status != NULL ? status->local_port : OWN_PORT;
    segment.sequence = (status != NULL ? status->rcv_nxt : FIRST_SEQUENCE + 1) + next_number(world);
    segment.acknowledgment = (status != NULL ? status->snd_nxt : world->last_sequence + 1) + next_number(world);
    if (how & 8)
        segment.payload_octets = next_number(world) % PAYLOAD_MAX;
    fill_payload(&segment, status);
    if (how & 16)
        segment.options_octets = next(world) % (sizeof(options) + 1);
    for (size_t i = 0; i < segment.options_octets; i++)
        options[i] = next(world);
    segment.options = options;
    segment.urgent = how & 32 ? 7 : 0;
    segment.spoil_checksum = (how & 0xC0) == 0xC0;
    peer_sends(world, frame, packet_build_tcp(frame, sizeof(frame), &segment));
}

/* Octets of any kind after an Ethernet header that is for the tester. */
static void peer_octets(struct world *world)
{
    static const uint8_t types[4][2] = {{0x08, 0x00}, {0x86, 0xDD}, {0x08, 0x06}, {0x81, 0x00}};
    uint8_t frame[14 + 255], how = next(world);
    size_t count = next(world);

    memcpy(frame, own_mac, 6);
    memcpy(frame + 6, peer_mac, 6);
    memcpy(frame + 12, types[how % 4], 2);
    for (size_t i = 0; i < count; i++)
        frame[14 + i] = next(world);
    peer_sends(world, frame, 14 + count);
}

static void peer_neighbour(struct world *world)
{
    uint8_t frame[128], how = next(world), other[6] = {2, 0x77, 0x63, 0, 0, next(world)};
    const uint8_t *mac = how & 1 ? peer_mac : other;
    size_t octets;

    switch (how >> 1 & 3) {
    case 0:
        octets = packet_build_arp(frame, sizeof(frame), how >> 3 & 3, mac, world->peer[0].octets, own_mac,
                                  how & 32 ? world->peer[0].octets : world->own[0].octets);
        break;
    case 1:
        octets =
            packet_build_neighbour_solicitation(frame, sizeof(frame), mac, world->peer[1].octets, world->own[1].octets);
        break;
    default:
        octets = packet_build_neighbour_advertisement(frame, sizeof(frame), mac, world->peer[1].octets, own_mac,
                                                      world->own[1].octets);
        break;
    }
    peer_sends(world, frame, octets);
}

/*
 * ---- the world ----------------------------------------------------------------------------------------------------
 */

static void peer_frame(void *node, const uint8_t *frame, size_t octets, uint64_t now)
{
    struct world *world = node;
    struct packet packet;

    (void)now;
    FUZZ_HOLDS(packet_parse(&packet, frame, octets, NULL) == 0);
    FUZZ_HOLDS(memcmp(packet.ethernet_source, own_mac, 6) == 0);
    if (packet.kind != PACKET_TCP)
        return;
    FUZZ_HOLDS(packet.tcp_checksum_ok || world->spoiled);
    world->last_port = packet.source_port;
    world->last_sequence = packet.sequence;
}

static const struct sim_node_ops peer_ops = {.frame = peer_frame};

static void check_octets(const uint8_t *octets, size_t count, uint64_t place)
{
    for (size_t i = 0; i < count; i++)
        FUZZ_HOLDS(octets[i] == octet_at(place + i));
}

static void check(const struct connection *connection)
{
    const struct tcp_status *status = tcp_status(connection->tcp);
    const uint8_t *octets;
    size_t count, gap, end = tcp_received(connection->tcp, &octets, &count);

    FUZZ_HOLDS(status->octets_received == connection->consumed + count);
    check_octets(octets, count, connection->consumed);
    for (unsigned n = 0; tcp_early(connection->tcp, n, &gap, &octets, &count) != 0; n++) {
        FUZZ_HOLDS(gap > end || n == 0); /* runs do not touch */
        check_octets(octets, count, connection->consumed + gap);
        end = gap + count;
    }
    if (status->state >= TCP_STATE_ESTABLISHED && status->state <= TCP_STATE_LAST_ACK)
        FUZZ_HOLDS(status->rcv_nxt - status->irs - 1 - status->peer_fin == (uint32_t)status->octets_received);
    FUZZ_HOLDS(tcp_state_name(status->state)[0] != '\0' && tcp_cause_name(status->cause)[0] != '\0');
}

static void advance(struct world *world)
{
    uint64_t by = (uint64_t)next_number(world) * STEP_NS;

    FUZZ_HOLDS(sim_run_until(world->sim, sim_now(world->sim) + by, NULL, NULL) >= 0);
    take(world, tcp_accept(world->stack, 0));
    for (unsigned i = 0; i < CONNECTIONS; i++)
        if (world->connections[i].tcp != NULL)
            check(&world->connections[i]);
}

static void begin(struct world *world)
{
    struct sim_config config = {.seed = next(world)};
    struct tcp_stack_config own = {.emit = tcp_sim_emit_a, .seed = 1};
    struct sim *sim = sim_new(&config);

    FUZZ_HOLDS(sim != NULL);
    world->sim = own.context = sim;
    memcpy(own.mac, own_mac, 6);
    FUZZ_HOLDS(net_address_parse(&world->own[0], "10.77.0.2") == 0 &&
               net_address_parse(&world->own[1], "fd77::2") == 0);
    FUZZ_HOLDS(net_address_parse(&world->peer[0], "10.77.0.3") == 0 &&
               net_address_parse(&world->peer[1], "fd77::3") == 0);
    own.ipv4 = world->own[0];
    own.ipv6 = world->own[1];
    world->stack = tcp_stack_new(&own, NULL);
    FUZZ_HOLDS(world->stack != NULL);
    if (next(world) & 1)
        FUZZ_HOLDS(tcp_stack_add_neighbour(world->stack, &world->peer[0], peer_mac) == 0 &&
                   tcp_stack_add_neighbour(world->stack, &world->peer[1], peer_mac) == 0);
    tcp_stack_set_time(world->stack, sim_now(sim));
    sim_attach(sim, SIM_END_A, &tcp_sim_node_ops, world->stack);
    sim_attach(sim, SIM_END_B, &peer_ops, world);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct world world = {.at = data, .end = data + size};

    begin(&world);
    for (unsigned calls = 0; world.at < world.end && calls < CALLS_MAX; calls++) {
        uint8_t what = next(&world);

        switch (what % 8) {
        case 0:
        case 1:
        case 2: peer_segment(&world); break;
        case 3: peer_octets(&world); break;
        case 4: peer_neighbour(&world); break;
        case 5: tester_calls(&world); break;
        case 6: tester_calls(&world); break;
        default: break;
        }
        if (what & 8)
            advance(&world);
    }
    advance(&world);
    tcp_stack_free(world.stack);
    sim_free(world.sim);
    return 0;
}
