/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an impairment's text lets the receiver of the unit do, and what it was seen to do. Pure.
 */
#ifndef CONFORMANCE_ENGINE_BRIDGE_EXPECT_H
#define CONFORMANCE_ENGINE_BRIDGE_EXPECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reports/results/result.h"
#include "base/sentence.h"
#include "wire/terminate.h"

enum { BRIDGE_TRIPLES_MOST = 8 };

struct bridge_expect {
    bool survives; /* both sides end the stream in order, without a Terminate */
    bool closes;   /* the receiver ends it without a Terminate */
    wire_result triples[BRIDGE_TRIPLES_MOST];
    size_t triple_count;
};

/* Of the stream that was impaired first. */
struct bridge_seen {
    uint64_t stream; /* 0: none was */
    bool sctp;       /* a session in an association */
    uint64_t frame;  /* on the link of the unit's sender */
    unsigned sender; /* the side of the unit's sender */
    bool changed, replaced,
        closed; /* octets of the stream are others; those of its ULP may be; the bridge has ended it */
    bool receiver_terminates, sender_terminates;
    wire_result triple, sender_triple; /* of those */
    bool finished[2], reset[2]; /* by the device at that side: FIN, RST; over SCTP the session or SHUTDOWN, ABORT */
};

/* Nothing is expected: there is no verdict. */
static inline bool bridge_expect_is_none(const struct bridge_expect *expect)
{
    return !expect->survives && !expect->closes && expect->triple_count == 0;
}

/*
 * Of a device whose upper tester says that it lays Terminates out as RDMAP-4.8-02 forbids (`terminate_swapped`), Layer and EType in each
 * other's place: what it means.
 */
wire_result bridge_expect_meant(wire_result triple);

/* Adds what `name` stands for: "survives", "closes", or an error of the registries ("DDP_INVALID_QN"). False: nothing. */
bool bridge_expect_add(struct bridge_expect *expect, const char *name);

/* PASS, FAIL, or INCONCLUSIVE where the stream has not come so far; `actual` says what was seen. */
enum verdict bridge_expect_judge(const struct bridge_expect *expect, const struct bridge_seen *seen,
                                 struct iwarp_sentence *actual);

/* "Terminate DDP / ... (0x1201) or survives" */
const char *bridge_expect_text(const struct bridge_expect *expect, struct iwarp_sentence *text);

#endif
