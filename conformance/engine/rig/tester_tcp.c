/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/rig/tester_tcp.h"

#include "conformance/engine/rig/rig.h"

enum { HELD_MILLISECONDS = 30, HELD_MILLISECONDS_MOST = 500, HELD_ROUND_TRIPS = 20, ANSWER_SECONDS = 10 };
#define SECOND      UINT64_C(1000000000)
#define MILLISECOND UINT64_C(1000000)

static struct tcp_stack *stack_of(const struct tester *tester)
{
    return ((const struct tester_tcp *)tester)->stack;
}

static void input(struct tester *tester, const uint8_t *frame, size_t octets, uint64_t now)
{
    tcp_stack_input(stack_of(tester), frame, octets, now);
}

static uint64_t deadline(const struct tester *tester)
{
    return tcp_stack_deadline(stack_of(tester));
}

static void tick(struct tester *tester, uint64_t now)
{
    tcp_stack_tick(stack_of(tester), now);
}

/* Waits until the handshake has an outcome, or the time is up. */
static int handshake_wait(struct rig *rig, const struct tcp_connection *connection, struct iwarp_sentence *error)
{
    uint64_t until = rig_now(rig) + ANSWER_SECONDS * SECOND;
    int pumped = 1;

    while (pumped > 0 && tcp_status(connection)->state == TCP_STATE_SYN_SENT)
        pumped = rig_pump(rig, until);
    return pumped < 0 ? iwarp_sentence_set(error, "%s", rig->failure.text) : 0;
}

/* Answers that came and that a TCP may not take: without a remedy the user would look for a silent device. */
static int bad_answers(const struct rig *rig, struct iwarp_sentence *error)
{
    char address[64];

    return iwarp_sentence_set(error,
                              "the device at %s port %u answers with wrong checksums (%llu frames): they are left to a "
                              "network card that this link does not have; at the device's end of the link: ethtool -K "
                              "INTERFACE tx off (warpcheck probe names the interface)",
                              net_address_format(&rig->dut, address, sizeof(address)), rig->port,
                              (unsigned long long)tcp_stack_bad_frames(rig->tcp.stack));
}

/* A handshake that the device has not accepted. */
static int not_open(struct rig *rig, struct tcp_connection *connection, struct tester_exchange *exchange,
                    struct iwarp_sentence *error)
{
    enum tcp_cause cause = tcp_status(connection)->cause;
    char address[64];

    exchange->refused = cause == TCP_CAUSE_REFUSED;
    tcp_abort(connection);
    if (cause == TCP_CAUSE_NONE && tcp_stack_bad_frames(rig->tcp.stack) > 0)
        return bad_answers(rig, error);
    return iwarp_sentence_set(error, "the device at %s port %u did not accept a TCP connection: %s",
                              net_address_format(&rig->dut, address, sizeof(address)), rig->port,
                              cause == TCP_CAUSE_NONE ? "no answer" : tcp_cause_name(cause));
}

/* Longer where the device is slow: its TCP answers at once, and its accept() has to have its turn, too. */
static uint64_t held_ns(uint64_t round_trip_ns)
{
    uint64_t held = HELD_ROUND_TRIPS * round_trip_ns;

    if (held < HELD_MILLISECONDS * MILLISECOND)
        return HELD_MILLISECONDS * MILLISECOND;
    return held < HELD_MILLISECONDS_MOST * MILLISECOND ? held : HELD_MILLISECONDS_MOST * MILLISECOND;
}

/*
 * The round trip is that of a handshake. The connection is held for a while before it is reset. To reset it before the
 * device's accept() would test something else: some devices stop listening then.
 */
static int measure_on(struct rig *rig, struct tcp_connection *connection, struct tester_exchange *exchange,
                      struct iwarp_sentence *error)
{
    if (handshake_wait(rig, connection, error) != 0)
        return -1;
    if (!tcp_is_open(connection))
        return not_open(rig, connection, exchange, error);
    exchange->round_trip_ns = tcp_status(connection)->round_trip_ns;
    if (rig_pass(rig, held_ns(exchange->round_trip_ns)) != 0)
        return iwarp_sentence_set(error, "%s", rig->failure.text);
    tcp_abort(connection);
    return 0;
}

static int measure(struct tester *tester, struct rig *rig, struct tester_exchange *exchange,
                   struct iwarp_sentence *error)
{
    struct tcp_connection *connection;
    int status;

    tcp_stack_set_time(stack_of(tester), rig_now(rig));
    connection = tcp_connect(stack_of(tester), &rig->dut, rig->port, NULL, error);
    if (connection == NULL)
        return -1;
    status = measure_on(rig, connection, exchange, error);
    tcp_release(connection);
    return status;
}

static bool owns(const struct tester *tester, const struct net_address *peer, uint16_t own_port, uint16_t peer_port)
{
    return tcp_stack_has(stack_of(tester), peer, own_port, peer_port);
}

static const struct tester_ops ops = {
    .input = input, .deadline = deadline, .tick = tick, .measure = measure, .owns = owns};

int tester_tcp_open(struct tester_tcp *tcp, const struct tcp_stack_config *config, struct iwarp_sentence *error)
{
    tcp->tester = (struct tester){.ops = &ops};
    tcp->stack = tcp_stack_new(config, error);
    return tcp->stack != NULL ? 0 : -1;
}

void tester_tcp_close(struct tester_tcp *tcp)
{
    tcp_stack_free(tcp->stack);
    tcp->stack = NULL;
}
