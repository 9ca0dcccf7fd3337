/* SPDX-License-Identifier: BSD-2-Clause */
/* Sessions against the simulated stack: what is predicted, and what is found. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/explore/explore.h"
#include "conformance/engine/explore/explore_reduce.h"
#include "conformance/engine/explore/session_prediction.h"
#include "tests/unit/suites.h"

Suite *explore_suite(void);

static struct catalogue *catalogue;
static struct pics *pics;
static struct defect_list *variants;
static struct session_device device;
static struct explore_config config;

static void setup(void)
{
    struct iwarp_sentence error = {""};

    ck_assert_msg(catalogue_load(&catalogue, &error) == 0 && pics_load(&pics, &error) == 0, "%s", error.text);
    variants = variant_list_embedded(&error);
    ck_assert_msg(variants != NULL, "%s", error.text);
    memset(&device, 0, sizeof(device));
    config = (struct explore_config){.world = {.catalogue = catalogue, .pics = pics, .seed = 1},
                                     .variants = variants,
                                     .device = &device,
                                     .seed = 1,
                                     .sessions = 100,
                                     .wrong = 50,
                                     .jobs = 1};
}

static void teardown(void)
{
    run_services_free(&device.services);
    defect_set_free(device.defects);
    defect_list_free(variants);
    pics_free(pics);
    catalogue_free(catalogue);
}

static void give_defect(const char *id)
{
    struct iwarp_sentence error = {""};
    const struct defect_names names = {.defects = &id, .defect_count = 1, .layer = CHOICE_TCP};

    ck_assert_msg(defect_set_named(&names, &device.defects, &error) == 0, "%s", error.text);
}

static void explore(struct explore_summary *summary)
{
    struct iwarp_sentence error = {""};

    ck_assert_msg(explore_run(&config, summary, &error) == 0, "%s", error.text);
}

START_TEST(the_correct_stack_draws_nothing)
{
    struct explore_summary summary;

    config.sessions = 300;
    explore(&summary);
    ck_assert_msg(summary.group_count == 0, "session %u: %s", (unsigned)summary.groups[0].number,
                  summary.groups[0].message);
    ck_assert_msg(summary.undecided == 0, "session %u: %s", (unsigned)summary.undecided_number, summary.reason);
    ck_assert_uint_eq(summary.sessions, 300);
    ck_assert(summary.wrong > 100 && summary.wrong < 200);
    explore_summary_free(&summary);
}
END_TEST

static void over_sctp(bool draft)
{
    struct iwarp_sentence error = {""};

    config.world.sctp = draft ? IWARP_SCTP_DRAFT02 : IWARP_SCTP_RFC5043;
    ck_assert_msg(pics_set_sctp(pics, !draft, draft, true, &error) == 0, "%s", error.text);
}

/* Loop: RFC 5043, the draft. */
START_TEST(over_sctp_the_correct_stack_draws_nothing)
{
    struct explore_summary summary;

    over_sctp(_i == 1);
    explore(&summary);
    ck_assert_msg(summary.group_count == 0, "session %u: %s", (unsigned)summary.groups[0].number,
                  summary.groups[0].message);
    ck_assert_msg(summary.undecided == 0, "session %u: %s", (unsigned)summary.undecided_number, summary.reason);
    ck_assert_uint_eq(summary.sessions, 100);
    explore_summary_free(&summary);
}
END_TEST

static const char *const over_rfc5043[] = {"rdmap-empty-send-undelivered", "ddp-place-before-check",
                                           "sctp-private-spreads"};

START_TEST(over_sctp_a_defect_is_found)
{
    struct explore_summary summary;

    over_sctp(false);
    give_defect(over_rfc5043[_i]);
    config.first_only = true;
    config.seed = 6;
    config.sessions = 1000;
    explore(&summary);
    ck_assert_uint_eq(summary.group_count, 1);
    explore_summary_free(&summary);
}
END_TEST

/* The same with one process and with two. */
START_TEST(failures_of_one_cause_are_one_group)
{
    struct explore_summary alone, shared;

    give_defect("rdmap-empty-send-undelivered");
    config.sessions = 200;
    explore(&alone);
    config.jobs = 2;
    explore(&shared);
    ck_assert_uint_gt(alone.failed, alone.group_count);
    ck_assert_uint_gt(alone.group_count, 0);
    ck_assert_uint_eq(alone.failed, shared.failed);
    ck_assert_uint_eq(alone.group_count, shared.group_count);
    for (size_t i = 0; i < alone.group_count; i++) {
        ck_assert_str_eq(alone.groups[i].cause, shared.groups[i].cause);
        ck_assert_uint_eq(alone.groups[i].number, shared.groups[i].number);
        ck_assert_uint_eq(alone.groups[i].count, shared.groups[i].count);
    }
    explore_summary_free(&alone);
    explore_summary_free(&shared);
}
END_TEST

START_TEST(a_rule_names_its_group)
{
    struct explore_summary summary;

    give_defect("ddp-msn-shared");
    config.first_only = true;
    explore(&summary);
    ck_assert(summary.stopped);
    ck_assert_ptr_nonnull(summary.groups[0].id);
    /* -11 or -12: as the session has it, the first MSN is wrong or one of those after it */
    ck_assert(strcmp(summary.groups[0].id, "DDP-4.3-11") == 0 || strcmp(summary.groups[0].id, "DDP-4.3-12") == 0);
    explore_summary_free(&summary);
}
END_TEST

/* Loop: what was not judged, or judged too widely: a start-up frame that is no good exchange; a CRC that is checked though it is not
   in use; what a mask does; a Reply that rejects; an STag that may not be invalidated; more Reads than IRD; a Terminate
   without a receive; flags beside A = 0. */
static const char *const unscripted[] = {
    "mpa-request-key-wrong",
    "mpa-crc-checked-when-off",
    "atom-returns-swap",
    "mpa-reject-ignored",
    "rdmap-invalidate-wrong-code",
    "rdmap-ird-ignored",
    "rdmap-terminate-needs-receive",
    "set-up-rtr-by-flags",
    "ddp-dereg-missing",
    "ddp-hidden-taken",
    "streams-domain",
    "rdmap-sink-unchecked",
    "ddp-post-while-closing",
    "left-told-depths",
    "mpa-end-reset-untold",
};

START_TEST(a_fault_is_found_without_a_script)
{
    struct explore_summary summary;

    give_defect(unscripted[_i]);
    config.first_only = true;
    config.sessions = 1000;
    config.wrong = 60;
    explore(&summary);
    ck_assert_uint_eq(summary.group_count, 1);
    explore_summary_free(&summary);
}
END_TEST

/* Reactions that a legal variant has, and that its row reports all the same. */
static const char *const excused[] = {"mpa-crc-aborts", "mpa-reject-unanswered"};

START_TEST(an_excused_reaction_is_a_warning)
{
    struct explore_summary summary;

    give_defect(excused[_i]);
    config.sessions = 300; /* so many that some have a CRC that is wrong where it is in use, and a rejection */
    explore(&summary);
    ck_assert_uint_eq(summary.group_count, 0);
    explore_summary_free(&summary);
    config.warns = true;
    explore(&summary);
    ck_assert_uint_gt(summary.group_count, 0);
    ck_assert_str_eq(summary.groups[0].verdict, "WARN");
    explore_summary_free(&summary);
}
END_TEST

/* A Send to a queue that is not there: the entry's own triple, and no memory or delivery changes. */
START_TEST(what_is_refused_allows_the_reactions_of_the_table)
{
    static struct session session = {.seed = 1};
    struct prediction_seen seen = {.reaction = "terminate 1201"};
    struct defect_set *asking;
    struct iwarp_sentence error;
    struct session_step *step = session_add_step(&session, "send");

    asking = defect_set_asking(&error);
    ck_assert_ptr_nonnull(asking);
    step->wrong.present = true;
    seen.asking = asking;
    session_predict(&session, &seen, variants);
    ck_assert_str_eq(session.reactions[0], "terminate 1201");
    ck_assert_str_eq(session.reactions[1], "any"); /* nothing was refused, and yet the stream did not go on */
    ck_assert(!session.untouched);
    seen.reaction = "goes on";
    session_predict(&session, &seen, variants);
    ck_assert_uint_eq(session.reaction_count, 1);
    seen.reaction = NULL;
    session_predict(&session, &seen, variants);
    ck_assert_uint_eq(session.reaction_count, 0);
    defect_set_free(asking);
}
END_TEST

static bool allows(const struct session *session, const char *reaction)
{
    for (size_t i = 0; i < session->reaction_count; i++)
        if (strcmp(session->reactions[i], reaction) == 0)
            return true;
    return false;
}

/* By session_run(), as explore_make() has it. */
static void predict(void *user, struct session *session, const struct result *result)
{
    struct prediction_seen seen = {.reaction = result->reading, .asking = user};

    if (result->verdict == VERDICT_AMBIGUOUS && strcmp(result->by, "rule") != 0)
        session_predict(session, &seen, variants);
}

START_TEST(the_octets_decide_what_is_allowed)
{
    static struct session session = {.seed = 1};
    struct session_step *step = session_add_step(&session, "write");
    struct session_device oracle = {0};
    struct iwarp_sentence error = {""};

    oracle.defects = defect_set_asking(&error);
    session.region_count = 1;
    session_add(&session.regions[0].members, "octets", 64);
    session.regions[0].access = "{ \"read\" }";
    session_add(&step->members, "region", 1);
    session_add(&step->members, "at", 0);
    session_add(&step->members, "octets", 65);
    session_add(&step->wrong.what, "frame", 1);
    step->wrong.present = true;
    ck_assert_msg(session_run(&config.world, &oracle, &session, 1, predict, NULL, oracle.defects, &error) == 0, "%s",
                  error.text);
    ck_assert(allows(&session, "terminate 1100")); /* DDP-7.1-11, with what the variants have for it */
    ck_assert(allows(&session, "terminate 0102"));
    ck_assert(allows(&session, "terminate 1101")); /* and DDP-7.1-13: too long for the region */
    ck_assert(!allows(&session, "goes on"));
    ck_assert(!allows(&session, "terminate 1201"));
    ck_assert(session.untouched);
    run_services_free(&oracle.services);
    defect_set_free(oracle.defects);
}
END_TEST

/* Plays the session, whose last step is wrong, against the correct stack: what it allows. */
static void predict_alone(struct session *session)
{
    struct session_device oracle = {0};
    struct iwarp_sentence error = {""};

    session->reaction_count = 0;
    oracle.defects = defect_set_asking(&error);
    ck_assert_msg(session_run(&config.world, &oracle, session, 1, predict, NULL, oracle.defects, &error) == 0, "%s",
                  error.text);
    run_services_free(&oracle.services);
    defect_set_free(oracle.defects);
}

/* Loop: TCP, RFC 5043, the draft. The association by which the round trip is measured is none of the session's. */
START_TEST(no_layer_allows_a_bare_end_in_place_of_a_terminate)
{
    struct session session = {.seed = 1};
    struct session_step *step = session_add_step(&session, "write");

    if (_i != 0)
        over_sctp(_i == 2);
    session.sctp = config.world.sctp;
    session.region_count = 1;
    session_add(&session.regions[0].members, "octets", 64);
    session_add(&step->members, "region", 1);
    session_add(&step->members, "at", 0);
    session_add(&step->members, "octets", 65);
    session_add(&step->wrong.what, "frame", 1);
    step->wrong.present = true;
    predict_alone(&session);
    ck_assert(allows(&session, "terminate 1101")); /* DDP-7.1-13 */
    ck_assert(!allows(&session, "closes") && !allows(&session, "silent"));
    ck_assert(session.untouched);
}
END_TEST

/* What is wrong with a chunk is its place: the message may be whole, and delivered, before that is found out. */
START_TEST(a_chunk_in_a_wrong_place_leaves_deliveries_open)
{
    struct session session = {.seed = 1};
    struct session_step *step = session_add_step(&session, "send");

    over_sctp(false);
    session.sctp = config.world.sctp;
    session_add(&step->members, "octets", 27);
    session_add(&step->members, "piece", 2);
    session_add_flag(&step->members, "backwards", true);
    session_add(&step->wrong.what, "frame", 28);
    session_add(&step->wrong.frame, "ssn", -2);
    step->wrong.present = true;
    predict_alone(&session);
    ck_assert_uint_ne(session.reaction_count, 0);
    ck_assert(!session.untouched);
}
END_TEST

/* An illegal control message ends the session, perhaps after a Terminate of RDMAP (RFC 5043 6.1; SCTP5043-6.1-04). */
START_TEST(an_illegal_control_message_may_draw_a_terminate_of_rdmap)
{
    struct session session = {.seed = 1};
    struct session_step *step;

    over_sctp(false);
    session.sctp = config.world.sctp;
    session_add(&session_add_step(&session, "send")->members, "octets", 8);
    step = session_add_step(&session, "control");
    session_add(&step->members, "code", 1);
    session_add(&step->wrong.what, "frame", 1);
    step->wrong.present = true;
    predict_alone(&session);
    ck_assert(allows(&session, "closes") && allows(&session, "terminate 0"));
}
END_TEST

/*
 * More Reads than IRD: no buffer is available for one of them, 0x1202 (RFC 5041 7.1), or what a variant has for QN 1 alone
 * (RDMAP-6.1-09). As many as IRD are served.
 */
START_TEST(reads_beyond_ird_may_be_refused)
{
    struct session session = {.seed = 1};
    struct session_step *step;

    session_add(&session.device, "ird", 2);
    step = session_add_step(&session, "reads");
    session_add(&step->members, "times", 3);
    session_add(&step->members, "octets", 1);
    session_add(&step->wrong.what, "frame", 1);
    step->wrong.present = true;
    session.beyond = true;
    predict_alone(&session);
    ck_assert(allows(&session, "terminate 1202") && allows(&session, "terminate 1203"));
    ck_assert(allows(&session, "terminate 0207") && allows(&session, "terminate 02ff"));
    ck_assert(allows(&session, "goes on"));
    session_drop(&step->members, "times");
    session_add(&step->members, "times", 2);
    session.beyond = false;
    predict_alone(&session);
    ck_assert(!allows(&session, "terminate 1202") && allows(&session, "goes on"));
}
END_TEST

/*
 * A side may use CRCs that nobody has asked for (RFC 5044 7.1.1), and refuse by them a pad that is not due; the stack passes
 * over it where CRCs are off.
 */
START_TEST(a_wrong_pad_may_be_refused_where_crcs_are_off)
{
    struct session session = {.seed = 1};
    struct session_step *step = session_add_step(&session, "send");

    session_add_flag(&session.own, "C", false);
    session_add_flag(&session.device, "crc", false);
    session_add(&step->members, "octets", 8);
    session_add(&step->wrong.what, "frame", 1);
    session_add(&step->wrong.frame, "pad_octets", 3);
    step->wrong.present = true;
    predict_alone(&session);
    ck_assert(allows(&session, "crc terminate 2002"));
    ck_assert(allows(&session, "markers terminate 2003"));
    ck_assert(!allows(&session, "terminate 2002"));
}
END_TEST

/* An empty Send is what is left of the sessions that the defect fails. */
START_TEST(a_group_is_reduced)
{
    struct explore_summary summary;
    struct iwarp_sentence error = {""};
    const struct session *reduced;

    give_defect("rdmap-empty-send-undelivered");
    explore(&summary);
    ck_assert_uint_eq(summary.group_count, 1);
    ck_assert_msg(explore_reduce(&config, &summary, &error) == 0, "%s", error.text);
    reduced = summary.groups[0].reduced;
    ck_assert_ptr_nonnull(reduced);
    ck_assert_uint_eq(reduced->step_count, 1);
    ck_assert_str_eq(reduced->steps[0].name, "send");
    ck_assert_int_eq(session_number(&reduced->steps[0].members, "octets", -1), 0);
    ck_assert_uint_eq(reduced->region_count, 0);
    ck_assert_uint_eq(reduced->number, summary.groups[0].number);
    ck_assert_int_eq(explore_write_checks(&summary, "/dev/null", &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "/dev/null/checks"));
    explore_summary_free(&summary);
}
END_TEST

START_TEST(a_cause_has_no_numbers)
{
    struct result one = {.verdict = VERDICT_FAIL, .by = "check", .message = "the device's region 3 of 0x1f octets"};
    struct result two = {.verdict = VERDICT_FAIL, .by = "check", .message = "the device's region 12 of 0x7 octets"};
    struct result rule = {.id = "DDP-4.3-12", .verdict = VERDICT_FAIL, .by = "rule", .message = "any"};
    char *a = explore_cause(&one), *b = explore_cause(&two), *c = explore_cause(&rule);

    ck_assert_str_eq(a, b);
    ck_assert_str_eq(c, "rule DDP-4.3-12");
    ck_assert(explore_fails(&config, &one));
    one.verdict = VERDICT_WARN;
    ck_assert(!explore_fails(&config, &one));
    config.warns = true;
    ck_assert(explore_fails(&config, &one));
    free(a);
    free(b);
    free(c);
}
END_TEST

Suite *explore_suite(void)
{
    Suite *suite = suite_create("explore");
    TCase *tcase = tcase_create("sessions");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, the_correct_stack_draws_nothing);
    tcase_add_loop_test(tcase, over_sctp_the_correct_stack_draws_nothing, 0, 2);
    tcase_add_loop_test(tcase, over_sctp_a_defect_is_found, 0, sizeof(over_rfc5043) / sizeof(over_rfc5043[0]));
    tcase_add_test(tcase, failures_of_one_cause_are_one_group);
    tcase_add_test(tcase, a_rule_names_its_group);
    tcase_add_loop_test(tcase, a_fault_is_found_without_a_script, 0, sizeof(unscripted) / sizeof(unscripted[0]));
    tcase_add_loop_test(tcase, an_excused_reaction_is_a_warning, 0, sizeof(excused) / sizeof(excused[0]));
    tcase_add_test(tcase, what_is_refused_allows_the_reactions_of_the_table);
    tcase_add_test(tcase, the_octets_decide_what_is_allowed);
    tcase_add_loop_test(tcase, no_layer_allows_a_bare_end_in_place_of_a_terminate, 0, 3);
    tcase_add_test(tcase, a_chunk_in_a_wrong_place_leaves_deliveries_open);
    tcase_add_test(tcase, an_illegal_control_message_may_draw_a_terminate_of_rdmap);
    tcase_add_test(tcase, reads_beyond_ird_may_be_refused);
    tcase_add_test(tcase, a_wrong_pad_may_be_refused_where_crcs_are_off);
    tcase_add_test(tcase, a_group_is_reduced);
    tcase_add_test(tcase, a_cause_has_no_numbers);
    suite_add_tcase(suite, tcase);
    return suite;
}
