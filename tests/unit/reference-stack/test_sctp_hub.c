/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two peers over SCTP on a link in memory, on virtual time: several associations between the same two places, many
 * streams in one, a link that loses packets, and strangers who begin what they never finish. Skipped where the build
 * has no libusrsctp.
 */
#include <check.h>
#include <jansson.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference-stack/base/budget.h"
#include "reference-stack/peer/peer.h"
#include "reference-stack/transport/sctp_hub.h"
#include "reference-stack/transport/user_sctp.h"
#include "tests/unit/suites.h"
#include "wire/sctp.h"

Suite *sctp_hub_suite(void);

enum { SIDES = 2, CLIENT = 0, SERVER = 1, QUEUE = 2048, PACKET = 1472, PORT = 5043, TURN_NS = 10000000 };

struct side {
    struct net *net;
    int number;
    struct sockaddr_storage name;
    struct sctp_hub *hub;
    struct peer *peer;
    size_t count; /* packets to it */
    struct {
        struct sockaddr_storage from;
        size_t octets;
        uint8_t data[PACKET];
    } queue[QUEUE];
};

struct net {
    struct side side[SIDES];
    uint64_t now;
    uint32_t random;
    unsigned loss; /* of 256 */
};

static uint32_t draw(struct net *net, uint32_t below)
{
    net->random = net->random * UINT32_C(1664525) + UINT32_C(1013904223);
    return (net->random >> 8) % below;
}

static void on_send(void *owner, void *link, const struct sockaddr_storage *to, const uint8_t *packet, size_t octets)
{
    struct side *side = owner, *other = &side->net->side[1 - side->number];

    ck_assert_ptr_eq(link, side->net);
    ck_assert_uint_le(octets, PACKET);
    if (memcmp(to, &other->name, sizeof(*to)) != 0 || other->count == QUEUE || draw(side->net, 256) < side->net->loss)
        return; /* to a stranger, or lost */
    other->queue[other->count].from = side->name;
    other->queue[other->count].octets = octets;
    memcpy(other->queue[other->count++].data, packet, octets);
}

static struct iwarp_association *on_incoming(void *owner, uint16_t port, struct sctp_path *path, void **user)
{
    struct side *side = owner;
    struct peer_association *pa = NULL;
    struct iwarp_association *association = peer_association_incoming(side->peer, port, path, &pa, side->net->now);

    *user = pa;
    return association;
}

static uint64_t clock_of_net; /* for a callback that has no other way to it */

static void on_changed(void *user)
{
    peer_association_changed(user, clock_of_net);
}

static int op_listen(void *context, uint16_t port, struct iwarp_sentence *why)
{
    return sctp_hub_listen(((struct side *)context)->hub, port, why);
}

static void op_unlisten(void *context, uint16_t port)
{
    sctp_hub_unlisten(((struct side *)context)->hub, port);
}

static void *op_connect(void *context, const struct peer_sctp_place *place, struct iwarp_association *association,
                        struct peer_association *owner, struct iwarp_sentence *why)
{
    struct side *side = context;

    return sctp_hub_connect(side->hub, &side->net->side[1 - side->number].name, place->port, association, owner,
                            side->net->now, why);
}

static void op_run(void *transport, uint64_t now)
{
    sctp_path_run(transport, now);
}

static void op_release(void *transport)
{
    sctp_path_release(transport);
}

static const struct peer_sctp_ops sctp_ops = {.connect = op_connect, .run = op_run, .release = op_release};
static const struct peer_transport_ops ops = {.sctp = &sctp_ops, .listen = op_listen, .unlisten = op_unlisten};

static struct sockaddr_storage name_of(uint32_t address, uint16_t port)
{
    struct sockaddr_storage name;
    struct sockaddr_in *v4 = (void *)&name;

    memset(&name, 0, sizeof(name));
    v4->sin_family = AF_INET;
    v4->sin_addr.s_addr = htonl(address);
    v4->sin_port = htons(port);
    return name;
}

static struct net *net_new(enum iwarp_sctp_profile profile, uint64_t memory_max)
{
    struct net *net = calloc(1, sizeof(*net));
    struct iwarp_sentence sentence = {""};

    ck_assert_ptr_nonnull(net);
    net->now = clock_of_net = 1;
    for (int i = 0; i < SIDES; i++) {
        struct side *side = &net->side[i];
        struct peer_config config = {.memory_max = memory_max};
        struct sctp_hub_config hub = {.packet_max = PACKET,
                                      .fragments = profile == IWARP_SCTP_RFC5043,
                                      .rto_ms = 10,
                                      .retransmissions = 60000,
                                      .send = on_send,
                                      .incoming = on_incoming,
                                      .changed = on_changed,
                                      .owner = side,
                                      .link = net};

        side->net = net;
        side->number = i;
        side->name = name_of(0x0A000001U + (uint32_t)i, 9899);
        side->hub = sctp_hub_new(&hub, &sentence);
        ck_assert_msg(side->hub != NULL, "%s", sentence.text);
        iwarp_association_config_default(&config.association, profile);
        config.association.network_octets = 28;
        config.association.streams = 1100;
        side->peer = peer_new(&config, &ops, side, &sentence);
        ck_assert_msg(side->peer != NULL, "%s", sentence.text);
    }
    return net;
}

static void net_free(struct net *net)
{
    for (int i = 0; i < SIDES; i++)
        peer_free(net->side[i].peer);
    for (int i = 0; i < SIDES; i++)
        sctp_hub_free(net->side[i].hub);
    user_sctp_stop();
    free(net);
}

static void turn(struct net *net)
{
    bool moved = false;

    for (int i = 0; i < SIDES; i++) {
        struct side *side = &net->side[i];
        uint8_t packet[PACKET];
        size_t octets = side->count == 0 ? 0 : side->queue[0].octets;
        struct sockaddr_storage from = side->queue[0].from;

        if (octets == 0)
            continue;
        memcpy(packet, side->queue[0].data, octets);
        memmove(&side->queue[0], &side->queue[1], --side->count * sizeof(side->queue[0]));
        sctp_hub_input(side->hub, &from, packet, octets, net->now);
        moved = true;
    }
    if (moved)
        return;
    clock_of_net = net->now += TURN_NS;
    for (int i = 0; i < SIDES; i++) {
        sctp_hub_tick(net->side[i].hub, net->now);
        if (peer_deadline(net->side[i].peer) <= net->now)
            peer_tick(net->side[i].peer, net->now);
    }
}

/* One command, whose reply is to be good; the number of one of its members. */
static json_int_t ask(struct net *net, int side, const char *command, const char *member)
{
    char *answer = peer_command(net->side[side].peer, command, net->now);
    json_t *reply = json_loads(answer, 0, NULL);
    json_int_t value = json_integer_value(json_object_get(reply, member));

    ck_assert_msg(json_is_true(json_object_get(reply, "ok")), "%s: %s", command, answer);
    json_decref(reply);
    free(answer);
    return value;
}

/* Turns until so many events of that name have been reported. */
static void await(struct net *net, int side, const char *name, size_t wanted)
{
    size_t seen = 0;

    for (unsigned i = 0; i < 2000000 && seen < wanted; i++) {
        turn(net);
        if (i % 64 == 0 || net->side[0].count + net->side[1].count == 0) {
            char *answer = peer_command(net->side[side].peer, "{\"verb\":\"poll\"}", net->now);
            json_t *reply = json_loads(answer, 0, NULL);
            size_t index;
            const json_t *event;

            json_array_foreach(json_object_get(reply, "events"), index, event) seen +=
                strcmp(json_string_value(json_object_get(event, "event")), name) == 0;
            json_decref(reply);
            free(answer);
        }
    }
    ck_assert_msg(seen == wanted, "%zu of %zu events '%s'", seen, wanted, name);
}

static void open_streams(struct net *net, unsigned count)
{
    (void)ask(net, SERVER, "{\"verb\":\"listen\",\"port\":5043,\"receives\":1}", "port");
    (void)ask(net, CLIENT, "{\"verb\":\"connect\",\"address\":\"x\",\"port\":5043,\"receives\":1,\"startup_ms\":0}",
              "stream");
    for (unsigned i = 1; i < count; i++)
        (void)ask(net, CLIENT, "{\"verb\":\"connect\",\"association\":1,\"receives\":1,\"startup_ms\":0}", "stream");
    await(net, CLIENT, "established", count);
}

static json_int_t associations(struct net *net, int side)
{
    return (json_int_t)peer_association_count(net->side[side].peer);
}

START_TEST(a_thousand_streams)
{
    struct net *net = net_new(IWARP_SCTP_RFC5043, 0);
    char line[80];

    open_streams(net, 1000);
    for (unsigned i = 1; i <= 1000; i++) {
        (void)snprintf(line, sizeof(line), "{\"verb\":\"send\",\"stream\":%u,\"length\":100}", i);
        (void)ask(net, CLIENT, line, "ok");
    }
    await(net, SERVER, "receive", 1000);
    (void)ask(net, CLIENT, "{\"verb\":\"shutdown\",\"association\":1}", "ok");
    await(net, CLIENT, "association_down", 1);
    ck_assert_int_eq(associations(net, CLIENT), 0);
    ck_assert_uint_eq(peer_stream_count(net->side[CLIENT].peer), 0);
    net_free(net);
}
END_TEST

static void lossy(enum iwarp_sctp_profile profile, uint32_t seed)
{
    struct net *net = net_new(profile, 0);
    json_int_t stag;
    char line[160];

    net->random = seed;
    net->loss = 16;
    open_streams(net, 3);
    stag = ask(net, SERVER, "{\"verb\":\"reg_mr\",\"length\":200000}", "stag");
    (void)snprintf(line, sizeof(line), "{\"verb\":\"write\",\"stream\":2,\"stag\":%lld,\"length\":200000}",
                   (long long)stag);
    (void)ask(net, CLIENT, line, "ok");
    (void)ask(net, CLIENT, "{\"verb\":\"send\",\"stream\":2,\"data\":\"01\"}", "ok");
    await(net, SERVER, "receive", 1);
    (void)snprintf(line, sizeof(line), "{\"verb\":\"mem_read\",\"stag\":%lld,\"offset\":199900}", (long long)stag);
    (void)ask(net, SERVER, line, "ok");
    net_free(net);
}

START_TEST(over_a_bad_link)
{
    lossy(IWARP_SCTP_RFC5043, 7);
    lossy(IWARP_SCTP_DRAFT02, 8);
}
END_TEST

START_TEST(one_of_several_associations_may_end)
{
    struct net *net = net_new(IWARP_SCTP_RFC5043, 0);

    open_streams(net, 2);
    for (unsigned i = 0; i < 3; i++)
        (void)ask(net, CLIENT, "{\"verb\":\"connect\",\"address\":\"x\",\"port\":5043}", "stream");
    await(net, CLIENT, "established", 3);
    ck_assert_int_eq(associations(net, SERVER), 4);
    (void)ask(net, CLIENT, "{\"verb\":\"abort_association\",\"association\":2}", "ok");
    await(net, SERVER, "association_down", 1);
    ck_assert_int_eq(associations(net, SERVER), 3);
    (void)ask(net, CLIENT, "{\"verb\":\"send\",\"stream\":1,\"data\":\"00\"}", "ok");
    await(net, SERVER, "receive", 1);
    /* The upper tester's reset ends them all, on both sides. */
    (void)ask(net, CLIENT, "{\"verb\":\"reset\"}", "ok");
    await(net, SERVER, "association_down", 3);
    ck_assert_int_eq(associations(net, CLIENT), 0);
    ck_assert(!sctp_hub_busy(net->side[SERVER].hub));
    net_free(net);
}
END_TEST

/* An INIT with the indication of DDP. */
static size_t make_init(uint8_t *packet, uint16_t port, uint32_t tag)
{
    static const uint8_t init[] = {1, 0, 0, 28, 0, 0, 0,    0, 0, 1, 0, 0, 0, 8,
                                   0, 8, 0, 0,  0, 1, 0xC0, 6, 0, 8, 0, 0, 0, 1};

    memset(packet, 0, SCTP_COMMON_OCTETS);
    sctp_common_set_SourcePort(packet, port);
    sctp_common_set_DestinationPort(packet, PORT);
    memcpy(packet + SCTP_COMMON_OCTETS, init, sizeof(init));
    sctp_init_set_InitiateTag(packet + SCTP_COMMON_OCTETS, tag);
    sctp_common_set_Checksum(packet, sctp_checksum(packet, SCTP_COMMON_OCTETS + sizeof(init)));
    return SCTP_COMMON_OCTETS + sizeof(init);
}

START_TEST(packets_of_strangers_take_no_memory)
{
    struct net *net = net_new(IWARP_SCTP_RFC5043, UINT64_C(1) << 30);
    struct sctp_hub *hub = net->side[SERVER].hub;
    const struct budget *budget = peer_budget(net->side[SERVER].peer);
    uint8_t packet[256];
    struct sockaddr_storage from;
    size_t octets;
    uint64_t used;

    open_streams(net, 1);
    used = budget->used;
    for (uint32_t i = 1; i <= 1000; i++) {
        from = name_of(0x0A010000U + i, 9899);
        octets = make_init(packet, 4000, i);
        sctp_hub_input(hub, &from, packet, octets, net->now);
        ck_assert_int_le(associations(net, SERVER), SCTP_HUB_HALF_OPEN_MAX + 1);
    }
    ck_assert_int_eq(associations(net, SERVER), SCTP_HUB_HALF_OPEN_MAX + 1);
    /* Others begin nothing: a wrong checksum, a tag, another port, no INIT, no packet. */
    from = name_of(0x0A020001U, 9899);
    packet[30] ^= 1;
    sctp_hub_input(hub, &from, packet, octets, net->now);
    packet[30] ^= 1;
    for (size_t count = 0; count < octets; count++)
        sctp_hub_input(hub, &from, packet, count, net->now);
    (void)make_init(packet, 4000, 0);
    sctp_common_set_DestinationPort(packet, PORT + 1);
    sctp_hub_input(hub, &from, packet, octets, net->now);
    ck_assert_int_eq(associations(net, SERVER), SCTP_HUB_HALF_OPEN_MAX + 1);
    (void)ask(net, CLIENT, "{\"verb\":\"send\",\"stream\":1,\"data\":\"00\"}", "ok");
    await(net, SERVER, "receive", 1);
    /* What they have begun ends by itself. */
    clock_of_net = net->now += 2 * SCTP_HUB_HALF_OPEN_NS;
    sctp_hub_tick(hub, net->now);
    ck_assert_int_eq(associations(net, SERVER), 1);
    ck_assert_uint_le(budget->used, used + (1U << 20)); /* events */
    net_free(net);
}
END_TEST

Suite *sctp_hub_suite(void)
{
    Suite *suite = suite_create("sctp_hub");
    TCase *tcase = tcase_create("usrsctp");
    struct iwarp_sentence sentence = {""};

    suite_add_tcase(suite, tcase);
    tcase_set_timeout(tcase, 240);
    if (user_sctp_start(&sentence) != 0) {
        fprintf(stderr, "SKIP sctp_hub: %s\n", sentence.text);
        return suite;
    }
    user_sctp_stop();
    tcase_add_test(tcase, a_thousand_streams);
    tcase_add_test(tcase, over_a_bad_link);
    tcase_add_test(tcase, one_of_several_associations_may_end);
    tcase_add_test(tcase, packets_of_strangers_take_no_memory);
    return suite;
}
