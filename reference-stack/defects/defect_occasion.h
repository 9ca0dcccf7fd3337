/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules of the hook transmit, and the header or FPDU being sent, which they are compared with (defect_ulpdu.c).
 */
#ifndef REFERENCE_STACK_DEFECT_OCCASION_H
#define REFERENCE_STACK_DEFECT_OCCASION_H

#include "reference-stack/defects/defect_stream.h"

/* What a rule is compared with. */
struct occasion {
    const struct defect_set *set;
    struct defect_state *state;
    uint16_t opcode; /* as a bit; 0xFFFF for start-up frames */
    bool last, later;
    size_t pad; /* octets of pad that are due */
};

/* Of the ULPDU that the stream is sending. */
struct occasion occasion_of(const struct iwarp_stream *stream);

/* True when rule `i` applies here; counts its occasions. */
bool occasion_applies(const struct occasion *occasion, size_t i);

/* What a rule does to its field of a header; all rules of that target that apply. */
void occasion_change(const struct defect_transmit *transmit, uint8_t *header);
void occasion_change_all(const struct occasion *occasion, enum defect_target target, uint8_t *header);

/* What rules make of a value that is no field of a header: the CRC, the pad, the ULPDU's length. */
uint64_t occasion_changed(const struct occasion *occasion, enum defect_pseudo pseudo, uint64_t value);

#endif
