/* SPDX-License-Identifier: BSD-2-Clause */
/* Chunk lists of RPC-over-RDMA (RFC 8166 4.7), cut at every octet, and its Private Data (RFC 8797). */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/octets.h"
#include "wire/rpcrdma.h"

Suite *rpcrdma_suite(void);

/* Two read segments; a Write list of two chunks, of which the second is empty; a Reply chunk of one segment. */
static const uint32_t words[] = {1, 40,   0xA1, 10, 0, 1, 1, 44, 0xA2, 20, 0,    2,  0, 1,
                                 1, 0xB1, 30,   0,  3, 1, 0, 0,  1,    1,  0xC1, 40, 0, 4};
enum { WORDS = sizeof(words) / sizeof(words[0]) };

static unsigned walk_to(size_t octets, struct rpcrdma_walk *walk, struct rpcrdma_segment *segments)
{
    uint8_t *copy = malloc(octets == 0 ? 1 : octets), all[WORDS * 4];
    unsigned count = 0;

    ck_assert_ptr_nonnull(copy);
    for (size_t i = 0; i < WORDS; i++)
        octets_put32(all + i * 4, words[i]);
    memcpy(copy, all, octets);
    rpcrdma_walk_begin(walk, copy, copy + octets);
    while (rpcrdma_walk_next(walk, &segments[count]))
        count++;
    walk->left = (uint32_t)(walk->end - walk->p);
    free(copy);
    return count;
}

START_TEST(chunk_lists_are_walked_segment_by_segment)
{
    struct rpcrdma_segment s[8];
    struct rpcrdma_walk walk;

    ck_assert_uint_eq(walk_to(WORDS * 4, &walk, s), 4);
    ck_assert_int_eq(walk.result, RPCRDMA_ENDED);
    ck_assert_uint_eq(walk.left, 0);
    ck_assert(s[0].list == RPCRDMA_READ_LIST && s[0].position == 40 && s[0].stag == 0xA1 && s[0].octets == 10);
    ck_assert(s[1].index == 1 && s[1].position == 44 && s[1].to == 2);
    ck_assert(s[2].list == RPCRDMA_WRITE_LIST && s[2].chunk == 0 && s[2].stag == 0xB1 && s[2].to == 3);
    ck_assert(s[3].list == RPCRDMA_REPLY_CHUNK && s[3].index == 0 && s[3].octets == 40);
    ck_assert(walk.chunks == 2 && walk.replies && walk.segments[RPCRDMA_WRITE_LIST] == 1);
}
END_TEST

START_TEST(chunk_lists_that_are_cut_say_so)
{
    struct rpcrdma_segment s[8];
    struct rpcrdma_walk walk;

    for (size_t octets = 0; octets < WORDS * 4; octets++) {
        (void)walk_to(octets, &walk, s);
        ck_assert_int_eq(walk.result, RPCRDMA_CUT);
    }
}
END_TEST

START_TEST(private_data_of_rpc_over_rdma_is_found_anywhere)
{
    const uint8_t said[] = {0xF6, 0xAB, 0x0E, 0x18, 1, 1, 3, 255};
    struct rpcrdma_private found;
    uint8_t octets[20] = {0};

    for (size_t at = 0; at + sizeof(said) <= sizeof(octets); at++) {
        memset(octets, 0xF6, sizeof(octets));
        memcpy(octets + at, said, sizeof(said));
        ck_assert(rpcrdma_private_find(octets, sizeof(octets), &found));
        ck_assert(found.invalidates && !found.reserved_set && found.send == 4096 && found.receive == 262144);
        ck_assert(!rpcrdma_private_find(octets, at + sizeof(said) - 1, &found));
        octets[at + 4] = 2; /* another version of the format */
        ck_assert(!rpcrdma_private_find(octets, sizeof(octets), &found));
    }
}
END_TEST

Suite *rpcrdma_suite(void)
{
    Suite *suite = suite_create("rpcrdma");
    TCase *tcase = tcase_create("lists");

    tcase_add_test(tcase, chunk_lists_are_walked_segment_by_segment);
    tcase_add_test(tcase, chunk_lists_that_are_cut_say_so);
    tcase_add_test(tcase, private_data_of_rpc_over_rdma_is_found_anywhere);
    suite_add_tcase(suite, tcase);
    return suite;
}
