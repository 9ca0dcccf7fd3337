/* SPDX-License-Identifier: BSD-2-Clause */
/* How much may be said: so much a second in the long run, and more at once after a quiet time. */
#ifndef CONFORMANCE_ENGINE_MONITOR_RATE_H
#define CONFORMANCE_ENGINE_MONITOR_RATE_H

#include <stdbool.h>
#include <stdint.h>

struct monitor_rate {
    uint64_t interval_ns; /* one more after so long */
    uint64_t burst;       /* and so many at most at once */
    uint64_t spent_ns;    /* private: up to then all is used; 0: nothing was said yet */
    uint64_t refused;     /* since the last monitor_rate_refused() */
};

/* `a_minute` and `burst` at least 1. */
void monitor_rate_begin(struct monitor_rate *rate, uint64_t a_minute, uint64_t burst);

/* Takes one at `now_ns`. False: there is none, and it is counted as refused. */
bool monitor_rate_allow(struct monitor_rate *rate, uint64_t now_ns);

/* How many were refused since the last call. */
uint64_t monitor_rate_refused(struct monitor_rate *rate);

#endif
