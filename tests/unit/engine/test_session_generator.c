/* SPDX-License-Identifier: BSD-2-Clause */
/* Sessions by seed: the same each time, and legal as far as their numbers show. */
#include <check.h>

#include "conformance/engine/explore/session_generator.h"
#include "conformance/engine/explore/session_opening.h"
#include "tests/unit/session_alike.h"
#include "tests/unit/suites.h"

Suite *session_generator_suite(void);

enum { SESSIONS = 2000, STREAMS = 4 };

START_TEST(the_same_seed_and_number_make_the_same_session)
{
    static struct session one, two, other;
    struct session_draw draw;
    int differ = 0;

    for (uint64_t number = 0; number < SESSIONS; number++) {
        session_generate(5, number, IWARP_SCTP_UNDECIDED, &one, &draw);
        session_generate(6, number, IWARP_SCTP_UNDECIDED, &other, &draw);
        session_generate(5, number, IWARP_SCTP_UNDECIDED, &two, &draw);
        ck_assert(sessions_alike(&one, &two));
        differ += !sessions_alike(&one, &other);
    }
    ck_assert_int_gt(differ, SESSIONS * 9 / 10);
}
END_TEST

/* What a step of the tester reaches lies in its region, and a region that was invalidated is not used again. */
static void check_step(const struct session *session, const struct session_step *step, bool dead[SESSION_REGIONS])
{
    const struct session_member *named = session_find(&step->members, "region");
    int64_t octets = session_number(&step->members, "octets", 8), at = session_number(&step->members, "at", 0);
    int64_t region = named != NULL ? named->number : 0;

    ck_assert_int_ge(octets, 0);
    if (named == NULL)
        return;
    ck_assert_int_ge(region, 1);
    ck_assert_uint_le((size_t)region, session->region_count);
    ck_assert(!dead[region - 1]);
    if (strcmp(step->name, "send") == 0)
        dead[region - 1] = true;
    else
        ck_assert_int_le(at + octets, session_number(&session->regions[region - 1].members, "octets", 0));
}

/* A stream is opened before it is used, and once until it ends; memory that is bound to the first one is of no other. */
static void check_stream(const struct session *session, const struct session_step *step, bool live[STREAMS])
{
    int64_t stream = session_number(&step->members, "stream", 1), opens = session_number(&step->members, "opens", 0);
    int64_t region = session_number(&step->members, "region", 0);

    ck_assert(stream >= 1 && stream < STREAMS);
    ck_assert(live[stream] || strcmp(step->name, "another") == 0 || strcmp(step->name, "settle") == 0);
    if (strcmp(step->name, "another") == 0) {
        ck_assert(opens > 1 && opens < STREAMS && !live[opens]);
        ck_assert(session_find(&step->members, session->initiator ? "rejects" : "refuses") == NULL);
        live[opens] = !session_is_turned_down(&step->members);
    } else if (strcmp(step->name, "end") == 0) {
        live[stream] = false;
        ck_assert(live[1] || live[2] || live[3]);
    } else if (region != 0 && stream != 1) {
        ck_assert_int_eq(session_number(&session->regions[region - 1].members, "bound", 0), 0);
    }
}

/* What the layers have, and what not. */
static void check_layer(const struct session *session)
{
    bool tcp = session->sctp == IWARP_SCTP_UNDECIDED;

    ck_assert(tcp || (session_find(&session->own, "M") == NULL && session_find(&session->open, "mss") == NULL));
    ck_assert(!tcp || session_find(&session->open, "sid") == NULL);
    ck_assert(session->sctp != IWARP_SCTP_DRAFT02 || session->word.count == 0);
    for (size_t i = 0; i < session->step_count; i++) {
        ck_assert(!tcp || session_find(&session->steps[i].members, "late") == NULL);
        if (session->sctp == IWARP_SCTP_DRAFT02 && strcmp(session->steps[i].name, "end") == 0)
            ck_assert_str_eq(session_find(&session->steps[i].members, "how")->word, "error");
    }
}

/* The tester ends its half first, on the one stream that there is, where the device's ULP holds the other half open. */
static bool ends_by_halves(const struct session *session)
{
    bool held = session_find(&session->device, "hold_open") != NULL;

    ck_assert_int_eq(held, session->ends != NULL && strcmp(session->ends, "half") == 0);
    for (size_t i = 0; held && i < session->step_count; i++)
        ck_assert_str_ne(session->steps[i].name, "another");
    return held;
}

/* A Read of the device whose answer comes without its first segment, which follows. */
static bool has_gap(const struct session *session)
{
    for (size_t i = 0; i < session->step_count; i++) {
        const struct session_step *step = &session->steps[i];

        if (session_find(&step->members, "gap") == NULL)
            continue;
        ck_assert_str_eq(step->name, "device read");
        ck_assert(session_number(&step->members, "piece", 0) > 0);
        return true;
    }
    return false;
}

/* Loop: over each lower layer. */
START_TEST(sessions_are_legal)
{
    static const enum iwarp_sctp_profile layers[] = {IWARP_SCTP_UNDECIDED, IWARP_SCTP_RFC5043, IWARP_SCTP_DRAFT02};
    static struct session session;
    struct session_draw draw;
    int initiators = 0, atomics = 0, streams = 0, halves = 0, gaps = 0, patient = 0;
    size_t longest = 0;

    for (uint64_t number = 0; number < SESSIONS; number++) {
        bool dead[SESSION_REGIONS] = {false}, live[STREAMS] = {[1] = true};

        session_generate(1, number, layers[_i], &session, &draw);
        ck_assert(!session_is_wrong(&session));
        ck_assert_uint_ge(session.step_count, 1);
        ck_assert_str_eq(session.steps[strcmp(session.steps[0].name, "settle") == 0].name, "send");
        check_layer(&session);
        for (size_t i = 0; i < session.step_count; i++) {
            check_step(&session, &session.steps[i], dead);
            check_stream(&session, &session.steps[i], live);
        }
        halves += ends_by_halves(&session);
        gaps += has_gap(&session);
        patient += session_find(&session.device, "teardown_ms") != NULL;
        streams += live[2] || live[3];
        initiators += session.initiator;
        atomics += session.atomics;
        longest = longest < session.step_count ? session.step_count : longest;
    }
    ck_assert(initiators > SESSIONS / 3 && initiators < SESSIONS * 2 / 3);
    ck_assert_int_gt(atomics, 0);
    ck_assert_int_eq(halves > 0, layers[_i] != IWARP_SCTP_DRAFT02);
    ck_assert(gaps > 0 && patient > 0);
    ck_assert_int_gt(streams, SESSIONS / 10);
    ck_assert_uint_ge(longest, 10);
}
END_TEST

Suite *session_generator_suite(void)
{
    Suite *suite = suite_create("session_generator");
    TCase *tcase = tcase_create("seeds");

    tcase_add_test(tcase, the_same_seed_and_number_make_the_same_session);
    tcase_add_loop_test(tcase, sessions_are_legal, 0, 3);
    suite_add_tcase(suite, tcase);
    return suite;
}
