/* SPDX-License-Identifier: BSD-2-Clause */
/* Sequence numbers and octets on both sides of a bridge, against a plain model of the same changes. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/bridge/bridge_map.h"
#include "conformance/engine/bridge/bridge_trigger.h"
#include "tests/unit/suites.h"

Suite *bridge_map_suite(void);

enum { STREAM = 2000, ROOM = 8000, ROUNDS = 300 };

/* What becomes of a stream of STREAM octets that begins at `first`, octet by octet. */
struct model {
    uint32_t first;
    uint8_t in[STREAM];
    struct bridge_map map;
    uint32_t out_of[STREAM + 1]; /* where octet i goes, from `first` on */
    uint8_t out[ROOM];
    size_t out_octets;
};

static unsigned draw(unsigned *state, unsigned below)
{
    *state = *state * 1103515245u + 12345u;
    return (*state >> 8) % below;
}

static void make(struct model *model, unsigned *state)
{
    uint8_t other[200];
    uint32_t at = 0;

    memset(model, 0, sizeof(*model));
    model->first = UINT32_MAX - draw(state, STREAM); /* the numbers wrap */
    for (unsigned i = 0; i < STREAM; i++)
        model->in[i] = (uint8_t)draw(state, 256);
    while (at < STREAM) {
        uint32_t same = 1 + draw(state, 150), old = draw(state, 100);
        size_t count = draw(state, 3) == 0 ? 0 : draw(state, sizeof(other));

        for (; same > 0 && at < STREAM; same--, at++) {
            model->out_of[at] = (uint32_t)model->out_octets;
            model->out[model->out_octets++] = model->in[at];
        }
        old = old < STREAM - at ? old : STREAM - at;
        if (at == STREAM || (old == 0 && count == 0))
            continue;
        for (size_t i = 0; i < count; i++)
            other[i] = (uint8_t)draw(state, 256);
        ck_assert_int_eq(bridge_map_replace(&model->map, model->first + at, model->first + at + old, other, count), 0);
        for (uint32_t i = 0; i < old; i++) {
            size_t more = count > old ? count - old : 0; /* these stand before the first */

            model->out_of[at + i] = (uint32_t)(model->out_octets + (i == 0 ? 0 : i + more < count ? i + more : count));
        }
        if (old == 0)
            model->out_of[at] = (uint32_t)model->out_octets;
        memcpy(model->out + model->out_octets, other, count);
        model->out_octets += count;
        at += old;
        if (old == 0 && at < STREAM) /* the octet after what is inserted */
            model->out[model->out_octets++] = model->in[at++];
    }
    model->out_of[STREAM] = (uint32_t)model->out_octets;
}

START_TEST(numbers_and_octets_are_those_of_the_model)
{
    unsigned state = 7;
    struct model *model = malloc(sizeof(*model));

    for (unsigned round = 0; round < ROUNDS; round++) {
        uint8_t got[ROOM];
        size_t used = 0;

        make(model, &state);
        for (uint32_t i = 0; i <= STREAM; i++)
            ck_assert_uint_eq(bridge_map_out(&model->map, model->first + i), model->first + model->out_of[i]);
        for (uint32_t at = 0; at < STREAM;) { /* in segments of any length */
            uint32_t count = 1 + draw(&state, 300);

            count = count < STREAM - at ? count : STREAM - at;
            ck_assert_uint_eq(bridge_map_copy(&model->map, model->first + at, model->in + at, count, NULL),
                              model->out_of[at + count] - model->out_of[at]);
            ck_assert_uint_eq(bridge_map_out(&model->map, model->first + at) - model->first, used);
            used += bridge_map_copy(&model->map, model->first + at, model->in + at, count, got + used);
            at += count;
        }
        ck_assert_uint_eq(used, model->out_octets);
        ck_assert_mem_eq(got, model->out, used);
        bridge_map_free(&model->map);
    }
    free(model);
}
END_TEST

START_TEST(acknowledgments_cover_what_the_receiver_has_and_no_more)
{
    unsigned state = 9;
    struct model *model = malloc(sizeof(*model));

    for (unsigned round = 0; round < ROUNDS; round++) {
        make(model, &state);
        for (uint32_t out = 0, in = 0; out <= model->out_octets; out++) {
            while (in < STREAM && model->out_of[in + 1] <= out)
                in++;
            ck_assert_uint_eq(bridge_map_in(&model->map, model->first + out), model->first + in);
            if (model->out_of[in] == out) /* the left edge of a block */
                ck_assert_uint_eq(bridge_map_in_from(&model->map, model->first + out), model->first + in);
            else
                ck_assert_uint_eq(bridge_map_in_from(&model->map, model->first + out), model->first + in + 1);
        }
        bridge_map_free(&model->map);
    }
    free(model);
}
END_TEST

START_TEST(forgotten_changes_move_numbers_still)
{
    unsigned state = 11;
    struct model *model = malloc(sizeof(*model));

    for (unsigned round = 0; round < ROUNDS; round++) {
        uint32_t known = draw(&state, STREAM);

        make(model, &state);
        bridge_map_forget(&model->map, model->first + known);
        for (uint32_t i = known; i <= STREAM; i++)
            ck_assert_uint_eq(bridge_map_out(&model->map, model->first + i), model->first + model->out_of[i]);
        bridge_map_forget(&model->map, model->first + STREAM + 1);
        ck_assert_uint_eq(model->map.count, 0);
        ck_assert_uint_eq(model->map.octets, 0);
        bridge_map_free(&model->map);
    }
    free(model);
}
END_TEST

START_TEST(range_has_one_change)
{
    struct bridge_map map = {0};

    ck_assert_int_eq(bridge_map_replace(&map, 100, 200, (const uint8_t *)"ab", 2), 0);
    ck_assert_int_eq(bridge_map_replace(&map, 100, 200, (const uint8_t *)"ab", 2), -1);
    ck_assert_int_eq(bridge_map_replace(&map, 199, 201, (const uint8_t *)"ab", 2), -1);
    ck_assert_int_eq(bridge_map_replace(&map, 50, 101, (const uint8_t *)"ab", 2), -1);
    ck_assert_int_eq(bridge_map_replace(&map, 200, 201, (const uint8_t *)"ab", 2), 0);
    ck_assert_int_eq(bridge_map_replace(&map, 50, 100, NULL, 0), 0);
    ck_assert_uint_eq(map.count, 3);
    bridge_map_free(&map);
}
END_TEST

START_TEST(changes_that_wait_are_bounded)
{
    struct bridge_map map = {0};
    uint8_t *octets = calloc(1, BRIDGE_CHANGE_OCTETS_MOST);

    ck_assert_int_eq(bridge_map_replace(&map, 0, 1, octets, BRIDGE_CHANGE_OCTETS_MOST), 0);
    ck_assert_int_eq(bridge_map_replace(&map, 2, 3, octets, 1), -1);
    bridge_map_forget(&map, 2);
    for (uint32_t i = 0; i < BRIDGE_CHANGES_MOST; i++)
        ck_assert_int_eq(bridge_map_replace(&map, 10 + 2 * i, 11 + 2 * i, octets, 1), 0);
    ck_assert_int_eq(bridge_map_replace(&map, 9000, 9001, octets, 1), -1);
    bridge_map_acknowledge(&map, 12, 100);
    ck_assert_uint_eq(map.count, BRIDGE_CHANGES_MOST);
    ck_assert_int_eq(bridge_map_replace(&map, 9000, 9001, octets, 1), 0); /* in the place of the first */
    ck_assert_uint_eq(map.count, BRIDGE_CHANGES_MOST);
    ck_assert_int_eq(bridge_map_replace(&map, 9002, 9003, octets, 1), -1);
    bridge_map_acknowledge(&map, 9101, 100);
    ck_assert_uint_eq(map.count, 0);
    free(octets);
    bridge_map_free(&map);
}
END_TEST

START_TEST(third_match_is_the_third_that_fits)
{
    struct bridge_trigger trigger = {.kind = 5, .side = 1, .stream = 2, .nth = 3, .times = 2};

    ck_assert(bridge_trigger_fits(&trigger, 5, BRIDGE_TCP, 1, 2));
    trigger.llp = BRIDGE_SCTP;
    ck_assert(!bridge_trigger_fits(&trigger, 5, BRIDGE_TCP, 1, 2));
    trigger.llp = BRIDGE_TCP;
    ck_assert(!bridge_trigger_fits(&trigger, 4, BRIDGE_TCP, 1, 2));
    ck_assert(!bridge_trigger_fits(&trigger, 5, BRIDGE_TCP, 0, 2));
    ck_assert(!bridge_trigger_fits(&trigger, 5, BRIDGE_TCP, 1, 1));
    ck_assert(!bridge_trigger_count(&trigger));
    ck_assert(!bridge_trigger_count(&trigger));
    ck_assert(bridge_trigger_count(&trigger));
    ck_assert(!bridge_trigger_is_over(&trigger));
    ck_assert(bridge_trigger_count(&trigger));
    ck_assert(bridge_trigger_is_over(&trigger));
    ck_assert(!bridge_trigger_count(&trigger));
    ck_assert_uint_eq(trigger.matched, 5);
    trigger = (struct bridge_trigger){.kind = 5, .side = -1, .nth = 1, .times = UINT64_MAX};
    ck_assert(bridge_trigger_fits(&trigger, 5, BRIDGE_TCP, 0, 9));
    ck_assert(bridge_trigger_count(&trigger));
    ck_assert(bridge_trigger_count(&trigger));
}
END_TEST

Suite *bridge_map_suite(void)
{
    Suite *suite = suite_create("bridge_map");
    TCase *cases = tcase_create("bridge_map");

    tcase_add_test(cases, numbers_and_octets_are_those_of_the_model);
    tcase_add_test(cases, acknowledgments_cover_what_the_receiver_has_and_no_more);
    tcase_add_test(cases, forgotten_changes_move_numbers_still);
    tcase_add_test(cases, range_has_one_change);
    tcase_add_test(cases, changes_that_wait_are_bounded);
    tcase_add_test(cases, third_match_is_the_third_that_fits);
    suite_add_tcase(suite, cases);
    return suite;
}
