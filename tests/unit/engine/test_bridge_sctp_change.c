/* SPDX-License-Identifier: BSD-2-Clause */
/* What is acknowledged takes no room from other changes, and is kept for retransmissions that have crossed the SACK. */
#include <check.h>
#include <stdlib.h>

#include "conformance/engine/bridge/bridge_sctp.h"
#include "conformance/engine/bridge/bridge_sctp_change.h"
#include "tests/unit/suites.h"

Suite *bridge_sctp_change_suite(void);

static const uint32_t first = UINT32_MAX - 3; /* over the end of the numbers */

static int change(struct bridge_association *association, uint32_t tsn)
{
    static const struct bridge_chunk_edit edit = {.count = 1, .chunks = (const uint8_t *)"else", .octets = 4};
    struct iwarp_sentence error;

    return bridge_sctp_change(association, 0, tsn, &edit, &error);
}

START_TEST(sctp_changes_that_are_acknowledged_give_way)
{
    struct bridge_association association = {0};
    struct bridge_sctp_direction *direction = &association.direction[0];
    uint32_t last = first + BRIDGE_CHANGES_MOST;

    for (uint32_t tsn = first; tsn != last; tsn++)
        ck_assert_int_eq(change(&association, tsn), 0);
    ck_assert_int_eq(change(&association, last), -1); /* nothing is acknowledged yet */
    bridge_chunk_changes_acknowledge(direction, first + 9);
    ck_assert_ptr_nonnull(bridge_chunk_change_of(direction, first));
    ck_assert_int_eq(change(&association, last), 0);
    ck_assert_ptr_null(bridge_chunk_change_of(direction, first + 8));
    ck_assert_ptr_nonnull(bridge_chunk_change_of(direction, first + 9));
    bridge_chunk_changes_acknowledge(direction, last + BRIDGE_KEPT_CHUNKS);
    ck_assert_uint_eq(direction->change_count, 1);
    bridge_chunk_changes_acknowledge(direction, last + BRIDGE_KEPT_CHUNKS + 1);
    ck_assert_uint_eq(direction->change_count, 0);
    ck_assert_uint_eq(direction->change_octets, 0);
}
END_TEST

Suite *bridge_sctp_change_suite(void)
{
    Suite *suite = suite_create("bridge_sctp_change");
    TCase *tests = tcase_create("changes of chunks");

    tcase_add_test(tests, sctp_changes_that_are_acknowledged_give_way);
    suite_add_tcase(suite, tests);
    return suite;
}
