/* SPDX-License-Identifier: BSD-2-Clause */
/* Explains a wrong CRC: finds the sender's mistake that gives the value that was seen. */
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

/* True if a start-up frame was seen whose C bit puts CRCs in use, and the event's FPDU is whole. */
bool crc_judged(const struct rule_context *ctx);

/*
 * Returns the mistake in the CRC of the event's FPDU. For CRC_FAULT_PAD `*pad` gets the number of pad octets found;
 * `pad` may be NULL. The function computes several CRCs if the CRC is wrong, none if it is right.
 */
enum crc_fault crc_fault(const struct rule_context *ctx, size_t *pad);

/* The same; in addition the mistake becomes the cause of the rule's next finding (rule_because()). */
enum crc_fault crc_fault_named(struct rule_context *ctx, size_t *pad);

/* A Marker stands directly before the CRC field of the event's FPDU. */
bool crc_marker_before_field(const struct rule_context *ctx);

#endif
