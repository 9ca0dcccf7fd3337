/* SPDX-License-Identifier: BSD-2-Clause */
/* A peer whose TCP changes its EMSS, and one whose memory is short just when its events are asked for. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "reference-stack/peer/peer.h"
#include "tests/unit/short_memory.h"
#include "tests/unit/still_transport.h"
#include "wire/mpa.h"

Suite *peer_tcp_suite(void);

static const uint64_t second = 1000000000;

/* The peer's one connection. */
static struct {
    struct peer_stream *stream;
    size_t emss, polls, longest;
} tcp;

static void *op_connect(void *context, const char *address, uint16_t port, struct peer_stream *stream)
{
    (void)context;
    (void)address;
    (void)port;
    tcp.stream = stream;
    return &tcp;
}

static void op_send(void *transport, const uint8_t *octets, size_t count)
{
    (void)transport;
    (void)octets;
    tcp.longest = count > tcp.longest ? count : tcp.longest;
}

static size_t op_emss(void *transport)
{
    (void)transport;
    tcp.polls++;
    return tcp.emss;
}

/* The connection has ends as long as it has an EMSS. */
static bool op_ends(void *transport, struct connection_end *own, struct connection_end *peer)
{
    (void)transport;
    *own = (struct connection_end){.address = "192.0.2.7", .port = 40001};
    *peer = (struct connection_end){.address = "2001:db8::9", .port = 7};
    return tcp.emss != 0;
}

static const struct peer_transport_ops ops = {
    STILL_TRANSPORT, .connect = op_connect, .send = op_send, .carrier.emss = op_emss, .carrier.ends = op_ends,
};

static void ask(struct peer *peer, const char *line, const char *wanted, uint64_t now)
{
    char *reply = peer_command(peer, line, now);

    ck_assert_ptr_nonnull(reply);
    ck_assert_msg(strstr(reply, wanted) != NULL, "%s: %s, %s was expected", line, reply, wanted);
    free(reply);
}

/* An initiator in full operation. */
static struct peer *peer_open(const char *connect)
{
    struct peer *peer = peer_new(NULL, &ops, NULL, NULL);
    struct iwarp_mpa_start reply = {.kind = IWARP_MPA_REPLY, .revision = 1, .crc = true};
    uint8_t frame[MPA_START_MAX];

    ck_assert_ptr_nonnull(peer);
    memset(&tcp, 0, sizeof(tcp));
    tcp.emss = 1460;
    ask(peer, connect, "\"stream\":1", 1);
    peer_connected(tcp.stream, 1);
    peer_input(tcp.stream, frame, mpa_start_pack(&reply, frame, sizeof(frame)), 1);
    return peer;
}

/* MULPDU follows (RFC 5044 4.5), and TCP is not asked all the time. */
START_TEST(mulpdu_follows_a_changed_emss)
{
    struct peer *peer = peer_open("{\"verb\":\"connect\",\"address\":\"x\",\"port\":7,\"rev\":1}");

    ask(peer, "{\"verb\":\"mpa\",\"stream\":1}", "\"emss\":1460,\"mulpdu\":1454", 2);
    tcp.emss = 536;
    for (uint64_t i = 0; i < 100; i++)
        ask(peer, "{\"verb\":\"send\",\"stream\":1,\"length\":4000}", "\"ok\":true", second / 2 + i);
    ck_assert_uint_eq(tcp.polls, 1);
    ck_assert_uint_eq(tcp.longest, 1460);
    tcp.longest = 0;
    ask(peer, "{\"verb\":\"send\",\"stream\":1,\"length\":4000}", "\"ok\":true", 2 * second);
    ask(peer, "{\"verb\":\"mpa\",\"stream\":1}", "\"emss\":536,\"mulpdu\":530", 2 * second);
    ck_assert_uint_eq(tcp.polls, 2);
    ck_assert_uint_le(tcp.longest, 536);
    tcp.emss = 0; /* it cannot tell */
    ask(peer, "{\"verb\":\"send\",\"stream\":1,\"length\":4000}", "\"ok\":true", 4 * second);
    ask(peer, "{\"verb\":\"mpa\",\"stream\":1}", "\"emss\":536", 4 * second);
    peer_free(peer);
}
END_TEST

START_TEST(given_emss_is_kept)
{
    struct peer *peer = peer_open("{\"verb\":\"connect\",\"address\":\"x\",\"port\":7,\"rev\":1,\"emss\":700}");

    ask(peer, "{\"verb\":\"send\",\"stream\":1,\"length\":4000}", "\"ok\":true", 9 * second);
    ask(peer, "{\"verb\":\"mpa\",\"stream\":1}", "\"emss\":700", 9 * second);
    ck_assert_uint_eq(tcp.polls, 0);
    peer_free(peer);
}
END_TEST

/* The event of a start-up frame reports the addresses of both ends. */
START_TEST(start_event_reports_both_addresses)
{
    struct peer *peer = peer_open("{\"verb\":\"connect\",\"address\":\"x\",\"port\":7,\"rev\":1}");

    ask(peer, "{\"verb\":\"poll\"}",
        "\"peer_address\":\"2001:db8::9\",\"peer_port\":7,\"own_address\":\"192.0.2.7\",\"own_port\":40001", 2);
    peer_free(peer);
}
END_TEST

#if OWN_ALLOCATOR

static void event_left(struct peer *peer, long n)
{
    const char *poll = "{\"verb\":\"poll\",\"tag\":\"some text\"}";
    char *reply;
    bool reported;

    SHORT(n, reply = peer_command(peer, poll, 1));
    reported = reply != NULL && strstr(reply, "\"connect_failed\"") != NULL;
    free(reply);
    reply = peer_command(peer, poll, 1);
    ck_assert_ptr_nonnull(reply);
    ck_assert_msg((strstr(reply, "\"connect_failed\"") != NULL) != reported, "told %d times", reported ? 2 : 0);
    free(reply);
}

/* Each allocation of a poll fails in turn: what it could not tell the next one does, once. */
START_TEST(poll_loses_nothing)
{
    struct peer *peer = peer_new(NULL, &ops, NULL, NULL);

    ck_assert_ptr_nonnull(peer);
    short_failed = true;
    for (long n = 1; short_failed; n++) {
        short_failed = false;
        ck_assert_int_lt(n, 500);
        memset(&tcp, 0, sizeof(tcp));
        free(peer_command(peer, "{\"verb\":\"connect\",\"address\":\"x\",\"port\":7}", 1));
        ck_assert_ptr_nonnull(tcp.stream);
        peer_connect_failed(tcp.stream, "of no route", 1);
        event_left(peer, n);
    }
    peer_free(peer);
}
END_TEST

#endif

Suite *peer_tcp_suite(void)
{
    Suite *suite = suite_create("peer_tcp");
    TCase *tcase = tcase_create("EMSS");

    tcase_add_test(tcase, mulpdu_follows_a_changed_emss);
    tcase_add_test(tcase, given_emss_is_kept);
    tcase_add_test(tcase, start_event_reports_both_addresses);
#if OWN_ALLOCATOR
    tcase_add_test(tcase, poll_loses_nothing);
#endif
    suite_add_tcase(suite, tcase);
    return suite;
}
