/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uthash, set up so that it does not end the program when its table cannot grow. In that case the item is not added:
 * hash_lost() returns true for it right after HASH_ADD, and the caller still owns it.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "base/out_of_memory.h"

#ifdef UTHASH_H
#error "uthash.h was included before base/hash.h: its tables would end the program without memory"
#endif
#define HASH_NONFATAL_OOM         1
#define uthash_nonfatal_oom(item) out_of_memory_note()
#include <uthash.h>

#ifdef __cplusplus
extern "C" {
#endif

#define hash_lost(item) ((item)->hh.tbl == NULL)

#ifdef __cplusplus
}
#endif

#endif
