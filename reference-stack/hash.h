/* SPDX-License-Identifier: BSD-2-Clause */
/* uthash, whose table without memory marks the item (a member `lost`) instead of ending the program. */
#ifndef REFERENCE_STACK_HASH_H
#define REFERENCE_STACK_HASH_H

#define HASH_NONFATAL_OOM         1
#define uthash_nonfatal_oom(item) ((item)->lost = true)
#include <uthash.h>

#endif
