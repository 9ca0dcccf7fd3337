/* SPDX-License-Identifier: BSD-2-Clause */
/* The PICS questionnaire: what depends on an answer, who gave it, and a skeleton that is a profile. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/engine/show/pics_view.h"
#include "conformance/engine/profile/profile.h"
#include "base/sentence.h"

Suite *pics_suite(void);

#define ROW(id, capability)                                                                                            \
    id "\tRFC5044\t1\tMUST\tboth\tMPA\tactive\ttext\tstimulus\toutcomes\t" capability "\tdefect\t\n"

static const char rows[] =
    "id\tsource\tsection\tlevel\tsubject\tlayer\tobservability\ttext\tstimulus\toutcomes\t"
    "capability\tdefect\tambiguity\n" ROW("T-1-01", "always") ROW("T-1-02", "a") ROW("T-1-03", "!a")
        ROW("T-1-04", "a & b") ROW("T-1-05", "a & (a | number)") ROW("T-1-06", "never");
static const char items[] = "item\tquestion\tdefault\tmeaning\ttold\n"
                            "a\tIs it a?\tyes\tm\tflag\nb\tIs it b?\tno\tm\tlist=2\nnumber\tHow many?\t16\tm\tmost\n"
                            "c\tIs it c?\tno\tm\t-\n";

static struct catalogue *catalogue;
static struct pics_view view;
static struct iwarp_sentence error;

static void setup(void)
{
    struct catalogue_source source = {"t.tsv", rows, sizeof(rows) - 1};

    memset(&view, 0, sizeof(view));
    ck_assert_msg(catalogue_parse(&catalogue, &source, 1, &error) == 0, "%s", error.text);
    ck_assert_msg(pics_parse(&view.pics, "p.tsv", items, sizeof(items) - 1, &error) == 0, "%s", error.text);
    view.catalogue = catalogue;
    view.width = 80;
    for (size_t i = 0; i < pics_count(view.pics); i++)
        view.items[view.count++] = pics_at(view.pics, i);
}

static void teardown(void)
{
    pics_free(view.pics);
    catalogue_free(catalogue);
}

static void effect_is(const char *item, size_t named, size_t applicable, size_t left_out, size_t alone)
{
    struct pics_effect effect;

    pics_effect(&view, pics_find(view.pics, item), &effect);
    ck_assert_uint_eq(effect.named, named);
    ck_assert_uint_eq(effect.applicable, applicable);
    ck_assert_uint_eq(effect.left_out, left_out);
    ck_assert_uint_eq(effect.alone, alone);
}

START_TEST(an_answer_makes_requirements_applicable_or_leaves_them_out)
{
    effect_is("a", 4, 2, 2, 1); /* T-1-03 by this answer, T-1-04 by b's */
    effect_is("b", 1, 0, 1, 1);
    effect_is("number", 1, 1, 0, 0);
    effect_is("c", 0, 0, 0, 0);
    ck_assert_int_eq(pics_set(view.pics, "a", "no", &error), 0);
    effect_is("a", 4, 1, 3, 2);
    effect_is("b", 1, 0, 1, 0); /* now a's answer stands in its way, too */
    ck_assert_str_eq(pics_find(view.pics, "a")->value, "no");
    ck_assert_str_eq(pics_find(view.pics, "number")->value, "16");
}
END_TEST

START_TEST(a_predicate_names_each_item_once)
{
    const struct pics_item *named[4];

    ck_assert_uint_eq(pics_named(view.pics, "a & (a | !number) & unknown", named, 4), 2);
    ck_assert_str_eq(named[0]->name, "a");
    ck_assert_str_eq(named[1]->name, "number");
    ck_assert_uint_eq(pics_named(view.pics, "a & b & number", named, 2), 2);
    ck_assert_uint_eq(pics_named(view.pics, "always", named, 4), 0);
    ck_assert(pics_is_number(pics_find(view.pics, "number")) && !pics_is_number(pics_find(view.pics, "a")));
}
END_TEST

static const char *reported_for(const char *item, const char *answer, char value[static PICS_VALUE_ROOM])
{
    json_t *json = json_loads(answer, 0, NULL);
    bool reported;

    ck_assert_ptr_nonnull(json);
    view.reported = json;
    reported = pics_reported(&view, pics_find(view.pics, item), value);
    view.reported = NULL;
    json_decref(json);
    return reported ? value : "nothing";
}

START_TEST(what_an_upper_tester_reports)
{
    char value[PICS_VALUE_ROOM];

    ck_assert_str_eq(reported_for("a", "{\"flag\": true}", value), "yes");
    ck_assert_str_eq(reported_for("a", "{\"flag\": false}", value), "no");
    ck_assert_str_eq(reported_for("a", "{\"flag\": \"yes, and a text without end\"}", value), "nothing");
    ck_assert_str_eq(reported_for("b", "{\"list\": [1, 2]}", value), "yes");
    ck_assert_str_eq(reported_for("b", "{\"list\": [\"2\"]}", value), "yes");
    ck_assert_str_eq(reported_for("b", "{\"list\": [1, null, {}]}", value), "no");
    ck_assert_str_eq(reported_for("b", "{\"list\": 2}", value), "nothing");
    ck_assert_str_eq(reported_for("number", "{\"most\": 128}", value), "128");
    ck_assert_str_eq(reported_for("number", "{\"most\": -1}", value), "nothing");
    ck_assert_str_eq(reported_for("number", "{\"most\": 9223372036854775807}", value), "nothing");
    ck_assert_str_eq(reported_for("c", "{}", value), "nothing");
    ck_assert(!pics_reported(&view, pics_find(view.pics, "a"), value));
}
END_TEST

static char *written(void (*write)(const struct pics_view *view, FILE *out))
{
    char *text = NULL;
    size_t size;
    FILE *out = tmpfile();

    ck_assert_ptr_nonnull(out);
    write(&view, out);
    size = (size_t)ftell(out);
    rewind(out);
    text = calloc(1, size + 1);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_eq(fread(text, 1, size, out), size);
    (void)fclose(out);
    return text;
}

static void holds(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part) != NULL, "\"%s\" is not in:\n%s", part, text);
}

START_TEST(the_readable_forms)
{
    json_t *profile = json_pack("{s:{s:s}}", "capabilities", "a", "no");
    char *text = written(pics_write_text);

    holds(text, "6 requirements: 1 bind every device, 4 depend on the answers, 1 bind no device\n");
    holds(text, "\na  yes or no; when nothing is said: yes\n    Is it a?\n    m\n    4 requirements: RFC5044 4\n");
    holds(text, "\nnumber  a number; when nothing is said: 16\n");
    free(text);
    text = written(pics_write_markdown);
    holds(text, "| `a` | Is it a? (m) | [ ] yes [ ] no | 4 |\n");
    holds(text, "| `number` | How many? (m) | ________ | 1 |\n");
    free(text);

    view.device = "a *device*";
    view.profile = profile;
    view.requirements = true;
    ck_assert_int_eq(pics_set(view.pics, "a", "no", &error), 0);
    text = written(pics_write_text);
    holds(text, "PICS of a *device*: 4 answers\n6 requirements: 2 apply, 3 are left out, 1 bind no device\n");
    holds(text, "\na  no  (the profile's \"capabilities\")\n");
    holds(text, "4 requirements: 1 applies, 3 left out (2 by this answer alone)\n    apply     T-1-03\n"
                "    left out  T-1-02 T-1-04 T-1-05\n");
    holds(text, "\nb  no  (nothing was said)\n");
    free(text);
    text = written(pics_write_markdown);
    holds(text, "| Device | a &#42;device&#42; |\n");
    holds(text, "| [ ] yes [x] no | 4, 3 left out |\n");
    holds(text, "| `number` | How many? (m) | 16 | 1, 1 left out |\n");
    holds(text, "\n## a\n\n- T-1-02\n- T-1-03\n- T-1-04\n- T-1-05\n");
    free(text);
    text = written(pics_write_jsonl);
    holds(
        text,
        "{\"item\":\"a\",\"question\":\"Is it a?\",\"meaning\":\"m\",\"default\":\"yes\",\"requirements\":[\"T-1-02\","
        "\"T-1-03\",\"T-1-04\",\"T-1-05\"],\"value\":\"no\",\"said\":true,\"applicable\":1,\"left_out\":3,"
        "\"left_out_alone\":2}\n");
    free(text);
    json_decref(profile);
}
END_TEST

static json_t *profile_written(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    json_t *json;

    ck_assert_int_eq(pics_write_profile(&view, out), 0);
    ck_assert_int_eq(fclose(out), 0);
    json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_ptr_nonnull(json);
    free(text);
    return json;
}

/* The skeleton of the real items: refused as it is, and a profile with its addresses filled in. */
START_TEST(the_skeleton_is_a_profile)
{
    char path[] = "/tmp/warpcheck-pics-XXXXXX";
    struct profile profile;
    struct profile_context context = {.today = "2026-11-22"};
    json_t *skeleton;
    int fd = mkstemp(path);

    ck_assert_int_ge(fd, 0);
    close(fd);
    pics_free(view.pics);
    view.count = 0;
    ck_assert_int_eq(pics_load(&view.pics, &error), 0);
    context.pics = view.pics;
    context.catalogue = catalogue;
    ck_assert_int_eq(profile_defaults(view.pics, false, &error), 0);
    for (size_t i = 0; i < pics_count(view.pics); i++)
        view.items[view.count++] = pics_at(view.pics, i);
    skeleton = profile_written();
    ck_assert_uint_eq(json_object_size(json_object_get(skeleton, "capabilities")), pics_count(view.pics) - 1);
    ck_assert_ptr_null(json_object_get(json_object_get(skeleton, "capabilities"), "upper_tester"));
    ck_assert(json_is_integer(json_object_get(json_object_get(skeleton, "capabilities"), "ird")));
    ck_assert_int_eq(json_dump_file(skeleton, path, 0), 0);
    ck_assert_int_ne(profile_load(&profile, path, &context, &error), 0);
    holds(error.text, "\"address\" is \"ADDRESS OF THE DEVICE\"");
    json_object_set_new(skeleton, "address", json_string("192.0.2.7"));
    json_object_set_new(skeleton, "own_address", json_string("192.0.2.9"));
    ck_assert_int_eq(json_dump_file(skeleton, path, 0), 0);
    ck_assert_msg(profile_load(&profile, path, &context, &error) == 0, "%s", error.text);
    ck_assert(!pics_holds(view.pics, "upper_tester") && !pics_holds(view.pics, "instrumented"));
    ck_assert(pics_holds(view.pics, "mpa.rev2"));
    profile_free(&profile);
    json_decref(skeleton);
    unlink(path);
}
END_TEST

START_TEST(a_profile_is_completed_by_what_its_device_reports)
{
    json_t *profile = json_pack("{s:s, s:{s:s, s:s}}", "name", "mine", "capabilities", "a", "no", "number", "yes");
    json_t *reported = json_pack("{s:b, s:[i]}", "flag", 1, "list", 2), *made, *capabilities;

    view.device = "mine";
    view.profile = profile;
    view.reported = reported;
    ck_assert_int_eq(pics_set(view.pics, "a", "no", &error), 0);
    ck_assert_int_eq(pics_set(view.pics, "number", "yes", &error), 0);
    made = profile_written();
    capabilities = json_object_get(made, "capabilities");
    ck_assert_str_eq(json_string_value(json_object_get(made, "name")), "mine");
    ck_assert_str_eq(json_string_value(json_object_get(capabilities, "a")), "no"); /* what was said stands */
    ck_assert_str_eq(json_string_value(json_object_get(capabilities, "b")), "yes");
    ck_assert_str_eq(json_string_value(json_object_get(capabilities, "number")), "yes");
    ck_assert_str_eq(json_string_value(json_object_get(json_object_get(made, "questions"), "b")), "Is it b?");
    json_decref(made);
    json_decref(reported);
    json_decref(profile);
}
END_TEST

Suite *pics_suite(void)
{
    Suite *suite = suite_create("pics");
    TCase *questions = tcase_create("questions");

    tcase_add_checked_fixture(questions, setup, teardown);
    tcase_add_test(questions, an_answer_makes_requirements_applicable_or_leaves_them_out);
    tcase_add_test(questions, a_predicate_names_each_item_once);
    tcase_add_test(questions, what_an_upper_tester_reports);
    tcase_add_test(questions, the_readable_forms);
    tcase_add_test(questions, the_skeleton_is_a_profile);
    tcase_add_test(questions, a_profile_is_completed_by_what_its_device_reports);
    suite_add_tcase(suite, questions);
    return suite;
}
