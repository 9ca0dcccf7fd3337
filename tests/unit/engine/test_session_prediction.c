/* SPDX-License-Identifier: BSD-2-Clause */
/* What the texts allow to what is wrong in a session: more than the table of validations has. */
#include <check.h>
#include <string.h>

#include "conformance/engine/explore/session_prediction.h"
#include "reference-stack/defects/defect_internal.h"
#include "tests/unit/suites.h"

Suite *session_prediction_suite(void);

static bool is_allowed(const struct session *session, const char *reaction)
{
    for (size_t i = 0; i < session->reaction_count; i++)
        if (strcmp(session->reactions[i], reaction) == 0)
            return true;
    return false;
}

/* What the stack takes, and a legal device need not: Immediate Data in two segments (ATOM-6.3-09), a DDP-SSN once more. */
START_TEST(what_a_variant_judges_beyond_the_table_allows_its_reactions)
{
    static const struct {
        enum defect_behaviour behaviour;
        const char *reaction;
    } cases[] = {
        {DEFECT_IMMEDIATE_SPLIT_REFUSED, "terminate 1205"},
        {DEFECT_REPLY_FLAG_WANTED, "closes"},
        {DEFECT_SCTP_DUPLICATE_ENDS, "closes"},
    };
    static struct session session = {.seed = 1};
    struct iwarp_sentence error;
    struct defect_list *variants = variant_list_embedded(&error);
    struct defect_set *asking = defect_set_asking(&error);
    struct prediction_seen seen = {.reaction = "goes on", .asking = asking};

    ck_assert_ptr_nonnull(asking);
    ck_assert_ptr_nonnull(variants);
    session_predict(&session, &seen, variants);
    ck_assert(!is_allowed(&session, cases[_i].reaction));
    defect_note_behaviour(asking, cases[_i].behaviour);
    session_predict(&session, &seen, variants);
    ck_assert(is_allowed(&session, cases[_i].reaction));
    ck_assert(is_allowed(&session, "goes on"));
    defect_set_free(asking);
    defect_list_free(variants);
}
END_TEST

/* A start-up frame that never comes whole, where the device has a limit: what else becomes of it is a WARN (MPA-7.1.2-26). */
START_TEST(a_frame_that_stalls_ends_the_start_up)
{
    static struct session session = {.seed = 1};
    struct iwarp_sentence error;
    struct defect_list *variants = variant_list_embedded(&error);
    struct defect_set *asking = defect_set_asking(&error);
    struct prediction_seen seen = {.reaction = "closes", .asking = asking};

    session.wrong_start.present = true;
    session_add(&session.wrong_start.what, "keep", 7);
    session_predict(&session, &seen, variants);
    ck_assert(is_allowed(&session, "any"));
    session_add(&session.device, "startup_ms", 1000);
    session_predict(&session, &seen, variants);
    ck_assert(is_allowed(&session, "closes") && is_allowed(&session, "warn any") && !is_allowed(&session, "any"));
    defect_set_free(asking);
    defect_list_free(variants);
}
END_TEST

/* One that a FIN cuts short ends the connection, and nothing else (MPA-7.1.1-28). */
START_TEST(a_frame_that_a_fin_cuts_short_ends_the_connection)
{
    static struct session session = {.seed = 1};
    struct iwarp_sentence error;
    struct defect_list *variants = variant_list_embedded(&error);
    struct defect_set *asking = defect_set_asking(&error);
    struct prediction_seen seen = {.reaction = "closes", .asking = asking};

    session.wrong_start.present = true;
    session_add(&session.wrong_start.what, "less", 7);
    session_add_flag(&session.wrong_start.what, "fin", true);
    session_predict(&session, &seen, variants);
    ck_assert_uint_eq(session.reaction_count, 1);
    ck_assert(is_allowed(&session, "closes"));
    defect_set_free(asking);
    defect_list_free(variants);
}
END_TEST

/*
 * terminate-msn-closes is about the Terminate queue alone (RDMAP-5.4-08), version-0-taken about version 0 (RDMAP-4.1-18): what else is wrong with an
 * MSN or a version gets no more than its Terminate.
 */
START_TEST(a_variant_allows_its_reaction_within_its_range)
{
    static const struct {
        const char *entry, *reaction;
        uint32_t qn;
        unsigned version;
        bool allowed;
    } cases[] = {
        {"ddp-msn", "closes", DDP_QN_SEND, 1, false},
        {"ddp-msn", "closes", DDP_QN_TERMINATE, 1, true},
        {"rdmap-version", "goes on", DDP_QN_SEND, 3, false},
        {"rdmap-version", "goes on", DDP_QN_SEND, 0, true},
    };
    static struct session session = {.seed = 1};
    static struct iwarp_stream stream;
    static const uint8_t header[DDP_UNTAGGED_OCTETS];
    const struct ddp_segment segment = {.header = header, .qn = cases[_i].qn, .version = 1};
    const struct rdmap_message message = {.version = cases[_i].version};
    const struct validation_subject subject = {.stream = &stream, .segment = &segment, .message = &message};
    struct iwarp_sentence error;
    struct defect_list *variants = variant_list_embedded(&error);
    struct defect_set *asking = defect_set_asking(&error);
    struct prediction_seen seen = {.reaction = "terminate 1203", .asking = asking};
    size_t entry = 0;

    while (strcmp(validation_table[entry].name, cases[_i].entry) != 0)
        ck_assert_uint_lt(++entry, validation_count);
    defect_note_refused(asking, &subject, entry);
    session_predict(&session, &seen, variants);
    ck_assert(is_allowed(&session, "terminate 1203"));
    ck_assert(is_allowed(&session, cases[_i].reaction) == cases[_i].allowed);
    defect_set_free(asking);
    defect_list_free(variants);
}
END_TEST

Suite *session_prediction_suite(void)
{
    Suite *suite = suite_create("session_prediction");
    TCase *cases = tcase_create("prediction");

    tcase_add_loop_test(cases, what_a_variant_judges_beyond_the_table_allows_its_reactions, 0, 3);
    tcase_add_test(cases, a_frame_that_stalls_ends_the_start_up);
    tcase_add_test(cases, a_frame_that_a_fin_cuts_short_ends_the_connection);
    tcase_add_loop_test(cases, a_variant_allows_its_reaction_within_its_range, 0, 4);
    suite_add_tcase(suite, cases);
    return suite;
}
