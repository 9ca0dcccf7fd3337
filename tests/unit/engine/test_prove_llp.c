/* SPDX-License-Identifier: BSD-2-Clause */
/* What has no meaning over SCTP: reference-stack/defects/defects-llp.tsv. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/prove/prove_llp.h"
#include "reference-stack/defects/choice.h"
#include "tests/unit/suites.h"
#include "tools/embedded.h"

Suite *prove_llp_suite(void);

static struct defect_list *defects, *variants;

static void setup(void)
{
    struct iwarp_sentence error = {""};

    defects = defect_list_embedded(&error);
    variants = variant_list_embedded(&error);
    ck_assert_msg(defects != NULL && variants != NULL, "%s", error.text);
}

static void teardown(void)
{
    defect_list_free(defects);
    defect_list_free(variants);
}

/* The word that the reason begins with; "": over SCTP as well. */
static const char *word_of(const struct defect *defect, bool draft)
{
    static struct prove_llp_reason reason;

    ck_assert_ptr_nonnull(defect);
    if (!prove_llp_is_foreign(defect, draft, &reason))
        return "";
    ck_assert_ptr_nonnull(strstr(reason.text, ": "));
    *strchr(reason.text, ':') = '\0';
    return reason.text;
}

START_TEST(operations_are_reported_apart)
{
    static const struct {
        const char *id, *word, *draft;
    } rows[] = {
        {"mpa-stray-octet", "frame", "frame"},
        {"mpa-request-key-wrong", "frame", "frame"},
        {"mpa-request-key-hangs", "frame", "frame"},
        {"bound-send-cut-payload", "fpdu", "fpdu"},
        {"mpa-crc-aborts", "fpdu", "fpdu"},
        {"mpa-marker-all-bits", "fpdu", "fpdu"},
        {"rdmap-terminate-cuts-fpdu", "fpdu", "fpdu"},
        {"class-protection-cut", "fpdu", "fpdu"},
        {"class-llp-resets", "code", "code"},
        {"class-llp-untold", "code", "code"},
        {"class-operation-resets", "", ""},
        {"ddp-half-close-flushes", "", "draft"},
        {"mpa-nagle", "stream", "stream"},
        {"ddp-close-resets", "", "draft"},
        {"ddp-qn-wrong-code", "", ""},
        {"atom-snapshot", "", ""},
        {"sctp-ssn-wrap", "", ""},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct defect *defect = defect_list_find(defects, rows[i].id);

        ck_assert_str_eq(word_of(defect, false), rows[i].word);
        ck_assert_str_eq(word_of(defect, true), rows[i].draft);
    }
    ck_assert_str_eq(word_of(defect_list_find(variants, "segments-cut"), false), "stream");
    ck_assert_str_eq(word_of(defect_list_find(variants, "segments-512"), false), "");
    ck_assert_str_eq(word_of(defect_list_find(variants, "reply-ird-more"), false), "");
    ck_assert_str_eq(word_of(defect_list_find(variants, "reply-ird-more"), true), "draft");
    ck_assert_str_eq(word_of(defect_list_find(variants, "reply-depths-unsaid"), false), "");
    ck_assert_str_eq(word_of(defect_list_find(variants, "reply-depths-unsaid"), true), "draft");
    ck_assert_str_eq(word_of(defect_list_find(variants, "close-reset-second"), false), "legal");
    ck_assert_str_eq(word_of(defect_list_find(variants, "cm-suggest"), false), "cm");
}
END_TEST

/* Is the variant an alternative in the layer? */
static bool is_choice(const struct choice_table *table, enum choice_layer layer, const char *id)
{
    size_t count;
    const struct defect **rows = choice_table_rows(table, layer, &count);
    bool found = false;

    ck_assert_ptr_nonnull(rows);
    for (size_t i = 0; i < count; i++)
        found = found || strcmp(rows[i]->id, id) == 0;
    free(rows);
    return found;
}

/* A variant of the stack over TCP is a choice over SCTP, too, where it has a meaning there, and nowhere else. */
START_TEST(choices_have_the_layers_of_their_meaning)
{
    struct iwarp_sentence error = {""};
    struct choice_table *table = choice_table_embedded(&error);

    ck_assert_msg(table != NULL, "%s", error.text);
    for (size_t i = 0; i < defect_list_count(variants); i++) {
        const struct defect *variant = defect_list_at(variants, i);

        if (defect_acts_over_cm(variant) || defect_acts_over_sctp(variant))
            continue;
        ck_assert_msg(is_choice(table, CHOICE_TCP, variant->id), "choices.tsv: %s, over TCP", variant->id);
        ck_assert_msg(is_choice(table, CHOICE_SCTP, variant->id) == (word_of(variant, false)[0] == '\0'),
                      "choices.tsv: %s, over SCTP: %s", variant->id, word_of(variant, false));
        ck_assert_msg(is_choice(table, CHOICE_DRAFT, variant->id) == (word_of(variant, true)[0] == '\0'),
                      "choices.tsv: %s, by the draft: %s", variant->id, word_of(variant, true));
    }
    choice_table_free(table);
}
END_TEST

/* What acts over SCTP alone has a meaning there; by the draft not where it acts on what only RFC 5043 has. */
START_TEST(nothing_of_sctp_is_foreign)
{
    for (size_t i = 0; i < defect_list_count(defects); i++)
        if (defect_acts_over_sctp(defect_list_at(defects, i))) {
            const char *by_draft = word_of(defect_list_at(defects, i), true);

            ck_assert_msg(by_draft[0] == '\0' || strcmp(by_draft, "draft") == 0, "%s", by_draft);
            ck_assert_str_eq(word_of(defect_list_at(defects, i), false), "");
        }
}
END_TEST

static bool is_met(const char *hook, const char *pattern, const char *value)
{
    static char text[512];
    struct defect row = {
        .id = "x", .requirement = "MPA-1", .hook = hook, .target = pattern, .value = value, .warns = ""};
    struct prove_llp_reason reason;

    /* A pattern without stars fits itself; one with stars what they were taken out of. */
    (void)snprintf(text, sizeof(text), "%s", pattern);
    for (char *star = text; (star = strchr(star, '*')) != NULL;)
        memmove(star, star + 1, strlen(star));
    row.target = text;
    return prove_llp_is_foreign(&row, true, &reason);
}

/* Each line is whole: four fields, and a reason with its word; each of its patterns is read. */
START_TEST(lines_are_whole)
{
    const struct embedded_file *file =
        embedded_find(embedded_defects, embedded_defect_count, "reference-stack/defects/defects-llp.tsv");
    static const char *const words[] = {"frame: ", "fpdu: ", "stream: ", "code: ", "legal: ", "draft: "};
    size_t lines = 0;
    char *text, *line, *rest;

    ck_assert_ptr_nonnull(file);
    text = rest = strndup((const char *)file->octets, file->size);
    while ((line = strsep(&rest, "\n")) != NULL) {
        char *hook = strsep(&line, "\t"), *target = strsep(&line, "\t"), *value = strsep(&line, "\t"), *pattern;
        bool known = false;

        if (hook[0] == '#' || hook[0] == '\0')
            continue;
        lines++;
        ck_assert_msg(line != NULL && strchr(line, '\t') == NULL, "%s %s: four fields were expected", hook, target);
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
            known = known || strncmp(line, words[i], strlen(words[i])) == 0;
        ck_assert_msg(known && strlen(line) > 12, "%s %s: no reason: %s", hook, target, line);
        while (strcmp(value, "*") == 0 && (pattern = strsep(&target, ",")) != NULL)
            ck_assert_msg(is_met(hook, pattern, ""), "%s %s does nothing", hook, pattern);
    }
    ck_assert_uint_gt(lines, 15);
    free(text);
}
END_TEST

Suite *prove_llp_suite(void)
{
    Suite *suite = suite_create("prove_llp");
    TCase *tcase = tcase_create("llp");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, operations_are_reported_apart);
    tcase_add_test(tcase, nothing_of_sctp_is_foreign);
    tcase_add_test(tcase, choices_have_the_layers_of_their_meaning);
    tcase_add_test(tcase, lines_are_whole);
    suite_add_tcase(suite, tcase);
    return suite;
}
