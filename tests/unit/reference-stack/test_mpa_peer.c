/* SPDX-License-Identifier: BSD-2-Clause */
/* MPA through the upper tester: its instruments, the options that set it, and peers of Rev 0. One peer, fed by hand. */
#include <check.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "reference-stack/peer/peer.h"
#include "tests/unit/suites.h"
#include "wire/ddp.h"
#include "wire/fpdu.h"
#include "wire/mpa.h"
#include "wire/rdmap.h"

Suite *mpa_peer_suite(void);

/* What the peer sent on its one connection. */
static struct {
    uint8_t octets[1 << 16];
    size_t count;
    bool fin;
    struct peer_stream *connecting;
} wire;

static struct peer *peer;
static struct peer_stream *stream;

static int op_listen(void *context, uint16_t port, struct iwarp_sentence *why)
{
    (void)context;
    (void)why;
    return port == 0 ? 4242 : port;
}

static void op_unlisten(void *context, uint16_t port)
{
    (void)context;
    (void)port;
}

static void *op_connect(void *context, const char *address, uint16_t port, struct peer_stream *connecting)
{
    (void)context;
    (void)address;
    (void)port;
    wire.connecting = connecting;
    return &wire;
}

static void op_send(void *transport, const uint8_t *octets, size_t count)
{
    (void)transport;
    ck_assert_uint_le(wire.count + count, sizeof(wire.octets));
    memcpy(wire.octets + wire.count, octets, count);
    wire.count += count;
}

static void op_end(void *transport)
{
    (void)transport;
    wire.fin = true;
}

static void setup(void)
{
    static const struct peer_transport_ops ops = {.listen = op_listen,
                                                  .unlisten = op_unlisten,
                                                  .connect = op_connect,
                                                  .send = op_send,
                                                  .carrier.shutdown = op_end,
                                                  .carrier.abort = op_end,
                                                  .carrier.release = op_end};

    memset(&wire, 0, sizeof(wire));
    peer = peer_new(NULL, &ops, NULL, NULL);
    ck_assert_ptr_nonnull(peer);
    stream = NULL;
}

static void teardown(void)
{
    peer_free(peer);
}

/* The member's integer in the reply; -1 without one. */
static long long command(bool ok, const char *line, const char *member)
{
    char *text = peer_command(peer, line, 1);
    json_t *reply = json_loads(text, 0, NULL);
    const json_t *value = json_object_get(reply, member);
    long long number = json_is_integer(value) ? (long long)json_integer_value(value) : json_is_true(value) ? 1 : -1;

    ck_assert_msg(json_is_true(json_object_get(reply, "ok")) == ok, "'%s' got '%s'", line, text);
    free(text);
    json_decref(reply);
    return number;
}

/* A member of the first event of that name since the last call; "" when there is none. */
static const char *event_text(const char *name, const char *member)
{
    static char found[256];
    char *text = peer_command(peer, "{\"verb\":\"poll\"}", 1);
    json_t *reply = json_loads(text, 0, NULL);
    size_t index;
    const json_t *event;

    found[0] = '\0';
    json_array_foreach(json_object_get(reply, "events"), index, event)
    {
        const json_t *value = json_object_get(event, member);

        if (strcmp(json_string_value(json_object_get(event, "event")), name) != 0 || value == NULL)
            continue;
        if (json_is_string(value))
            (void)snprintf(found, sizeof(found), "%s", json_string_value(value));
        else
            (void)snprintf(found, sizeof(found), "%lld", (long long)json_integer_value(value));
        break;
    }
    free(text);
    json_decref(reply);
    return found;
}

static void feed_start(enum iwarp_mpa_start_kind kind, uint8_t revision, bool both, size_t private_octets)
{
    static const uint8_t data[IWARP_MPA_PRIVATE_DATA_MAX];
    struct iwarp_mpa_start start = {.kind = kind, .revision = revision, .markers = both, .crc = true};
    uint8_t frame[MPA_START_MAX];

    start.private_data = data;
    start.private_octets = (uint16_t)private_octets;
    peer_input(stream, frame, mpa_start_pack(&start, frame, sizeof(frame)), 1);
}

/* A zero-length Write of this version, which opens a responder's gate. */
static void feed_write(uint8_t version, const struct fpdu_framing *framing)
{
    struct ddp_segment segment = {.tagged = true, .last = true, .version = version};
    uint8_t ulpdu[DDP_TAGGED_OCTETS], fpdu[64];

    segment.control = (uint8_t)(version << 6 | IWARP_RDMAP_WRITE);
    (void)ddp_pack_header(&segment, ulpdu);
    peer_input(stream, fpdu, fpdu_pack(ulpdu, sizeof(ulpdu), framing, fpdu, sizeof(fpdu)), 1);
}

static void accept_on(const char *listen)
{
    (void)command(true, listen, "port");
    stream = peer_accepted(peer, 7, &wire, 1);
    ck_assert_ptr_nonnull(stream);
}

static void operate(const char *listen)
{
    static const struct fpdu_framing framing = {false, true, 0};

    accept_on(listen);
    feed_start(IWARP_MPA_REQUEST, 1, false, 0);
    feed_write(DDP_VERSION, &framing);
    wire.count = 0;
}

START_TEST(instruments_tell_and_do)
{
    operate("{\"verb\":\"listen\",\"port\":7,\"emss\":1000}");
    ck_assert_int_eq(command(true, "{\"verb\":\"mpa\",\"stream\":1}", "emss"), 1000);
    ck_assert_int_eq(command(true, "{\"verb\":\"mpa\",\"stream\":1}", "version"), 1);
    ck_assert_int_eq(command(true, "{\"verb\":\"mpa\",\"stream\":1}", "gate"), 1);
    ck_assert_int_eq(command(true, "{\"verb\":\"mpa\",\"stream\":1}", "mulpdu"), 994);
    ck_assert_int_eq(command(true, "{\"verb\":\"mpa\",\"stream\":1}", "receive_position"), 20);
    ck_assert_int_eq(command(true, "{\"verb\":\"set_emss\",\"stream\":1,\"emss\":536}", "mulpdu"), 530);
    ck_assert_int_eq(command(true, "{\"verb\":\"set_emss\",\"stream\":1,\"emss\":0}", "mulpdu"), 530);
    ck_assert_int_eq(command(true, "{\"verb\":\"set_emss\",\"stream\":1,\"emss\":20}", "mulpdu"), 128);
    (void)command(false, "{\"verb\":\"set_emss\",\"stream\":1}", "");
    (void)command(false, "{\"verb\":\"mpa\",\"stream\":2}", "");
    ck_assert_uint_eq(wire.count, 0);
}
END_TEST

START_TEST(a_ulpdu_as_it_stands)
{
    operate("{\"verb\":\"listen\",\"port\":7,\"emss\":536}");
    (void)command(true, "{\"verb\":\"post_ulpdu\",\"stream\":1,\"length\":530,\"stag\":9}", "");
    ck_assert_uint_eq(wire.count, 536);
    ck_assert_uint_eq(octets_get16(wire.octets), 530);
    ck_assert_uint_eq(octets_get32(wire.octets + 4), 9);
    (void)command(false, "{\"verb\":\"post_ulpdu\",\"stream\":1,\"length\":531}", "");
    (void)command(false, "{\"verb\":\"post_ulpdu\",\"stream\":1,\"length\":13}", "");
    (void)command(false, "{\"verb\":\"post_ulpdu\",\"stream\":1,\"length\":64769}", "");
    (void)command(false, "{\"verb\":\"post_ulpdu\",\"stream\":1}", "");
    ck_assert_uint_eq(wire.count, 536);
    ck_assert_int_eq(command(true, "{\"verb\":\"mpa\",\"stream\":1}", "send_position"), 536);
}
END_TEST

START_TEST(no_ulpdu_before_segments_are_allowed)
{
    accept_on("{\"verb\":\"listen\",\"port\":7}");
    (void)command(false, "{\"verb\":\"post_ulpdu\",\"stream\":1,\"length\":20}", "");
    feed_start(IWARP_MPA_REQUEST, 1, false, 0);
    wire.count = 0;
    (void)command(false, "{\"verb\":\"post_ulpdu\",\"stream\":1,\"length\":20}", "");
    ck_assert_uint_eq(wire.count, 0);
}
END_TEST

/* Once after a gap, and again in order: with the place of its FPDU both times. */
START_TEST(early_ulpdu_is_traced_twice_with_its_place)
{
    static const struct fpdu_framing first = {true, true, 0}, second = {true, true, 512};
    struct ddp_segment segment = {.tagged = true, .last = true, .version = DDP_VERSION};
    uint8_t ulpdu[DDP_TAGGED_OCTETS], fpdu[64];
    size_t count;

    accept_on("{\"verb\":\"listen\",\"port\":7,\"trace\":true,\"markers\":true}");
    feed_start(IWARP_MPA_REQUEST, 1, false, 0);
    feed_write(DDP_VERSION, &first);
    ck_assert_str_eq(event_text("ulpdu", "order"), "0");
    segment.control = rdmap_control(IWARP_RDMAP_WRITE);
    (void)ddp_pack_header(&segment, ulpdu);
    count = fpdu_pack(ulpdu, sizeof(ulpdu), &second, fpdu, sizeof(fpdu));
    peer_input_early(stream, 512 - 24, fpdu, count, 1);
    peer_writable(stream, 1);
    ck_assert_str_eq(event_text("ulpdu", "order"), "512");
}
END_TEST

START_TEST(roles_apart_from_tcp)
{
    accept_on("{\"verb\":\"listen\",\"port\":7,\"mpa_role\":\"initiator\"}");
    ck_assert_uint_ge(wire.count, MPA_START_OCTETS);
    ck_assert_mem_eq(wire.octets, MPA_KEY_REQUEST, MPA_KEY_OCTETS);
    wire.count = 0;
    (void)command(true, "{\"verb\":\"connect\",\"address\":\"x\",\"port\":9,\"mpa_role\":\"responder\"}", "");
    peer_connected(wire.connecting, 1);
    ck_assert_uint_eq(wire.count, 0);
    stream = wire.connecting;
    feed_start(IWARP_MPA_REQUEST, 1, false, 0);
    ck_assert_mem_eq(wire.octets, MPA_KEY_REPLY, MPA_KEY_OCTETS);
    (void)command(false, "{\"verb\":\"listen\",\"port\":8,\"mpa_role\":\"both\"}", "");
}
END_TEST

/* The ULP has room for 10 octets. */
START_TEST(private_data_room)
{
    accept_on("{\"verb\":\"listen\",\"port\":7,\"private_data_room\":10}");
    feed_start(IWARP_MPA_REQUEST, 1, false, 10);
    ck_assert_str_eq(event_text("established", "pd_length"), "10");
    stream = peer_accepted(peer, 7, &wire, 1);
    wire.count = 0;
    feed_start(IWARP_MPA_REQUEST, 1, false, 11);
    ck_assert_uint_eq(wire.count, 0);
    ck_assert(wire.fin);
    ck_assert_str_eq(event_text("error", "requirement"), "MPA-7.1.2-29");
}
END_TEST

START_TEST(errors_name_the_revision)
{
    accept_on("{\"verb\":\"listen\",\"port\":7}");
    feed_start(IWARP_MPA_REQUEST, 77, false, 0);
    ck_assert_str_eq(event_text("error", "rev"), "77");
}
END_TEST

/* RFC 5044 C.2.3: Markers and CRC both ways whatever the own side wants, DV = RV = 0. */
START_TEST(a_request_of_rev_0)
{
    static const struct fpdu_framing framing = {true, true, 0};

    accept_on("{\"verb\":\"listen\",\"port\":7,\"rev0\":true,\"crc\":false}");
    feed_start(IWARP_MPA_REQUEST, 0, true, 0);
    ck_assert_uint_eq(wire.count, MPA_START_OCTETS);
    ck_assert_uint_eq(wire.octets[16], 0xC0);
    ck_assert_uint_eq(wire.octets[17], 0);
    ck_assert_str_eq(event_text("established", "version"), "0");
    feed_write(0, &framing);
    wire.count = 0;
    (void)command(true, "{\"verb\":\"send\",\"stream\":1,\"length\":1}", "");
    ck_assert_uint_eq(wire.count, 4 + 2 + 19 + 3 + 4);
    ck_assert_uint_eq(octets_get32(wire.octets), 0);
    ck_assert_uint_eq(wire.octets[6], 0x40);
    ck_assert_uint_eq(wire.octets[7], IWARP_RDMAP_SEND);
}
END_TEST

START_TEST(version_1_to_a_peer_of_rev_0_is_an_error)
{
    static const struct fpdu_framing framing = {true, true, 0}, behind = {true, true, 24};

    accept_on("{\"verb\":\"listen\",\"port\":7,\"rev0\":true}");
    feed_start(IWARP_MPA_REQUEST, 0, true, 0);
    feed_write(0, &framing);
    feed_write(DDP_VERSION, &behind);
    ck_assert_str_eq(event_text("error", "requirement"), "DDP-7.2-04");
}
END_TEST

START_TEST(rev_0_is_refused_unless_asked_for)
{
    accept_on("{\"verb\":\"listen\",\"port\":7}");
    feed_start(IWARP_MPA_REQUEST, 0, true, 0);
    ck_assert_uint_eq(wire.count, 0);
    ck_assert(wire.fin);
}
END_TEST

START_TEST(a_reply_of_rev_0)
{
    (void)command(true, "{\"verb\":\"connect\",\"address\":\"x\",\"port\":9,\"rev\":1,\"rev0\":true}", "");
    peer_connected(wire.connecting, 1);
    ck_assert_uint_eq(wire.octets[17], 1);
    ck_assert_uint_eq(wire.octets[16], 0x40);
    stream = wire.connecting;
    feed_start(IWARP_MPA_REPLY, 0, true, 0);
    ck_assert_str_eq(event_text("established", "version"), "0");
    wire.count = 0;
    (void)command(true, "{\"verb\":\"send\",\"stream\":1,\"length\":1}", "");
    ck_assert_uint_eq(wire.octets[6], 0x40);
}
END_TEST

Suite *mpa_peer_suite(void)
{
    Suite *suite = suite_create("mpa_peer");
    TCase *tcase = tcase_create("peer");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, instruments_tell_and_do);
    tcase_add_test(tcase, a_ulpdu_as_it_stands);
    tcase_add_test(tcase, no_ulpdu_before_segments_are_allowed);
    tcase_add_test(tcase, early_ulpdu_is_traced_twice_with_its_place);
    tcase_add_test(tcase, roles_apart_from_tcp);
    tcase_add_test(tcase, private_data_room);
    tcase_add_test(tcase, errors_name_the_revision);
    tcase_add_test(tcase, a_request_of_rev_0);
    tcase_add_test(tcase, version_1_to_a_peer_of_rev_0_is_an_error);
    tcase_add_test(tcase, rev_0_is_refused_unless_asked_for);
    tcase_add_test(tcase, a_reply_of_rev_0);
    suite_add_tcase(suite, tcase);
    return suite;
}
