/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a check's recorder judges and shows: the connections of this run's tester with the device, and not those of a
 * second run with another address on the same interface, of the control port, or between the device and the tester's
 * address that the tester has not made. And the frame that a verdict names.
 */
#include "conformance/engine/evidence/recorder.h"

#include <check.h>
#include <string.h>

#include "conformance/engine/evidence/own_connections.h"
#include "generator/link/link_sim.h"
#include "generator/packet/packet.h"
#include "wire/mpa.h"

Suite *recorder_suite(void);

#define DUT "10.77.0.2"
#define OWN "10.77.0.3"

static struct rig *rig;
static struct recorder *recorder;
static struct iwarp_sentence error;
static unsigned findings, results;

static void on_finding(void *user, const struct rule_finding *finding)
{
    (void)user;
    (void)finding;
    findings++;
}

static void on_result(void *user, const struct rule_result *result, const struct flow *flow)
{
    (void)user;
    (void)result;
    (void)flow;
    results++;
}

static void setup(void)
{
    struct rig_sim_config sim = {.seed = 1};
    struct recorder_config config = {.ladder = true, .finding = on_finding, .rule_result = on_result};

    rig = rig_sim_new(&sim, &error);
    ck_assert_msg(rig != NULL && rig_measure(rig, &error) == 0, "%s", error.text);
    recorder = recorder_new(&config, &error);
    ck_assert_msg(recorder != NULL, "%s", error.text);
    recorder_attach(recorder, rig);
    ck_assert_int_eq(recorder_begin(recorder, NULL, "test", &error), 0);
    findings = results = 0;
}

static void teardown(void)
{
    rig->link->tap = NULL;
    recorder_free(recorder);
    rig_free(rig);
}

/* A frame that the link shows, besides what the rig's own tester does. */
static void show(const char *from, uint16_t from_port, const char *to, uint16_t to_port, uint32_t sequence,
                 uint8_t flags, const uint8_t *octets, size_t count)
{
    static uint8_t frame[2048];
    struct packet_tcp fields = {.source_port = from_port,
                                .destination_port = to_port,
                                .sequence = sequence,
                                .acknowledgment = 1,
                                .flags = flags,
                                .window = 65535,
                                .payload = octets,
                                .payload_octets = count};
    size_t size;

    (void)net_address_parse(&fields.source, from);
    (void)net_address_parse(&fields.destination, to);
    size = packet_build_tcp(frame, sizeof(frame), &fields);
    ck_assert_uint_gt(size, 0);
    rig->link->tap(rig->link->tap_context, frame, size, rig_now(rig), strcmp(to, DUT) != 0);
}

/* A start-up whose Reply breaks a rule: bits that are reserved are set. */
static void show_bad_reply(const char *tester, uint16_t port)
{
    static uint8_t request[] = "MPA ID Req Frame\x40\x01\x00\x00", reply[] = "MPA ID Rep Frame\x5f\x01\x00\x00";

    show(tester, port, DUT, 9999, 0, TCP_FLAG_SYN, NULL, 0);
    show(DUT, 9999, tester, port, 0, TCP_FLAG_SYN | TCP_FLAG_ACK, NULL, 0);
    show(tester, port, DUT, 9999, 1, TCP_FLAG_ACK, request, 20);
    show(DUT, 9999, tester, port, 1, TCP_FLAG_ACK, reply, 20);
    show(tester, port, DUT, 9999, 21, TCP_FLAG_ACK | TCP_FLAG_FIN, NULL, 0);
    show(DUT, 9999, tester, port, 21, TCP_FLAG_ACK | TCP_FLAG_FIN, NULL, 0);
}

static size_t steps(void)
{
    return json_array_size(recorder_steps(recorder));
}

/* What these tests say is foreign would be found if it were ours: else they would say nothing. */
START_TEST(own_connections_are_judged)
{
    struct tcp_options options = {.source_port = 40001};
    struct tcp_connection *tcp = tcp_connect(rig->tcp.stack, &rig->dut, 9999, &options, &error);

    ck_assert_ptr_nonnull(tcp);
    show_bad_reply(OWN, 40001);
    ck_assert_int_eq(recorder_end(recorder, "end", &error), 0);
    ck_assert_uint_gt(findings, 0);
    ck_assert_uint_gt(steps(), 0);
    ck_assert_str_ne(recorder_flow(recorder), "");
    tcp_release(tcp);
}
END_TEST

static const struct {
    const char *tester;
    uint16_t port;
} foreign[] = {
    {"10.77.0.9", 40001}, /* a second run, with another address of its own */
    {"10.77.0.1", 7471},  /* the tester's kernel, as for the control connection */
    {OWN, 40002},         /* our address, and no connection of ours */
};

/* Loop: a foreign connection with the same device, while ours is open on port 40001. */
START_TEST(foreign_connections_are_not)
{
    struct tcp_options options = {.source_port = 40001};
    struct tcp_connection *tcp = tcp_connect(rig->tcp.stack, &rig->dut, 9999, &options, &error);
    const struct flow_totals *totals;
    bool other_host = strcmp(foreign[_i].tester, OWN) != 0;
    uint64_t frames = recorder_frame(recorder);

    ck_assert_ptr_nonnull(tcp);
    show_bad_reply(foreign[_i].tester, foreign[_i].port);
    ck_assert_uint_eq(recorder_frame(recorder), frames + (other_host ? 0 : 6));
    ck_assert_int_eq(recorder_end(recorder, "end", &error), 0);
    ck_assert_uint_eq(findings, 0);
    ck_assert_uint_eq(results, 0);
    ck_assert_uint_eq(steps(), 0);
    ck_assert_str_eq(recorder_flow(recorder), "");
    totals = recorder_totals(recorder);
    ck_assert_uint_eq(totals->account.row[FLOW_ROW_OTHER_HOSTS].frames, other_host ? 6 : 0);
    ck_assert(flow_totals_balanced(totals));
    tcp_release(tcp);
}
END_TEST

/* ---- the frame that a verdict names ------------------------------------------------------------------------------ */

/* Frames of the connection on port 40001, numbered from the one that `first` is. */
static uint64_t show_connection(struct tcp_connection **tcp)
{
    struct tcp_options options = {.source_port = 40001};
    static uint8_t octets[100];
    uint64_t first;

    *tcp = tcp_connect(rig->tcp.stack, &rig->dut, 9999, &options, &error);
    ck_assert_ptr_nonnull(*tcp);
    first = recorder_frame(recorder) + 1;
    show(OWN, 40001, DUT, 9999, 999, TCP_FLAG_SYN, NULL, 0);
    show(DUT, 9999, OWN, 40001, 4999, TCP_FLAG_SYN | TCP_FLAG_ACK, NULL, 0);
    show(OWN, 40001, DUT, 9999, 1000, TCP_FLAG_ACK, octets, 50);
    show(DUT, 9999, OWN, 40001, 5000, TCP_FLAG_ACK, octets, 10); /* first + 3 */
    show(OWN, 40001, DUT, 9999, 1050, TCP_FLAG_ACK, NULL, 0);
    show(DUT, 9999, OWN, 40001, 5030, TCP_FLAG_ACK, octets, 20); /* + 5: after a gap */
    show(DUT, 9999, OWN, 40001, 5000, TCP_FLAG_ACK, octets, 10); /* + 6: again */
    show(DUT, 9999, OWN, 40001, 5010, TCP_FLAG_ACK, octets, 20); /* + 7: closes the gap */
    show(OWN, 40001, DUT, 9999, 1050, TCP_FLAG_ACK, NULL, 0);
    show(DUT, 9999, OWN, 40001, 5050, TCP_FLAG_ACK | TCP_FLAG_FIN, NULL, 0); /* + 9 */
    show(OWN, 40001, DUT, 9999, 1050, TCP_FLAG_ACK, octets, 5);              /* + 10 */
    show(OWN, 40001, DUT, 9999, 1055, TCP_FLAG_ACK, NULL, 0);
    ck_assert_int_eq(recorder_end(recorder, "end", &error), 0);
    return first;
}

static const struct {
    enum last_seen_kind kind;
    uint32_t end;
    unsigned frame; /* from the first */
    const char *summary;
} named[] = {
    {LAST_SEEN_OCTETS, 5004, 3, "TCP segment, 10 octets"},
    {LAST_SEEN_OCTETS, 5010, 3, "TCP segment, 10 octets"},
    {LAST_SEEN_OCTETS, 5011, 7, "TCP segment, 20 octets"},
    {LAST_SEEN_OCTETS, 5050, 7, "TCP segment, 20 octets"},
    {LAST_SEEN_FIN, 0, 9, "TCP FIN"},
    {LAST_SEEN_SILENCE, 0, 10, "TCP segment, 5 octets"},
    {LAST_SEEN_UPPER, 0, 10, "TCP segment, 5 octets"},
    {LAST_SEEN_NONE, 0, 10, "TCP segment, 5 octets"},
    {LAST_SEEN_DEATH, 0, 10, "TCP segment, 5 octets"},
};

/*
 * Loop: what was looked at last. The ladder has a step with the frame, also for what is no MPA, and not another one
 * next time.
 */
START_TEST(a_verdict_names_its_frame)
{
    struct tcp_connection *tcp;
    uint64_t first = show_connection(&tcp), frame;
    struct last_seen last_seen = {.kind = named[_i].kind,
                                  .own_port = 40001,
                                  .dut_port = 9999,
                                  .end = named[_i].end,
                                  .time_ns = UINT64_MAX,
                                  .latest = UINT64_MAX};
    size_t before = steps();
    json_t *step, *again;

    frame = recorder_cite(recorder, &last_seen, &step);
    ck_assert_uint_eq(frame, first + named[_i].frame);
    ck_assert_ptr_nonnull(step);
    ck_assert_int_eq(json_integer_value(json_object_get(step, "frame")), (json_int_t)frame);
    ck_assert_str_eq(json_string_value(json_object_get(step, "summary")), named[_i].summary);
    ck_assert_uint_eq(recorder_cite(recorder, &last_seen, &again), frame);
    ck_assert_ptr_eq(step, again);
    ck_assert_uint_eq(steps(), before + 1);
    tcp_release(tcp);
}
END_TEST

/* A ladder keeps its first and its last steps, and says how many are between them. */
START_TEST(a_long_ladder)
{
    char text[32];
    json_t *all;

    for (unsigned i = 0; i < 1000; i++) {
        (void)snprintf(text, sizeof(text), "note %u", i);
        recorder_note(recorder, text);
    }
    all = recorder_steps(recorder);
    ck_assert_uint_eq(json_array_size(all), 400);
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(all, 199), "summary")), "note 199");
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(all, 200), "summary")),
                     "601 steps of this ladder are left out here");
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(all, 201), "summary")), "note 801");
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(all, 399), "summary")), "note 999");
    ck_assert_ptr_eq(recorder_steps(recorder), all);
    ck_assert_uint_eq(json_array_size(all), 400);
    ck_assert_int_eq(recorder_end(recorder, "end", &error), 0);
}
END_TEST

Suite *recorder_suite(void)
{
    Suite *suite = suite_create("recorder");
    TCase *tests = tcase_create("recorder");

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, own_connections_are_judged);
    tcase_add_loop_test(tests, foreign_connections_are_not, 0, (int)(sizeof(foreign) / sizeof(foreign[0])));
    tcase_add_loop_test(tests, a_verdict_names_its_frame, 0, (int)(sizeof(named) / sizeof(named[0])));
    tcase_add_test(tests, a_long_ladder);
    suite_add_tcase(suite, tests);
    return suite;
}
