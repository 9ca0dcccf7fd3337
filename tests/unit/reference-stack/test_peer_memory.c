/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory that the upper tester registers: what lies beside it is looked after. */
#include <check.h>
#include <string.h>

#include "reference-stack/peer/peer_internal.h"
#include "reference-stack/peer/peer_memory.h"

Suite *peer_memory_suite(void);

START_TEST(one_octet_beside_it_shows)
{
    static const size_t sizes[] = {0, 1, 8, 4096};
    struct peer peer = {0};
    uint8_t *octets = peer_memory_new(&peer, sizes[_i]);

    ck_assert_ptr_nonnull(octets);
    ck_assert_uint_eq((uintptr_t)octets % sizeof(uint64_t), 0);
    memset(octets, 0x5A, sizes[_i]);
    ck_assert(peer_memory_guarded(octets));
    for (size_t i = 0; i < PEER_GUARD; i++) {
        octets[sizes[_i] + i] ^= 1;
        ck_assert(!peer_memory_guarded(octets));
        octets[sizes[_i] + i] ^= 1;
        *(octets - 1 - i) ^= 1;
        ck_assert(!peer_memory_guarded(octets));
        *(octets - 1 - i) ^= 1;
    }
    ck_assert(peer_memory_guarded(octets));
    peer_memory_clear(&peer);
    ck_assert_ptr_null(peer.memories);
}
END_TEST

START_TEST(memory_is_freed_in_any_order)
{
    struct peer peer = {0};
    uint8_t *memory[3];

    for (size_t i = 0; i < 3; i++) {
        memory[i] = peer_memory_new(&peer, 16);
        ck_assert_ptr_nonnull(memory[i]);
        for (size_t j = 0; j < 16; j++)
            ck_assert_uint_eq(memory[i][j], 0);
    }
    for (size_t i = 0; i < 3; i++)
        peer_memory_free(&peer, memory[(i + (size_t)_i) % 3]);
    ck_assert_ptr_null(peer.memories);
}
END_TEST

Suite *peer_memory_suite(void)
{
    Suite *suite = suite_create("peer_memory");
    TCase *tests = tcase_create("guards");

    tcase_add_loop_test(tests, one_octet_beside_it_shows, 0, 4);
    tcase_add_loop_test(tests, memory_is_freed_in_any_order, 0, 3);
    suite_add_tcase(suite, tests);
    return suite;
}
