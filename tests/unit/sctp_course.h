/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A course that a device goes through against a correct one over SCTP, and all that can be seen of it: what it sends,
 * what both ULPs receive. It is the same each time.
 */
#ifndef TESTS_UNIT_SCTP_COURSE_H
#define TESTS_UNIT_SCTP_COURSE_H

#include "reference-stack/defects/defect.h"
#include "tests/unit/sctp_pair.h"

enum { SCTP_RECORD = 1 << 19 };

struct sctp_record {
    char text[SCTP_RECORD];
    size_t count;
    int device; /* the side that may have faults */
};

/* All of it; `with_window`: also more messages than may be sent without acknowledgement. */
void sctp_course(struct sctp_record *record, const struct defect_set *defects, enum iwarp_sctp_profile profile,
                 int device, bool with_window);

/* The part of it about what is kept from one message, session or stream to the next. */
void sctp_course_state(struct sctp_record *record, const struct defect_set *defects, enum iwarp_sctp_profile profile);

/* --- For the parts ------------------------------------------------------------------------------------------------ */

__attribute__((format(printf, 2, 3))) void sctp_say(struct sctp_record *record, const char *format, ...);

/* Two associations that are up, and the end of both: the events of all ULPs are written down. */
struct sctp_pair *sctp_course_begin(struct sctp_record *record, const struct defect_set *defects,
                                    enum iwarp_sctp_profile profile);
void sctp_course_end(struct sctp_record *record, struct sctp_pair *pair);
void sctp_course_reported(struct sctp_record *record, const struct sctp_pair *pair);

/* A stream in place `n` of that side; false: it cannot be. */
bool sctp_course_stream(struct sctp_pair *pair, int side, unsigned n, uint16_t sid, struct iwarp_stream_config *config);

/*
 * A session in place `n` of both sides, with so many octets of Private Data both ways; false for `enhanced`: the
 * initiator's codes are those of RFC 5043.
 */
void sctp_course_session(struct sctp_pair *pair, unsigned n, uint16_t sid, uint16_t octets, bool enhanced);

#endif
