/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/dummy_rig.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "generator/link/link_sim.h"
#include "generator/tcp/tcp.h"

const char *const dummy_names[DUMMY_KINDS] = {
    "reset on accept", "FIN on accept",  "FIN on accept, and reads on", "silence",   "echo", "garbage",
    "FIN on data",     "one good Reply", "a good Reply each",           "R = 1 each"};

static const uint8_t dut_mac[6] = {0x02, 0x77, 0x63, 0, 0, 0x02};
static const uint8_t own_mac[6] = {0x02, 0x77, 0x63, 0, 0, 0x03};

/* The same with R = 1. */
static const uint8_t rejecting_reply[20] = "MPA ID Rep Frame\x60\x01\0";

/* MPA ID Rep Frame, C = 1, Rev 1, no Private Data. */
static const uint8_t good_reply[20] = "MPA ID Rep Frame\x40\x01\0";

struct dummy {
    struct rig rig;
    struct sim *sim;
    struct tcp_stack *tcp;
    enum dummy_kind kind;
    unsigned replies;
};

static void answer(struct dummy *dummy, struct tcp_connection *connection)
{
    uint8_t octets[4096];
    const uint8_t *received;
    size_t count;

    tcp_received(connection, &received, &count);
    count = count < sizeof(octets) ? count : sizeof(octets);
    memcpy(octets, received, count);
    tcp_consume(connection, count);
    switch (dummy->kind) {
    case DUMMY_ECHO: (void)tcp_send(connection, octets, count); break;
    case DUMMY_GARBAGE:
        for (size_t i = 0; i < 64; i++)
            octets[i] = (uint8_t)(i * 37 + 11);
        (void)tcp_send(connection, octets, 64);
        break;
    case DUMMY_READS: (void)tcp_shutdown(connection); break;
    case DUMMY_ONE_REPLY:
        if (dummy->replies++ == 0)
            (void)tcp_send(connection, good_reply, sizeof(good_reply));
        break;
    case DUMMY_REPLIES:
        if (tcp_user(connection) == NULL)
            (void)tcp_send(connection, good_reply, sizeof(good_reply));
        tcp_set_user(connection, dummy);
        break;
    case DUMMY_REJECTS:
        /* A whole frame comes in one segment, or it is no good one; RFC 6581's are not known. */
        if (tcp_user(connection) == NULL && count >= 20 && memcmp(octets, "MPA ID Req Frame", 16) == 0 &&
            octets[17] == 1 && count == 20 + ((size_t)octets[18] << 8 | octets[19]) && count <= 20 + 512)
            (void)tcp_send(connection, rejecting_reply, sizeof(rejecting_reply));
        else
            (void)tcp_shutdown(connection);
        tcp_set_user(connection, dummy);
        break;
    default: break;
    }
}

static void on_event(void *context, struct tcp_connection *connection, enum tcp_event event)
{
    struct dummy *dummy = context;

    if (event == TCP_EVENT_ESTABLISHED) {
        if (dummy->kind == DUMMY_RESET)
            tcp_abort(connection);
        if (dummy->kind == DUMMY_FIN || dummy->kind == DUMMY_HALF)
            (void)tcp_shutdown(connection);
        if (dummy->kind == DUMMY_FIN)
            tcp_release(tcp_accept(dummy->tcp, RIG_PORT));
    } else if (event == TCP_EVENT_DATA) {
        answer(dummy, connection);
    } else if (event == TCP_EVENT_PEER_FIN) {
        (void)tcp_shutdown(connection);
    }
}

static void dummy_frame(void *node, const uint8_t *frame, size_t octets, uint64_t now)
{
    struct dummy *dummy = node;

    tcp_stack_input(dummy->tcp, frame, octets, now);
}

static uint64_t dummy_deadline(void *node)
{
    const struct dummy *dummy = node;

    return tcp_stack_deadline(dummy->tcp);
}

static void dummy_tick(void *node, uint64_t now)
{
    struct dummy *dummy = node;

    tcp_stack_tick(dummy->tcp, now);
}

static const struct sim_node_ops dummy_ops = {.frame = dummy_frame, .deadline = dummy_deadline, .tick = dummy_tick};

static void emit_from_dummy(void *context, const uint8_t *frame, size_t octets)
{
    struct dummy *dummy = context;

    (void)sim_send(dummy->sim, SIM_END_B, frame, octets);
}

static void emit_from_tester(void *context, const uint8_t *frame, size_t octets)
{
    struct dummy *dummy = context;

    (void)link_send(dummy->rig.link, frame, octets);
}

static void dummy_free(struct rig *rig)
{
    struct dummy *dummy = (struct dummy *)rig;

    tcp_stack_free(dummy->tcp);
    tester_tcp_close(&rig->tcp);
    sim_free(dummy->sim);
    free(dummy);
}

static const struct rig_ops dummy_rig_ops = {.free = dummy_free};

struct rig *dummy_rig_new(enum dummy_kind kind)
{
    struct dummy *dummy = calloc(1, sizeof(*dummy));
    struct sim_config world = {.seed = 1};
    struct iwarp_sentence error = {""};

    ck_assert_ptr_nonnull(dummy);
    dummy->kind = kind;
    dummy->sim = sim_new(&world);
    dummy->rig.ops = &dummy_rig_ops;
    dummy->rig.simulated = true;
    dummy->rig.port = RIG_PORT;
    dummy->rig.link = sim_link(dummy->sim);
    (void)net_address_parse(&dummy->rig.dut, "10.77.0.2");
    (void)net_address_parse(&dummy->rig.own, "10.77.0.3");
    struct tcp_stack_config device = {
        .seed = 3, .now = sim_now(dummy->sim), .emit = emit_from_dummy, .event = on_event, .context = dummy};
    struct tcp_stack_config tester = {
        .seed = 2, .now = sim_now(dummy->sim), .emit = emit_from_tester, .context = dummy};

    memcpy(device.mac, dut_mac, sizeof(device.mac));
    memcpy(tester.mac, own_mac, sizeof(tester.mac));
    device.ipv4 = dummy->rig.dut;
    tester.ipv4 = dummy->rig.own;
    dummy->tcp = tcp_stack_new(&device, &error);
    ck_assert_msg(dummy->tcp != NULL, "%s", error.text);
    ck_assert_msg(tcp_listen(dummy->tcp, RIG_PORT, NULL, &error) == 0, "%s", error.text);
    sim_attach(dummy->sim, SIM_END_B, &dummy_ops, dummy);
    ck_assert_msg(tester_tcp_open(&dummy->rig.tcp, &tester, &error) == 0, "%s", error.text);
    rig_attach(&dummy->rig, &dummy->rig.tcp.tester);
    ck_assert_msg(rig_measure(&dummy->rig, &error) == 0, "%s: %s", dummy_names[kind], error.text);
    return &dummy->rig;
}
