/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What peers made a program hold is given back to the system when they have gone. free() alone keeps the pages for the
 * process: after 16,384 connections iwarp-peer held 1 GB for as long as it ran.
 */
#ifndef REFERENCE_STACK_RELEASED_H
#define REFERENCE_STACK_RELEASED_H

#include <stdint.h>

#include "reference-stack/base/budget.h"

struct released {
    uint64_t peak; /* octets that were in use at once since the last return */
};

/* Call it now and then: it compares two numbers, and returns free pages when half of what was in use has been freed. */
void released_return(struct released *released, const struct budget *budget);

#endif
