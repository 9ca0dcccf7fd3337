/* SPDX-License-Identifier: BSD-2-Clause */
/* Two streams in operation, of which something is asked that cannot be done. */
#ifndef TESTS_UNIT_MISUSE_PAIR_H
#define TESTS_UNIT_MISUSE_PAIR_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "iwarp/instrument.h"
#include "iwarp/stream.h"
#include "tests/unit/misuse.h"
#include "tests/unit/stream_pair.h"
#include "wire/rdmap.h"

enum { RESPONDER, INITIATOR, REGION = 4096 };

static const uint8_t octets[16] = "fifteen octets!";
static struct pair *pair;
static struct iwarp_stream *stream; /* the initiator's */
static struct iwarp_region region;  /* the responder's */

static inline void open_with(enum iwarp_accept_policy accept)
{
    pair = pair_new();
    pair->side[RESPONDER].config.accept = accept;
    region = (struct iwarp_region){.length = REGION, .access = 31};
    ck_assert_int_eq(iwarp_region_register(pair->side[RESPONDER].device, &region, NULL), 0);
    pair_open(pair);
    pair_run(pair);
    stream = pair->side[INITIATOR].stream;
}

static inline void opened(void)
{
    open_with(IWARP_ACCEPT);
    ck_assert_int_eq(iwarp_stream_state(stream), IWARP_STATE_OPERATION);
}

/* After all that was refused a message still goes both ways. */
static inline void closed(void)
{
    uint8_t in[2][16] = {{0}};

    for (int i = INITIATOR; i >= RESPONDER; i--) {
        struct iwarp_send send = {.id = 1, .octets = octets, .count = sizeof(octets)};
        size_t before = pair_count(pair, 1 - i, IWARP_EVENT_RECEIVE);

        ck_assert_int_eq(iwarp_stream_post_receive(pair->side[1 - i].stream, 2, in[1 - i], 16, NULL), 0);
        ck_assert_int_eq(iwarp_stream_post_send(pair->side[i].stream, &send, NULL), 0);
        pair_run(pair);
        ck_assert_uint_eq(pair_count(pair, 1 - i, IWARP_EVENT_RECEIVE), before + 1);
        ck_assert_mem_eq(in[1 - i], octets, 16);
        ck_assert_uint_eq(pair_count(pair, i, IWARP_EVENT_ERROR), 0);
    }
    pair_free(pair);
}

#endif
