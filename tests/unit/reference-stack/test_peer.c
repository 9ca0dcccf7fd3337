/* SPDX-License-Identifier: BSD-2-Clause */
/* The peer over a wire in memory: the upper tester's commands, good and hostile. */
#include <check.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/peer_net.h"
#include "reference-stack/peer/peer.h"
#include "tests/unit/suites.h"

Suite *peer_suite(void);

/* Stream 1 of both is in operation; one ends it with a Terminate. */
static void terminated(struct net *net)
{
    json_t *reply, *polled;

    reply = command(net, 0, true, "{\"verb\":\"status\",\"stream\":1}");
    ck_assert_str_eq(string(reply, "state"), "operation");
    ck_assert_int_eq(integer(reply, "mulpdu"), 1000 - 6 - 4 * 2);
    json_decref(reply);
    order(net, 1, true, "{\"verb\":\"terminate\",\"stream\":1,\"layer\":0,\"etype\":2,\"code\":255}");
    polled = command(net, 0, true, "{\"verb\":\"poll\"}");
    ck_assert_int_eq(integer(event_in(polled, "terminate_received"), "code"), 255);
    ck_assert_ptr_nonnull(event_in(polled, "closed"));
    json_decref(polled);
    ck_assert_uint_eq(peer_stream_count(net->peer[0]), 0);
    ck_assert_uint_eq(peer_stream_count(net->peer[1]), 0);
    ck_assert_uint_eq(net->released, 2);
    ck_assert_uint_eq(net->aborted, 0);
}

START_TEST(upper_tester_holds_a_conversation)
{
    struct net *net = net_new();
    char line[256];
    json_t *reply;
    json_t *polled;
    long long stag, sink;

    order(net, 0, true, "{\"verb\":\"listen\",\"port\":7000,\"echo\":true,\"private_data\":\"cafe\"}");
    reply = command(net, 1, true,
                    "{\"verb\":\"connect\",\"address\":\"x\",\"port\":7000,\"p2p\":true,\"markers\":true,\"tag\":[1]}");
    ck_assert_int_eq(integer(reply, "stream"), 1);
    ck_assert_uint_eq(json_array_size(json_object_get(reply, "tag")), 1);
    json_decref(reply);
    polled = command(net, 1, true, "{\"verb\":\"poll\"}");
    ck_assert_str_eq(string(event_in(polled, "established"), "private_data"), "cafe");
    json_decref(polled);

    reply = command(net, 0, true,
                    "{\"verb\":\"reg_mr\",\"length\":100,\"base\":\"0xFFFFFFFFFFFFFF00\",\"fill\":\"count\"}");
    stag = integer(reply, "stag");
    ck_assert_str_eq(string(reply, "base"), "0xffffffffffffff00");
    json_decref(reply);
    reply = command(net, 1, true, "{\"verb\":\"reg_mr\",\"length\":100,\"fill\":170}");
    sink = integer(reply, "stag");
    json_decref(reply);
    (void)snprintf(line, sizeof(line),
                   "{\"verb\":\"write\",\"stream\":1,\"stag\":%lld,\"to\":-256,\"data\":\"112233\",\"id\":5}", stag);
    order(net, 1, true, line);
    (void)snprintf(line, sizeof(line),
                   "{\"verb\":\"read\",\"stream\":1,\"source_stag\":%lld,\"source_to\":\"0xffffffffffffff01\","
                   "\"sink_stag\":%lld,\"sink_to\":1,\"length\":5,\"id\":6}",
                   stag, sink);
    order(net, 1, true, line);
    order(net, 1, true, "{\"verb\":\"send\",\"stream\":1,\"data\":\"0102\",\"solicited\":true,\"id\":7}");
    polled = command(net, 1, true, "{\"verb\":\"poll\"}");
    ck_assert_int_eq(integer(event_in(polled, "write_done"), "id"), 5);
    ck_assert_int_eq(integer(event_in(polled, "read_done"), "id"), 6);
    ck_assert_int_eq(integer(event_in(polled, "send_done"), "id"), 7);
    ck_assert_str_eq(string(event_in(polled, "receive"), "data"), "0102");
    json_decref(polled);
    (void)snprintf(line, sizeof(line), "{\"verb\":\"mem_read\",\"stag\":%lld,\"length\":8}", sink);
    reply = command(net, 1, true, line);
    ck_assert_str_eq(string(reply, "data"), "aa22330304"
                                            "05aaaa");
    json_decref(reply);
    terminated(net);
    net_free(net);
}
END_TEST

/* A gather list is one message, RDMAP's own opcodes are not the ULP's, and instruments tell of the device. */
START_TEST(instruments_report_the_device)
{
    struct net *net = net_new();
    const json_t *row;
    json_t *polled;
    json_t *reply;

    order(net, 0, true, "{\"verb\":\"listen\",\"port\":7000}");
    order(net, 1, true, "{\"verb\":\"connect\",\"address\":\"x\",\"port\":7000,\"p2p\":true}");
    order(net, 1, true, "{\"verb\":\"send\",\"stream\":1,\"data\":[\"0102\",\"\",\"03\"]}");
    polled = command(net, 0, true, "{\"verb\":\"poll\"}");
    ck_assert_str_eq(string(event_in(polled, "receive"), "data"), "010203");
    json_decref(polled);
    order(net, 1, true, "{\"verb\":\"send\",\"stream\":1,\"data\":\"04\",\"opcode\":5}");
    polled = command(net, 0, true, "{\"verb\":\"poll\"}");
    ck_assert(json_is_true(json_object_get(event_in(polled, "receive"), "solicited")));
    json_decref(polled);
    for (int opcode = 1; opcode <= 15; opcode++) {
        char line[96];

        (void)snprintf(line, sizeof(line), "{\"verb\":\"send\",\"stream\":1,\"data\":\"05\",\"opcode\":%d}", opcode);
        if (opcode < 3 || opcode > 6)
            order(net, 1, false, line);
    }
    order(net, 1, false, "{\"verb\":\"send\",\"stream\":1,\"data\":[]}");
    order(net, 1, false, "{\"verb\":\"send\",\"stream\":1,\"data\":[\"0\",\"0\"]}");
    order(net, 1, false, "{\"verb\":\"write\",\"stream\":1,\"stag\":1,\"data\":[\"00\",7]}");

    order(net, 0, true,
          "{\"verb\":\"reg_mr\",\"length\":4,\"stag\":7777,\"base\":4096,\"access\":[\"remote_read\"],\"pd\":3}");
    reply = command(net, 0, true, "{\"verb\":\"regions\"}");
    row = json_array_get(json_object_get(reply, "regions"), 0);
    ck_assert_int_eq(integer(row, "stag"), 7777);
    ck_assert_int_eq(integer(row, "length"), 4);
    ck_assert_int_eq(integer(row, "pd"), 3);
    ck_assert_str_eq(string(row, "base"), "0x1000");
    ck_assert_uint_eq(json_array_size(json_object_get(row, "access")), 3); /* the local rights, too */
    ck_assert(json_is_true(json_object_get(row, "valid")));
    json_decref(reply);

    reply = command(net, 1, true, "{\"verb\":\"fault\"}");
    ck_assert_int_eq(integer(reply, "streams"), 1);
    json_decref(reply);
    polled = command(net, 0, true, "{\"verb\":\"poll\"}");
    ck_assert_int_eq(integer(event_in(polled, "terminate_received"), "etype"), 2);
    ck_assert_int_eq(integer(event_in(polled, "terminate_received"), "code"), 8);
    json_decref(polled);
    net_free(net);
}
END_TEST

/* One completion too many ends the stream; polled in time, they never are too many. */
START_TEST(completion_too_many_ends_the_stream)
{
    struct net *net = net_new();
    json_t *polled;

    order(net, 0, true, "{\"verb\":\"listen\",\"port\":7000}");
    order(net, 1, true, "{\"verb\":\"connect\",\"address\":\"x\",\"port\":7000,\"p2p\":true,\"completions\":2}");
    for (int i = 0; i < 6; i++) {
        order(net, 1, true, "{\"verb\":\"send\",\"stream\":1,\"data\":\"01\",\"id\":1}");
        order(net, 1, true, "{\"verb\":\"poll\"}");
    }
    order(net, 1, true, "{\"verb\":\"send\",\"stream\":1,\"data\":\"02\",\"id\":2}");
    order(net, 1, true, "{\"verb\":\"send\",\"stream\":1,\"data\":\"03\",\"id\":3}");
    order(net, 1, true, "{\"verb\":\"send\",\"stream\":1,\"data\":\"04\",\"id\":4}");
    polled = command(net, 1, true, "{\"verb\":\"poll\"}");
    ck_assert_int_eq(integer(event_in(polled, "send_done"), "id"), 2);
    ck_assert_ptr_nonnull(event_in(polled, "error"));
    json_decref(polled);
    polled = command(net, 0, true, "{\"verb\":\"poll\"}");
    ck_assert_int_eq(integer(event_in(polled, "terminate_received"), "code"), 7);
    json_decref(polled);
    net_free(net);
}
END_TEST

START_TEST(upper_tester_accepts_or_rejects)
{
    struct net *net = net_new();
    json_t *polled;

    order(net, 0, true, "{\"verb\":\"listen\",\"port\":7000,\"accept\":\"manual\"}");
    order(net, 1, true, "{\"verb\":\"connect\",\"address\":\"x\",\"port\":7000,\"private_data\":\"01\"}");
    polled = command(net, 0, true, "{\"verb\":\"poll\"}");
    ck_assert_str_eq(string(event_in(polled, "connect_request"), "private_data"), "01");
    ck_assert_int_eq(integer(event_in(polled, "connect_request"), "peer_ird"), 4);
    json_decref(polled);
    order(net, 0, true, "{\"verb\":\"reject\",\"stream\":1,\"private_data\":\"0203\"}");
    polled = command(net, 1, true, "{\"verb\":\"poll\"}");
    ck_assert_str_eq(string(event_in(polled, "rejected"), "private_data"), "0203");
    json_decref(polled);
    order(net, 0, false, "{\"verb\":\"accept\",\"stream\":1}");
    order(net, 1, true, "{\"verb\":\"connect\",\"address\":\"x\",\"port\":7000}");
    order(net, 0, true, "{\"verb\":\"accept\",\"stream\":2,\"ird\":2}");
    polled = command(net, 1, true, "{\"verb\":\"poll\"}");
    ck_assert_int_eq(integer(event_in(polled, "established"), "ord"), 2);
    json_decref(polled);
    order(net, 1, true, "{\"verb\":\"abort\",\"stream\":2}");
    polled = command(net, 0, true, "{\"verb\":\"poll\"}");
    ck_assert_ptr_nonnull(event_in(polled, "error"));
    json_decref(polled);
    order(net, 1, true, "{\"verb\":\"connect\",\"address\":\"x\",\"port\":7001}");
    polled = command(net, 1, true, "{\"verb\":\"poll\"}");
    ck_assert_ptr_nonnull(event_in(polled, "connect_failed"));
    json_decref(polled);
    net_free(net);
}
END_TEST

/* A connection that does not come, as to an address where nobody answers. */
START_TEST(connection_that_waits_is_given_up)
{
    struct net *net = net_new();
    json_t *polled;

    free(peer_command(net->peer[1], "{\"verb\":\"connect\",\"address\":\"x\",\"port\":7000}", net->now));
    free(peer_command(net->peer[1], "{\"verb\":\"abort\",\"stream\":1}", net->now));
    ck_assert_uint_eq(net->aborted, 1);
    polled = command(net, 1, true, "{\"verb\":\"poll\"}");
    ck_assert_str_eq(string(event_in(polled, "connect_failed"), "reason"), "it was given up");
    json_decref(polled);
    order(net, 1, false, "{\"verb\":\"abort\",\"stream\":1}");
    ck_assert_uint_eq(net->opened, 0);
    net_free(net);
}
END_TEST

static const char *const hostile[] = {
    "",
    " ",
    "{",
    "[]",
    "null",
    "17",
    "\"poll\"",
    "{}",
    "{\"verb\":1}",
    "{\"verb\":\"\"}",
    "{\"verb\":\"no such verb\"}",
    "{\"verb\":\"poll\",\"verb\":\"poll\"}",
    "{\"verb\":\"poll\",\"colour\":1}",
    "{\"verb\":\"poll\"} trailing",
    "{\"verb\":\"poll\xff\"}",
    "{\"verb\":\"listen\",\"port\":-1}",
    "{\"verb\":\"listen\",\"port\":65536}",
    "{\"verb\":\"listen\",\"port\":13}",
    "{\"verb\":\"listen\",\"port\":\"http\"}",
    "{\"verb\":\"listen\",\"port\":1.5}",
    "{\"verb\":\"listen\",\"rev\":0}",
    "{\"verb\":\"listen\",\"rev\":3}",
    "{\"verb\":\"listen\",\"ird\":16384}",
    "{\"verb\":\"listen\",\"rtr\":[]}",
    "{\"verb\":\"listen\",\"rtr\":[\"send\",\"send\"]}",
    "{\"verb\":\"listen\",\"rtr\":\"send\"}",
    "{\"verb\":\"listen\",\"accept\":\"maybe\"}",
    "{\"verb\":\"listen\",\"crc\":\"no\"}",
    "{\"verb\":\"listen\",\"private_data\":\"abc\"}",
    "{\"verb\":\"listen\",\"private_data\":\"zz\"}",
    "{\"verb\":\"listen\",\"receives\":65536,\"receive_octets\":16777216}",
    "{\"verb\":\"unlisten\",\"port\":1}",
    "{\"verb\":\"connect\"}",
    "{\"verb\":\"connect\",\"address\":5,\"port\":1}",
    "{\"verb\":\"connect\",\"address\":\"nowhere\",\"port\":1}",
    "{\"verb\":\"accept\",\"stream\":99}",
    "{\"verb\":\"reject\",\"stream\":99}",
    "{\"verb\":\"send\"}",
    "{\"verb\":\"send\",\"stream\":99}",
    "{\"verb\":\"send\",\"stream\":1,\"data\":\"0\"}",
    "{\"verb\":\"send\",\"stream\":1,\"length\":99999999999}",
    "{\"verb\":\"send\",\"stream\":1,\"id\":-1}",
    "{\"verb\":\"write\",\"stream\":1}",
    "{\"verb\":\"write\",\"stream\":1,\"stag\":4294967296}",
    "{\"verb\":\"read\",\"stream\":1,\"source_stag\":1,\"length\":8,\"sink_stag\":1}",
    "{\"verb\":\"read\",\"stream\":1,\"source_stag\":1,\"length\":4294967296}",
    "{\"verb\":\"post_recv\",\"stream\":1,\"count\":65536,\"length\":16777216}",
    "{\"verb\":\"terminate\",\"stream\":1,\"layer\":16}",
    "{\"verb\":\"reg_mr\"}",
    "{\"verb\":\"reg_mr\",\"length\":-5}",
    "{\"verb\":\"reg_mr\",\"length\":99999999999}",
    "{\"verb\":\"reg_mr\",\"length\":32,\"base\":\"0xFFFFFFFFFFFFFFF0\"}",
    "{\"verb\":\"reg_mr\",\"length\":2,\"data\":\"010203\"}",
    "{\"verb\":\"reg_mr\",\"length\":2,\"fill\":256}",
    "{\"verb\":\"reg_mr\",\"length\":2,\"access\":\"all\"}",
    "{\"verb\":\"reg_mr\",\"length\":2,\"access\":[\"all\"]}",
    "{\"verb\":\"reg_mr\",\"length\":2,\"access\":[7]}",
    "{\"verb\":\"dereg\",\"stag\":1}",
    "{\"verb\":\"invalidate\",\"stag\":1}",
    "{\"verb\":\"mem_read\",\"stag\":1}",
    "{\"verb\":\"mem_read\",\"stag\":7777,\"offset\":5}",
    "{\"verb\":\"mem_read\",\"stag\":7777,\"length\":5}",
    "{\"verb\":\"mem_read\",\"stag\":7777,\"offset\":\"0xffffffffffffffff\",\"length\":2}",
    "{\"verb\":\"mem_write\",\"stag\":7777,\"offset\":3,\"data\":\"0102\"}",
    "{\"verb\":\"mem_write\",\"stag\":7777}",
    "{\"verb\":\"atomic\",\"stream\":1}",
    "{\"verb\":\"immediate\",\"stream\":1}",
};

/* Each is answered with an error, and a stream that is up does not notice. */
START_TEST(hostile_command_draws_an_error)
{
    struct net *net = net_new();
    json_t *polled;

    order(net, 0, true, "{\"verb\":\"listen\",\"port\":7000,\"echo\":true}");
    order(net, 0, true, "{\"verb\":\"reg_mr\",\"length\":4,\"stag\":7777}");
    order(net, 1, true, "{\"verb\":\"connect\",\"address\":\"x\",\"port\":7000,\"p2p\":true}");
    order(net, 0, true, "{\"verb\":\"poll\"}");
    order(net, 0, false, hostile[_i]);
    order(net, 1, true, "{\"verb\":\"send\",\"stream\":1,\"data\":\"77\"}");
    polled = command(net, 1, true, "{\"verb\":\"poll\"}");
    ck_assert_str_eq(string(event_in(polled, "receive"), "data"), "77");
    json_decref(polled);
    order(net, 0, true, "{\"verb\":\"reset\"}");
    ck_assert_uint_eq(peer_stream_count(net->peer[0]), 0);
    ck_assert_uint_eq(net->aborted, 1);
    order(net, 0, false, "{\"verb\":\"mem_read\",\"stag\":7777}");
    net_free(net);
}
END_TEST

/* Memory is counted as it was registered, whatever `bounds` has made of a region since. */
START_TEST(memory_is_counted_as_registered)
{
    static const struct {
        bool ok;
        const char *line;
    } steps[] = {
        {true, "{\"verb\":\"reg_mr\",\"length\":600,\"stag\":1}"},
        {false, "{\"verb\":\"reg_mr\",\"length\":401,\"stag\":2}"},
        {true, "{\"verb\":\"bounds\",\"stag\":1,\"length\":1}"},
        {false, "{\"verb\":\"reg_mr\",\"length\":401,\"stag\":2}"},
        {false, "{\"verb\":\"bounds\",\"stag\":1,\"length\":601}"},
        {true, "{\"verb\":\"dereg\",\"stag\":1}"},
        {false, "{\"verb\":\"reg_mr\",\"length\":1001,\"stag\":2}"},
        {false, "{\"verb\":\"reg_mr\",\"length\":1000,\"stag\":2,\"fill\":256}"},
        {true, "{\"verb\":\"reg_mr\",\"length\":1000,\"stag\":2}"},
        {true, "{\"verb\":\"bounds\",\"stag\":2,\"length\":0}"},
        {true, "{\"verb\":\"bounds\",\"stag\":2,\"length\":999}"},
        {true, "{\"verb\":\"dereg\",\"stag\":2}"},
        {true, "{\"verb\":\"reg_mr\",\"length\":1000,\"stag\":3}"},
        {false, "{\"verb\":\"reg_mr\",\"length\":1,\"stag\":4}"},
        {true, "{\"verb\":\"bounds\",\"stag\":3,\"length\":1}"},
        {true, "{\"verb\":\"reset\"}"},
        {true, "{\"verb\":\"reg_mr\",\"length\":1000,\"stag\":3}"},
        {false, "{\"verb\":\"reg_mr\",\"length\":1,\"stag\":4}"},
    };
    const struct peer_config config = {.regions_octets_max = 1000};
    struct net *net = net_new();

    peer_free(net->peer[0]);
    net->peer[0] = peer_new(&config, &net_ops, &contexts[0], NULL);
    ck_assert_ptr_nonnull(net->peer[0]);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        order(net, 0, steps[i].ok, steps[i].line);
    net_free(net);
}
END_TEST

START_TEST(startup_and_linger_have_limits)
{
    struct net *net = net_new();
    struct peer_stream *stream;
    struct pipe_end *end = end_new(net);
    json_t *polled;

    order(net, 0, true, "{\"verb\":\"listen\",\"port\":7000,\"startup_ms\":1000,\"linger_ms\":500}");
    ck_assert_uint_eq(peer_deadline(net->peer[0]), UINT64_MAX);
    stream = peer_accepted(net->peer[0], 7000, end, net->now);
    ck_assert_ptr_nonnull(stream);
    end->stream = stream;
    ck_assert_uint_eq(peer_deadline(net->peer[0]), net->now + 1000000000);
    net->now += 999999999;
    /* A slow drip does not put the limit off (RFC 5044 7.1.2 rule 10). */
    peer_input(stream, (const uint8_t *)"MPA", 3, net->now);
    peer_tick(net->peer[0], net->now);
    ck_assert(!end->fin);
    net->now += 1;
    peer_tick(net->peer[0], net->now);
    ck_assert(end->fin);
    ck_assert(!end->over);
    net->now += 500000000;
    peer_tick(net->peer[0], net->now);
    ck_assert(end->reset);
    polled = command(net, 0, true, "{\"verb\":\"poll\"}");
    ck_assert_str_eq(string(event_in(polled, "error"), "requirement"), "MPA-7.1.2-26");
    json_decref(polled);
    net_free(net);
}
END_TEST

/* A peer that reads slowly is alive: linger_ms counts from the last octet that it took. */
START_TEST(slow_reader_puts_the_linger_limit_off)
{
    static const size_t unacknowledged[] = {3000, 2999, 1, 0};
    struct net *net = net_new();
    struct pipe_end *end = end_new(net);

    order(net, 0, true, "{\"verb\":\"listen\",\"port\":7000,\"startup_ms\":1000,\"linger_ms\":500}");
    end->stream = peer_accepted(net->peer[0], 7000, end, net->now);
    ck_assert_ptr_nonnull(end->stream);
    end->unacknowledged = 4000;
    net->now += 1000000000;
    peer_tick(net->peer[0], net->now);
    ck_assert(end->fin);
    for (size_t i = 0; i < sizeof(unacknowledged) / sizeof(unacknowledged[0]); i++) {
        ck_assert_uint_eq(peer_deadline(net->peer[0]), net->now + 500000000);
        end->unacknowledged = unacknowledged[i];
        net->now += 500000000;
        peer_tick(net->peer[0], net->now);
        ck_assert(!end->reset);
    }
    net->now += 500000000;
    peer_tick(net->peer[0], net->now);
    ck_assert(end->reset);
    net_free(net);
}
END_TEST

Suite *peer_suite(void)
{
    Suite *suite = suite_create("peer");
    TCase *commands = tcase_create("commands");

    tcase_add_test(commands, upper_tester_holds_a_conversation);
    tcase_add_test(commands, instruments_report_the_device);
    tcase_add_test(commands, completion_too_many_ends_the_stream);
    tcase_add_test(commands, upper_tester_accepts_or_rejects);
    tcase_add_test(commands, connection_that_waits_is_given_up);
    tcase_add_loop_test(commands, hostile_command_draws_an_error, 0, (int)(sizeof(hostile) / sizeof(hostile[0])));
    tcase_add_test(commands, memory_is_counted_as_registered);
    tcase_add_test(commands, startup_and_linger_have_limits);
    tcase_add_test(commands, slow_reader_puts_the_linger_limit_off);
    suite_add_tcase(suite, commands);
    return suite;
}
