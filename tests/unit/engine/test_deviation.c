/* SPDX-License-Identifier: BSD-2-Clause */
/* Known deviations: each excuses the outcome that it names, and nothing else. */
#include "conformance/engine/profile/deviation.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/suites.h"

Suite *deviation_suite(void);

#define TODAY     "2026-11-22"
#define NO_BUFFER "Terminate DDP / Untagged Buffer Error / Invalid MSN - no buffer available (0x1202)"

static struct catalogue *catalogue;
static struct deviation_list list;
static struct iwarp_sentence error;
static json_t *json;

static void setup(void)
{
    ck_assert_int_eq(catalogue_load(&catalogue, &error), 0);
    list = (struct deviation_list){0};
}

static void teardown(void)
{
    deviations_free(&list);
    json_decref(json);
    catalogue_free(catalogue);
}

static int read_list(const char *text)
{
    json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_msg(json != NULL, "%s", text);
    return deviations_read(&list, json, catalogue, TODAY, "my.json", &error);
}

#define ENTRY(rest)  "[ { \"requirement\": \"DDP-7.1-04\", \"review_by\": \"2027-06-30\", " rest " } ]"
#define REVIEW(date) "[ { \"requirement\": \"DDP-7.1-04\", \"actual\": \"RST\", \"review_by\": \"" date "\" } ]"

static const struct {
    const char *text, *part; /* part NULL: it is read */
} entries[] = {
    {ENTRY("\"actual\": \"RST\""), NULL},
    {ENTRY("\"actual\": \"0\""), NULL},
    {ENTRY("\"actual\": \"<number> of them\""), NULL},
    {ENTRY("\"actual\": \"a < b\""), NULL},
    {ENTRY("\"actual\": \"a <= b, b > c\""), NULL},
    {ENTRY("\"outcome\": \"0123456789abcdef\""), NULL},
    {ENTRY("\"actual\": \"RST\", \"role\": \"initiator\", \"by\": \"rule\", \"finding\": \"1: x\", \"note\": \"n\", "
           "\"message\": \"step 1\", \"sometimes\": true"),
     NULL},
    /* what is not named */
    {ENTRY("\"finding\": \"8\""), "my.json: known_deviations[0] (DDP-7.1-04): \"actual\" is missing, the full text of"},
    {ENTRY("\"message\": \"the last segment\""), "\"actual\" is missing"},
    {ENTRY("\"actual\": \"\""), "\"actual\" is empty"},
    {ENTRY("\"actual\": \" \""), "which matches no outcome"},
    {ENTRY("\"actual\": \".\""), "which matches no outcome"},
    {ENTRY("\"actual\": \".*\""), "which matches no outcome"},
    {ENTRY("\"actual\": \"<number>\""), "which matches no outcome"},
    {ENTRY("\"actual\": \"<hex> <hex>, <number>.\""), "which matches no outcome"},
    {ENTRY("\"actual\": \"RST\", \"message\": \"<number>\""), "\"message\" is \"<number>\", which matches no outcome"},
    {ENTRY("\"actual\": \"<numbr> of them\""), "<numbr>, which is not a placeholder, did you mean \"<number>\"?"},
    {ENTRY("\"actual\": \"RST\", \"message\": \"step <any>\""), "<any>, which is not a placeholder, <number> or <hex>"},
    {ENTRY("\"outcome\": \"0123456789abcde\""), "the 16 digits of \"outcome\" in results.jsonl were expected"},
    {ENTRY("\"outcome\": \"0123456789abcdeg\""), "the 16 digits"},
    {ENTRY("\"outcome\": \"0123456789abcdef\", \"actual\": \"RST\""),
     "\"outcome\" replaces \"actual\" and \"message\""},
    {ENTRY("\"outcome\": \"0123456789abcdef\", \"message\": \"RST\""), "replaces"},
    /* as it was once */
    {ENTRY("\"reason\": \".\""), "\"reason\" is no longer a member: \"actual\" names the outcome"},
    {ENTRY("\"actual\": \"RST\", \"verdict\": \"WARN\""), NULL},
    {ENTRY("\"actual\": \"RST\", \"verdict\": \"PASS\""), "\"verdict\" is \"PASS\", one of FAIL, WARN was expected"},
    /* names */
    {ENTRY("\"actual\": \"RST\", \"role\": \"respnder\""), "\"role\" is \"respnder\", did you mean \"responder\"?"},
    {ENTRY("\"actual\": \"RST\", \"by\": \"checks\""), "\"by\" is \"checks\", did you mean \"check\"?"},
    {ENTRY("\"actual\": \"RST\", \"by\": \"x\""), "one of check, rule was expected"},
    {ENTRY("\"actual\": \"RST\", \"sometime\": true"), "did you mean \"sometimes\"?"},
    {ENTRY("\"actual\": \"RST\", \"sometimes\": \"yes\""), "\"sometimes\" is a text, true or false was expected"},
    {ENTRY("\"actual\": [ \"RST\" ]"), "\"actual\" is a list"},
    {"[ { \"requirement\": \"DDP-7.1-O4\", \"actual\": \"RST\", \"review_by\": \"2027-06-30\" } ]",
     "there is no requirement \"DDP-7.1-O4\", did you mean \"DDP-7.1-04\"?"},
    {"[ { \"requirement\": \"X\", \"actual\": \"RST\", \"review_by\": \"2027-06-30\" } ]",
     "there is no requirement \"X\""},
    {"[ { \"requirement\": \"DDP-7.1-*\", \"actual\": \"RST\", \"review_by\": \"2027-06-30\" } ]",
     "there is no requirement \"DDP-7.1-*\""},
    /* days */
    {REVIEW("2026-11-22"), NULL},
    {REVIEW("2026-01-01"), NULL}, /* over: what it excuses fails */
    {REVIEW("2028-02-29"), NULL},
    {REVIEW("2028-11-22"), NULL},
    {REVIEW("2028-11-23"), "a day in the next 2 years, 2028-11-22 at the latest, was expected"},
    {REVIEW("2999-01-01"), "a day in the next 2 years"},
    {REVIEW("2999-99-99"), "\"review_by\" is \"2999-99-99\", a calendar day"},
    {REVIEW("2027-02-29"), "a calendar day"},
    {REVIEW("2027-00-10"), "a calendar day"},
    {REVIEW("2027-6-30"), "a calendar day"},
    {REVIEW("30.06.2027"), "a calendar day"},
    {REVIEW("someday"), "a calendar day"},
};

START_TEST(bad_entry_of_known_deviations_is_refused)
{
    int rc = read_list(entries[_i].text);

    ck_assert_msg(rc == (entries[_i].part == NULL ? 0 : -1), "%s: %s", entries[_i].text, rc != 0 ? error.text : "read");
    if (entries[_i].part == NULL)
        return;
    ck_assert_msg(strstr(error.text, entries[_i].part) != NULL, "'%s' lacks '%s'", error.text, entries[_i].part);
    ck_assert_msg(strncmp(error.text, "my.json: known_deviations[0]", 28) == 0, "%s", error.text);
}
END_TEST

/* Of the responder's check, at one step; of a rule at any; of a race. */
#define KNOWN                                                                                                          \
    "[ { \"requirement\": \"DDP-7.1-04\", \"role\": \"responder\", \"by\": \"check\", \"message\": \"step 1\", "       \
    "\"actual\": \"" NO_BUFFER "\", \"finding\": \"8: too long\", \"note\": \"told them\", "                           \
    "\"review_by\": \"2027-06-30\" }, "                                                                                \
    "{ \"requirement\": \"EMPA-9.1-06\", \"by\": \"rule\", \"actual\": \"<number> of them (a.b)\", "                   \
    "\"review_by\": \"2027-06-30\" }, "                                                                                \
    "{ \"requirement\": \"MPA-6-06\", \"actual\": \"CRC 0x<hex>\", \"review_by\": \"2027-06-30\", "                    \
    "\"sometimes\": true }, "                                                                                          \
    "{ \"requirement\": \"MPA-6-06\", \"actual\": \"RST\", \"review_by\": \"2026-12-31\", \"sometimes\": true }, "     \
    "{ \"requirement\": \"DDP-3-09\", \"verdict\": \"WARN\", \"actual\": \"<number>, the payload alone\", "            \
    "\"review_by\": \"2026-12-31\" } ]"

static const struct {
    const char *id, *role, *by;
    enum verdict verdict;
    const char *message, *actual, *today;
    enum verdict judged;
    const char *part; /* of the message then; NULL: as it was */
} judgements[] = {
    {"DDP-7.1-04", "responder", "check", VERDICT_FAIL, "step 1", NO_BUFFER, TODAY, VERDICT_KNOWN, NULL},
    {"DDP-7.1-04", "responder", "check", VERDICT_FAIL, "step 1", NO_BUFFER, "2027-06-30", VERDICT_KNOWN, NULL},
    {"DDP-7.1-04", "responder", "check", VERDICT_FAIL, "step 1", NO_BUFFER, "2027-07-01", VERDICT_FAIL,
     "known deviation (8: too long), but its review date 2027-06-30 is over: step 1"},
    /* another outcome, another step: no more than a part of either */
    {"DDP-7.1-04", "responder", "check", VERDICT_FAIL, "step 1", "RST", TODAY, VERDICT_FAIL,
     "step 1; the profile knows another outcome (8: too long): " NO_BUFFER},
    {"DDP-7.1-04", "responder", "check", VERDICT_FAIL, "step 1", NO_BUFFER " and more", TODAY, VERDICT_FAIL,
     "the profile knows another"},
    {"DDP-7.1-04", "responder", "check", VERDICT_FAIL, "step 1", "so: " NO_BUFFER, TODAY, VERDICT_FAIL,
     "the profile knows another"},
    {"DDP-7.1-04", "responder", "check", VERDICT_FAIL, "step 1", NULL, TODAY, VERDICT_FAIL,
     "the profile knows another"},
    {"DDP-7.1-04", "responder", "check", VERDICT_FAIL, "step 11", NO_BUFFER, TODAY, VERDICT_FAIL,
     "the profile knows another"},
    {"DDP-7.1-04", "responder", "check", VERDICT_FAIL, NO_BUFFER, "step 1", TODAY, VERDICT_FAIL,
     "the profile knows another"},
    {"DDP-7.1-04", "responder", "check", VERDICT_FAIL, NULL, NO_BUFFER, TODAY, VERDICT_FAIL,
     "the profile knows another"},
    /* other results of the requirement, and other requirements */
    {"DDP-7.1-04", "initiator", "check", VERDICT_FAIL, "step 1", NO_BUFFER, TODAY, VERDICT_FAIL, NULL},
    {"DDP-7.1-04", NULL, "check", VERDICT_FAIL, "step 1", NO_BUFFER, TODAY, VERDICT_FAIL, NULL},
    {"DDP-7.1-04", "responder", "rule", VERDICT_FAIL, "step 1", NO_BUFFER, TODAY, VERDICT_FAIL, NULL},
    {"DDP-7.1-05", "responder", "check", VERDICT_FAIL, "step 1", NO_BUFFER, TODAY, VERDICT_FAIL, NULL},
    /* other verdicts */
    {"DDP-7.1-04", "responder", "check", VERDICT_PASS, NULL, NULL, TODAY, VERDICT_FAIL,
     "unexpected pass: the profile lists a known deviation (8: too long)"},
    {"DDP-7.1-04", "initiator", "check", VERDICT_PASS, NULL, NULL, TODAY, VERDICT_PASS, NULL},
    {"DDP-7.1-04", "responder", "check", VERDICT_WARN, "step 1", NO_BUFFER, TODAY, VERDICT_FAIL,
     "step 1; the profile knows another outcome (8: too long)"},
    {"DDP-7.1-04", "responder", "check", VERDICT_INCONCLUSIVE, "step 1", NO_BUFFER, TODAY, VERDICT_INCONCLUSIVE, NULL},
    {"DDP-7.1-04", "responder", "check", VERDICT_SKIP, "step 1", NULL, TODAY, VERDICT_SKIP, NULL},
    /* placeholders, and signs that are no pattern */
    {"EMPA-9.1-06", "initiator", "rule", VERDICT_FAIL, "x", "4 of them (a.b)", TODAY, VERDICT_KNOWN, NULL},
    {"EMPA-9.1-06", NULL, "rule", VERDICT_FAIL, "y", "20 of them (a.b)", TODAY, VERDICT_KNOWN, NULL},
    {"EMPA-9.1-06", "initiator", "rule", VERDICT_FAIL, "x", "4 of them (axb)", TODAY, VERDICT_FAIL,
     "the profile knows another"},
    {"EMPA-9.1-06", "initiator", "rule", VERDICT_FAIL, "x", " of them (a.b)", TODAY, VERDICT_FAIL,
     "the profile knows another"},
    {"EMPA-9.1-06", "initiator", "rule", VERDICT_FAIL, "x", "all of them (a.b)", TODAY, VERDICT_FAIL,
     "the profile knows another"},
    {"MPA-6-06", "initiator", "check", VERDICT_FAIL, "x", "CRC 0x653bf3f3", TODAY, VERDICT_KNOWN, NULL},
    {"MPA-6-06", "initiator", "check", VERDICT_FAIL, "x", "CRC 0x653bf3f3!", TODAY, VERDICT_FAIL,
     "the profile knows another"},
    /* alternatives, one of which is over earlier; a race */
    {"MPA-6-06", "initiator", "check", VERDICT_FAIL, "x", "RST", TODAY, VERDICT_KNOWN, NULL},
    {"MPA-6-06", "initiator", "check", VERDICT_FAIL, "x", "RST", "2027-01-01", VERDICT_FAIL, "2026-12-31 is over"},
    {"MPA-6-06", "initiator", "check", VERDICT_FAIL, "x", "CRC 0x1", "2027-01-01", VERDICT_KNOWN, NULL},
    {"MPA-6-06", "initiator", "check", VERDICT_PASS, NULL, NULL, TODAY, VERDICT_PASS, NULL},
    /* a WARN is known by its outcome, too; a new one is as new as a failure */
    {"DDP-3-09", "responder", "check", VERDICT_WARN, "x", "8, the payload alone", TODAY, VERDICT_WARN, NULL},
    {"DDP-3-09", "responder", "check", VERDICT_WARN, "x", "8, the payload", TODAY, VERDICT_FAIL,
     "x; the profile knows another outcome (DDP-3-09): <number>, the payload alone"},
    {"DDP-3-09", "responder", "check", VERDICT_FAIL, "x", "8, the payload alone", TODAY, VERDICT_FAIL,
     "the profile knows another"},
    {"DDP-3-09", "responder", "check", VERDICT_WARN, "x", "8, the payload alone", "2027-01-01", VERDICT_FAIL,
     "2026-12-31 is over"},
    {"DDP-3-09", "responder", "check", VERDICT_PASS, NULL, NULL, TODAY, VERDICT_FAIL, "unexpected pass"},
    {"DDP-3-08", "responder", "check", VERDICT_WARN, "x", "FIN", TODAY, VERDICT_FAIL,
     "x; a WARN that the profile does not know"},
    {"DDP-3-08", "responder", "check", VERDICT_WARN, NULL, "FIN", TODAY, VERDICT_FAIL,
     "a WARN that the profile does not know"},
};

START_TEST(known_deviation_excuses_its_outcome_alone)
{
    struct result result = {.id = judgements[_i].id,
                            .role = judgements[_i].role,
                            .by = judgements[_i].by,
                            .verdict = judgements[_i].verdict,
                            .message = judgements[_i].message,
                            .actual = judgements[_i].actual};
    const struct result before = result;
    char text[DEVIATION_TEXT_OCTETS];
    bool changed, excused;

    ck_assert_msg(read_list(KNOWN) == 0, "%s", error.text);
    excused = deviations_excuse(&list, &result, judgements[_i].today);
    ck_assert_int_eq(excused, judgements[_i].judged == VERDICT_KNOWN);
    changed = deviations_judge(&list, &result, judgements[_i].today, text);
    ck_assert_int_eq(result.verdict, judgements[_i].judged);
    ck_assert_int_eq(changed,
                     result.verdict != before.verdict || result.finding != NULL || judgements[_i].part != NULL);
    if (judgements[_i].part == NULL)
        ck_assert_ptr_eq(result.message, before.message);
    else
        ck_assert_msg(strstr(result.message, judgements[_i].part) != NULL, "'%s' lacks '%s'", result.message,
                      judgements[_i].part);
    ck_assert_int_eq(result.finding != NULL, result.verdict == VERDICT_KNOWN || result.verdict == VERDICT_WARN);
    ck_assert_int_eq(result.review_by != NULL, result.verdict == VERDICT_KNOWN || result.verdict == VERDICT_WARN);
}
END_TEST

START_TEST(profile_without_known_deviations_leaves_a_warn)
{
    struct result result = {.id = "DDP-3-09", .by = "check", .verdict = VERDICT_WARN, .actual = "FIN"};
    char text[DEVIATION_TEXT_OCTETS];

    ck_assert_msg(read_list("[]") == 0, "%s", error.text);
    ck_assert(!deviations_judge(&list, &result, TODAY, text));
    ck_assert_int_eq(result.verdict, VERDICT_WARN);
}
END_TEST

/* An outcome that is not to be published is named by its digest. */
START_TEST(deviation_may_name_an_outcome_by_digest)
{
    struct result result = {.id = "DDP-7.1-04",
                            .role = "responder",
                            .by = "check",
                            .verdict = VERDICT_FAIL,
                            .message = "step 1",
                            .actual = "what nobody is to know"};
    char digest[OUTCOME_OCTETS], entry[300], text[DEVIATION_TEXT_OCTETS];

    (void)snprintf(entry, sizeof(entry), ENTRY("\"outcome\": \"%s\", \"finding\": \"held back\""),
                   outcome_digest(&result, digest));
    ck_assert_msg(read_list(entry) == 0, "%s", error.text);
    ck_assert(deviations_judge(&list, &result, TODAY, text));
    ck_assert_int_eq(result.verdict, VERDICT_KNOWN);
    ck_assert_str_eq(result.finding, "held back");
    result.verdict = VERDICT_FAIL;
    result.message = "step 2";
    ck_assert(deviations_judge(&list, &result, TODAY, text));
    ck_assert_int_eq(result.verdict, VERDICT_FAIL);
    ck_assert_str_eq(result.message, "step 2; the profile knows another outcome (held back)");
    result.message = "step 1";
    result.actual = "what nobody is to kno";
    ck_assert(deviations_judge(&list, &result, TODAY, text));
    ck_assert_int_eq(result.verdict, VERDICT_FAIL);
    /* The texts are distinguished, not only their letters. */
    result.message = "step 1w";
    result.actual = "hat nobody is to know";
    ck_assert(deviations_judge(&list, &result, TODAY, text));
    ck_assert_int_eq(result.verdict, VERDICT_FAIL);
}
END_TEST

/* What no run met: an alternative that was, and a race, are no reason to say so. */
START_TEST(deviation_that_no_run_met_is_reported)
{
    struct result result = {.id = "DDP-7.1-04", .by = "check", .verdict = VERDICT_FAIL, .actual = "b"};
    char text[DEVIATION_TEXT_OCTETS];

    ck_assert_msg(read_list("[ { \"requirement\": \"DDP-7.1-04\", \"actual\": \"a\", \"review_by\": \"2027-06-30\" }, "
                            "{ \"requirement\": \"DDP-7.1-04\", \"actual\": \"b\", \"review_by\": \"2027-06-30\" }, "
                            "{ \"requirement\": \"MPA-6-06\", \"actual\": \"a\", \"review_by\": \"2027-06-30\" }, "
                            "{ \"requirement\": \"MPA-7.1-06\", \"actual\": \"a\", \"review_by\": \"2027-06-30\", "
                            "\"sometimes\": true } ]") == 0,
                  "%s", error.text);
    ck_assert(deviation_unmet(&list, 0)); /* one of the two speaks */
    ck_assert(!deviation_unmet(&list, 1));
    ck_assert(deviation_unmet(&list, 2));
    ck_assert(!deviation_unmet(&list, 3));
    ck_assert(deviations_judge(&list, &result, TODAY, text));
    ck_assert(!deviation_unmet(&list, 0) && !deviation_unmet(&list, 1));
    ck_assert(deviation_unmet(&list, 2));
}
END_TEST

Suite *deviation_suite(void)
{
    Suite *suite = suite_create("deviation");
    TCase *tests = tcase_create("deviation");

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, bad_entry_of_known_deviations_is_refused, 0,
                        (int)(sizeof(entries) / sizeof(entries[0])));
    tcase_add_loop_test(tests, known_deviation_excuses_its_outcome_alone, 0,
                        (int)(sizeof(judgements) / sizeof(judgements[0])));
    tcase_add_test(tests, profile_without_known_deviations_leaves_a_warn);
    tcase_add_test(tests, deviation_may_name_an_outcome_by_digest);
    tcase_add_test(tests, deviation_that_no_run_met_is_reported);
    suite_add_tcase(suite, tests);
    return suite;
}
