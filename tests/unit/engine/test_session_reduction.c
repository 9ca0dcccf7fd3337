/* SPDX-License-Identifier: BSD-2-Clause */
/* Smaller sessions: each cut takes something away, and there is an end of them. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_stream.h"
#include "conformance/engine/explore/session_deviation.h"
#include "conformance/engine/explore/session_reduction.h"
#include "conformance/engine/explore/session_text.h"
#include "tests/unit/suites.h"

Suite *session_reduction_suite(void);

static char *text_of(const struct session *session)
{
    char *text = NULL;
    size_t octets = 0;
    FILE *out = text_stream_open(&text, &octets);

    ck_assert_ptr_nonnull(out);
    session_print(session, NULL, "", out);
    ck_assert(text_stream_close(out, &text));
    return text;
}

START_TEST(each_cut_changes_the_session)
{
    static struct session session, smaller;

    for (uint64_t number = 0; number < 40; number++) {
        struct session_draw draw;
        char *whole;
        size_t cuts = 0;

        session_generate(1, number, IWARP_SCTP_UNDECIDED, &session, &draw);
        if (number % 2 == 1)
            session_deviate(&session, &draw);
        whole = text_of(&session);
        for (; session_smaller(&session, cuts, &smaller); cuts++) {
            char *text = text_of(&smaller);

            ck_assert_str_ne(text, whole);
            ck_assert_uint_le(smaller.step_count, session.step_count);
            ck_assert_uint_le(smaller.region_count, session.region_count);
            free(text);
            ck_assert_uint_lt(cuts, 2000);
        }
        ck_assert_uint_gt(cuts, 0);
        free(whole);
    }
}
END_TEST

/* Always the first cut: nothing is left in the end. */
START_TEST(cuts_come_to_an_end)
{
    static struct session session, smaller;
    struct session_draw draw;
    size_t cuts = 0;

    session_generate(2, 1, IWARP_SCTP_UNDECIDED, &session, &draw);
    while (session_smaller(&session, 0, &smaller)) {
        session = smaller;
        ck_assert_uint_lt(++cuts, 1000);
    }
    ck_assert_uint_eq(session.step_count, 0);
    ck_assert_uint_eq(session.region_count, 0);
    ck_assert_uint_eq(session.device.count, 0);
}
END_TEST

Suite *session_reduction_suite(void)
{
    Suite *suite = suite_create("session_reduction");
    TCase *tcase = tcase_create("cuts");

    tcase_add_test(tcase, each_cut_changes_the_session);
    tcase_add_test(tcase, cuts_come_to_an_end);
    suite_add_tcase(suite, tcase);
    return suite;
}
