/* SPDX-License-Identifier: BSD-2-Clause */
/* The queue of equal items: what is in it stays in its order when it grows, wherever its oldest item stands. */
#include <check.h>

#include "reference-stack/base/ring.h"

Suite *ring_suite(void);

static void push(struct ring *ring, unsigned value)
{
    unsigned *item = ring_push(ring);

    ck_assert_ptr_nonnull(item);
    *item = value;
}

/* The values from `first` on, one after the other. */
static void holds(const struct ring *ring, unsigned first, size_t count)
{
    ck_assert_uint_eq(ring->count, count);
    for (size_t i = 0; i < count; i++)
        ck_assert_uint_eq(*(unsigned *)ring_at(ring, i), first + (unsigned)i);
    ck_assert_ptr_null(ring_at(ring, count));
}

/* `gone` items have been dropped when the queue is full and has to grow. */
START_TEST(ring_grows_in_order)
{
    for (unsigned held = 1; held <= 8; held++) {
        struct ring ring;
        unsigned next = 0, gone = (unsigned)_i;

        ring_init(&ring, sizeof(unsigned));
        ck_assert_int_eq(ring_reserve(&ring, 8), 0);
        for (; next < gone; next++) {
            push(&ring, next);
            ring_pop(&ring);
        }
        for (; next < gone + held; next++)
            push(&ring, next);
        ck_assert_int_eq(ring_reserve(&ring, 9), 0);
        ck_assert_uint_ge(ring.capacity, 16);
        holds(&ring, gone, held);
        for (; next < gone + 40; next++)
            push(&ring, next);
        holds(&ring, gone, 40);
        ring_free(&ring);
    }
}
END_TEST

START_TEST(ring_refuses_more_than_any_memory)
{
    struct ring ring;

    ring_init(&ring, sizeof(unsigned));
    push(&ring, 7);
    ck_assert_int_eq(ring_reserve(&ring, SIZE_MAX), -1);
    ck_assert_int_eq(ring_reserve(&ring, SIZE_MAX / 2), -1);
    holds(&ring, 7, 1);
    ring_free(&ring);
}
END_TEST

Suite *ring_suite(void)
{
    Suite *suite = suite_create("ring");
    TCase *tcase = tcase_create("ring");

    tcase_add_loop_test(tcase, ring_grows_in_order, 0, 8);
    tcase_add_test(tcase, ring_refuses_more_than_any_memory);
    suite_add_tcase(suite, tcase);
    return suite;
}
