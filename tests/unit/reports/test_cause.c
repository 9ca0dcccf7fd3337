/* SPDX-License-Identifier: BSD-2-Clause */
/* Results with one cause: counted once, each id once, and only those that say that something is wrong. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/results/cause.h"
#include "reports/writers/terminal.h"
#include "tests/unit/suites.h"

Suite *cause_suite(void);

static struct result result_of(const char *id, enum verdict verdict, const char *cause)
{
    return (struct result){
        .id = id, .verdict = verdict, .role = "responder", .cause = cause, .hint = cause ? "a hint" : NULL};
}

START_TEST(results_are_grouped_by_cause)
{
    const struct result results[] = {
        result_of("MPA-4.1-06", VERDICT_FAIL, "pad-length"), result_of("DDP-3-01", VERDICT_FAIL, "alone"),
        result_of("MPA-4.1-06", VERDICT_FAIL, "pad-length"), result_of("MPA-4.1-0", VERDICT_WARN, "pad-length"),
        result_of("MPA-9-01", VERDICT_PASS, "pad-length"),   result_of("MPA-9-02", VERDICT_FAIL, NULL),
        result_of("X", VERDICT_INCONCLUSIVE, "other"),       result_of("Y", VERDICT_FAIL, "other"),
    };
    struct cause_set set = {0};
    const struct cause *cause;

    ck_assert_ptr_null(cause_first(&set));
    for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++)
        ck_assert_int_eq(cause_add(&set, &results[i]), 0);
    cause = cause_first(&set);
    ck_assert_str_eq(cause_name(cause), "pad-length");
    ck_assert_str_eq(cause_hint(cause), "a hint");
    ck_assert_str_eq(cause_first_id(cause), "MPA-4.1-06");
    ck_assert_uint_eq(cause_results(cause), 3);
    ck_assert_str_eq(cause_ids(cause), "MPA-4.1-06, MPA-4.1-0");
    cause = cause_next(cause); /* the one that a single result has is none */
    ck_assert_str_eq(cause_name(cause), "other");
    ck_assert_str_eq(cause_ids(cause), "X, Y");
    ck_assert_ptr_null(cause_next(cause));
    ck_assert_ptr_nonnull(cause_of(&set, &results[1]));
    ck_assert_ptr_null(cause_of(&set, &results[4]));
    cause_set_free(&set);
}
END_TEST

START_TEST(list_of_ids_of_a_cause_is_bounded)
{
    struct cause_set set = {0};
    char id[16] = "";
    struct result result = result_of(id, VERDICT_FAIL, "one");

    for (int i = 0; i < 300; i++) {
        (void)snprintf(id, sizeof(id), "ID-%d", i);
        ck_assert_int_eq(cause_add(&set, &result), 0);
    }
    const char *ids = cause_ids(cause_first(&set));

    ck_assert_uint_eq(cause_results(cause_first(&set)), 300);
    ck_assert_ptr_nonnull(strstr(ids, "ID-199 and 100 more"));
    ck_assert_ptr_null(strstr(ids, "ID-200"));
    cause_set_free(&set);
}
END_TEST

/* Three kinds of messages that do not come may have one fault; two are two. */
START_TEST(silences_may_have_one_cause)
{
    const struct result results[] = {
        result_of("A-1", VERDICT_FAIL, "silence-for-send"),
        result_of("A-2", VERDICT_FAIL, "silence-for-terminate-0x1100"),
        result_of("A-3", VERDICT_FAIL, "silence-for-send"),
        result_of("A-4", VERDICT_FAIL, "octets-missing"),
        result_of("A-5", VERDICT_FAIL, "silence-after-startup"),
    };
    struct cause_set set = {0};
    struct iwarp_sentence text;

    for (size_t i = 0; i < 4; i++)
        ck_assert_int_eq(cause_add(&set, &results[i]), 0);
    ck_assert(!cause_perhaps_one(&set, &text));
    ck_assert_int_eq(cause_add(&set, &results[4]), 0);
    ck_assert(cause_perhaps_one(&set, &text));
    ck_assert_ptr_nonnull(strstr(text.text, ": 3 causes, with 4 results, are that nothing comes"));
    cause_set_free(&set);
}
END_TEST

/* As long as one mistake is named, what was seen may follow from it; with a second one nobody knows from which. */
START_TEST(what_was_seen_may_follow_from_the_one_mistake)
{
    const struct result results[] = {
        result_of("A-1", VERDICT_FAIL, "send-l"),         result_of("A-2", VERDICT_FAIL, "silence-for-segment"),
        result_of("A-3", VERDICT_FAIL, "octets-missing"), result_of("A-4", VERDICT_FAIL, "send-l"),
        result_of("A-5", VERDICT_FAIL, "reply-ird"),
    };
    struct cause_set set = {0};
    struct iwarp_sentence text;

    ck_assert_int_eq(cause_add(&set, &results[0]), 0);
    ck_assert(!cause_perhaps_one(&set, &text));
    for (size_t i = 1; i < 4; i++)
        ck_assert_int_eq(cause_add(&set, &results[i]), 0);
    ck_assert(cause_perhaps_one(&set, &text));
    ck_assert_ptr_nonnull(strstr(text.text, "send-l is the only mistake that is named"));
    ck_assert_ptr_nonnull(strstr(text.text, "(causes: 2, results: 2)"));
    ck_assert_int_eq(cause_add(&set, &results[4]), 0);
    ck_assert(!cause_perhaps_one(&set, &text));
    cause_set_free(&set);
}
END_TEST

/* What an atomic left, and a stream that ends bare, come of something: they are no mistakes that others could come of. */
START_TEST(what_comes_of_a_mistake_is_none)
{
    static const char *const seen[] = {"atomic-value", "terminate-missing", "octets-missing"};
    struct result results[] = {
        result_of("A-1", VERDICT_FAIL, seen[_i]),
        result_of("A-2", VERDICT_FAIL, "silence-for-segment"),
    };
    struct cause_set set = {0};
    struct iwarp_sentence text = {""};

    for (size_t i = 0; i < 2; i++)
        ck_assert_int_eq(cause_add(&set, &results[i]), 0);
    ck_assert_msg(!cause_perhaps_one(&set, &text), "%s", text.text);
    cause_set_free(&set);
}
END_TEST

/* What several causes have in common, so that one fault may be behind them; a third of another sort ends that. */
static const struct {
    const char *first, *second, *common, *other;
} alike[] = {
    {"send-qn", "send-msn", "is about Sends", "reply-ird"},
    {"terminate-l", "terminate-queue", "is about Terminates", "send-qn"},
    {"send-msn", "read-request-msn", "is about one field of several kinds", "send-l"},
    {"read-request-msn", "msn-shared", "is about one field of several kinds", "send-qn"},
    {"markers-missing", "markers-unasked", "is about how FPDUs are framed", "send-qn"},
    {"terminate-missing", "end-for-message", "are that the device ends streams, and no Terminate", "octets-missing"},
    {"reset-for-fin", "end-for-message", "are that the device ends streams, and no Terminate", "octets-missing"},
    {"terminate-0x1101-for-message", "terminate-0x1101-for-terminate-0x1104", "are that one Terminate comes",
     "terminate-0x1102-for-message"},
};

START_TEST(what_is_of_one_sort_may_have_one_cause)
{
    const struct result results[] = {
        result_of("A-1", VERDICT_FAIL, alike[_i].first),
        result_of("A-2", VERDICT_FAIL, alike[_i].second),
        result_of("A-3", VERDICT_FAIL, alike[_i].other),
    };
    struct cause_set set = {0};
    struct iwarp_sentence text = {""};

    ck_assert_int_eq(cause_add(&set, &results[0]), 0);
    ck_assert_msg(!cause_perhaps_one(&set, &text), "%s", text.text);
    ck_assert_int_eq(cause_add(&set, &results[1]), 0);
    ck_assert(cause_perhaps_one(&set, &text));
    ck_assert_msg(strstr(text.text, alike[_i].common) != NULL, "%s", text.text);
    ck_assert_int_eq(cause_add(&set, &results[2]), 0);
    ck_assert_msg(!cause_perhaps_one(&set, &text), "%s", text.text);
    cause_set_free(&set);
}
END_TEST

/* Why nothing was decided is no mistake of the device. */
START_TEST(cause_that_decided_nothing_is_no_mistake)
{
    const struct result results[] = {
        result_of("A-1", VERDICT_FAIL, "send-l"),
        result_of("A-2", VERDICT_FAIL, "octets-missing"),
        result_of("A-3", VERDICT_INCONCLUSIVE, "startup-not-served-as-responder"),
    };
    struct cause_set set = {0};
    struct iwarp_sentence text;

    for (size_t i = 0; i < 3; i++)
        ck_assert_int_eq(cause_add(&set, &results[i]), 0);
    ck_assert(cause_perhaps_one(&set, &text));
    ck_assert_ptr_nonnull(strstr(text.text, "send-l is the only mistake that is named"));
    cause_set_free(&set);
}
END_TEST

/* Each error that is not found, and what is placed for it; beside a message that misses it may be another fault. */
START_TEST(errors_that_go_unnoticed_may_have_one_cause)
{
    const struct result results[] = {
        result_of("A-1", VERDICT_FAIL, "error-unnoticed-0x1203"),
        result_of("A-2", VERDICT_FAIL, "delivered-undue"),
        result_of("A-3", VERDICT_FAIL, "not-delivered"),
    };
    struct cause_set set = {0};
    struct iwarp_sentence text;

    ck_assert_int_eq(cause_add(&set, &results[0]), 0);
    ck_assert(!cause_perhaps_one(&set, &text));
    ck_assert_int_eq(cause_add(&set, &results[1]), 0);
    ck_assert(cause_perhaps_one(&set, &text));
    ck_assert_ptr_nonnull(strstr(text.text, "2 causes, with 2 results, are that an error of the tester has no"));
    ck_assert_int_eq(cause_add(&set, &results[2]), 0);
    ck_assert(!cause_perhaps_one(&set, &text));
    cause_set_free(&set);
}
END_TEST

/*
 * The first result of a cause is a whole block, the next ones a line each; the summary has the ids, of hidden ones,
 * too.
 */
START_TEST(on_the_terminal)
{
    struct result first = result_of("A-1", VERDICT_FAIL, "pad-length"),
                  second = result_of("A-2", VERDICT_FAIL, "pad-length"),
                  elsewhere = result_of("A-2", VERDICT_FAIL, "pad-length"),
                  hidden = result_of("A-3", VERDICT_FAIL, "pad-length");
    struct run_summary summary = {.fail = 3};
    struct terminal terminal;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    terminal_init(&terminal, out);
    terminal_result(&terminal, &first, NULL);
    terminal_result(&terminal, &second, NULL);
    elsewhere.file = "captures/b.pcap";
    elsewhere.frame = 7;
    terminal_result(&terminal, &elsewhere, NULL);
    terminal_hide(&terminal, &hidden);
    terminal_summary(&terminal, &summary, NULL);
    terminal_free(&terminal);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(text, "hint      a hint\n"));
    ck_assert_ptr_nonnull(strstr(text, "FAIL  A-2  responder  the cause of A-1 again: pad-length\n"));
    ck_assert_ptr_nonnull(
        strstr(text, "FAIL  A-2  responder  the cause of A-1 again: pad-length     frame 7 of captures/b.pcap\n"));
    ck_assert_ptr_nonnull(strstr(text, "one cause of 4 results: a hint (pad-length)\n  A-1, A-2, A-3\n"));
    ck_assert_ptr_null(strstr(text, "FAIL  A-3"));
    free(text);
}
END_TEST

/* Hundreds of results that one cause leaves undecided are some lines, and the list of their ids. */
START_TEST(undecided_on_the_terminal)
{
    enum { RESULTS = 300 };
    struct result result = result_of("A-1", VERDICT_INCONCLUSIVE, "startup-not-served");
    struct run_summary summary = {0};
    struct terminal terminal;
    size_t size = 0, lines = 0;
    char *text = NULL, id[16];
    FILE *out = open_memstream(&text, &size);

    terminal_init(&terminal, out);
    for (int i = 1; i <= RESULTS; i++) {
        (void)snprintf(id, sizeof(id), "A-%d", i);
        result.id = id;
        terminal_result(&terminal, &result, NULL);
    }
    terminal_summary(&terminal, &summary, NULL);
    terminal_free(&terminal);
    fclose(out);
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    ck_assert_uint_lt(lines, 24); /* a screen */
    ck_assert_ptr_nonnull(strstr(text, "one cause of 300 results: a hint (startup-not-served)\n"));
    ck_assert_ptr_nonnull(strstr(text, "more results of this cause come"));
    free(text);
}
END_TEST

/* What came in place of what was due is said by expected and actual. */
START_TEST(single_result_has_a_hint_or_none)
{
    struct result octets = result_of("A-1", VERDICT_FAIL, "pad-length"),
                  observed = result_of("A-2", VERDICT_FAIL, "silence-for-read-response"),
                  none = result_of("A-3", VERDICT_FAIL, NULL);

    ck_assert_str_eq(cause_hint_alone(&octets), "a hint");
    ck_assert_ptr_null(cause_hint_alone(&observed));
    ck_assert_ptr_null(cause_hint_alone(&none));
}
END_TEST

Suite *cause_suite(void)
{
    Suite *suite = suite_create("cause");
    TCase *tcase = tcase_create("cause");

    tcase_add_test(tcase, results_are_grouped_by_cause);
    tcase_add_test(tcase, list_of_ids_of_a_cause_is_bounded);
    tcase_add_loop_test(tcase, what_is_of_one_sort_may_have_one_cause, 0, sizeof(alike) / sizeof(alike[0]));
    tcase_add_test(tcase, cause_that_decided_nothing_is_no_mistake);
    tcase_add_test(tcase, silences_may_have_one_cause);
    tcase_add_test(tcase, what_was_seen_may_follow_from_the_one_mistake);
    tcase_add_loop_test(tcase, what_comes_of_a_mistake_is_none, 0, 3);
    tcase_add_test(tcase, errors_that_go_unnoticed_may_have_one_cause);
    tcase_add_test(tcase, single_result_has_a_hint_or_none);
    tcase_add_test(tcase, on_the_terminal);
    tcase_add_test(tcase, undecided_on_the_terminal);
    suite_add_tcase(suite, tcase);
    return suite;
}
