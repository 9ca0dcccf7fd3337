/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uthash, which does not end the program when its table cannot grow: the item is left out then, hash_lost() is true of
 * it right after HASH_ADD, and it is still the caller's.
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
