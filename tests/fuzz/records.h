/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A capture as a fuzz target's input. Octet 0 chooses the link type, then come records of
 *
 *     captured (16 bits), cut (8 bits: so many more octets on the wire), octets
 *
 * The mutator changes frames as networks and bad devices do, and puts right what a receiver looks at first (lengths
 * of IP, CRCs of FPDUs, checksums of SCTP), so that a changed frame gets deeper than its first check.
 */
#ifndef TESTS_FUZZ_RECORDS_H
#define TESTS_FUZZ_RECORDS_H

#include "conformance/flow/decoder.h"
#include "conformance/flow/event/flow.h"
#include "conformance/flow/event/flow_frame.h"
#include "tests/fuzz/fuzz.h"

struct fuzz_records {
    uint32_t link;
    uint64_t number; /* of the record given last */
    const uint8_t *at, *end;
};

void fuzz_records_begin(struct fuzz_records *records, const uint8_t *data, size_t size);

/* The next record as a frame of its own memory, which the caller frees (frame->octets). False: there is none. */
bool fuzz_records_next(struct fuzz_records *records, struct flow_frame *frame);

/* The whole input as a pcap file; the caller frees it. */
uint8_t *fuzz_records_pcap(const uint8_t *data, size_t size, size_t *octets);

/* One to four changes. As LLVMFuzzerCustomMutator(). */
size_t fuzz_records_mutate(uint8_t *data, size_t size, size_t room, unsigned seed);

#endif
