/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The TSNs of one sender, at random, against a model that forgets nothing: which came, which are missing, which came
 * twice, and with what contents.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/flow/sctp/flow_sctp_internal.h"
#include "tests/unit/guard.h"
#include "tests/unit/suites.h"

Suite *flow_sctp_tsn_suite(void);

enum { STEPS = 1000, ROOM = TSN_WINDOW / 2, AHEAD_MOST = 40, FIRST_CONTENTS = 100 };

/* TSNs are counted from the first one here. */
static struct model {
    struct sctp_decoder decoder;
    struct sctp_association association;
    struct sctp_side *side;
    uint32_t first;          /* its TSN */
    uint64_t contents[ROOM]; /* 0: it did not come */
    uint32_t next, end;      /* the first one that is missing; one more than the highest that came */
    uint32_t acked;          /* so many at the beginning are acknowledged */
    uint32_t ahead;          /* below this is how many the sender may skip */
    uint64_t noise;
} model;

static uint32_t draw(uint32_t count)
{
    return (uint32_t)(noise(&model.noise) % count);
}

static void begin(uint64_t seed)
{
    memset(&model, 0, sizeof(model));
    model.noise = seed;
    model.association.sctp = &model.decoder;
    model.side = &model.association.side[0];
    model.ahead = 1 + draw(AHEAD_MOST);
    model.first = (uint32_t)0 - draw(3 * AHEAD_MOST); /* TSNs wrap */
    sctp_learn_first_tsn(model.side, model.first, false);
}

static enum sctp_tsn note(uint32_t n, uint64_t contents)
{
    return sctp_tsn_note(&model.association, 0, model.first + n, contents);
}

static void come(uint32_t n)
{
    model.contents[n] = FIRST_CONTENTS + draw(1000);
    ck_assert_int_eq(note(n, model.contents[n]), SCTP_TSN_NEW);
    if (n >= model.end)
        model.end = n + 1;
    while (model.contents[model.next] != 0)
        model.next++;
}

/* What the receiver may still take another copy of is known by its contents; of the rest, that it came. */
static void come_again(uint32_t n)
{
    enum sctp_tsn seen;

    ck_assert_int_eq(note(n, model.contents[n]), SCTP_TSN_AGAIN);
    seen = note(n, model.contents[n] + 1);
    ck_assert_msg(seen == SCTP_TSN_DIFFERS || (n < model.acked && seen == SCTP_TSN_AGAIN),
                  "TSN %u of %u, %u acknowledged, with other contents: %d", n, model.end, model.acked, (int)seen);
}

static void acknowledge(void)
{
    if (model.next == 0)
        return;
    model.acked = draw(2) == 0 ? model.next : model.acked + draw(model.next - model.acked + 1);
    if (model.acked != 0)
        sctp_tsns_acked(model.side, model.first + model.acked - 1, model.first + model.end - 1, 1);
}

static void step(void)
{
    uint32_t n = model.end == 0 ? 0 : draw(model.end);

    switch (draw(6)) {
    case 0: come(model.end + (draw(4) == 0 ? draw(model.ahead) : 0)); break;
    case 1: acknowledge(); break;
    case 2: come(model.next); break;
    case 3:
        n = model.acked; /* the first one that is not acknowledged */
    /* fall through */
    default:
        if (n < model.end && model.contents[n] != 0)
            come_again(n);
        else if (n >= model.next)
            come(n);
    }
}

START_TEST(tsns_are_known_as_a_model_knows_them)
{
    uint64_t missing = 0;

    begin((uint64_t)_i + 1);
    for (unsigned i = 0; i < STEPS && model.end + AHEAD_MOST < ROOM; i++) {
        step();
        ck_assert_uint_eq(model.side->next_tsn, model.first + model.next);
    }
    for (uint32_t n = model.next; n < model.end; n++)
        missing += model.contents[n] == 0;
    ck_assert_uint_eq(sctp_count_missing(model.side), missing);
    ck_assert_int_eq(sctp_side_complete(model.side), missing == 0);
    sctp_window_free(model.side);
}
END_TEST

Suite *flow_sctp_tsn_suite(void)
{
    Suite *suite = suite_create("flow_sctp_tsn");
    TCase *tcase = tcase_create("sctp_tsn");

    tcase_add_loop_test(tcase, tsns_are_known_as_a_model_knows_them, 0, 400);
    suite_add_tcase(suite, tcase);
    return suite;
}
