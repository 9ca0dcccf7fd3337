/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory runs out for the decoder and for the rules: each allocation of a capture fails in turn, alone or with those
 * that follow. The process goes on (uthash by itself ends it), all frames and octets stay in the account, and nothing
 * leaks.
 */
#include <check.h>
#include <stdlib.h>

#include "conformance/flow/decoder.h"
#include "conformance/rules/rule.h"
#include "tests/support/mangle.h"
#include "tests/unit/short_memory.h"
#include "tests/unit/suites.h"

Suite *flow_memory_suite(void);

/* One of each kind: TCP connections, associations and their streams, exchanges of CM messages. */
static const char *const captures[] = {
    "pcaps/generated/bad-crc.pcap",
    "pcaps/generated/sctp-sessions.pcap",
    "pcaps/generated/sctp-faults.pcap",
    "pcaps/generated/cm-roce-v2.pcap",
};

enum { CAPTURES = sizeof(captures) / sizeof(captures[0]) };

struct judging {
    struct rule_engine *engine;
    unsigned flows;
};

static void sink(void *ctx, const struct flow_event *event)
{
    struct judging *judging = ctx;

    judging->flows += event->kind == FLOW_END;
    rule_engine_sink(judging->engine, event);
}

static void feed(const struct mangle_capture *capture, struct flow_decoder *decoder)
{
    for (size_t i = 0; i < capture->count; i++) {
        const struct mangle_frame *from = &capture->frames[i];
        struct flow_frame frame = {from->link, from->time_ns, i + 1, from->octets, from->captured, from->length};

        flow_decoder_frame(decoder, &frame);
    }
    flow_decoder_finish(decoder);
}

/* Judges the capture; its n-th allocation fails, and `behind` of those after it. Returns how many flows ended. */
static unsigned judge(int which, const struct mangle_capture *capture, long n, long behind)
{
    struct flow_config config = {.rule_state_octets = rule_state_octets()};
    struct judging judging = {.engine = rule_engine_create(NULL)};
    struct flow_decoder *decoder = flow_decoder_create(&config, sink, &judging);

    ck_assert(judging.engine != NULL && decoder != NULL);
#if OWN_ALLOCATOR
    short_more = behind;
#else
    (void)behind;
#endif
    SHORT(n, feed(capture, decoder));
#if OWN_ALLOCATOR
    short_more = 0;
#endif
    ck_assert_msg(flow_totals_balanced(flow_decoder_totals(decoder)),
                  "%s, allocation %ld: frames are not accounted for", captures[which], n);
    flow_decoder_destroy(decoder);
    rule_engine_free(judging.engine);
    return judging.flows;
}

START_TEST(decoder_survives_each_failed_allocation)
{
    struct iwarp_sentence error;
    struct mangle_capture *capture = mangle_load(captures[_i], &error);
    unsigned flows;

    ck_assert_msg(capture != NULL, "%s", error.text);
    flows = judge(_i, capture, 0, 0);
    ck_assert_uint_gt(flows, 0);
#if OWN_ALLOCATOR
    static const long more[] = {0, 1, SHORT_ALL};

    for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
        long before = short_live, n = 0;

        do {
            short_failed = false;
            ck_assert_uint_le(judge(_i, capture, ++n, more[i]), flows + 1);
            ck_assert_int_eq(short_live, before);
        } while (short_failed);
        ck_assert_int_gt(n, 8); /* the tables, their buckets, what is in them */
    }
#endif
    mangle_capture_free(capture);
}
END_TEST

Suite *flow_memory_suite(void)
{
    Suite *suite = suite_create("flow_memory");
    TCase *tcase = tcase_create("flow_memory");

    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, decoder_survives_each_failed_allocation, 0, CAPTURES);
    suite_add_tcase(suite, tcase);
    return suite;
}
