/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rule table against the catalogue and the cases; the engine: whom it judges, what it keeps, what it leaves alone
 * when the capture does not show everything.
 */
#include <stdlib.h>
#include <string.h>

#include "conformance/requirements/catalogue.h"
#include "tests/unit/rule_case.h"

/* ---- the table --------------------------------------------------------------------------------------------------- */

START_TEST(every_rule_has_a_case)
{
    for (size_t i = 0; i < rule_count(); i++) {
        unsigned cases = 0;

        for (const struct rule_case *const *table = rule_case_tables; *table != NULL; table++)
            for (const struct rule_case *at = *table; at->id != NULL; at++)
                cases += strcmp(at->id, rule_at(i)->id) == 0;
        ck_assert_msg(cases >= 1, "%s has no case", rule_at(i)->id);
    }
}
END_TEST

START_TEST(every_rule_is_in_the_catalogue)
{
    struct catalogue *catalogue;

    ck_assert_int_eq(catalogue_load(&catalogue, NULL), 0);
    for (size_t i = 0; i < rule_count(); i++) {
        const struct rule *rule = rule_at(i);
        const struct requirement *requirement = catalogue_find(catalogue, rule->id);

        ck_assert_msg(requirement != NULL, "%s is not in the catalogue", rule->id);
        ck_assert_uint_eq(rule->index, i);
        ck_assert_ptr_eq(rule_find(rule->id), rule); /* no id twice */
        ck_assert_msg(!requirement_is_should(requirement) || rule->worst <= RULE_WARN, "%s is a SHOULD", rule->id);
        ck_assert_msg(rule->worst != RULE_AMBIGUOUS || requirement_is_ambiguous(requirement), "%s has one reading",
                      rule->id);
        ck_assert_msg(rule->sender == RULE_ANY ||
                          requirement_binds(requirement, rule->sender == RULE_INITIATOR ? "initiator" : "responder"),
                      "%s binds someone else", rule->id);
    }
    catalogue_free(catalogue);
}
END_TEST

/* ---- silence ----------------------------------------------------------------------------------------------------- */

static void judge(build_function *build, void (*shape)(struct conversation *), struct verdicts *verdicts)
{
    struct conversation *conversation = conversation_create(NULL);

    build(conversation);
    shape(conversation);
    rule_case_judge(conversation, verdicts);
    conversation_free(conversation);
}

static void only_responder(struct conversation *c)
{
    conversation_one_way(c, 0);
}

static void only_initiator(struct conversation *c)
{
    conversation_one_way(c, 1);
}

static build_function *const healthy[] = {plain_conversation, marked_conversation, enhanced_conversation};

START_TEST(one_direction_alone)
{
    struct verdicts verdicts;

    judge(healthy[_i], only_responder, &verdicts);
    rule_case_quiet(&verdicts, NULL, "responder alone");
    judge(healthy[_i], only_initiator, &verdicts);
    rule_case_quiet(&verdicts, NULL, "initiator alone");
}
END_TEST

START_TEST(late_capture_draws_no_finding)
{
    for (size_t frames = 1; frames < 12; frames++) {
        struct conversation *conversation = conversation_create(NULL);
        struct verdicts verdicts;

        healthy[_i](conversation);
        conversation_drop_first(conversation, frames);
        rule_case_judge(conversation, &verdicts);
        conversation_free(conversation);
        rule_case_quiet(&verdicts, NULL, "late");
    }
}
END_TEST

/* Each frame of each conversation left out, once. */
START_TEST(any_frame_lost)
{
    for (size_t lost = 0; lost < 40; lost++) {
        struct conversation *conversation = conversation_create(NULL);
        struct verdicts verdicts;
        bool there;

        healthy[_i](conversation);
        there = conversation_drop(conversation, lost);
        if (there)
            rule_case_judge(conversation, &verdicts);
        conversation_free(conversation);
        if (there)
            rule_case_quiet(&verdicts, NULL, "lossy");
    }
}
END_TEST

/*
 * All frames of a side from one on, which nothing that follows shows: the ring says that it lost some, and nobody is blamed
 * for what is missing.
 */
START_TEST(tail_lost_by_the_ring)
{
    for (size_t table = 0; rule_case_tables[table] != NULL; table++)
        for (const struct rule_case *rule_case = rule_case_tables[table]; rule_case->id != NULL; rule_case++)
            for (size_t from = 1; from < 60; from++) {
                struct conversation *conversation = conversation_create(NULL);
                struct verdicts verdicts;
                bool there;

                rule_case->healthy(conversation);
                there = conversation_lose(conversation, (unsigned)_i, from);
                if (there)
                    conversation_judge(conversation, false, &verdicts);
                conversation_free(conversation);
                if (!there)
                    break;
                rule_case_quiet(&verdicts, rule_case->aside, rule_case->id);
            }
}
END_TEST

/*
 * An FPDU whose ULPDU_Length and DDP header were damaged, and then each frame after it left out: the unit that the
 * wrong length makes is never whole, no CRC shows that it is wrong, and no rule may trust its header.
 * Whether the sender computes CRCs rightly is all that may be asked.
 */
START_TEST(damaged_and_lost)
{
    static const char crc_rules[] = "MPA-4.3-01 MPA-4.4-14 MPA-4.4-15 MPA-4.4-16 MPA-4.4-18 MPA-7.1.1-13";
    static const struct {
        unsigned count;
        uint8_t octets[4];
    } damages[] = {{4, {0x06, 0x40, 0x7E, 0x43}}, {2, {0x03, 0x12}}, {4, {0x0F, 0xFF, 0xC2, 0x4F}}};

    for (int unit = 2; unit < 16; unit++) {
        for (size_t lost = 4; lost < 40; lost++) {
            struct conversation_change change = {unit, CHANGE_FRAMED, 0, damages[_i].count, {0}};
            struct conversation *conversation;
            struct verdicts verdicts;
            bool there;

            memcpy(change.octets, damages[_i].octets, sizeof(damages[_i].octets));
            conversation = conversation_create(&change);
            healthy[lost % 3](conversation);
            there = conversation_drop(conversation, lost);
            if (there)
                rule_case_judge(conversation, &verdicts);
            conversation_free(conversation);
            if (there)
                rule_case_quiet(&verdicts, crc_rules, "damaged and lossy");
        }
    }
}
END_TEST

/* Each frame captured twice, and each pair of neighbours of one direction exchanged. */
START_TEST(repeated_and_reordered)
{
    for (size_t at = 0; at < 40; at++) {
        for (unsigned kind = 0; kind < 2; kind++) {
            struct conversation *conversation = conversation_create(NULL);
            struct verdicts verdicts;
            bool there;

            healthy[_i](conversation);
            there = kind == 0 ? conversation_repeat(conversation, at) : conversation_exchange(conversation, at);
            if (there)
                rule_case_judge(conversation, &verdicts);
            conversation_free(conversation);
            if (there)
                rule_case_quiet(&verdicts, NULL, kind == 0 ? "repeated" : "reordered");
        }
    }
}
END_TEST

/* ---- the engine -------------------------------------------------------------------------------------------------- */

static bool only_direction(const struct flow *flow, unsigned direction, void *argument)
{
    (void)flow;
    return direction == *(unsigned *)argument;
}

static unsigned findings;

static void count_finding(const struct rule_finding *finding, void *argument)
{
    (void)argument;
    findings++;
    ck_assert_uint_ne(finding->frame, 0);
    ck_assert(finding->message[0] != '\0' && finding->expected[0] != '\0' && finding->actual[0] != '\0');
}

/* Both sides set a reserved bit; only the one asked for is judged. */
START_TEST(judges_the_configured_side)
{
    const struct conversation_change change = CONTENT(3, 0, 0x45);

    for (unsigned judged = 0; judged < 2; judged++) {
        struct conversation *conversation = conversation_create(&change);
        struct rule_config config = {.judged = only_direction, .finding = count_finding, .argument = &judged};
        struct verdicts verdicts;

        findings = 0;
        plain_conversation(conversation); /* unit 3 is the Responder's */
        conversation_judge_with(conversation, &config, &verdicts);
        conversation_free(conversation);
        ck_assert_uint_eq(findings, judged);
        ck_assert_int_eq(verdicts.verdict[rule_find("DDP-4.1-10")->index], judged == 1 ? RULE_FAIL : RULE_PASS);
    }
}
END_TEST

static bool one_id(const char *id, void *argument)
{
    return strcmp(id, argument) == 0;
}

START_TEST(runs_what_is_selected)
{
    static char id[] = "DDP-4.1-12";
    struct rule_config config = {.selected = one_id, .argument = id};
    struct conversation *conversation = conversation_create(NULL);
    struct verdicts verdicts;

    plain_conversation(conversation);
    conversation_judge_with(conversation, &config, &verdicts);
    conversation_free(conversation);
    for (size_t i = 0; i < rule_count(); i++)
        ck_assert_int_eq(verdicts.verdict[i], strcmp(rule_at(i)->id, id) == 0 ? RULE_PASS : -1);
}
END_TEST

/* Octets changed at random, in the content or in the FPDU: both ways of the engine agree, whatever it says. */
START_TEST(short_way_agrees)
{
    srand(4711);
    for (unsigned round = 0; round < 600; round++) {
        struct conversation_change change = {
            rand() % 12, rand() % 4 == 0 ? CHANGE_FRAMED : CHANGE_CONTENT, (unsigned)rand() % 14, 1, {(uint8_t)rand()}};
        struct conversation *conversation = conversation_create(&change);
        struct verdicts verdicts;

        if (change.where == CHANGE_CONTENT && change.unit < 2)
            change.offset += 6;
        healthy[round % 3](conversation);
        rule_case_judge(conversation, &verdicts);
        conversation_free(conversation);
    }
}
END_TEST

Suite *rules_engine_suite(void);

Suite *rules_engine_suite(void)
{
    Suite *suite = suite_create("rules_engine");
    TCase *table = tcase_create("table"), *silence = tcase_create("silence"), *engine = tcase_create("engine");

    tcase_add_test(table, every_rule_has_a_case);
    tcase_add_test(table, every_rule_is_in_the_catalogue);
    tcase_add_loop_test(silence, one_direction_alone, 0, 3);
    tcase_add_loop_test(silence, late_capture_draws_no_finding, 0, 3);
    tcase_add_loop_test(silence, any_frame_lost, 0, 3);
    tcase_add_loop_test(silence, tail_lost_by_the_ring, 0, 2);
    tcase_add_loop_test(silence, damaged_and_lost, 0, 3);
    tcase_add_loop_test(silence, repeated_and_reordered, 0, 3);
    tcase_add_test(engine, judges_the_configured_side);
    tcase_add_test(engine, runs_what_is_selected);
    tcase_add_test(engine, short_way_agrees);
    suite_add_tcase(suite, table);
    suite_add_tcase(suite, silence);
    suite_add_tcase(suite, engine);
    return suite;
}
