/* SPDX-License-Identifier: BSD-2-Clause */
/* What a misused function is expected to say; each call is made with a sentence and without. */
#ifndef TESTS_UNIT_MISUSE_H
#define TESTS_UNIT_MISUSE_H

#include <check.h>
#include <string.h>

#include "iwarp/device.h"
#include "base/sentence.h"

/* What registering sets was not set. */
static inline void misuse_untouched(const struct iwarp_region *region, const struct iwarp_region *before)
{
    ck_assert_uint_eq(region->stag, before->stag);
    ck_assert_ptr_eq(region->octets, before->octets);
    ck_assert_uint_eq(region->registered, before->registered);
    ck_assert_int_eq(region->valid, before->valid);
}

/* `call` names its sentence `why`. It returns -1 and says `part`. */
#define REFUSED(part, call)                                                                                            \
    do {                                                                                                               \
        struct iwarp_sentence said = {""};                                                                             \
        struct iwarp_sentence *why = NULL;                                                                             \
        ck_assert_int_eq((call), -1);                                                                                  \
        why = &said;                                                                                                   \
        ck_assert_int_eq((call), -1);                                                                                  \
        ck_assert_msg(strstr(said.text, part) != NULL, "'%s', but '%s' was expected", said.text, part);                \
    } while (0)

/* The same for functions that return a pointer. */
#define ABSENT(part, call)                                                                                             \
    do {                                                                                                               \
        struct iwarp_sentence said = {""};                                                                             \
        struct iwarp_sentence *why = NULL;                                                                             \
        ck_assert_ptr_null((call));                                                                                    \
        why = &said;                                                                                                   \
        ck_assert_ptr_null((call));                                                                                    \
        ck_assert_msg(strstr(said.text, part) != NULL, "'%s', but '%s' was expected", said.text, part);                \
    } while (0)

#endif
