/* SPDX-License-Identifier: BSD-2-Clause */
/* Ladders: the offending step is always there, and what is drawn is well-formed. */
#include <check.h>
#include <libxml/parser.h>
#include <libxml/xpath.h>
#include <stdlib.h>
#include <string.h>

#include "reports/page/ladder.h"
#include "tests/unit/sample_results.h"
#include "tests/unit/suites.h"

Suite *ladder_suite(void);

static const struct ladder_ends ends = {"tester", "DUT"};

START_TEST(ladder_shows_the_steps_around_the_fault)
{
    size_t shown[LADDER_STEPS_SHOWN], count;

    for (size_t total = 0; total < 90; total++)
        for (size_t bad = 0; bad <= total; bad++) {
            json_t *steps = json_array();
            bool offending = false, last = total == 0;
            for (size_t i = 0; i < total; i++) {
                json_t *step = json_object();
                if (i == bad)
                    json_object_set_new(step, "note", json_string("n"));
                json_array_append_new(steps, step);
            }
            count = ladder_choose(steps, shown);
            for (size_t i = 0; i < count; i++) {
                ck_assert_uint_lt(shown[i], total);
                ck_assert(i == 0 || shown[i] > shown[i - 1]);
                offending = offending || shown[i] == bad;
                last = last || shown[i] == total - 1;
            }
            ck_assert_uint_le(count, LADDER_STEPS_SHOWN);
            ck_assert_msg(bad < total ? offending : last, "%zu steps, offending %zu", total, bad);
            if (total <= LADDER_STEPS_SHOWN)
                ck_assert_uint_eq(count, total);
            json_decref(steps);
        }
}
END_TEST

static double attribute(const xmlNode *node, const char *name)
{
    xmlChar *text = xmlGetProp(node, BAD_CAST name);
    double value = text ? strtod((const char *)text, NULL) : -1;

    xmlFree(text);
    return value;
}

/* The picture parses, every text lies inside it, the steps are all there, exactly one is offending. */
START_TEST(svg_is_whole)
{
    size_t total = (size_t)_i;
    json_t *steps = sample_steps(total, total / 2, sample_hostile);
    struct markup *markup = markup_new();
    size_t shown[LADDER_STEPS_SHOWN], count = ladder_choose(steps, shown);

    ladder_svg(markup, steps, &ends, true);
    const char *octets = markup_octets(markup);
    xmlDocPtr document = xmlReadMemory(octets, (int)strlen(octets), NULL, NULL, XML_PARSE_NONET);
    ck_assert_ptr_nonnull(document);
    xmlXPathContextPtr context = xmlXPathNewContext(document);
    xmlXPathObjectPtr groups = xmlXPathEval(BAD_CAST "//*[local-name()='g']", context);
    xmlXPathObjectPtr bad = xmlXPathEval(BAD_CAST "//*[contains(@class,'ld-bad')]", context);
    xmlXPathObjectPtr texts = xmlXPathEval(BAD_CAST "//*[local-name()='text']", context);
    ck_assert_int_eq(groups->nodesetval ? groups->nodesetval->nodeNr : 0, (int)count);
    ck_assert_int_eq(bad->nodesetval ? bad->nodesetval->nodeNr : 0, total ? 1 : 0);
    const char *box = strstr(octets, "viewBox=\"0 0 760 ");
    ck_assert_ptr_nonnull(box);
    double height = strtod(box + strlen("viewBox=\"0 0 760 "), NULL), lowest = 0;
    for (int i = 0; i < texts->nodesetval->nodeNr; i++) {
        double y = attribute(texts->nodesetval->nodeTab[i], "y");
        ck_assert(y > 0 && y < height);
        lowest = y > lowest ? y : lowest;
    }
    if (total)
        ck_assert_msg(height - lowest < 60, "%g of %g used", lowest, height);
    ck_assert_ptr_null(strstr(octets, "<script"));
    xmlXPathFreeObject(groups);
    xmlXPathFreeObject(bad);
    xmlXPathFreeObject(texts);
    xmlXPathFreeContext(context);
    xmlFreeDoc(document);
    markup_free(markup);
    json_decref(steps);
}
END_TEST

START_TEST(ladder_is_drawn_as_text)
{
    json_t *steps = json_array();
    json_t *bad = result_step(0.00255, "dut", "terminate", "Terminate", 10, NULL, 0);

    json_array_append_new(steps, result_step(0, "tester", "tcp", "SYN", 1, NULL, 0));
    result_step_mark(bad, 0, 2, "the code");
    json_array_append_new(steps, bad);
    char *text = ladder_text(steps, &ends, 60);
    ck_assert_str_eq(text, "                tester                           DUT\n"
                           "      0.000 ms  |.............. SYN ..............>| #1\n"
                           ">     2.550 ms  |<----------- Terminate -----------| #10\n"
                           "                |  ^ the code\n");
    free(text);
    json_decref(steps);
}
END_TEST

START_TEST(text_ladder_is_clean)
{
    json_t *steps = sample_steps(80, 60, sample_hostile);

    for (unsigned columns = 0; columns < 300; columns += 7) {
        char *text = ladder_text(steps, &ends, columns);
        ck_assert_ptr_nonnull(text);
        ck_assert_ptr_null(strchr(text, '\033'));
        ck_assert_ptr_nonnull(strstr(text, "steps left out"));
        ck_assert_ptr_nonnull(strstr(text, "\n> "));
        free(text);
    }
    json_decref(steps);
}
END_TEST

/* step, hex digits, length, mark offset, mark length, offending */
static const struct {
    const char *json;
    uint64_t digits, length, offset, mark;
    bool offending;
} hostile_steps[] = {
    {"{}", 0, 0, 0, 0, false},
    {"{\"octets\":\"0102zz04\",\"mark\":[1,9]}", 4, 2, 1, 1, true},
    {"{\"octets\":\"010\",\"mark\":[0,1]}", 2, 1, 0, 1, true},
    {"{\"octets\":\"0102\",\"mark\":[5,1]}", 4, 2, 5, 0, true},
    {"{\"octets\":\"0102\",\"mark\":[1,9223372036854775807],\"length\":-4}", 4, 2, 1, 1, true},
    {"{\"octets\":\"0102\",\"mark\":[9223372036854775807,9223372036854775807]}", 4, 2, INT64_MAX, 0, true},
    {"{\"octets\":7,\"mark\":\"x\",\"t\":\"x\",\"from\":[],\"summary\":{},\"note\":1,\"kind\":null}", 0, 0, 0, 0,
     false},
    {"{\"t\":1e308,\"mark\":[],\"note\":\"n\"}", 0, 0, 0, 0, true},
};

START_TEST(hostile_step_is_read_safely)
{
    json_t *object = json_loads(hostile_steps[_i].json, 0, NULL), *steps = json_array();
    struct ladder_step step;

    ck_assert_int_eq(ladder_step_read(object, &step), 0);
    ck_assert_uint_eq(step.hex_digits, hostile_steps[_i].digits);
    ck_assert_uint_eq(step.length, hostile_steps[_i].length);
    ck_assert_uint_eq(step.mark_offset, hostile_steps[_i].offset);
    ck_assert_uint_eq(step.mark_length, hostile_steps[_i].mark);
    ck_assert_int_eq(step.offending, hostile_steps[_i].offending);
    json_array_append_new(steps, object);
    json_array_append_new(steps, json_integer(5));
    char *text = ladder_text(steps, &ends, 80);
    ck_assert_ptr_nonnull(text);
    free(text);
    ck_assert_int_eq(ladder_step_read(NULL, &step), -1);
    json_decref(steps);
}
END_TEST

Suite *ladder_suite(void)
{
    Suite *suite = suite_create("ladder");
    TCase *ladder = tcase_create("ladder");

    tcase_add_test(ladder, ladder_shows_the_steps_around_the_fault);
    tcase_add_loop_test(ladder, svg_is_whole, 0, 50);
    tcase_add_test(ladder, ladder_is_drawn_as_text);
    tcase_add_test(ladder, text_ladder_is_clean);
    tcase_add_loop_test(ladder, hostile_step_is_read_safely, 0,
                        (int)(sizeof(hostile_steps) / sizeof(hostile_steps[0])));
    suite_add_tcase(suite, ladder);
    return suite;
}
