/* SPDX-License-Identifier: BSD-2-Clause */
/* The device's memory registry: STags, ranges up to 2^64, ownership. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "iwarp/device.h"
#include "tests/unit/suites.h"

Suite *memory_suite(void);

START_TEST(register_and_find)
{
    struct iwarp_device *device = iwarp_device_new(NULL);
    uint8_t own[16] = {1, 2, 3};
    struct iwarp_region borrowed = {.length = 16, .octets = own, .access = IWARP_REMOTE_READ, .base = 5};
    struct iwarp_region owned = {.length = 16};
    const struct iwarp_region *found;

    ck_assert_int_eq(iwarp_region_register(device, &borrowed, NULL), 0);
    ck_assert_int_eq(iwarp_region_register(device, &owned, NULL), 0);
    ck_assert_uint_ne(borrowed.stag, owned.stag);
    ck_assert_uint_ne(borrowed.stag, 0);
    ck_assert_uint_eq(iwarp_region_count(device), 2);
    found = iwarp_region_find(device, borrowed.stag);
    ck_assert_ptr_eq(found->octets, own);
    ck_assert(found->valid);
    found = iwarp_region_find(device, owned.stag);
    for (size_t i = 0; i < 16; i++)
        ck_assert_uint_eq(found->octets[i], 0);
    for (unsigned bit = 0; bit < 32; bit++)
        ck_assert_ptr_null(iwarp_region_find(device, owned.stag ^ UINT32_C(1) << bit));
    ck_assert_ptr_nonnull(iwarp_region_at(device, 1));
    ck_assert_ptr_null(iwarp_region_at(device, 2));
    ck_assert_int_eq(iwarp_region_invalidate(device, owned.stag, NULL), 0);
    ck_assert(!iwarp_region_find(device, owned.stag)->valid);
    ck_assert_int_eq(iwarp_region_deregister(device, owned.stag, NULL), 0);
    ck_assert_ptr_null(iwarp_region_find(device, owned.stag));
    ck_assert_int_eq(iwarp_region_deregister(device, owned.stag, NULL), -1);
    ck_assert_int_eq(iwarp_region_invalidate(device, owned.stag, NULL), -1);
    iwarp_device_free(device);
    ck_assert_uint_eq(own[2], 3);
}
END_TEST

START_TEST(ranges)
{
    struct iwarp_device *device = iwarp_device_new(NULL);
    struct sentence sentence = {""};
    struct iwarp_region top = {.base = UINT64_MAX - 15, .length = 16};
    struct iwarp_region beyond = {.base = UINT64_MAX - 14, .length = 16};
    struct iwarp_region empty = {.base = UINT64_MAX, .length = 0};
    struct iwarp_region huge = {.length = UINT64_MAX};

    ck_assert_int_eq(iwarp_region_register(device, &top, NULL), 0);
    ck_assert_int_eq(iwarp_region_register(device, &empty, NULL), 0);
    ck_assert_int_eq(iwarp_region_register(device, &beyond, &sentence), -1);
    ck_assert_ptr_nonnull(strstr(sentence.text, "2^64"));
    ck_assert_int_eq(iwarp_region_register(device, &huge, &sentence), -1);
    iwarp_device_free(device);
}
END_TEST

START_TEST(chosen_stag_and_limits)
{
    struct iwarp_device_config config = {.regions_max = 2};
    struct iwarp_device *device = iwarp_device_new(&config);
    struct iwarp_region region = {.length = 1, .stag = 77};
    struct sentence sentence = {""};

    ck_assert_int_eq(iwarp_region_register(device, &region, NULL), 0);
    ck_assert_uint_eq(region.stag, 77);
    region.octets = NULL;
    ck_assert_int_eq(iwarp_region_register(device, &region, &sentence), -1);
    ck_assert_ptr_nonnull(strstr(sentence.text, "in use"));
    region.stag = 78;
    ck_assert_int_eq(iwarp_region_register(device, &region, NULL), 0);
    region.stag = 79;
    region.octets = NULL;
    ck_assert_int_eq(iwarp_region_register(device, &region, &sentence), -1);
    ck_assert_ptr_nonnull(strstr(sentence.text, "2 regions"));
    iwarp_device_free(device);
}
END_TEST

/* Drawn STags are spread over their 32 bits, hold no order, and are the same for the same seed (RFC 5040 8.1.1). */
START_TEST(stags_are_sparse)
{
    enum { COUNT = 1000 };
    struct iwarp_device_config config = {.seed = 42};
    struct iwarp_device *device = iwarp_device_new(&config);
    struct iwarp_device *same = iwarp_device_new(&config);
    uint32_t before = 0;
    uint32_t all = 0;
    unsigned rising = 0;

    for (int i = 0; i < COUNT; i++) {
        struct iwarp_region region = {.length = 1};
        struct iwarp_region again = {.length = 1};

        ck_assert_int_eq(iwarp_region_register(device, &region, NULL), 0);
        ck_assert_int_eq(iwarp_region_register(same, &again, NULL), 0);
        ck_assert_uint_eq(region.stag, again.stag);
        all |= region.stag;
        rising += region.stag > before;
        before = region.stag;
    }
    ck_assert_uint_eq(all, UINT32_MAX);
    ck_assert_uint_gt(rising, COUNT / 3);
    ck_assert_uint_lt(rising, 2 * COUNT / 3);
    iwarp_device_free(device);
    iwarp_device_free(same);
}
END_TEST

Suite *memory_suite(void)
{
    Suite *suite = suite_create("memory");
    TCase *regions = tcase_create("regions");

    tcase_add_test(regions, register_and_find);
    tcase_add_test(regions, ranges);
    tcase_add_test(regions, chosen_stag_and_limits);
    tcase_add_test(regions, stags_are_sparse);
    suite_add_tcase(suite, regions);
    return suite;
}
