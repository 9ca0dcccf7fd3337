/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/transport/released.h"

#include <malloc.h>

enum { WORTH_OCTETS = 16 << 20 };

void released_return(struct released *released, const struct budget *budget)
{
    if (budget->used > released->peak)
        released->peak = budget->used;
    if (released->peak < WORTH_OCTETS || budget->used > released->peak / 2)
        return;
    released->peak = budget->used;
#ifdef __GLIBC__
    (void)malloc_trim(0);
#endif
}
