/* SPDX-License-Identifier: BSD-2-Clause */
/* A device gets time by how slow it has been lately. */
#include <check.h>
#include <jansson.h>
#include <string.h>

#include "conformance/engine/rig/rig.h"
#include "conformance/engine/rig/upper_tester.h"
#include "generator/packet/packet.h"
#include "tests/unit/suites.h"

Suite *rig_suite(void);

#define MILLISECOND UINT64_C(1000000)
#define SECOND      UINT64_C(1000000000)

START_TEST(limits_follow_the_slowest_of_the_latest)
{
    struct rig rig = {0};

    rig_note_round_trip(&rig, MILLISECOND / 2);
    ck_assert_uint_eq(rig.reaction_ns, 2 * SECOND);
    ck_assert_uint_eq(rig.quiet_ns, SECOND / 4);
    rig_note_round_trip(&rig, 8 * MILLISECOND);
    ck_assert_uint_eq(rig.reaction_ns, 12 * SECOND);
    for (int i = 1; i < RIG_RECENT / RIG_PER_EXCEPTION; i++)
        rig_note_round_trip(&rig, 20 * MILLISECOND);
    ck_assert_uint_eq(rig.reaction_ns, 15 * SECOND);
    rig_note_round_trip(&rig, 9 * MILLISECOND);
    for (int i = RIG_RECENT / RIG_PER_EXCEPTION + 2; i < RIG_RECENT; i++)
        rig_note_round_trip(&rig, MILLISECOND);
    ck_assert_uint_eq(rig.round_trip_ns, 8 * MILLISECOND);
    rig_note_round_trip(&rig, MILLISECOND); /* in place of the first, and the next in place of one of the slow */
    ck_assert_uint_eq(rig.round_trip_ns, 8 * MILLISECOND);
    rig_note_round_trip(&rig, MILLISECOND);
    ck_assert_uint_eq(rig.round_trip_ns, MILLISECOND);
    ck_assert_uint_eq(rig.reaction_ns, 2 * SECOND);
}
END_TEST

/* A device, or a tester, that waits for a processor once in a while is as fast as it is otherwise. */
START_TEST(what_is_slow_by_chance_changes_nothing)
{
    struct rig rig = {0};

    for (int i = 0; i < 4 * RIG_RECENT; i++) {
        bool slow = i % RIG_PER_EXCEPTION == RIG_PER_EXCEPTION - 1;

        rig_note_round_trip(&rig, slow ? SECOND : MILLISECOND);
        ck_assert_uint_eq(rig.round_trip_ns, MILLISECOND);
    }
    rig_note_round_trip(&rig, SECOND);
    ck_assert_uint_eq(rig.reaction_ns, 15 * SECOND);
}
END_TEST

/* Profile: reaction_seconds. */
START_TEST(a_slow_device_has_its_time)
{
    struct rig rig = {.reaction_least_ns = 40 * SECOND};

    rig_note_round_trip(&rig, MILLISECOND);
    ck_assert_uint_eq(rig.reaction_ns, 40 * SECOND);
    ck_assert_uint_eq(rig.quiet_ns, 5 * SECOND);
    rig.reaction_least_ns = SECOND; /* never below what the round trip gives */
    rig_note_round_trip(&rig, 8 * MILLISECOND);
    ck_assert_uint_eq(rig.reaction_ns, 12 * SECOND);
}
END_TEST

/* The embedded device, on a machine that has other work. */
START_TEST(patience_makes_no_silence_longer)
{
    struct rig rig = {.patience_ns = 6 * SECOND};

    rig_note_round_trip(&rig, MILLISECOND);
    ck_assert_uint_eq(rig.reaction_ns, 6 * SECOND);
    ck_assert_uint_eq(rig.quiet_ns, SECOND / 4);
    rig_note_round_trip(&rig, 8 * MILLISECOND);
    ck_assert_uint_eq(rig.reaction_ns, 12 * SECOND);
    ck_assert_uint_eq(rig.quiet_ns, 12 * SECOND / 8);
}
END_TEST

START_TEST(what_says_nothing_changes_nothing)
{
    struct rig rig = {.reaction_ns = 7, .simulated = true};

    rig_note_round_trip(&rig, SECOND);
    ck_assert_uint_eq(rig.reaction_ns, 7);
    rig.simulated = false;
    rig_note_round_trip(&rig, 0);
    ck_assert_uint_eq(rig.reaction_ns, 7);
}
END_TEST

/* A device whose listener comes up when it has refused so often. */
struct late {
    struct rig *rig;
    unsigned refusals, listens_after;
};

static void on_frame(void *context, const uint8_t *frame, size_t octets, uint64_t time_ns, bool inbound)
{
    struct late *late = context;
    struct packet packet;
    const char *reason = NULL;
    struct iwarp_sentence error;

    (void)time_ns;
    if (!inbound || packet_parse(&packet, frame, octets, &reason) != 0 || packet.kind != PACKET_TCP ||
        (packet.flags & TCP_FLAG_RST) == 0)
        return;
    if (++late->refusals == late->listens_after)
        ck_assert_msg(upper_tester_listen(late->rig, RIG_PORT, &error) == 0, "%s", error.text);
}

static struct rig *refusing(struct late *late, unsigned listens_after)
{
    struct rig_sim_config config = {.seed = 1};
    struct iwarp_sentence error;
    json_t *unlisten = json_pack("{s:s, s:i}", "verb", "unlisten", "port", RIG_PORT), *answer;
    struct rig *rig = rig_sim_new(&config, &error);

    ck_assert_msg(rig != NULL, "%s", error.text);
    answer = upper_tester_call(rig, unlisten, &error);
    ck_assert(json_is_true(json_object_get(answer, "ok")));
    json_decref(answer);
    json_decref(unlisten);
    *late = (struct late){rig, 0, listens_after};
    rig->link->tap = on_frame;
    rig->link->tap_context = late;
    return rig;
}

START_TEST(a_refused_first_handshake_is_tried_again)
{
    struct iwarp_sentence error = {""};
    struct late late;
    struct rig *rig = refusing(&late, 4);

    ck_assert_msg(rig_measure(rig, &error) == 0, "%s", error.text);
    ck_assert_uint_eq(late.refusals, 4);
    ck_assert_uint_gt(rig->round_trip_ns, 0);
    rig_free(rig);
}
END_TEST

START_TEST(a_device_that_goes_on_refusing_is_given_up)
{
    struct iwarp_sentence error = {""};
    struct late late;
    struct rig *rig = refusing(&late, 0);
    uint64_t begun = rig_now(rig);

    ck_assert_int_eq(rig_measure(rig, &error), -1);
    ck_assert_msg(strstr(error.text, "did not accept a TCP connection") != NULL, "%s", error.text);
    ck_assert_msg(strstr(error.text, "times)") != NULL, "%s", error.text);
    ck_assert_uint_ge(late.refusals, 5);
    ck_assert_uint_le(late.refusals, 20);
    ck_assert_uint_le(rig_now(rig) - begun, 6 * SECOND);
    rig_free(rig);
}
END_TEST

static void unlisten_at_reset(void *context, const uint8_t *frame, size_t octets, uint64_t time_ns, bool inbound)
{
    struct late *late = context;
    struct packet packet;
    const char *reason = NULL;
    struct iwarp_sentence error;
    json_t *unlisten, *answer;

    (void)time_ns;
    if (inbound || late->refusals != 0 || packet_parse(&packet, frame, octets, &reason) != 0 ||
        packet.kind != PACKET_TCP || (packet.flags & TCP_FLAG_RST) == 0)
        return;
    late->refusals++;
    unlisten = json_pack("{s:s, s:i}", "verb", "unlisten", "port", RIG_PORT);
    answer = upper_tester_call(late->rig, unlisten, &error);
    ck_assert(json_is_true(json_object_get(answer, "ok")));
    json_decref(answer);
    json_decref(unlisten);
}

static unsigned resets;

static int listen_again(struct rig *rig, struct iwarp_sentence *error)
{
    resets++;
    return upper_tester_listen(rig, RIG_PORT, error);
}

/* A busy device whose listener goes with a connection that was reset before its accept(). */
START_TEST(a_device_that_stops_listening_is_made_new)
{
    struct iwarp_sentence error = {""};
    struct late late;
    struct rig *rig = refusing(&late, 1);
    struct rig_ops ops = *rig->ops;

    ck_assert_msg(upper_tester_listen(rig, RIG_PORT, &error) == 0, "%s", error.text);
    rig->link->tap = unlisten_at_reset;
    ops.reset = listen_again;
    rig->ops = &ops;
    resets = 0;
    ck_assert_msg(rig_measure(rig, &error) == 0, "%s", error.text);
    ck_assert_uint_eq(late.refusals, 1);
    ck_assert_uint_eq(resets, 1);
    ck_assert_uint_gt(rig->round_trip_ns, 0);
    late.refusals = 0; /* once more, and nobody makes it new */
    ops.reset = NULL;
    ck_assert_int_eq(rig_measure(rig, &error), -1);
    ck_assert_msg(strstr(error.text, "did not accept a TCP connection") != NULL, "%s", error.text);
    rig_free(rig);
}
END_TEST

Suite *rig_suite(void)
{
    Suite *suite = suite_create("rig");
    TCase *tcase = tcase_create("limits");

    tcase_add_test(tcase, limits_follow_the_slowest_of_the_latest);
    tcase_add_test(tcase, what_is_slow_by_chance_changes_nothing);
    tcase_add_test(tcase, a_slow_device_has_its_time);
    tcase_add_test(tcase, patience_makes_no_silence_longer);
    tcase_add_test(tcase, what_says_nothing_changes_nothing);
    tcase_add_test(tcase, a_refused_first_handshake_is_tried_again);
    tcase_add_test(tcase, a_device_that_goes_on_refusing_is_given_up);
    tcase_add_test(tcase, a_device_that_stops_listening_is_made_new);
    suite_add_tcase(suite, tcase);
    return suite;
}
