/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/rig.h"

#include <stdlib.h>

/*
 * The texts give no times for reactions; the catalogue's longest is 15 s. That is right for a round trip of 10 ms and
 * above, where a device sits behind a real network or an emulator; a device on the next cable answers in proportion.
 */
enum { MEASURED_HANDSHAKES = 3, REACTION_PER_ROUND_TRIP = 1500, HELD_MILLISECONDS = 30 };
#define SECOND         UINT64_C(1000000000)
#define REACTION_LEAST (2 * SECOND)
#define REACTION_MOST  (15 * SECOND)

int rig_pump(struct rig *rig, uint64_t deadline_ns)
{
    uint64_t timer = tcp_stack_deadline(rig->tcp);
    uint64_t until = timer < deadline_ns ? timer : deadline_ns;
    struct link_frame frame;
    int got = link_receive(rig->link, &frame, until);

    if (got < 0) {
        rig->failure = rig->link->error;
        return -1;
    }
    if (got > 0) {
        tcp_stack_input(rig->tcp, frame.octets, frame.length, frame.time_ns);
        return 1;
    }
    tcp_stack_tick(rig->tcp, rig_now(rig));
    return timer <= deadline_ns && timer != LINK_NEVER ? 1 : 0;
}

/*
 * A connection that is dropped before the device's accept() is a test of its own (some give up listening then), and not to
 * be had by the way.
 */
static int hold(struct rig *rig)
{
    uint64_t deadline = rig_now(rig) + HELD_MILLISECONDS * UINT64_C(1000000);

    while (rig_now(rig) < deadline)
        if (rig_pump(rig, deadline) < 0)
            return -1;
    return 0;
}

static int handshake(struct rig *rig, uint64_t *round_trip, struct sentence *error)
{
    uint64_t deadline = rig_now(rig) + 10 * SECOND;
    struct tcp_connection *connection;

    tcp_stack_set_time(rig->tcp, rig_now(rig));
    connection = tcp_connect(rig->tcp, &rig->dut, rig->port, NULL, error);
    if (connection == NULL)
        return -1;
    while (tcp_status(connection)->state == TCP_STATE_SYN_SENT) {
        int pumped = rig_pump(rig, deadline);

        if (pumped < 0) {
            tcp_release(connection);
            return sentence_set(error, "%s", rig->failure.text);
        }
        if (pumped == 0)
            break;
    }
    if (!tcp_is_open(connection)) {
        enum tcp_cause cause = tcp_status(connection)->cause;
        char address[64];

        tcp_abort(connection);
        tcp_release(connection);
        return sentence_set(error, "the device at %s port %u did not take a TCP connection: %s",
                            net_address_format(&rig->dut, address, sizeof(address)), rig->port,
                            cause == TCP_CAUSE_NONE ? "no answer" : tcp_cause_name(cause));
    }
    *round_trip = tcp_status(connection)->round_trip_ns;
    if (hold(rig) != 0) {
        tcp_release(connection);
        return sentence_set(error, "%s", rig->failure.text);
    }
    tcp_abort(connection);
    tcp_release(connection);
    return 0;
}

static void set_limits(struct rig *rig, uint64_t round_trip)
{
    rig->round_trip_ns = round_trip;
    rig->reaction_ns = round_trip * REACTION_PER_ROUND_TRIP;
    if (rig->reaction_ns < REACTION_LEAST)
        rig->reaction_ns = REACTION_LEAST;
    if (rig->reaction_ns > REACTION_MOST)
        rig->reaction_ns = REACTION_MOST;
    rig->quiet_ns = rig->reaction_ns / 8;
}

void rig_note_round_trip(struct rig *rig, uint64_t round_trip)
{
    uint64_t longest = 0;

    if (rig->simulated || round_trip == 0)
        return;
    rig->recent_ns[rig->recent_next++ % RIG_RECENT] = round_trip;
    for (size_t i = 0; i < RIG_RECENT; i++)
        longest = rig->recent_ns[i] > longest ? rig->recent_ns[i] : longest;
    set_limits(rig, longest);
}

int rig_measure(struct rig *rig, struct sentence *error)
{
    uint64_t longest = 0;

    for (int i = 0; i < MEASURED_HANDSHAKES; i++) {
        uint64_t round_trip = 0;

        if (handshake(rig, &round_trip, error) != 0)
            return -1;
        longest = round_trip > longest ? round_trip : longest;
    }
    set_limits(rig, longest);
    rig_note_round_trip(rig, longest);
    return 0;
}

void rig_free(struct rig *rig)
{
    if (rig != NULL)
        rig->ops->free(rig);
}
