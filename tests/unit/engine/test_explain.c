/* SPDX-License-Identifier: BSD-2-Clause */
/* What `list` and `explain` show: drawings, wrapped text, the index of what decides a requirement. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/plan/coverage.h"
#include "conformance/engine/script/script.h"
#include "conformance/engine/show/drawing.h"
#include "conformance/engine/show/requirement_json.h"
#include "conformance/engine/show/wrap.h"
#include "conformance/requirements/catalogue.h"
#include "conformance/requirements/no_defect.h"
#include "conformance/rules/rule.h"
#include "reference-stack/defects/defect.h"
#include "reference-stack/validation/validation.h"
#include "base/sentence.h"

Suite *explain_suite(void);

static const char ddp_tagged_drawing[] = "     0                   1                   2                   3\n"
                                         "     0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1\n"
                                         "                                    +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+\n"
                                         "                                    |T|L| Rsvd  |DV |    RsvdULP    |\n"
                                         "    +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+\n"
                                         "    |                             STag                              |\n"
                                         "    +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+\n"
                                         "    |                              TO                               |\n"
                                         "    +                                                               +\n"
                                         "    |                                                               |\n"
                                         "    +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+\n";

START_TEST(the_tagged_header_is_drawn_as_the_rfc_does)
{
    char *drawing = drawing_make(wire_layout_find("ddp_tagged"));

    ck_assert_str_eq(drawing, ddp_tagged_drawing);
    free(drawing);
}
END_TEST

START_TEST(a_field_across_rows_and_a_name_too_long)
{
    static const struct wire_field fields[] = {
        {"a", "A", 0, 1, WIRE_FLAG, NULL, "here", "a flag", false},
        {"long", "Much too long", 1, 3, WIRE_NUMBER, NULL, "here", "cut", false},
        {"wide", "Wide", 4, 40, WIRE_HEX, NULL, "here", "ends in the second row", false},
        {"rest", "Rest", 44, 20, WIRE_RESERVED, NULL, "here", "zero", false},
    };
    static const struct wire_layout layout = {"x", "X", "here", fields, 4, 8};
    char *drawing = drawing_make(&layout), *legend = drawing_legend(&layout, 60);

    ck_assert_str_eq(drawing, "     0                   1                   2                   3\n"
                              "     0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1\n"
                              "    +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+\n"
                              "    |A|Much |                         Wide                          |\n"
                              "    +-+-+-+-+               +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+\n"
                              "    |                       |                 Rest                  |\n"
                              "    +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+\n");
    ck_assert_str_eq(legend, "    octet  0 bit 0   1 bit     A              a flag\n"
                             "    octet  0 bit 1   3 bits    Much too long  cut\n"
                             "    octet  0 bit 4   5 octets  Wide           ends in the\n"
                             "                                              second row\n"
                             "    octet  5 bit 4  20 bits    Rest           zero\n");
    free(drawing);
    free(legend);
}
END_TEST

START_TEST(every_layout_of_wire_can_be_drawn)
{
    ck_assert_ptr_nonnull(wire_layouts[0]);
    for (size_t i = 0; wire_layouts[i] != NULL; i++) {
        char *drawing = drawing_make(wire_layouts[i]), *legend = drawing_legend(wire_layouts[i], 80);

        ck_assert_ptr_nonnull(drawing);
        ck_assert_ptr_nonnull(legend);
        for (size_t j = 0; j < wire_layouts[i]->field_count; j++)
            ck_assert_ptr_nonnull(strstr(legend, wire_layouts[i]->fields[j].name));
        free(drawing);
        free(legend);
    }
}
END_TEST

START_TEST(every_requirement_of_mpa_ddp_and_rdmap_has_a_header)
{
    struct catalogue *catalogue;

    ck_assert_int_eq(catalogue_load(&catalogue, NULL), 0);
    for (size_t i = 0; i < catalogue_count(catalogue); i++) {
        const struct requirement *requirement = catalogue_at(catalogue, i);
        const struct wire_layout *layouts[DRAWING_LIMIT];
        size_t count = drawing_layouts(requirement, layouts);

        if (requirement->layer == REQUIREMENT_LAYER_MPA || requirement->layer == REQUIREMENT_LAYER_DDP)
            ck_assert_msg(count > 0, "%s has no drawing", requirement->id);
        if (strcmp(requirement->id, "RDMAP-4.8-02") == 0)
            ck_assert_str_eq(layouts[0]->id, "terminate");
        if (strcmp(requirement->id, "MPA-7.1.1-02") == 0)
            ck_assert_str_eq(layouts[0]->id, "mpa_start");
        if (strcmp(requirement->id, "DDP-7.1-01") == 0)
            ck_assert_str_eq(layouts[0]->id, "ddp_untagged");
        if (strcmp(requirement->id, "DDP-7.1-10") == 0)
            ck_assert_str_eq(layouts[0]->id, "ddp_tagged");
    }
    catalogue_free(catalogue);
}
END_TEST

START_TEST(text_is_wrapped_at_words)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    wrap_print(out, "one two three  four averyveryverylongword five", 12, 2, 2);
    wrap_print(out, "", 12, 0, 0);
    fclose(out);
    ck_assert_str_eq(text, "one two\n  three four\n  averyveryverylongword\n  five\n\n");
    free(text);
}
END_TEST

/* Whatever way of writing Lua allows: what counts is which checks the script declares when it runs. */
static const char script[] =
    "-- check { id = \"COMMENT-1\" }\n"
    "--[[ check { id = \"COMMENT-2\" } ]]\n"
    "local s = [==[ check { id = \"STRING-1\" ]] ]==]\n"
    "local function body() local x = { id = \"INNER-1\" } end\n"
    "check {\n"
    "  purpose = \"an id = \\\"QUOTED-1\\\"\",\n"
    "  options = { id = \"INNER-2\" },\n"
    "  also = { \"A-2\", 'A-3' },\n"
    "  run = body, ['id'] = [[A-1]],\n"
    "}\n"
    "local function declare(id) check { id = id, purpose = \"p\", run = body } end\n"
    "for i = 1, 2 do declare(\"B-\" .. i) end\n"
    "local same = check\n"
    "same { id = \"C-1\", purpose = \"p\", run = body } same { id = \"A-1\", also = { \"C-2\" },\n"
    "  purpose = \"p\", run = body }\n"
    "if false then check { id = \"NEVER-1\", purpose = \"p\", run = body } end\n";

static const char defects[] = "# id requirement hook\n"
                              "id\trequirement\thook\ttarget\toperation\tvalue\n"
                              "d-one\tA-1\tbehaviour\tno-terminate\ton\n"
                              "\n"
                              "d-two\tB-1,A-1\tbehaviour\tno-terminate\ton\n";

static struct coverage_index *index_made(void)
{
    struct iwarp_sentence error = {""};
    struct script_host *host = script_host_new(&error);
    struct defect_list *list = defect_list_parse(defects, sizeof(defects) - 1, &error);
    struct coverage_index *index;

    ck_assert_msg(host != NULL && list != NULL, "%s", error.text);
    ck_assert_msg(script_load(host, "s.lua", script, sizeof(script) - 1, &error) == 0, "%s", error.text);
    ck_assert_msg(coverage_build(&index, host, list, &error) == 0, "%s", error.text);
    defect_list_free(list);
    script_host_free(host); /* the index outlives both */
    return index;
}

START_TEST(citations_are_those_of_the_host_and_the_list)
{
    static const char *const cited[] = {"A-1", "A-1", "A-1", "A-1", "A-2", "A-3", "B-1", "B-1", "B-2", "C-1", "C-2"};
    struct coverage_index *index = index_made();

    ck_assert_uint_eq(coverage_citation_count(index), sizeof(cited) / sizeof(cited[0]));
    for (size_t i = 0; i < sizeof(cited) / sizeof(cited[0]); i++)
        ck_assert_str_eq(coverage_citation(index, i)->requirement, cited[i]);
    ck_assert_ptr_null(coverage_citation(index, sizeof(cited) / sizeof(cited[0])));
    coverage_free(index);
}
END_TEST

START_TEST(coverage_names_first_check_and_every_defect)
{
    struct coverage_index *index = index_made();
    struct coverage coverage;

    coverage_of(index, "A-1", &coverage);
    ck_assert_str_eq(coverage.check_path, "s.lua");
    ck_assert_uint_eq(coverage.check_line, 5);
    ck_assert_ptr_null(coverage.rule_name);
    ck_assert_uint_eq(coverage.defect_count, 2);
    ck_assert_str_eq(coverage.defects[0], "d-one");
    ck_assert_str_eq(coverage.defects[1], "d-two");
    coverage_of(index, "A-3", &coverage);
    ck_assert_uint_eq(coverage.check_line, 5);
    ck_assert_uint_eq(coverage.defect_count, 0);
    coverage_of(index, "C-2", &coverage);
    ck_assert_uint_eq(coverage.check_line, 14);
    coverage_of(index, "A", &coverage);
    ck_assert_ptr_null(coverage.check_path);
    coverage_of(index, "Z-1", &coverage);
    ck_assert_ptr_null(coverage.check_path);
    coverage_free(index);
}
END_TEST

static const char *kind_name(enum citation_kind kind)
{
    return kind == CITATION_CHECK ? "check" : kind == CITATION_RULE ? "rule" : "defect";
}

START_TEST(every_cited_id_exists)
{
    struct catalogue *catalogue;
    struct coverage_index *index;
    struct iwarp_sentence error = {""};

    ck_assert_msg(catalogue_load(&catalogue, &error) == 0, "%s", error.text);
    ck_assert_msg(coverage_load(&index, &error) == 0, "%s", error.text);
    for (size_t i = 0; i < coverage_citation_count(index); i++) {
        const struct citation *c = coverage_citation(index, i);

        ck_assert_msg(catalogue_find(catalogue, c->requirement) != NULL,
                      "%s %s (line %u) cites %s, which the catalogue does not hold", kind_name(c->kind), c->name,
                      c->line, c->requirement);
    }
    coverage_free(index);
    catalogue_free(catalogue);
}
END_TEST

START_TEST(active_row_has_a_check_or_says_why_not)
{
    struct catalogue *catalogue;
    struct coverage_index *index;
    struct no_defect reason;

    ck_assert_int_eq(catalogue_load(&catalogue, NULL), 0);
    ck_assert_int_eq(coverage_load(&index, NULL), 0);
    for (size_t i = 0; i < catalogue_count(catalogue); i++) {
        const struct requirement *row = catalogue_at(catalogue, i);
        bool outside = strstr(row->capability, "ipsec") != NULL; /* of the stack, and not of a device's host */
        struct coverage coverage;

        coverage_of(index, row->id, &coverage);
        if (row->observability == REQUIREMENT_ACTIVE && coverage.check_path == NULL && coverage.rule_name == NULL)
            ck_assert_msg(!outside && no_defect_find(row->id, &reason), "%s has neither a check nor a reason", row->id);
    }
    coverage_free(index);
    catalogue_free(catalogue);
}
END_TEST

/* RFC 5040 8.2.2, RFC 5041 8.4.2, RFC 5044 9.3 and 9.4. */
START_TEST(ipsec_row_without_a_check_says_why_it_is_not_visible)
{
    static const char *const sections[] = {"RDMAP-8.2.2-", "DDP-8.4-", "DDP-8.4.2-", "MPA-9.3-", "MPA-9.4-"};
    struct catalogue *catalogue;
    struct coverage_index *index;

    ck_assert_int_eq(catalogue_load(&catalogue, NULL), 0);
    ck_assert_int_eq(coverage_load(&index, NULL), 0);
    for (size_t i = 0; i < catalogue_count(catalogue); i++) {
        const struct requirement *row = catalogue_at(catalogue, i);
        struct coverage coverage;
        bool one_of_them = false;

        for (size_t k = 0; k < sizeof(sections) / sizeof(sections[0]); k++)
            one_of_them |= strncmp(row->id, sections[k], strlen(sections[k])) == 0;
        coverage_of(index, row->id, &coverage);
        if (one_of_them && coverage.check_path == NULL)
            ck_assert_msg(strncmp(row->outcomes, "Not visible", 11) == 0 || strncmp(row->outcomes, "Sum of", 6) == 0 ||
                              strncmp(row->outcomes, "A permission", 12) == 0,
                          "%s: %s", row->id, row->outcomes);
    }
    coverage_free(index);
    catalogue_free(catalogue);
}
END_TEST

START_TEST(every_rule_is_in_the_index)
{
    size_t count = rule_count();
    struct coverage_index *index;

    ck_assert_int_eq(coverage_load(&index, NULL), 0);
    ck_assert_uint_gt(count, 0);
    for (size_t i = 0; i < count; i++) {
        struct coverage coverage;

        coverage_of(index, rule_at(i)->id, &coverage);
        ck_assert_msg(coverage.rule_name != NULL, "the rule for %s is not in the index", rule_at(i)->id);
    }
    coverage_free(index);
}
END_TEST

START_TEST(every_validation_cites_an_id_that_exists)
{
    struct catalogue *catalogue;

    ck_assert_int_eq(catalogue_load(&catalogue, NULL), 0);
    ck_assert_uint_gt(validation_count, 0);
    for (size_t i = 0; i < validation_count; i++)
        ck_assert_msg(catalogue_find(catalogue, validation_table[i].requirement) != NULL,
                      "validation %s cites %s, which the catalogue does not hold", validation_table[i].name,
                      validation_table[i].requirement);
    catalogue_free(catalogue);
}
END_TEST

START_TEST(json_holds_every_column_and_what_decides_it)
{
    static const char *const names[] = {"d-one", "d-two"};
    struct coverage none = {0}, some = {"s.lua", 3, "rule_x", names, 2};
    struct catalogue *catalogue;
    const struct requirement *requirement;
    json_t *object;

    ck_assert_int_eq(catalogue_load(&catalogue, NULL), 0);
    requirement = catalogue_find(catalogue, "MPA-7.1.1-35");
    object = requirement_json(requirement, &none);
    ck_assert_uint_eq(json_object_size(object), REQUIREMENT_COLUMNS + 4);
    for (unsigned i = 0; i < REQUIREMENT_COLUMNS; i++)
        ck_assert_str_eq(json_string_value(json_object_get(object, requirement_column_name(i))),
                         requirement->column[i]);
    ck_assert(json_is_null(json_object_get(object, "check")));
    ck_assert(json_is_null(json_object_get(object, "rule")));
    ck_assert_uint_eq(json_array_size(json_object_get(object, "defects")), 0);
    ck_assert(json_is_array(json_object_get(object, "defects")));
    json_decref(object);

    object = requirement_json(requirement, &some);
    ck_assert_str_eq(json_string_value(json_object_get(object, "check")), "s.lua");
    ck_assert_str_eq(json_string_value(json_object_get(object, "rule")), "rule_x");
    ck_assert_str_eq(json_string_value(json_array_get(json_object_get(object, "defects"), 1)), "d-two");
    json_decref(object);
    catalogue_free(catalogue);
}
END_TEST

Suite *explain_suite(void)
{
    Suite *suite = suite_create("explain");
    TCase *drawing = tcase_create("drawing"), *coverage = tcase_create("coverage");

    tcase_add_test(drawing, the_tagged_header_is_drawn_as_the_rfc_does);
    tcase_add_test(drawing, a_field_across_rows_and_a_name_too_long);
    tcase_add_test(drawing, every_layout_of_wire_can_be_drawn);
    tcase_add_test(drawing, every_requirement_of_mpa_ddp_and_rdmap_has_a_header);
    tcase_add_test(drawing, text_is_wrapped_at_words);
    suite_add_tcase(suite, drawing);

    tcase_add_test(coverage, citations_are_those_of_the_host_and_the_list);
    tcase_add_test(coverage, coverage_names_first_check_and_every_defect);
    tcase_add_test(coverage, every_cited_id_exists);
    tcase_add_test(coverage, active_row_has_a_check_or_says_why_not);
    tcase_add_test(coverage, ipsec_row_without_a_check_says_why_it_is_not_visible);
    tcase_add_test(coverage, every_rule_is_in_the_index);
    tcase_add_test(coverage, every_validation_cites_an_id_that_exists);
    tcase_add_test(coverage, json_holds_every_column_and_what_decides_it);
    suite_add_tcase(suite, coverage);
    return suite;
}
