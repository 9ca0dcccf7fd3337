/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whatever a tap, a network card or a disk does to a capture of lawful traffic, no rule finds a fault in it; and what
 * leaves a fault visible leaves it found. MANGLE_COPIES says how many copies are made (10000 of lawful traffic),
 * MANGLE_FIRST with which seed to begin (1); with MANGLE_ALL=1 every finding is printed, and the test goes on; copies
 * with findings are written into the folder MANGLE_SAVE.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/mangled.h"
#include "tests/unit/suites.h"

Suite *mangled_suite(void);

enum { SHARES = 10, COPIES = 10000, FAULTY_COPIES = 2000, EXCHANGES = 60 };

static uint64_t number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text == NULL ? otherwise : strtoull(text, NULL, 10);
}

/* Fails the test, or with MANGLE_ALL prints the sentence. */
static void wrong(const char *format, const struct mangled_source *source, uint64_t seed, unsigned kinds,
                  const struct rule *rule, const struct mangled_verdicts *verdicts)
{
    char names[200], text[700];
    size_t i = rule != NULL ? rule->index : 0;
    const char *folder = getenv("MANGLE_SAVE");

    if (folder != NULL) {
        struct mangle_capture *copy = mangle(source->capture, seed, kinds);

        (void)snprintf(text, sizeof(text), "%s/%llu.pcap", folder, (unsigned long long)seed);
        (void)mangle_save(copy, text);
        mangle_capture_free(copy);
    }

    (void)snprintf(text, sizeof(text), "%s: %s, seed %llu, %s: %s %s: %s", format, source->name,
                   (unsigned long long)seed, mangle_names(kinds, names, sizeof(names)), rule != NULL ? rule->id : "",
                   verdicts->verdict[i] >= 0 ? rule_verdict_name((enum rule_verdict)verdicts->verdict[i]) : "nothing",
                   verdicts->message[i]);
    if (number("MANGLE_ALL", 0) == 0)
        ck_abort_msg("%s", text);
    (void)fprintf(stderr, "%s\n", text);
}

/*
 * Segments that were put together and cut elsewhere look as if their sender had not aligned FPDUs: what a capture
 * behind such a middlebox shows is true of the middlebox (RFC 5044 5.1).
 */
static bool is_excused(const struct rule *rule, unsigned kinds)
{
    return strcmp(rule->id, "MPA-5.1-04") == 0 && (kinds & (MANGLE_GRO | MANGLE_LRO)) != 0;
}

static void judge_lawful(const struct mangled_source *source, uint64_t seed, unsigned kinds, bool thorough)
{
    static struct mangled_verdicts verdicts;
    struct mangle_capture *copy = mangle(source->capture, seed, kinds);

    mangled_judge(copy, thorough, &verdicts);
    mangle_capture_free(copy);
    if (!verdicts.adds_up)
        wrong("octets do not add up", source, seed, kinds, NULL, &verdicts);
    if (verdicts.whole && verdicts.framed_octets < verdicts.stream_octets)
        wrong("whole, and not every octet was in a frame that was judged", source, seed, kinds, NULL, &verdicts);
    for (size_t i = 0; i < rule_count(); i++)
        if (verdicts.verdict[i] > RULE_AMBIGUOUS && verdicts.verdict[i] > source->verdict[i] &&
            !is_excused(rule_at(i), kinds))
            wrong("found in a mangled copy", source, seed, kinds, rule_at(i), &verdicts);
}

START_TEST(lawful_stays_lawful)
{
    uint64_t copies = number("MANGLE_COPIES", COPIES), first = number("MANGLE_FIRST", 1);
    struct mangled_sources sources;

    mangled_load(&sources, false, EXCHANGES);
    ck_assert_uint_gt(sources.count, EXCHANGES + 40);
    for (uint64_t seed = first + (uint64_t)_i; seed < first + copies; seed += SHARES)
        judge_lawful(&sources.list[(seed * 7919) % sources.count], seed,
                     mangle_draw(seed, (1u << MANGLE_KIND_COUNT) - 1), seed % 16 == 0);
    mangled_free(&sources);
}
END_TEST

/*
 * Over SCTP and of the CM, too: no finding, and what is called whole is whole. Each octet of a user message and each
 * message of the copy was reported then.
 */
static void judge_whole(const struct mangled_source *source, uint64_t seed, unsigned kinds)
{
    static struct mangled_verdicts verdicts;
    struct mangle_capture *copy = mangle(source->capture, seed, kinds);

    mangled_judge(copy, seed % 16 == 0, &verdicts);
    for (size_t i = 0; i < rule_count(); i++)
        if (verdicts.verdict[i] > RULE_AMBIGUOUS && verdicts.verdict[i] > source->verdict[i])
            wrong("found in a mangled copy", source, seed, kinds, rule_at(i), &verdicts);
    if (!verdicts.adds_up)
        wrong("octets do not add up", source, seed, kinds, NULL, &verdicts);
    if (verdicts.whole && verdicts.user_octets < mangled_user_octets(copy))
        wrong("whole, and not every user message was judged", source, seed, kinds, NULL, &verdicts);
    if (verdicts.whole && verdicts.messages < mangled_messages(copy))
        wrong("whole, and not every message was judged", source, seed, kinds, NULL, &verdicts);
    mangle_capture_free(copy);
}

/* Copies of the captures that have flows of these kinds, and of no others. */
static void judge_kinds(unsigned of, int share)
{
    uint64_t copies = number("MANGLE_COPIES", COPIES), first = number("MANGLE_FIRST", 1), judged = 0;
    const struct mangled_source *chosen[64];
    struct mangled_sources sources;
    size_t count = 0;

    mangled_load(&sources, false, 0);
    for (size_t i = 0; i < sources.count && count < sizeof(chosen) / sizeof(chosen[0]); i++)
        if (sources.list[i].kinds != 0 && (sources.list[i].kinds & ~of) == 0)
            chosen[count++] = &sources.list[i];
    ck_assert_uint_ge(count, 4);
    for (uint64_t seed = first + (uint64_t)share; seed < first + copies; seed += SHARES, judged++)
        judge_whole(chosen[seed % count], seed, mangle_draw(seed, (1u << MANGLE_KIND_COUNT) - 1));
    ck_assert_uint_ge(judged * SHARES, copies - SHARES);
    mangled_free(&sources);
}

START_TEST(lawful_over_sctp)
{
    judge_kinds(1u << FLOW_ASSOCIATION | 1u << FLOW_STREAM, _i);
}
END_TEST

START_TEST(mangled_cm_exchanges_draw_no_finding)
{
    judge_kinds(1u << FLOW_CM_EXCHANGE, _i);
}
END_TEST

/* What was said of the capture itself is said of the copy. */
static void judge_faulty(const struct mangled_source *source, uint64_t seed, unsigned kinds)
{
    static struct mangled_verdicts verdicts;
    struct mangle_capture *copy = mangle(source->capture, seed, kinds);

    mangled_judge(copy, false, &verdicts);
    mangle_capture_free(copy);
    for (size_t i = 0; i < rule_count(); i++)
        if (source->verdict[i] == RULE_FAIL && verdicts.verdict[i] != RULE_FAIL)
            wrong("not found in a mangled copy", source, seed, kinds, rule_at(i), &verdicts);
}

/*
 * A copy that was sent again says that its sender had received more by then: swapped with the first one it hides that
 * the first was sent too early.
 */
static unsigned harmless(uint64_t seed)
{
    unsigned kinds = mangle_draw(seed, mangle_harmless);

    return (kinds & MANGLE_SWAP_SAME) != 0 ? kinds & ~(unsigned)MANGLE_RESENT : kinds;
}

START_TEST(faults_stay_found)
{
    uint64_t copies = number("MANGLE_COPIES", FAULTY_COPIES), first = number("MANGLE_FIRST", 1);
    struct mangled_sources sources;

    mangled_load(&sources, true, 0);
    ck_assert_uint_gt(sources.count, 12);
    for (uint64_t seed = first + (uint64_t)_i; seed < first + copies; seed += SHARES)
        judge_faulty(&sources.list[seed % sources.count], seed, harmless(seed));
    mangled_free(&sources);
}
END_TEST

/* The same seed gives the same copy; each kind does something to some capture. */
START_TEST(mangling_is_repeatable)
{
    struct mangled_sources sources;
    unsigned done = 0;

    mangled_load(&sources, false, 4);
    for (unsigned kind = 0; kind < MANGLE_KIND_COUNT; kind++)
        for (uint64_t seed = 1; seed < 20; seed++) {
            const struct mangle_capture *capture = sources.list[(seed * 13) % sources.count].capture;
            struct mangle_capture *one = mangle(capture, seed, 1u << kind), *two = mangle(capture, seed, 1u << kind);

            ck_assert_uint_eq(one->count, two->count);
            for (size_t i = 0; i < one->count; i++) {
                ck_assert_uint_eq(one->frames[i].captured, two->frames[i].captured);
                ck_assert_mem_eq(one->frames[i].octets, two->frames[i].octets, one->frames[i].captured);
                if (one->count != capture->count || one->frames[i].captured != capture->frames[i].captured ||
                    memcmp(one->frames[i].octets, capture->frames[i].octets, one->frames[i].captured) != 0)
                    done |= 1u << kind;
            }
            mangle_capture_free(one);
            mangle_capture_free(two);
        }
    ck_assert_uint_eq(done, (1u << MANGLE_KIND_COUNT) - 1);
    mangled_free(&sources);
}
END_TEST

Suite *mangled_suite(void)
{
    Suite *suite = suite_create("mangled");
    TCase *tests = tcase_create("mangled");

    tcase_set_timeout(tests, getenv("MANGLE_COPIES") == NULL ? 300 : 36000);
    tcase_add_loop_test(tests, lawful_stays_lawful, 0, SHARES);
    tcase_add_loop_test(tests, lawful_over_sctp, 0, SHARES);
    tcase_add_loop_test(tests, mangled_cm_exchanges_draw_no_finding, 0, SHARES);
    tcase_add_loop_test(tests, faults_stay_found, 0, SHARES);
    tcase_add_test(tests, mangling_is_repeatable);
    suite_add_tcase(suite, tests);
    return suite;
}
