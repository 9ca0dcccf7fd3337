/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/rig/rig.h"

#include <stdlib.h>

/*
 * The texts give no times for reactions; the catalogue's longest is 15 s. That is right for a round trip of 10 ms and
 * above, where a device sits behind a real network or an emulator; a device on the next cable answers in proportion.
 */
enum { MEASURED_HANDSHAKES = 3, REACTION_PER_ROUND_TRIP = 1500, HELD_MILLISECONDS = 30, FIRST_PAUSE_MILLISECONDS = 20 };
#define SECOND         UINT64_C(1000000000)
#define MILLISECOND    UINT64_C(1000000)
#define REFUSED_MOST   (5 * SECOND) /* a device that refuses so long does not listen */
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

/* Time that passes on the wire. */
static int pass(struct rig *rig, uint64_t nanoseconds)
{
    uint64_t deadline = rig_now(rig) + nanoseconds;

    while (rig_now(rig) < deadline)
        if (rig_pump(rig, deadline) < 0)
            return -1;
    return 0;
}

/* `cause` is set when the device was asked and did not take the connection. */
static int handshake(struct rig *rig, uint64_t *round_trip, enum tcp_cause *cause, struct sentence *error)
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
        char address[64];

        *cause = tcp_status(connection)->cause;
        tcp_abort(connection);
        tcp_release(connection);
        return sentence_set(error, "the device at %s port %u did not accept a TCP connection: %s",
                            net_address_format(&rig->dut, address, sizeof(address)), rig->port,
                            *cause == TCP_CAUSE_NONE ? "no answer" : tcp_cause_name(*cause));
    }
    *round_trip = tcp_status(connection)->round_trip_ns;
    /*
     * A connection that is dropped before the device's accept() is a test of its own (some give up listening then), and not to
     * be had by the way.
     */
    if (pass(rig, HELD_MILLISECONDS * MILLISECOND) != 0) {
        tcp_release(connection);
        return sentence_set(error, "%s", rig->failure.text);
    }
    tcp_abort(connection);
    tcp_release(connection);
    return 0;
}

/*
 * The first handshake. A device may be there before what listens on it is: one that refuses is asked again, less and less
 * often, and given up when it has refused for REFUSED_MOST.
 */
static int first_handshake(struct rig *rig, uint64_t *round_trip, struct sentence *error)
{
    uint64_t limit = rig_now(rig) + REFUSED_MOST, pause = FIRST_PAUSE_MILLISECONDS * MILLISECOND;
    unsigned asked = 0;

    for (;;) {
        enum tcp_cause cause = TCP_CAUSE_NONE;
        struct sentence why;

        asked++;
        if (handshake(rig, round_trip, &cause, &why) == 0)
            return 0;
        if (cause != TCP_CAUSE_REFUSED || rig_now(rig) + pause > limit)
            return sentence_set(error, asked > 1 ? "%.400s (tried %u times)" : "%.400s", why.text, asked);
        if (pass(rig, pause) != 0)
            return sentence_set(error, "%s", rig->failure.text);
        pause *= 2;
    }
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
        enum tcp_cause cause = TCP_CAUSE_NONE;
        uint64_t round_trip = 0;

        if ((i == 0 ? first_handshake(rig, &round_trip, error) : handshake(rig, &round_trip, &cause, error)) != 0)
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
