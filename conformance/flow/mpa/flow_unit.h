/* SPDX-License-Identifier: BSD-2-Clause */
/* Units of MPA's stream, as flow_fpdu.c cuts them out and flow_mend.c puts them right. */
#ifndef FLOW_FLOW_UNIT_H
#define FLOW_FLOW_UNIT_H

#include "conformance/flow/mpa/flow_mpa_internal.h"

/* ULPDU_Length and both control octets: enough to decide whether an FPDU may begin so. */
enum { FLOW_UNIT_HEADER = FPDU_LENGTH_OCTETS + 2 };

/* An FPDU, and the ULPDU in it. */
struct found_fpdu {
    struct flow_ulpdu ulpdu;
    struct flow_fpdu mpa;
    enum flow_row row; /* of one that is cut */
};

/* flow_fpdu.c */
/* fpdu_parse() by the side's reading, at its position. */
wire_result flow_unit_parse(struct flow_common *common, struct flow_side *side, const uint8_t **p, const uint8_t *end,
                            struct fpdu *fpdu);
/* Octets of a Marker before an FPDU that begins at that position after so many FPDUs, as its sender has Markers. */
size_t flow_unit_lead_at(const struct flow_side *side, uint64_t position, uint64_t before);
/* The same of the next FPDU. */
size_t flow_unit_lead(const struct flow_side *side);
/* Reports a unit that is whole, or cut. */
void flow_unit_emit(const struct flow_context *context, struct found_fpdu *fpdu, const struct flow_piece *piece,
                    uint64_t first_frame);
/* Appends octets of the piece to the unit's buffer up to `to` octets; returns how many. */
size_t flow_unit_append(struct flow_side *side, const struct flow_piece *piece, size_t used, size_t to);

/* flow_mend.c */
/*
 * Something is wrong with the whole unit, or with where it ends; `next` are the `count` octets after it, and `exact`
 * says that these end their segment. *end_proven: they show that the unit ends where it says.
 */
bool flow_unit_is_suspect(const struct flow_connection *connection, const struct flow_side *side, wire_result result,
                          const struct fpdu *fpdu, const uint8_t *next, size_t count, bool exact, bool *end_proven);
/* The header of a unit without CRC that is not whole yet: no FPDU begins so. */
bool flow_unit_begins_badly(const struct flow_connection *connection, const struct flow_side *side,
                            const uint8_t *octets, size_t count);
/*
 * Takes the rest of the piece to the unit's octets that are held, reports the FPDUs in them, and looks for the mistake
 * that explains those which are none by the text. Returns how many octets were taken: fewer when no FPDU begins there,
 * and sync is lost.
 */
size_t flow_unit_append_rest(const struct flow_context *context, const struct flow_piece *piece, size_t used);

#endif
