/* SPDX-License-Identifier: BSD-2-Clause */
/* The choice points of choices.tsv, and the devices that seeds draw from them. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "reference-stack/defects/choice.h"
#include "tests/unit/suites.h"

Suite *choice_suite(void);

static struct choice_table *whole_table(void)
{
    struct iwarp_sentence error = {""};
    struct choice_table *table = choice_table_embedded(&error);

    ck_assert_msg(table != NULL, "%s", error.text);
    return table;
}

static struct choice_device *named(const struct choice_table *table, enum choice_layer layer, const char *text)
{
    struct iwarp_sentence error = {""};
    struct choice_device *device = choice_device_named(table, layer, text, &error);

    ck_assert_msg(device != NULL, "%s: %s", text, error.text);
    return device;
}

START_TEST(every_variant_is_an_alternative_of_one_point)
{
    struct iwarp_sentence error = {""};
    struct choice_table *table = whole_table();
    struct defect_list *variants = variant_list_embedded(&error);
    size_t times[CHOICE_LAYERS];
    const struct defect **rows[CHOICE_LAYERS];

    ck_assert_ptr_nonnull(variants);
    for (int layer = 0; layer < CHOICE_LAYERS; layer++)
        rows[layer] = choice_table_rows(table, (enum choice_layer)layer, &times[layer]);
    for (size_t i = 0; i < defect_list_count(variants); i++) {
        const struct defect *variant = defect_list_at(variants, i);
        size_t layers = 0;

        for (int layer = 0; layer < CHOICE_LAYERS; layer++)
            for (size_t j = 0; j < times[layer]; j++)
                layers += strcmp(rows[layer][j]->id, variant->id) == 0;
        ck_assert_msg(layers != 0, "choices.tsv has no point for %s", variant->id);
        for (size_t j = 0; j < times[CHOICE_CM]; j++)
            if (strcmp(rows[CHOICE_CM][j]->id, variant->id) == 0)
                ck_assert_msg(defect_acts_over_cm(variant) && layers == 1, "%s: cm, or another layer", variant->id);
        for (size_t j = 0; j < times[CHOICE_TCP]; j++)
            if (strcmp(rows[CHOICE_TCP][j]->id, variant->id) == 0)
                ck_assert_msg(!defect_acts_over_sctp(variant), "%s acts over SCTP alone", variant->id);
    }
    for (int layer = 0; layer < CHOICE_LAYERS; layer++)
        free(rows[layer]);
    defect_list_free(variants);
    choice_table_free(table);
}
END_TEST

START_TEST(a_seed_draws_the_same_device_again)
{
    struct iwarp_sentence error = {""};
    struct choice_table *table = whole_table();
    size_t few = 0, many = 0;

    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct choice_device *device = choice_device_draw(table, CHOICE_TCP, seed, &error);
        struct choice_device *again = choice_device_draw(table, CHOICE_TCP, seed, &error);
        char *text = choice_device_text(device), *same = choice_device_text(again);

        ck_assert_str_eq(text, same);
        *(device->count <= 4 ? &few : &many) += 1;
        for (size_t i = 1; i < device->count; i++)
            ck_assert_uint_lt(device->choices[i - 1].point, device->choices[i].point);
        free(again);
        again = named(table, CHOICE_TCP, device->count == 0 ? "none" : text);
        ck_assert_uint_eq(again->count, device->count);
        free(same);
        free(text);
        free(again);
        free(device);
    }
    ck_assert_uint_ge(few, 20);
    ck_assert_uint_ge(many, 5);
    choice_table_free(table);
}
END_TEST

/* The stack can be each device of each layer: its rows make a set. */
START_TEST(every_drawn_device_can_be_made)
{
    struct iwarp_sentence error = {""};
    struct choice_table *table = whole_table();

    for (int layer = 0; layer < CHOICE_LAYERS; layer++)
        for (uint64_t seed = 0; seed < 60; seed++) {
            struct choice_device *device = choice_device_draw(table, (enum choice_layer)layer, seed, &error);
            struct defect_set *set = choice_device_set(device, &error);

            ck_assert_msg(set != NULL, "%s, seed %d: %s", choice_layer_name((enum choice_layer)layer), (int)seed,
                          error.text);
            defect_set_free(set);
            free(device);
        }
    choice_table_free(table);
}
END_TEST

START_TEST(a_number_is_drawn_from_its_range)
{
    struct iwarp_sentence error = {""};
    struct choice_table *table = whole_table();
    bool low = false, high = false, between = false;

    for (uint64_t seed = 0; seed < 4000; seed += 4) { /* many choices each */
        struct choice_device *device = choice_device_draw(table, CHOICE_SCTP, seed, &error);

        for (size_t i = 0; i < device->count; i++) {
            const struct choice *choice = &device->choices[i];
            unsigned long value = strtoul(choice->row.value, NULL, 10);

            if (strcmp(choice->row.target, "association.streams") != 0 || choice->row.id != choice->id)
                continue;
            ck_assert_uint_ge(value, 1);
            ck_assert_uint_le(value, 65535);
            low = low || value == 1;
            high = high || value == 65535;
            between = between || (value > 1 && value < 65535);
        }
        free(device);
    }
    ck_assert(low && high && between);
    choice_table_free(table);
}
END_TEST

START_TEST(a_choice_can_be_left_out)
{
    struct choice_table *table = whole_table();
    struct choice_device *device = named(table, CHOICE_TCP, "tcp.mss=700,segments-512,acks-late");
    char *text = choice_device_text(device), *less_text;
    struct choice_device *less;

    ck_assert_uint_eq(device->count, 3);
    ck_assert_ptr_nonnull(strstr(text, "tcp.mss=700"));
    less = choice_device_without(device, 1);
    less_text = choice_device_text(less);
    ck_assert_uint_eq(less->count, 2);
    ck_assert_ptr_null(strstr(less_text, device->choices[1].row.id));
    ck_assert(choice_device_warns(device, "MPA-4.5-05")); /* segments-512's row names it */
    free(less_text);
    free(text);
    free(less);
    free(device);
    less = named(table, CHOICE_TCP, "none");
    ck_assert_uint_eq(less->count, 0);
    ck_assert(!choice_device_warns(less, "MPA-4.5-05"));
    free(less);
    choice_table_free(table);
}
END_TEST

static const struct {
    const char *text, *sentence;
} wrong_devices[] = {
    {"no-such-choice", "tcp has no alternative 'no-such-choice'"},
    {"segments-51", "did you mean \"segments-512\""},
    {"cm-ipv4-alone", "tcp has no alternative"},
    {"segments-512,segments-333", "alternatives of one point"},
    {"tcp.mss=1", "a number of 128 to 1460 was expected"},
    {"tcp.mss=many", "a number of 128 to 1460 was expected"},
    {"", "no alternative ''"},
};

START_TEST(a_wrong_device_is_refused_with_a_sentence)
{
    struct choice_table *table = whole_table();
    struct iwarp_sentence error = {""};

    ck_assert_ptr_null(choice_device_named(table, CHOICE_TCP, wrong_devices[_i].text, &error));
    ck_assert_msg(strstr(error.text, wrong_devices[_i].sentence) != NULL, "%s", error.text);
    choice_table_free(table);
}
END_TEST

static const char variants[] = "a\tDDP-7.1-25\t-\tvalidate\tddp-stag-access\ttriple\tRDMAP_ACCESS\n"
                               "b\tDDP-7.1-01\tDDP-7.1-01\tvalidate\tddp-qn\ttriple\tDDP_INVALID_MO\n";

START_TEST(two_choices_may_be_reported_where_neither_is_alone)
{
    static const char text[] = "x\ttcp\ta\ny\ttcp\tb\n+\ta,b\tMPA-8-13,DDP-7-01\n";
    struct iwarp_sentence error = {""};
    struct defect_list *list = variant_list_parse(variants, strlen(variants), &error);
    struct choice_table *table = choice_table_parse(list, text, strlen(text), &error);
    struct choice_device *both, *one;

    ck_assert_msg(table != NULL, "%s", error.text);
    both = named(table, CHOICE_TCP, "b,a");
    one = named(table, CHOICE_TCP, "a");
    ck_assert(choice_device_warns(both, "DDP-7-01") && choice_device_warns(both, "DDP-7.1-01"));
    ck_assert(!choice_device_warns(one, "DDP-7-01") && !choice_device_warns(both, "DDP-7-0"));
    free(one);
    free(both);
    choice_table_free(table);
    defect_list_free(list);
}
END_TEST

static const struct {
    const char *text, *sentence;
} wrong_tables[] = {
    {"x\ttcp\n", "line 1: three fields"},
    {"x\tudp\ta\n", "line 1: layer 'udp'"},
    {"\n# \nx\ttcp\tc\n", "line 3: there is no variant 'c'"},
    {"x\ttcp\ta\ny\ttcp\ta\n", "line 2: tcp has 'a' twice"},
    {"x\ttcp\ta\nx\ttcp\tb\n", "line 2: tcp has the point 'x' twice"},
    {"x\ttcp\ttcp.mss=9..1\n", "tcp.mss=LOW..HIGH was expected"},
    {"x\ttcp\ttcp.mss=1..99999999\n", "no room"},
    {"x\ttcp\ttcp.nothing=1..2\n", "nothing that is configured is called"},
    {"!\ta\tno second one\n", "two variants"},
    {"!\ta,b\treasonless\n", "a reason"},
    {"+\ta,b\tMPA-8-13, DDP-7-01\n", "ids were expected"},
};

START_TEST(a_wrong_table_is_refused_with_its_line)
{
    struct iwarp_sentence error = {""};
    struct defect_list *list = variant_list_parse(variants, strlen(variants), &error);
    const char *text = wrong_tables[_i].text;

    ck_assert_ptr_null(choice_table_parse(list, text, strlen(text), &error));
    ck_assert_msg(strstr(error.text, wrong_tables[_i].sentence) != NULL, "%s", error.text);
    defect_list_free(list);
}
END_TEST

START_TEST(what_does_not_go_together_is_never_drawn_together)
{
    static const char text[] = "x\ttcp\ta\ny\ttcp\tb\n!\ta,b\tthey break the text together\n";
    struct iwarp_sentence error = {""};
    struct defect_list *list = variant_list_parse(variants, strlen(variants), &error);
    struct choice_table *table = choice_table_parse(list, text, strlen(text), &error);
    size_t alone[2] = {0};

    ck_assert_msg(table != NULL, "%s", error.text);
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct choice_device *device = choice_device_draw(table, CHOICE_TCP, seed, &error);

        ck_assert_uint_le(device->count, 1);
        if (device->count == 1)
            alone[device->choices[0].point]++;
        free(device);
    }
    ck_assert(alone[0] != 0 && alone[1] != 0);
    ck_assert_ptr_null(choice_device_named(table, CHOICE_TCP, "b,a", &error));
    ck_assert_msg(strstr(error.text, "does not go with") != NULL, "%s", error.text);
    choice_table_free(table);
    defect_list_free(list);
}
END_TEST

Suite *choice_suite(void)
{
    Suite *suite = suite_create("choice");
    TCase *table = tcase_create("table"), *device = tcase_create("device");

    tcase_add_test(table, every_variant_is_an_alternative_of_one_point);
    tcase_add_loop_test(table, a_wrong_table_is_refused_with_its_line, 0,
                        sizeof(wrong_tables) / sizeof(wrong_tables[0]));
    tcase_add_test(device, a_seed_draws_the_same_device_again);
    tcase_add_test(device, every_drawn_device_can_be_made);
    tcase_add_test(device, a_number_is_drawn_from_its_range);
    tcase_add_test(device, a_choice_can_be_left_out);
    tcase_add_loop_test(device, a_wrong_device_is_refused_with_a_sentence, 0,
                        sizeof(wrong_devices) / sizeof(wrong_devices[0]));
    tcase_add_test(device, two_choices_may_be_reported_where_neither_is_alone);
    tcase_add_test(device, what_does_not_go_together_is_never_drawn_together);
    suite_add_tcase(suite, table);
    suite_add_tcase(suite, device);
    return suite;
}
