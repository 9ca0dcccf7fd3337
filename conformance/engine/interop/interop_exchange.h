/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One cell of the matrix: an initiator, a responder, and what is asked of both. Each function below returns 0, or -1 once
 * the exchange is decided: what follows is then to be left out. An exchange that nobody decided has passed.
 */
#ifndef CONFORMANCE_ENGINE_INTEROP_EXCHANGE_H
#define CONFORMANCE_ENGINE_INTEROP_EXCHANGE_H

#include "conformance/engine/interop/interop_capture.h"
#include "conformance/engine/interop/interop_device.h"
#include "reports/results/result.h"

enum interop_side { INITIATOR, RESPONDER, INTEROP_SIDES };

struct interop_exchange {
    struct interop_instance *side[INTEROP_SIDES];
    struct interop_capture *capture; /* NULL: none */
    unsigned seconds;                /* that an event may take */
    json_int_t stream[INTEROP_SIDES];
    bool ending;   /* an end of the stream is not a failure any more */
    json_t *steps; /* texts, in their order */
    bool decided;
    enum verdict verdict;
    struct iwarp_sentence expected, actual;
};

/* Decide the exchange. Return -1. */
__attribute__((format(printf, 3, 4))) int interop_fail(struct interop_exchange *x, const char *expected,
                                                       const char *actual, ...);
__attribute__((format(printf, 2, 3))) int interop_undecided(struct interop_exchange *x, const char *why, ...);
__attribute__((format(printf, 2, 3))) int interop_unsupported(struct interop_exchange *x, const char *why, ...);

const char *interop_name(const struct interop_exchange *x, enum interop_side side);

/*
 * One command, whose reference is taken (NULL: memory was short). `answer` (NULL: not wanted): a new reference. A device
 * that refuses what it has is INCONCLUSIVE, or with interop_ask() FAIL: that is for the operations that are tested.
 */
int interop_tell(struct interop_exchange *x, enum interop_side side, json_t *request, json_t **answer);
int interop_ask(struct interop_exchange *x, enum interop_side side, json_t *request, json_t **answer);

/* The same for what a device may lack: *lacks says so, and the exchange goes on. */
int interop_try(struct interop_exchange *x, enum interop_side side, json_t *request, json_t **answer, bool *lacks);

/* Both sides as new. */
int interop_reset(struct interop_exchange *x);

/* Waits for an event of that side's stream (of any, before it is known). `event` (NULL: not wanted): a new reference. */
int interop_await(struct interop_exchange *x, enum interop_side side, const char *name, json_t **event);

/* The same; what was expected is said in these words where it does not come. */
int interop_await_as(struct interop_exchange *x, enum interop_side side, const char *name, const char *expected);

/* The next event that is one of these, a list ended by NULL. */
int interop_await_any(struct interop_exchange *x, enum interop_side side, const char *const *names, json_t **event);

/* False only where the device says so. */
bool interop_can(const struct interop_exchange *x, enum interop_side side, const char *ability);

/*
 * Listens at the responder and connects the initiator, with these options (taken; NULL: none). Where a side answers that
 * it cannot be asked to do CRC, the other side may ask for it.
 */
int interop_connect(struct interop_exchange *x, json_t *initiator, json_t *responder);

/* The same until both report that the stream is established. */
int interop_establish(struct interop_exchange *x, json_t *initiator, json_t *responder);

/* A command for the stream of a side. */
json_t *interop_work(const struct interop_exchange *x, enum interop_side side, const char *verb);

/* Memory of a side, filled with zeros or counted through. */
struct interop_region {
    json_int_t stag;
    uint64_t base;
};
int interop_region(struct interop_exchange *x, enum interop_side side, json_int_t octets, json_t *access, bool counted,
                   struct interop_region *region);

/* Of an answer to reg_mr. */
void interop_region_take(struct interop_region *region, const json_t *answer);

/* An address in it, as the member "to" has it. */
json_t *interop_to(const struct interop_region *region, json_int_t offset);

/* Compares memory: `counted` octets of the pattern from its beginning, then zeros. */
int interop_compare(struct interop_exchange *x, enum interop_side side, const struct interop_region *region,
                    json_int_t octets, json_int_t counted, const char *what);

/* Whether `hex` is `octets` of the pattern 0, 1, ... 250, 0, 1, ... that `length` makes. */
bool interop_is_pattern(const char *hex, json_int_t octets);

#endif
