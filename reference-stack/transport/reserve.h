/* SPDX-License-Identifier: BSD-2-Clause */
/* What iwarp_reserve_memory() (iwarp/verbs.h) keeps back for libuv. */
#ifndef REFERENCE_STACK_RESERVE_H
#define REFERENCE_STACK_RESERVE_H

#include <stdbool.h>

/* False: most of the reserve is in use, and the next table of libuv might not find room. True without a reserve. */
bool reserve_suffices(void);

#endif
