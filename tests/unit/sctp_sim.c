/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/sctp_sim.h"

#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "iwarp/sctp.h"
#include "reference-stack/transport/user_sctp.h"
#include "tests/unit/sim_traffic.h"

enum {
    STREAMS_MAX = 4,
    QUEUE = 4096,
    PACKET_MAX = 1480,
    PORT = 5043,
    PASS_MS = 10,
    SIM_HOUR_S = 3600,
    RETRANSMISSIONS = 60,
};

#define NS_PER_MS UINT64_C(1000000)
#define SECOND_NS UINT64_C(1000000000)

struct packet {
    uint64_t due;
    size_t octets;
    uint8_t data[PACKET_MAX];
};

struct sctp_side {
    struct sctp_world *world;
    int index;
    struct iwarp_device *device;
    struct iwarp_association *association;
    struct user_sctp *end;
    struct packet *queue; /* to the other side, in the order of sending */
    size_t count;
    bool up, down;
};

struct sctp_world {
    struct sctp_side side[SIM_SIDES];
    struct sim_traffic *traffic[STREAMS_MAX];
    unsigned streams;
    bool draft, closing;
    size_t mtu;
    unsigned loss, doubled, late; /* of 1,000 packets */
    uint64_t now;
    struct sim_traffic dice;
    struct sctp_sim_counts *counts;
    struct iwarp_sentence *sentence;
};

/* --- Time -------------------------------------------------------------------------------------------------------- */

static const uint64_t *virtual_now; /* NULL: the system's time */

/* In the place of the C library's, for libusrsctp, which knows no other clock. */
int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec time;

    (void)zone;
    if (virtual_now != NULL) {
        now->tv_sec = (time_t)(*virtual_now / SECOND_NS);
        now->tv_usec = (suseconds_t)(*virtual_now % SECOND_NS / 1000);
        return 0;
    }
    (void)clock_gettime(CLOCK_REALTIME, &time);
    now->tv_sec = time.tv_sec;
    now->tv_usec = time.tv_nsec / 1000;
    return 0;
}

/* --- The wire ---------------------------------------------------------------------------------------------------- */

static bool chance(struct sctp_world *world, unsigned of_thousand)
{
    return sim_draw(&world->dice, 1000) < of_thousand;
}

static void on_packet(void *user, const uint8_t *octets, size_t count)
{
    struct sctp_side *side = user;
    struct sctp_world *world = side->world;
    unsigned copies = 1;

    world->counts->packets++;
    if (chance(world, world->doubled)) {
        copies = 2;
        world->counts->doubled++;
    }
    for (; copies != 0; copies--) {
        struct packet *packet = &side->queue[side->count];

        if (side->count == QUEUE || count > PACKET_MAX || chance(world, world->loss)) {
            world->counts->lost++;
            continue;
        }
        packet->due = world->now + NS_PER_MS;
        if (chance(world, world->late)) {
            packet->due += sim_draw(&world->dice, 20 * NS_PER_MS);
            world->counts->late++;
        }
        packet->octets = count;
        memcpy(packet->data, octets, count);
        side->count++;
    }
}

/* The packet that is due first; NULL: none is on its way. */
static struct packet *next_of(struct sctp_side *side)
{
    struct packet *next = NULL;

    for (size_t i = 0; i < side->count; i++)
        if (next == NULL || side->queue[i].due < next->due)
            next = &side->queue[i];
    return next;
}

/* --- Streams ----------------------------------------------------------------------------------------------------- */

static int begin_streams(struct sctp_world *world)
{
    for (unsigned n = 0; n < world->streams; n++) {
        for (int i = 0; i < SIM_SIDES; i++) {
            struct iwarp_stream_config config;

            iwarp_sctp_stream_config_default(&config, i == 0 ? IWARP_RESPONDER : IWARP_INITIATOR);
            config.number = n + 1;
            config.startup_limit = config.linger_limit = 0;
            config.ird = (uint16_t)(2 + sim_draw(&world->dice, 6));
            config.ord = (uint16_t)(1 + sim_draw(&world->dice, 2));
            world->traffic[n]->end[i].stream = iwarp_sctp_stream_new(world->side[i].association, (uint16_t)(n * 5),
                                                                     &config, world->now, world->sentence);
            if (world->traffic[n]->end[i].stream == NULL)
                return -1;
        }
        for (int i = 0; i < SIM_SIDES; i++)
            sim_post(&world->traffic[n]->end[i]);
    }
    return 0;
}

static bool all_done(const struct sctp_world *world)
{
    for (unsigned n = 0; n < world->streams; n++)
        if (world->traffic[n]->end[0].stream == NULL || !sim_all_done(world->traffic[n]))
            return false;
    return true;
}

static void poll_side(struct sctp_side *side)
{
    struct sctp_world *world = side->world;
    struct iwarp_association_event event;

    for (unsigned n = 0; n < world->streams; n++)
        if (world->traffic[n]->end[side->index].stream != NULL)
            sim_take_events(&world->traffic[n]->end[side->index], world->now);
    while (iwarp_association_poll(side->association, &event)) {
        side->up = side->up || event.kind == IWARP_ASSOCIATION_UP;
        side->down = side->down || event.kind == IWARP_ASSOCIATION_DOWN;
    }
}

/* One packet arrives; without any, time passes. */
static void step(struct sctp_world *world)
{
    struct packet *next[SIM_SIDES] = {next_of(&world->side[0]), next_of(&world->side[1])};
    int from = next[1] != NULL && (next[0] == NULL || next[1]->due < next[0]->due);
    uint64_t until = world->now + PASS_MS * NS_PER_MS;

    if (next[from] != NULL && next[from]->due <= until) {
        struct sctp_side *side = &world->side[from];
        struct packet packet = *next[from];

        memmove(next[from], next[from] + 1, (size_t)(side->queue + --side->count - next[from]) * sizeof(packet));
        world->now = packet.due > world->now ? packet.due : world->now;
        user_sctp_clock(world->now);
        user_sctp_input(world->side[1 - from].end, packet.data, packet.octets, world->now);
    } else {
        world->now = until;
        user_sctp_clock(world->now);
    }
    for (int i = 0; i < SIM_SIDES; i++) {
        poll_side(&world->side[i]);
        user_sctp_run(world->side[i].end, world->now);
        poll_side(&world->side[i]);
    }
}

/* --- The world --------------------------------------------------------------------------------------------------- */

static int side_new(struct sctp_world *world, int index)
{
    struct sctp_side *side = &world->side[index];
    struct iwarp_device_config device = {.seed = sim_draw(&world->dice, UINT64_MAX) | 1};
    struct iwarp_association_config association;
    struct user_sctp_config config = {.active = index == 1,
                                      .port = (uint16_t)(PORT + index),
                                      .peer_port = (uint16_t)(PORT + 1 - index),
                                      .packet_max = world->mtu,
                                      .retransmissions = RETRANSMISSIONS,
                                      .fragments = !world->draft,
                                      .send = on_packet,
                                      .user = side};

    side->world = world;
    side->index = index;
    side->queue = calloc(QUEUE, sizeof(*side->queue));
    side->device = iwarp_device_new(&device);
    if (side->queue == NULL || side->device == NULL)
        return iwarp_sentence_set(world->sentence, "out of memory");
    for (unsigned n = 0; n < world->streams; n++) {
        struct traffic_end *end = &world->traffic[n]->end[index];

        if (sim_plan(world->traffic[n], index, side->device) != 0)
            return -1;
        /*
         * The last one is a Send, whose delivery shows that all before it has come: the draft's streams have no end
         * that would.
         */
        end->works[end->work_count - 1].kind = IWARP_WORK_SEND;
    }
    iwarp_association_config_default(&association, world->draft ? IWARP_SCTP_DRAFT02 : IWARP_SCTP_RFC5043);
    association.mtu = world->mtu;
    association.network_octets = 0;
    side->association = iwarp_association_new(side->device, &association, world->now, world->sentence);
    if (side->association == NULL)
        return -1;
    side->end = user_sctp_new(side->association, &config, world->now, world->sentence);
    return side->end == NULL ? -1 : 0;
}

static int complaint(const struct sctp_world *world)
{
    for (unsigned n = 0; n < world->streams; n++)
        if (world->traffic[n]->wrong)
            return -1;
    return 0;
}

static int run(struct sctp_world *world)
{
    uint64_t end = world->now + SIM_HOUR_S * SECOND_NS;
    bool begun = false;

    for (int i = 0; i < SIM_SIDES; i++)
        if (side_new(world, i) != 0)
            return -1;
    while (!world->side[0].down || !world->side[1].down) {
        if (!begun && world->side[0].up && world->side[1].up) {
            begun = true;
            if (begin_streams(world) != 0)
                return -1;
        }
        if (begun && !world->closing && all_done(world)) {
            world->closing = true;
            for (int i = 0; i < SIM_SIDES; i++)
                iwarp_association_close(world->side[i].association, world->now);
        }
        step(world);
        if (complaint(world) != 0)
            return -1;
        if (world->now > end)
            return iwarp_sentence_set(world->sentence, "it is not at its end after an hour: %s",
                                      world->closing ? "an association does not end" : "work is not done");
        if (!world->closing && (world->side[0].down || world->side[1].down))
            return iwarp_sentence_set(world->sentence, "an association has ended before its work was done");
    }
    for (unsigned n = 0; n < world->streams; n++)
        sim_judge(world->traffic[n]);
    return complaint(world);
}

static int world_new(struct sctp_world *world, uint64_t seed)
{
    world->dice.state = seed;
    world->now = SECOND_NS + sim_draw(&world->dice, SECOND_NS);
    world->draft = sim_draw(&world->dice, 3) == 0;
    world->streams = 1 + (unsigned)sim_draw(&world->dice, STREAMS_MAX);
    world->mtu = sim_draw(&world->dice, 3) == 0 ? PACKET_MAX : 576 + sim_draw(&world->dice, PACKET_MAX - 576);
    world->mtu &= ~(size_t)3;
    world->loss = (unsigned)sim_draw(&world->dice, 80);
    world->doubled = (unsigned)sim_draw(&world->dice, 80);
    world->late = (unsigned)sim_draw(&world->dice, 200);
    for (unsigned n = 0; n < world->streams; n++) {
        world->traffic[n] = calloc(1, sizeof(*world->traffic[n]));
        if (world->traffic[n] == NULL)
            return iwarp_sentence_set(world->sentence, "out of memory");
        world->traffic[n]->state = sim_draw(&world->dice, UINT64_MAX);
        world->traffic[n]->sentence = world->sentence;
    }
    virtual_now = &world->now;
    return user_sctp_start(world->sentence);
}

static void world_free(struct sctp_world *world)
{
    for (int i = 0; i < SIM_SIDES; i++) {
        user_sctp_free(world->side[i].end);
        for (unsigned n = 0; n < world->streams; n++)
            if (world->traffic[n] != NULL)
                iwarp_stream_free(world->traffic[n]->end[i].stream);
        iwarp_association_free(world->side[i].association);
        iwarp_device_free(world->side[i].device);
        free(world->side[i].queue);
    }
    user_sctp_stop();
    virtual_now = NULL;
    for (unsigned n = 0; n < STREAMS_MAX; n++)
        free(world->traffic[n]);
    free(world);
}

bool sctp_sim_there(void)
{
    struct iwarp_sentence sentence = {""};
    bool there = user_sctp_start(&sentence) == 0;

    user_sctp_stop();
    return there;
}

int sctp_sim_run(uint64_t seed, struct sctp_sim_counts *counts, struct iwarp_sentence *sentence)
{
    struct sctp_world *world = calloc(1, sizeof(*world));
    struct sctp_sim_counts none = {0};
    int result;

    if (world == NULL)
        return iwarp_sentence_set(sentence, "out of memory");
    world->sentence = sentence;
    world->counts = counts != NULL ? counts : &none;
    result = world_new(world, seed) != 0 ? -1 : run(world);
    world_free(world);
    return result;
}
