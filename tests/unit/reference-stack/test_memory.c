/* SPDX-License-Identifier: BSD-2-Clause */
/* The device's memory registry: STags, ranges up to 2^64, ownership, and what misuse gets. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "iwarp/stream.h"
#include "tests/unit/misuse.h"
#include "wire/mpa.h"

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

START_TEST(regions_reach_to_the_last_address)
{
    struct iwarp_device *device = iwarp_device_new(NULL);
    struct iwarp_sentence sentence = {""};
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
    struct iwarp_sentence sentence = {""};

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

/* --- Misuse ------------------------------------------------------------------------------------------------------- */

START_TEST(missing_device_is_refused)
{
    struct iwarp_device *device = iwarp_device_new(NULL);
    struct iwarp_region one = {.length = 8};

    ck_assert_ptr_nonnull(device);
    iwarp_device_free(NULL);
    REFUSED("a device and a region, got NULL", iwarp_region_register(NULL, &one, why));
    REFUSED("a device and a region, got NULL", iwarp_region_register(device, NULL, why));
    REFUSED("region_deregister: expected a device", iwarp_region_deregister(NULL, 1, why));
    REFUSED("region_invalidate: expected a device", iwarp_region_invalidate(NULL, 1, why));
    REFUSED("region_set_length: expected a device", iwarp_region_set_length(NULL, 1, 8, why));
    ck_assert_ptr_null(iwarp_region_find(NULL, 1));
    ck_assert_ptr_null(iwarp_region_at(NULL, 0));
    ck_assert_uint_eq(iwarp_region_count(NULL), 0);
    ck_assert_uint_eq(iwarp_region_count(device), 0);
    iwarp_device_free(device);
}
END_TEST

static void not_registered(struct iwarp_device *device, const char *part, struct iwarp_region wrong)
{
    struct iwarp_region before = wrong;

    REFUSED(part, iwarp_region_register(device, &wrong, why));
    misuse_untouched(&wrong, &before);
}

START_TEST(impossible_regions_are_refused)
{
    const struct iwarp_device_config config = {.regions_max = 2};
    struct iwarp_device *device = iwarp_device_new(&config);
    struct iwarp_region good = {.length = 8, .stag = 77, .access = 31}, other = {.length = 8};

    ck_assert_int_eq(iwarp_region_register(device, &good, NULL), 0);
    not_registered(device, "access 0x20, rights out of 0x1f", (struct iwarp_region){.length = 8, .access = 32});
    not_registered(device, "access 0xffffffff", (struct iwarp_region){.length = 8, .access = UINT32_MAX});
    not_registered(device, "exceeds 2^64", (struct iwarp_region){.length = 8, .base = UINT64_MAX - 6});
    not_registered(device, "more than memory can hold", (struct iwarp_region){.length = SIZE_MAX / 2 + 1});
    not_registered(device, "STag 0x0000004d is in use", (struct iwarp_region){.length = 8, .stag = 77});
    for (uint32_t stag = 76; stag <= 78; stag += 2) {
        REFUSED("no STag", iwarp_region_deregister(device, stag, why));
        REFUSED("no STag", iwarp_region_invalidate(device, stag, why));
        REFUSED("no STag", iwarp_region_set_length(device, stag, 8, why));
    }
    REFUSED("8 are registered", iwarp_region_set_length(device, 77, 9, why));
    REFUSED("8 are registered", iwarp_region_set_length(device, 77, UINT64_MAX, why));
    ck_assert_uint_eq(iwarp_region_count(device), 1);
    ck_assert_uint_eq(iwarp_region_find(device, 77)->length, 8);
    ck_assert_int_eq(iwarp_region_register(device, &other, NULL), 0);
    not_registered(device, "2 regions are registered", (struct iwarp_region){.length = 8});
    ck_assert_int_eq(iwarp_region_deregister(device, 77, NULL), 0);
    REFUSED("no STag 0x0000004d", iwarp_region_deregister(device, 77, why));
    iwarp_device_free(device);
}
END_TEST

/* Depths that MPA has no number for count as the greatest that it has (RFC 6581 9.1). */
START_TEST(depths_of_a_device)
{
    const struct iwarp_device_config config = {.ird_max = UINT32_MAX, .ord_max = 0x10000};
    struct iwarp_device *device = iwarp_device_new(&config);
    struct iwarp_stream_config not_negotiated;
    struct iwarp_stream *one;

    iwarp_stream_config_default(&not_negotiated, IWARP_INITIATOR);
    not_negotiated.ird = not_negotiated.ord = MPA_DEPTH_NOT_NEGOTIATED;
    one = iwarp_stream_new(device, &not_negotiated, 1, NULL);
    ck_assert_ptr_nonnull(one);
    ck_assert_uint_eq(iwarp_stream_ird(one), 0x3FFE);
    ck_assert_uint_eq(iwarp_stream_ord(one), 0x3FFE);
    iwarp_stream_free(one);
    iwarp_device_free(device);
}
END_TEST

Suite *memory_suite(void)
{
    Suite *suite = suite_create("memory");
    TCase *regions = tcase_create("regions");

    tcase_add_test(regions, register_and_find);
    tcase_add_test(regions, regions_reach_to_the_last_address);
    tcase_add_test(regions, chosen_stag_and_limits);
    tcase_add_test(regions, stags_are_sparse);
    tcase_add_test(regions, missing_device_is_refused);
    tcase_add_test(regions, impossible_regions_are_refused);
    tcase_add_test(regions, depths_of_a_device);
    suite_add_tcase(suite, regions);
    return suite;
}
