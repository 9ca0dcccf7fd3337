/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How other protocols divide a TCP stream into records. Each form has octets that are the same in every record, and a
 * length that says where the next one begins; none of them can be read in FPDUs (RFC 5044 4.1), which end elsewhere.
 */
#ifndef FLOW_FLOW_RECORDS_H
#define FLOW_FLOW_RECORDS_H

#include "conformance/flow/mpa/flow_search.h"

enum {
    RECORD_HEADER_MAX = 28, /* octets by which a record's length is known at the latest */
    RECORD_NONE = 0,        /* no record begins so */
};

#define RECORD_MORE UINT64_MAX /* too few octets to decide */

/* What is known of a record by its first octets. */
struct flow_record {
    uint64_t octets;      /* of the whole record; RECORD_NONE, RECORD_MORE */
    unsigned bits;        /* of its header that can have no other value */
    unsigned length_bits; /* of its length, which the end of a segment confirms */
};

struct flow_record_form {
    const char *name;
    struct flow_record (*begin)(const uint8_t *octets, size_t count);
    bool exact; /* so little is fixed that the first record has to end its segment */
};

/* The forms, the one with most fixed octets first. */
extern const struct flow_record_form flow_record_forms[];
extern const size_t flow_record_form_count;

#endif
