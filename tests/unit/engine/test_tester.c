/* SPDX-License-Identifier: BSD-2-Clause */
/* A tester for another protocol on a rig: rig_pump() feeds it beside TCP, or alone; rig_measure() asks the first. */
#include <check.h>
#include <string.h>

#include "conformance/engine/rig/rig.h"
#include "conformance/engine/device/sim_device.h"
#include "conformance/engine/script/script.h"
#include "generator/link/link_sim.h"
#include "generator/packet/packet.h"
#include "tests/unit/suites.h"

Suite *tester_suite(void);

#define MILLISECOND UINT64_C(1000000)
#define SECOND      UINT64_C(1000000000)

static const uint8_t asker_mac[6] = {2, 0, 0, 0, 0, 9};
static const uint8_t nobody[6];

/*
 * A tester that speaks ARP alone: it asks who has the device's address, and asks again each second until it is
 * answered.
 */
struct asker {
    struct tester tester;
    struct link *link;
    struct net_address own, device;
    uint64_t asked_ns, answered_ns;
    uint64_t deadline_ns, ticked_ns; /* its timer */
    unsigned asked, answered;
    unsigned refusals; /* so many of its exchanges are refused first */
    unsigned tcp_frames, arp_frames;
};

static void asker_ask(struct asker *asker, uint64_t now)
{
    uint8_t frame[64];
    size_t octets = packet_build_arp(frame, sizeof(frame), PACKET_ARP_REQUEST, asker_mac, asker->own.octets, nobody,
                                     asker->device.octets);

    ck_assert_uint_gt(octets, 0);
    ck_assert_int_eq(link_send(asker->link, frame, octets), 0);
    asker->asked++;
    asker->asked_ns = now;
    asker->deadline_ns = now + SECOND;
}

static void asker_input(struct tester *tester, const uint8_t *frame, size_t octets, uint64_t now)
{
    struct asker *asker = (struct asker *)tester;
    struct packet packet;
    const char *reason = NULL;

    if (packet_parse(&packet, frame, octets, &reason) != 0)
        return;
    asker->tcp_frames += packet.kind == PACKET_TCP;
    asker->arp_frames += packet.kind == PACKET_ARP;
    if (packet.kind == PACKET_ARP && packet.arp_operation == PACKET_ARP_REPLY &&
        net_address_equal(&packet.destination, &asker->own)) {
        asker->answered++;
        asker->answered_ns = now;
        asker->deadline_ns = LINK_NEVER;
    }
}

static uint64_t asker_deadline(const struct tester *tester)
{
    return ((const struct asker *)tester)->deadline_ns;
}

static void asker_tick(struct tester *tester, uint64_t now)
{
    struct asker *asker = (struct asker *)tester;

    if (now < asker->deadline_ns)
        return;
    asker->ticked_ns = now;
    asker_ask(asker, now);
}

static int asker_measure(struct tester *tester, struct rig *rig, struct tester_exchange *exchange,
                         struct iwarp_sentence *error)
{
    struct asker *asker = (struct asker *)tester;
    unsigned answered = asker->answered;
    uint64_t until = rig_now(rig) + 5 * SECOND / 2;

    asker_ask(asker, rig_now(rig));
    while (asker->answered == answered)
        if (rig_pump(rig, until) <= 0)
            return iwarp_sentence_set(error, "nobody has the address");
    exchange->round_trip_ns = asker->answered_ns - asker->asked_ns;
    exchange->refused = asker->refusals > 0;
    if (exchange->refused) {
        asker->refusals--;
        return iwarp_sentence_set(error, "refused");
    }
    return 0;
}

static const struct tester_ops asker_ops = {asker_input, asker_deadline, asker_tick, asker_measure, NULL};

static void asker_make(struct asker *asker, struct link *link)
{
    *asker = (struct asker){.tester.ops = &asker_ops, .link = link, .deadline_ns = LINK_NEVER};
    ck_assert_int_eq(net_address_parse(&asker->own, "10.77.0.9"), 0);
    ck_assert_int_eq(net_address_parse(&asker->device, "10.77.0.2"), 0);
}

/* A rig with no tester but this one, and a device at the far end of its link. */
struct bare {
    struct rig rig;
    struct asker asker;
    struct sim *sim;
    struct sim_device *device;
};

static void bare_make(struct bare *bare)
{
    struct sim_config world = {.seed = 3};
    struct sim_device_config device = {.end = SIM_END_B, .mac = {2, 0, 0, 0, 0, 2}, .ipv4 = "10.77.0.2", .seed = 3};
    struct iwarp_sentence error = {""};

    memset(bare, 0, sizeof(*bare));
    device.ipv6 = "fd77::2";
    device.sim = bare->sim = sim_new(&world);
    ck_assert_ptr_nonnull(bare->sim);
    bare->device = sim_device_new(&device, &error);
    ck_assert_msg(bare->device != NULL, "%s", error.text);
    bare->rig.link = sim_link(bare->sim);
    bare->rig.simulated = true;
    asker_make(&bare->asker, bare->rig.link);
    rig_attach(&bare->rig, &bare->asker.tester);
}

static void bare_free(struct bare *bare)
{
    sim_device_free(bare->device);
    sim_free(bare->sim);
}

START_TEST(every_frame_reaches_every_tester)
{
    struct rig_sim_config config = {.seed = 1};
    struct iwarp_sentence error = {""};
    struct rig *rig = rig_sim_new(&config, &error);
    struct tester_exchange exchange = {0};
    struct asker asker;

    ck_assert_msg(rig != NULL, "%s", error.text);
    asker_make(&asker, rig->link);
    rig_attach(rig, &asker.tester);
    /* TCP is the first tester: it measures, and what it receives the other one sees. */
    ck_assert_msg(rig_measure(rig, &error) == 0, "%s", error.text);
    ck_assert_uint_gt(rig->round_trip_ns, 0);
    ck_assert_uint_gt(asker.tcp_frames, 0);
    ck_assert_uint_eq(asker.asked, 0);
    /* The second one has an exchange of its own; TCP ignores it, and still works. */
    ck_assert_msg(asker.tester.ops->measure(&asker.tester, rig, &exchange, &error) == 0, "%s", error.text);
    ck_assert_uint_eq(asker.answered, 1);
    ck_assert_uint_eq(exchange.round_trip_ns, 2 * SIM_LATENCY_NS);
    ck_assert_msg(rig_measure(rig, &error) == 0, "%s", error.text);
    rig_free(rig);
}
END_TEST

START_TEST(the_first_timer_of_all_testers_is_kept)
{
    struct rig_sim_config config = {.seed = 1};
    struct iwarp_sentence error = {""};
    struct rig *rig = rig_sim_new(&config, &error);
    uint64_t now;
    struct asker asker;

    ck_assert_msg(rig != NULL, "%s", error.text);
    asker_make(&asker, rig->link);
    rig_attach(rig, &asker.tester);
    now = rig_now(rig);
    asker.deadline_ns = now + 5 * MILLISECOND;
    ck_assert_int_eq(rig_pump(rig, now + SECOND), 1);
    ck_assert_uint_eq(asker.ticked_ns, now + 5 * MILLISECOND);
    /* Its question is answered before its next timer; then nothing happens until the caller's deadline. */
    ck_assert_int_eq(rig_pump(rig, now + SECOND), 1);
    ck_assert_uint_eq(asker.answered, 1);
    ck_assert_int_eq(rig_pump(rig, now + SECOND), 0);
    ck_assert_uint_eq(rig_now(rig), now + SECOND);
    /* TCP's timers run beside it: a SYN to an address that nobody has ends by its own. */
    ck_assert_int_eq(net_address_parse(&rig->dut, "10.77.0.77"), 0);
    ck_assert_int_eq(rig_measure(rig, &error), -1);
    ck_assert_msg(strstr(error.text, "did not accept a TCP connection") != NULL, "%s", error.text);
    rig_free(rig);
}
END_TEST

START_TEST(a_tester_alone_measures)
{
    struct bare bare;
    struct iwarp_sentence error = {""};
    uint64_t begun;

    bare_make(&bare);
    bare.asker.refusals = 2;
    begun = rig_now(&bare.rig);
    ck_assert_msg(rig_measure(&bare.rig, &error) == 0, "%s", error.text);
    /* Two refusals, and three exchanges; the pauses after a refusal are 20 ms and 40 ms. */
    ck_assert_uint_eq(bare.asker.answered, 5);
    ck_assert_uint_eq(rig_now(&bare.rig) - begun, 60 * MILLISECOND + 10 * SIM_LATENCY_NS);
    ck_assert_uint_eq(bare.rig.round_trip_ns, 2 * SIM_LATENCY_NS);
    ck_assert_uint_eq(bare.rig.reaction_ns, 2 * SECOND);
    bare_free(&bare);
}
END_TEST

START_TEST(an_exchange_that_fails_ends_the_measurement)
{
    struct bare bare;
    struct iwarp_sentence error = {""};

    bare_make(&bare);
    ck_assert_int_eq(net_address_parse(&bare.asker.device, "10.77.0.77"), 0);
    ck_assert_int_eq(rig_measure(&bare.rig, &error), -1);
    ck_assert_str_eq(error.text, "nobody has the address");
    ck_assert_uint_eq(bare.asker.asked, 3); /* at once, and by its timer after one second and after two */
    bare_free(&bare);
}
END_TEST

START_TEST(a_check_of_tcp_finds_no_tcp)
{
    static const char text[] = "check { id = \"A-1\", purpose = \"p\", sandwich = \"tcp\", run = function(t) end }";
    struct iwarp_sentence error = {""};
    struct script_host *host = script_host_new(&error);
    struct outcome outcome;
    struct bare bare;

    bare_make(&bare);
    ck_assert_msg(host != NULL && script_load(host, "a.lua", text, sizeof(text) - 1, &error) == 0, "%s", error.text);
    script_run(host, script_check_at(host, 0), "responder", &bare.rig, NULL, &outcome);
    ck_assert_int_eq(outcome.verdict, VERDICT_INCONCLUSIVE);
    ck_assert_msg(strstr(outcome.message, "the rig has no TCP") != NULL, "%s", outcome.message);
    script_host_free(host);
    bare_free(&bare);
}
END_TEST

Suite *tester_suite(void)
{
    Suite *suite = suite_create("tester");
    TCase *tcase = tcase_create("seam");

    tcase_add_test(tcase, every_frame_reaches_every_tester);
    tcase_add_test(tcase, the_first_timer_of_all_testers_is_kept);
    tcase_add_test(tcase, a_tester_alone_measures);
    tcase_add_test(tcase, an_exchange_that_fails_ends_the_measurement);
    tcase_add_test(tcase, a_check_of_tcp_finds_no_tcp);
    suite_add_tcase(suite, tcase);
    return suite;
}
