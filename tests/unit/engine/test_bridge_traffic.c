/* SPDX-License-Identifier: BSD-2-Clause */
/* How many connections the command makes by itself. */
#include "conformance/engine/bridge/bridge_traffic.h"

#include <check.h>

Suite *bridge_traffic_suite(void);

static struct bridge_options options;

static void setup(void)
{
    options = (struct bridge_options){.upper_testers = {"192.0.2.2:7471", "192.0.2.3:7471"}};
}

START_TEST(without_upper_testers_none_is_made)
{
    options.upper_testers[0] = NULL;
    ck_assert_uint_eq(bridge_traffic_count(&options, 7), 0);
}
END_TEST

START_TEST(as_many_are_made_as_impairments_name_streams)
{
    ck_assert_uint_eq(bridge_traffic_count(&options, 0), 1);
    ck_assert_uint_eq(bridge_traffic_count(&options, 7), 7);
    options.connections = 3;
    ck_assert_uint_eq(bridge_traffic_count(&options, 7), 3);
}
END_TEST

START_TEST(a_stream_that_is_too_far_is_not_reached)
{
    ck_assert_uint_eq(bridge_traffic_count(&options, BRIDGE_TRAFFIC_MOST - 1), BRIDGE_TRAFFIC_MOST - 1);
    ck_assert_uint_eq(bridge_traffic_count(&options, BRIDGE_TRAFFIC_MOST), BRIDGE_TRAFFIC_MOST);
    ck_assert_uint_eq(bridge_traffic_count(&options, UINT64_MAX), BRIDGE_TRAFFIC_MOST);
}
END_TEST

Suite *bridge_traffic_suite(void)
{
    Suite *suite = suite_create("bridge_traffic");
    TCase *cases = tcase_create("bridge_traffic");

    tcase_add_checked_fixture(cases, setup, NULL);
    tcase_add_test(cases, without_upper_testers_none_is_made);
    tcase_add_test(cases, as_many_are_made_as_impairments_name_streams);
    tcase_add_test(cases, a_stream_that_is_too_far_is_not_reached);
    suite_add_tcase(suite, cases);
    return suite;
}
