/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What libFuzzer notes at every comparison of integers (values to try in mutations) took a third of the time that an
 * input took. It gets to see the comparisons of one input in COMPARES_EVERY: what is compared with what is much the
 * same in all of them.
 */
#include "tests/fuzz/fuzz.h"

bool fuzz_compares; /* the present input's are seen */

#define COMPARES(name, type)                                                                                           \
    void __real_##name(type a, type b);                                                                                \
    void __wrap_##name(type a, type b);                                                                                \
    void __wrap_##name(type a, type b)                                                                                 \
    {                                                                                                                  \
        if (fuzz_compares) /* a jump: the place of the comparison is where the callee returns to */                    \
            __attribute__((musttail)) return __real_##name(a, b);                                                      \
    }

COMPARES(__sanitizer_cov_trace_cmp1, uint8_t)
COMPARES(__sanitizer_cov_trace_cmp2, uint16_t)
COMPARES(__sanitizer_cov_trace_cmp4, uint32_t)
COMPARES(__sanitizer_cov_trace_cmp8, uint64_t)
COMPARES(__sanitizer_cov_trace_const_cmp1, uint8_t)
COMPARES(__sanitizer_cov_trace_const_cmp2, uint16_t)
COMPARES(__sanitizer_cov_trace_const_cmp4, uint32_t)
COMPARES(__sanitizer_cov_trace_const_cmp8, uint64_t)
