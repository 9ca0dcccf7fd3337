/* SPDX-License-Identifier: BSD-2-Clause */
/* The test cases of an interoperability matrix: each is one exchange between an initiator and a responder. */
#ifndef CONFORMANCE_ENGINE_INTEROP_TESTS_H
#define CONFORMANCE_ENGINE_INTEROP_TESTS_H

#include "conformance/engine/interop/interop_memory.h"

struct interop_test {
    const char *letters; /* in the grid: one or two */
    const char *name;
    const char *group; /* "Start-up", "Operations", "Sizes", "Errors" */
    const char *title; /* what happens, in one line */
    int (*run)(struct interop_exchange *x);
    /*
     * The requirement that it stands for where a profile names one as a hazard, or as a deviation whose outcome is not
     * to be published; NULL: none.
     */
    const char *requirement;
};

extern const struct interop_test interop_tests[];
extern const size_t interop_test_count;

/* interop_start.c */
int interop_start_enhanced(struct interop_exchange *x);
int interop_start_plain(struct interop_exchange *x);
int interop_start_peer(struct interop_exchange *x);
int interop_start_markers(struct interop_exchange *x);
int interop_start_crc(struct interop_exchange *x);
int interop_start_without_crc(struct interop_exchange *x);
int interop_start_reject(struct interop_exchange *x);
int interop_close_initiator(struct interop_exchange *x);
int interop_close_responder(struct interop_exchange *x);

/* interop_data.c */
int interop_data_send(struct interop_exchange *x);
int interop_data_send_solicited(struct interop_exchange *x);
int interop_data_send_invalidate(struct interop_exchange *x);
int interop_data_send_solicited_invalidate(struct interop_exchange *x);
int interop_data_write(struct interop_exchange *x);
int interop_data_read(struct interop_exchange *x);
int interop_data_atomic(struct interop_exchange *x);
int interop_data_immediate(struct interop_exchange *x);
int interop_data_empty(struct interop_exchange *x);
int interop_data_sizes(struct interop_exchange *x);
int interop_data_large(struct interop_exchange *x);
int interop_data_burst(struct interop_exchange *x);

/* interop_error.c */
int interop_error_stag(struct interop_exchange *x);
int interop_error_bounds(struct interop_exchange *x);
int interop_error_rights(struct interop_exchange *x);
int interop_error_long(struct interop_exchange *x);
int interop_error_no_receive(struct interop_exchange *x);

/* A Send of `octets` from one side, seen by both. */
int interop_send(struct interop_exchange *x, enum interop_side from, json_int_t octets);

/* One from each side, the initiator's first: the responder may not send before. */
int interop_send_both(struct interop_exchange *x, json_int_t octets);

#endif
