/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One cell of the matrix: an initiator, a responder, and the commands that both get. Each function below returns 0. It
 * returns -1 as soon as the exchange has a verdict; the caller then leaves out the rest. An exchange that ends without
 * a verdict has passed.
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
    bool ending;                     /* an end of the stream is not a failure any more */
    json_t *steps;                   /* texts, in their order */
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
 * One command, whose reference is taken (NULL: memory was short). `answer` (NULL: not wanted): a new reference. A
 * device that refuses what it has is INCONCLUSIVE, or with interop_ask() FAIL: that is for the operations that are
 * tested.
 */
int interop_tell(struct interop_exchange *x, enum interop_side side, json_t *request, json_t **answer);
int interop_ask(struct interop_exchange *x, enum interop_side side, json_t *request, json_t **answer);

/* The same for what a device may lack: *lacks says so, and the exchange goes on. */
int interop_try(struct interop_exchange *x, enum interop_side side, json_t *request, json_t **answer, bool *lacks);

/* Both sides as new. */
int interop_reset(struct interop_exchange *x);

/*
 * Waits for an event of that side's stream (of any, before it is known). `event` (NULL: not wanted): a new reference.
 */
int interop_await(struct interop_exchange *x, enum interop_side side, const char *name, json_t **event);

/* The same; what was expected is said in these words where it does not come. */
int interop_await_as(struct interop_exchange *x, enum interop_side side, const char *name, const char *expected);

/* The next event that is one of these, a list ended by NULL. */
int interop_await_any(struct interop_exchange *x, enum interop_side side, const char *const *names, json_t **event);

/* False only where the device says so. */
bool interop_can(const struct interop_exchange *x, enum interop_side side, const char *ability);

/*
 * Listens at the responder and connects the initiator, with these options (taken; NULL: none). Where a side answers
 * that it cannot be asked to do CRC, the other side may ask for it.
 */
int interop_connect(struct interop_exchange *x, json_t *initiator, json_t *responder);

/* The same until both report that the stream is established. */
int interop_establish(struct interop_exchange *x, json_t *initiator, json_t *responder);

#endif
