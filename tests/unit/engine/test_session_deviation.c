/* SPDX-License-Identifier: BSD-2-Clause */
/* What is made wrong in a session. */
#include <check.h>
#include <string.h>

#include "conformance/engine/explore/session_deviation.h"
#include "tests/unit/session_alike.h"
#include "tests/unit/suites.h"
#include "wire/field.h"

Suite *session_deviation_suite(void);

enum { SESSIONS = 3000 };

static void check_field(const struct session_members *what)
{
    const struct session_member *of = session_find(what, "of"), *name = session_find(what, "field");
    const struct wire_layout *layout = of != NULL ? wire_layout_find(of->word) : NULL;
    const struct wire_field *field = layout != NULL ? wire_layout_field(layout, name->word) : NULL;
    const struct session_member *flip = session_find(what, "flip");

    if (of == NULL)
        return;
    ck_assert_msg(field != NULL, "%s.%s", of->word, name->word);
    ck_assert_int_eq(session_number(what, "bits", 0), field->bits);
    ck_assert(flip != NULL || session_find(what, "add") != NULL);
    if (flip != NULL && field->bits < 64)
        ck_assert_uint_eq((uint64_t)flip->number >> field->bits, 0);
    if (flip != NULL)
        ck_assert_int_ne(flip->number, 0);
}

START_TEST(the_last_step_is_wrong_or_the_start)
{
    static struct session one, two;
    static const char *const kinds[] = {"of", "keep", "less", "more", "twice", "missing", "exchanged", "octet"};
    int seen[sizeof(kinds) / sizeof(kinds[0])] = {0}, starts = 0, frames = 0, legal = 0;

    for (uint64_t number = 0; number < SESSIONS; number++) {
        struct session_draw draw, again;
        const struct session_wrong *wrong;

        session_generate(3, number, IWARP_SCTP_UNDECIDED, &one, &draw);
        session_deviate(&one, &draw);
        session_generate(3, number, IWARP_SCTP_UNDECIDED, &two, &again);
        session_deviate(&two, &again);
        ck_assert(sessions_alike(&one, &two));
        legal += !session_is_wrong(&one); /* a Terminate */
        for (size_t i = 0; i + 1 < one.step_count; i++)
            ck_assert(!one.steps[i].wrong.present);
        if (!session_is_wrong(&one))
            continue;
        starts += one.wrong_start.present;
        wrong = one.wrong_start.present ? &one.wrong_start : &one.steps[one.step_count - 1].wrong;
        ck_assert(wrong->present);
        check_field(&wrong->what);
        frames += wrong->frame.count != 0;
        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
            seen[i] += session_find(&wrong->what, kinds[i]) != NULL;
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        ck_assert_msg(seen[i] > 0, "%s never comes", kinds[i]);
    ck_assert(starts > 0 && frames > 0 && legal > 0 && legal < SESSIONS / 10);
}
END_TEST

/* A Write, Read or atomic before, after and at a region's ends, of several lengths: each kind comes. */
START_TEST(memory_is_used_wrongly_at_its_edges)
{
    static struct session session;
    int before = 0, after = 0, invalid = 0, unaligned = 0, long_sends = 0;

    for (uint64_t number = 0; number < SESSIONS; number++) {
        struct session_draw draw;
        const struct session_step *last;
        int64_t region, at, octets;

        session_generate(3, number, IWARP_SCTP_UNDECIDED, &session, &draw);
        session_deviate(&session, &draw);
        if (session.wrong_start.present || session.step_count == 0)
            continue;
        last = &session.steps[session.step_count - 1];
        region = session_number(&last->members, "region", 0);
        at = session_number(&last->members, "at", 0);
        octets = session_number(&last->members, "octets", 8);
        long_sends +=
            strcmp(last->name, "send") == 0 && octets > session_number(&session.device, "receive_octets", 4096);
        if (region == 0 || !last->wrong.present)
            continue;
        before += at < 0;
        after += at >= 0 && at == session_number(&session.regions[region - 1].members, "octets", 0) + 1 - octets;
        unaligned += strcmp(last->name, "atomic") == 0 && at % 8 != 0;
        invalid += strcmp(session.steps[0].name, "send") == 0 &&
                   session_number(&session.steps[0].members, "region", 0) == region;
    }
    ck_assert(before > 0 && after > 0 && invalid > 0 && unaligned > 0 && long_sends > 0);
}
END_TEST

/* What may be wrong with a chunk, and with session control messages. Loop: RFC 5043, the draft. */
START_TEST(over_sctp_the_chunk_is_wrong)
{
    static const char *const kinds[] = {"ppid", "flags", "gap", "again", "ssn", "sid", "keep", "bad_checksum"};
    static struct session session;
    int seen[sizeof(kinds) / sizeof(kinds[0])] = {0}, controls = 0, starts = 0;

    for (uint64_t number = 0; number < SESSIONS; number++) {
        struct session_draw draw;
        const struct session_step *last;

        session_generate(4, number, _i == 0 ? IWARP_SCTP_RFC5043 : IWARP_SCTP_DRAFT02, &session, &draw);
        session_deviate(&session, &draw);
        starts += session.wrong_start.present;
        check_field(&session.wrong_start.what);
        if (session.step_count == 0)
            continue;
        last = &session.steps[session.step_count - 1];
        controls += strcmp(last->name, "control") == 0;
        check_field(&last->wrong.what);
        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
            seen[i] += session_find(&last->wrong.frame, kinds[i]) != NULL;
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        ck_assert_msg(seen[i] > 0, "%s never comes", kinds[i]);
    ck_assert_int_gt(controls, 0);
    ck_assert(_i == 0 ? starts > 0 : starts == 0); /* the draft has no start-up */
}
END_TEST

static bool opens_wrongly(const struct session_step *step)
{
    return strcmp(step->name, "another") == 0 && step->wrong.present;
}

/*
 * What the device's ULP has given up, in the middle of a message, too; what another Protection Domain has; and CRCs that are
 * wrong where nobody uses them. Loop: TCP, RFC 5043, the draft. Over RFC 5043 alone streams share what an illegal start-up
 * of one of them could harm.
 */
START_TEST(what_has_been_given_up_is_used)
{
    static const enum iwarp_sctp_profile layers[] = {IWARP_SCTP_UNDECIDED, IWARP_SCTP_RFC5043, IWARP_SCTP_DRAFT02};
    static struct session session;
    int revoked = 0, within = 0, foreign = 0, unused_crcs = 0, others = 0;

    for (uint64_t number = 0; number < SESSIONS; number++) {
        struct session_draw draw;
        const struct session_step *last;

        session_generate(5, number, layers[_i], &session, &draw);
        session_deviate(&session, &draw);
        if (session.step_count == 0)
            continue;
        last = &session.steps[session.step_count - 1];
        others += opens_wrongly(last);
        revoked += session.step_count > 1 && strcmp(last[-1].name, "device revoke") == 0;
        within += session_find(&last->members, "revoked") != NULL;
        foreign += session.region_count != 0 && session_find(&session.regions[0].members, "pd") != NULL;
        unused_crcs += session_find(&last->wrong.frame, "crc_flip") != NULL &&
                       session_number(&session.own, "C", 1) == 0 && session_number(&session.device, "crc", 1) == 0;
    }
    ck_assert(revoked > 0 && within > 0 && foreign > 0);
    ck_assert((unused_crcs > 0) == (layers[_i] == IWARP_SCTP_UNDECIDED));
    ck_assert((others > 0) == (layers[_i] == IWARP_SCTP_RFC5043));
}
END_TEST

/* One bit of one field, in the first or second of several segments. */
static bool is_bit_of_inner_segment(const struct session_step *step)
{
    const struct session_member *flip = session_find(&step->wrong.what, "flip");
    int64_t octets = session_number(&step->members, "octets", 0),
            piece = session_number(&step->members, "piece", octets);
    int64_t segments = piece > 0 ? (octets + piece - 1) / piece : 1;

    return flip != NULL && (flip->number & (flip->number - 1)) == 0 && segments > 2 &&
           session_number(&step->wrong.what, "frame", 0) < segments;
}

/* Bits of segments that are not the last, and start-up frames that never come whole, for which the device has a limit. */
START_TEST(bits_of_inner_segments_and_frames_that_stall)
{
    static struct session session;
    bool high[64] = {false};
    int stalled = 0;

    for (uint64_t number = 0; number < SESSIONS; number++) {
        struct session_draw draw;
        const struct session_step *last;

        session_generate(7, number, IWARP_SCTP_UNDECIDED, &session, &draw);
        session_deviate(&session, &draw);
        ck_assert_ptr_null(session_find(&session.device, "hold_open"));
        stalled += session_find(&session.device, "startup_ms") != NULL;
        if (session.wrong_start.present)
            ck_assert((session_find(&session.device, "startup_ms") == NULL) ||
                      session_find(&session.wrong_start.what, "keep") != NULL);
        if (session.step_count == 0)
            continue;
        last = &session.steps[session.step_count - 1];
        for (unsigned bit = 0; bit < 32 && is_bit_of_inner_segment(last); bit++)
            high[bit] = high[bit] || session_find(&last->wrong.what, "flip")->number == INT64_C(1) << bit;
    }
    ck_assert_int_gt(stalled, 0);
    for (unsigned bit = 0; bit < 32; bit += 8)
        ck_assert_msg(high[bit] && high[bit + 7], "bit %u or %u", bit, bit + 7);
}
END_TEST

static bool is_one_of(const char *word, const char *const words[3])
{
    return strcmp(word, words[0]) == 0 || strcmp(word, words[1]) == 0 || strcmp(word, words[2]) == 0;
}

/* The answer to a Read or an atomic of the device is wrong, in a header of that answer or in its length, and is the last thing of the session. */
START_TEST(answers_to_the_device_are_wrong)
{
    static const char *const of_read[3] = {"ddp_tagged", "rdmap_control", "rdmap_control"};
    static const char *const of_atomic[3] = {"ddp_untagged", "rdmap_untagged", "atomic_response"};
    static struct session session;
    unsigned reads = 0, atomics = 0, cut = 0;

    for (uint64_t number = 0; number < SESSIONS; number++) {
        struct session_draw draw;

        session_generate(9, number, IWARP_SCTP_UNDECIDED, &session, &draw);
        session_deviate(&session, &draw);
        if (session_find(&session.wrong_start.what, "fin") != NULL) {
            cut++;
            ck_assert_int_ge(session_number(&session.wrong_start.what, "less", 0), 1);
            ck_assert_int_le(session_number(&session.wrong_start.what, "less", 0),
                             20 + session_number(&session.open, "private", 0));
        }
        for (size_t i = 0; i < session.step_count; i++) {
            const struct session_step *step = &session.steps[i];
            const struct session_member *of = session_find(&step->wrong.what, "of");
            bool atomic = strcmp(step->name, "device atomic") == 0;

            if (strncmp(step->name, "device ", 7) != 0 || !step->wrong.present)
                continue;
            ck_assert_uint_eq(i + 1, session.step_count);
            ck_assert(atomic || strcmp(step->name, "device read") == 0);
            ck_assert_ptr_null(session_find(&step->members, "gap"));
            ck_assert(of == NULL || is_one_of(of->word, atomic ? of_atomic : of_read));
            reads += !atomic;
            atomics += atomic;
        }
    }
    ck_assert(reads > 0 && atomics > 0 && cut > 0);
}
END_TEST

Suite *session_deviation_suite(void)
{
    Suite *suite = suite_create("session_deviation");
    TCase *tcase = tcase_create("grammar");

    tcase_add_test(tcase, the_last_step_is_wrong_or_the_start);
    tcase_add_test(tcase, memory_is_used_wrongly_at_its_edges);
    tcase_add_loop_test(tcase, over_sctp_the_chunk_is_wrong, 0, 2);
    tcase_add_loop_test(tcase, what_has_been_given_up_is_used, 0, 3);
    tcase_add_test(tcase, bits_of_inner_segments_and_frames_that_stall);
    tcase_add_test(tcase, answers_to_the_device_are_wrong);
    suite_add_tcase(suite, tcase);
    return suite;
}
