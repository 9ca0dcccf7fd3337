/* SPDX-License-Identifier: BSD-2-Clause */
/* What is wrong with a CRC that is wrong: which mistake of a sender gives the value that was seen. */
#ifndef CONFORMANCE_RULES_CRC_FAULT_H
#define CONFORMANCE_RULES_CRC_FAULT_H

#include "conformance/rules/rule_context.h"

enum crc_fault {
    CRC_FAULT_NONE,
    CRC_FAULT_REVERSED,    /* octets in reverse order */
    CRC_FAULT_ZERO,        /* not computed */
    CRC_FAULT_NO_LENGTH,   /* ULPDU_Length not covered */
    CRC_FAULT_NO_PAD,      /* pad not covered */
    CRC_FAULT_PAD,         /* right, but after another number of pad octets */
    CRC_FAULT_NO_LEADING,  /* Marker before ULPDU_Length not covered */
    CRC_FAULT_NO_TRAILING, /* Marker between pad and CRC not covered */
    CRC_FAULT_NO_MARKERS,  /* no Marker covered */
    CRC_FAULT_UNMARKED,    /* right for an FPDU without the Markers that it should have */
    CRC_FAULT_LENGTH,      /* right for an FPDU of another length than ULPDU_Length says */
    CRC_FAULT_PLACE,       /* the field is missing, or stands before the pad */
    CRC_FAULT_OTHER,
};

/* CRCs are in use by a start-up frame's C bit that was seen, and the event's FPDU is whole. */
bool crc_judged(const struct rule_context *ctx);

/*
 * The mistake in the event's FPDU. `pad` (NULL: no wish) gets the pad octets found for CRC_FAULT_PAD. Computes several
 * CRCs when the CRC is wrong, none when it is right.
 */
enum crc_fault crc_fault(const struct rule_context *ctx, size_t *pad);

/* The same, and what the rule finds next has it for a cause (rule_because()). */
enum crc_fault crc_fault_named(struct rule_context *ctx, size_t *pad);

/* A Marker stands directly before the CRC field of the event's FPDU. */
bool crc_marker_before_field(const struct rule_context *ctx);

#endif
